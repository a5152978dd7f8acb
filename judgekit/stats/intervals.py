"""How sure is one number: macro and micro means of a run, with an interval that respects its clusters.

The interval is Wilson's on the effective sample size with a t(G-1) critical value: it holds its coverage from 8
samples up and does not collapse when every sample is perfect. It is conditional on the judge that gave the verdicts.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import fsum, inf, sqrt
from typing import NamedTuple

from judgekit.errors import InputError
from judgekit.stats.distributions import norm_ppf, t_half_width, t_ppf
from judgekit.stats.inputs import FEWEST, NEEDS_TWO, NOISE, NOTHING, level, nonnegative, same_length, shares, totals

_FEW = 20


class Interval(NamedTuple):
    """The two ends of a confidence interval, lo <= hi."""

    lo: float
    hi: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """A mean in [0, 1] and how far it can be trusted.

    `estimate` is None when nothing is defined; the rest is None when there are fewer than two clusters; `reason` then
    says why. `clusters` is G, the number of independent units; `undefined` counts the rows left out. `se` is the
    cluster-robust standard error, `n_eff` the number of independent verdicts that would be as informative, `deff`
    (micro only) how many real verdicts make one of them, `df` = G - 1. `lo`/`hi` is the interval to print;
    `t_lo`/`t_hi` is the plain t interval, which under-covers near 0 and 1 and may leave [0, 1].
    """

    estimate: float | None
    clusters: int
    undefined: int = 0
    se: float | None = None
    n_eff: float | None = None
    deff: float | None = None
    df: int | None = None
    lo: float | None = None
    hi: float | None = None
    t_lo: float | None = None
    t_hi: float | None = None
    reason: str | None = None

    @property
    def is_small_sample(self) -> bool:
        """True below 20 clusters."""
        return self.clusters < _FEW


def wilson_interval(*, x: float, n: float, conf: float = 0.95) -> Interval | None:
    """Wilson's score interval for x of n independent trials, inside [0, 1]; None when n is 0.

    Vectors: `wilson_interval`. InputError: x outside [0, n], conf outside (0, 1).
    """
    if not 0 <= x <= n:
        raise InputError(f"{x} of {n} is no share; x lies between 0 and n")
    critical = norm_ppf((1 + level("conf", conf)) / 2)
    return wilson(x / n, n=n, critical=critical) if n else None


def wilson(p: float, *, n: float, critical: float) -> Interval:
    """Wilson's interval for a share p in [0, 1] of n > 0 (effective) trials, at that critical value."""
    spread = critical * critical / n
    centre = (p + spread / 2) / (1 + spread)
    half = sqrt(spread * (p * (1 - p) + spread / 4)) / (1 + spread)
    # the ends that are 0 and 1 by algebra are so to the last bit
    return Interval(max(0.0, centre - half) if p > 0 else 0.0, min(1.0, centre + half) if p < 1 else 1.0)


def cluster_ratio(
    *,
    y: Sequence[float],
    m: Sequence[float],
    conf: float = 0.95,
    cap: float | None = None,
    clusters: Sequence[Hashable] | None = None,
) -> Mean:
    """The micro mean: all that was supported over all that was counted, sum(y) / sum(m).

    One row a sample: `y[g]` of `m[g]`. A row with m = 0 is undefined: left out and counted. `clusters` names a
    coarser group for each row (document, conversation); `cap` bounds n_eff, when the number of binary verdicts is
    known. Vectors: `cluster_ratio`. InputError: y outside [0, m], lengths that differ.
    """
    size = same_length({"y": y, "m": m, "clusters": clusters})
    sizes = nonnegative("m", m)
    for at, (part, whole) in enumerate(zip(y, sizes, strict=True)):
        if not 0 <= part <= whole:
            raise InputError(f"y[{at}] is {part} of m[{at}] = {whole}; y lies between 0 and m")
    kept = [at for at in range(size) if sizes[at] > 0]
    groups = [clusters[at] for at in kept] if clusters is not None else None
    wholes = totals([sizes[at] for at in kept], groups)
    return _mean(
        totals([y[at] for at in kept], groups),
        wholes,
        conf=conf,
        cap=cap,
        undefined=size - len(kept),
        pooled=fsum(wholes),
    )


def macro_mean(
    r: Sequence[float | None],
    *,
    conf: float = 0.95,
    cap: float | None = None,
    clusters: Sequence[Hashable] | None = None,
) -> Mean:
    """The macro mean: the plain mean of one score in [0, 1] a sample; a long answer weighs no more than a short one.

    None is undefined: left out and counted. `clusters` and `cap` as in `cluster_ratio`. Vectors: `macro_mean`.
    InputError: a score outside [0, 1], lengths that differ.
    """
    size = same_length({"r": r, "clusters": clusters})
    kept = [at for at in range(size) if r[at] is not None]
    values = shares("r", (value for value in r if value is not None))
    groups = [clusters[at] for at in kept] if clusters is not None else None
    ones = [1.0] * len(kept)
    return _mean(
        totals(values, groups), totals(ones, groups), conf=conf, cap=cap, undefined=size - len(kept), pooled=None
    )


def _mean(
    parts: list[float], wholes: list[float], *, conf: float, cap: float | None, undefined: int, pooled: float | None
) -> Mean:
    """The ratio of two sums over clusters. `pooled`: how many verdicts went in, for the design effect."""
    level("conf", conf)
    size, total = len(parts), fsum(wholes)
    if not size:
        return Mean(estimate=None, clusters=0, undefined=undefined, reason=NOTHING)
    p = fsum(parts) / total
    if size < FEWEST:
        return Mean(estimate=p, clusters=size, undefined=undefined, reason=NEEDS_TWO)
    squares = fsum((part - p * whole) ** 2 for part, whole in zip(parts, wholes, strict=True))
    return mean_of_sums(
        p, squares=squares, total=total, size=size, conf=conf, cap=cap, undefined=undefined, pooled=pooled
    )


def mean_of_sums(
    p: float,
    *,
    squares: float,
    total: float,
    size: int,
    conf: float,
    cap: float | None,
    undefined: int,
    pooled: float | None,
) -> Mean:
    """The mean p of `size` >= 2 clusters that hold `total` together; `squares`: sum of (y - p * m)^2 over them."""
    se = sqrt(size / (size - 1) * squares) / total
    if se <= NOISE:
        se, n_eff = 0.0, float(size)
    else:
        n_eff = min(p * (1 - p) / se**2, inf if cap is None else cap)
    ends = wilson(p, n=n_eff, critical=t_ppf((1 + conf) / 2, df=size - 1))
    half = t_half_width(se, df=size - 1, conf=conf)
    return Mean(
        estimate=p,
        clusters=size,
        undefined=undefined,
        se=se,
        n_eff=n_eff,
        deff=None if pooled is None else pooled / n_eff,
        df=size - 1,
        lo=ends.lo,
        hi=ends.hi,
        t_lo=p - half,
        t_hi=p + half,
    )
