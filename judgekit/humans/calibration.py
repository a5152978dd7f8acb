"""Are the judge's probabilities worth their name: confidences against human labels, and where "uncertain" begins.

A confidence is the probability that the judge gave its own side, supported or not, so it lies in [0.5, 1]. It is right
when the human took the same side. All shares are weighted by the design.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import fsum, sqrt
from typing import NamedTuple

from judgekit.confidence import CONFIDENCE
from judgekit.records import Record
from judgekit.stats import norm_ppf
from judgekit.stats.intervals import wilson

_BINS = 10
#: Labels that a side of the threshold must have before its error rate is believed.
_FEWEST = 5
#: A threshold that is to save less than this share of the labels is not worth a change.
_WORTHWHILE = 0.1


class Guess(NamedTuple):
    """A labelled check: the judge's probability of support, whether it is supported, and its weight (1 / chance)."""

    support: float
    supported: bool
    weight: float

    @property
    def confidence(self) -> float:
        return max(self.support, 1 - self.support)

    @property
    def is_right(self) -> bool:
        """Whether judge and human are on the same side; at 0.5 the judge is on the side of `supported`."""
        return (self.support >= 0.5) is self.supported  # noqa: PLR2004  # the side of a probability


class Bin(Record):
    """Confidences in [low, high): how many labels, their mean confidence, the share that was right and its interval."""

    low: float
    high: float
    labels: int
    confidence: float
    right: float
    right_low: float
    right_high: float


class Calibration(Record):
    """Confidences against labels. `ece` is the mean gap between confidence and share right over the bins, `brier` the
    mean squared error of the probability of support, in [0, 1] both, lower is better; `auc` is the chance that a
    supported check has the higher probability of support, None when humans found one class only.

    `threshold`: with fewer than this confidence a verdict is best called uncertain and drawn more often; `saves` is the
    share of labels that a draw so split needs less for the same interval. None where no split is worth it.
    """

    labels: int
    bins: tuple[Bin, ...]
    ece: float
    brier: float
    auc: float | None
    threshold: float | None = None
    saves: float | None = None


def calibration_of(guesses: Sequence[Guess], *, conf: float = CONFIDENCE) -> Calibration | None:
    """The judge's probabilities against humans' labels; None without any."""
    if not guesses:
        return None
    total = fsum(guess.weight for guess in guesses)
    bins = [(at, found) for at in range(_BINS) if (found := [guess for guess in guesses if _bin_of(guess) == at])]
    shown = tuple(_bin(at, found, conf) for at, found in bins)
    gaps = [
        fsum(guess.weight for guess in found) * abs(one.confidence - one.right)
        for (_, found), one in zip(bins, shown, strict=True)
    ]
    threshold, saves = _split(guesses)
    return Calibration(
        labels=len(guesses),
        bins=shown,
        ece=fsum(gaps) / total,
        brier=fsum(guess.weight * (guess.support - guess.supported) ** 2 for guess in guesses) / total,
        auc=_auc(guesses),
        threshold=threshold,
        saves=saves,
    )


def _bin_of(guess: Guess) -> int:
    return min(_BINS - 1, int((guess.confidence - 0.5) * 2 * _BINS + 1e-9))


def _bin(at: int, found: Sequence[Guess], conf: float) -> Bin:
    weight = fsum(guess.weight for guess in found)
    right = fsum(guess.weight * guess.is_right for guess in found) / weight
    # so many units of one weight would say as much (Kish)
    worth = weight**2 / fsum(guess.weight**2 for guess in found)
    ends = wilson(min(1.0, right), n=worth, critical=norm_ppf((1 + conf) / 2))
    return Bin(
        low=round(0.5 + at / (2 * _BINS), 2),
        high=round(0.5 + (at + 1) / (2 * _BINS), 2),
        labels=len(found),
        confidence=fsum(guess.weight * guess.confidence for guess in found) / weight,
        right=right,
        right_low=ends.lo,
        right_high=ends.hi,
    )


def _auc(guesses: Sequence[Guess]) -> float | None:
    """The weighted share of (supported, other) pairs in the right order; a tie counts half."""
    others = won = total = 0.0
    for _, tied in groupby(sorted(guesses), key=lambda guess: guess.support):
        by_side: dict[bool, list[float]] = {True: [], False: []}
        for guess in tied:
            by_side[guess.supported].append(guess.weight)
        supported, other = fsum(by_side[True]), fsum(by_side[False])
        won += supported * (others + other / 2)
        total, others = total + supported, others + other
    return won / (total * others) if total and others else None


def _split(guesses: Sequence[Guess]) -> tuple[float | None, float | None]:
    """The confidence that parts sure verdicts from unsure ones best, and what share of the labels the split saves.

    With Neyman's allocation the variance of a stratified share falls with (sum of W_h * S_h)^2.
    """
    ordered = sorted(guesses, key=lambda guess: guess.confidence)
    whole = _pull(ordered)
    found: list[tuple[float, float]] = []
    for at in range(_FEWEST, len(ordered) - _FEWEST + 1):
        below, above = ordered[at - 1].confidence, ordered[at].confidence
        if below < above:
            found.append(((_pull(ordered[:at]) + _pull(ordered[at:])) ** 2, (below + above) / 2))
    if not found or not whole:
        return None, None
    best, threshold = min(found)
    saves = 1 - best / whole**2
    return (threshold, saves) if saves >= _WORTHWHILE else (None, None)


def _pull(guesses: Sequence[Guess]) -> float:
    """A stratum's weight times the standard deviation of being wrong in it, smoothed by half a label on either side."""
    weight = fsum(guess.weight for guess in guesses)
    wrong = fsum(guess.weight * (not guess.is_right) for guess in guesses) / weight
    rate = (wrong * len(guesses) + 0.5) / (len(guesses) + 1)
    return weight * sqrt(rate * (1 - rate))
