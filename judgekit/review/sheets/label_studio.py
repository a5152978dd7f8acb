"""Label Studio: tasks to import, and beside them the labelling interface as `NAME.config.xml`.

Each task is one HTML text with everything escaped. No predictions go along when the sheet is blind: Label Studio shows
them. Back comes its JSON or JSON-MIN export. Source: Label Studio, "Task format" and "Import pre-annotated data".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from judgekit.review.records import Filled, ReviewUnit
from judgekit.review.sheets.layout import (
    EXPORT_ID,
    GUIDE,
    GUIDE_WHOLE,
    MINUTES,
    MISSED,
    REVIEWER,
    UNIT_ID,
    VERDICT,
    Column,
    asked,
    is_whole,
)
from judgekit.review.sheets.reading import filled
from judgekit.review.sheets.tasks import as_html, cell, dicts, first_object, objects, only, place, write_json

_SHOWN = "unit"
_ENDLESS = 1e6  # seconds: somebody went home


def write(units: Sequence[ReviewUnit], path: Path) -> None:
    """The tasks as a JSON list, and the interface beside it."""
    with path.with_suffix(".config.xml").open("x", encoding="utf-8", newline="\n") as file:
        file.write(_config(units))
    write_json(path, [_task(unit) for unit in units])


def _task(unit: ReviewUnit) -> dict[str, Any]:
    return {"data": {UNIT_ID: unit.unit_id, EXPORT_ID: unit.export_id, "html": as_html(unit)}}


def _config(units: Sequence[ReviewUnit]) -> str:
    guide = GUIDE_WHOLE if is_whole(units) else GUIDE
    controls = "\n".join(f"  {line}" for column in asked(units) for line in _control(column))
    return f"""<View>
  <Header value={quoteattr(guide)} size="6"/>
  <HyperText name="{_SHOWN}" value="$html" valueType="text" inline="true" selectionEnabled="false"/>
{controls}
</View>
"""


def _control(column: Column) -> Iterator[str]:
    yield f"<Header value={quoteattr(column.asks)} size='6'/>".replace("'", '"')
    to = f'name="{column.name}" toName="{_SHOWN}"'
    if column.options:
        required = ' required="true"' if column == VERDICT._replace(asks=column.asks) else ""
        yield f'<Choices {to} choice="single-radio" showInline="true"{required}>'
        for number, option in enumerate(column.options, start=1):
            hotkey = f' hotkey="{number}"' if column.name == VERDICT.name else ""
            yield f'  <Choice value="{option}"{hotkey}/>'
        yield "</Choices>"
    elif column.name == MISSED.name:
        yield f'<Number {to} min="0"/>'
    else:
        yield f'<TextArea {to} maxSubmissions="1" editable="true"/>'


# --- back ------------------------------------------------------------------------------------------


def read(path: Path) -> list[Filled]:
    """The annotations of an export; cancelled ones are put off. Who annotated is the reviewer: email, or number."""
    return filled(row for where, task in objects(path) for row in _rows(where, task))


def recognises(path: Path) -> bool:
    """Whether a file holds tasks of Label Studio with unit ids, in JSON or JSON-MIN."""
    first = first_object(path)
    data = first.get("data", first if "annotator" in first or "annotation_id" in first else None)
    return isinstance(data, dict) and UNIT_ID in data


def _rows(where: str, task: dict[str, Any]) -> Iterator[tuple[str, dict[str, str]]]:
    data = task.get("data", task)
    ids = {UNIT_ID: cell(data.get(UNIT_ID)), EXPORT_ID: cell(data.get(EXPORT_ID))}
    here = place(where, "task", cell(task.get("id")) or ids[UNIT_ID])
    if "data" not in task:  # JSON-MIN: one flat object an annotation
        told = {name: only(value) for name, value in task.items()}
        yield here, {**told, **ids, REVIEWER.name: _who(task.get("annotator")), **_spent(task.get("lead_time"))}
        return
    for annotation in dicts(task.get("annotations")):
        row = {**ids, REVIEWER.name: _who(annotation.get("completed_by")), **_spent(annotation.get("lead_time"))}
        if annotation.get("was_cancelled"):
            yield here, {**row, "note": "skipped in Label Studio"}
            continue
        for result in dicts(annotation.get("result")):
            for value in dicts([result.get("value")]):
                given = next((value[kind] for kind in ("choices", "text", "number") if kind in value), None)
                row[cell(result.get("from_name"))] = only(given)
        yield here, row


def _who(person: object) -> str:
    return cell(person.get("email") or person.get("id")) if isinstance(person, dict) else cell(person)


def _spent(seconds: object) -> dict[str, str]:
    if not isinstance(seconds, int | float) or not 0 <= seconds < _ENDLESS:
        return {}
    return {MINUTES.name: f"{seconds / 60:.2f}"}
