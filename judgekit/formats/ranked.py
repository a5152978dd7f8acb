"""Native rows read for their rankings and labels: `contexts` in rank order, `relevance`, `facts`, `retrievals`.

The same rows as for judging, with two liberties: question and answer may be missing, and an id may be ranked again,
which is a fault of the retriever that the measures have to see.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from judgekit.errors import InputError, LogError
from judgekit.formats import native
from judgekit.records import Context, Sample

_AGAIN = "\0again"  # no id holds it: it tells a repeated id apart while the row is checked


def read(paths: Iterable[Path], mapping: Mapping[str, str]) -> list[Sample]:
    """All rows of logs; LogError with every problem, InputError when no row has labels or facts."""
    problems: list[str] = []
    samples: dict[str, Sample] = {}
    for path in paths:
        for place, row in _rows(path, mapping):
            if not isinstance(row, Sample):
                problems.append(f"{place}: {row}")
            elif row.id in samples:
                problems.append(f"{place}: id: {row.id!r} stands there already; give every row an id of its own")
            else:
                samples[row.id] = row
    if problems:
        raise LogError(problems)
    if not any(sample.relevance is not None or sample.facts for sample in samples.values()):
        shown = ", ".join(map(str, paths))
        raise InputError(
            f"{shown}: relevance: no row has labels; add relevance (id -> grade), or name its column with "
            "--map relevance=COLUMN"
        )
    return list(samples.values())


def _rows(path: Path, mapping: Mapping[str, str]) -> Iterator[tuple[str, Sample | str]]:
    """Every row with its place `file:line`, as a sample or as what is wrong with it."""
    for number, line in native.lines_of(path):
        try:
            yield f"{path}:{number}", _row(line, number, mapping)
        except native.Bad as bad:
            yield f"{path}:{number}", f"{bad.field}: {bad}" if bad.field else str(bad)


def _row(line: bytes, number: int, mapping: Mapping[str, str]) -> Sample:
    """A row of which only the contexts are required, and in which an id may be ranked again; Bad when it is wrong."""
    row = native.object_of(line, number)
    column = {field: mapping.get(field, field) for field in ("contexts", "retrievals")}
    if row.get(column["contexts"]) is None:
        have = ", ".join(sorted(map(str, row))) or "nothing"
        raise native.Bad("contexts", f"missing; the row has: {have}; name its column with --map contexts=COLUMN")
    row = {"question": "", "answer": "", **{key: value for key, value in row.items() if value is not None}}
    row[column["contexts"]] = _told_apart(row[column["contexts"]])
    calls = row.get(column["retrievals"])
    if isinstance(calls, list):
        row[column["retrievals"]] = [
            {**call, "contexts": _told_apart(call.get("contexts"))} if isinstance(call, dict) else call
            for call in calls
        ]
    sample = native.sample_of(row, mapping=mapping, default_id=str(number))
    lists = (sample.contexts, *(call.contexts for call in sample.retrievals))
    if not any(_AGAIN in context.id for contexts in lists for context in contexts):
        return sample
    return sample.having(
        contexts=_as_given(sample.contexts),
        retrievals=[call.having(contexts=_as_given(call.contexts)) for call in sample.retrievals],
    )


def _told_apart(contexts: Any) -> Any:
    """Contexts in which a repeated id is marked, so that the row can be checked as any other."""
    if not isinstance(contexts, list):
        return contexts
    seen: set[str] = set()
    marked = []
    for number, context in enumerate(contexts):
        one = str(context["id"]) if isinstance(context, dict) and context.get("id") is not None else None
        marked.append({**context, "id": f"{one}{_AGAIN}{number}"} if one in seen else context)
        if one is not None:
            seen.add(one)
    return marked


def _as_given(contexts: Iterable[Context]) -> list[Context]:
    return [
        context.having(id=context.id.partition(_AGAIN)[0]) if _AGAIN in context.id else context for context in contexts
    ]
