"""What a measure is: a name with its cut-off and options, and a value for one ranking."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from judgekit.retrieval.inputs import Seen, check_cut


class Gap(StrEnum):
    """Why a measure has no value for a query."""

    NO_LABELS = "no_labels"
    UNJUDGED = "unjudged"
    NO_RELEVANT = "no_relevant"
    NOTHING_RETRIEVED = "nothing_retrieved"
    GRADE_ABOVE_MAX = "grade_above_max"


@dataclass(frozen=True)
class Measure(ABC):
    """A pure function from one ranking and its labels to a value in [0, 1], or the gap that leaves none.

    `str(measure)` is what is typed, printed and used as key; `mean_name` is what its mean over queries is called.
    """

    key: ClassVar[str]
    mean_key: ClassVar[str | None] = None

    @property
    def depth(self) -> int | None:
        """How many ranks it looks at; None for all."""
        return None

    @property
    def name(self) -> str:
        return f"{self.key}{self._cut()}{self._options()}"

    @property
    def mean_name(self) -> str:
        return f"{self.mean_key or self.key}{self._cut()}{self._options()}"

    def __str__(self) -> str:
        return self.name

    def _cut(self) -> str:
        return ""

    def _options(self) -> str:
        return ""

    @abstractmethod
    def of(self, seen: Seen) -> float | Gap:
        """Its value for a ranking, or why there is none."""


@dataclass(frozen=True)
class CutMeasure(Measure):
    """A measure of the top `k`; of the whole ranking when k is None.

    UnusableValue: k below 1. UnusableType: k is no whole number.
    """

    k: int | None = None

    def __post_init__(self) -> None:
        check_cut(self.k, self.key)

    @property
    def depth(self) -> int | None:
        return self.k

    def _cut(self) -> str:
        return "" if self.k is None else f"@{self.k}"


def plain(number: float) -> str:
    """A number as one would type it, without losing a digit."""
    short = f"{number:g}"
    return short if float(short) == number else repr(number)
