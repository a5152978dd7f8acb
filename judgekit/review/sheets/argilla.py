"""Argilla: records for `dataset.records.from_json`, and beside them the settings as `NAME.settings.json`.

Fields are plain text, never Markdown, so that nothing in them is rendered. Back comes `dataset.records.to_json`.
Source: Argilla 2, "Import and export" and `rg.Settings.from_json`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from judgekit.review.cells import fit
from judgekit.review.records import Filled, ReviewUnit
from judgekit.review.sheets.layout import (
    EXPORT_ID,
    GUIDE,
    GUIDE_WHOLE,
    REVIEWER,
    UNIT_ID,
    VERDICT,
    Column,
    asked,
    head,
    is_whole,
    listed,
    marked,
    said,
)
from judgekit.review.sheets.reading import filled
from judgekit.review.sheets.tasks import cell, dicts, first_object, objects, place, write_json

_FIELDS = ("question", "claim", "claims", "citations", "text", "evidence", "judge")


def write(units: Sequence[ReviewUnit], path: Path) -> None:
    """The records as a JSON list, and the settings beside it."""
    records = [_record(unit) for unit in units]
    write_json(path.with_suffix(".settings.json"), _settings(units, records))
    write_json(path, records)


def _record(unit: ReviewUnit) -> dict[str, Any]:
    fields = {
        "question": unit.question,
        "claim": unit.claim or "",
        "claims": listed(unit.claims),
        "citations": " ".join(unit.markers),
        "text": marked(unit),
        "evidence": "\n\n".join(f"{head(passage)}\n{passage.text}" for passage in unit.passages),
        "judge": "\n".join(f"{name}: {text}" for name, text in said(unit)),
    }
    shown = {name: fit(text) for name, text in fields.items() if text}
    return {"id": unit.unit_id, "fields": shown, "metadata": {EXPORT_ID: unit.export_id}}


def _settings(units: Sequence[ReviewUnit], records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    used = {name for record in records for name in record["fields"]}
    return {
        "guidelines": GUIDE_WHOLE if is_whole(units) else GUIDE,
        "fields": [_field(name) for name in _FIELDS if name in used],
        "questions": [_question(column) for column in asked(units)],
        "metadata": [],
        "vectors": [],
        "allow_extra_metadata": True,
        "distribution": {"strategy": "overlap", "min_submitted": 1},
    }


def _field(name: str) -> dict[str, Any]:
    settings = {"type": "text", "use_markdown": False}
    return {"name": name, "title": name, "type": "text", "required": name == "text", "settings": settings}


def _question(column: Column) -> dict[str, Any]:
    settings: dict[str, Any] = {"type": "text", "use_markdown": False}
    if column.options:
        options = [{"value": option, "text": option, "description": None} for option in column.options]
        settings = {"type": "label_selection", "options": options, "visible_options": None}
    return {
        "name": column.name,
        "title": column.asks,
        "description": None,
        "required": column.name == VERDICT.name,
        "type": settings["type"],
        "settings": settings,
    }


# --- back ------------------------------------------------------------------------------------------


def read(path: Path) -> list[Filled]:
    """The responses of an export, each user's as one reviewer's. Drafts cannot be told from what was submitted."""
    return filled(row for where, record in objects(path) for row in _rows(where, record))


def recognises(path: Path) -> bool:
    """Whether a file holds records of Argilla."""
    first = first_object(path)
    return isinstance(first.get("fields"), dict) and "id" in first


def _rows(where: str, record: dict[str, Any]) -> Iterator[tuple[str, dict[str, str]]]:
    metadata = record.get("metadata")
    export_id = cell(metadata.get(EXPORT_ID)) if isinstance(metadata, dict) else ""
    ids = {UNIT_ID: cell(record.get("id")), EXPORT_ID: export_id}
    by_user: dict[str, dict[str, str]] = defaultdict(dict)
    responses = record.get("responses")
    for question, given in responses.items() if isinstance(responses, dict) else ():
        for response in dicts(given):
            by_user[cell(response.get("user_id"))][question] = cell(response.get("value"))
    for user, told in by_user.items():
        yield place(where, "record", ids[UNIT_ID]), {**told, **ids, REVIEWER.name: user}
