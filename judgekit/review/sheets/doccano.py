"""doccano: texts to classify, a line each, and beside them the labels as `NAME.labels.json`.

doccano shows plain text. Keys that it does not know are kept as metadata, and so come back. An export has a file for
each annotator, named for them; it does not say who. Source: doccano, data_import and data_export.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from judgekit.review.records import Filled, ReviewUnit
from judgekit.review.sheets.layout import EXPORT_ID, NOTE, UNIT_ID, VERDICT
from judgekit.review.sheets.reading import filled
from judgekit.review.sheets.tasks import as_text, cell, first_object, objects, only, write_json, write_lines


def write(units: Sequence[ReviewUnit], path: Path) -> None:
    """A text a line, and the labels to import beside it."""
    labels = [{"text": option, "suffix_key": str(number)} for number, option in enumerate(VERDICT.options, start=1)]
    write_json(path.with_suffix(".labels.json"), labels)
    write_lines(path, (_line(unit) for unit in units))


def _line(unit: ReviewUnit) -> dict[str, Any]:
    return {"text": as_text(unit), "label": [], UNIT_ID: unit.unit_id, EXPORT_ID: unit.export_id}


def read(path: Path) -> list[Filled]:
    """The labels of an export, and comments as notes. Two labels of one text cannot be read: where annotators share
    their labels, export each one's own."""
    return filled(row for where, line in objects(path) for row in _rows(where, line))


def recognises(path: Path) -> bool:
    """Whether a file holds texts of doccano with unit ids."""
    first = first_object(path)
    return UNIT_ID in first and "text" in first and isinstance(first.get("label"), list)


def _rows(where: str, line: dict[str, Any]) -> Iterator[tuple[str, dict[str, str]]]:
    comments = line.get("Comments") or ()
    yield (
        where,
        {
            UNIT_ID: cell(line.get(UNIT_ID)),
            EXPORT_ID: cell(line.get(EXPORT_ID)),
            VERDICT.name: only(line.get("label")),
            NOTE.name: "\n".join(map(cell, comments)) if isinstance(comments, list) else cell(comments),
        },
    )
