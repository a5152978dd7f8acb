"""The way of one sample: from a logged answer to scores that can be traced to claim, verdict and evidence.

Read from top to bottom: `judge_samples` keeps some samples in flight and lets results leave in input order;
`judge_sample` is the whole way of one; the rest are its steps.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Callable, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, TypeVar

from judgekit.errors import InputError, JudgeStop, RequestTooLong
from judgekit.judge import Judge
from judgekit.judge.asking import Call
from judgekit.metrics import Metric
from judgekit.records import (
    ANSWER,
    REFERENCE,
    THE_ANSWER,
    THE_REFERENCE,
    Ask,
    Case,
    Check,
    Claim,
    Context,
    Criterion,
    Fault,
    Likeness,
    Need,
    Options,
    Rating,
    Reason,
    Result,
    Sample,
    Score,
    Segment,
    Side,
    Usage,
    Verdict,
)
from judgekit.scoring.plan import plan
from judgekit.segment import segment
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
    sources_of,
    split,
    sufficiency,
    verify,
)
from judgekit.wire import Answer, JudgeRequest

T = TypeVar("T")

#: Stage of a fault that took its whole row with it.
ROW = "row"
#: Rounds of checks at most: claims, then leave-one-out of citations, then whatever a metric of one's own adds.
_MOST_ROUNDS = 6


async def judge_samples(
    samples: Iterable[Sample] | AsyncIterable[Sample],
    *,
    judge: Judge,
    metrics: Sequence[Metric],
    options: Options,
    in_flight: int | None = None,
) -> AsyncIterator[Result]:
    """Results in input order, with at most `in_flight` samples begun and not yet handed out.

    A sample that fails yields a result with its fault; a judge that cannot go on raises JudgeStop.
    """
    window = max(4, judge.concurrency) if in_flight is None else in_flight
    if window < 1:
        raise InputError(f"in_flight={in_flight}: at least 1 sample must be in flight")
    begun: deque[asyncio.Task[Result]] = deque()
    try:
        async for sample in _each(samples):
            if len(begun) >= window:
                yield await begun.popleft()
            begun.append(asyncio.ensure_future(judge_sample(sample, judge=judge, metrics=metrics, options=options)))
        while begun:
            yield await begun.popleft()
    finally:
        for task in begun:
            task.cancel()
        await asyncio.gather(*begun, return_exceptions=True)


async def judge_sample(sample: Sample, *, judge: Judge, metrics: Sequence[Metric], options: Options) -> Result:
    """The whole way of one sample. Only what stops a run is raised; any other failure is kept in the result."""
    for metric in metrics:
        if Need.REVERSE_QUESTIONS in metric.needs:
            judge.embedder_for(metric.name)  # said before anything is paid for
    desk = _Desk(judge, options)
    try:
        case = await _judged(sample, desk=desk, metrics=metrics)
    except (JudgeStop, InputError):
        raise
    except Exception as error:  # noqa: BLE001  one row must not take the others down with it
        fault = Fault(stage=ROW, cause=type(error).__name__, message=str(error))
        unscored = tuple(Score.undefined(metric.name, Reason.UNJUDGED, note=str(error)) for metric in metrics)
        return Result(case=Case(sample=sample), scores=unscored, usage=desk.usage, faults=(*desk.faults, fault))
    scores = tuple(_scored(desk, case, metric) for metric in metrics)
    return Result(case=case, scores=scores, usage=desk.usage, faults=tuple(desk.faults))


def _scored(desk: _Desk, case: Case, metric: Metric) -> Score:
    """One metric's score; a metric that fails, or returns what is no score of its own, takes no other with it."""
    try:
        return _genuine(metric.score(case), metric)
    except Exception as error:  # noqa: BLE001  a user's metric may raise anything
        desk.faults.append(Fault(stage=f"score {metric.name}", cause=type(error).__name__, message=str(error)))
        return Score.undefined(metric.name, Reason.UNJUDGED, note=str(error))


def _genuine(score: object, metric: Metric) -> Score:
    if not isinstance(score, Score) or score.metric != metric.name:
        raise ValueError(f"metric {metric.name!r} returned {score!r:.200}; return a Score of that name")
    if score.value is not None and not 0 <= score.value <= 1:
        raise ValueError(f"metric {metric.name!r} returned the value {score.value!r}, outside [0, 1]")
    return score


async def _judged(sample: Sample, *, desk: _Desk, metrics: Sequence[Metric]) -> Case:
    """Everything the metrics need to know about a sample, each thing asked once."""
    needs = frozenset[Need]().union(*(metric.needs_for(sample) for metric in metrics))
    segments = segment(sample.answer, sample.contexts, spans=sample.citations, base=desk.options.citation_base)
    of_reference = segment(sample.reference or "", prefix="t")

    # What depends on nothing else is asked at once.
    async with _at_once() as start:
        of_answer = start(_claims(desk, sample, ANSWER, segments if Need.ANSWER_CLAIMS in needs else ()))
        of_known = start(_claims(desk, sample, REFERENCE, of_reference if Need.REFERENCE_CLAIMS in needs else ()))
        asked = start(_asks(desk, sample, needs))
        named = start(_entities(desk, sample, needs))
        alike = start(_likenesses(desk, sample, needs))
        ratings = start(_ratings(desk, sample, needs))
        own = start(_rubrics(desk, sample, metrics))
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
    async with _at_once() as start:
        verified = start(_verified(desk, case, metrics))
        bearings = start(_bearings(desk, case, needs))
    return verified.result().having(ratings=(*case.ratings, *bearings.result()))


# --- claims ------------------------------------------------------------------------------------


class _SplitSide(NamedTuple):
    side: Side
    claims: tuple[Claim, ...] = ()
    invented: tuple[str, ...] = ()
    is_unsplit: bool = False


async def _claims(desk: _Desk, sample: Sample, side: Side, segments: Sequence[Segment]) -> _SplitSide:
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
    desk: _Desk, sample: Sample, side: Side, segments: Sequence[Segment], *, again: bool = False
) -> list[split.Draft]:
    whole = sample.answer if side == ANSWER else sample.reference or ""

    def request(some: Sequence[Segment]) -> JudgeRequest:
        text = whole[some[0].start : some[-1].end].strip()
        return split.request(desk.judge.prompts, question=sample.question, text=text, segments=some, again=again)

    groups = in_groups(segments, desk.options.segments_per_call)
    answers = await _all(desk.ask_items(request, group) for group in groups)
    merged = {key: answer for group in answers for key, answer in group.items()}
    return split.read(merged, segments, question=sample.question, text=whole)


# --- verdicts ----------------------------------------------------------------------------------


async def _verified(desk: _Desk, case: Case, metrics: Sequence[Metric]) -> Case:
    """The case with a verdict for every check that the metrics want, round by round until they want no more."""
    for _ in range(_MOST_ROUNDS):
        wanted: dict[Check, None] = {}
        for metric in metrics:
            wanted.update(dict.fromkeys(metric.checks(case)))
        groups = [
            (group.sources, claims)
            for group in plan(case, wanted)
            for claims in in_groups(group.claims, desk.options.claims_per_call)
        ]
        if not groups:
            break
        found = await _all(_verdicts(desk, case.sample, *group) for group in groups)
        case = case.having(verdicts=(*case.verdicts, *(verdict for some in found for verdict in some)))
    return case


async def _verdicts(desk: _Desk, sample: Sample, source_ids: tuple[str, ...], claims: Sequence[Claim]) -> list[Verdict]:
    """The verdicts of claims against one set of sources; sources too long for one call are asked in parts."""
    windows = _windows(_sources(sample, source_ids), desk.options.source_chars_per_call)
    parts = await _all(desk.verify(window, claims, source_ids) for window in windows)
    return [verify.merged(verdicts) for verdicts in zip(*parts, strict=True)]


def _sources(sample: Sample, source_ids: tuple[str, ...]) -> list[Source]:
    if source_ids == THE_REFERENCE:
        return sources_of([Context(id=THE_REFERENCE[0], text=sample.reference or "")])
    if source_ids == THE_ANSWER:
        return sources_of([Context(id=THE_ANSWER[0], text=sample.answer)])
    return sources_of(sample.context(source_id) for source_id in source_ids)


def _windows(sources: Sequence[Source], most_chars: int) -> list[list[Source]]:
    """Sources in groups of at most so many characters, in order; a single longer source is a group of its own."""
    windows: list[list[Source]] = [[]]
    room = most_chars
    for source in sources:
        if windows[-1] and len(source.text) > room:
            windows.append([])
            room = most_chars
        windows[-1].append(source)
        room -= len(source.text)
    return windows


# --- ratings -----------------------------------------------------------------------------------


async def _asks(desk: _Desk, sample: Sample, needs: frozenset[Need]) -> tuple[Ask, ...]:
    """What the question asks for; a simple question is its own ask and costs no call."""
    if Need.BEARING not in needs or not sample.question.strip():
        return ()
    if desk.options.split == "segments" or asks.is_simple(sample.question):
        return asks.single(sample.question)
    found = asks.read(await desk.ask(asks.request(desk.judge.prompts, sample.question)), sample.question)
    if found is None:
        desk.faults.append(Fault(stage="asks", cause="missing", message=sample.question))
    return found or ()


async def _entities(desk: _Desk, sample: Sample, needs: frozenset[Need]) -> tuple[str, ...] | None:
    """The names in the reference; None when they are not needed, or could not be had."""
    if Need.ENTITIES not in needs or not sample.reference:
        return None
    answers = await desk.ask(entities.request(desk.judge.prompts, sample.reference))
    found = entities.read(answers, sample.reference)
    if found is None:
        cause = next((answer.cause for answer in answers.values() if answer.cause), "invented")
        desk.faults.append(Fault(stage="entities", cause=cause, message=sample.reference))
    return found


async def _likenesses(desk: _Desk, sample: Sample, needs: frozenset[Need]) -> tuple[Likeness, ...] | None:
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


async def _bearings(desk: _Desk, case: Case, needs: frozenset[Need]) -> list[Rating]:
    """Whether the answer addresses each ask, and whether its claims bear on the question."""
    sample, claims = case.sample, case.claims_of(ANSWER)
    if Need.BEARING not in needs or not case.asks or not sample.answer.strip():
        return []

    def request(items: Sequence[Ask | Claim]) -> JudgeRequest:
        return bearing.request(
            desk.judge.prompts,
            question=sample.question,
            answer=sample.answer,
            asks=[item for item in items if isinstance(item, Ask)],
            claims=[item for item in items if isinstance(item, Claim)],
        )

    items: list[Ask | Claim] = [*case.asks, *claims]
    groups = in_groups(items, desk.options.segments_per_call)
    answers = await _all(desk.ask_items(request, group) for group in groups)
    return bearing.read({key: answer for group in answers for key, answer in group.items()}, case.asks, claims)


async def _ratings(desk: _Desk, sample: Sample, needs: frozenset[Need]) -> list[Rating]:
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
    return [rating for some in await _all(wanted) for rating in some]


async def _relevance(desk: _Desk, sample: Sample, kind: relevance.Kind, reference: str | None) -> list[Rating]:
    sources = _sources(sample, sample.source_ids)

    def request(some: Sequence[Source]) -> JudgeRequest:
        return relevance.request(desk.judge.prompts, some, kind=kind, question=sample.question, reference=reference)

    windows = _windows(sources, desk.options.source_chars_per_call)
    answers = await _all(desk.ask_items(request, window) for window in windows)
    return relevance.read(
        desk.judge.prompts, {key: a for window in answers for key, a in window.items()}, sources, kind=kind
    )


async def _refusal(desk: _Desk, sample: Sample) -> list[Rating]:
    request = refusal.request(desk.judge.prompts, question=sample.question, answer=sample.answer)
    return refusal.read(await desk.ask(request))


async def _sufficiency(desk: _Desk, sample: Sample) -> list[Rating]:
    sources = _sources(sample, sample.source_ids)
    return sufficiency.read(await desk.ask(sufficiency.request(desk.judge.prompts, sources, question=sample.question)))


async def _rubrics(desk: _Desk, sample: Sample, metrics: Sequence[Metric]) -> list[Rating]:
    """The ratings of the users' own criteria, each criterion asked once, in a call of its own."""

    async def rated(criterion: Criterion) -> Rating:
        request = rubric.request(desk.judge.prompts, sample, _sources(sample, sample.source_ids), criterion)
        return rubric.read(await desk.ask(request), criterion)

    return await _all(rated(one) for one in dict.fromkeys(one for m in metrics for one in m.criteria(sample)))


# --- asking on behalf of one sample ------------------------------------------------------------


class _Desk:
    """Asks the judge on behalf of one sample, and keeps the bill and the faults."""

    def __init__(self, judge: Judge, options: Options) -> None:
        self.judge = judge
        self.options = options
        self.faults: list[Fault] = []
        self._calls: dict[str, Call] = {}

    @property
    def usage(self) -> Usage:
        calls = self._calls.values()
        return Usage(
            calls=len(calls),
            prompt_tokens=sum(call.prompt_tokens for call in calls),
            completion_tokens=sum(call.completion_tokens for call in calls),
        )

    async def ask(self, request: JudgeRequest) -> dict[str, Answer]:
        """Answers by question id; when the input does not fit the judge, all of them failed as `too_long`."""
        try:
            return await self._asked(request)
        except RequestTooLong as error:
            return _too_long(request, error)

    async def ask_items(self, build: Callable[[Sequence[T]], JudgeRequest], items: Sequence[T]) -> dict[str, Answer]:
        """Answers about items, asked in halves when all of them do not fit one call."""
        request = build(items)
        try:
            return await self._asked(request)
        except RequestTooLong as error:
            if len(items) == 1:
                return _too_long(request, error)
        middle = len(items) // 2
        halves = await _all(self.ask_items(build, half) for half in (items[:middle], items[middle:]))
        return {**halves[0], **halves[1]}

    async def verify(
        self, sources: Sequence[Source], claims: Sequence[Claim], source_ids: tuple[str, ...]
    ) -> list[Verdict]:
        """Verdicts of claims against sources, in halves of the sources when they do not fit one call."""
        request = verify.request(self.judge.prompts, sources, claims)
        try:
            answers = await self._asked(request)
        except RequestTooLong as error:
            halves = _halved(sources)
            if halves is not None:
                parts = await _all(self.verify(half, claims, source_ids) for half in halves)
                return [verify.merged(verdicts) for verdicts in zip(*parts, strict=True)]
            answers = _too_long(request, error)
        required = self.options.evidence == "required"
        return verify.read(answers, sources, claims, source_ids, evidence_required=required)

    async def _asked(self, request: JudgeRequest) -> dict[str, Answer]:
        asked = await self.judge.ask(request)
        self._calls.update((call.key, call) for call in asked.calls)
        return asked.answers


def _halved(sources: Sequence[Source]) -> tuple[Sequence[Source], Sequence[Source]] | None:
    """The sources in two halves; a single one is cut at white space, None when that is too short to help."""
    if len(sources) > 1:
        middle = len(sources) // 2
        return sources[:middle], sources[middle:]
    halves = sources[0].halves
    return ([halves[0]], [halves[1]]) if halves else None


def _too_long(request: JudgeRequest, error: RequestTooLong) -> dict[str, Answer]:
    return {i: Answer(id=i, cause=error.cause, raw=str(error)) for i in request.ids}


# --- several things at once ----------------------------------------------------------------------


@asynccontextmanager
async def _at_once() -> AsyncIterator[Callable[[Coroutine[Any, Any, T]], asyncio.Task[T]]]:
    """Start coroutines side by side and leave when all are done. When one fails the others are cancelled, so that
    nothing is asked any more on behalf of a row, or a run, that has ended; what stops a run is raised first."""
    try:
        async with asyncio.TaskGroup() as group:
            yield group.create_task
    except BaseExceptionGroup as failed:
        raise next((e for e in failed.exceptions if isinstance(e, JudgeStop)), failed.exceptions[0]) from None


async def _all(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """The results of coroutines that run side by side, in their order."""
    async with _at_once() as start:
        tasks = [start(one) for one in work]
    return [task.result() for task in tasks]


async def _each(samples: Iterable[Sample] | AsyncIterable[Sample]) -> AsyncIterator[Sample]:
    if isinstance(samples, AsyncIterable):
        async for sample in samples:
            yield sample
    else:
        for sample in samples:
            yield sample
