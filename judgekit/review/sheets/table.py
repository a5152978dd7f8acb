"""Units as the rows of a spreadsheet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from judgekit.review.cells import cells, fit
from judgekit.review.records import ReviewUnit
from judgekit.review.sheets.layout import (
    EXPORT_ID,
    MINUTES,
    REVIEWER,
    UNIT_ID,
    Column,
    asked,
    head,
    listed,
    marked,
    said,
    taken_from,
)

_SUBJECT = ("claim", "claims")
_TEXTS = ("question", "citations", "answer", "reference")


def header(column: Column) -> str:
    """The heading of a column to be filled in. It says what may stand there: a note in a row of its own would be sorted
    away, or read as data."""
    return f"{column.name} ({' / '.join(column.options)})" if column.options else column.name


def to_fill(units: Sequence[ReviewUnit]) -> tuple[Column, ...]:
    """The columns that a reviewer fills in, in the order in which they stand."""
    return (*asked(units), REVIEWER, MINUTES)


def table(units: Sequence[ReviewUnit]) -> tuple[list[str], list[dict[str, str]]]:
    """The headings, and a row a unit, guarded and fit for cells; empty cells are left out.

    Columns: the claim and what is to be filled in about it, which stay in view beside a long row of evidence, then what
    is to be read. A passage is a cell of its own, `evidence_1` the first; a text too long for a cell goes on in
    `answer_cont_2`, `evidence_1_cont_2`, ...
    """
    rows = [_row(unit) for unit in units]
    used = {name for row in rows for name in row}
    evidence = max((len(unit.passages) for unit in units), default=0)
    judge = sorted({name for unit in units for name, _ in said(unit)})
    texts = (*_TEXTS, *(f"evidence_{number}" for number in range(1, evidence + 1)), *judge)
    subject, shown = ([name for text in some for name in _continued(text, used)] for some in (_SUBJECT, texts))
    fill = [header(column) for column in asked(units)]
    return [UNIT_ID, *subject, *fill, *shown, REVIEWER.name, MINUTES.name, EXPORT_ID], rows


def _row(unit: ReviewUnit) -> dict[str, str]:
    texts = {
        "question": unit.question,
        "claim": unit.claim or "",
        "claims": listed(unit.claims),
        "citations": " ".join(unit.markers),
        taken_from(unit): marked(unit),
        **{f"evidence_{number}": f"{head(one)}\n{one.text}" for number, one in enumerate(unit.passages, start=1)},
        **dict(said(unit)),
    }
    row = {UNIT_ID: unit.unit_id, EXPORT_ID: unit.export_id}
    for name, text in texts.items():
        if text:
            row.update(zip(_numbered(name), cells(fit(text)), strict=False))
    return row


def _numbered(name: str) -> Iterator[str]:
    """name, name_cont_2, name_cont_3, ..."""
    yield name
    number = 2
    while True:
        yield f"{name}_cont_{number}"
        number += 1


def _continued(name: str, used: set[str]) -> Iterator[str]:
    for one in _numbered(name):
        if one not in used:
            return
        yield one
