"""The judged checks of a run with what humans said of some, and what each of them counts in a metric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from math import fsum
from typing import NamedTuple

from judgekit.metrics import Metric
from judgekit.metrics.base import VerdictMetric
from judgekit.records import Case, Label, Verdict

#: Label -> what it adds to a metric's numerator; None where it says too little, or nothing.
Worth = Callable[[Label], float | None]

#: What a human may have meant who said no more than that a claim is not supported.
NOT_SUPPORTED = frozenset({Label.PARTIALLY_SUPPORTED, Label.UNSUPPORTED, Label.CONTRADICTED})

_DIGITS = 9

#: Why a drawn unit has no label for a metric, where the reviewer did answer: `not_supported` may mean either.
TOO_COARSE = "too_coarse"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """One judged check of a run. `stratum` is the one it was drawn in, or could have been.

    `human` holds the labels that the human's answer leaves possible, one where it is exact; None where there is none,
    and `unanswered` then says why, if the unit was drawn. `assisted`: the human saw the judge's verdict. `support` is
    the judge's probability of `supported`, where it gave one.
    """

    unit_id: str
    sample_id: str
    stratum: str
    judge: Label
    human: frozenset[Label] | None = None
    unanswered: str | None = None
    assisted: bool = False
    support: float | None = None

    @property
    def is_drawn(self) -> bool:
        return self.human is not None or self.unanswered is not None


def worth_to_human(worth: Worth, human: frozenset[Label] | None) -> float | None:
    """What a human's answer adds to the numerator; None without one, or where it leaves that open."""
    values = {worth(label) for label in human or ()}
    return values.pop() if len(values) == 1 else None


class Item(NamedTuple):
    """A check's place in a metric: it counts `times` among the `whole` that its sample's score divides by.

    The unit has the label that the metric sees, which a least probability may have turned.
    """

    unit: Checked
    times: int
    whole: float


class Fixed(NamedTuple):
    """What no verdict moves in one sample's score: `part` of `rest`, the part of the denominator without checks."""

    part: float
    rest: float
    whole: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A metric over a run, as a sum over checks: `items` of `rows` samples, and what is `fixed` in these.

    `whole` is all their denominators together. `left_out` counts the samples that have a denominator but lack a verdict
    for some check. `outside` counts the judged checks that were never in the draw: with any of them the metric was not
    drawn for, and cannot be corrected.
    """

    metric: str
    worth: Worth
    lower_is_better: bool
    items: tuple[Item, ...]
    fixed: tuple[Fixed, ...]
    rows: int
    whole: float
    left_out: int
    outside: int

    def human(self, unit: Checked) -> float | None:
        return worth_to_human(self.worth, unit.human)

    def judge(self, unit: Checked) -> float:
        """What the judge's verdict adds."""
        return self.worth(unit.judge) or 0.0


def is_share(metric: Metric) -> bool:
    """True when humans' labels of single checks can correct the metric: its numerator is a sum of verdicts."""
    return metric.worth(Label.SUPPORTED) is not None


#: (sample id, claim id, sources) -> the judged check of that name.
Units = Mapping[tuple[str, str, tuple[str, ...]], Checked]


def shares_of(metrics: Iterable[Metric], cases: Iterable[Case], units: Units) -> list[Share]:
    """The share of each metric in the run, from one pass over its cases.

    Samples without a denominator (undefined) are no part of it. A verdict that needed no judge is fixed.
    """
    makers = [_ShareMaker(metric) for metric in metrics]
    for case in cases:
        for maker in makers:
            maker.add(case, units)
    return [maker.made() for maker in makers]


class _ShareMaker:
    """One metric's share, row by row."""

    def __init__(self, metric: Metric) -> None:
        self._metric = metric
        self._items: list[Item] = []
        self._fixed: list[Fixed] = []
        self._left_out = self._outside = 0

    def add(self, case: Case, units: Units) -> None:
        score = self._metric.score(case)
        if not score.denominator or score.numerator is None:
            return
        if isinstance(self._metric, VerdictMetric):
            case = self._metric.held(case)
        times = Counter(self._metric.counted(case))
        if any(case.label(check) is Label.UNJUDGED for check in times):
            self._left_out += 1
            return
        known: list[tuple[Checked, int]] = []
        for check, n in times.items():
            unit = units.get((case.sample.id, check.claim_id, check.sources))
            if unit is not None:
                label = case.label(check)
                known.append((unit if unit.judge is label else replace(unit, judge=label), n))
            elif was_asked(case.verdict(check)):
                self._outside += 1
        self._items += [Item(unit, n, score.denominator) for unit, n in known]
        by_verdicts = fsum((self._metric.worth(unit.judge) or 0.0) * n for unit, n in known)
        rest = score.denominator - sum(n for _, n in known)
        part = min(rest, max(0.0, round(score.numerator - by_verdicts, _DIGITS)))  # floats may miss 0 by a hair
        self._fixed.append(Fixed(part, rest, score.denominator))

    def made(self) -> Share:
        return Share(
            metric=self._metric.name,
            worth=self._metric.worth,
            lower_is_better=self._metric.lower_is_better,
            items=tuple(self._items),
            fixed=tuple(self._fixed),
            rows=len(self._fixed),
            whole=fsum(one.whole for one in self._fixed),
            left_out=self._left_out,
            outside=self._outside,
        )


def was_asked(verdict: Verdict | None) -> bool:
    """True when the judge was asked about the check: a label with a reason and no call needed none."""
    return verdict is not None and (verdict.reason is None or bool(verdict.calls))
