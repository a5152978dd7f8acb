"""Does a score put what holds above what does not: the area under the ROC curve."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from math import fsum, sqrt
from typing import NamedTuple

from judgekit.stats.inputs import FEWEST, finite, same_length

#: The reason where every unit is of one class: there is no pair to be ranked.
ONE_CLASS = "only one class"


class Auc(NamedTuple):
    """`auc` in [0, 1] (0.5: the scores tell nothing) with its standard error, None with fewer than two of a class."""

    auc: float | None
    se: float | None = None
    positives: int = 0
    negatives: int = 0
    reason: str | None = None


def auc(*, scores: Sequence[float], is_positive: Sequence[bool]) -> Auc:
    """How often a positive unit has a higher score than a negative one, over all such pairs, a tie counting half.

    The standard error is DeLong's and takes units as independent; for units in clusters take `cluster_bootstrap`. It is
    0 where no pair is out of order, which says that the sample is small, not that the score is perfect. None with a
    reason when there is only one class, or nothing. InputError: lengths that differ, a score that is no number.
    Source: Mann and Whitney 1947; DeLong, DeLong and Clarke-Pearson 1988.
    """
    same_length({"scores": scores, "is_positive": is_positive})
    pairs = list(zip(finite("scores", scores), is_positive, strict=True))
    above = sorted(score for score, positive in pairs if positive)
    below = sorted(score for score, positive in pairs if not positive)
    if not above or not below:
        return Auc(None, None, len(above), len(below), ONE_CLASS)
    won = [_share_under(score, below) for score in above]
    lost = [1 - _share_under(score, above) for score in below]
    area = fsum(won) / len(won)
    few = min(len(above), len(below)) < FEWEST
    return Auc(area, None if few else sqrt(_variance(won, area) + _variance(lost, area)), len(above), len(below))


def _share_under(score: float, others: Sequence[float]) -> float:
    """The share of sorted scores that lie under this one, equal ones counting half."""
    return (bisect_left(others, score) + bisect_right(others, score)) / (2 * len(others))


def _variance(shares: Sequence[float], mean: float) -> float:
    """The variance of the mean of some shares."""
    return fsum((share - mean) ** 2 for share in shares) / (len(shares) - 1) / len(shares)
