"""Did the answer refuse to answer? A yes/no, asked as whether it replies."""

from __future__ import annotations

from collections.abc import Mapping

from judgekit.prompts import Prompts
from judgekit.records import Rating
from judgekit.tasks import options, rating
from judgekit.wire import Answer, JudgeRequest, YesNo

NAME = "refusal"
TEMPLATES = ("refusal",)
_ID = "answer"
_TURNED = {"yes": "no", "no": "yes"}


def request(prompts: Prompts, *, question: str, answer: str) -> JudgeRequest:
    return JudgeRequest(
        task=NAME,
        role=prompts.render(NAME, "role"),
        input=prompts.render(NAME, "input", question=question, answer=answer),
        questions=(YesNo(id=_ID, ask=prompts.render(NAME, "ask"), options=options(prompts, NAME)),),
    )


def read(answers: Mapping[str, Answer]) -> list[Rating]:
    """One rating of the answer: `yes` when it refuses, that is when it does not reply."""
    answer = answers.get(_ID)
    if answer is not None and answer.label is not None:
        chances = answer.probabilities
        turned = chances and {_TURNED[label]: chance for label, chance in chances.items() if label in _TURNED}
        answer = answer.model_copy(update={"label": _TURNED[answer.label], "probabilities": turned})
    return [rating("refusal", "answer", answer)]
