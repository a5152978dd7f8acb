"""Text in the cells of a sheet that Excel, Google Sheets or LibreOffice will open.

A cell must not be read as a formula, neither by a spreadsheet nor by a program that takes every line for a row; it must
not exceed what a cell can hold, and no text may be lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

#: Excel holds so many UTF-16 units a cell and cuts off the rest.
MOST_UNITS = 32_767

# Also after white space, signs of no width and full-width forms: spreadsheets trim and normalise before they look.
_FORMULA = re.compile("[\\s\u200b\u2060\ufeff]*[=+\\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")
# What no cell can hold: controls but tab and line feed, halves of surrogate pairs, non-characters.
_UNFIT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_BREAK = re.compile(r"\s\S*\Z")


def guard(cell: str) -> str:
    """The cell with an apostrophe before each line that a spreadsheet could take for a formula.

    A line that begins with an apostrophe of its own gets one more, so that `unguard` can tell the two apart.
    """
    first, *others = cell.split("\n")
    # a line break at the very start is one of the signs that some spreadsheets drop before they look
    first = f"'{first}" if first.startswith("'") or _FORMULA.match(cell) else first
    return "\n".join(
        (first, *(f"'{line}" if line.startswith("'") or _FORMULA.match(line) else line for line in others))
    )


def unguard(cell: str) -> str:
    """The inverse of `guard`. Where a spreadsheet has swallowed an apostrophe, the line is returned as it is."""
    return "\n".join(line.removeprefix("'") for line in cell.split("\n"))


def fit(text: str) -> str:
    """The text with line ends as line feeds and, for each sign that no cell can hold, U+FFFD."""
    return _UNFIT.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def cells(text: str) -> list[str]:
    """The text in guarded pieces that each fit a cell; `unguard` makes of them the pieces of the text, in order.

    A cut falls after white space if it can. Of the empty text, one empty cell.
    """
    return [cell for piece in _parts(text) for cell in _guarded(piece)] or [""]


def _guarded(piece: str) -> Iterator[str]:
    """The piece guarded, in halves where its apostrophes make it too long."""
    cell = guard(piece)
    if _units(cell) <= MOST_UNITS:
        yield cell
        return
    middle = len(piece) // 2
    yield from _guarded(piece[:middle])
    yield from _guarded(piece[middle:])


def _units(text: str) -> int:
    """How long Excel takes a text to be: signs beyond U+FFFF count double."""
    return len(text) if text.isascii() else len(text) + sum(sign > "\uffff" for sign in text)


def _parts(text: str) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = _reach(text, start)
        if end < len(text) and (space := _BREAK.search(text, max(start, end - 200), end)):
            end = space.start() + 1
        yield text[start:end]
        start = end


def _reach(text: str, start: int) -> int:
    """The end of the longest piece from `start` that fits a cell with an apostrophe to spare."""
    piece = text[start : start + MOST_UNITS - 1]
    if _units(piece) < MOST_UNITS:
        return start + len(piece)
    units = 0
    for at, sign in enumerate(piece):
        units += 1 + (sign > "\uffff")
        if units >= MOST_UNITS:
            return start + at
    return start + len(piece)
