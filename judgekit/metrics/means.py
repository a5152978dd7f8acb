"""Scores that are no plain share of counts: the sample counts as one item.

Their numerator is the value and their denominator 1, so that value = numerator / denominator holds for every
score, and the micro mean of such a metric equals its macro mean.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from judgekit.records import Reason, Score


def as_one_item(
    metric: str, *, low: float, high: float, judged: bool, note: str | None = None, basis: Iterable[str] = ()
) -> Score:
    """A score between two bounds: the value when everything is judged (both bounds are it then), else None."""
    value = low if judged else None
    return Score(
        metric=metric,
        value=value,
        reason=None if judged else Reason.UNJUDGED,
        numerator=value,
        denominator=1,
        judged=int(judged),
        low=low,
        high=high,
        note=note,
        basis=tuple(basis),
    )


def harmonic_mean(first: float, second: float) -> float:
    """2ab / (a + b), 0.0 when both are 0. Rounded once, so it never falls when an argument rises."""
    a, b = Fraction(first), Fraction(second)
    return float(2 * a * b / (a + b)) if a + b else 0.0


def harmonic_score(metric: str, first: Score, second: Score) -> Score:
    """The harmonic mean of two shares, with the bounds that their missing verdicts leave."""
    return as_one_item(
        metric,
        low=harmonic_mean(first.low or 0.0, second.low or 0.0),
        high=harmonic_mean(first.high or 0.0, second.high or 0.0),
        judged=first.value is not None and second.value is not None,
        basis=first.basis + second.basis,
    )
