"""Scores of one case, and the means and counts of a whole run in one pass."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping

from judgekit.confidence import CONFIDENCE, interval_of
from judgekit.errors import InputError
from judgekit.metrics import Metric
from judgekit.records import Case, Label, MetricSummary, Result, Score, Summary, Usage
from judgekit.scoring.spending import Spending
from judgekit.stats import Mean, RunningRatio

#: Counted among a metric's undefined rows when a result holds no score of it at all.
NOT_SCORED = "not_scored"
#: Why a metric of one's own has no pooled mean: a numerator lies outside [0, its denominator].
NO_SHARES = "counts are no shares"
_NAMED_KEYS = 8


def score_case(case: Case, metrics: Iterable[Metric]) -> tuple[Score, ...]:
    """One score a metric, in the order of the metrics; each depends on the case alone."""
    return tuple(metric.score(case) for metric in metrics)


def summarize(
    results: Iterable[Result],
    metrics: Iterable[Metric],
    *,
    cluster_by: str | None = None,
    prices: Mapping[str, tuple[float, float]] | None = None,
) -> Summary:
    """A run in numbers, from one pass over its results; memory does not grow with them.

    For each metric, `scored` and the `undefined` counts (by reason, `unjudged` among them) add up to the rows.
    Macro is the mean of the defined values; micro the sum of their numerators over the sum of their denominators.
    Both are None when nothing is defined, micro also when nothing was counted. Each has a 95 % interval in which a
    row, or all rows with the same value of the metadata key `cluster_by`, count as one unit; memory grows with the
    number of these values. The order of the results does not matter, to the last bit. `prices` say what a million
    prompt and completion tokens of each part of the judge cost.
    Raises InputError when no row has that key, or a value lies outside [0, 1].
    """
    clusters = _Clusters(cluster_by)
    metrics = list(metrics)
    spending = Spending(metrics, prices or {})
    tallies = [_Tally(metric, unit=clusters.unit) for metric in metrics]
    counts = _Counts()
    for result in results:
        counts.add(result)
        spending.add(result)
        cluster = clusters.of(result)
        scores = {score.metric: score for score in result.scores}
        for tally in tallies:
            tally.add(scores.get(tally.metric.name), cluster)
    found = (tally.summary() for tally in tallies)
    taken = ((one, spending.of(one.metric), spending.own_of(one.metric)) for one in found)
    summary = counts.summary(tuple(one.having(usage=usage, own=own) for one, usage, own in taken))
    usage = summary.usage.having(cost=spending.together.cost)
    summary = summary.having(usage=usage, usage_by_task=spending.by_task)
    return clusters.noted(summary)


class _Clusters:
    """Which rows belong together: those with the same value of a metadata key. Without a key, each stands alone."""

    def __init__(self, key: str | None) -> None:
        self.key = key
        self.unit = "samples" if key is None else f"values of {key}"
        self._seen: set[str] = set()
        self._other_keys: set[str] = set()
        self._ungrouped = 0

    def of(self, result: Result) -> str | None:
        """The cluster of a row; None when it is one of its own."""
        if self.key is None:
            return None
        metadata = result.case.sample.metadata
        value = metadata.get(self.key)
        if value is None:
            self._ungrouped += 1
            self._other_keys.update(metadata)
            return None
        cluster = json.dumps(value, sort_keys=True)
        self._seen.add(cluster)
        return cluster

    def noted(self, summary: Summary) -> Summary:
        """The summary with the clusters that its intervals rest on."""
        if self.key is None:
            return summary
        if summary.rows and not self._seen:
            there = ", ".join(sorted(self._other_keys)[:_NAMED_KEYS]) or "none"
            raise InputError(f"cluster by {self.key!r}: no row has it in its metadata; its keys there are: {there}")
        return summary.having(
            cluster_by=self.key, clusters=len(self._seen) + self._ungrouped, ungrouped=self._ungrouped
        )


class _Tally:
    """Running sums of one metric; exact, so that any order gives the same, and no list is kept as `fsum` would need."""

    def __init__(self, metric: Metric, *, unit: str) -> None:
        self.metric = metric
        self.scored = 0
        self.undefined: Counter[str] = Counter()
        self.labels: Counter[str] = Counter()
        self._unit = unit
        self._macro, self._micro = RunningRatio(), RunningRatio()
        self._verdicts = 0.0
        self._all_binary = self._all_shares = True

    def add(self, score: Score | None, cluster: str | None) -> None:
        if score is None or score.value is None:
            self.undefined[score.reason or NOT_SCORED if score else NOT_SCORED] += 1
            return
        self.scored += 1
        try:
            self._macro.add(score.value, cluster=cluster)
        except InputError:
            raise InputError(f"metric {score.metric!r} has the value {score.value!r}, outside [0, 1]") from None
        self._count(score.numerator, score.denominator, cluster)
        if score.label is not None:
            self.labels[score.label] += 1

    def _count(self, numerator: float | None, denominator: float | None, cluster: str | None) -> None:
        if numerator is None or denominator is None:
            self._all_binary = False
            return
        self._all_binary &= numerator % 1 == denominator % 1 == 0
        self._verdicts += denominator
        try:
            self._micro.add(numerator, denominator, cluster=cluster)
        except InputError:
            self._all_binary = self._all_shares = False

    def summary(self) -> MetricSummary:
        # whole counts are verdicts of yes or no: together they say no more than as many independent ones
        cap = self._verdicts if self._all_binary and self._verdicts else None
        macro, micro = (sums.mean(conf=CONFIDENCE, cap=cap) for sums in (self._macro, self._micro))
        if not self._all_shares:
            micro = Mean(estimate=None, clusters=0, reason=NO_SHARES)
        return MetricSummary(
            metric=self.metric.name,
            macro=macro.estimate,
            micro=micro.estimate,
            scored=self.scored,
            undefined=_in_order(self.undefined),
            macro_interval=interval_of(macro, unit=self._unit),
            micro_interval=interval_of(micro, unit=self._unit),
            lower_is_better=self.metric.lower_is_better,
            labels=_in_order(self.labels),
        )


class _Counts:
    """Running counts of everything that is no metric's own."""

    def __init__(self) -> None:
        self.rows = self.judged = self.unjudged = self.quoted = self.verified = self.dangling = self.invented = 0
        self.calls = self.prompt_tokens = self.completion_tokens = 0
        self.verdicts: Counter[str] = Counter()
        self.causes: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()

    def add(self, result: Result) -> None:
        case = result.case
        self.rows += 1
        for verdict in case.verdicts:
            self.verdicts[verdict.label] += 1
            quotes = [evidence for evidence in verdict.evidence if not evidence.aligned]
            self.quoted += len(quotes)
            self.verified += sum(quote.verified for quote in quotes)
            self._outcome(judged=verdict.label is not Label.UNJUDGED, cause=verdict.cause)
        for rating in case.ratings:
            self._outcome(judged=rating.label is not None, cause=rating.cause)
        self.faults.update(f"{fault.stage}: {fault.cause}" for fault in result.faults)
        self.dangling += sum(len(claim.dangling) for claim in case.claims)
        self.invented += len(case.invented_claims)
        self.calls += result.usage.calls
        self.prompt_tokens += result.usage.prompt_tokens
        self.completion_tokens += result.usage.completion_tokens

    def _outcome(self, *, judged: bool, cause: str | None) -> None:
        self.judged += judged
        if not judged:
            self.unjudged += 1
            self.causes[cause or "unknown"] += 1

    def summary(self, metrics: tuple[MetricSummary, ...]) -> Summary:
        return Summary(
            rows=self.rows,
            metrics=metrics,
            verdicts=_in_order(self.verdicts),
            judged=self.judged,
            unjudged=self.unjudged,
            causes=_in_order(self.causes),
            faults=_in_order(self.faults),
            evidence_quoted=self.quoted,
            evidence_verified=self.verified,
            dangling=self.dangling,
            invented_claims=self.invented,
            usage=Usage(calls=self.calls, prompt_tokens=self.prompt_tokens, completion_tokens=self.completion_tokens),
        )


def _in_order(counts: Counter[str]) -> dict[str, int]:
    """By name, so that the same counts are the same bytes whatever came first."""
    return {str(name): counts[name] for name in sorted(counts)}
