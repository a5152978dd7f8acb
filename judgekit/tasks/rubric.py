"""Does a criterion of the user's own hold? A yes/no or a grade, from a judge that writes text with its reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from judgekit.prompts import Prompts
from judgekit.records import Criterion, Rating, Sample
from judgekit.tasks import Source, options, rating
from judgekit.wire import Answer, Grade, JudgeRequest, Option, YesNo

NAME = "rubric"
TEMPLATES = ("rubric",)
_ID = "criterion"


def request(prompts: Prompts, sample: Sample, sources: Sequence[Source], criterion: Criterion) -> JudgeRequest:
    """One call a criterion, so that asking one more changes no other. Only what the criterion sees is shown."""

    def seen(name: str, text: str | None) -> str:
        return text or "" if name in criterion.sees else ""

    return JudgeRequest(
        task=NAME,
        role=prompts.render(NAME, "role"),
        input=prompts.render(
            NAME,
            "input",
            question=seen("question", sample.question),
            answer=seen("answer", sample.answer),
            reference=seen("reference", sample.reference),
            sources=sources if "contexts" in criterion.sees else (),
        ),
        questions=(_question(prompts, criterion),),
    )


def _question(prompts: Prompts, criterion: Criterion) -> YesNo | Grade:
    if not criterion.levels:
        ask = prompts.render(NAME, "ask", criterion=criterion.text)
        return YesNo(id=_ID, ask=ask, options=options(prompts, NAME), explain=criterion.explain)
    ask = prompts.render(NAME, "ask_level", criterion=criterion.text)
    levels = tuple(
        Option(value=str(number), description=prompts.render(NAME, "level", level=level))
        for number, level in enumerate(criterion.levels, start=1)
    )
    return Grade(id=_ID, ask=ask, options=levels, explain=criterion.explain)


def read(answers: Mapping[str, Answer], criterion: Criterion) -> Rating:
    """The rating of the criterion: `yes`, `no`, or the number of the level, 1 the lowest."""
    answer = answers.get(_ID)
    found = rating("rubric", criterion.key, answer)
    return found.having(reason=answer.reason) if answer is not None and found.label is not None else found
