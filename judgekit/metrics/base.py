"""What a metric is: it names what it needs, plans checks and counts verdicts, and does no I/O."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, is_dataclass
from typing import ClassVar

from pydantic import JsonValue

from judgekit.errors import InputError
from judgekit.records import Case, Check, Criterion, Label, Need, Sample, Score

#: Returned by `needs_for` when a sample is decided without any model.
NOTHING: frozenset[Need] = frozenset()


class Metric(ABC):
    """A pure function from a case to a score. Subclass it and pass an object to add your own.

    Usually a frozen dataclass whose keyword-only fields are the options. `name` is what a user types, what is
    printed and what keys the results. `version` is raised whenever the same verdicts would give another value.
    `needs` says what has to be known beside verdicts of checks.
    """

    name: str
    version: int = 1
    lower_is_better: bool = False
    needs: frozenset[Need] = NOTHING
    min_probability: float | None = None

    def needs_for(self, sample: Sample) -> frozenset[Need]:
        """What this sample needs: `needs`, or less where the sample alone decides the score."""
        del sample
        return self.needs

    def checks(self, case: Case) -> list[Check]:
        """All checks wanted, given what is known so far; asked again after each round until it adds none."""
        del case
        return []

    def criteria(self, sample: Sample) -> tuple[Criterion, ...]:
        """Questions of one's own about this sample, each answered by a rating; see `Rubric`."""
        del sample
        return ()

    def worth(self, label: Label) -> float | None:
        """What a verdict of that label adds to the numerator, in [0, 1], where the numerator is a sum over `counted`.

        None for every label where it is not, or where verdicts move the denominator: then no one verdict has a weight,
        and a human's labels for some of them cannot correct the score. None for `unjudged` always.
        """
        del label
        return None

    def counted(self, case: Case) -> list[Check]:
        """The checks whose `worth` makes up the numerator, each as often as it counts; the rest of it is fixed."""
        return self.checks(case)

    @abstractmethod
    def score(self, case: Case) -> Score:
        """The value in [0, 1], or None with a reason; a missing verdict never becomes a number."""

    @property
    def options(self) -> dict[str, JsonValue]:
        """The options as set; they go into the manifest, since they can move the value."""
        return {field.name: getattr(self, field.name) for field in fields(self)} if is_dataclass(self) else {}


@dataclass(frozen=True, kw_only=True)
class VerdictMetric(Metric):
    """A metric that counts the verdicts of one label, `counts`.

    min_probability: unless None, a verdict has that label exactly when the judge gave it at least this probability;
    what falls short has the likeliest other one, and a verdict without probabilities is `unjudged`. Every such metric
    looks at the case through `held` before it looks at a verdict.
    """

    counts: ClassVar[Label] = Label.SUPPORTED

    min_probability: float | None = None

    def __post_init__(self) -> None:
        if self.min_probability is not None:
            require_share(self, "min_probability", self.min_probability)

    def held(self, case: Case) -> Case:
        """The case as this metric sees it."""
        return case.held_to(self.counts, self.min_probability)

    @property
    def options(self) -> dict[str, JsonValue]:
        """The options as set, without a threshold where there is none, so that pins without one stay as they are."""
        set_ = super().options
        return set_ if self.min_probability is not None else {k: v for k, v in set_.items() if k != "min_probability"}


def require_share(metric: Metric, option: str, value: float) -> None:
    """Raise InputError unless an option lies in [0, 1]."""
    if not 0 <= value <= 1:
        raise InputError(f"{metric.name}: {option}={value!r} is not a share; give a number from 0 to 1")
