"""Do two raters agree, beyond chance: coefficients of a square table of counts.

`table[i][j]` counts the units that rater A put in category i and rater B in category j; entries may be sums of
design weights, then the coefficients hold and the standard errors do not. No single coefficient is to be read alone:
with one rare category kappa may fall below 0 at 94 % agreement.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import fsum, sqrt
from typing import Literal, NamedTuple

from judgekit.errors import InputError
from judgekit.stats.inputs import FEWEST, NOTHING, nonnegative, same_length

Table = Sequence[Sequence[float]]

#: The reason when chance agreement is complete: both raters used one and the same category.
ONE_CATEGORY = "only one category was used"


class Kappa(NamedTuple):
    """`kappa` in [-1, 1] with its analytic standard error (None when weighted), observed and chance agreement."""

    kappa: float | None
    se: float | None = None
    po: float | None = None
    pe: float | None = None
    reason: str | None = None


class Ac1(NamedTuple):
    """`ac1` in [-1, 1] with its analytic standard error (None for many raters), observed and chance agreement."""

    ac1: float | None
    se: float | None = None
    pa: float | None = None
    pe: float | None = None
    reason: str | None = None


def cross_table(
    *,
    a: Sequence[Hashable],
    b: Sequence[Hashable],
    sample_weight: Sequence[float] | None = None,
    categories: Sequence[Hashable] | None = None,
) -> list[list[float]]:
    """The table of two raters' labels, row g being the same unit in both; weighted when weights are given.

    Categories stand in the order given, else in the order of their first use. InputError: lengths that differ,
    a negative weight, a label outside the categories.
    """
    size = same_length({"a": a, "b": b, "sample_weight": sample_weight})
    places = {label: at for at, label in enumerate(dict.fromkeys([*a, *b] if categories is None else categories))}
    weights = [1.0] * size if sample_weight is None else nonnegative("sample_weight", sample_weight)
    cells: dict[tuple[int, int], list[float]] = {}
    for first, second, weight in zip(a, b, weights, strict=True):
        for label in (first, second):
            if label not in places:
                raise InputError(f"label {label!r} is none of the categories {list(places)!r}")
        cells.setdefault((places[first], places[second]), []).append(weight)
    return [[fsum(cells.get((row, column), ())) for column in range(len(places))] for row in range(len(places))]


def cohen_kappa(table: Table) -> Kappa:
    """Cohen's kappa. None with a reason when the table is empty or only one category was used.

    Vectors: `cohen_kappa`. InputError: a table that is not square, negative entries.
    Source: Cohen 1960; standard error of Fleiss, Cohen and Everitt 1969.
    """
    shares = _shares(table)
    if shares is None:
        return Kappa(None, reason=NOTHING)
    rows, columns = _margins(shares)
    po = fsum(shares[k][k] for k in range(len(rows)))
    pe = fsum(row * column for row, column in zip(rows, columns, strict=True))
    if _is_one(rows, columns):
        return Kappa(None, po=po, pe=pe, reason=ONE_CATEGORY)
    kappa = (po - pe) / (1 - pe)
    return Kappa(kappa, _kappa_se(shares, kappa, pe, size=_size(table)), po, pe)


def weighted_kappa(table: Table, *, weights: Literal["linear", "quadratic"]) -> Kappa:
    """Cohen's kappa for ordered categories: a disagreement counts by its distance, or by the square of it.

    `po` and `pe` are then agreement with partial credit. Vectors: `weighted_kappa`. None and InputError as in
    `cohen_kappa`. Source: Cohen 1968.
    """
    shares = _shares(table)
    if shares is None:
        return Kappa(None, reason=NOTHING)
    rows, columns = _margins(shares)
    q, power = len(rows), 1 if weights == "linear" else 2
    if _is_one(rows, columns):
        return Kappa(None, po=1.0, pe=1.0, reason=ONE_CATEGORY)
    cost = [[(abs(i - j) / (q - 1)) ** power for j in range(q)] for i in range(q)]
    seen = fsum(cost[i][j] * shares[i][j] for i in range(q) for j in range(q))
    expected = fsum(cost[i][j] * rows[i] * columns[j] for i in range(q) for j in range(q))
    return Kappa(1 - seen / expected, po=1 - seen, pe=1 - expected)


def cohen_kappa_weighted_sample(
    *, a: Sequence[Hashable], b: Sequence[Hashable], sample_weight: Sequence[float]
) -> float | None:
    """Cohen's kappa of two raters over units drawn with unequal chances, each weighing 1 / its chance.

    None as in `cohen_kappa`; for an interval take `bootstrap`. Vectors: `cohen_kappa_weighted_sample`.
    """
    return cohen_kappa(cross_table(a=a, b=b, sample_weight=sample_weight)).kappa


def gwet_ac1(table: Table) -> Ac1:
    """Gwet's AC1, which stays near the observed agreement when one category is rare.

    It can look high while every unit of the rare category is missed: read it beside TPR and TNR. None with a reason
    when the table is empty or has one category. Vectors: `gwet_ac1`. InputError as in `cohen_kappa`.
    Source: Gwet 2008 (Br J Math Stat Psychol 61:29), estimate and standard error.
    """
    shares = _shares(table)
    if shares is None:
        return Ac1(None, reason=NOTHING)
    q = len(shares)
    pa = fsum(shares[k][k] for k in range(q))
    if q < FEWEST:
        return Ac1(None, pa=pa, reason=ONE_CATEGORY)
    pi = [(row + column) / 2 for row, column in zip(*_margins(shares), strict=True)]
    pe = fsum(part * (1 - part) for part in pi) / (q - 1)
    ac1 = (pa - pe) / (1 - pe)
    on_diagonal = fsum(shares[k][k] * (1 - pi[k]) for k in range(q)) / (q - 1) - pa * pe
    everywhere = fsum(shares[i][j] * (1 - (pi[i] + pi[j]) / 2) ** 2 for i in range(q) for j in range(q))
    spread = pa * (1 - pa) - 4 * (1 - ac1) * on_diagonal + 4 * (1 - ac1) ** 2 * (everywhere / (q - 1) ** 2 - pe**2)
    return Ac1(ac1, sqrt(max(0.0, spread) / _size(table)) / (1 - pe), pa, pe)


def _kappa_se(shares: list[list[float]], kappa: float, pe: float, *, size: float) -> float:
    rows, columns = _margins(shares)
    every = range(len(rows))
    agreed = fsum(shares[k][k] * (1 - (rows[k] + columns[k]) * (1 - kappa)) ** 2 for k in every)
    split = fsum(shares[i][j] * (columns[i] + rows[j]) ** 2 for i in every for j in every if i != j)
    spread = agreed + (1 - kappa) ** 2 * split - (kappa - pe * (1 - kappa)) ** 2
    return sqrt(max(0.0, spread) / size) / (1 - pe)


def _size(table: Table) -> float:
    return fsum(entry for row in table for entry in row)


def _shares(table: Table) -> list[list[float]] | None:
    """The table divided by its sum; None when that is 0."""
    for at, row in enumerate(table):
        nonnegative(f"table[{at}]", row)
        if len(row) != len(table):
            raise InputError(f"table[{at}] has {len(row)} entries of {len(table)}; a table of two raters is square")
    size = _size(table)
    return [[entry / size for entry in row] for row in table] if size else None


def _margins(shares: list[list[float]]) -> tuple[list[float], list[float]]:
    """Row and column sums."""
    return [fsum(row) for row in shares], [fsum(column) for column in zip(*shares, strict=True)]


def _is_one(rows: list[float], columns: list[float]) -> bool:
    """True when both raters used one and the same category throughout."""
    return sum(row > 0 or column > 0 for row, column in zip(rows, columns, strict=True)) == 1
