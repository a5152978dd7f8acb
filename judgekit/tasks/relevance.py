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
    shown = prompts.render(kind, "input", sources=sources, question=question, reference=reference or "")
    return JudgeRequest(
        task=kind,
        role=prompts.render(kind, "role"),
        input=shown,
        questions=tuple(
            Grade(id=f"c{source.id}", ask=ask, text=f"[{source.id}]", options=levels) for source in sources
        ),
    )


def read(answers: Mapping[str, Answer], sources: Sequence[Source], *, kind: Kind) -> list[Rating]:
    """One rating a source, its label a grade `0`..`3`."""
    return [rating(kind, source.context_id, answers.get(f"c{source.id}")) for source in sources]
