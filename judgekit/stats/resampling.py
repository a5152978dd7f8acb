"""What would other samples have shown: a seeded bootstrap of whole clusters.

It is the option, not the default: its intervals are too narrow for few clusters and collapse to a point when all are
alike. It serves what has no closed form, such as weighted kappa. Only `Random(seed).random()` is used, whose
sequence is the same in every version of Python.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from math import floor, fsum, sqrt
from random import Random
from typing import NamedTuple, TypeVar

from judgekit.errors import InputError
from judgekit.stats.inputs import FEWEST, NEEDS_TWO, NOTHING, finite, level, nonnegative, same_length, share

T = TypeVar("T")


class Bootstrap(NamedTuple):
    """A percentile interval and the standard deviation of the replicates, as standard error.

    `undefined` counts the replicates on which the statistic was None; they are left out. All three numbers are None,
    with a reason, when there are fewer than two clusters or defined replicates.
    """

    lo: float | None
    hi: float | None
    se: float | None
    undefined: int = 0
    reason: str | None = None


def bootstrap(
    items: Sequence[T],
    statistic: Callable[[Sequence[T]], float | None],
    *,
    seed: int,
    replicates: int = 2000,
    conf: float = 0.95,
    strata: Sequence[Hashable] | None = None,
) -> Bootstrap:
    """The bootstrap of any statistic: one item is one independent cluster with everything in it.

    `strata` names a stratum for each item; each is then resampled to its own size. The order of the items matters to
    the draws: sort them by id, and the same run gives the same interval. InputError: fewer than one replicate,
    conf outside (0, 1), lengths that differ.
    """
    level("conf", conf)
    same_length({"items": items, "strata": strata})
    if replicates < 1:
        raise InputError(f"{replicates} replicates show nothing; give 1 or more")
    if len(items) < FEWEST:
        return Bootstrap(None, None, None, reason=NEEDS_TWO)
    groups = _by_stratum(items, strata)
    rng = Random(seed)  # noqa: S311  # statistics, not secrets
    values = []
    for _ in range(replicates):
        value = statistic([group[int(rng.random() * len(group))] for group in groups for _ in group])
        if value is not None:
            values.append(value)
    undefined = replicates - len(values)
    if len(values) < FEWEST:
        return Bootstrap(None, None, None, undefined, NOTHING)
    values.sort()
    mean = fsum(values) / len(values)
    se = sqrt(fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
    return Bootstrap(quantile(values, (1 - conf) / 2), quantile(values, (1 + conf) / 2), se, undefined)


def cluster_bootstrap(
    *, y: Sequence[float], m: Sequence[float], seed: int, replicates: int = 2000, conf: float = 0.95
) -> Bootstrap:
    """The bootstrap of the micro mean sum(y) / sum(m), one row a cluster.

    Vectors: `cluster_bootstrap`, whose `B` is `replicates`. InputError as in `bootstrap`, and negative counts.
    """
    same_length({"y": y, "m": m})
    rows = list(zip(nonnegative("y", y), nonnegative("m", m), strict=True))
    return bootstrap(rows, _ratio, seed=seed, replicates=replicates, conf=conf)


def quantile(ordered: Sequence[float], q: float) -> float:
    """The value below which a share q in [0, 1] of the ascending values lies, interpolated between neighbours.

    Type 7 of Hyndman and Fan 1996. InputError: no values.
    """
    if not ordered:
        raise InputError("no values have no quantile; give at least one")
    place = share("q", q) * (len(ordered) - 1)
    below = floor(place)
    above = min(below + 1, len(ordered) - 1)
    low, high = finite("ordered", (ordered[below], ordered[above]))
    return low + (place - below) * (high - low)


def _ratio(rows: Sequence[tuple[float, float]]) -> float | None:
    whole = fsum(size for _, size in rows)
    return fsum(part for part, _ in rows) / whole if whole else None


def _by_stratum(items: Sequence[T], strata: Sequence[Hashable] | None) -> list[list[T]]:
    """The items of each stratum, strata in the order of their first item."""
    if strata is None:
        return [list(items)]
    groups: dict[Hashable, list[T]] = {}
    for item, stratum in zip(items, strata, strict=True):
        groups.setdefault(stratum, []).append(item)
    return list(groups.values())
