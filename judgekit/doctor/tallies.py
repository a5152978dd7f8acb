"""From readings to numbers: agreement with the known answers, with itself, and what the calls took. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import fsum
from typing import NamedTuple

from judgekit.doctor.canaries import Canary
from judgekit.doctor.findings import Accuracy, Call, Reading, Speed
from judgekit.records import Label
from judgekit.stats import balanced_accuracy, flip_rate, quantile

INJECTION = "injection"


def supports(readings: Iterable[Reading]) -> dict[str, list[bool]]:
    """Canary -> whether the judge found it supported, each time that it was judged."""
    found: dict[str, list[bool]] = defaultdict(list)
    for reading in readings:
        if reading.label is not Label.UNJUDGED:
            found[reading.canary].append(reading.label is Label.SUPPORTED)
    return dict(found)


def accuracy(of: Collection[Canary], said: Mapping[str, Sequence[bool]]) -> Accuracy:
    """Agreement with the known answers. The unit is the canary: asked three times and right twice it counts 2/3, so
    asking more often makes no interval narrower. What was never judged is left out."""
    right: dict[bool, list[float]] = {True: [], False: []}
    for canary in of:
        if labels := said.get(canary.id):
            right[canary.is_supported].append(labels.count(canary.is_supported) / len(labels))
    sums, sizes = {k: fsum(v) for k, v in right.items()}, {k: len(v) for k, v in right.items()}
    balanced = balanced_accuracy(x=(sums[True], sums[False]), n=(sizes[True], sizes[False]))
    return Accuracy(
        units=sum(sizes.values()),
        right=fsum(sums.values()),
        supported=sums[True] / sizes[True] if sizes[True] else None,
        unsupported=sums[False] / sizes[False] if sizes[False] else None,
        balanced=balanced.value if balanced else None,
        low=balanced.interval.lo if balanced else None,
        high=balanced.interval.hi if balanced else None,
    )


def by_group(every: Sequence[Canary], said: Mapping[str, Sequence[bool]]) -> dict[str, Accuracy]:
    """The agreement on all canaries, on the clear ones and on the borderline ones."""
    return {
        "all": accuracy(every, said),
        "clear": accuracy([one for one in every if one.is_clear], said),
        "borderline": accuracy([one for one in every if not one.is_clear], said),
    }


def by_kind(every: Sequence[Canary], said: Mapping[str, Sequence[bool]]) -> dict[str, Accuracy]:
    """The agreement by kind of canary, in the order of the alphabet."""
    return {kind: accuracy([o for o in every if o.kind == kind], said) for kind in sorted({o.kind for o in every})}


class Steadiness(NamedTuple):
    """The chance that two askings differ, over all canaries, and those that were answered both ways."""

    rate: float | None
    flipped: tuple[str, ...]


def steadiness(every: Sequence[Canary], said: Mapping[str, Sequence[bool]]) -> Steadiness:
    """Agreement of the judge with itself; no rate when nothing was judged twice."""
    both = tuple(one.id for one in every if len(set(said.get(one.id, ()))) > 1)
    return Steadiness(flip_rate([said.get(one.id, ()) for one in every]), both)


def wrong(every: Sequence[Canary], said: Mapping[str, Sequence[bool]]) -> tuple[str, ...]:
    """The canaries that most of the askings got wrong; a draw counts as wrong."""
    return tuple(one.id for one in every if (got := said.get(one.id)) and 2 * got.count(one.is_supported) <= len(got))


def held(every: Sequence[Canary], said: Mapping[str, Sequence[bool]]) -> tuple[int, int]:
    """Injection canaries that were answered rightly every time they were judged, and how many were judged."""
    injected = [(one, got) for one in every if one.kind == INJECTION and (got := said.get(one.id))]
    return sum(all(label is one.is_supported for label in got) for one, got in injected), len(injected)


def causes(readings: Iterable[Reading]) -> dict[str, int]:
    """How many askings stayed unjudged, by cause."""
    return dict(Counter(one.cause or "unknown" for one in readings if one.label is Label.UNJUDGED))


def speed(calls: Sequence[Call], *, first_round: int = 0) -> Speed:
    """What one call takes while no other is in flight: the calls of the first round without the very first, which also
    opened the connection and found out how the endpoint wants to be asked."""
    alone = [call for call in calls if call.round == first_round][1:]
    if not alone:
        return Speed()
    seconds = sorted(call.seconds for call in alone)
    written, took = sum(call.completion_tokens for call in alone), fsum(seconds)
    return Speed(
        median=quantile(seconds, 0.5),
        p95=quantile(seconds, 0.95),
        written_per_second=written / took if written and took > 0 else None,
        calls=len(alone),
    )
