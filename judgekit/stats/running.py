"""How sure is a mean of rows that come one at a time and are not kept: the interval of `cluster_ratio` from sums."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isfinite

from judgekit.errors import InputError
from judgekit.stats.inputs import FEWEST, NEEDS_TWO, NOTHING, level
from judgekit.stats.intervals import Mean, mean_of_sums


@dataclass(slots=True)
class _Sums:
    """All that the interval needs of the clusters: their number, and sums of their parts and wholes, exact."""

    size: int = 0
    y: int | Fraction = 0
    m: int | Fraction = 0
    yy: int | Fraction = 0
    ym: int | Fraction = 0
    mm: int | Fraction = 0

    def add(self, y: int | Fraction, m: int | Fraction) -> None:
        self.size += 1
        self.y += y
        self.m += m
        self.yy += y * y
        self.ym += y * m
        self.mm += m * m


class RunningRatio:
    """`cluster_ratio` of any number of rows in the memory of a few sums; with every m = 1 it is `macro_mean`.

    The sums are exact, so the order of the rows changes no bit. Rows that name a cluster are summed inside it first,
    and take one pair of sums a cluster; a row that names none is a cluster of its own.
    """

    def __init__(self) -> None:
        self._alone = _Sums()
        self._clusters: dict[Hashable, tuple[int | Fraction, int | Fraction]] = {}
        self._undefined = 0

    def add(self, y: float, m: float = 1, *, cluster: Hashable | None = None) -> None:
        """One row: `y` of `m`; m = 0 is undefined, and counted. InputError: y outside [0, m], m not finite."""
        if not (0 <= y <= m and isfinite(m)):
            raise InputError(f"{y} of {m} is no share; y lies between 0 and m")
        if m == 0:
            self._undefined += 1
        elif cluster is None:
            self._alone.add(_exact(y), _exact(m))
        else:
            part, whole = self._clusters.get(cluster, (0, 0))
            self._clusters[cluster] = (part + _exact(y), whole + _exact(m))

    def mean(self, *, conf: float = 0.95, cap: float | None = None) -> Mean:
        """The mean so far, with its interval; `cap` bounds n_eff. Vectors: `cluster_ratio`, `macro_mean`."""
        level("conf", conf)
        sums = replace(self._alone)
        for part, whole in self._clusters.values():
            sums.add(part, whole)
        if not sums.size:
            return Mean(estimate=None, clusters=0, undefined=self._undefined, reason=NOTHING)
        p = Fraction(sums.y) / sums.m
        if sums.size < FEWEST:
            return Mean(estimate=float(p), clusters=sums.size, undefined=self._undefined, reason=NEEDS_TWO)
        return mean_of_sums(
            float(p),
            squares=float(sums.yy - 2 * p * sums.ym + p * p * sums.mm),
            total=float(sums.m),
            size=sums.size,
            conf=conf,
            cap=cap,
            undefined=self._undefined,
            pooled=float(sums.m),
        )


def _exact(value: float) -> int | Fraction:
    """The same number; whole ones as such, which is much faster."""
    return int(value) if value == int(value) else Fraction(value)
