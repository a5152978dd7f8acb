"""Which units a human looks at: how many of each stratum, and which ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from hashlib import sha256
from heapq import nsmallest
from math import floor

from judgekit.errors import InputError
from judgekit.stats.inputs import nonnegative, same_length

_SEPARATOR = "\x1f"


def neyman_allocation(
    *, budget: int, sizes: Sequence[int], sd_guess: Sequence[float], min_per_stratum: int = 5
) -> tuple[int, ...]:
    """How many units to draw from each stratum: as many as its size times its guessed spread, within limits.

    At least `min_per_stratum` of each (all of a smaller one), at most all of it. The numbers add up to the budget,
    except where the limits forbid it: the floors of all strata are drawn even if they exceed the budget, and nothing
    is drawn twice if the strata hold less. Ties go to the first stratum. A larger budget takes no unit
    away from any. Vectors: `neyman_allocation` (`n_h`).
    InputError: lengths that differ, negative numbers.
    """
    same_length({"sizes": sizes, "sd_guess": sd_guess})
    if budget < 0 or min_per_stratum < 0:
        raise InputError(f"budget {budget} and min_per_stratum {min_per_stratum} are to be 0 or more")
    pull = [  # exact, or equal strata would be unequal by a rounding
        Fraction(size) * Fraction(spread)
        for size, spread in zip(nonnegative("sizes", sizes), nonnegative("sd_guess", sd_guess), strict=True)
    ]
    least = [min(min_per_stratum, size) for size in sizes]
    if budget >= sum(sizes):
        return tuple(sizes)
    total = sum(pull)
    drawn = [
        min(max(floor(budget * share / total) if total else 0, low), size)
        for share, low, size in zip(pull, least, sizes, strict=True)
    ]
    while sum(drawn) < budget and (open_ := [at for at, size in enumerate(sizes) if drawn[at] < size]):
        drawn[max(open_, key=lambda at: pull[at] / (drawn[at] + 1))] += 1
    while sum(drawn) > budget and (open_ := [at for at, low in enumerate(least) if drawn[at] > low]):
        drawn[min(open_, key=lambda at: (pull[at] / drawn[at], -at))] -= 1  # the last to get one gives it back
    return tuple(drawn)


def hash_rank(unit_id: str, *, seed: str, stratum: str = "") -> str:
    """Where a unit stands in the draw of a seed: 64 hexadecimal digits that depend on nothing but the three."""
    return sha256(_SEPARATOR.join((seed, stratum, unit_id)).encode()).hexdigest()


def hash_uniform(unit_id: str, *, seed: str, stratum: str = "") -> float:
    """The same rank as a number in [0, 1]: uniform over units. Vectors: `u_first` of `hash_rank_sample`."""
    return int(hash_rank(unit_id, seed=seed, stratum=stratum), 16) / 2**256


def hash_rank_sample(ids: Iterable[str], *, seed: str, n: int, stratum: str = "") -> list[str]:
    """A simple random draw without replacement: the n ids of lowest rank, in rank order; all, if there are fewer.

    The order of the ids does not matter, and a larger n keeps what a smaller one drew and adds at its end. An id given
    twice counts once. Vectors: `hash_rank_sample`. InputError: a negative n.
    """
    if n < 0:
        raise InputError(f"a draw of {n} units is none; give 0 or more")
    return nsmallest(n, set(ids), key=lambda unit_id: hash_rank(unit_id, seed=seed, stratum=stratum))
