"""Several measures in one call: of one ranking, and of many with their means."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from types import MappingProxyType
from typing import Any, get_args

from judgekit.confidence import interval_of_values
from judgekit.records import Interval
from judgekit.retrieval.inputs import (
    Duplicates,
    Labels,
    Ranking,
    Relevance,
    Seen,
    Ties,
    UnusableType,
    UnusableValue,
    first_few,
)
from judgekit.retrieval.measure import Gap, Measure
from judgekit.retrieval.names import measures_of
from judgekit.retrieval.ranks import Bpref

Chosen = str | Measure | Iterable[str | Measure]


_NO_GAPS: Mapping[str, Gap] = MappingProxyType({})


@dataclass(frozen=True)
class Scores:
    """One ranking in numbers: measure name -> value in [0, 1], or None; `gaps` says why for each None.

    `repeated` is how often an id was ranked again.
    """

    values: Mapping[str, float | None]
    gaps: Mapping[str, Gap]
    repeated: int = 0

    def __getitem__(self, measure: str) -> float | None:
        """The value of a measure, by its name or a shorter one that means the same (`ndcg@5`)."""
        return self.values[measure if measure in self.values else str(measures_of(measure)[0])]


@dataclass(frozen=True)
class Mean:
    """The mean of one measure over `n` queries, and its interval; the others are counted in `undefined`, by reason.

    `name` is what the mean is called (`mrr@10`), `measure` what it is a mean of (`rr@10`).
    """

    measure: str
    name: str
    value: float | None
    n: int
    undefined: Mapping[str, int]
    interval: Interval


@dataclass(frozen=True)
class Evaluation:
    """Many rankings in numbers. `queries` is in the order of the labels.

    `missing`: labelled queries without a ranking; they were scored as empty rankings. `unlabelled`: rankings without
    labels; they are in no mean. `notes` say what makes a number mean less than it seems.
    """

    queries: Mapping[str, Scores]
    means: Mapping[str, Mean]
    missing: tuple[str, ...] = ()
    unlabelled: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def repeated(self) -> int:
        """How often, over all queries, an id was ranked again."""
        return sum(scores.repeated for scores in self.queries.values())


@dataclass(frozen=True, kw_only=True)
class Conventions:
    """How rankings and labels are read; part of what a number means.

    relevance_level: an item is relevant from this grade on; nDCG and ERR go by the grade alone. duplicates: a repeated
    id takes a `slot` in which nothing is found, is `drop`ped, or is an `error`. ties: equal scores keep the order given
    (`stable`), or go by larger id first (`trec`). zero_undefined: 0.0 where a value is undefined, as trec_eval has it.
    """

    relevance_level: float = 1
    duplicates: Duplicates = "slot"
    ties: Ties = "stable"
    zero_undefined: bool = False

    def __post_init__(self) -> None:
        for name, value, known in (("duplicates", self.duplicates, Duplicates), ("ties", self.ties, Ties)):
            if value not in get_args(known):
                raise UnusableValue(f"{name}={value!r} is not known; choose from: {', '.join(get_args(known))}")
        level: object = self.relevance_level
        if isinstance(level, bool) or not isinstance(level, int | float) or level != level:  # noqa: PLR0124  NaN
            raise UnusableValue(f"relevance_level={level!r} is no grade to start at; give a number")


#: The rules of every number, unless told otherwise.
DEFAULT = Conventions()


def score_ranking(
    ranking: Ranking, relevance: Relevance, measures: Chosen, *, conventions: Conventions = DEFAULT
) -> Scores:
    """The measures of one ranking.

    Raises InputError (UnusableValue, UnusableType among them) for anything that would be counted wrongly.
    """
    chosen = measures_of(measures)
    labels = Labels(relevance, level=conventions.relevance_level)
    return _Plan(chosen, conventions).score(ranking, labels)


def evaluate(
    runs: Mapping[str, Ranking],
    qrels: Mapping[str, Relevance],
    measures: Chosen,
    *,
    conventions: Conventions = DEFAULT,
    ignore_unlabelled: bool = False,
) -> Evaluation:
    """The measures of every query of `qrels`, and their means over the queries that have a value.

    A labelled query without a ranking counts as an empty one. A ranking without labels raises UnusableValue, unless
    `ignore_unlabelled`; so does an empty `qrels`. Errors name the query.
    """
    plan = _Plan(measures_of(measures), conventions)
    for what, given in (("runs", runs), ("qrels", qrels)):
        if not isinstance(given, Mapping):
            raise UnusableType(f"{what} is a {type(given).__name__}; give a mapping of query to its ranking or labels")
    if not qrels:
        raise UnusableValue("no query has labels; give relevance for at least one")
    unlabelled = tuple(query for query in runs if query not in qrels)
    if unlabelled and not ignore_unlabelled:
        few = first_few(unlabelled, of=len(unlabelled))
        raise UnusableValue(f"rankings without labels: {few}; label them, or ask to leave them out (ignore unlabelled)")
    queries: dict[str, Scores] = {}
    nonrelevant = 0
    for query, relevance in qrels.items():
        try:
            labels = Labels(relevance, level=conventions.relevance_level)
            queries[query] = plan.score(runs.get(query, ()), labels)
        except (UnusableValue, UnusableType) as error:
            raise type(error)(f"query {query!r}: {error}") from None
        if plan.has_bpref:
            nonrelevant += labels.nonrelevant
    return Evaluation(
        queries=queries,
        means={str(measure): mean_of(measure, queries.values()) for measure in plan.measures},
        missing=tuple(query for query in qrels if query not in runs),
        unlabelled=unlabelled,
        notes=notes_on(plan.measures, nonrelevant=nonrelevant),
    )


def mean_of(measure: Measure, scores: Iterable[Scores], *, clusters: Sequence[Hashable] | None = None) -> Mean:
    """The mean of one measure over scores that hold it; the order of the scores does not matter, to the last bit.

    `clusters` names what each of the scores belongs to, where they are no units of their own.
    """
    name = str(measure)
    values = [(one.values[name], one.gaps.get(name)) for one in scores]
    return mean_of_values(values, measure=name, name=measure.mean_name, clusters=clusters)


def mean_of_values(
    values: Sequence[tuple[float | None, str | None]],
    *,
    measure: str,
    name: str,
    clusters: Sequence[Hashable] | None = None,
) -> Mean:
    """The mean of values, each of which is None with the reason why; `clusters` as in `mean_of`."""
    defined = [value for value, _ in values if value is not None]
    undefined = Counter(str(reason) for value, reason in values if value is None)
    units = [unit for unit, (value, _) in zip(clusters, values, strict=True) if value is not None] if clusters else None
    mean = fsum(defined) / len(defined) if defined else None
    interval = interval_of_values(defined, clusters=units)
    return Mean(measure, name, mean, len(defined), dict(sorted(undefined.items())), interval)


def notes_on(measures: Iterable[Measure], *, nonrelevant: int) -> tuple[str, ...]:
    """What to say beside the means, given how many items were judged not relevant in all queries together."""
    if nonrelevant or not any(isinstance(measure, Bpref) for measure in measures):
        return ()
    return ("bpref: no query has an item that was judged not relevant, so bpref is recall",)


class _Plan:
    """Measures made ready for many rankings: how deep to look, and what to call."""

    def __init__(self, measures: Sequence[Measure], conventions: Conventions) -> None:
        self.measures = measures
        self._calls = [(str(measure), measure.of) for measure in measures]
        depths = [measure.depth for measure in measures]
        self._options: dict[str, Any] = {
            "depth": None if None in depths else max(depth for depth in depths if depth is not None),
            "duplicates": conventions.duplicates,
            "ties": conventions.ties,
        }
        self._zero = conventions.zero_undefined
        self.has_bpref = any(isinstance(measure, Bpref) for measure in measures)

    def score(self, ranking: Ranking, labels: Labels) -> Scores:
        seen = Seen(ranking, labels, **self._options)
        values: dict[str, float | None] = {}
        gaps = _NO_GAPS
        for name, of in self._calls:
            value = of(seen)
            if not isinstance(value, Gap):
                values[name] = value
            elif self._zero:
                values[name] = 0.0
            else:
                values[name] = None
                gaps = {**gaps, name: value}
        return Scores(values, gaps, seen.repeated)
