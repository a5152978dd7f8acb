"""Does a judge repeat itself, and from how many changed labels on is it no longer the same judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from math import comb, fsum

from judgekit.errors import InputError
from judgekit.stats.inputs import level


def flip_rate(labels: Sequence[Sequence[Hashable]]) -> float | None:
    """The chance that two askings of one unit are answered differently, in [0, 1], averaged over the units.

    `labels` holds the labels that each unit got. A unit with fewer than two tells nothing and is left out; None when
    all of them are.
    """
    rates = []
    for unit in labels:
        pairs = comb(len(unit), 2)
        if pairs:
            same = sum(comb(count, 2) for count in Counter(unit).values())
            rates.append(1 - same / pairs)
    return fsum(rates) / len(rates) if rates else None


def binomial_tail(k: int, *, n: int, p: float) -> float:
    """The chance of k or more successes in n trials of chance p each. InputError: p not in [0, 1]."""
    if not 0 <= p <= 1:
        raise InputError(f"p is {p}; a chance lies between 0 and 1")
    # the far tail is summed itself: 1 minus the near one would lose it to rounding
    return min(1.0, fsum(comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(max(k, 0), n + 1)))


def flip_alarm(*, n: int, rate: float, alpha: float = 0.01) -> int:
    """The least number of changed labels among n units that has a chance below alpha while the flip rate is this one.

    n + 1 when no number of them is so rare. Vectors: n 60, rate .02: 5; .05: 8; n 100, rate .02: 7.
    """
    level("alpha", alpha)
    return next((k for k in range(n + 1) if binomial_tail(k, n=n, p=rate) < alpha), n + 1)
