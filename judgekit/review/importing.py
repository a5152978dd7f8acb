"""Filled-in sheets into labels beside a run: all of them, or, when anything is wrong, none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from judgekit.errors import LogError
from judgekit.review.labels import add_labels, exports_of, key_of, labels_of, last_lines, settled
from judgekit.review.records import Filled, HumanLabel, KeyLine
from judgekit.review.sheets import read
from judgekit.rundir import Run

#: Who an adjudicated label is by, when nobody is named.
ADJUDICATOR = "adjudicator"


class Imported(NamedTuple):
    """What an import did: labels that are new, changed, or as they were; units put off, and rows left blank.

    `disputed` are the units of the whole run on which reviewers disagree and nobody has decided.
    """

    reviewers: tuple[str, ...]
    new: int
    changed: int
    unchanged: int
    deferred: int
    blank: int
    disputed: tuple[str, ...]


def import_sheets(
    run: Run, files: Sequence[Path], *, at: str, reviewer: str | None = None, adjudicated: bool = False
) -> Imported:
    """Read filled-in sheets and keep what they say. The same file again changes nothing.

    `reviewer` is who filled in the rows that name nobody; `adjudicated` labels settle disagreements. `at` is the time,
    ISO 8601. InputError, and nothing is kept: a unit or an export that was not drawn from this run, a unit twice in one
    file with different labels, no reviewer, or a cell that cannot be read; a line a problem, with its place and remedy.
    """
    keys = _Keys(run)
    named = reviewer or (ADJUDICATOR if adjudicated else None)
    problems: list[str] = []
    given: list[HumanLabel] = []
    blank = 0
    for path in files:
        try:
            rows = read(path)
        except LogError as error:
            problems += error.problems
            continue
        blank += sum(row.status == "blank" for row in rows)
        given += _labels(rows, keys, path, problems, reviewer=named, adjudicated=adjudicated, at=at)
    if problems:
        raise LogError(problems)
    return _kept(run, given, blank=blank)


class _Keys:
    """The keys of all exports of a run."""

    def __init__(self, run: Run) -> None:
        self.of = {
            export.export_id: {line.unit_id: line for line in key_of(run, export.export_id)}
            for export in exports_of(run)
        }
        self._folder = run.folder

    def find(self, row: Filled) -> KeyLine | str:
        """The key line of a row, or what is wrong with it. A row without an export id belongs to the latest draw that
        has its unit, if all of them are blind or all visible."""
        if row.export_id is not None and row.export_id not in self.of:
            known = ", ".join(self.of) or "none"
            return (
                f"export_id: {row.export_id!r:.80} was not drawn from {self._folder}, whose exports are: {known}; "
                "import the sheet into the run it was drawn from"
            )
        searched = self.of.values() if row.export_id is None else (self.of[row.export_id],)
        found = [key[row.unit_id] for key in searched if row.unit_id in key]
        if not found:
            return f"unit_id: {row.unit_id!r:.80} was not drawn there; restore the id as it was, or remove the row"
        if len({line.blind for line in found}) > 1:
            exports = ", ".join(line.export_id for line in found)
            return (
                f"export_id: missing, and {row.unit_id!r} was drawn both blind and visible ({exports}); say from which"
            )
        return found[-1]


def _labels(
    rows: Iterable[Filled],
    keys: _Keys,
    path: Path,
    problems: list[str],
    *,
    reviewer: str | None,
    adjudicated: bool,
    at: str,
) -> Iterator[HumanLabel]:
    """The labels of one file; what is wrong with it goes to `problems`."""
    seen: dict[tuple[str, str], HumanLabel] = {}
    nameless = False
    for row in rows:
        line = keys.find(row)
        who = " ".join((row.reviewer or reviewer or "").split())
        if isinstance(line, str):
            problems.append(f"{row.where}: {line}")
        elif row.status == "blank":
            continue
        elif not who:
            nameless = True
        elif wrong := _wrong_evidence(row, line):
            problems.append(f"{row.where}: {wrong}")
        else:
            label = _label(row, line, who, adjudicated=adjudicated, at=at)
            twin = seen.setdefault((row.unit_id, who), label)
            if twin is label:
                yield label
            elif _content(twin) != _content(label):
                problems.append(
                    f"{row.where}: unit_id: {row.unit_id!r} stands there twice, with different labels by {who} "
                    f"(first at {twin.where}); keep the one that counts"
                )
    if nameless:
        problems.append(f"{path}: reviewer: it names nobody; say who filled it in with --reviewer NAME")


def _wrong_evidence(row: Filled, line: KeyLine) -> str | None:
    """What is wrong with the evidence that a row names."""
    named = _evidence(row)
    if named is None or not line.sources or named in line.sources:
        return None
    return f"evidence_id: {named!r:.80} is none of {', '.join(line.sources)}; give one of them, or leave it empty"


def _evidence(row: Filled) -> str | None:
    """The id of the evidence, also where it was copied with the brackets in which the sheet shows it."""
    named = row.evidence
    return named[1:-1].strip() if named and named.startswith("[") and named.endswith("]") else named


def _label(row: Filled, line: KeyLine, reviewer: str, *, adjudicated: bool, at: str) -> HumanLabel:
    return HumanLabel(
        unit_id=row.unit_id,
        export_id=line.export_id,
        reviewer=reviewer,
        verdict=row.verdict,
        claim_ok=row.claim_ok,
        evidence=_evidence(row),
        missed=row.missed,
        note=row.note,
        minutes=row.minutes,
        assisted=not line.blind,
        adjudicated=adjudicated,
        at=at,
        where=row.where,
    )


def _content(label: HumanLabel) -> HumanLabel:
    """The label without what changes when the same is imported again."""
    return label.having(at="", where="", minutes=None)


def _kept(run: Run, given: Sequence[HumanLabel], *, blank: int) -> Imported:
    last = last_lines(run)
    fresh: list[HumanLabel] = []
    new = changed = unchanged = 0
    for label in given:
        key = (label.unit_id, label.reviewer, label.adjudicated)
        before = last.get(key)
        if before is not None and _content(before) == _content(label):
            unchanged += 1
            continue
        new += before is None
        changed += before is not None
        last[key] = label
        fresh.append(label)
    if fresh:
        add_labels(run, fresh)
    outcome = settled(labels_of(run))
    return Imported(
        reviewers=tuple(dict.fromkeys(label.reviewer for label in given)),
        new=new,
        changed=changed,
        unchanged=unchanged,
        deferred=sum(label.verdict is None and label.missed is None for label in given),
        blank=blank,
        disputed=tuple(unit_id for unit_id, found in outcome.items() if found.is_disputed),
    )
