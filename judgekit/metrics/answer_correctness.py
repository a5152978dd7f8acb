"""Answer against reference, claim by claim and each way: precision, recall and F1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from judgekit.metrics.base import NOTHING, VerdictMetric, require_share
from judgekit.metrics.gaps import claims_gap, text_gap
from judgekit.metrics.means import harmonic_score
from judgekit.metrics.same_text import same_text
from judgekit.metrics.support import claims_against, share_supported, support_mark
from judgekit.records import (
    ANSWER,
    REFERENCE,
    THE_ANSWER,
    THE_REFERENCE,
    Case,
    Check,
    Label,
    Need,
    Reason,
    Sample,
    Score,
    Side,
)


def _text_score(metric: str, sample: Sample) -> Score | None:
    """What the two texts alone decide: one is missing, or both say the same; else None."""
    if missing := text_gap(sample, REFERENCE) or text_gap(sample, ANSWER):
        return Score.undefined(metric, missing)
    if same_text(sample.answer, sample.reference or ""):
        return Score.share(metric, [1.0], note="same text as the reference; decided without a judge")
    return None


@dataclass(frozen=True, kw_only=True)
class AnswerMetric(VerdictMetric):
    """A metric that sets the answer against the reference; `partial` is the credit for partial support."""

    partial: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_share(self, "partial", self.partial)

    def needs_for(self, sample: Sample) -> frozenset[Need]:
        return NOTHING if _text_score(self.name, sample) else self.needs


@dataclass(frozen=True, kw_only=True)
class _OneWay(AnswerMetric):
    """The claims of one text held against the other text."""

    side: ClassVar[Side]
    against: ClassVar[tuple[str, ...]]

    def checks(self, case: Case) -> list[Check]:
        return [] if _text_score(self.name, case.sample) else claims_against(case, self.side, self.against)

    def worth(self, label: Label) -> float | None:
        return support_mark(label, partial=self.partial)

    def score(self, case: Case) -> Score:
        case = self.held(case)
        if decided := _text_score(self.name, case.sample):
            return decided
        if gap := claims_gap(case, self.side):
            return Score.undefined(self.name, gap)
        return share_supported(self.name, case, self.checks(case), partial=self.partial)


@dataclass(frozen=True, kw_only=True)
class AnswerPrecision(_OneWay):
    """Share of the answer's claims that the reference supports.

    Numerator: answer claims labelled `supported` by the reference, plus `partial` for each partially supported one.
    Denominator: all answer claims. Range [0, 1]; 1.0 without a judge when both texts are the same.
    None: `no_reference`, `no_answer`, `unsplit`, `no_claims`, `unjudged`.
    Source: RAGChecker "precision" (Ru et al. 2024, arXiv 2408.08067).
    """

    name = "answer_precision"
    needs = frozenset({Need.ANSWER_CLAIMS})
    side = ANSWER
    against = THE_REFERENCE


@dataclass(frozen=True, kw_only=True)
class AnswerRecall(_OneWay):
    """Share of the reference's claims that the answer supports.

    Numerator: reference claims labelled `supported` by the answer, plus `partial` for each partially supported one.
    Denominator: all reference claims. Range [0, 1]; 1.0 without a judge when both texts are the same.
    None: `no_reference`, `no_answer`, `unsplit`, `no_claims`, `unjudged`.
    Source: RAGChecker "recall" (Ru et al. 2024, arXiv 2408.08067).
    """

    name = "answer_recall"
    needs = frozenset({Need.REFERENCE_CLAIMS})
    side = REFERENCE
    against = THE_ANSWER


@dataclass(frozen=True, kw_only=True)
class AnswerCorrectness(AnswerMetric):
    """F1 of the answer against the reference: harmonic mean of `answer_precision` and `answer_recall`.

    Each half comes from its own direction and its own denominator. Range [0, 1]; exactly 1.0 when both halves are,
    0.0 when both are 0; 1.0 without a judge when both texts are the same. The sample counts as one item:
    numerator = value, denominator = 1. It asks what its two halves ask, and no more.
    None: `no_reference`, `no_answer`, `unsplit` or `no_claims` (either side), `unjudged`.
    Source: RAGChecker "F1" (Ru et al. 2024, arXiv 2408.08067).
    """

    name = "answer_correctness"
    needs = frozenset({Need.ANSWER_CLAIMS, Need.REFERENCE_CLAIMS})

    def _halves(self) -> tuple[AnswerPrecision, AnswerRecall]:
        return AnswerPrecision(partial=self.partial), AnswerRecall(partial=self.partial)

    def checks(self, case: Case) -> list[Check]:
        return [check for half in self._halves() for check in half.checks(case)]

    def score(self, case: Case) -> Score:
        case = self.held(case)
        if decided := _text_score(self.name, case.sample):
            return decided
        precision, recall = (half.score(case) for half in self._halves())
        reasons = {precision.reason, recall.reason}
        for reason in (Reason.UNSPLIT, Reason.NO_CLAIMS):
            if reason in reasons:
                return Score.undefined(self.name, reason)
        return harmonic_score(self.name, precision, recall)
