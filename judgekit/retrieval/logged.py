"""Logged samples as rankings: the contexts in their order, every retrieval call, and the union of the calls."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from judgekit.records import Context, Sample
from judgekit.retrieval.chunks import DuplicateContexts, duplicate_contexts
from judgekit.retrieval.evaluate import DEFAULT, Chosen, Conventions, Mean, Scores, mean_of, score_ranking
from judgekit.retrieval.facts import FactCoverage, StaleFact, fact_coverage, stale_facts
from judgekit.retrieval.inputs import UnusableValue
from judgekit.retrieval.measure import Gap, Measure
from judgekit.retrieval.names import measures_of


@dataclass(frozen=True)
class RowScores:
    """One sample in numbers: its contexts, each retrieval call in order, and the union of the calls (None without).

    `coverage` holds the fact coverage at each cut-off asked for, by name; `stale` the facts found outdated only.
    """

    id: str
    contexts: Scores
    calls: tuple[Scores, ...]
    union: Scores | None
    coverage: Mapping[str, FactCoverage]
    stale: tuple[StaleFact, ...]
    duplicates: DuplicateContexts


def score_sample(
    sample: Sample,
    measures: Chosen,
    *,
    conventions: Conventions = DEFAULT,
    fact_cuts: Iterable[int | None] = (None,),
    current: Mapping[str, str] | None = None,
    unlabelled: Gap = Gap.NO_LABELS,
) -> RowScores:
    """The measures of everything that was retrieved for a sample, each against the sample's one set of labels.

    Without labels every measure has the gap `unlabelled`; UnusableValue names the sample. `fact_cuts` are the k of fact
    coverage, `current` gives the current version of documents.
    """
    chosen = measures_of(measures) if measures else ()  # facts alone need none

    def scored(contexts: Iterable[Context]) -> Scores:
        if sample.relevance is None:
            return Scores(dict.fromkeys(map(str, chosen)), dict.fromkeys(map(str, chosen), unlabelled))
        ranking = [context.id for context in contexts]
        try:
            return score_ranking(ranking, sample.relevance, chosen, conventions=conventions)
        except UnusableValue as error:
            raise UnusableValue(f"row {sample.id!r}: {error}") from None

    return RowScores(
        id=sample.id,
        contexts=scored(sample.contexts),
        calls=tuple(scored(call.contexts) for call in sample.retrievals),
        union=scored(union_of(sample)) if sample.retrievals else None,
        coverage={f"fact_coverage{f'@{k}' if k else ''}": fact_coverage(sample, k=k) for k in fact_cuts},
        stale=stale_facts(sample, current=current),
        duplicates=duplicate_contexts(sample),
    )


def union_of(sample: Sample) -> tuple[Context, ...]:
    """What all retrieval calls of a sample found, in the order of the calls, each id once."""
    found: dict[str, Context] = {}
    for call in sample.retrievals:
        for context in call.contexts:
            found.setdefault(context.id, context)
    return tuple(found.values())


def means_of(
    measures: Sequence[Measure], scores: Sequence[Scores], *, clusters: Sequence[Hashable] | None = None
) -> dict[str, Mean]:
    """Measure name -> its mean over these scores."""
    return {str(measure): mean_of(measure, scores, clusters=clusters) for measure in measures}


def worst_first(scores: Mapping[str, Scores]) -> list[str]:
    """Ids, the lowest mean over their own values first; equal ones in the order given.

    Left out: what has no labels or grades, or nothing relevant, and so could not have done better.
    """
    means = {}
    for one, row in scores.items():
        values = [value for value in row.values.values() if value is not None]
        if values and not {Gap.NO_LABELS, Gap.UNJUDGED, Gap.NO_RELEVANT} & {*row.gaps.values()}:
            means[one] = sum(values) / len(values)
    return sorted(means, key=means.__getitem__)
