"""Measures of which items stand in the top k, whatever their order there."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import KW_ONLY, dataclass

from judgekit.retrieval.inputs import Seen
from judgekit.retrieval.measure import CutMeasure, Gap


@dataclass(frozen=True)
class Precision(CutMeasure):
    """Relevant items in the top k / k, also when fewer than k were retrieved; without k / all retrieved.

    Range [0, 1]. None: nothing retrieved and nothing relevant, without k. Source: trec_eval `P`.
    """

    key = "precision"

    def of(self, seen: Seen) -> float | Gap:
        if self.k is not None:
            return seen.hits_at(self.k) / self.k
        return _share(len(seen.hits), of=seen.slots, relevant=seen.labels.relevant)


@dataclass(frozen=True)
class IdContextPrecision(CutMeasure):
    """Different relevant ids in the top k / different ids there. Range [0, 1].

    A list that is short and right scores 1.0, where precision@k divides by k.
    None: nothing retrieved and nothing relevant. Source: Ragas `IDBasedContextPrecision`.
    """

    key = "id_context_precision"

    def of(self, seen: Seen) -> float | Gap:
        return _share(seen.hits_at(self.k), of=seen.different_at(self.k), relevant=seen.labels.relevant)


@dataclass(frozen=True)
class Recall(CutMeasure):
    """Relevant items in the top k / relevant items; `capped`: / the smaller of that and k. Range [0, 1].

    Capped without k: k is the length of the ranking. None: no relevant item.
    Source: trec_eval `recall`; capped: BEIR `R_cap`.
    """

    key = "recall"
    _: KW_ONLY
    capped: bool = False

    def of(self, seen: Seen) -> float | Gap:
        relevant = seen.labels.relevant
        if not relevant:
            return Gap.NO_RELEVANT
        return seen.hits_at(self.k) / (capped_at(self.k, seen) if self.capped else relevant)

    def _options(self) -> str:
        return "[capped]" if self.capped else ""


@dataclass(frozen=True)
class IdContextRecall(CutMeasure):
    """Different relevant ids in the top k / different relevant ids: recall, under the name Ragas gives it.

    Range [0, 1]. None: no relevant item. Source: Ragas `IDBasedContextRecall`.
    """

    key = "id_context_recall"

    def of(self, seen: Seen) -> float | Gap:
        relevant = seen.labels.relevant
        return seen.hits_at(self.k) / relevant if relevant else Gap.NO_RELEVANT


@dataclass(frozen=True)
class F1(CutMeasure):
    """Harmonic mean of precision and recall at k: 2 hits / (k + relevant items). Range [0, 1].

    None: no relevant item. Source: van Rijsbergen 1979.
    """

    key = "f1"

    def of(self, seen: Seen) -> float | Gap:
        relevant = seen.labels.relevant
        slots = seen.slots if self.k is None else self.k
        return 2 * seen.hits_at(self.k) / (slots + relevant) if relevant else Gap.NO_RELEVANT


@dataclass(frozen=True)
class Hit(CutMeasure):
    """1.0 when a relevant item stands in the top k, else 0.0; defined always. Source: trec_eval `success`."""

    key = "hit"
    mean_key = "hit_rate"

    def of(self, seen: Seen) -> float | Gap:
        return 1.0 if seen.hits_at(self.k) else 0.0


@dataclass(frozen=True)
class Judged(CutMeasure):
    """Judged items in the top k / items there: how much of the list was judged at all. Range [0, 1].

    A negative grade is a judgement; a repeated id is not judged again. 0.0 for an empty list.
    Source: ir_measures `Judged`.
    """

    key = "judged"

    def of(self, seen: Seen) -> float | Gap:
        slots = seen.slots_at(self.k)
        judged = len(seen.judged) if self.k is None else bisect_right(seen.judged, self.k, key=lambda one: one[0])
        return judged / slots if slots else 0.0


def _share(hits: int, *, of: int, relevant: int) -> float | Gap:
    """hits / retrieved, where nothing retrieved is a miss if there was something to find."""
    if of:
        return hits / of
    return 0.0 if relevant else Gap.NOTHING_RETRIEVED


def capped_at(k: int | None, seen: Seen) -> int:
    """How many relevant items the top k, or the whole list, can hold; 1 for an empty list, which holds none of them."""
    return min(seen.labels.relevant, k or max(seen.slots, 1))
