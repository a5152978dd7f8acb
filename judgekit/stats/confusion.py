"""Where does the judge err: its labels against the human's, seen from the class of interest."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import fsum, prod, sqrt

from judgekit.stats.inputs import nonnegative, same_length


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """Units by what they are and what the judge said; `positive` means of the class of interest.

    Counts, or sums of design weights; an interval for a rate of counts is `wilson_interval(x=tp, n=tp + fn)`. Every
    rate is in [0, 1], and None where its denominator is 0.
    """

    tp: float
    fp: float
    fn: float
    tn: float

    @property
    def accuracy(self) -> float | None:
        return _share(self.tp + self.tn, self.tp + self.fp + self.fn + self.tn)

    @property
    def precision(self) -> float | None:
        """Of what the judge flagged, the share that deserved it."""
        return _share(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> float | None:
        """Of what deserved a flag, the share that the judge flagged: the true positive rate, TPR."""
        return _share(self.tp, self.tp + self.fn)

    @property
    def specificity(self) -> float | None:
        """Of what deserved no flag, the share that the judge let pass: the true negative rate, TNR."""
        return _share(self.tn, self.tn + self.fp)

    @property
    def f1(self) -> float | None:
        """2 tp / (2 tp + fp + fn): 0 when something deserved a flag and nothing got one."""
        return _share(2 * self.tp, 2 * self.tp + self.fp + self.fn)

    @property
    def balanced_accuracy(self) -> float | None:
        """(TPR + TNR) / 2; None when the human found only one class."""
        tpr, tnr = self.recall, self.specificity
        return None if tpr is None or tnr is None else (tpr + tnr) / 2

    @property
    def mcc(self) -> float | None:
        """Matthews' correlation coefficient in [-1, 1]: 0 when judge or human used one class only, None of nothing."""
        margins = (self.tp + self.fp, self.tp + self.fn, self.tn + self.fp, self.tn + self.fn)
        if not any(margins):
            return None
        if not all(margins):
            return 0.0
        return (self.tp * self.tn - self.fp * self.fn) / sqrt(prod(margins))

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa, as `cohen_kappa`; None when judge and human used one and the same class only."""
        tp, fp, fn, tn = self.tp, self.fp, self.fn, self.tn
        return _share(2 * (tp * tn - fp * fn), (tp + fp) * (fp + tn) + (tp + fn) * (fn + tn))

    @property
    def ac1(self) -> float | None:
        """Gwet's AC1, as `gwet_ac1` of both classes."""
        accuracy, total = self.accuracy, self.tp + self.fp + self.fn + self.tn
        if accuracy is None:
            return None
        positive = (2 * self.tp + self.fp + self.fn) / (2 * total)
        chance = 2 * positive * (1 - positive)
        return (accuracy - chance) / (1 - chance)


def judge_vs_human(
    *,
    human: Sequence[Hashable],
    judge: Sequence[Hashable],
    sample_weight: Sequence[float] | None = None,
    positive: Hashable = 0,
) -> Confusion:
    """The judge's labels against the human's, row g being the same unit in both.

    `positive` is the class of interest (0: unsupported); any other label is the other class. `sample_weight` is
    1 / the chance with which a unit was drawn: without it a review that drew more defects than there are shows a
    precision, kappa and MCC that the run does not have. Vectors: `judge_vs_human` (`precision_unsupported` is
    `precision`, and so on). InputError: lengths that differ, a negative weight.
    """
    size = same_length({"human": human, "judge": judge, "sample_weight": sample_weight})
    weights = [1.0] * size if sample_weight is None else nonnegative("sample_weight", sample_weight)
    cells: dict[tuple[bool, bool], list[float]] = {}
    for truth, said, weight in zip(human, judge, weights, strict=True):
        cells.setdefault((truth == positive, said == positive), []).append(weight)
    return Confusion(
        tp=fsum(cells.get((True, True), ())),
        fp=fsum(cells.get((False, True), ())),
        fn=fsum(cells.get((True, False), ())),
        tn=fsum(cells.get((False, False), ())),
    )


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None
