"""Discounted gain: nDCG with its gain and its ideal named."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cache
from math import exp2, expm1, fsum, log, log2
from operator import mul
from typing import Literal, get_args

from judgekit.retrieval.inputs import Seen, UnusableValue
from judgekit.retrieval.measure import CutMeasure, Gap

Gain = Literal["linear", "exp2"]
Ideal = Literal["judged", "retrieved"]

# Beyond these the sum of gains leaves the floats: both sides are then divided by the gain of the highest grade.
_HIGHEST_EXP2 = 512.0
_HIGHEST_LINEAR = 1e300
_TINY = 1e-3
_LN2 = log(2)


@dataclass(frozen=True)
class Ndcg(CutMeasure):
    """Normalised discounted cumulative gain: DCG of the top k / DCG of the ideal top k. Range [0, 1].

    DCG: sum of gain(grade) / log2(rank + 1). `gain`: `linear` is the grade, `exp2` is 2^grade - 1; below 0 nothing.
    `ideal`: `judged`, all judged items, best first, cut at k (not cut without k); `retrieved`, the top k retrieved,
    re-sorted, which cannot see what was missed. The level of relevance does not touch gains.
    Exactly 1.0 for the ideal order; 0.0 when nothing retrieved gains.
    None: no judged item has a grade above 0. Source: Jarvelin and Kekalainen 2002 (linear), Burges et al. 2005 (exp2);
    linear and judged is trec_eval `ndcg`, `ndcg_cut`.
    """

    key = "ndcg"
    _: KW_ONLY
    gain: Gain = "linear"
    ideal: Ideal = "judged"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gain not in get_args(Gain) or self.ideal not in get_args(Ideal):
            raise UnusableValue(
                f"ndcg: gain={self.gain!r}, ideal={self.ideal!r}; the gain is 'linear' or 'exp2', "
                "the ideal 'judged' or 'retrieved'"
            )

    def of(self, seen: Seen) -> float | Gap:
        best = seen.labels.gaining
        if not best:
            return Gap.NO_RELEVANT
        k = self.k or seen.slots
        found = [one for one in seen.judged if one[1] > 0 and one[0] <= k]
        if not found:
            return 0.0
        ranks, grades = [rank for rank, _ in found], [grade for _, grade in found]
        pool = best[: self.k] if self.ideal == "judged" else sorted(grades, reverse=True)
        ideal = dcg(gains(pool, self.gain, highest=pool[0]), range(1, len(pool) + 1))
        # min: of all but equal grades, another order than the ideal one may be rounded up
        return min(dcg(gains(grades, self.gain, highest=pool[0]), ranks) / ideal, 1.0)

    def _options(self) -> str:
        return f"[{self.gain},{self.ideal}]"


def gains(grades: Sequence[float], gain: Gain, *, highest: float) -> Sequence[float]:
    """The gains of positive grades; where `highest` would overflow, all as shares of its own."""
    if gain == "linear":
        return grades if highest <= _HIGHEST_LINEAR else [grade / highest for grade in grades]
    if highest > _HIGHEST_EXP2:
        return [exp2(grade - highest) - exp2(-highest) for grade in grades]
    return [exp2(grade) - 1 if grade >= _TINY else expm1(grade * _LN2) for grade in grades]


def dcg(gained: Iterable[float], ranks: Sequence[int]) -> float:
    """Sum of gain / log2(rank + 1) over ascending ranks, at least one; the sum is rounded once, at the end."""
    discount = _discounts(ranks[-1].bit_length())
    return fsum(map(mul, gained, map(discount.__getitem__, ranks)))


@cache
def _discounts(bits: int) -> tuple[float, ...]:
    """1 / log2(rank + 1) of all ranks of so many bits; nothing stands at rank 0."""
    return (0.0, *(1 / log2(rank + 1) for rank in range(1, 1 << bits)))
