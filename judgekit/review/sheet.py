"""A blind sheet for a human reviewer, and the key that only the import reads.

The sheet shows what the judge was shown and nothing of what it said: no verdict, no score, no evidence, and an order
that comes from a hash. Reviewers fill in the verdict column; `unit_id` joins a row to its line in the key.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from judgekit.errors import InputError
from judgekit.records import THE_ANSWER, THE_REFERENCE, Label, Record, Result, Sample
from judgekit.review.cells import fit, guard, parts
from judgekit.rundir import Run
from judgekit.sampling import Unit, draw, units_of
from judgekit.stats import hash_rank

#: The header says what may be filled in: a note in a row of its own would be sorted away or read as data.
VERDICT_COLUMN = f"verdict ({' / '.join(label for label in Label if label is not Label.UNJUDGED)})"
_TEXTS = ("question", "claim", "sources", "answer")


class KeyLine(Record):
    """What the reviewer must not see of one unit: where it came from, the judge's label, and how likely its draw was.

    `inclusion` is the probability with which the unit came into the sheet, out of `of` units, under this seed.
    """

    unit_id: str
    sample_id: str
    claim_id: str
    sources: tuple[str, ...]
    label: Label
    inclusion: float
    of: int
    seed: int


class DrawnSheet(NamedTuple):
    """How many units a sheet holds, out of how many, and where its key lies."""

    units: int
    of: int
    key: Path


def draw_sheet(run: Run, *, n: int, seed: int, path: Path) -> DrawnSheet:
    """Draw n of the run's units and write the sheet and, beside it, the key.

    InputError: n below 1, nothing to draw from, or a sheet or key of that name that would be overwritten.
    """
    _refuse_overwriting(path)
    of = 0

    def counted() -> Iterator[Unit]:
        nonlocal of
        for unit in units_of(run):
            of += 1
            yield unit

    drawn = draw(counted(), n, seed=seed)
    if not drawn:
        raise InputError(f"{run.folder}: no claim was judged, so there is nothing to review; see `judgekit report`")
    return DrawnSheet(units=write_sheet(path, run, drawn, seed=seed, of=of), of=of, key=key_path(path))


def write_sheet(path: Path, run: Run, units: Iterable[Unit], *, seed: int, of: int) -> int:
    """Write the blind sheet of these units, and their key beside it; returns how many units that are.

    `units` are a simple random draw from `of`, under `seed`; rows are in the order of their rank in it. Columns:
    `unit_id question claim sources answer`, the verdict and `note`, the last two empty. A text too long for a cell
    goes on in `sources_2`, `sources_3`, ... InputError: a sheet or key of that name that would be overwritten, or a
    unit that the run does not hold.
    """
    _refuse_overwriting(path)
    ordered = sorted(units, key=lambda unit: hash_rank(unit.unit_id, seed=str(seed)))
    found = _results_of(run, {unit.sample_id for unit in ordered})
    rows: list[dict[str, str]] = []
    key: list[KeyLine] = []
    for unit in ordered:
        rows.append(_row(found, unit))
        label = found[unit.sample_id].case.label(unit.check)
        inclusion = min(1.0, len(ordered) / of)
        key.append(KeyLine(**unit._asdict(), label=label, inclusion=inclusion, of=of, seed=seed))
    path.parent.mkdir(parents=True, exist_ok=True)
    with key_path(path).open("x", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line.model_dump_json()}\n" for line in key)
    with path.open("x", encoding="utf-8-sig", newline="") as file:  # Excel takes UTF-8 without its mark for ANSI
        writer = csv.DictWriter(file, _columns(rows), restval="", quoting=csv.QUOTE_ALL, lineterminator="\r\n")
        writer.writeheader()
        writer.writerows({name: guard(cell) for name, cell in row.items()} for row in rows)
    return len(rows)


def key_path(path: Path) -> Path:
    """Where the key of a sheet lies: `sheet.csv` -> `sheet.key.jsonl`."""
    return path.with_name(f"{path.stem}.key.jsonl")


def _refuse_overwriting(path: Path) -> None:
    """A sheet may hold hours of reading, and without its key it is worth nothing."""
    for there in (path, key_path(path)):
        if there.exists():
            raise InputError(f"{there}: exists already and may belong to a filled-in sheet; give another name")


def _results_of(run: Run, sample_ids: set[str]) -> dict[str, Result]:
    found = {result.id: result for result in run if result.id in sample_ids}
    if missing := sorted(sample_ids - found.keys()):
        raise InputError(f"{run.folder}: holds no row {missing[0]!r}; draw the units from this run")
    return found


# --- rows --------------------------------------------------------------------------------------


def _row(found: Mapping[str, Result], unit: Unit) -> dict[str, str]:
    """The cells of a unit that are not empty, unguarded; long texts in as many cells as they need."""
    result = found[unit.sample_id]
    sample = result.case.sample
    claims = [claim.text for claim in result.claims if claim.id == unit.claim_id]
    if not claims:
        raise InputError(f"row {unit.sample_id!r} holds no claim {unit.claim_id!r}; draw the units from this run")
    texts = (sample.question, claims[0], sources_text(sample, unit.sources), sample.answer)
    row = {"unit_id": unit.unit_id}
    for name, text in zip(_TEXTS, texts, strict=True):
        row.update(zip(_numbered(name), parts(fit(text)), strict=False))
    return row


def _numbered(name: str) -> Iterator[str]:
    """name, name_2, name_3, ..."""
    yield name
    number = 2
    while True:
        yield f"{name}_{number}"
        number += 1


def sources_text(sample: Sample, sources: Sequence[str]) -> str:
    """All that a claim was held against, in order, each text under its id (and title) in square brackets."""
    if tuple(sources) == THE_REFERENCE:
        return f"[the reference]\n{sample.reference or ''}"
    if tuple(sources) == THE_ANSWER:
        return f"[the answer]\n{sample.answer}"
    contexts = [sample.context(source) for source in sources]
    heads = [" ".join(f"[{context.id}] {context.title or ''}".split()) for context in contexts]
    return "\n\n".join(f"{head}\n{context.text}" for head, context in zip(heads, contexts, strict=True))


def _columns(rows: Sequence[Mapping[str, str]]) -> list[str]:
    """The header: each text as many times as its longest instance needs cells."""
    used = {name for row in rows for name in row}
    columns = ["unit_id"]
    for text in _TEXTS:
        for name in _numbered(text):
            if name not in used:
                break
            columns.append(name)
    return [*columns, VERDICT_COLUMN, "note"]
