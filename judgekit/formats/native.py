"""judgekit's own log format: JSON Lines, one answered question a line.

Keys: question, answer, contexts (required for judging); id, reference, citations, relevance, facts, retrievals,
metadata (optional). Unknown keys go to `metadata`. A context is a text, or an object with id, text, title, url,
doc_id, version. Every problem of a log is found before anything is asked of a judge.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import JsonValue

from judgekit.errors import InputError, LogError
from judgekit.formats.citations import a_type, read_answer
from judgekit.records import THE_ANSWER, THE_REFERENCE, Context, Fact, LogFile, Retrieval, Sample

FIELDS = (
    "id",
    "question",
    "answer",
    "contexts",
    "reference",
    "citations",
    "relevance",
    "facts",
    "retrievals",
    "metadata",
)
REQUIRED = ("question", "answer", "contexts")
_CONTEXT_FIELDS = ("id", "text", "title", "url", "doc_id", "version", "metadata")


class Bad(ValueError):
    """What is wrong with a field of a row."""

    def __init__(self, field: str, message: str) -> None:
        self.field = field
        super().__init__(message)


class Checked(NamedTuple):
    """A log that was read through once: its files, where its bad rows are, if those are to be skipped, and its ids."""

    files: tuple[LogFile, ...]
    skipped: tuple[str, ...]
    ids: frozenset[str]


def check(paths: Sequence[Path], *, mapping: Mapping[str, str] | None = None, skip_bad: bool = False) -> Checked:
    """Read logs through without keeping them. Raises LogError with every problem, unless bad rows are to be skipped."""
    problems: list[str] = []
    files: list[LogFile] = []
    seen: dict[str, str] = {}
    columns: set[str] = set()
    for path in paths:
        rows = 0
        for place, row in _rows(path, mapping or {}, columns):
            if isinstance(row, Bad):
                problems.append(f"{place}: {row.field}: {row}" if row.field else f"{place}: {row}")
            elif row.id in seen:
                problems.append(
                    f"{place}: id: {row.id!r} stands already at {seen[row.id]}; give every row an id of its own"
                )
            else:
                seen[row.id] = place
                rows += 1
        files.append(LogFile(name=path.name, sha256=_sha256(path), rows=rows))
    for field, column in (mapping or {}).items():
        if column not in columns:
            there = ", ".join(sorted(columns)) or "none"
            raise InputError(f"--map {field}={column}: no row has a column {column!r}; there are: {there}")
    if problems and not skip_bad:
        raise LogError(problems)
    if not seen:
        raise InputError(
            f"{', '.join(str(path) for path in paths)}: no rows to judge; one JSON object a line is expected"
        )
    return Checked(tuple(files), tuple(problems), frozenset(seen))


def read(paths: Iterable[Path], *, mapping: Mapping[str, str] | None = None) -> Iterator[Sample]:
    """The good rows of logs, one at a time, in order; `check` has reported the others."""
    seen: set[str] = set()
    for path in paths:
        for _, row in _rows(path, mapping or {}):
            if isinstance(row, Sample) and row.id not in seen:
                seen.add(row.id)
                yield row


def _rows(
    path: Path, mapping: Mapping[str, str], columns: set[str] | None = None
) -> Iterator[tuple[str, Sample | Bad]]:
    """Every row with its place `file:line`, as a sample or as what is wrong with it. `columns` takes up all keys."""
    for number, line in lines_of(path):
        yield f"{path}:{number}", _row(line, number, mapping, columns)


def lines_of(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a log that are not blank, numbered from 1; InputError when it cannot be opened."""
    try:
        with path.open("rb") as lines:
            yield from ((number, line) for number, line in enumerate(lines, start=1) if line.strip())
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}; give the path of a JSON Lines log") from None


def _row(line: bytes, number: int, mapping: Mapping[str, str], columns: set[str] | None = None) -> Sample | Bad:
    try:
        row = object_of(line, number)
        if columns is not None:
            columns.update(row)
        return sample_of(row, mapping=mapping, default_id=str(number))
    except Bad as bad:
        return bad


def object_of(line: bytes, number: int) -> dict[str, Any]:
    """The JSON object of a line, which may begin with a byte order mark when it is the first; Bad for anything else."""
    try:
        text = line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise Bad("", f"not UTF-8 at byte {error.start}; save the log as UTF-8") from None
    try:
        row = json.loads(text, parse_constant=_no_constant, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise Bad("", f"not JSON ({error}); one JSON object a line is expected") from None
    if not isinstance(row, dict):
        raise Bad("", f"{a_type(row)} where an object is expected; one JSON object a line")
    return row


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON; write null")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits} is too large for a number; write it as a text")
    return number


def sample_of(row: Mapping[str, Any], *, mapping: Mapping[str, str] | None = None, default_id: str = "1") -> Sample:
    """The sample of one row. Raises Bad (a ValueError) naming the field and the remedy."""
    given = _renamed(row, mapping or {})
    missing = [field for field in REQUIRED if given.get(field) is None]
    if missing:
        what = "null" if missing[0] in given else "missing"
        have = ", ".join(sorted(map(str, row))) or "nothing"
        raise Bad(missing[0], f"{what}; the row has: {have}; name its column with --map {missing[0]}=COLUMN")
    contexts = _contexts(given["contexts"], "contexts")
    try:
        answer, citations = read_answer(given["answer"], given.get("citations"), contexts)
    except ValueError as error:
        raise Bad("citations" if isinstance(given["answer"], str) else "answer", str(error)) from None
    extra = {str(key): value for key, value in given.items() if key not in FIELDS}
    sample = Sample(
        id=_id(given.get("id"), "id", default=default_id),
        question=_text(given["question"], "question"),
        answer=answer,
        contexts=contexts,
        reference=None if given.get("reference") is None else _text(given["reference"], "reference"),
        citations=citations,
        relevance=_relevance(given.get("relevance")),
        facts=_facts(given.get("facts")),
        retrievals=_retrievals(given.get("retrievals")),
        metadata={**extra, **_object(given.get("metadata"), "metadata")},
    )
    return _sound(sample)


def _sound(sample: Sample) -> Sample:
    """The sample, if it can be written down again: no text of it holds half a character."""
    try:
        sample.model_dump_json()
    except ValueError:
        field = next((name for name in FIELDS if _is_broken(sample, name)), "id")
        message = r"holds half a character (a lone surrogate such as \ud83d), as when a text was cut inside an emoji"
        raise Bad(field, f"{message}; cut it elsewhere, or drop that sign") from None
    return sample


def _is_broken(sample: Sample, field: str) -> bool:
    try:
        sample.model_dump_json(include={field})
    except ValueError:
        return True
    return False


def _renamed(row: Mapping[str, Any], mapping: Mapping[str, str]) -> dict[str, Any]:
    unknown = sorted(set(mapping) - set(FIELDS))
    if unknown:
        raise InputError(f"--map {unknown[0]}=...: no such field; the fields are: {', '.join(FIELDS)}")
    taken = set(mapping.values())
    given = {key: value for key, value in row.items() if key not in taken}
    for field, column in mapping.items():
        if column not in row and field not in REQUIRED:
            continue  # a log need not give every row a reference; `check` has seen that the column exists
        if column not in row:
            raise Bad(field, f"no column {column!r}; the row has: {', '.join(sorted(map(str, row)))}")
        given[field] = row[column]
    return given


def _id(value: Any, field: str, *, default: str | None = None) -> str:
    """An id as a text; the default for null, where there is one."""
    if value is None and default is not None:
        return default
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        or_none = "" if default is None else f", or leave it out to have it called {default!r}"
        raise Bad(field, f"{value!r} is not a text or a whole number; write the id in quotes{or_none}")
    return str(value)


def _ids(value: Any, field: str) -> tuple[str, ...]:
    return tuple(_id(one, f"{field}[{n}]") for n, one in enumerate(_list(value, field)))


def _text(value: Any, field: str) -> str:
    if not isinstance(value, str):
        raise Bad(field, f"{a_type(value)} where a text is expected; write it as one text in quotes")
    return value


def _object(value: Any, field: str) -> dict[str, JsonValue]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Bad(field, f"{a_type(value)} where an object is expected; put it in {{ }} under a key")
    return {str(key): item for key, item in value.items()}


def _list(value: Any, field: str) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list | tuple):
        raise Bad(field, f"{a_type(value)} where a list is expected; put it in [ ]")
    return list(value)


def _contexts(value: Any, field: str) -> tuple[Context, ...]:
    """Contexts in rank order; one without an id is called by its rank, counted from 1."""
    contexts = tuple(_context(item, n, f"{field}[{n - 1}]") for n, item in enumerate(_list(value, field), start=1))
    taken = [context.id for context in contexts if (context.id,) in (THE_REFERENCE, THE_ANSWER)]
    if taken:
        raise Bad(field, f"the id {taken[0]!r} is a name of judgekit's own; give that context another id")
    count = Counter(context.id for context in contexts)
    if repeated := [name for name in count if count[name] > 1]:
        raise Bad(field, f"the id {repeated[0]!r} occurs twice; give every context of a row an id of its own")
    return contexts


def _context(item: Any, number: int, field: str) -> Context:
    if item is None:
        return Context(id=str(number))
    if isinstance(item, str):
        return Context(id=str(number), text=item)
    if not isinstance(item, dict):
        raise Bad(field, f"{a_type(item)}; a context is a text, or an object with id and text")
    texts = {name: _optional_text(item.get(name), f"{field}.{name}") for name in ("title", "url", "doc_id", "version")}
    extra = {str(key): value for key, value in item.items() if key not in _CONTEXT_FIELDS}
    return Context(
        id=_id(item.get("id"), f"{field}.id", default=str(number)),
        text=_optional_text(item.get("text"), f"{field}.text") or "",
        **texts,
        metadata={**extra, **_object(item.get("metadata"), f"{field}.metadata")},
    )


def _optional_text(value: Any, field: str) -> str | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return None if value is None else _text(value, field)


def _relevance(value: Any) -> dict[str, float] | None:
    """Grades by id; the ids of a list are all of grade 1."""
    if value is None:
        return None
    if isinstance(value, list | tuple):
        return dict.fromkeys(_ids(value, "relevance"), 1.0)
    if not isinstance(value, dict):
        raise Bad("relevance", f"{a_type(value)}; relevance is an object of id -> grade, or a list of the relevant ids")
    return {str(key): _grade(grade, f"relevance.{key}") for key, grade in value.items()}


def _grade(value: Any, field: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise Bad(field, f"{value!r} is not a grade; a number is expected")
    return float(value)


def _facts(value: Any) -> tuple[Fact, ...]:
    return tuple(_fact(item, n, f"facts[{n - 1}]") for n, item in enumerate(_list(value, "facts"), start=1))


def _fact(item: Any, number: int, field: str) -> Fact:
    if not isinstance(item, dict):
        raise Bad(field, f"{a_type(item)}; a fact is an object with id, text and context_ids")
    return Fact(
        id=_id(item.get("id"), f"{field}.id", default=f"f{number}"),
        text=_optional_text(item.get("text"), f"{field}.text") or "",
        context_ids=_ids(item.get("context_ids"), f"{field}.context_ids"),
    )


def _retrievals(value: Any) -> tuple[Retrieval, ...]:
    found = []
    for n, item in enumerate(_list(value, "retrievals")):
        if not isinstance(item, dict):
            raise Bad(f"retrievals[{n}]", f"{a_type(item)}; a retrieval is an object with query and contexts")
        query = _optional_text(item.get("query"), f"retrievals[{n}].query") or ""
        found.append(Retrieval(query=query, contexts=_contexts(item.get("contexts"), f"retrievals[{n}].contexts")))
    return tuple(found)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
