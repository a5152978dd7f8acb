"""How well are two classes told apart: the mean of two rates, with an interval made of theirs."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from judgekit.stats.intervals import Interval, wilson_interval


class Balanced(NamedTuple):
    """The mean of the rates of right labels in two classes, in [0, 1], and the two ends of its interval."""

    value: float
    interval: Interval


def balanced_accuracy(*, x: tuple[float, float], n: tuple[float, float], conf: float = 0.95) -> Balanced | None:
    """Balanced accuracy from x right labels of n units in each of the two classes; None when a class is empty.

    x need not be whole: a unit judged several times counts with its share of right labels. The interval is put
    together from the Wilson intervals of the two rates (MOVER, Newcombe 1998, for the mean in place of the difference):
    it lies in [0, 1] and does not collapse when every unit is right. InputError: x outside [0, n].
    """
    ends = [wilson_interval(x=part, n=whole, conf=conf) for part, whole in zip(x, n, strict=True)]
    if ends[0] is None or ends[1] is None:
        return None
    rates = (x[0] / n[0], x[1] / n[1])
    value = (rates[0] + rates[1]) / 2
    below = sqrt((rates[0] - ends[0].lo) ** 2 + (rates[1] - ends[1].lo) ** 2) / 2
    above = sqrt((ends[0].hi - rates[0]) ** 2 + (ends[1].hi - rates[1]) ** 2) / 2
    return Balanced(value, Interval(value - below, value + above))
