"""A workbook for Excel, LibreOffice or Google Sheets: drop-down lists, wrapped text, a header that stays in view.

Needs openpyxl (`pip install judgekit[xlsx]`), which loads only here.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile

from judgekit.errors import InputError
from judgekit.review.records import Filled, ReviewUnit
from judgekit.review.sheets.layout import GUIDE, GUIDE_WHOLE, UNIT_ID, VERDICT, Column, is_whole
from judgekit.review.sheets.reading import column_of, columns_of, filled
from judgekit.review.sheets.table import header, table, to_fill

if TYPE_CHECKING:
    from openpyxl.worksheet.worksheet import Worksheet

_NEEDS = "xlsx needs openpyxl: pip install 'judgekit[xlsx]'; or give --format csv, which every spreadsheet opens"
_WIDE, _MIDDLE, _NARROW = 60, 24, 12
_WIDTHS = {"question": 36, "claim": 40, "answer": _WIDE, "reference": _WIDE, "claims": 48, "note": 36}
_TINT = "FFF4D6"
_ZIP = b"PK\x03\x04"


def write(units: Sequence[ReviewUnit], path: Path) -> None:
    """A workbook with the sheet `review` and a page of advice. Every cell is text: nothing in it can be a formula.

    InputError: openpyxl is not there.
    """
    try:
        from openpyxl import Workbook  # noqa: PLC0415 - an extra, imported only when used
    except ImportError:
        raise InputError(_NEEDS) from None
    headings, rows = table(units)
    book = Workbook()
    sheet: Worksheet = book.worksheets[0]
    sheet.title = "review"
    for at, cells in enumerate([dict(zip(headings, headings, strict=True)), *rows], start=1):
        for column, heading in enumerate(headings, start=1):
            _put(sheet, at, column, cells.get(heading, ""))
    _dress(sheet, headings, {header(column): column for column in to_fill(units)})
    advice = book.create_sheet("how to")
    advice.column_dimensions["A"].width = 100
    _put(advice, 1, 1, GUIDE_WHOLE if is_whole(units) else GUIDE)
    with path.open("xb") as file:
        book.save(file)


def _put(sheet: Worksheet, row: int, column: int, text: str) -> None:
    from openpyxl.styles import Alignment  # noqa: PLC0415 - an extra, imported only when used

    cell = sheet.cell(row, column)
    cell.alignment = Alignment(wrap_text=True, vertical="top")
    if text:
        cell.value = text
        cell.data_type = "s"  # or `=1+1` would be a formula and `#N/A` an error


def _dress(sheet: Worksheet, headings: Sequence[str], fill: dict[str, Column]) -> None:
    """Widths, drop-down lists, a tint for what is to be filled in, and a header that stays where it is."""
    from openpyxl.styles import Font, PatternFill  # noqa: PLC0415 - an extra, imported only when used
    from openpyxl.utils import get_column_letter  # noqa: PLC0415
    from openpyxl.worksheet.datavalidation import DataValidation  # noqa: PLC0415

    last = max(sheet.max_row, 2)
    for at, heading in enumerate(headings, start=1):
        letter = get_column_letter(at)
        sheet.cell(1, at).font = Font(bold=True)
        sheet.column_dimensions[letter].width = _width(column_of(heading))
        if heading not in fill:
            continue
        for row in range(1, last + 1):
            sheet.cell(row, at).fill = PatternFill("solid", fgColor=_TINT)
        if options := fill[heading].options:
            choices = DataValidation(type="list", formula1=f'"{",".join(options)}"', allow_blank=True)
            choices.error, choices.errorTitle = f"one of: {', '.join(options)}", fill[heading].name
            sheet.add_data_validation(choices)
            choices.add(f"{letter}2:{letter}{last}")
    verdict = next(at for at, heading in enumerate(headings, start=1) if column_of(heading) == VERDICT.name)
    sheet.freeze_panes = f"{get_column_letter(verdict + 1)}2"


def _width(name: str) -> int:
    if name in _WIDTHS:
        return _WIDTHS[name]
    if name.startswith(("evidence_", "answer_", "reference_")) and name != "evidence_id":
        return _WIDE
    return _MIDDLE if name.startswith(("verdict", "claim_ok", "judge_")) else _NARROW + len(name) // 3


# --- back ------------------------------------------------------------------------------------------


def read(path: Path) -> list[Filled]:
    """Rows of the first sheet with unit ids, also of a workbook that another program saved. Formulas count by the value
    they had when it was saved.

    InputError: no such sheet, no workbook, openpyxl is not there, or a cell that cannot be read.
    """
    return filled(_rows(path))


def recognises(path: Path) -> bool:
    """Whether a file is a workbook, by its first bytes."""
    with path.open("rb") as file:
        return file.read(len(_ZIP)) == _ZIP


def _rows(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    try:
        from openpyxl import load_workbook  # noqa: PLC0415 - an extra, imported only when used
    except ImportError:
        raise InputError(_NEEDS) from None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about drop-down lists and styles of other programs, which nobody reads here
        try:
            book = load_workbook(path, read_only=True, data_only=True)
        except (BadZipFile, KeyError, ValueError, OSError) as error:
            raise InputError(f"{path}: no workbook that can be read ({error}); save it as .xlsx again") from None
        try:
            for sheet in book.worksheets:
                lines = sheet.iter_rows(values_only=True)
                headings = [_text(cell) for cell in next(lines, ())]
                if UNIT_ID in map(column_of, headings):
                    columns = columns_of(headings, where=f"{path}: sheet {sheet.title!r}, row 1")
                    for number, cells in enumerate(lines, start=2):
                        where = f"{path}: row {number}"
                        yield where, dict(zip(columns, map(_text, cells), strict=False))
                    return
        finally:
            book.close()
    raise InputError(
        f"{path}: no sheet with a column {UNIT_ID!r}; import the workbook with its first row, as it was drawn"
    )


def _text(cell: object) -> str:
    return "" if cell is None else str(cell)
