"""Could luck alone do that: exact tests of paired results, and the correction for asking about many metrics."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from random import Random
from typing import NamedTuple

from judgekit.errors import InputError
from judgekit.stats.distributions import coin_tail
from judgekit.stats.inputs import NOISE, finite, share

_MOST_EXACT = 20


class SignFlip(NamedTuple):
    """A two-sided p in (0, 1], and whether every assignment of signs was counted or a seeded draw of them."""

    p: float
    is_exact: bool


class McNemar(NamedTuple):
    """Two-sided p-values in (0, 1]: `p_mid` is the headline, `p_exact` the conservative one beside it."""

    p_exact: float
    p_mid: float


def signflip_p(d: Sequence[float], *, seed: int, replicates: int = 9999, exact_up_to: int = 14) -> SignFlip:
    """The two-sided sign-flip p of paired differences: exact for few of them, else a seeded Monte Carlo.

    Few: at most `exact_up_to` (itself at most 20) that are not zero. The Monte Carlo p is
    (1 + hits) / (1 + replicates), so it is never 0; it depends on the order of `d`. InputError: a difference that is
    not finite, no replicates.
    """
    if replicates < 1:
        raise InputError(f"{replicates} replicates show nothing; give 1 or more")
    moved = _nonzero(d)
    if len(moved) <= min(exact_up_to, _MOST_EXACT):
        return SignFlip(signflip_exact_p(moved), is_exact=True)
    rng = Random(seed)  # noqa: S311  # statistics, not secrets
    bar = _bar(moved)
    hits = 0
    for _ in range(replicates):
        hits += abs(fsum(change if rng.random() < 0.5 else -change for change in moved)) >= bar  # noqa: PLR2004
    return SignFlip((1 + hits) / (1 + replicates), is_exact=False)


def signflip_exact_p(d: Sequence[float]) -> float:
    """The share of all 2^G assignments of signs whose sum is as far from 0 as that of `d`, or farther; in (0, 1].

    Zeros are counted, and change nothing; an empty `d` gives 1. Vectors: `signflip_exact_p`. InputError: more than 20
    differences that are not zero (use `signflip_p`), or one that is not finite.
    """
    moved = _nonzero(d)
    if len(moved) > _MOST_EXACT:
        raise InputError(f"{len(moved)} differences have too many sign flips to count; use signflip_p")
    bar = _bar(moved)
    sums = [0.0]
    for change in moved[1:]:  # the first sign is kept: all sums come in pairs of equal size
        sums = [total + signed for total in sums for signed in (change, -change)]
    first = moved[0] if moved else 0.0
    return sum(abs(first + total) >= bar for total in sums) / len(sums)


def mcnemar(*, b: int, c: int) -> McNemar:
    """McNemar's test on the questions that passed in one run only: `b` in the first, `c` in the second.

    Both are 1 when no question changed. Vectors: `mcnemar`. InputError: a negative count.
    Source: Fagerland, Lydersen and Laake 2013 (BMC Med Res Methodol 13:91) for the mid-p.
    """
    if b < 0 or c < 0:
        raise InputError(f"{b} and {c} are no counts; give 0 or more")
    if b + c == 0:
        return McNemar(1.0, 1.0)
    tail, point = coin_tail(min(b, c), n=b + c)
    return McNemar(p_exact=min(1.0, 2 * tail), p_mid=min(1.0, 2 * tail - point))


def holm(p: Sequence[float | None]) -> tuple[float | None, ...]:
    """Holm's adjusted p-values, in the order given; each may be compared with alpha as it is.

    None (a metric without a defined test) stays None and does not count among the tests. Vectors: `holm`.
    InputError: a p outside [0, 1]. Source: Holm 1979.
    """
    tested = sorted((share("p", value), at) for at, value in enumerate(p) if value is not None)
    adjusted: list[float | None] = [None] * len(p)
    highest = 0.0
    for step, (value, at) in enumerate(tested):
        highest = max(highest, min(1.0, (len(tested) - step) * value))
        adjusted[at] = highest
    return tuple(adjusted)


def _nonzero(d: Sequence[float]) -> list[float]:
    return [change for change in finite("d", d) if change]


def _bar(moved: list[float]) -> float:
    """What a sum must reach: the observed one, less what rounding can take from it."""
    return abs(fsum(moved)) - NOISE * fsum(abs(change) for change in moved)
