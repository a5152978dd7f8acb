"""What is known of a sample beside its claims and verdicts: asks, entities, likenesses and ratings.

Each step asks only when some metric needs it, and costs nothing when the sample leaves nothing to ask.
"""

from __future__ import annotations

from collections.abc import Sequence

from judgekit.desk import Desk, in_windows, sources_for
from judgekit.metrics import Metric
from judgekit.records import ANSWER, Ask, Case, Claim, Criterion, Fault, Likeness, Need, Rating, Sample
from judgekit.tasks import (
    Source,
    asks,
    bearing,
    entities,
    in_groups,
    likeness,
    refusal,
    relevance,
    reverse,
    rubric,
    sufficiency,
)
from judgekit.together import all_of
from judgekit.wire import JudgeRequest


async def asks_of(desk: Desk, sample: Sample, needs: frozenset[Need]) -> tuple[Ask, ...]:
    """What the question asks for; a simple question is its own ask and costs no call."""
    if Need.BEARING not in needs or not sample.question.strip():
        return ()
    if desk.options.split == "segments" or asks.is_simple(sample.question):
        return asks.single(sample.question)
    answers = await desk.ask(asks.request(desk.judge.prompts, sample.question))
    found = asks.read(answers, sample.question)
    if found is None:
        cause = next((answer.cause for answer in answers.values() if answer.cause), "missing")
        desk.faults.append(Fault(stage="asks", cause=cause, message=sample.question))
    return found or ()


async def entities_of(desk: Desk, sample: Sample, needs: frozenset[Need]) -> tuple[str, ...] | None:
    """The names in the reference; None when they are not needed, or could not be had."""
    if Need.ENTITIES not in needs or not sample.reference:
        return None
    answers = await desk.ask(entities.request(desk.judge.prompts, sample.reference))
    found = entities.read(answers, sample.reference)
    if found is None:
        cause = next((answer.cause for answer in answers.values() if answer.cause), "invented")
        desk.faults.append(Fault(stage="entities", cause=cause, message=sample.reference))
    return found


async def likenesses_of(desk: Desk, sample: Sample, needs: frozenset[Need]) -> tuple[Likeness, ...] | None:
    """The questions that the answer answers, compared with the one that was asked; None when they could not be had."""
    if Need.REVERSE_QUESTIONS not in needs or not sample.answer.strip() or not sample.question.strip():
        return None
    answers = await desk.ask(reverse.request(desk.judge.prompts, sample.answer))
    questions = reverse.read(answers)
    if questions is None:
        cause = next((answer.cause for answer in answers.values() if answer.cause), "empty")
        desk.faults.append(Fault(stage="reverse questions", cause=cause, message=sample.answer))
        return None
    found = likeness.read(await desk.ask(likeness.request(sample.question, questions)), questions)
    lost = [one for one in found if one.cosine is None]
    desk.faults += [Fault(stage="embeddings", cause=one.cause or "missing", message=one.text) for one in lost]
    return found


async def bearings_of(desk: Desk, case: Case, needs: frozenset[Need]) -> list[Rating]:
    """Whether the answer addresses each ask, and whether its claims bear on the question.

    One too long for a call is shown whole for the asks alone, and for claims only where they stand: else each group of
    them would repeat all of it.
    """
    sample, claims = case.sample, case.claims_of(ANSWER)
    is_long = len(sample.answer) > desk.options.source_chars_per_call
    if Need.BEARING not in needs or not case.asks or not sample.answer.strip():
        return []

    def request(items: Sequence[Ask | Claim]) -> JudgeRequest:
        some_asks = [item for item in items if isinstance(item, Ask)]
        some_claims = [item for item in items if isinstance(item, Claim)]
        answer = sample.answer
        if is_long and some_claims:
            answer = answer[min(c.start for c in some_claims) : max(c.end for c in some_claims)].strip()
        return bearing.request(
            desk.judge.prompts, question=sample.question, answer=answer, asks=some_asks, claims=some_claims
        )

    by_place = sorted(claims, key=lambda claim: (claim.start, claim.end))
    apart: list[list[Ask | Claim]] = [[*case.asks], [*by_place]] if is_long else [[*case.asks, *claims]]
    groups = [group for items in apart for group in in_groups(items, desk.most_items(desk.options.segments_per_call))]
    answers = await all_of(desk.ask_items(request, group) for group in groups)
    return bearing.read({key: answer for group in answers for key, answer in group.items()}, case.asks, claims)


async def ratings_of(desk: Desk, sample: Sample, needs: frozenset[Need]) -> list[Rating]:
    """The ratings that depend on the sample alone: contexts, refusal, sufficiency."""
    wanted = []
    if Need.RELEVANCE in needs and sample.source_ids:
        wanted.append(_relevance(desk, sample, "relevance", sample.reference))
    if Need.RELEVANCE_BY_ANSWER in needs and sample.source_ids:
        wanted.append(_relevance(desk, sample, "relevance_by_answer", sample.answer))
    if Need.REFUSAL in needs and sample.answer.strip():
        wanted.append(_refusal(desk, sample))
    if Need.SUFFICIENCY in needs and sample.source_ids:
        wanted.append(_sufficiency(desk, sample))
    return [rating for some in await all_of(wanted) for rating in some]


async def _relevance(desk: Desk, sample: Sample, kind: relevance.Kind, reference: str | None) -> list[Rating]:
    sources = sources_for(sample, sample.source_ids)

    def request(some: Sequence[Source]) -> JudgeRequest:
        return relevance.request(desk.judge.prompts, some, kind=kind, question=sample.question, reference=reference)

    windows = in_windows(sources, desk.options.source_chars_per_call)
    answers = await all_of(desk.ask_items(request, window) for window in windows)
    return relevance.read(
        desk.judge.prompts, {key: a for window in answers for key, a in window.items()}, sources, kind=kind
    )


async def _refusal(desk: Desk, sample: Sample) -> list[Rating]:
    request = refusal.request(desk.judge.prompts, question=sample.question, answer=sample.answer)
    return refusal.read(await desk.ask(request))


async def _sufficiency(desk: Desk, sample: Sample) -> list[Rating]:
    sources = sources_for(sample, sample.source_ids)
    return sufficiency.read(await desk.ask(sufficiency.request(desk.judge.prompts, sources, question=sample.question)))


async def rubrics_of(desk: Desk, sample: Sample, metrics: Sequence[Metric]) -> list[Rating]:
    """The ratings of the users' own criteria, each criterion asked once, in a call of its own."""

    async def rated(criterion: Criterion) -> Rating:
        request = rubric.request(desk.judge.prompts, sample, sources_for(sample, sample.source_ids), criterion)
        return rubric.read(await desk.ask(request), criterion)

    return await all_of(rated(one) for one in dict.fromkeys(one for m in metrics for one in m.criteria(sample)))
