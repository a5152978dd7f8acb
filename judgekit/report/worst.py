"""Which rows are worth reading first."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from math import fsum

from judgekit.metrics import Metric
from judgekit.records import Reason, Result

_HEADLINE = "faithfulness"


def worst_rows(results: Iterable[Result], metrics: Iterable[Metric], n: int) -> list[Result]:
    """At most n rows with the worst scores, the worst first, then at most n failed rows (`is_failed`) as they came.

    Rows are ordered by faithfulness, then by their lowest score, then by the mean of their scores; where lower is
    better, 1 - value counts, and a row whose faithfulness is undefined stands with the faithful ones. Scores that sort
    rather than count (they carry a label) are no part of it, and a row without a flaw is left out.
    One pass; memory grows with n alone.
    """
    turned = {metric.name for metric in metrics if metric.lower_is_better}
    worst: list[tuple[float, float, float, int, Result]] = []
    failed: list[Result] = []
    for place, result in enumerate(results):
        if is_failed(result):
            failed += [result] if len(failed) < n else []
            continue
        merits = _merits(result, turned)
        lowest = min(merits.values(), default=1.0)
        if n < 1 or lowest >= 1:
            continue
        mean = fsum(merits.values()) / len(merits)
        # negated, so that the heap's first is the best of the worst: the one to give way
        entry = (-merits.get(_HEADLINE, 1.0), -lowest, -mean, -place, result)
        if len(worst) < n:
            heapq.heappush(worst, entry)
        else:
            heapq.heappushpop(worst, entry)
    return [entry[-1] for entry in sorted(worst, key=lambda entry: entry[:-1], reverse=True)] + failed


def is_failed(result: Result) -> bool:
    """True when something went wrong on the way of a row, or nothing but missing verdicts kept it from any value."""
    valueless = all(score.value is None for score in result.scores)
    unjudged = any(score.reason is Reason.UNJUDGED for score in result.scores)
    return bool(result.faults) or (valueless and unjudged)


def _merits(result: Result, turned: set[str]) -> dict[str, float]:
    """Metric -> value, all in the direction in which higher is better."""
    return {
        score.metric: 1 - score.value if score.metric in turned else score.value
        for score in result.scores
        if score.value is not None and score.label is None
    }
