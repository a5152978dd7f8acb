"""Relevance of the retrieved contexts: as a ranking, and as a plain share.

Grades: 3 direct answer, 2 strong supporting evidence, 1 passing mention, 0 irrelevant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from judgekit.errors import InputError
from judgekit.metrics.base import NOTHING, Metric
from judgekit.metrics.gaps import text_gap
from judgekit.metrics.means import as_one_item
from judgekit.metrics.ranking import average_precision_bounds
from judgekit.records import ANSWER, Case, Context, Need, RatingKind, Reason, Sample, Score

_GRADES = {"0": 0, "1": 1, "2": 2, "3": 3}


@dataclass(frozen=True, kw_only=True)
class RelevanceMetric(Metric):
    """A metric over the first `k` contexts (all, if None), each relevant from grade `relevant_from` on.

    A blank context is irrelevant, and nobody is asked. A repeated text keeps its rank and carries the grade of its
    first copy; the note counts the repeats.
    """

    needs = frozenset({Need.RELEVANCE})
    rating: ClassVar[RatingKind] = "relevance"

    relevant_from: int = 2
    k: int | None = None

    def __post_init__(self) -> None:
        if self.relevant_from not in (1, 2, 3):
            raise InputError(
                f"{self.name}: relevant_from={self.relevant_from!r} is no grade to start at; give 1, 2 or 3"
            )
        if self.k is not None and self.k < 1:
            raise InputError(f"{self.name}: k={self.k!r} leaves no context; give 1 or more, or None for all")

    def needs_for(self, sample: Sample) -> frozenset[Need]:
        return self.needs if sample.source_ids and not self._gap(sample) else NOTHING

    def _gap(self, sample: Sample) -> Reason | None:
        return None if sample.contexts else Reason.NO_CONTEXTS

    def _top(self, case: Case) -> tuple[Context, ...]:
        return case.sample.contexts[: self.k]

    def _flags(self, case: Case) -> list[bool | None]:
        """Relevant or not, in rank order; None where the judge gave no grade."""
        rated = case.rated(self.rating)
        flags: list[bool | None] = []
        for context in self._top(case):
            rating = rated.get(case.sample.first_of_text[context.id])
            grade = _GRADES.get(rating.label) if rating and rating.label else None
            flags.append(False if context.is_blank else None if grade is None else grade >= self.relevant_from)
        return flags

    def _note(self, case: Case) -> str | None:
        first = case.sample.first_of_text
        repeats = sum(not context.is_blank and first[context.id] != context.id for context in self._top(case))
        return f"{repeats} duplicate" if repeats else None


@dataclass(frozen=True, kw_only=True)
class ContextPrecision(RelevanceMetric):
    """How far up the relevant contexts stand: average precision over the retrieved contexts.

    Value: sum over relevant ranks of precision at that rank / number of relevant contexts in the top `k`. Range
    [0, 1], exactly 1.0 when no irrelevant context stands above a relevant one, 0.0 when none is relevant.
    A ranking counts as one item: numerator = value, denominator = 1. Relevance is judged for the question, not for
    the answer. Bounds are the lowest and highest value over all grades the missing ones could have had.
    None: `no_contexts` (an empty list; blank contexts are irrelevant ones), `unjudged`.
    Source: Ragas "context precision"; it divides by what was found, trec_eval's map by all that is relevant.
    """

    name = "context_precision"

    def score(self, case: Case) -> Score:
        if gap := self._gap(case.sample):
            return Score.undefined(self.name, gap)
        flags = self._flags(case)
        low, high = average_precision_bounds(flags)
        basis = [context.id for context in self._top(case)]
        return as_one_item(self.name, low=low, high=high, judged=None not in flags, note=self._note(case), basis=basis)


@dataclass(frozen=True, kw_only=True)
class ContextPrecisionByAnswer(ContextPrecision):
    """Context precision in which relevant means: this context served the answer that was given.

    Value, range, numerator and denominator as `context_precision`. It depends on the generator too, so it is no score
    of retrieval alone.
    None: `no_contexts`, `no_answer`, `unjudged`. Source: Ragas "context precision without reference".
    """

    name = "context_precision_by_answer"
    needs = frozenset({Need.RELEVANCE_BY_ANSWER})
    rating = "relevance_by_answer"

    def _gap(self, sample: Sample) -> Reason | None:
        return super()._gap(sample) or text_gap(sample, ANSWER)


@dataclass(frozen=True, kw_only=True)
class ContextRelevance(RelevanceMetric):
    """Share of the retrieved contexts that are relevant to the question, whatever their order.

    Numerator: relevant contexts in the top `k`. Denominator: contexts in the top `k`. Range [0, 1].
    A long context weighs as much as a short one. None: `no_contexts`, `unjudged`.
    Source: precision at k; the order-blind "context precision" of Es et al. 2023 (arXiv 2309.15217).
    """

    name = "context_relevance"

    def score(self, case: Case) -> Score:
        if gap := self._gap(case.sample):
            return Score.undefined(self.name, gap)
        basis = [context.id for context in self._top(case)]
        return Score.share(self.name, self._flags(case), note=self._note(case), basis=basis)
