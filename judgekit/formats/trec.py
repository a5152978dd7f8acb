"""TREC files: judgements (qrels) `query 0 document grade` and runs `query Q0 document rank score tag`, by white space.

The order within a query is by score, from high to low, as trec_eval reads it; the rank column is not looked at. Every
problem of a file is found before anything is counted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from judgekit.errors import InputError, LogError

T = TypeVar("T")

_QRELS = ("query", "iteration", "document", "grade")
_RUN = ("query", "Q0", "document", "rank", "score", "tag")


def read_qrels(path: Path) -> dict[str, dict[str, float]]:
    """Query -> document -> grade, in the order of the file.

    LogError: lines with another number of fields, grades that are no finite numbers, a document graded in two ways.
    """
    problems: list[str] = []
    qrels: dict[str, dict[str, float]] = {}
    for place, (query, _, document, text) in _rows(path, _QRELS, problems):
        grade = _number(text)
        known = qrels.setdefault(query, {})
        if grade is None or not math.isfinite(grade):
            problems.append(f"{place}: grade: {text!r} is no grade; write a number, such as 0 or 1")
        elif known.setdefault(document, grade) != grade:
            problems.append(f"{place}: grade: {document!r} has grade {known[document]:g} already; keep one of the two")
    return _sound(path, qrels, problems, "query 0 document grade")


def read_run(path: Path, *, larger_id_first: bool = False) -> dict[str, list[str]]:
    """Query -> its documents, best first: by score, equal scores in the order of the file.

    `larger_id_first` orders equal scores by document, the larger id first, as trec_eval does. Documents given twice
    stay in twice. LogError: lines with another number of fields, scores that are no numbers.
    """
    problems: list[str] = []
    scored: dict[str, list[tuple[str, float]]] = {}
    for place, (query, _, document, _, text, _) in _rows(path, _RUN, problems):
        score = _number(text)
        if score is None or math.isnan(score):
            problems.append(f"{place}: score: {text!r} is no score; write a number")
        else:
            scored.setdefault(query, []).append((document, score))
    if larger_id_first:
        scored = {query: sorted(rows, reverse=True) for query, rows in scored.items()}
    runs = {
        query: [document for document, _ in sorted(rows, key=lambda row: row[1], reverse=True)]
        for query, rows in scored.items()
    }
    return _sound(path, runs, problems, "query Q0 document rank score tag")


def _rows(path: Path, fields: Sequence[str], problems: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Every line with its place `file:line`, split into its fields; others are noted as problems."""
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                place = f"{path}:{number}"
                try:
                    row = line.decode("utf-8-sig" if number == 1 else "utf-8").split()
                except UnicodeDecodeError as error:
                    problems.append(f"{place}: not UTF-8 at byte {error.start}; save the file as UTF-8")
                    continue
                if len(row) == len(fields):
                    yield place, row
                elif row:
                    missing = fields[len(row)] if len(row) < len(fields) else "line"
                    problems.append(f"{place}: {missing}: {len(row)} fields; write {' '.join(fields)}")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}; give the path of a TREC file") from None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _sound(path: Path, found: dict[str, T], problems: list[str], form: str) -> dict[str, T]:
    if problems:
        raise LogError(problems)
    if not found:
        raise InputError(f"{path}: no lines; one `{form}` a line is expected")
    return found
