"""Scores of one case, and the means and counts of a whole run in one pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction

from judgekit.metrics import Metric
from judgekit.records import Case, Label, MetricSummary, Result, Score, Summary, Usage

#: Counted among a metric's undefined rows when a result holds no score of it at all.
NOT_SCORED = "not_scored"


def score_case(case: Case, metrics: Iterable[Metric]) -> tuple[Score, ...]:
    """One score a metric, in the order of the metrics; each depends on the case alone."""
    return tuple(metric.score(case) for metric in metrics)


def summarize(results: Iterable[Result], metrics: Iterable[Metric]) -> Summary:
    """A run in numbers, from one pass over its results; memory does not grow with them.

    For each metric, `scored` and the `undefined` counts (by reason, `unjudged` among them) add up to the rows.
    Macro is the mean of the defined values; micro the sum of their numerators over the sum of their denominators.
    Both are None when nothing is defined, micro also when nothing was counted. The order of the results does not
    matter, to the last bit.
    """
    tallies = [_Tally(metric) for metric in metrics]
    counts = _Counts()
    for result in results:
        counts.add(result)
        scores = {score.metric: score for score in result.scores}
        for tally in tallies:
            tally.add(scores.get(tally.metric.name))
    return counts.summary(tuple(tally.summary() for tally in tallies))


class _Tally:
    """Running sums of one metric, as fractions: exact in any order, and no list is kept as `fsum` would need."""

    def __init__(self, metric: Metric) -> None:
        self.metric = metric
        self.scored = 0
        self.values = self.numerators = self.denominators = Fraction()
        self.undefined: Counter[str] = Counter()
        self.labels: Counter[str] = Counter()

    def add(self, score: Score | None) -> None:
        if score is None or score.value is None:
            self.undefined[score.reason or NOT_SCORED if score else NOT_SCORED] += 1
            return
        self.scored += 1
        self.values += Fraction(score.value)
        if score.numerator is not None and score.denominator is not None:
            self.numerators += Fraction(score.numerator)
            self.denominators += Fraction(score.denominator)
        if score.label is not None:
            self.labels[score.label] += 1

    def summary(self) -> MetricSummary:
        return MetricSummary(
            metric=self.metric.name,
            macro=float(self.values / self.scored) if self.scored else None,
            micro=float(self.numerators / self.denominators) if self.denominators else None,
            scored=self.scored,
            undefined=_in_order(self.undefined),
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
