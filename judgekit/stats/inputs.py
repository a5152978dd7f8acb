"""What is asked of numbers before anything is computed from them. Every refusal is an `InputError`."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence, Sized
from math import fsum, isfinite

from judgekit.errors import InputError

#: Differences below this share of the numbers they come from are rounding, not spread.
NOISE = 1e-12

#: Independent units that it takes to see a spread, and categories or ratings to see a disagreement.
FEWEST = 2

#: The reason given wherever a spread is asked of fewer than two independent units.
NEEDS_TWO = "needs >= 2 samples"

#: The reason given where nothing at all was handed in, or nothing of it is defined.
NOTHING = "nothing to count"


def same_length(columns: Mapping[str, Sized | None]) -> int:
    """How many rows the named columns have; a column that is None is left out. InputError when they differ."""
    sizes = {name: len(column) for name, column in columns.items() if column is not None}
    if len(set(sizes.values())) > 1:
        told = ", ".join(f"{name} has {size}" for name, size in sizes.items())
        raise InputError(f"{told}; give one value per row in each")
    return next(iter(sizes.values()), 0)


def level(name: str, value: float) -> float:
    """`value`, a probability strictly between 0 and 1."""
    if not 0 < value < 1:
        raise InputError(f"{name} is {value}; give a number between 0 and 1, such as 0.95")
    return value


def share(name: str, value: float) -> float:
    """`value`, a number in [0, 1]."""
    if not 0 <= value <= 1:
        raise InputError(f"{name} is {value}; give a number in [0, 1]")
    return value


def shares(name: str, values: Iterable[float]) -> list[float]:
    """`values`, each a number in [0, 1]."""
    return [share(name, value) for value in values]


def finite(name: str, values: Iterable[float]) -> list[float]:
    """`values`, none of them infinite or not a number."""
    listed = list(values)
    for at, value in enumerate(listed):
        if not isfinite(value):
            raise InputError(f"{name}[{at}] is {value}; leave undefined values out")
    return listed


def nonnegative(name: str, values: Iterable[float]) -> list[float]:
    """`values`, each finite and not negative: counts, or weights."""
    listed = finite(name, values)
    for at, value in enumerate(listed):
        if value < 0:
            raise InputError(f"{name}[{at}] is {value}; give 0 or more")
    return listed


def totals(values: Sequence[float], clusters: Sequence[Hashable] | None) -> list[float]:
    """The sum of each cluster, clusters in the order of their first row; the values themselves without clusters."""
    if clusters is None:
        return list(values)
    grouped: dict[Hashable, list[float]] = {}
    for value, cluster in zip(values, clusters, strict=True):
        grouped.setdefault(cluster, []).append(value)
    return [fsum(group) for group in grouped.values()]
