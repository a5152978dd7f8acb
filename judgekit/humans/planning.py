"""How many more labels: the smallest further draw that about halves an interval."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import NamedTuple

from judgekit.stats import neyman_allocation

_QUARTER = 0.25  # half the width is a quarter of the variance


class Spread(NamedTuple):
    """A stratum of `size` units, `labels` of them labelled; `spread` is the standard deviation of one unit's error."""

    size: int
    labels: int
    spread: float


def labels_to_halve(strata: Sequence[Spread]) -> int | None:
    """How many labels, beside those there are, bring the variance to a quarter; at most all that are left.

    New labels go where they help most (Neyman), with the errors as frequent as they were found to be. None when the
    variance is 0 already.
    """
    now = _variance(strata, [stratum.labels for stratum in strata])
    if not now:
        return None
    have = sum(stratum.labels for stratum in strata)
    low, high = have, sum(stratum.size for stratum in strata)
    while low < high:
        budget = (low + high) // 2
        if _variance(strata, _extended(strata, budget)) <= now * _QUARTER:
            high = budget
        else:
            low = budget + 1
    return sum(_extended(strata, low)) - have


def _extended(strata: Sequence[Spread], budget: int) -> list[int]:
    """The labels of each stratum when `budget` are drawn; what has been labelled stays so."""
    drawn = neyman_allocation(
        budget=budget, sizes=[stratum.size for stratum in strata], sd_guess=[stratum.spread for stratum in strata]
    )
    return [max(stratum.labels, n) for stratum, n in zip(strata, drawn, strict=True)]


def _variance(strata: Sequence[Spread], labels: Sequence[int]) -> float:
    return fsum(
        stratum.size**2 * (1 - n / stratum.size) * stratum.spread**2 / n
        for stratum, n in zip(strata, labels, strict=True)
        if n
    )
