"""CSV as spreadsheets write and read it, in any locale."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path

from judgekit.errors import InputError
from judgekit.review.records import Filled, ReviewUnit
from judgekit.review.sheets.layout import UNIT_ID
from judgekit.review.sheets.reading import column_of, columns_of, filled
from judgekit.review.sheets.table import table

_SEPARATORS = ",;\t|"
_LONGEST_CELL = 10_000_000


def write(units: Sequence[ReviewUnit], path: Path) -> None:
    """UTF-8 with its mark (Excel takes UTF-8 without it for ANSI), CRLF after rows, LF in cells, every cell quoted."""
    headings, rows = table(units)
    with path.open("x", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, headings, restval="", quoting=csv.QUOTE_ALL, lineterminator="\r\n")
        writer.writeheader()
        writer.writerows(rows)


def read(path: Path) -> list[Filled]:
    """Rows of a CSV as a spreadsheet saved it: comma, semicolon, tab or bar; UTF-8 with or without mark, or UTF-16.

    InputError: no `unit_id` among the headings, or a cell that cannot be read.
    """
    text = decoded(path)
    return filled(_rows(path, text, _separator(text) or ","))


def recognises(path: Path) -> bool:
    """Whether a file is a CSV with unit ids."""
    return _separator(decoded(path)) is not None


def decoded(path: Path) -> str:
    """The text of a file. Bytes that are no UTF-8 are U+FFFD: they may stand in a text that nobody reads back."""
    raw = path.read_bytes()
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if raw.startswith(mark):
            return raw.decode(encoding, errors="replace")
    if b"\0" in raw[:4]:  # UTF-16 that lost its mark: the headings are ASCII
        return raw.decode("utf-16-be" if raw.startswith(b"\0") else "utf-16-le", errors="replace")
    return raw.decode("utf-8", errors="replace")


def _separator(text: str) -> str | None:
    """What separates the cells of the first row, if one of them is `unit_id`."""
    first = text[:100_000]
    for separator in _SEPARATORS:
        row = next(_parsed(first, separator), ((), 0))[0]
        if UNIT_ID in map(column_of, row):
            return separator
    return None


def _rows(path: Path, text: str, separator: str) -> Iterator[tuple[str, dict[str, str]]]:
    parsed = _parsed(text, separator)
    columns = columns_of(next(parsed, ([], 1))[0], where=f"{path}:1")
    try:
        for number, (row, line) in enumerate(parsed, start=2):
            yield f"{path}:{line} (row {number})", dict(zip(columns, row, strict=False))
    except csv.Error as error:
        raise InputError(f"{path}: not CSV ({error}); save the sheet as CSV again") from None


def _parsed(text: str, separator: str) -> Iterator[tuple[list[str], int]]:
    """Rows with the line that each begins at. A first line `sep=;`, as Excel writes, is none."""
    lines = StringIO(text, newline="")
    skipped = 0
    if text[:4].casefold() == "sep=":
        lines.readline()
        skipped = 1
    limit = csv.field_size_limit(_LONGEST_CELL)
    try:
        reader = csv.reader(lines, delimiter=separator)
        line = 1 + skipped
        for row in reader:
            yield row, line
            line = reader.line_num + 1 + skipped
    finally:
        csv.field_size_limit(limit)
