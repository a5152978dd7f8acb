"""Filled-in sheets into labels beside a run: all of them, or, when anything is wrong, none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from judgekit.errors import LogError
from judgekit.review.contents import contents_of
from judgekit.review.labels import add_labels, exports_of, is_about, key_of, labels_of, last_lines, line_of, settled
from judgekit.review.records import Filled, HumanLabel, KeyLine, unit_of
from judgekit.review.sheets import read
from judgekit.rundir import Run
from judgekit.sampling import Unit

#: Who an adjudicated label is by, when nobody is named.
ADJUDICATOR = "adjudicator"


class Imported(NamedTuple):
    """What an import did: labels that are new, changed, or as they were; units put off, and rows left blank.

    `disputed` are the units of the whole run on which reviewers disagree and nobody has decided. `outdated` counts the
    labels given here for texts that the run no longer holds: kept, and in no estimate.
    """

    reviewers: tuple[str, ...]
    new: int
    changed: int
    unchanged: int
    deferred: int
    blank: int
    disputed: tuple[str, ...]
    outdated: int = 0


def import_sheets(
    run: Run, files: Sequence[Path], *, at: str, reviewer: str | None = None, adjudicated: bool = False
) -> Imported:
    """Read filled-in sheets and keep what they say. The same file again changes nothing.

    `reviewer` is who filled in the rows that name nobody; `adjudicated` labels settle disagreements. `at` is the time,
    ISO 8601. InputError, and nothing is kept: a unit or an export that was not drawn from this run, a unit twice in one
    file with different labels, no reviewer, or a cell that cannot be read; a line a problem, with its place and remedy.
    """
    keys = _Keys(run)
    intake = _Intake(keys, reviewer or (ADJUDICATOR if adjudicated else None), adjudicated=adjudicated, at=at)
    given = [label for path in files for label in intake.labels(path)]
    if intake.problems:
        raise LogError(intake.problems)
    return _kept(run, given, blank=intake.blank, texts=contents_of(run, keys.units()))


class _Keys:
    """The keys of all exports of a run."""

    def __init__(self, run: Run) -> None:
        self.of = {
            export.export_id: {line.unit_id: line for line in key_of(run, export.export_id)}
            for export in exports_of(run)
        }
        self._folder = run.folder

    def units(self) -> list[Unit]:
        """Every unit that was drawn."""
        drawn = {line.unit_id: line for key in self.of.values() for line in key.values()}
        return [unit_of(line) for line in drawn.values()]

    def find(self, row: Filled) -> KeyLine | str:
        """The key line of a row, or what is wrong with it. A row without an export id belongs to the latest draw that
        has its unit, if all of them are blind or all visible, and of the same texts."""
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
        exports = ", ".join(line.export_id for line in found)
        if len({line.blind for line in found}) > 1:
            return (
                f"export_id: missing, and {row.unit_id!r} was drawn both blind and visible ({exports}); say from which"
            )
        if len({line.content for line in found}) > 1:
            return f"export_id: missing, and {row.unit_id!r} was drawn with other texts ({exports}); say from which"
        return found[-1]


class _Intake:
    """Turns filled-in sheets into labels, and notes what is wrong with them."""

    def __init__(self, keys: _Keys, reviewer: str | None, *, adjudicated: bool, at: str) -> None:
        self.problems: list[str] = []
        self.blank = 0
        self._keys, self._reviewer, self._adjudicated, self._at = keys, reviewer, adjudicated, at

    def labels(self, path: Path) -> list[HumanLabel]:
        """What one file says, a label a unit and reviewer."""
        try:
            rows = read(path)
        except LogError as error:
            self.problems += error.problems
            return []
        said: dict[tuple[str, str], HumanLabel] = {}
        for row in rows:
            label = self._label(row)
            if label is not None:
                said[label.unit_id, label.reviewer] = self._one_of(said.get((label.unit_id, label.reviewer)), label)
        if any(not label.reviewer for label in said.values()):
            self.problems.append(f"{path}: reviewer: it names nobody; say who filled it in with --reviewer NAME")
        return list(said.values())

    def _label(self, row: Filled) -> HumanLabel | None:
        """The label of a row; none when it is blank, or wrong."""
        line = self._keys.find(row)
        wrong = line if isinstance(line, str) else _wrong_evidence(row, line)
        if wrong is not None:
            self.problems.append(f"{row.where}: {wrong}")
        elif row.status == "blank":
            self.blank += 1
        if wrong is not None or isinstance(line, str) or row.status == "blank":
            return None
        return HumanLabel(
            unit_id=row.unit_id,
            export_id=line.export_id,
            reviewer=" ".join((row.reviewer or self._reviewer or "").split()),
            verdict=row.verdict,
            claim_ok=row.claim_ok,
            evidence=_evidence(row),
            missed=row.missed,
            note=row.note,
            minutes=row.minutes,
            assisted=not line.blind,
            adjudicated=self._adjudicated,
            content=line.content,
            at=self._at,
            where=row.where,
        )

    def _one_of(self, first: HumanLabel | None, second: HumanLabel) -> HumanLabel:
        """What counts of two rows about one unit: what was decided, not what was put off. Two decisions must agree."""
        if first is None or _is_deferred(first):
            return second
        if not _is_deferred(second) and _content(first) != _content(second):
            self.problems.append(
                f"{second.where}: unit_id: {second.unit_id!r} stands there twice, with different labels by "
                f"{second.reviewer!r} (first at {first.where}); keep the one that counts"
            )
        return first


def _is_deferred(label: HumanLabel) -> bool:
    return label.verdict is None and label.missed is None


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


def _content(label: HumanLabel) -> HumanLabel:
    """The label without what changes when the same is imported again."""
    return label.having(at="", where="", minutes=None)


def _kept(run: Run, given: Sequence[HumanLabel], *, blank: int, texts: Mapping[str, str]) -> Imported:
    last = last_lines(run)
    fresh: list[HumanLabel] = []
    new = changed = unchanged = 0
    for label in given:
        key = line_of(label)
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
    outcome = settled(labels_of(run, texts))
    return Imported(
        reviewers=tuple(dict.fromkeys(label.reviewer for label in given)),
        new=new,
        changed=changed,
        unchanged=unchanged,
        deferred=sum(map(_is_deferred, given)),
        blank=blank,
        disputed=tuple(unit_id for unit_id, found in outcome.items() if found.is_disputed),
        outdated=sum(not is_about(label, texts) for label in given),
    )
