"""What comes back: rows of named cells, read by unit id and filled-in columns, never by text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TypeVar

from judgekit.errors import InputError, LogError
from judgekit.review.records import ClaimCheck, Filled, HumanVerdict
from judgekit.review.sheets.layout import (
    CLAIM_OK,
    EVIDENCE,
    EXPORT_ID,
    MINUTES,
    MISSED,
    NOTE,
    REVIEWER,
    UNIT_ID,
    VERDICT,
)

E = TypeVar("E", HumanVerdict, ClaimCheck)

#: The columns that are read, beside the two ids.
NAMES = (VERDICT.name, CLAIM_OK.name, EVIDENCE.name, MISSED.name, NOTE.name, REVIEWER.name, MINUTES.name)
_GARBLED = "holds signs that were lost on the way; save the sheet as UTF-8 (in Excel: CSV UTF-8) and import it again"
#: Columns of a sheet that is not blind: what the judge said, and nobody fills in.
_SHOWN = "judge_"
_WORDS: frozenset[str] = frozenset(HumanVerdict)
#: What shows that somebody has been at a unit; name and time may have been filled in for all rows beforehand.
_TELLING = (VERDICT.name, CLAIM_OK.name, EVIDENCE.name, MISSED.name, NOTE.name)


def column_of(heading: str) -> str:
    """The name of a column from its heading, without what was added to it: `Verdict (supported / ...)` is `verdict`."""
    return heading.partition("(")[0].strip(" \t\r\n\u00a0\ufeff'\"").casefold()


def columns_of(headings: Iterable[str], *, where: str) -> list[str]:
    """The names of the columns.

    InputError: no `unit_id`; a column that counts stands there twice; no verdicts, which would read as rows put off.
    """
    names = [column_of(heading) for heading in headings]
    for name in (UNIT_ID, EXPORT_ID, *NAMES):
        if names.count(name) > 1:
            raise InputError(f"{where}: column {name!r} stands there twice; keep the one that counts")
    if UNIT_ID not in names:
        raise InputError(f"{where}: no column {UNIT_ID!r}; import the sheet with its first row, as it was drawn")
    for column in (VERDICT.name, MISSED.name):
        likely = [name for name in names if column in name and not name.startswith(_SHOWN)]
        if likely and column not in names:
            raise InputError(f"{where}: no column {column!r}; is it {likely[0]!r:.80}? call it {column!r}")
    if VERDICT.name not in names and MISSED.name not in names:
        raise InputError(f"{where}: no column {VERDICT.name!r}; give the sheet as it was drawn")
    return names


def filled(rows: Iterable[tuple[str, Mapping[str, str]]]) -> list[Filled]:
    """What rows of (where, column -> cell) say; a row without a unit id and without anything filled in is none.

    LogError: what cannot be read, a line for each problem with its place and remedy.
    """
    problems: list[str] = []
    found = [one for where, row in rows if (one := _filled(where, row, problems)) is not None]
    if problems:
        raise LogError(problems)
    return found


def _filled(where: str, row: Mapping[str, str], problems: list[str]) -> Filled | None:
    told = {name: row.get(name, "").strip() for name in NAMES}
    unit_id = row.get(UNIT_ID, "").strip()
    if not unit_id:
        if any(told[name] for name in _TELLING):
            problems.append(
                f"{where}: unit_id: empty, in a row that is filled in; copy it from the sheet as it was drawn"
            )
        return None
    problems += [f"{where}: {name}: {_GARBLED}" for name, cell in told.items() if "\ufffd" in cell]
    if VERDICT.name not in row and (renamed := _renamed(row)):
        problems.append(f"{where}: no {VERDICT.name!r}; is it {renamed!r:.80}? call it {VERDICT.name!r}")
    read = _Reader(where, told, problems)
    verdict = read.choice(VERDICT.name, HumanVerdict)
    missed = read.count(MISSED.name)
    is_done = verdict is not None or missed is not None
    return Filled(
        unit_id=unit_id,
        where=where,
        export_id=row.get(EXPORT_ID, "").strip() or None,
        verdict=verdict,
        claim_ok=read.choice(CLAIM_OK.name, ClaimCheck),
        evidence=told[EVIDENCE.name] or None,
        missed=missed,
        note=told[NOTE.name] or None,
        reviewer=told[REVIEWER.name] or None,
        minutes=read.minutes(MINUTES.name),
        status="done" if is_done else "deferred" if any(told[name] for name in _TELLING) else "blank",
    )


def _renamed(row: Mapping[str, str]) -> str | None:
    """Under which other name a row of a tool, which holds no more than was filled in, has a verdict."""
    likely = (name for name in row if VERDICT.name in name.casefold() and not name.startswith(_SHOWN))
    return next((name for name in likely if row[name].strip().casefold() in _WORDS), None)


class _Reader:
    """Reads the cells of one row, and notes what cannot be read."""

    def __init__(self, where: str, told: Mapping[str, str], problems: list[str]) -> None:
        self._where, self._told, self._problems = where, told, problems

    def choice(self, name: str, options: type[E]) -> E | None:
        """One of the options; case and white space may differ, but nothing is guessed."""
        told = self._told[name]
        if not told:
            return None
        try:
            return options("_".join(told.casefold().replace("_", " ").replace("-", " ").split()))
        except ValueError:
            self._wrong(name, f"give one of {', '.join(options)}, or leave it empty")
            return None

    def count(self, name: str) -> int | None:
        told = self._told[name]
        if not told:
            return None
        found = re.fullmatch(r"(\d{1,6})(?:[.,]0*)?", told, re.ASCII)
        if found is None:
            self._wrong(name, "give a whole number, 0 or more, or leave it empty")
            return None
        return int(found[1])

    def minutes(self, name: str) -> float | None:
        told = self._told[name]
        if not told:
            return None
        found = re.fullmatch(r"\d{1,6}(?:[.,]\d*)?", told, re.ASCII)
        if found is None:
            self._wrong(name, "give minutes, such as 1.5, or leave it empty")
            return None
        return float(told.replace(",", "."))

    def _wrong(self, name: str, remedy: str) -> None:
        self._problems.append(f"{self._where}: {name}: {self._told[name]!r:.80} cannot be read; {remedy}")
