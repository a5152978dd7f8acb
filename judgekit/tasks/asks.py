"""What does the question ask for? An extraction, which a simple question does not need."""

from __future__ import annotations

import re
from collections.abc import Mapping

from judgekit.prompts import Prompts
from judgekit.records import Ask
from judgekit.segment.words import normalised
from judgekit.wire import Answer, JudgeRequest, Texts

NAME = "asks"
TEMPLATES = ("asks",)
_ID = "q"
_MOST = 12

# What can join two asks in one question, in the languages that most logs are written in; a sign that is not here
# only means that a compound question is taken as one ask.
_JOINED = re.compile(
    r"[,;:\n\u3001\u060c\uff0c\uff1b]|[?\uff1f\u061f](?=.)"
    r"|\b(?:and|or|und|oder|sowie|et|ou|y|o|e|i|oraz|lub|\u0438|\u0438\u043b\u0438|en|of|och|eller|og)\b|[\u548c\u3068]|\u0648",
    re.IGNORECASE,
)


def is_simple(question: str) -> bool:
    """True when nothing in the question joins two asks, so that it is its own single ask."""
    return not _JOINED.search(question.strip())


def single(question: str) -> tuple[Ask, ...]:
    """The question as its own ask."""
    return (Ask(id="q1", text=" ".join(question.split())),)


def request(prompts: Prompts, question: str) -> JudgeRequest:
    """The asks of a question. The answer is not shown: what counts as asked cannot depend on what was answered."""
    return JudgeRequest(
        task=NAME,
        role=prompts.render(NAME, "role"),
        input=prompts.render(NAME, "input", question=question),
        questions=(Texts(id=_ID, ask=prompts.render(NAME, "ask")),),
    )


def read(answers: Mapping[str, Answer], question: str) -> tuple[Ask, ...] | None:
    """The asks, each once; the question itself when the judge found none; None when it could not be asked."""
    answer = answers.get(_ID)
    if answer is None or answer.texts is None:
        return None
    distinct = {normalised(text): " ".join(text.split()) for text in answer.texts if normalised(text)}
    if not distinct:
        return single(question)
    return tuple(Ask(id=f"q{n}", text=text) for n, text in enumerate(list(distinct.values())[:_MOST], start=1))
