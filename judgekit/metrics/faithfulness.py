"""Faithfulness: does what the answer says follow from what was retrieved?"""

from __future__ import annotations

from dataclasses import dataclass

from judgekit.metrics.base import NOTHING, VerdictMetric, require_share
from judgekit.metrics.gaps import claims_gap, nothing_supported, text_gap
from judgekit.metrics.refusals import reads_as_refusal
from judgekit.metrics.support import claims_against, share_supported, support_mark
from judgekit.records import ANSWER, Case, Check, Label, Need, Reason, Sample, Score


@dataclass(frozen=True, kw_only=True)
class Faithfulness(VerdictMetric):
    """Share of the answer's claims that the contexts, taken together, support.

    Numerator: answer claims labelled `supported`, plus `partial` for each `partially_supported` one.
    Denominator: all answer claims. Range [0, 1].
    No context with text: 0.0 without a judge (`nothing_supported` says over what), for a blank context cannot
    support anything; but an answer that reads as a plain refusal is None, `refused`.
    None: `no_answer`, `refused`, `unsplit`, `no_claims`, `unjudged`.
    Source: Es et al. 2023 (arXiv 2309.15217), with all contexts in view at once.
    """

    name = "faithfulness"
    needs = frozenset({Need.ANSWER_CLAIMS})

    partial: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_share(self, "partial", self.partial)

    def needs_for(self, sample: Sample) -> frozenset[Need]:
        return self.needs if sample.source_ids and not text_gap(sample, ANSWER) else NOTHING

    def checks(self, case: Case) -> list[Check]:
        return claims_against(case, ANSWER, case.sample.source_ids)

    def worth(self, label: Label) -> float | None:
        return support_mark(label, partial=self.partial)

    def score(self, case: Case) -> Score:
        case = self.held(case)
        if missing := text_gap(case.sample, ANSWER):
            return Score.undefined(self.name, missing)
        if not case.sample.source_ids:
            if reads_as_refusal(case.sample.answer):
                return Score.undefined(self.name, Reason.REFUSED, note="no_contexts, and the answer declines")
            return nothing_supported(self.name, case.segments)
        if gap := claims_gap(case, ANSWER):
            return Score.undefined(self.name, gap)
        return share_supported(self.name, case, self.checks(case), partial=self.partial)
