"""Which questions does the answer answer? An extraction from the answer alone."""

from __future__ import annotations

from collections.abc import Mapping

from judgekit.prompts import Prompts
from judgekit.segment.words import normalised
from judgekit.wire import Answer, JudgeRequest, Texts

NAME = "reverse"
TEMPLATES = ("reverse",)
_ID = "questions"
_MOST = 3


def request(prompts: Prompts, answer: str) -> JudgeRequest:
    return JudgeRequest(
        task=NAME,
        role=prompts.render(NAME, "role"),
        input=prompts.render(NAME, "input", answer=answer),
        questions=(Texts(id=_ID, ask=prompts.render(NAME, "ask")),),
    )


def read(answers: Mapping[str, Answer]) -> tuple[str, ...] | None:
    """At most three questions, each once; None when the judge could not be asked, or wrote none."""
    answer = answers.get(_ID)
    if answer is None or answer.texts is None:
        return None
    distinct: dict[str, str] = {}
    for text in answer.texts:
        if key := normalised(text):
            distinct.setdefault(key, " ".join(text.split()))
    return tuple(distinct.values())[:_MOST] or None
