"""The metrics by name, and how to choose some."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from types import MappingProxyType

from judgekit.errors import InputError
from judgekit.metrics.answer_correctness import AnswerCorrectness, AnswerPrecision, AnswerRecall
from judgekit.metrics.answer_relevance import AnswerRelevance
from judgekit.metrics.answer_relevance_embedding import AnswerRelevanceEmbedding
from judgekit.metrics.attribution import (
    ATTRIBUTION,
    ChunkAttribution,
    ClaimRecall,
    ContextUtilisation,
    Hallucination,
    MatrixFaithfulness,
    NoiseSensitivityIrrelevant,
    NoiseSensitivityRelevant,
    SelfKnowledge,
)
from judgekit.metrics.base import Metric
from judgekit.metrics.citation_alce import CitationPrecision, CitationRecall
from judgekit.metrics.citation_precision_graded import CitationPrecisionGraded
from judgekit.metrics.citation_support import CitationSupport, CitationSupportWeighted
from judgekit.metrics.context_entity_recall import ContextEntityRecall
from judgekit.metrics.context_recall import ContextRecall
from judgekit.metrics.context_sufficiency import ContextSufficiency
from judgekit.metrics.contradiction_rate import ContradictionRate
from judgekit.metrics.faithfulness import Faithfulness
from judgekit.metrics.refusal import Refusal
from judgekit.metrics.relevance import ContextPrecision, ContextPrecisionByAnswer, ContextRelevance
from judgekit.metrics.rubric import Rubric
from judgekit.metrics.uncited_claim_rate import UncitedClaimRate

__all__ = [
    "FAMILIES",
    "METRICS",
    "REFERENCE_FREE",
    "AnswerCorrectness",
    "AnswerPrecision",
    "AnswerRecall",
    "AnswerRelevance",
    "AnswerRelevanceEmbedding",
    "ChunkAttribution",
    "CitationPrecision",
    "CitationPrecisionGraded",
    "CitationRecall",
    "CitationSupport",
    "CitationSupportWeighted",
    "ClaimRecall",
    "ContextEntityRecall",
    "ContextPrecision",
    "ContextPrecisionByAnswer",
    "ContextRecall",
    "ContextRelevance",
    "ContextSufficiency",
    "ContextUtilisation",
    "ContradictionRate",
    "Faithfulness",
    "Hallucination",
    "MatrixFaithfulness",
    "Metric",
    "NoiseSensitivityIrrelevant",
    "NoiseSensitivityRelevant",
    "Refusal",
    "Rubric",
    "SelfKnowledge",
    "UncitedClaimRate",
    "metrics_of",
]

_IN_READING_ORDER: tuple[Metric, ...] = (
    Faithfulness(),
    ContradictionRate(),
    CitationSupport(),
    CitationSupportWeighted(),
    CitationRecall(),
    CitationPrecision(),
    CitationPrecisionGraded(),
    UncitedClaimRate(),
    ContextRecall(),
    ContextEntityRecall(),
    ContextPrecision(),
    ContextPrecisionByAnswer(),
    ContextRelevance(),
    ContextSufficiency(),
    AnswerRelevance(),
    AnswerRelevanceEmbedding(),
    AnswerCorrectness(),
    AnswerPrecision(),
    AnswerRecall(),
    Refusal(),
    *ATTRIBUTION,
)

#: Name -> metric with its default options, in the order in which a report reads best.
METRICS: Mapping[str, Metric] = MappingProxyType({metric.name: metric for metric in _IN_READING_ORDER})

#: Name -> the metrics it stands for, where metrics are chosen by name.
FAMILIES: Mapping[str, tuple[Metric, ...]] = MappingProxyType({"attribution": ATTRIBUTION})

#: The default choice: what can be judged without a reference.
REFERENCE_FREE: tuple[str, ...] = (
    "faithfulness",
    "citation_support",
    "context_precision",
    "context_relevance",
    "answer_relevance",
)


def metrics_of(chosen: str | Metric | Iterable[str | Metric]) -> tuple[Metric, ...]:
    """The metrics of names or objects, in the order given; the same one twice counts once, a family is all of its own.

    InputError: an unknown name (with the nearest one and the list), something that is no metric, two different
    metrics under one name, or nothing at all.
    """
    found: dict[str, Metric] = {}
    for one in (chosen,) if isinstance(chosen, str | Metric) else chosen:
        for metric in _metrics_of(one):
            if found.setdefault(metric.name, metric) != metric:
                raise InputError(f"two different metrics are named {metric.name!r}; give one of them another name")
    if not found:
        raise InputError(f"no metric chosen; choose from: {', '.join(METRICS)}")
    return tuple(found.values())


def _metrics_of(one: object) -> tuple[Metric, ...]:
    if isinstance(one, Rubric) and one.name in {*METRICS, *FAMILIES}:
        raise InputError(f"a rubric cannot be named {one.name!r}: that is a metric of judgekit; give it another name")
    if isinstance(one, Metric):
        return (one,)
    if not isinstance(one, str):
        shown = f"the class {one.__name__}; pass an object: {one.__name__}()" if isinstance(one, type) else repr(one)
        raise InputError(f"not a metric: {shown}")
    if one in METRICS:
        return (METRICS[one],)
    if one in FAMILIES:
        return FAMILIES[one]
    known = (*METRICS, *FAMILIES)
    near = get_close_matches(one.strip().casefold().replace("-", "_").replace(" ", "_"), known, n=1)
    meant = f"did you mean {near[0]!r}? " if near else ""
    raise InputError(f"unknown metric {one!r}; {meant}there are: {', '.join(known)}")
