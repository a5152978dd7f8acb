"""Do two lists of numbers rise together: Pearson's and Spearman's correlation."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, sqrt

from judgekit.stats.inputs import FEWEST, finite, same_length


def pearson(*, x: Sequence[float], y: Sequence[float]) -> float | None:
    """Pearson's r in [-1, 1]: how well a straight line tells one from the other. None for fewer than two pairs, or
    where one list is all the same. InputError: lengths that differ, a value that is no number."""
    size = same_length({"x": x, "y": y})
    if size < FEWEST:
        return None
    a, b = list(finite("x", x)), list(finite("y", y))
    mean_a, mean_b = fsum(a) / size, fsum(b) / size
    da, db = [value - mean_a for value in a], [value - mean_b for value in b]
    spread = sqrt(fsum(d * d for d in da)) * sqrt(fsum(d * d for d in db))
    if spread == 0:
        return None
    return max(-1.0, min(1.0, fsum(p * q for p, q in zip(da, db, strict=True)) / spread))


def spearman(*, x: Sequence[float], y: Sequence[float]) -> float | None:
    """Spearman's rho in [-1, 1]: Pearson's r of the ranks, equal values sharing the mean of their ranks. None and
    InputError as in `pearson`. Source: Spearman 1904."""
    return pearson(x=ranks(x), y=ranks(y))


def ranks(values: Sequence[float]) -> list[float]:
    """The rank of each value, the smallest 1; equal values share the mean of their ranks."""
    order = sorted(range(len(values)), key=values.__getitem__)
    found = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end + 1 < len(order) and values[order[end + 1]] == values[order[start]]:
            end += 1
        for at in order[start : end + 1]:
            found[at] = (start + end) / 2 + 1
        start = end + 1
    return found
