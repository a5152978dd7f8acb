"""Did the answer refuse to answer? A yes/no."""

from __future__ import annotations

from collections.abc import Mapping

from judgekit.prompts import Prompts
from judgekit.records import Rating
from judgekit.tasks import options, rating
from judgekit.wire import Answer, JudgeRequest, YesNo

NAME = "refusal"
TEMPLATES = ("refusal",)
_ID = "answer"


def request(prompts: Prompts, *, question: str, answer: str) -> JudgeRequest:
    return JudgeRequest(
        task=NAME,
        role=prompts.render(NAME, "role"),
        input=prompts.render(NAME, "input", question=question, answer=answer),
        questions=(YesNo(id=_ID, ask=prompts.render(NAME, "ask"), options=options(prompts, NAME)),),
    )


def read(answers: Mapping[str, Answer]) -> list[Rating]:
    """One rating of the answer: `yes` when it refuses."""
    return [rating("refusal", "answer", answers.get(_ID))]
