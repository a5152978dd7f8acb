"""What would humans have said: a judge's score, corrected by a human spot-check of the same run.

All of these assume that the reviewed units were drawn as recorded and that the human label is the truth; nothing
about the judge. They estimate what a full human review of this run would have given. A unit that the reviewer left
blank is not reviewed; to bound what blanks leave open, count them once all as 0 and once all as 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from typing import NamedTuple

from judgekit.errors import InputError
from judgekit.stats.distributions import norm_ppf
from judgekit.stats.inputs import NOISE, NOTHING, finite, level, nonnegative, same_length, share, shares
from judgekit.stats.intervals import Interval, wilson


class Stratum(NamedTuple):
    """`N` units, `n` of them reviewed, `x` of those found supported: 0 <= x <= n <= N."""

    N: int
    n: int
    x: float


class WeightedUnit(NamedTuple):
    """One verdict: weight `w` >= 0, judge's value `f`, human's value `y` (None: not reviewed), both in [0, 1]."""

    w: float
    f: float
    y: float | None
    stratum: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected:
    """A corrected score. `se_design` is the textbook standard error, None where it needs more units.

    `se_smoothed` is the one behind `n_eff` and the interval: it does not vanish when every reviewed unit agrees.
    `reviewed` counts the human labels. Everything is None, with a reason, when a stratum has no human label.
    """

    estimate: float | None
    reviewed: int
    se_design: float | None = None
    se_smoothed: float | None = None
    n_eff: float | None = None
    lo: float | None = None
    hi: float | None = None
    reason: str | None = None


class HorvitzThompson(NamedTuple):
    """`estimate` and its standard error; `hajek` divides by the estimated instead of the known size, None if unknown.

    `estimate` and `se` are unbounded: with few labels the correction may leave [0, 1].
    """

    estimate: float
    se: float
    hajek: float | None


def stratified_rate(strata: Sequence[Stratum], *, conf: float = 0.95) -> Corrected:
    """The supported share of all units, from strata that each hold one verdict; every unit weighs the same (micro).

    Jeffreys-smoothed variance with finite-population correction, Wilson on the effective sample size; the interval is
    the point when everything was reviewed. Strata without units are left out. Vectors: `stratified_rate`.
    InputError: counts that do not nest. Source: Cochran 1977, chapter 5.
    """
    level("conf", conf)
    for at, (size, reviewed, supported) in enumerate(strata):
        if not 0 <= supported <= reviewed <= size:
            raise InputError(f"stratum {at} has N {size}, n {reviewed}, x {supported}; they must satisfy x <= n <= N")
    held = [stratum for stratum in strata if stratum.N]
    labels = sum(stratum.n for stratum in held)
    if not held or not all(stratum.n for stratum in held):
        return Corrected(estimate=None, reviewed=labels, reason=_UNREVIEWED if held else NOTHING)
    total = sum(stratum.N for stratum in held)
    estimate = fsum(size * supported / reviewed for size, reviewed, supported in held) / total
    variance = fsum(_open(size, n) * _smoothed(n, x) / (n + 1) for size, n, x in held) / total**2
    design = [_design(size, n, x) for size, n, x in held]
    known = [part for part in design if part is not None]
    return _corrected(
        estimate,
        variance=variance,
        design=fsum(known) / total**2 if len(known) == len(design) else None,
        reviewed=labels,
        conf=conf,
    )


def stratified_difference(units: Sequence[WeightedUnit], *, conf: float = 0.95) -> Corrected:
    """The judge's weighted total, corrected by the weighted errors of each stratum's reviewed units.

    For any weights that add up to 1: macro has w = 1 / (samples x claims of the unit's sample). A stratum without
    spread of errors gets a floor under its variance. `estimate` is not clipped, the interval is inside [0, 1].
    Vectors: `stratified_difference` (`se_smoothed` is their `se_floored`). InputError: a value outside its range.
    Source: Sarndal, Swensson and Wretman 1992, chapter 6 (difference estimator).
    """
    level("conf", conf)
    nonnegative("w", (unit.w for unit in units))
    shares("f", (unit.f for unit in units))
    strata: dict[str, list[WeightedUnit]] = {}
    for unit in units:
        strata.setdefault(unit.stratum, []).append(unit)
    labels = sum(unit.y is not None for unit in units)
    if not units:
        return Corrected(estimate=None, reviewed=0, reason=NOTHING)
    parts = [_errors(members) for members in strata.values()]
    done = [part for part in parts if part is not None]
    if len(done) < len(parts):
        return Corrected(estimate=None, reviewed=labels, reason=_UNREVIEWED)
    designs = [part.design for part in done if part.design is not None]
    return _corrected(
        judge_total(units) + fsum(part.shift for part in done),
        variance=fsum(part.floored for part in done),
        design=fsum(designs) if len(designs) == len(done) else None,
        reviewed=labels,
        conf=conf,
    )


def judge_total(units: Sequence[WeightedUnit]) -> float:
    """The score before correction: the weighted sum of the judge's values. Vectors: `stratified_difference`."""
    return fsum(unit.w * unit.f for unit in units)


def ht_difference_poisson(
    *, y: Sequence[float], f: Sequence[float], pi: Sequence[float], f_all: Sequence[float]
) -> HorvitzThompson | None:
    """The mean judge value of all units, corrected by a sample drawn elsewhere, unit by unit with chance `pi`.

    `y`, `f`, `pi` are the reviewed units, `f_all` the judge's values of all units. None when f_all is empty.
    Vectors: `ht_difference_poisson`. InputError: lengths that differ, a pi outside (0, 1].
    """
    same_length({"y": y, "f": f, "pi": pi})
    size = len(f_all)
    if not size:
        return None
    for at, chance in enumerate(pi):
        if not 0 < chance <= 1:
            raise InputError(f"pi[{at}] is {chance}; a reviewed unit was drawn with a chance in (0, 1]")
    errors = [human - judge for human, judge in zip(finite("y", y), finite("f", f), strict=True)]
    scaled = [error / chance for error, chance in zip(errors, pi, strict=True)]
    judged = fsum(finite("f_all", f_all)) / size
    variance = fsum((1 - chance) * part**2 for part, chance in zip(scaled, pi, strict=True)) / size**2
    return HorvitzThompson(
        estimate=judged + fsum(scaled) / size,
        se=sqrt(variance),
        hajek=judged + fsum(scaled) / fsum(1 / chance for chance in pi) if errors else None,
    )


class _Errors(NamedTuple):
    """What one stratum adds: the shift of the estimate, and its variance as the design gives it and floored."""

    shift: float
    design: float | None
    floored: float


_UNREVIEWED = "a stratum has no human label"


def _open(size: int, n: int) -> float:
    """N^2 (1 - n/N): the square of what a stratum weighs, less what its review has settled."""
    return size * (size - n)


def _smoothed(n: int, x: float) -> float:
    """q (1 - q) with Jeffreys' half a unit on either side."""
    q = (x + 0.5) / (n + 1)
    return q * (1 - q)


def _design(size: int, n: int, x: float) -> float | None:
    """The textbook variance of a stratum's total; None when one unit of several cannot show a spread."""
    if n == size:
        return 0.0
    return _open(size, n) * (x / n) * (1 - x / n) / (n - 1) if n > 1 else None


def _errors(members: list[WeightedUnit]) -> _Errors | None:
    errors = [unit.w * (share("y", unit.y) - unit.f) for unit in members if unit.y is not None]
    size, n = len(members), len(errors)
    if not n:
        return None
    mean = fsum(errors) / n
    spread = fsum((error - mean) ** 2 for error in errors) / (n - 1) if n > 1 else None
    floor = spread
    if not spread:
        wrong = sum(unit.y is not None and unit.y != unit.f for unit in members)
        floor = (fsum(unit.w for unit in members) / size) ** 2 * _smoothed(n, wrong)
    weight = _open(size, n) / n
    design = 0.0 if n == size else None if spread is None else weight * spread
    return _Errors(shift=size * mean, design=design, floored=weight * (floor or 0.0))


def _corrected(estimate: float, *, variance: float, design: float | None, reviewed: int, conf: float) -> Corrected:
    """The interval: Wilson on the effective sample size, or the point where nothing is left open."""
    p = min(1.0, max(0.0, estimate))
    if not NOISE < p < 1 - NOISE:  # weights that add up to 1 only nearly would else leave an n_eff of nearly 0
        p = round(p)
    n_eff = p * (1 - p) / variance if variance and 0 < p < 1 else float(reviewed)
    ends = wilson(p, n=n_eff, critical=norm_ppf((1 + conf) / 2)) if variance else Interval(p, p)
    return Corrected(
        estimate=estimate,
        reviewed=reviewed,
        se_design=None if design is None else sqrt(design),
        se_smoothed=sqrt(variance),
        n_eff=n_eff,
        lo=ends.lo,
        hi=ends.hi,
    )
