"""Does the answer address each ask, and does each claim bear on the question? One call for both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from judgekit.prompts import Prompts
from judgekit.records import Ask, Claim, Rating
from judgekit.tasks import options, rating
from judgekit.wire import Answer, Choice, JudgeRequest, YesNo

NAME = "bearing"
TEMPLATES = ("bearing",)


def request(
    prompts: Prompts, *, question: str, answer: str, asks: Iterable[Ask], claims: Iterable[Claim]
) -> JudgeRequest:
    """A choice an ask (answered, declined, ignored) and a yes/no a claim."""

    def item(text: str) -> str:
        return prompts.render(NAME, "question", item=text)

    ask, labels = prompts.render(NAME, "ask"), options(prompts, NAME)
    ask_claims, labels_claims = prompts.render(NAME, "ask_claims"), options(prompts, NAME, "labels_claims")
    return JudgeRequest(
        task=NAME,
        role=prompts.render(NAME, "role"),
        input=prompts.render(NAME, "input", question=question, answer=answer),
        questions=(
            *(Choice(id=one.id, ask=ask, text=item(one.text), options=labels) for one in asks),
            *(YesNo(id=one.id, ask=ask_claims, text=item(one.text), options=labels_claims) for one in claims),
        ),
    )


def read(answers: Mapping[str, Answer], asks: Iterable[Ask], claims: Iterable[Claim]) -> list[Rating]:
    """One rating an ask, then one a claim."""
    return [
        *(rating("ask", ask.id, answers.get(ask.id)) for ask in asks),
        *(rating("bearing", claim.id, answers.get(claim.id)) for claim in claims),
    ]
