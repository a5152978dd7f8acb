"""Asking the canaries, as a run would ask them: all claims held against the same sources in one call."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from judgekit.doctor.canaries import Flock
from judgekit.doctor.findings import Call, Reading
from judgekit.errors import RequestTooLong
from judgekit.judge import Judge
from judgekit.prompts import Prompts
from judgekit.records import Verdict
from judgekit.tasks import sources_of, verify
from judgekit.together import all_of
from judgekit.wire import Answer, JudgeRequest


class Asked(NamedTuple):
    """All that was said to the canaries, and the calls that it took."""

    readings: tuple[Reading, ...]
    calls: tuple[Call, ...]


def request_of(prompts: Prompts, flock: Flock) -> JudgeRequest:
    """The one call for canaries that share their sources."""
    return verify.request(prompts, sources_of(flock.contexts), flock.claims)


async def ask(
    judge: Judge,
    flocks: Sequence[Flock],
    *,
    rounds: int,
    clock: Callable[[], float] = time.perf_counter,
    on_call: Callable[[], None] = lambda: None,
) -> Asked:
    """Ask every canary `rounds` times. The calls of the first round go one after the other, so that they tell what a
    call takes; those of the others as many at once as the judge may have in flight, as in a run.

    Each round has a repeat index of its own, so that the store answers none of them with the reply of another.
    Raises JudgeStop when the judge cannot be asked at all.
    """

    async def one(flock: Flock, number: int) -> Asked:
        asked = await _one(judge, flock, number, clock)
        on_call()
        return asked

    first = [await one(flock, 0) for flock in flocks]
    others = await all_of(one(flock, number) for number in range(1, rounds) for flock in flocks)
    parts = [*first, *others]
    return Asked(
        tuple(reading for part in parts for reading in part.readings),
        tuple(call for part in parts for call in part.calls),
    )


async def _one(judge: Judge, flock: Flock, number: int, clock: Callable[[], float]) -> Asked:
    request = request_of(judge.prompts, flock)
    began = clock()
    try:
        answers, calls = await judge.ask(request, repeat=number)
    except RequestTooLong as error:
        answers, calls = {i: Answer(id=i, cause=error.cause) for i in request.ids}, ()
    took = clock() - began
    sources = sources_of(flock.contexts)
    verdicts = verify.read(answers, sources, flock.claims, tuple(source.context_id for source in sources))
    call = Call(
        round=number,
        seconds=took,
        prompt_tokens=sum(call.prompt_tokens for call in calls),
        completion_tokens=sum(call.completion_tokens for call in calls),
    )
    return Asked(
        tuple(
            Reading(canary=canary.id, round=number, label=said.label, cause=said.cause, found=_found(said))
            for canary, said in zip(flock.canaries, verdicts, strict=True)
        ),
        (call,) if calls else (),
    )


def _found(verdict: Verdict) -> bool | None:
    """Whether the quote that the judge wrote stands in the sources; None when it wrote none."""
    wrote = [evidence for evidence in verdict.evidence if not evidence.aligned]
    return any(evidence.verified for evidence in wrote) if wrote else None
