"""Context recall: did retrieval bring what the reference says?"""

from __future__ import annotations

from dataclasses import dataclass

from judgekit.metrics.base import NOTHING, VerdictMetric, require_share
from judgekit.metrics.gaps import claims_gap, nothing_supported, text_gap
from judgekit.metrics.support import claims_against, share_supported, support_mark
from judgekit.records import REFERENCE, Case, Check, Label, Need, Sample, Score


@dataclass(frozen=True, kw_only=True)
class ContextRecall(VerdictMetric):
    """Share of the reference's claims that the contexts, taken together, support.

    Numerator: reference claims labelled `supported`, plus `partial` for each `partially_supported` one.
    Denominator: all reference claims. Range [0, 1]. The answer plays no part.
    No context with text: 0.0 without a judge (`nothing_supported` says over what).
    None: `no_reference`, `unsplit`, `no_claims`, `unjudged`.
    Source: Es et al. 2023 (arXiv 2309.15217) and Ragas "context recall", over claims.
    """

    name = "context_recall"
    needs = frozenset({Need.REFERENCE_CLAIMS})

    partial: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_share(self, "partial", self.partial)

    def needs_for(self, sample: Sample) -> frozenset[Need]:
        return self.needs if sample.source_ids and not text_gap(sample, REFERENCE) else NOTHING

    def checks(self, case: Case) -> list[Check]:
        return claims_against(case, REFERENCE, case.sample.source_ids)

    def worth(self, label: Label) -> float | None:
        return support_mark(label, partial=self.partial)

    def score(self, case: Case) -> Score:
        case = self.held(case)
        if missing := text_gap(case.sample, REFERENCE):
            return Score.undefined(self.name, missing)
        if not case.sample.source_ids:
            return nothing_supported(self.name, case.reference_segments)
        if gap := claims_gap(case, REFERENCE):
            return Score.undefined(self.name, gap)
        return share_supported(self.name, case, self.checks(case), partial=self.partial)
