"""Formats that a sheet can be written in and read from; one file a format.

A format writes units for a reviewer, and reads what came back: by unit id and filled-in fields, never by text. Whatever
a log holds is inert in it: no formula, no markup, no script.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from judgekit.errors import InputError
from judgekit.review.records import Filled, ReviewUnit
from judgekit.review.sheets import argilla, csv_sheet, doccano, html, label_studio, prodigy, xlsx
from judgekit.review.sheets.csv_sheet import decoded
from judgekit.review.sheets.layout import UNIT_ID
from judgekit.review.sheets.tasks import objects

__all__ = ["FORMATS", "Format", "format_for", "read"]


class Format(NamedTuple):
    """One format. `write` never overwrites; `read` raises InputError for what cannot be read, a line a problem;
    `recognises` looks whether a file is of this format, and fails for none."""

    name: str
    suffix: str
    write: Callable[[Sequence[ReviewUnit], Path], None]
    read: Callable[[Path], list[Filled]]
    recognises: Callable[[Path], bool]


def _format(name: str, suffix: str, module: object) -> Format:
    return Format(name, suffix, *(getattr(module, part) for part in ("write", "read", "recognises")))


#: Name -> format. What comes first is asked first whether a file is its own.
FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        one.name: one
        for one in (
            _format("xlsx", ".xlsx", xlsx),
            _format("label-studio", ".json", label_studio),
            _format("argilla", ".json", argilla),
            _format("prodigy", ".jsonl", prodigy),
            _format("doccano", ".jsonl", doccano),
            _format("html", ".html", html),
            _format("csv", ".csv", csv_sheet),
        )
    }
)


def format_for(path: Path, name: str | None = None) -> Format:
    """The format of that name, or else the one that the file's suffix stands for.

    InputError: an unknown name, or a suffix that stands for none or for several.
    """
    if name is not None:
        if name not in FORMATS:
            raise InputError(f"unknown format {name!r}; there are: {', '.join(FORMATS)}")
        return FORMATS[name]
    found = [one for one in FORMATS.values() if one.suffix == path.suffix.casefold()]
    if len(found) != 1:
        choice = [one.name for one in found] or list(FORMATS)
        raise InputError(f"{path}: its name does not say which format it is to be; give --format {' or '.join(choice)}")
    return found[0]


def read(path: Path) -> list[Filled]:
    """What a filled-in sheet says, whatever its format and its name.

    InputError: no file, a file of none of the formats, or a line for each thing in it that cannot be read.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    for one in FORMATS.values():
        if one.recognises(path):
            return one.read(path)
    if decoded(path).lstrip()[:1] in ("[", "{"):
        next(objects(path), None)  # raises what is wrong with JSON that is broken
    raise InputError(
        f"{path}: not a sheet that was drawn here: no `{UNIT_ID}` in it; formats that are read: {', '.join(FORMATS)}"
    )
