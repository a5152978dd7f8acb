"""Measures of retrieval from labels, with no judge: pure functions over rankings and over logged samples."""

from judgekit.retrieval.chunks import ChunkContainment, DuplicateContexts, chunk_containment, duplicate_contexts
from judgekit.retrieval.evaluate import Conventions, Evaluation, Mean, Scores, evaluate, score_ranking
from judgekit.retrieval.facts import (
    FactCoverage,
    PassRate,
    StaleFact,
    coverage_pass_rate,
    fact_coverage,
    stale_facts,
)
from judgekit.retrieval.inputs import UnusableType, UnusableValue
from judgekit.retrieval.judged import judged_sample
from judgekit.retrieval.logged import RowScores, score_sample, union_of
from judgekit.retrieval.measure import Gap, Measure
from judgekit.retrieval.names import MEASURES, measures_of
from judgekit.retrieval.rerank import MeanMove, Move, Reranking, compare_rankings
from judgekit.retrieval.ties import Spread, tie_spread

__all__ = [
    "MEASURES",
    "ChunkContainment",
    "Conventions",
    "DuplicateContexts",
    "Evaluation",
    "FactCoverage",
    "Gap",
    "Mean",
    "MeanMove",
    "Measure",
    "Move",
    "PassRate",
    "Reranking",
    "RowScores",
    "Scores",
    "Spread",
    "StaleFact",
    "UnusableType",
    "UnusableValue",
    "chunk_containment",
    "compare_rankings",
    "coverage_pass_rate",
    "duplicate_contexts",
    "evaluate",
    "fact_coverage",
    "judged_sample",
    "measures_of",
    "score_ranking",
    "score_sample",
    "stale_facts",
    "tie_spread",
    "union_of",
]
