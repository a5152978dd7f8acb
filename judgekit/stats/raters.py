"""Do several raters agree, some of them missing: coefficients of units by raters, and of repeated judging."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from itertools import accumulate
from math import fsum
from typing import Literal, NamedTuple

from judgekit.errors import InputError
from judgekit.stats.agreement import ONE_CATEGORY, Ac1
from judgekit.stats.inputs import FEWEST, NOTHING, finite, nonnegative


class Alpha(NamedTuple):
    """`alpha` at most 1; None with a reason when nothing can be paired, or everything has the same value."""

    alpha: float | None
    reason: str | None = None


class FleissKappa(NamedTuple):
    """`kappa` in [-1, 1]; `pairwise_disagreement` in [0, 1] is the share of pairs of calls on a unit that differ."""

    kappa: float | None
    pairwise_disagreement: float | None
    reason: str | None = None


def gwet_ac1_raters(
    ratings: Sequence[Sequence[Hashable | None]], *, categories: Sequence[Hashable] | None = None
) -> Ac1:
    """Gwet's AC1 of any number of raters: one row a unit, one column a rater, None where a rating is missing.

    Observed agreement is taken over units with two ratings or more, chance from every rating. Without `categories`
    those in use are taken, and one alone gives None. Vectors: `gwet_ac1_raters`. InputError: a rating outside the
    categories. Source: Gwet 2014, Handbook of Inter-Rater Reliability, chapter 5.
    """
    tallies = [tally for tally in (Counter(value for value in row if value is not None) for row in ratings) if tally]
    used = dict.fromkeys(value for tally in tallies for value in tally)
    known = used if categories is None else dict.fromkeys(categories)
    for value in used:
        if value not in known:
            raise InputError(f"rating {value!r} is none of the categories {list(known)!r}")
    pairs = [tally for tally in tallies if tally.total() >= FEWEST]
    if not pairs:
        return Ac1(None, reason=NOTHING)
    pa = fsum(_agreement(list(tally.values())) for tally in pairs) / len(pairs)
    q = len(known)
    if q < FEWEST:
        return Ac1(None, pa=pa, reason=ONE_CATEGORY)
    pi = [fsum(tally[value] / tally.total() for tally in tallies) / len(tallies) for value in known]
    pe = fsum(part * (1 - part) for part in pi) / (q - 1)
    return Ac1((pa - pe) / (1 - pe), pa=pa, pe=pe)


def krippendorff_alpha(
    ratings: Sequence[Sequence[float | None]], *, level: Literal["nominal", "ordinal", "interval"]
) -> Alpha:
    """Krippendorff's alpha: one row a unit, one column a rater, labels as numbers, None where a rating is missing.

    Units with fewer than two ratings are left out. `level` says what a distance is: any two labels differ alike, by
    the ratings between them, or by the square of their difference. Vectors: `krippendorff_alpha`.
    InputError: a rating that is not finite. Source: Krippendorff 2011, Computing Krippendorff's alpha-reliability.
    """
    rows = (Counter(finite("ratings", (value for value in row if value is not None))) for row in ratings)
    units = [tally for tally in rows if tally.total() >= FEWEST]
    if not units:
        return Alpha(None, NOTHING)
    values = sorted({value for unit in units for value in unit})
    if len(values) == 1:
        return Alpha(None, ONE_CATEGORY)
    often = Counter[float]()
    for unit in units:
        often.update(unit)
    distance = _distance(values, often, level)
    seen = fsum(
        unit[first] * unit[second] / (unit.total() - 1) * distance(first, second)
        for unit in units
        for first in unit
        for second in unit
    )
    expected = fsum(often[first] * often[second] * distance(first, second) for first in values for second in values)
    return Alpha(1 - (often.total() - 1) * seen / expected)


def fleiss_kappa(counts: Sequence[Sequence[int]]) -> FleissKappa:
    """Fleiss' kappa: one row a unit, one column a category, entries count how many of its k >= 2 calls chose it.

    None for kappa when one category was used throughout, for both when there are no units. Vectors: `fleiss_kappa`.
    InputError: rows of different sums, or of fewer than two. Source: Fleiss 1971.
    """
    if not counts:
        return FleissKappa(None, None, NOTHING)
    calls = sum(counts[0])
    for at, row in enumerate(counts):
        nonnegative(f"counts[{at}]", row)
        if len(row) != len(counts[0]) or sum(row) != calls or calls < FEWEST:
            raise InputError(f"counts[{at}] is {list(row)}; every unit needs the same number of calls, at least two")
    observed = fsum(_agreement(row) for row in counts) / len(counts)
    sums = [sum(column) for column in zip(*counts, strict=True)]
    if max(sums) == calls * len(counts):
        return FleissKappa(None, 1 - observed, ONE_CATEGORY)
    expected = fsum((total / (calls * len(counts))) ** 2 for total in sums)
    return FleissKappa((observed - expected) / (1 - expected), 1 - observed)


def _agreement(row: Sequence[int]) -> float:
    """The share of pairs of a unit's ratings that agree."""
    total = sum(row)
    return sum(count * (count - 1) for count in row) / (total * (total - 1))


def _distance(values: list[float], often: Counter[float], level: str) -> Callable[[float, float], float]:
    """The squared distance of two labels."""
    if level == "nominal":
        return lambda first, second: float(first != second)
    if level == "interval":
        return lambda first, second: (first - second) ** 2
    # ordinal: how many ratings lie from the middle of one label to the middle of the other
    upto = accumulate(often[value] for value in values)
    middle = {value: total - often[value] / 2 for value, total in zip(values, upto, strict=True)}
    return lambda first, second: (middle[first] - middle[second]) ** 2
