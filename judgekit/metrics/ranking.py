"""Average precision over a list of which some flags may be missing."""

from __future__ import annotations

from collections.abc import Sequence


def average_precision_bounds(flags: Sequence[bool | None]) -> tuple[float, float]:
    """Lowest and highest average precision over all fillings of the missing flags; equal when none is missing.

    Average precision: sum over relevant ranks of (relevant so far / rank), divided by the number of relevant ranks;
    0.0 when none is relevant. What a rank adds depends only on how many relevant ones stand above it, so the extremes
    are found in n^2 steps: for each number of relevant ranks so far, keep the smallest and the largest sum.
    """
    sums = {0: (0.0, 0.0)}
    for rank, flag in enumerate(flags, start=1):
        grown: dict[int, tuple[float, float]] = {}
        for count, (low, high) in sums.items():
            if not flag:
                _widen(grown, count, low, high)
            if flag is not False:
                gain = (count + 1) / rank
                _widen(grown, count + 1, low + gain, high + gain)
        sums = grown
    values = [(low / count, high / count) if count else (0.0, 0.0) for count, (low, high) in sums.items()]
    return min(low for low, _ in values), max(high for _, high in values)


def _widen(sums: dict[int, tuple[float, float]], count: int, low: float, high: float) -> None:
    """Keep the smaller and the larger of what is there and what comes."""
    old_low, old_high = sums.get(count, (low, high))
    sums[count] = (min(old_low, low), max(old_high, high))
