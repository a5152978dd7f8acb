"""Measures of where the relevant items stand."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from math import exp2, fsum, isfinite

from judgekit.retrieval.inputs import Seen, UnusableValue
from judgekit.retrieval.measure import CutMeasure, Gap, Measure, plain
from judgekit.retrieval.sets import capped_at


@dataclass(frozen=True)
class ReciprocalRank(CutMeasure):
    """1 / rank of the first relevant item in the top k; 0.0 when there is none. Range [0, 1]; defined always.

    Its mean over all queries is MRR. Source: Voorhees 1999; trec_eval `recip_rank`, which has no k.
    """

    key = "rr"
    mean_key = "mrr"

    def of(self, seen: Seen) -> float | Gap:
        first = seen.hits[0] if seen.hits else 0
        return 1 / first if first and (self.k is None or first <= self.k) else 0.0


@dataclass(frozen=True)
class AveragePrecision(CutMeasure):
    """Sum of precision@i over the ranks i <= k of relevant items / relevant items. Range [0, 1].

    `capped`: / the smaller of that and k (the length of the ranking, without k). Its mean over queries is MAP.
    None: no relevant item. Source: trec_eval `map`, `map_cut`.
    """

    key = "ap"
    mean_key = "map"
    _: KW_ONLY
    capped: bool = False

    def of(self, seen: Seen) -> float | Gap:
        relevant = seen.labels.relevant
        if not relevant:
            return Gap.NO_RELEVANT
        return precision_sum(seen, self.k) / (capped_at(self.k, seen) if self.capped else relevant)

    def _options(self) -> str:
        return "[capped]" if self.capped else ""


@dataclass(frozen=True)
class ContextPrecision(CutMeasure):
    """Sum of precision@i over the ranks i <= k of relevant items / relevant items *in the top k*. Range [0, 1].

    Exactly 1.0 when no irrelevant item stands above a relevant one, 0.0 when none was found: what was missed does not
    count. None: no relevant item. Source: Ragas and DeepEval "context precision"; average precision divides by all.
    """

    key = "context_precision"

    def of(self, seen: Seen) -> float | Gap:
        if not seen.labels.relevant:
            return Gap.NO_RELEVANT
        hits = seen.hits_at(self.k)
        return precision_sum(seen, self.k) / hits if hits else 0.0


@dataclass(frozen=True)
class RPrecision(Measure):
    """Relevant items in the top R / R, where R is the number of relevant items. Range [0, 1].

    None: no relevant item. Source: trec_eval `Rprec`.
    """

    key = "r_precision"

    def of(self, seen: Seen) -> float | Gap:
        relevant = seen.labels.relevant
        return seen.hits_at(relevant) / relevant if relevant else Gap.NO_RELEVANT


@dataclass(frozen=True)
class Bpref(Measure):
    """Mean over the R relevant items of 1 - min(n, R) / min(R, N); 0 for one that was not retrieved. Range [0, 1].

    n: judged non-relevant items above it, N: all of them. What was not judged, or graded below 0, is passed over.
    Where N is 0 it is recall. None: no relevant item. Source: Buckley and Voorhees 2004; trec_eval `bpref`.
    """

    key = "bpref"

    def of(self, seen: Seen) -> float | Gap:
        relevant, level = seen.labels.relevant, seen.labels.level
        if not relevant:
            return Gap.NO_RELEVANT
        bound = min(relevant, seen.labels.nonrelevant)
        above = 0
        parts = []
        for _, grade in seen.judged:
            if grade >= level:
                parts.append(1 - min(above, relevant) / bound if above else 1.0)
            elif grade >= 0:
                above += 1
        return fsum(parts) / relevant


@dataclass(frozen=True)
class Rbp(CutMeasure):
    """Rank-biased precision: (1 - p) * sum of p^(i-1) over the ranks i <= k of relevant items. Range [0, 1).

    p is the chance that a reader goes on to the next item. Binary: the grade does not weigh. Defined always.
    Source: Moffat and Zobel 2008. UnusableValue: p not between 0 and 1.
    """

    key = "rbp"
    _: KW_ONLY
    p: float = 0.8

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.p < 1:
            raise UnusableValue(f"rbp: p={self.p!r} is no chance of reading on; give a number between 0 and 1")

    def of(self, seen: Seen) -> float | Gap:
        return (1 - self.p) * fsum([self.p ** (rank - 1) for rank in seen.hits[: seen.hits_at(self.k)]])

    def _options(self) -> str:
        return f"[p={plain(self.p)}]"


@dataclass(frozen=True)
class Err(CutMeasure):
    """Expected reciprocal rank: sum over ranks i <= k of r_i / i * product of (1 - r_j) above. Range [0, 1).

    r = (2^grade - 1) / 2^max, the chance that an item satisfies; `max` is the highest grade of the *scale* (4), not of
    the query. Defined always, but None where a grade lies above `max`. Source: Chapelle et al. 2009; gdeval.
    """

    key = "err"
    _: KW_ONLY
    max: float = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.max > 0 and isfinite(self.max)):
            raise UnusableValue(f"err: max={self.max!r} is no highest grade; give a number above 0")

    def of(self, seen: Seen) -> float | Gap:
        gaining = seen.labels.gaining
        if gaining and gaining[0] > self.max:
            return Gap.GRADE_ABOVE_MAX
        total, reading = [], 1.0
        for rank, grade in seen.judged:
            if self.k is not None and rank > self.k:
                break
            if grade > 0:
                satisfied = exp2(grade - self.max) - exp2(-self.max)
                total.append(reading * satisfied / rank)
                reading *= 1 - satisfied
        return fsum(total)

    def _options(self) -> str:
        return f"[max={plain(self.max)}]"


def precision_sum(seen: Seen, k: int | None) -> float:
    """Sum of precision@i over the ranks i <= k of relevant items."""
    hits = seen.hits if k is None else seen.hits[: seen.hits_at(k)]
    return fsum([number / rank for number, rank in enumerate(hits, 1)])
