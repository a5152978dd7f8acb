"""What may the units hold that nobody reviewed: draws of whole strata, given the reviewed part.

For what has no closed interval, such as a true positive rate or a kappa over strata drawn at different rates. Unlike a
bootstrap it does not take what was not seen for impossible: a stratum in which all reviewed units agree still has room
for some that do not. Only `Random(seed).random()` is used, whose sequence is the same in every version of Python.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, log, log1p, sqrt
from random import Random

from judgekit.stats.corrected import Stratum
from judgekit.stats.distributions import norm_ppf
from judgekit.stats.inputs import level
from judgekit.stats.intervals import Interval
from judgekit.stats.resampling import quantile

_THIRD = 1 / 3
_MANY = 10


def plausible_totals(strata: Sequence[Stratum], *, seed: int, draws: int = 2000) -> list[tuple[float, ...]]:
    """Draws of how many units of each stratum a full review would find positive: the x found, and what the rest hold.

    Their chance is drawn from its posterior under Jeffreys' prior, Beta(x + 1/2, n - x + 1/2), then their number. A
    stratum reviewed in full is the same in every draw; one without a reviewed unit may hold anything.
    Source: Brown, Cai and DasGupta 2001 (Statistical Science 16:101), for the prior.
    """
    rng = Random(seed)  # noqa: S311  # statistics, not secrets
    return [
        tuple(
            x + _positives(size - n, _beta(x + 0.5, n - x + 0.5, rng), rng) if size > n else x for size, n, x in strata
        )
        for _ in range(draws)
    ]


def interval_of_draws(values: Sequence[float | None], *, estimate: float, conf: float = 0.95) -> Interval | None:
    """The middle share `conf` of the draws, widened to hold the estimate; None when hardly any of them is defined."""
    tail = (1 - level("conf", conf)) / 2
    ordered = sorted(value for value in values if value is not None)
    if len(ordered) * 2 < len(values) or not ordered:
        return None
    return Interval(min(estimate, quantile(ordered, tail)), max(estimate, quantile(ordered, 1 - tail)))


def _positives(size: int, chance: float, rng: Random) -> float:
    """How many of `size` units are positive, each with that chance; rounded from a normal draw where they are many."""
    rare = min(chance, 1 - chance)
    if size * rare > _MANY:
        spread = sqrt(size * chance * (1 - chance))
        drawn = round(size * chance + spread * norm_ppf(_open(rng.random)))
        return min(size, max(0, drawn))
    few, at, step = 0, 0, log1p(-rare)
    while step:  # from one rare unit to the next
        at += int(log(_open(rng.random)) / step) + 1
        if at > size:
            break
        few += 1
    return few if chance == rare else size - few


def _beta(a: float, b: float, rng: Random) -> float:
    first, second = _gamma(a, rng.random), _gamma(b, rng.random)
    return first / (first + second)


def _gamma(shape: float, uniform: Callable[[], float]) -> float:
    """A draw of a gamma distribution of scale 1. Source: Marsaglia and Tsang 2000 (ACM TOMS 26:363)."""
    if shape < 1:
        return _gamma(shape + 1, uniform) * exp(log(_open(uniform)) / shape)
    d = shape - _THIRD
    c = _THIRD / sqrt(d)
    while True:
        z = norm_ppf(_open(uniform))
        v = (1 + c * z) ** 3
        if v > 0 and log(_open(uniform)) < z * z / 2 + d - d * v + d * log(v):
            return d * v


def _open(uniform: Callable[[], float]) -> float:
    """A number strictly between 0 and 1."""
    while not (value := uniform()):
        pass
    return value
