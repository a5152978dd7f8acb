"""What equal scores leave open: a measure's lowest, mean and highest value over all orders of the tied items."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from math import comb, fsum, inf
from typing import Any

from judgekit.retrieval.evaluate import DEFAULT, Chosen, Conventions
from judgekit.retrieval.gains import Ndcg, dcg, gains
from judgekit.retrieval.inputs import Labels, Relevance, Seen, UnusableType, UnusableValue, ids_of
from judgekit.retrieval.measure import Gap, Measure
from judgekit.retrieval.names import measures_of
from judgekit.retrieval.ranks import AveragePrecision, ReciprocalRank
from judgekit.retrieval.sets import Hit, Precision, Recall, capped_at


@dataclass(frozen=True)
class Spread:
    """Lowest, mean and highest value over all orders of tied items; all None where the measure has no value."""

    low: float | None
    mean: float | None
    high: float | None


def tie_spread(
    scores: Mapping[str, float] | Mapping[int, float],
    relevance: Relevance,
    measures: Chosen,
    *,
    conventions: Conventions = DEFAULT,
) -> dict[str, Spread]:
    """Measure name -> its spread over the orders that these scores allow; one value three times when no tie matters.

    For precision, recall, hit, rr, ap and ndcg against the judged ideal; UnusableValue for any other. The mean is
    exact, nothing is sampled. Source: McSherry and Najork 2008.
    """
    if not isinstance(scores, Mapping):
        raise UnusableType("only scores can tie; give a mapping of id to score")
    labels = Labels(relevance, level=conventions.relevance_level)
    ids = ids_of(scores)
    return {str(measure): _spread(measure, ids, dict(scores), labels) for measure in measures_of(measures)}


def _spread(measure: Measure, ids: Any, scores: Mapping[Any, float], labels: Labels) -> Spread:
    mean = _MEANS.get(type(measure))
    if mean is None or (isinstance(measure, Ndcg) and measure.ideal != "judged"):
        raise UnusableValue(
            f"{measure}: its mean over ties is not known; choose precision, recall, hit, rr, ap or ndcg"
        )
    ends = []
    for sign in (1, -1):  # the lowest grade of each tie first, then the highest; not judged is the lowest of all
        order = sorted(ids, key=lambda one: (-scores[one], sign * labels.grades.get(one, -inf)))
        seen = Seen(order, labels, depth=measure.depth, duplicates="error", ties="stable")
        ends.append(measure.of(seen))
    low, high = ends
    if isinstance(low, Gap) or isinstance(high, Gap):
        return Spread(None, None, None)
    if low == high:
        return Spread(low, low, high)
    ties = list(_ties(ids, scores, labels, depth=measure.depth or len(ids)))
    return Spread(low, min(max(mean(measure, ties, labels, seen), low), high), high)


@dataclass(frozen=True)
class _Tie:
    """Items of one score, at the ranks `first` to `last`; `hits` of them relevant, `above` relevant ones above them.

    `inside` of its ranks lie within the cut-off.
    """

    first: int
    grades: tuple[float, ...]
    hits: int
    above: int
    inside: int

    @property
    def size(self) -> int:
        return len(self.grades)


def _ties(ids: Any, scores: Mapping[Any, float], labels: Labels, *, depth: int) -> Iterator[_Tie]:
    first, above = 1, 0
    for _, items in groupby(ids, key=scores.__getitem__):
        grades = tuple(labels.grades.get(one, -inf) for one in items)
        hits = sum(grade >= labels.level for grade in grades)
        yield _Tie(first, grades, hits, above, min(max(depth - first + 1, 0), len(grades)))
        first, above = first + len(grades), above + hits


def _mean_hits(ties: list[_Tie]) -> float:
    return fsum(tie.hits * tie.inside / tie.size for tie in ties)


def _mean_precision(measure: Precision, ties: list[_Tie], _: Labels, seen: Seen) -> float:
    return _mean_hits(ties) / (measure.k or seen.slots)


def _mean_recall(measure: Recall, ties: list[_Tie], labels: Labels, seen: Seen) -> float:
    return _mean_hits(ties) / (capped_at(measure.k, seen) if measure.capped else labels.relevant)


def _mean_hit(_measure: Hit, ties: list[_Tie], _: Labels, _seen: Seen) -> float:
    """1 - the chance that all relevant items of the tie at the cut-off fall below it."""
    if any(tie.hits and tie.inside == tie.size for tie in ties):
        return 1.0
    missed = [comb(tie.size - tie.inside, tie.hits) / comb(tie.size, tie.hits) for tie in ties if tie.inside]
    return 1 - missed[-1] if missed else 0.0


def _mean_rr(_measure: ReciprocalRank, ties: list[_Tie], _: Labels, _seen: Seen) -> float:
    """The first relevant item stands somewhere in the first tie that holds one."""
    tie = next(tie for tie in ties if tie.hits)
    ways = comb(tie.size, tie.hits)
    return fsum(comb(tie.size - place - 1, tie.hits - 1) / ways / (tie.first + place) for place in range(tie.inside))


def _mean_ap(measure: AveragePrecision, ties: list[_Tie], labels: Labels, seen: Seen) -> float:
    """At each rank: the chance of a relevant item, times the precision expected there if it holds one."""
    parts = []
    for tie in ties:
        others = (tie.hits - 1) / (tie.size - 1) if tie.size > 1 else 0.0
        for place in range(tie.inside if tie.hits else 0):
            expected = tie.above + 1 + place * others
            parts.append(tie.hits / tie.size * expected / (tie.first + place))
    return fsum(parts) / (capped_at(measure.k, seen) if measure.capped else labels.relevant)


def _mean_ndcg(measure: Ndcg, ties: list[_Tie], labels: Labels, _: Seen) -> float:
    """At each rank: the mean gain of its tie."""
    best = labels.gaining
    expected: list[float] = []
    for tie in ties:
        gained = gains([grade for grade in tie.grades if grade > 0], measure.gain, highest=best[0])
        expected += [fsum(gained) / tie.size] * tie.inside
    pool = best[: measure.k]
    ideal = dcg(gains(pool, measure.gain, highest=best[0]), range(1, len(pool) + 1))
    return dcg(expected, range(1, len(expected) + 1)) / ideal


_MEANS: Mapping[type[Measure], Callable[[Any, list[_Tie], Labels, Seen], float]] = {
    Precision: _mean_precision,
    Recall: _mean_recall,
    Hit: _mean_hit,
    ReciprocalRank: _mean_rr,
    AveragePrecision: _mean_ap,
    Ndcg: _mean_ndcg,
}
