"""One run's calibration carried to another: what may be said of a run that nobody reviewed, and when nothing may.

Rogan and Gladen's estimate leans on what a draw of one's own does not: that the judge errs here as it erred there. So
it is made only where the metric has the same pin in both runs, from labels that were given blind, and enough of them
of either kind; else it is refused, with the reason.
"""

from __future__ import annotations

from collections import defaultdict
from math import fsum
from typing import NamedTuple

from judgekit.confidence import CONFIDENCE
from judgekit.humans.checked import Share
from judgekit.records import Label, MetricPin, MetricSummary, Record
from judgekit.stats import rogan_gladen

#: With fewer labels of a kind than this the judge's error rate on it is hardly known.
FEWEST = 20


class Transferred(Record):
    """A metric's pooled score in this run, corrected by the judge's errors in another; None with a `reason` if refused.

    `sensitivity` is the share of what counts that the judge counted there, `specificity` of the rest that it did not;
    `positives` and `negatives` are the labels behind the two.
    """

    metric: str
    raw: float | None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    sensitivity: float | None = None
    specificity: float | None = None
    positives: int = 0
    negatives: int = 0
    reason: str | None = None


class _Errors(NamedTuple):
    """A rate over labelled units of unequal weight, how many there are, and how many equal ones they are worth."""

    rate: float
    labels: int
    worth: float


def transferred(
    here: Share, raw: MetricSummary, there: Share, *, pins: tuple[MetricPin, MetricPin], conf: float = CONFIDENCE
) -> Transferred:
    """The pooled score `here`, from the judge's verdicts here and its errors `there`. `pins`: of here and there."""
    if refusal := _refusal(there, pins):
        return Transferred(metric=here.metric, raw=raw.micro, reason=refusal)
    positive, negative = (_errors(there, truth=truth) for truth in (1.0, 0.0))
    few = min((positive, negative), key=lambda found: found.labels)
    if few.labels < FEWEST:
        kind = "count" if few is positive else "do not count"
        reason = f"only {few.labels} of the labelled checks {kind}; it takes {FEWEST} of either kind"
        return Transferred(metric=here.metric, raw=raw.micro, reason=reason)
    checks = sum(item.times for item in here.items)
    if not checks:
        return Transferred(metric=here.metric, raw=raw.micro, reason="no check of it was judged here")
    counted = fsum(item.times * here.judge(item.unit) for item in here.items)
    spread = raw.micro_interval.n_eff or here.whole  # of so many independent verdicts: rows are clusters of checks
    found = rogan_gladen(
        p=counted / checks,
        sens=positive.rate,
        spec=1 - negative.rate,
        n=max(1, round(checks * min(1.0, spread / here.whole))),
        m_pos=max(1, round(positive.worth)),
        m_neg=max(1, round(negative.worth)),
        conf=conf,
    )
    fixed = fsum(one.part for one in here.fixed)
    value, low, high = (
        None if one is None else (fixed + one * checks) / here.whole for one in (found.estimate, found.lo, found.hi)
    )
    return Transferred(
        metric=here.metric,
        raw=raw.micro,
        value=value,
        low=low,
        high=high,
        sensitivity=positive.rate,
        specificity=1 - negative.rate,
        positives=positive.labels,
        negatives=negative.labels,
        reason=found.reason,
    )


def _refusal(there: Share, pins: tuple[MetricPin, MetricPin]) -> str | None:
    """Why the errors there say nothing about here; None when they may."""
    if (pins[0].pin, pins[0].version) != (pins[1].pin, pins[1].version):
        return "the metric has another pin there: another judge, prompt or option may err otherwise"
    if {there.worth(label) for label in Label if label is not Label.UNJUDGED} != {0.0, 1.0}:
        return "partial support counts in part, so there is no one rate of errors"
    if there.outside:
        return "the other run was not drawn for it"
    labelled = [item.unit for item in there.items if there.human(item.unit) is not None]
    if any(unit.assisted for unit in labelled):
        return "some labels were given with the judge's verdict in view"
    return None if labelled else "the other run has no label for it"


def _errors(there: Share, *, truth: float) -> _Errors:
    """How often the judge counts a check, among those of which the human's label is worth `truth`."""
    sizes: dict[str, int] = defaultdict(int)
    labels: dict[str, int] = defaultdict(int)
    for item in there.items:
        sizes[item.unit.stratum] += 1
        labels[item.unit.stratum] += there.human(item.unit) is not None
    found = [
        (sizes[item.unit.stratum] / labels[item.unit.stratum], there.judge(item.unit))
        for item in there.items
        if there.human(item.unit) == truth
    ]
    whole = fsum(weight for weight, _ in found)
    if not whole:
        return _Errors(0.0, 0, 0.0)
    rate = fsum(weight * counted for weight, counted in found) / whole
    return _Errors(min(1.0, rate), len(found), whole**2 / fsum(weight**2 for weight, _ in found))
