"""Refusal: did the answer decline, and did the contexts give it reason to?"""

from __future__ import annotations

from dataclasses import dataclass

from judgekit.metrics.base import NOTHING, Metric
from judgekit.metrics.gaps import text_gap
from judgekit.metrics.means import as_one_item
from judgekit.records import ANSWER, Case, Need, RatingKind, Sample, Score

#: (refused, contexts suffice) -> label
_TABLE = {
    (False, True): "answered_sufficient",
    (False, False): "answered_insufficient",
    (True, True): "over_refusal",
    (True, False): "due_refusal",
}


@dataclass(frozen=True, kw_only=True)
class Refusal(Metric):
    """1.0 when the answer declines, else 0.0, with a label that sets it against what the contexts allowed.

    Labels: `answered_sufficient`, `answered_insufficient`, `over_refusal` (declined although the contexts sufficed),
    `due_refusal`. Contexts suffice only when rated `yes`; `partly` and `no` do not, and no context with text is
    insufficient without asking. Numerator: 1 for a refusal. Denominator: 1. Range: 0 or 1. It is a table, not a
    quality: neither direction is better, and it enters no other mean.
    None: `no_answer`, `unjudged` (one of the two ratings is missing; the bounds say what is known of the refusal).
    Source: Joren et al. 2024, "Sufficient Context" (arXiv 2411.06037).
    """

    name = "refusal"
    needs = frozenset({Need.REFUSAL, Need.SUFFICIENCY})

    def needs_for(self, sample: Sample) -> frozenset[Need]:
        if text_gap(sample, ANSWER):
            return NOTHING
        return self.needs if sample.source_ids else self.needs - {Need.SUFFICIENCY}

    def score(self, case: Case) -> Score:
        if missing := text_gap(case.sample, ANSWER):
            return Score.undefined(self.name, missing)
        refused = _is_yes(case, "refusal", "answer")
        suffices = _is_yes(case, "sufficiency", "contexts") if case.sample.source_ids else False
        basis = ["answer", "contexts"]
        if refused is None or suffices is None:
            low, high = (0.0, 1.0) if refused is None else (refused, refused)
            return as_one_item(self.name, low=low, high=high, judged=False, basis=basis)
        score = Score.share(self.name, [refused], basis=basis)
        return score.having(label=_TABLE[refused, suffices])


def _is_yes(case: Case, kind: RatingKind, subject: str) -> bool | None:
    rating = case.rated(kind).get(subject)
    return None if rating is None or rating.label is None else rating.label == "yes"
