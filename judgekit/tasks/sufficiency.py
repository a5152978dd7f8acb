"""Can the question be answered from the contexts? A choice: yes, partly, no."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from judgekit.prompts import Prompts
from judgekit.records import Rating
from judgekit.tasks import Source, options, rating
from judgekit.wire import Answer, Choice, JudgeRequest

NAME = "sufficiency"
TEMPLATES = ("sufficiency",)
_ID = "contexts"


def request(prompts: Prompts, sources: Sequence[Source], *, question: str) -> JudgeRequest:
    return JudgeRequest(
        task=NAME,
        role=prompts.render(NAME, "role"),
        input=prompts.render(NAME, "input", sources=sources, question=question),
        questions=(Choice(id=_ID, ask=prompts.render(NAME, "ask"), options=options(prompts, NAME)),),
    )


def read(answers: Mapping[str, Answer]) -> list[Rating]:
    """One rating of the contexts together."""
    return [rating("sufficiency", "contexts", answers.get(_ID))]
