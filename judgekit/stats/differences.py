"""Did it change: the difference of two runs, always as second minus first (b - a), with interval and p-values."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from math import fsum, sqrt

from judgekit.errors import InputError
from judgekit.stats.distributions import t_half_width, t_sf, t_two_sided_p
from judgekit.stats.inputs import FEWEST, NEEDS_TWO, NOISE, NOTHING, finite, level, nonnegative, same_length, totals

#: Reasons of a comparison without spread.
NO_CHANGE = "no question changed"
NO_SPREAD = "no spread to judge a change by"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """`delta` = b - a, with its standard error, t, degrees of freedom, interval and p-values.

    `p` is two-sided, `p_less` the chance of a drop this large by luck (a gate's p), `p_greater` of a rise. `n` counts
    the questions (the smaller run, when unpaired); `sd_diff` is the spread of the per-question differences, which
    `mde_paired` and `n_required_paired` take. Without two independent units delta may stand, the rest is None.
    Without spread `is_degenerate`: the interval is the point, t is None and p comes from sign flips. `reason` says
    so in either case.
    """

    delta: float | None
    n: int
    se: float | None = None
    sd_diff: float | None = None
    t: float | None = None
    df: float | None = None
    p: float | None = None
    p_less: float | None = None
    p_greater: float | None = None
    lo: float | None = None
    hi: float | None = None
    is_degenerate: bool = False
    reason: str | None = None


def paired_mean_diff(
    *, a: Sequence[float], b: Sequence[float], conf: float = 0.95, clusters: Sequence[Hashable] | None = None
) -> Difference:
    """The paired t comparison of two macro means: row g of `a` and of `b` is the same question.

    `clusters` names a coarser group for each question; df is then the number of groups - 1. Vectors:
    `paired_mean_diff`. InputError: lengths that differ, values that are not finite.
    """
    same_length({"a": a, "b": b, "clusters": clusters})
    first, second = finite("a", a), finite("b", b)
    if not first:
        return Difference(delta=None, n=0, reason=NOTHING)
    changes = [after - before for before, after in zip(first, second, strict=True)]
    delta = fsum(changes) / len(changes)
    scale = max(abs(value) for value in first + second)
    return _linearised(delta, [change - delta for change in changes], clusters=clusters, scale=scale, conf=conf)


def paired_ratio_diff(
    *,
    ya: Sequence[float],
    ma: Sequence[float],
    yb: Sequence[float],
    mb: Sequence[float],
    conf: float = 0.95,
    clusters: Sequence[Hashable] | None = None,
) -> Difference:
    """The comparison of two micro means over the same questions: sum(yb) / sum(mb) - sum(ya) / sum(ma), linearised.

    Row g is one question: `ya[g]` of `ma[g]` before, `yb[g]` of `mb[g]` after. A question with nothing counted on
    either side is left out; with nothing on one side it counts on the other. `clusters` as in `paired_mean_diff`.
    Vectors: `paired_ratio_diff`. InputError: lengths that differ, negative or infinite counts.
    """
    size = same_length({"ya": ya, "ma": ma, "yb": yb, "mb": mb, "clusters": clusters})
    before, after = (nonnegative("ya", ya), nonnegative("ma", ma)), (nonnegative("yb", yb), nonnegative("mb", mb))
    kept = [at for at in range(size) if before[1][at] or after[1][at]]
    if not fsum(before[1]) or not fsum(after[1]):
        return Difference(delta=None, n=len(kept), reason=NOTHING)
    ratio_a, residual_a = _residuals(*before, kept=kept)
    ratio_b, residual_b = _residuals(*after, kept=kept)
    return _linearised(
        ratio_b - ratio_a,
        [late - early for early, late in zip(residual_a, residual_b, strict=True)],
        clusters=[clusters[at] for at in kept] if clusters is not None else None,
        scale=1.0,
        conf=conf,
    )


def unpaired_mean_diff(*, a: Sequence[float], b: Sequence[float], conf: float = 0.95) -> Difference:
    """Welch's comparison of two means over different questions: less power than a paired one, and to be labelled so.

    Without any spread p is 1 for equal means and None for unequal ones. Vectors: `unpaired_mean_diff`.
    InputError: values that are not finite.
    """
    level("conf", conf)
    first, second = finite("a", a), finite("b", b)
    n = min(len(first), len(second))
    if not n:
        return Difference(delta=None, n=0, reason=NOTHING)
    mean_a, mean_b = fsum(first) / len(first), fsum(second) / len(second)
    delta = mean_b - mean_a
    if n < FEWEST:
        return Difference(delta=delta, n=n, reason=NEEDS_TWO)
    var_a, var_b = _variance_of_mean(first, mean_a), _variance_of_mean(second, mean_b)
    se = sqrt(var_a + var_b)
    scale = max(abs(value) for value in first + second)
    if se <= NOISE * scale:
        return _without_spread(delta, n=n, flips=None, scale=scale)
    of_a = var_a / (var_a + var_b)
    df = 1 / (of_a**2 / (len(first) - 1) + (1 - of_a) ** 2 / (len(second) - 1))
    return _by_t(delta, n=n, se=se, df=df, conf=conf, sd_diff=None)


def _residuals(y: Sequence[float], m: Sequence[float], *, kept: Sequence[int]) -> tuple[float, list[float]]:
    """The ratio of the sums, and what each kept row adds to it beyond its share."""
    for at, (part, whole) in enumerate(zip(y, m, strict=True)):
        if part > whole:
            raise InputError(f"row {at} counts {part} of {whole}; y lies between 0 and m")
    whole = fsum(m)
    ratio, mean_size = fsum(y) / whole, whole / len(kept)
    return ratio, [(y[at] - ratio * m[at]) / mean_size for at in kept]


def _linearised(
    delta: float, residuals: list[float], *, clusters: Sequence[Hashable] | None, scale: float, conf: float
) -> Difference:
    """A difference from one residual a question, summed inside clusters. `scale`: the size of the numbers behind."""
    level("conf", conf)
    sums, n = totals(residuals, clusters), len(residuals)
    units = len(sums)
    if units < FEWEST:
        return Difference(delta=delta, n=n, reason=NEEDS_TWO)
    se = sqrt(units / (units - 1) * fsum(residual**2 for residual in sums)) / n
    if se <= NOISE * scale:
        return _without_spread(delta, n=n, flips=units, scale=scale)
    return _by_t(delta, n=n, se=se, df=units - 1, conf=conf, sd_diff=se * sqrt(n))


def _by_t(delta: float, *, n: int, se: float, df: float, conf: float, sd_diff: float | None) -> Difference:
    t = delta / se
    half = t_half_width(se, df=df, conf=conf)
    return Difference(
        delta=delta,
        n=n,
        se=se,
        sd_diff=sd_diff,
        t=t,
        df=df,
        p=t_two_sided_p(t, df=df),
        p_less=t_sf(-t, df=df),
        p_greater=t_sf(t, df=df),
        lo=delta - half,
        hi=delta + half,
    )


def _without_spread(delta: float, *, n: int, flips: int | None, scale: float) -> Difference:
    """Every unit moved by delta. `flips`: how many signs could have been flipped; None: no flipping applies."""
    still = Difference(
        delta=0.0,
        n=n,
        se=0.0,
        sd_diff=None if flips is None else 0.0,
        df=None if flips is None else flips - 1,
        p=1.0,
        p_less=1.0,
        p_greater=1.0,
        lo=0.0,
        hi=0.0,
        is_degenerate=True,
        reason=NO_SPREAD if flips is None else NO_CHANGE,
    )
    if abs(delta) <= NOISE * scale:
        return still
    moved = replace(still, delta=delta, lo=delta, hi=delta, reason=NO_SPREAD)
    if flips is None:
        return replace(moved, p=None, p_less=None, p_greater=None)
    toward = 0.5**flips
    return replace(moved, p=2 * toward, p_less=toward if delta < 0 else 1.0, p_greater=toward if delta > 0 else 1.0)


def _variance_of_mean(values: Sequence[float], mean: float) -> float:
    """s^2 / n."""
    return fsum((value - mean) ** 2 for value in values) / (len(values) - 1) / len(values)
