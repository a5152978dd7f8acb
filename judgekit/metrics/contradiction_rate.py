"""Contradiction rate: how much of the answer do the contexts refute?"""

from __future__ import annotations

from dataclasses import dataclass

from judgekit.metrics.base import NOTHING, VerdictMetric
from judgekit.metrics.gaps import claims_gap, text_gap
from judgekit.metrics.support import claims_against, names
from judgekit.records import ANSWER, Case, Check, Label, Need, Reason, Sample, Score


@dataclass(frozen=True, kw_only=True)
class ContradictionRate(VerdictMetric):
    """Share of the answer's claims that the contexts, taken together, contradict. Lower is better.

    Numerator: answer claims labelled `contradicted`. Denominator: all answer claims. Range [0, 1].
    None: `no_answer`, `no_contexts` (no context with text: nothing could contradict), `unsplit`, `no_claims`,
    `unjudged`. It asks what `faithfulness` asks, and no more.
    Source: the contradiction class of RefChecker (Hu et al. 2024, arXiv 2405.14486), counted over all claims.
    """

    name = "contradiction_rate"
    lower_is_better = True
    counts = Label.CONTRADICTED
    needs = frozenset({Need.ANSWER_CLAIMS})

    def needs_for(self, sample: Sample) -> frozenset[Need]:
        return self.needs if sample.source_ids and not text_gap(sample, ANSWER) else NOTHING

    def checks(self, case: Case) -> list[Check]:
        return claims_against(case, ANSWER, case.sample.source_ids)

    def worth(self, label: Label) -> float | None:
        return None if label is Label.UNJUDGED else float(label is Label.CONTRADICTED)

    def score(self, case: Case) -> Score:
        case = self.held(case)
        if missing := text_gap(case.sample, ANSWER):
            return Score.undefined(self.name, missing)
        if not case.sample.source_ids:
            return Score.undefined(self.name, Reason.NO_CONTEXTS)
        if gap := claims_gap(case, ANSWER):
            return Score.undefined(self.name, gap)
        checks = self.checks(case)
        return Score.share(self.name, [self.worth(case.label(check)) for check in checks], basis=names(checks))
