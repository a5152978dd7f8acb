"""What was counted: scores, results, and a run in numbers."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from math import fsum

from judgekit.records.base import Record
from judgekit.records.judged import Case, Fault, Label, Verdict
from judgekit.records.taken_apart import Claim


class Reason(StrEnum):
    """Why a score has no value."""

    NO_REFERENCE = "no_reference"
    NO_CONTEXTS = "no_contexts"
    NO_CLAIMS = "no_claims"
    NO_CITATIONS = "no_citations"
    NO_LABELS = "no_labels"
    NO_ANSWER = "no_answer"
    NO_ENTITIES = "no_entities"
    NOTHING_RECALLED = "nothing_recalled"
    REFUSED = "refused"
    UNJUDGED = "unjudged"
    UNSPLIT = "unsplit"


class Score(Record):
    """The value of one metric for one sample, in [0, 1], or None with a reason.

    `numerator`/`denominator` are what was counted (also when the value is None because verdicts are missing);
    `judged` of the denominator's items have a verdict, and `low`/`high` bound what the missing ones leave open.
    `basis` names the checks or subjects it came from; `label` a class where a metric sorts rather than counts.
    """

    metric: str
    value: float | None
    reason: Reason | None = None
    numerator: float | None = None
    denominator: float | None = None
    judged: int | None = None
    low: float | None = None
    high: float | None = None
    label: str | None = None
    note: str | None = None
    basis: tuple[str, ...] = ()

    @classmethod
    def undefined(cls, metric: str, reason: Reason, *, note: str | None = None) -> Score:
        return cls(metric=metric, value=None, reason=reason, note=note)

    @classmethod
    def share(
        cls, metric: str, marks: Iterable[float | None], *, basis: Iterable[str] = (), note: str | None = None
    ) -> Score:
        """Mean of marks in [0, 1], where None is a missing verdict: then no value, but its bounds.

        The caller has dealt with the empty case: an empty list raises ValueError.
        """
        listed = list(marks)
        if not listed:
            raise ValueError(f"{metric}: a share of nothing; return Score.undefined with the reason instead")
        known = [mark for mark in listed if mark is not None]
        missing, total = len(listed) - len(known), fsum(known)
        return cls(
            metric=metric,
            value=None if missing else total / len(listed),
            reason=Reason.UNJUDGED if missing else None,
            numerator=total,
            denominator=len(listed),
            judged=len(known),
            low=total / len(listed),
            high=(total + missing) / len(listed),
            note=note,
            basis=tuple(basis),
        )


class JudgeCall(Record):
    """One judge call that a result rests on, whether paid now or earlier.

    `task` is the kind of question it asked, `part` the part of the judge that answered.
    """

    key: str
    task: str
    part: str = "extractor"
    prompt_tokens: int = 0
    completion_tokens: int = 0


class Usage(Record):
    """Judge calls (each distinct call once) and their tokens, whether paid now or earlier.

    `cost` is what they cost, or did when they were paid, at the prices given; None where it is not known.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None

    @classmethod
    def of(cls, calls: Iterable[JudgeCall]) -> Usage:
        listed = list(calls)
        return cls(
            calls=len(listed),
            prompt_tokens=sum(call.prompt_tokens for call in listed),
            completion_tokens=sum(call.completion_tokens for call in listed),
        )


class Result(Record):
    """One row of a run: the case, its scores, the calls they rest on, and what went wrong on the way."""

    case: Case
    scores: tuple[Score, ...] = ()
    usage: Usage = Usage()
    calls: tuple[JudgeCall, ...] = ()
    faults: tuple[Fault, ...] = ()

    @property
    def is_finished(self) -> bool:
        """False when something about the row failed, so that asking again may mend it."""
        case = self.case
        unjudged = any(verdict.label is Label.UNJUDGED for verdict in case.verdicts)
        return not (self.faults or case.unsplit or unjudged or any(rating.label is None for rating in case.ratings))

    @property
    def id(self) -> str:
        return self.case.sample.id

    @property
    def claims(self) -> tuple[Claim, ...]:
        return self.case.claims

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        return self.case.verdicts

    def __getitem__(self, metric: str) -> Score:
        for score in self.scores:
            if score.metric == metric:
                return score
        raise KeyError(f"no score {metric!r}; this result has: {', '.join(s.metric for s in self.scores)}")


class Interval(Record):
    """How sure a mean is, given the judge: [low, high] at that confidence, or None with the reason why not.

    `clusters` is the number of independent units (samples, or groups of them), `small` says that there are fewer than
    20; `n_eff` is how many independent verdicts would be as informative.
    """

    low: float | None = None
    high: float | None = None
    n_eff: float | None = None
    clusters: int
    confidence: float
    small: bool
    reason: str | None = None


class MetricSummary(Record):
    """One metric over a run. `macro`: mean of the defined values; `micro`: pooled numerators / denominators.

    Each has its interval, which says why when there is none. `usage` is what the metric would take alone, `own` the
    part of it that no other metric of the run rests on.
    """

    metric: str
    macro: float | None
    micro: float | None
    scored: int
    undefined: dict[str, int]
    macro_interval: Interval
    micro_interval: Interval
    lower_is_better: bool = False
    labels: dict[str, int] = {}
    usage: Usage = Usage()
    own: Usage = Usage()


class Summary(Record):
    """A whole run in numbers. `causes` counts unjudged verdicts and ratings by cause, `faults` by stage and cause.

    `cluster_by` is the metadata key whose values the intervals take as clusters, `clusters` how many there are, and
    `ungrouped` the rows without it: each is a cluster of its own.
    """

    rows: int
    metrics: tuple[MetricSummary, ...]
    verdicts: dict[str, int]
    unjudged: int
    judged: int
    causes: dict[str, int]
    faults: dict[str, int]
    evidence_quoted: int = 0
    evidence_verified: int = 0
    dangling: int = 0
    invented_claims: int = 0
    usage: Usage = Usage()
    usage_by_task: dict[str, Usage] = {}
    cluster_by: str | None = None
    clusters: int | None = None
    ungrouped: int = 0

    def __getitem__(self, metric: str) -> MetricSummary:
        for found in self.metrics:
            if found.metric == metric:
                return found
        raise KeyError(f"no metric {metric!r}; this run has: {', '.join(m.metric for m in self.metrics)}")
