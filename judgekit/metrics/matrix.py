"""The matrix of RAGChecker: every claim held against every context alone, and against the other text.

Ru et al. 2024, RAGChecker (arXiv 2408.08067). A context *entails* a claim when it alone supports it fully; partial
support and contradiction are no entailment. An answer claim is *right* when the reference supports it, *wrong* when
not. A context is *relevant* when it entails some claim of the reference. Contexts of the same text are judged once.
With no context that has text nothing is entailed, and no cell of the matrix is asked.

Where verdicts are missing a cell is unknown, and a mark is known as soon as what is known decides it. So a value never
rests on a guess, and its bounds hold whatever the missing verdicts would have said.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import ClassVar

from judgekit.metrics.base import NOTHING, VerdictMetric
from judgekit.metrics.gaps import claims_gap, nothing_supported, text_gap
from judgekit.metrics.refusals import reads_as_refusal
from judgekit.metrics.same_text import same_text
from judgekit.metrics.support import claims_against, names, supports
from judgekit.records import (
    ANSWER,
    REFERENCE,
    THE_ANSWER,
    THE_REFERENCE,
    Case,
    Check,
    Claim,
    Need,
    Reason,
    Sample,
    Score,
    Side,
)

#: True, False, or None for what no verdict tells.
Known = bool | None


def negated(one: Known) -> Known:
    """Not; what is unknown stays unknown."""
    return None if one is None else not one


def both(first: Known, second: Known) -> Known:
    """And: false as soon as one is, unknown where the unknown one would decide."""
    if first is False or second is False:
        return False
    return None if first is None or second is None else True


def some(ones: Iterable[Known]) -> Known:
    """Or over any number: true as soon as one is; False for none at all."""
    known = set(ones)
    return True if True in known else None if None in known else False


def alone(case: Case, side: Side) -> list[Check]:
    """Every claim of a side against every context by itself: the cells of the matrix."""
    return [Check.of(claim, (source,)) for source in case.sample.source_ids for claim in case.claims_of(side)]


def against_the_other(case: Case, side: Side) -> list[Check]:
    """Every claim of a side against the other text as a whole; none when both texts say the same."""
    if same_text(case.sample.answer, case.sample.reference or ""):
        return []
    return claims_against(case, side, THE_REFERENCE if side == ANSWER else THE_ANSWER)


def in_the_other(case: Case, claim: Claim) -> Known:
    """Whether the other text supports a claim: of the answer, that it is right; of the reference, that it is used."""
    if same_text(case.sample.answer, case.sample.reference or ""):
        return True
    return supports(case, claim, THE_REFERENCE if claim.side == ANSWER else THE_ANSWER)


def entailed(case: Case, claim: Claim) -> Known:
    """Whether some context alone supports the claim."""
    return some(supports(case, claim, (source,)) for source in case.sample.source_ids)


def is_relevant(case: Case, source: str) -> Known:
    """Whether the context supports some claim of the reference."""
    return some(supports(case, claim, (source,)) for claim in case.claims_of(REFERENCE))


class MatrixMetric(VerdictMetric):
    """A share of the claims of `side`, each with a mark of its own.

    `texts` are the texts that must be there, `reads` those whose claims are looked at. `by_contexts_alone`: where
    nothing is entailed every mark is 0, so without a context with text the value is 0.0 and nobody is asked
    (`nothing_supported` says over what); an answer that then reads as a plain refusal has none.
    """

    side: ClassVar[Side] = ANSWER
    texts: ClassVar[tuple[Side, ...]] = (ANSWER,)
    reads: ClassVar[tuple[Side, ...]] = (ANSWER,)
    by_contexts_alone: ClassVar[bool] = False

    @abstractmethod
    def mark(self, case: Case, claim: Claim) -> Known:
        """Whether the claim counts; None while missing verdicts decide it."""

    def needs_for(self, sample: Sample) -> frozenset[Need]:
        return NOTHING if self._gap(sample) or self._is_decided(sample) else self.needs

    def score(self, case: Case) -> Score:
        case = self.held(case)
        if gap := self._gap(case.sample):
            return Score.undefined(self.name, gap)
        if self._is_decided(case.sample):
            return nothing_supported(self.name, case.segments if self.side == ANSWER else case.reference_segments)
        if gap := first_gap(claims_gap(case, side) for side in self.reads):
            return Score.undefined(self.name, gap)
        marks = [self.mark(case, claim) for claim in case.claims_of(self.side)]
        return Score.share(self.name, marks, basis=names(self.checks(case)))

    def _gap(self, sample: Sample) -> Reason | None:
        """Why the sample has no value whatever a judge says; else None."""
        if gap := first_gap(text_gap(sample, side) for side in self.texts):
            return gap
        declines = self.side == ANSWER and self._is_decided(sample) and reads_as_refusal(sample.answer)
        return Reason.REFUSED if declines else None

    def _is_decided(self, sample: Sample) -> bool:
        return self.by_contexts_alone and not sample.source_ids


def first_gap(gaps: Iterable[Reason | None]) -> Reason | None:
    """The first reason there is; None for none."""
    return next((gap for gap in gaps if gap), None)
