"""How much is enough: the smallest change a comparison can see, and the questions it takes to see one.

Both use the normal approximation: below some 20 questions the exact answer is one or two questions more.
"""

from __future__ import annotations

from math import ceil, sqrt

from judgekit.errors import InputError
from judgekit.stats.distributions import norm_ppf
from judgekit.stats.inputs import level


def mde_paired(*, sd_diff: float, n: int, alpha: float = 0.05, power: float = 0.8) -> float:
    """The smallest true change that a paired comparison of n questions finds with that power, two-sided.

    `sd_diff` is the standard deviation of the per-question differences, and the unit of the result. Vectors:
    `mde_paired`. InputError: n below 1, a negative sd_diff, alpha or power outside (0, 1).
    """
    if n < 1:
        raise InputError(f"n is {n}; a comparison needs at least one question")
    return _reach(alpha, power) * _spread(sd_diff) / sqrt(n)


def n_required_paired(*, sd_diff: float, delta: float, alpha: float = 0.05, power: float = 0.8) -> int:
    """How many questions a paired comparison needs to find a true change of `delta`, of either sign.

    Vectors: `n_required_paired`. InputError: delta 0, and as in `mde_paired`.
    """
    if not delta:
        raise InputError("delta is 0; no number of questions shows that nothing changed, give a change worth finding")
    return ceil((_reach(alpha, power) * _spread(sd_diff) / delta) ** 2)


def _reach(alpha: float, power: float) -> float:
    """How many standard errors a change must be, to be found."""
    return norm_ppf(1 - level("alpha", alpha) / 2) + norm_ppf(level("power", power))


def _spread(sd_diff: float) -> float:
    if not sd_diff >= 0:
        raise InputError(f"sd_diff is {sd_diff}; a standard deviation is 0 or more")
    return sd_diff
