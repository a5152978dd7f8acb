"""The interval that stands beside every printed mean: what `judgekit.stats` says of it, as a record and as text."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from judgekit.records import Interval
from judgekit.stats import Mean, macro_mean

#: How often such an interval is to hold the mean that more of the same rows would have.
CONFIDENCE = 0.95
#: The same as it is printed.
PERCENT = f"{CONFIDENCE * 100:g} %"


def interval_of(mean: Mean, *, unit: str = "samples") -> Interval:
    """The interval of a mean made at `CONFIDENCE`; `unit` is what its clusters are called where they are too few."""
    return Interval(
        low=mean.lo,
        high=mean.hi,
        n_eff=mean.n_eff,
        clusters=mean.clusters,
        confidence=CONFIDENCE,
        small=mean.is_small_sample,
        reason=f"needs >= 2 {unit}" if mean.clusters == 1 else mean.reason,
    )


def interval_of_values(values: Sequence[float], *, clusters: Sequence[Hashable] | None = None) -> Interval:
    """The interval of the plain mean of values in [0, 1]; `clusters` names what each of them belongs to."""
    return interval_of(macro_mean(values, conf=CONFIDENCE, clusters=clusters))


def bracketed(interval: Interval) -> str:
    """`[0.32, 0.83]`, or `[-]` where there is none."""
    return "[-]" if interval.low is None or interval.high is None else f"[{interval.low:.2f}, {interval.high:.2f}]"
