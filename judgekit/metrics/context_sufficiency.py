"""Context sufficiency: did retrieval bring what it takes to answer the question?"""

from __future__ import annotations

from dataclasses import dataclass

from judgekit.metrics.base import NOTHING, Metric, require_share
from judgekit.metrics.means import as_one_item
from judgekit.records import Case, Need, Sample, Score


@dataclass(frozen=True, kw_only=True)
class ContextSufficiency(Metric):
    """1.0 when the contexts together hold the whole answer to the question, `partly` when a part of it, else 0.0.

    The label is the rating: `yes`, `partly` or `no`. The sample counts as one item: numerator = value, denominator
    = 1. Range [0, 1]. Neither answer nor reference is shown, so the score is one of retrieval alone. No context with
    text: 0.0, labelled `no`, without a judge.
    None: `unjudged`. Source: Joren et al. 2024, "Sufficient Context" (arXiv 2411.06037), with a middle level.
    """

    name = "context_sufficiency"
    needs = frozenset({Need.SUFFICIENCY})

    partly: float = 0.5

    def __post_init__(self) -> None:
        require_share(self, "partly", self.partly)

    def needs_for(self, sample: Sample) -> frozenset[Need]:
        return self.needs if sample.source_ids else NOTHING

    def score(self, case: Case) -> Score:
        if not case.sample.source_ids:
            return self._of("no", note="no_contexts: no context has text; decided without a judge")
        rating = case.rated("sufficiency").get("contexts")
        if rating is None or rating.label is None:
            return as_one_item(self.name, low=0.0, high=1.0, judged=False, basis=["contexts"])
        return self._of(rating.label)

    def _of(self, label: str, *, note: str | None = None) -> Score:
        value = {"yes": 1.0, "partly": self.partly}.get(label, 0.0)
        score = as_one_item(self.name, low=value, high=value, judged=True, note=note, basis=["contexts"])
        return score.having(label=label)
