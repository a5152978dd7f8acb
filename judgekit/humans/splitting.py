"""Were the answers taken apart well: what people said of the claims, and of the statements that no claim covers.

A draw of claims cannot show what is missing among them; a draw of whole answers does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from judgekit.confidence import CONFIDENCE
from judgekit.records import Record
from judgekit.stats import cluster_ratio


class Splitting(Record):
    """What people found of the split. `said` counts labelled checks by what was said of the claim: `ok`, `not_atomic`.

    In `answers` read whole the split made `claims` and missed `missed` statements: `found` is the share it made, in
    [0, 1], with an interval in which an answer is one unit; None where no answer was read, or none states anything.
    """

    said: dict[str, int]
    answers: int = 0
    claims: int = 0
    missed: float = 0.0
    found: float | None = None
    low: float | None = None
    high: float | None = None


class WholeAnswer(NamedTuple):
    """An answer that was read whole: how many claims it was split into, and how many statements these miss."""

    claims: int
    missed: float


def splitting_of(
    said: Mapping[str, int], answers: Sequence[WholeAnswer], *, conf: float = CONFIDENCE
) -> Splitting | None:
    """What people found of the split; None when they said nothing of it. The answers are a simple random draw."""
    if not said and not answers:
        return None
    mean = cluster_ratio(y=[one.claims for one in answers], m=[one.claims + one.missed for one in answers], conf=conf)
    return Splitting(
        said=dict(said),
        answers=len(answers),
        claims=sum(one.claims for one in answers),
        missed=sum(one.missed for one in answers),
        found=mean.estimate,
        low=mean.lo,
        high=mean.hi,
    )
