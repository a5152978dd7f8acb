"""How relevant is each context? A grade 0..3 a context, all contexts of a sample in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from judgekit.prompts import Prompts
from judgekit.records import Rating
from judgekit.tasks import Source, options, rating
from judgekit.wire import Answer, Grade, JudgeRequest

Kind = Literal["relevance", "relevance_by_answer"]


def request(
    prompts: Prompts, sources: Sequence[Source], *, kind: Kind, question: str, reference: str | None
) -> JudgeRequest:
    """`relevance` is judged for the question, with the reference in view if there is one; `relevance_by_answer` for
    the answer, which is then given as `reference`. The kind is also the name of the template."""
    ask, levels = prompts.render(kind, "ask"), options(prompts, kind)
    return JudgeRequest(
        task=kind,
        role=prompts.render(kind, "role"),
        input=prompts.render(kind, "input", question=question, reference=reference or ""),
        questions=tuple(
            Grade(id=_id(source), ask=ask, text=prompts.render(kind, "question", source=source), options=levels)
            for source in sources
        ),
    )


def read(prompts: Prompts, answers: Mapping[str, Answer], sources: Sequence[Source], *, kind: Kind) -> list[Rating]:
    """One rating a source, its label a grade `0`..`3`: the rank of the level that the judge named, lowest first."""
    grades = {level.value: str(grade) for grade, level in enumerate(options(prompts, kind))}
    return [rating(kind, source.context_id, _graded(answers.get(_id(source)), grades)) for source in sources]


def _id(source: Source) -> str:
    return f"c{source.id}"


def _graded(answer: Answer | None, grades: Mapping[str, str]) -> Answer | None:
    if answer is None or answer.label is None:
        return answer
    chances = answer.probabilities and {grades[value]: chance for value, chance in answer.probabilities.items()}
    return answer.model_copy(update={"label": grades[answer.label], "probabilities": chances})
