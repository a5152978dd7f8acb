"""The way of one sample: from a logged answer to scores that can be traced to claim, verdict and evidence.

Read from top to bottom: `judge_samples` keeps some samples in flight and lets results leave in input order;
`judge_sample` is the whole way of one; the rest are its steps. What is rated beside claims is in `rate`, how a sample
asks in `desk`.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Coroutine, Iterable, Sequence
from contextlib import aclosing
from typing import Any, NamedTuple

from judgekit.desk import Desk
from judgekit.errors import InputError, JudgeStop, Postponed
from judgekit.judge import Judge
from judgekit.metrics import Metric
from judgekit.rate import asks_of, bearings_of, entities_of, likenesses_of, ratings_of, rubrics_of
from judgekit.records import (
    ANSWER,
    REFERENCE,
    ROW,
    Case,
    Check,
    Claim,
    Fault,
    Need,
    Options,
    Reason,
    Result,
    Sample,
    Score,
    Segment,
    Side,
    Usage,
)
from judgekit.scoring.plan import plan
from judgekit.segment import segment
from judgekit.tasks import in_groups, split
from judgekit.together import all_of, at_once, in_order
from judgekit.wire import JudgeRequest

#: Rounds of checks at most: claims, then leave-one-out of citations, then whatever a metric of one's own adds.
_MOST_ROUNDS = 6


async def judge_samples(
    samples: Iterable[Sample] | AsyncIterable[Sample],
    *,
    judge: Judge,
    metrics: Sequence[Metric],
    options: Options,
    in_flight: int | None = None,
    waiting: int = 0,
    by: Callable[[Sample], Coroutine[Any, Any, Result]] | None = None,
) -> AsyncIterator[Result]:
    """Results in input order, with at most `in_flight` samples begun and not yet handed out, or more by `waiting` while
    so many are finished and wait for an earlier one. `by` judges one sample, instead of `judge_sample`.

    A sample that fails yields a result with its fault; a judge that cannot go on raises JudgeStop.
    """
    window = max(4, judge.concurrency) if in_flight is None else in_flight
    if window < 1:
        raise InputError(f"in_flight={in_flight}: at least 1 sample must be in flight")

    def begin(sample: Sample) -> Coroutine[Any, Any, Result]:
        return judge_sample(sample, judge=judge, metrics=metrics, options=options)

    async with aclosing(in_order(samples, by or begin, most=window, waiting=waiting)) as results:
        async for result in results:
            yield result


async def judge_sample(sample: Sample, *, judge: Judge, metrics: Sequence[Metric], options: Options) -> Result:
    """The whole way of one sample. Only what stops a run is raised, and Postponed where the judge answers later; any
    other failure is kept in the result."""
    _can_be_had(metrics, judge=judge, options=options)  # said before anything is paid for
    desk = Desk(judge, options)
    try:
        case = await _judged(sample, desk=desk, metrics=metrics)
    except (JudgeStop, InputError, Postponed):
        raise
    except Exception as error:  # noqa: BLE001  one row must not take the others down with it
        fault = Fault(stage=ROW, cause=type(error).__name__, message=str(error))
        unscored = tuple(Score.undefined(metric.name, Reason.UNJUDGED, note=str(error)) for metric in metrics)
        return _result(desk, Case(sample=sample), unscored, fault)
    scores, faults = scored(case, metrics)
    return _result(desk, case, scores, *faults)


def _result(desk: Desk, case: Case, scores: tuple[Score, ...], *faults: Fault) -> Result:
    calls = desk.calls
    return Result(case=case, scores=scores, usage=Usage.of(calls), calls=calls, faults=(*desk.faults, *faults))


#: What has to be written, whatever serves as claims; and what only where texts are taken apart by the judge.
_WRITTEN = frozenset({Need.ENTITIES, Need.REVERSE_QUESTIONS})
_TAKEN_APART = frozenset({Need.ANSWER_CLAIMS, Need.REFERENCE_CLAIMS, Need.BEARING})


#: What is asked beside checks of claims.
_RATED = frozenset(
    {Need.RELEVANCE, Need.RELEVANCE_BY_ANSWER, Need.BEARING, Need.REFUSAL, Need.SUFFICIENCY, Need.RUBRIC}
)


def _can_be_had(metrics: Sequence[Metric], *, judge: Judge, options: Options) -> None:
    """Raise InputError for a metric that needs a part which the judge has not: one that writes, one that embeds."""
    for metric in metrics:
        if not judge.writes and metric.needs & _WRITTEN:
            raise InputError(
                f"{metric.name} rests on text that a model writes, and this judge only decides: give a model that "
                f"writes as well (--judge MODEL), or leave out {metric.name}"
            )
        if not judge.writes and options.split == "claims" and metric.needs & _TAKEN_APART:
            raise InputError(
                f"{metric.name} needs texts split into claims, and this judge only decides: judge whole segments "
                "(--split segments, Options(split='segments')), or give a model that writes as well (--judge MODEL)"
            )
        if judge.compares_only and metric.needs & _RATED:
            raise InputError(
                f"{metric.name} asks something else than whether sources support a claim, and an entailment classifier "
                f"answers nothing else: leave out {metric.name}, or give another decider"
            )
        if Need.REVERSE_QUESTIONS in metric.needs:
            judge.embedder_for(metric.name)


def scored(case: Case, metrics: Sequence[Metric]) -> tuple[tuple[Score, ...], tuple[Fault, ...]]:
    """The scores of a case, and the fault of every metric that fails or returns what is no score of its own: it takes
    no other with it."""
    scores: list[Score] = []
    faults: list[Fault] = []
    for metric in metrics:
        try:
            scores.append(_genuine(metric.score(case), metric))
        except Exception as error:  # noqa: BLE001  a user's metric may raise anything
            faults.append(Fault(stage=f"score {metric.name}", cause=type(error).__name__, message=str(error)))
            scores.append(Score.undefined(metric.name, Reason.UNJUDGED, note=str(error)))
    return tuple(scores), tuple(faults)


def _genuine(score: object, metric: Metric) -> Score:
    if not isinstance(score, Score) or score.metric != metric.name:
        raise ValueError(f"metric {metric.name!r} returned {score!r:.200}; return a Score of that name")
    if score.value is not None and not 0 <= score.value <= 1:
        raise ValueError(f"metric {metric.name!r} returned the value {score.value!r}, outside [0, 1]")
    return score


async def _judged(sample: Sample, *, desk: Desk, metrics: Sequence[Metric]) -> Case:
    """Everything the metrics need to know about a sample, each thing asked once."""
    needs = frozenset[Need]().union(*(metric.needs_for(sample) for metric in metrics))
    segments = segment(sample.answer, sample.contexts, spans=sample.citations, base=desk.options.citation_base)
    of_reference = segment(sample.reference or "", prefix="t")

    # What depends on nothing else is asked at once.
    async with at_once() as start:
        of_answer = start(_claims(desk, sample, ANSWER, segments if Need.ANSWER_CLAIMS in needs else ()))
        of_known = start(_claims(desk, sample, REFERENCE, of_reference if Need.REFERENCE_CLAIMS in needs else ()))
        asked = start(asks_of(desk, sample, needs))
        named = start(entities_of(desk, sample, needs))
        alike = start(likenesses_of(desk, sample, needs))
        ratings = start(ratings_of(desk, sample, needs))
        own = start(rubrics_of(desk, sample, metrics))
    answer_side, reference_side = of_answer.result(), of_known.result()
    case = Case(
        sample=sample,
        segments=segments,
        reference_segments=of_reference,
        claims=(*answer_side.claims, *reference_side.claims),
        unsplit=tuple(side.side for side in (answer_side, reference_side) if side.is_unsplit),
        invented_claims=(*answer_side.invented, *reference_side.invented),
        asks=asked.result(),
        entities=named.result(),
        likenesses=alike.result(),
        ratings=(*ratings.result(), *own.result()),
    )
    async with at_once() as start:
        verified = start(_verified(desk, case, metrics))
        bearings = start(bearings_of(desk, case, needs))
    return verified.result().having(ratings=(*case.ratings, *bearings.result()))


# --- claims ------------------------------------------------------------------------------------


class _SplitSide(NamedTuple):
    side: Side
    claims: tuple[Claim, ...] = ()
    invented: tuple[str, ...] = ()
    is_unsplit: bool = False


async def _claims(desk: Desk, sample: Sample, side: Side, segments: Sequence[Segment]) -> _SplitSide:
    """The claims of the answer or of the reference, split once for all metrics."""
    if desk.options.split == "segments":
        return _SplitSide(side, split.whole_segments(segments, side, question=sample.question))
    wanted = split.splittable(segments)
    drafts = await _drafts(desk, sample, side, wanted)
    faulty = [draft.segment for draft in drafts if draft.fault and draft.answered]
    drafts = split.settled(drafts, await _drafts(desk, sample, side, faulty, again=True) if faulty else ())
    failed = [draft for draft in drafts if not draft.answered]
    for draft in failed:
        desk.faults.append(Fault(stage=f"split {side}", cause=draft.fault or "missing", message=draft.segment.bare))
    invented = tuple(claim for draft in drafts for claim in draft.invented)
    if failed:  # a denominator that lacks a part of the text would be a lie
        return _SplitSide(side, invented=invented, is_unsplit=True)
    return _SplitSide(side, split.claims_of(drafts, side, question=sample.question), invented)


async def _drafts(
    desk: Desk, sample: Sample, side: Side, segments: Sequence[Segment], *, again: bool = False
) -> list[split.Draft]:
    whole = sample.answer if side == ANSWER else sample.reference or ""

    def request(some: Sequence[Segment]) -> JudgeRequest:
        text = whole[some[0].start : some[-1].end].strip()
        return split.request(desk.judge.prompts, question=sample.question, text=text, segments=some, again=again)

    groups = in_groups(segments, desk.options.segments_per_call)
    answers = await all_of(desk.ask_items(request, group, task=f"{split.NAME} {side}") for group in groups)
    merged = {key: answer for group in answers for key, answer in group.items()}
    return split.read(merged, segments, question=sample.question, text=whole)


# --- verdicts ----------------------------------------------------------------------------------


async def _verified(desk: Desk, case: Case, metrics: Sequence[Metric]) -> Case:
    """The case with a verdict for every check that the metrics want, round by round until they want no more."""
    for _ in range(_MOST_ROUNDS):
        wanted: dict[Check, None] = {}
        for metric in metrics:
            wanted.update(dict.fromkeys(metric.checks(case)))
        groups = [
            (group.sources, claims)
            for group in plan(case, wanted)
            for claims in in_groups(group.claims, desk.most_items(desk.options.claims_per_call))
        ]
        if not groups:
            break
        found = await all_of(desk.verdicts(case.sample, *group) for group in groups)
        case = case.having(verdicts=(*case.verdicts, *(verdict for some in found for verdict in some)))
    return case
