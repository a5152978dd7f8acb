"""How like are questions to the one that was asked? The cosines of their embeddings, all from one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum, hypot

from judgekit.records import Likeness
from judgekit.wire import Answer, JudgeRequest, Vector

NAME = "likeness"
_ASKED = "asked"


def request(question: str, others: Sequence[str]) -> JudgeRequest:
    """The question as it was asked, and the others, to be embedded."""
    texts = {_ASKED: question, **{_id(number): other for number, other in enumerate(others, start=1)}}
    return JudgeRequest(
        task=NAME, role="", input="", questions=tuple(Vector(id=i, ask="", text=text) for i, text in texts.items())
    )


def read(answers: Mapping[str, Answer], others: Sequence[str]) -> tuple[Likeness, ...]:
    """One likeness a question, in their order; without both vectors, or when they do not fit, it has no cosine."""
    asked = answers.get(_ASKED)
    return tuple(_likeness(asked, answers.get(_id(number)), other) for number, other in enumerate(others, start=1))


def _id(number: int) -> str:
    return f"other{number}"


def _likeness(asked: Answer | None, answer: Answer | None, text: str) -> Likeness:
    for one in (asked, answer):
        if one is None or one.vector is None:
            return Likeness(text=text, cause=one.cause if one and one.cause else "missing")
    first, second = (one.vector or () for one in (asked, answer) if one is not None)
    if len(first) != len(second):
        return Likeness(text=text, cause="unlike_dimensions")
    return Likeness(
        text=text, cosine=fsum(a * b for a, b in zip(first, second, strict=True)) / (hypot(*first) * hypot(*second))
    )
