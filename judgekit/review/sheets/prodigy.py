"""Prodigy: tasks for its `choice` interface, a line each.

Everything in the HTML is escaped. The key `answer` is Prodigy's own, so no text of the log stands under it. Back comes
`prodigy db-out`. Source: Prodigy, "Annotation interfaces".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from judgekit.review.records import Filled, ReviewUnit
from judgekit.review.sheets.layout import CLAIM_OK, EVIDENCE, EXPORT_ID, MISSED, NOTE, REVIEWER, UNIT_ID, VERDICT
from judgekit.review.sheets.reading import filled
from judgekit.review.sheets.tasks import as_html, cell, first_object, objects, only, write_lines

_OWN = (CLAIM_OK.name, EVIDENCE.name, MISSED.name, NOTE.name)


def write(units: Sequence[ReviewUnit], path: Path) -> None:
    """A task a line."""
    write_lines(path, (_task(unit) for unit in units))


def _task(unit: ReviewUnit) -> dict[str, Any]:
    return {
        "html": as_html(unit),
        "options": [{"id": option, "text": option.replace("_", " ")} for option in VERDICT.options],
        UNIT_ID: unit.unit_id,
        EXPORT_ID: unit.export_id,
        "meta": {"unit": unit.unit_id},
    }


def read(path: Path) -> list[Filled]:
    """The answers of an export: accepted with one option is a verdict, ignored or rejected is put off.

    Fields of a `text_input` block named note, missed, claim_ok or evidence_id are read too.
    """
    return filled(row for where, task in objects(path) for row in _rows(where, task))


def recognises(path: Path) -> bool:
    """Whether a file holds tasks of Prodigy with unit ids."""
    first = first_object(path)
    return UNIT_ID in first and "options" in first and "html" in first


def _rows(where: str, task: dict[str, Any]) -> Iterator[tuple[str, dict[str, str]]]:
    row = {
        UNIT_ID: cell(task.get(UNIT_ID)),
        EXPORT_ID: cell(task.get(EXPORT_ID)),
        REVIEWER.name: cell(task.get("_annotator_id")),
        **{name: cell(task.get(name)) for name in _OWN},
    }
    answer = task.get("answer")
    if answer == "accept":
        row[VERDICT.name] = only(task.get("accept"))
    elif answer is not None:
        row[NOTE.name] = row[NOTE.name] or f"{cell(answer)} in Prodigy"
    yield where, row
