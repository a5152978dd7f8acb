"""Text in the cells of a CSV that Excel, Google Sheets or LibreOffice will open.

A cell must not be read as a formula, must not exceed what a cell can hold, and must come back as the text it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

#: Excel holds 32,767 UTF-16 units a cell and cuts off the rest; an apostrophe has to fit as well.
MOST_UNITS = 32_000

# Also after white space, signs of no width and full-width forms: spreadsheets trim and normalise before they look.
_FORMULA = re.compile("[\\s\u200b\u2060\ufeff]*[=+\\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")
# What no cell can hold: controls but tab and line feed, halves of surrogate pairs, non-characters.
_UNFIT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_BREAK = re.compile(r"\s\S*\Z")


def guard(cell: str) -> str:
    """The cell with an apostrophe before it when a spreadsheet could take it for a formula; `unguard` takes it off.

    A cell that begins with an apostrophe of its own gets one more, so that the two can be told apart.
    """
    return f"'{cell}" if cell.startswith("'") or _FORMULA.match(cell) else cell


def unguard(cell: str) -> str:
    """The inverse of `guard`. A cell whose apostrophe a spreadsheet has swallowed is returned as it is."""
    return cell.removeprefix("'")


def fit(text: str) -> str:
    """The text with line ends as line feeds and, for each sign that no cell can hold, U+FFFD."""
    return _UNFIT.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def parts(text: str) -> list[str]:
    """The text in pieces that each fit a cell; together they are the text. A cut falls after white space if it can."""
    return list(_parts(text)) or [""]


def _parts(text: str) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = _reach(text, start)
        if end < len(text) and (space := _BREAK.search(text, max(start, end - 200), end)):
            end = space.start() + 1
        yield text[start:end]
        start = end


def _reach(text: str, start: int) -> int:
    """The end of the longest piece from `start` that fits a cell; signs beyond U+FFFF count double, as in Excel."""
    piece = text[start : start + MOST_UNITS]
    if piece.isascii() or len(piece) + sum(sign > "\uffff" for sign in piece) <= MOST_UNITS:
        return start + len(piece)
    units = 0
    for at, sign in enumerate(piece):
        units += 1 + (sign > "\uffff")
        if units > MOST_UNITS:
            return start + at
    return start + len(piece)
