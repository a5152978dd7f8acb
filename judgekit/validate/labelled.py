"""Rows with human labels: what a judge is held against.

One JSON object a line: `id`, `task`, the text that was labelled (`claim`, or `answer`), `question` where there is one,
`contexts`, and the human's label: `label_binary` (1 good, 0 bad), or `label` as a number for graded ones, or both.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, get_args

from judgekit.errors import InputError, LogError
from judgekit.formats.native import Bad, lines_of, object_of, sample_of
from judgekit.records import Record, Sample

Task = Literal["claim_support", "citation_support", "answer_faithfulness", "relevance", "answer_relevance"]
TASKS: Final[tuple[Task, ...]] = get_args(Task)
_TEXTS: Final = ("claim", "answer")
_NEED_CONTEXTS: Final = frozenset(TASKS) - {"answer_relevance"}
_NEED_QUESTION: Final = frozenset({"relevance", "answer_relevance"})


class Labelled(Record):
    """One labelled row. `sample.answer` is the text that was labelled; `is_claim`: it is one claim, to be taken whole.

    `is_good` is the human's label as a yes or no, `grade` as a number, `raters` the numbers that single raters gave.
    Rows of one `group` are not independent: they share a question, a document, a conversation.
    """

    id: str
    task: Task
    sample: Sample
    is_claim: bool
    is_good: bool | None
    grade: float | None
    raters: tuple[float, ...]
    group: str


class LabelledFile(NamedTuple):
    """A file's rows, and how many were passed over because nothing here judges their task, by task. `is_grouped`: some
    row has the key that was to group them."""

    name: str
    rows: tuple[Labelled, ...]
    passed_over: Mapping[str, int]
    is_grouped: bool = False


def read(path: Path, *, group_by: str | None = None, raters: str | None = None) -> LabelledFile:
    """The labelled rows of a file. `group_by` and `raters` are keys of a row, dotted where they lie deeper
    (`extra.source_id`); without `group_by`, rows with the same question, else with the same contexts, are a group.

    Raises LogError naming file, line, field and remedy for every row that cannot be used.
    """
    problems: list[str] = []
    rows: dict[str, Labelled] = {}
    passed: Counter[str] = Counter()
    is_grouped = False
    for number, line in lines_of(path):
        try:
            row = object_of(line, number)
            task = row.get("task")
            if isinstance(task, str) and task not in TASKS:
                passed[task] += 1
                continue
            one = _row(row, number, group_by=group_by, raters=raters)
        except Bad as bad:
            problems.append(f"{path}:{number}: {bad.field}: {bad}" if bad.field else f"{path}:{number}: {bad}")
            continue
        if one.id in rows:
            problems.append(f"{path}:{number}: id: {one.id!r} stands twice; give every row an id of its own")
        is_grouped |= group_by is not None and _at(row, group_by) is not None
        rows[one.id] = one
    if problems:
        raise LogError(problems)
    if not rows:
        raise InputError(f"{path}: no row whose task can be judged; the tasks are: {', '.join(TASKS)}")
    return LabelledFile(path.name, tuple(rows.values()), passed, is_grouped)


def _row(row: Mapping[str, Any], number: int, *, group_by: str | None, raters: str | None) -> Labelled:
    task = row.get("task")
    if task not in TASKS:
        raise Bad("task", f"{task!r} is none of: {', '.join(TASKS)}")
    field = next((name for name in _TEXTS if row.get(name) is not None), None)
    if field is None:
        if task != "relevance":
            raise Bad("claim", "missing; give the text that was labelled as `claim` or `answer`")
        field = "answer"
    contexts = row.get("contexts") or []
    if not contexts and task in _NEED_CONTEXTS:
        raise Bad("contexts", f"missing or empty; {task} is judged against them")
    known = {"id": row.get("id"), "question": row.get("question") or "", "answer": row.get(field) or ""}
    sample = sample_of({**known, "contexts": contexts}, default_id=str(number))
    _refuse_blank(sample, task, field)
    is_good, grade = _is_good(row.get("label_binary")), _number(row.get("label"))
    if is_good is None and grade is None:
        raise Bad("label_binary", "missing; write 1 (good) or 0 (bad), or give `label` as a number")
    return Labelled(
        id=sample.id,
        task=task,
        sample=sample,
        is_claim=field == "claim",
        is_good=is_good,
        grade=grade,
        raters=_raters(row, raters) if raters else (),
        group=_group(row, sample, group_by),
    )


def _refuse_blank(sample: Sample, task: str, field: str) -> None:
    """Raises Bad where a text that the task needs has nothing in it: the judge would be paid for a guess."""
    if task != "relevance" and not sample.answer.strip():
        raise Bad(field, "empty; give the text that was labelled")
    if task in _NEED_QUESTION and not sample.question.strip():
        raise Bad("question", f"missing or empty; {task} is judged by it")
    if task in _NEED_CONTEXTS and not sample.source_ids:
        raise Bad("contexts", f"none of them has a text; {task} is judged against them")


def _is_good(value: object) -> bool | None:
    if value is None:
        return None
    if isinstance(value, str) or value not in (0, 1):
        raise Bad("label_binary", f"{value!r} is neither 1 (good) nor 0 (bad)")
    return bool(value)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _at(row: Mapping[str, Any], key: str) -> Any:
    """The value under a dotted key; None where there is none."""
    found: Any = row
    for part in key.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _raters(row: Mapping[str, Any], key: str) -> tuple[float, ...]:
    found = _at(row, key)
    if found is None:
        return ()
    numbers = [_number(one) for one in found] if isinstance(found, list) else [None]
    if any(one is None for one in numbers):
        raise Bad(key, f"{found!r:.80} is no list of numbers; --raters names what the single raters gave")
    return tuple(one for one in numbers if one is not None)


def _group(row: Mapping[str, Any], sample: Sample, key: str | None) -> str:
    if key is None:
        return sample.question or "\x1f".join(context.text for context in sample.contexts)
    found = _at(row, key)
    if isinstance(found, Mapping | Sequence) and not isinstance(found, str):
        raise Bad(key, "not a text or a number; --group-by names what rows have in common")
    return sample.id if found is None else str(found)
