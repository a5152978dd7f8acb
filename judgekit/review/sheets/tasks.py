"""What the formats of annotation tools share: units as escaped HTML, and files of JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

from judgekit.errors import InputError
from judgekit.review.cells import fit
from judgekit.review.records import ReviewUnit
from judgekit.review.sheets.csv_sheet import decoded
from judgekit.review.sheets.layout import head, in_three, listed, marked, said, taken_from


def as_html(unit: ReviewUnit) -> str:
    """What is to be read of a unit, as HTML: all text escaped, the part that the claim came from in `<mark>`."""
    before, part, after = map(_escaped, in_three(unit))
    parts = [
        ("question", _escaped(unit.question)),
        ("claim", f"<b>{_escaped(unit.claim)}</b>" if unit.claim else ""),
        ("claims", _escaped(listed(unit.claims))),
        ("citations", _escaped(" ".join(unit.markers))),
        (taken_from(unit), f"{before}<mark>{part}</mark>{after}" if part else before),
        *((_escaped(head(passage)), _escaped(passage.text)) for passage in unit.passages),
        *((name, _escaped(text)) for name, text in said(unit)),
    ]
    return "".join(f"<p><small>{name}</small><br>{text}</p>" for name, text in parts if text)


def _escaped(text: str) -> str:
    return escape(fit(text)).replace("\n", "<br>")


def as_text(unit: ReviewUnit) -> str:
    """What is to be read of a unit, as plain text under headings."""
    parts = [
        ("QUESTION", unit.question),
        ("CLAIM", unit.claim or ""),
        ("CLAIMS", listed(unit.claims)),
        ("CITATIONS", " ".join(unit.markers)),
        (taken_from(unit).upper(), marked(unit)),
        *((f"EVIDENCE {head(passage)}", passage.text) for passage in unit.passages),
        *((name.upper(), text) for name, text in said(unit)),
    ]
    return fit("\n\n".join(f"{name}\n{text}" for name, text in parts if text))


# --- files -----------------------------------------------------------------------------------------


def write_json(path: Path, value: object) -> None:
    """A JSON file, ASCII alone, so that no tool can take it for another encoding. It never overwrites."""
    with path.open("x", encoding="ascii", newline="\n") as file:
        json.dump(value, file, indent=1)
        file.write("\n")


def write_lines(path: Path, values: Iterable[object]) -> None:
    """A JSON value a line, ASCII alone. It never overwrites."""
    with path.open("x", encoding="ascii", newline="\n") as file:
        file.writelines(f"{json.dumps(value)}\n" for value in values)


def objects(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a JSON list, or of JSON lines, each with its place. InputError: something else."""
    for where, value in _values(path):
        if not isinstance(value, dict):
            raise InputError(f"{where}: not a JSON object; import the file as the tool exported it")
        yield where, value


def _values(path: Path) -> Iterator[tuple[str, Any]]:
    """The entries of a JSON list, or the values of JSON lines, one by one."""
    text = decoded(path)
    if text.lstrip().startswith("["):
        for number, value in enumerate(_parsed(text, str(path)), start=1):
            yield f"{path}: entry {number}", value
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield f"{path}:{number}", _parsed(line, f"{path}:{number}")


def _parsed(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not JSON ({error}); import the file as the tool exported it") from None


def first_object(path: Path) -> dict[str, Any]:
    """The first object of a file; an empty one when the file is something else."""
    try:
        return next(objects(path), ("", {}))[1]
    except InputError:
        return {}


def dicts(value: object) -> Iterator[dict[str, Any]]:
    """The objects in a list; none of anything else."""
    return (one for one in value if isinstance(one, dict)) if isinstance(value, list) else iter(())


def cell(value: object) -> str:
    """A JSON value as the cell of a row: text and numbers as they are, nothing else."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def place(where: str, kind: str, name: str) -> str:
    """Where a task stands, with the name that the tool gives it; a name that could steer a terminal is spelled out."""
    return f"{where} ({kind} {name if name.isprintable() else repr(name):.60})"


def only(values: object) -> str:
    """The only text of a list, which tools give for a single choice; several are joined, and so no known choice."""
    if isinstance(values, Sequence) and not isinstance(values, str):
        return " and ".join(map(cell, values))
    return cell(values)
