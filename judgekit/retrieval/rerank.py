"""Before and after a reranker: which measures could move at all, and which did.

A reranker orders candidates that are there already. A count of what was found cannot move, unless the cut-off lies
above the last candidate: recall@5 over 20 candidates moves, recall@20 does not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, inf
from typing import Any

from judgekit.confidence import interval_of_values
from judgekit.records import Interval
from judgekit.retrieval.evaluate import DEFAULT, Chosen, Conventions, Evaluation, evaluate
from judgekit.retrieval.inputs import Labels, Ranking, Relevance, Seen, ids_of
from judgekit.retrieval.measure import Gap, Measure
from judgekit.retrieval.names import measures_of


@dataclass(frozen=True)
class Move:
    """One measure of one query before and after. `best` is the most that any order of the candidates can reach.

    `can_move`: two orders of the candidates have different values. It is None where the ranking after holds items that
    were no candidates before: that is another retrieval, and nothing is pinned.
    """

    before: float | None
    after: float | None
    best: float | None
    can_move: bool | None


@dataclass(frozen=True)
class MeanMove:
    """One measure over all queries that have a value before and after: `n` of them, each mean with its interval.

    `can_move`, `pinned` and `open` count them by what Move.can_move says; `rose` and `fell` by what happened.
    The mean cannot move where `can_move` and `open` are 0. `undefined` counts the other queries, by reason.
    """

    measure: str
    name: str
    before: float | None
    after: float | None
    best: float | None
    n: int
    can_move: int
    pinned: int
    open: int
    rose: int
    fell: int
    undefined: Mapping[str, int]
    before_interval: Interval
    after_interval: Interval
    best_interval: Interval


@dataclass(frozen=True)
class Reranking:
    """Query -> measure -> its move, and the means. `other_candidates`: queries whose ranking after holds new items."""

    queries: Mapping[str, Mapping[str, Move]]
    means: Mapping[str, MeanMove]
    before: Evaluation
    after: Evaluation
    other_candidates: tuple[str, ...]


def compare_rankings(
    before: Mapping[str, Ranking],
    after: Mapping[str, Ranking],
    qrels: Mapping[str, Relevance],
    measures: Chosen,
    *,
    conventions: Conventions = DEFAULT,
    ignore_unlabelled: bool = False,
) -> Reranking:
    """Every measure of every labelled query before and after. Raises what `evaluate` raises.

    A ranking after that is shorter than before is a choice among the candidates, of that length.
    """
    chosen = measures_of(measures)
    first = evaluate(before, qrels, chosen, conventions=conventions, ignore_unlabelled=ignore_unlabelled)
    second = evaluate(after, qrels, chosen, conventions=conventions, ignore_unlabelled=ignore_unlabelled)
    queries: dict[str, dict[str, Move]] = {}
    others = []
    for query, relevance in qrels.items():
        labels = Labels(relevance, level=conventions.relevance_level)
        orders = _orders(ids_of(before.get(query, ())), ids_of(after.get(query, ())), labels)
        if orders is None:
            others.append(query)
        seen = [_seen(order, labels) for order in orders or ()]
        queries[query] = {
            str(measure): _move(measure, seen, first.queries[query][str(measure)], second.queries[query][str(measure)])
            for measure in chosen
        }
    means = {}
    for name, measure in zip(map(str, chosen), chosen, strict=True):
        gaps = [second.queries[query].gaps.get(name) or first.queries[query].gaps.get(name) for query in qrels]
        means[name] = _mean(measure, [moves[name] for moves in queries.values()], gaps)
    return Reranking(queries, means, first, second, tuple(others))


def _orders(before: Sequence[Any], after: Sequence[Any], labels: Labels) -> list[list[Any]] | None:
    """Orders of the candidates, as long as the ranking after, that differ in every measure that can differ.

    The best first, the worst first, and the best behind one bad item: where the ideal is taken from what was retrieved,
    only a list that mixes grades is below 1. None when the ranking after holds other items.
    """
    candidates = dict.fromkeys(before)
    if not candidates.keys() >= set(after):
        return None
    best = sorted(candidates, key=lambda one: -labels.grades.get(one, -inf))
    length = len(dict.fromkeys(after))
    return [order[:length] for order in (best, best[::-1], [*best[-1:], *best[:-1]])]


def _seen(order: Sequence[Any], labels: Labels) -> Seen:
    return Seen(order, labels, depth=None, duplicates="error", ties="stable")


def _move(measure: Measure, seen: Sequence[Seen], before: float | None, after: float | None) -> Move:
    values = [measure.of(one) for one in seen]
    numbers = [value for value in values if not isinstance(value, Gap)]
    if not seen:
        return Move(before, after, None, None)
    return Move(before, after, max(numbers, default=None), len(set(values)) > 1)


def _mean(measure: Measure, moves: Iterable[Move], gaps: Iterable[Gap | None]) -> MeanMove:
    defined = [(move, move.before, move.after) for move in moves]
    both = [(move, one, two) for move, one, two in defined if one is not None and two is not None]
    best = [move.best for move, _, _ in both if move.best is not None]
    best = best if len(best) == len(both) else []
    n = len(both)
    return MeanMove(
        measure=str(measure),
        name=measure.mean_name,
        before=fsum(one for _, one, _ in both) / n if n else None,
        after=fsum(two for _, _, two in both) / n if n else None,
        best=fsum(best) / n if best else None,
        n=n,
        can_move=sum(move.can_move is True for move, _, _ in both),
        pinned=sum(move.can_move is False for move, _, _ in both),
        open=sum(move.can_move is None for move, _, _ in both),
        rose=sum(two > one for _, one, two in both),
        fell=sum(two < one for _, one, two in both),
        undefined=dict(sorted(Counter(str(gap) for gap in gaps if gap is not None).items())),
        before_interval=interval_of_values([one for _, one, _ in both]),
        after_interval=interval_of_values([two for _, _, two in both]),
        best_interval=interval_of_values(best),
    )
