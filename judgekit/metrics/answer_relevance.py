"""Answer relevance: does the answer address what was asked, and little else?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from judgekit.metrics.base import NOTHING, Metric
from judgekit.metrics.gaps import claims_gap, text_gap
from judgekit.metrics.means import as_one_item, harmonic_score
from judgekit.records import ANSWER, Case, Need, Rating, Reason, Sample, Score


@dataclass(frozen=True, kw_only=True)
class AnswerRelevance(Metric):
    """Harmonic mean of how much of the question is answered and how much of the answer bears on it.

    First share: asks of the question labelled `answered` / asks. Second: answer claims that bear on the question /
    answer claims. Range [0, 1], exactly 1.0 when both are 1. The sample counts as one item: numerator = value,
    denominator = 1. No ask answered: 0.0, whatever else is said. No claim in the answer (a single word): the first
    share alone. An answer that declines every ask is None, `refused`, not 0.
    None: `no_answer`, `refused`, `unsplit`, `unjudged` (also when the question has no asks: nothing to hold it to).
    Source: own; Ragas "answer relevancy" without its embeddings, and with the answer's padding counted.
    """

    name = "answer_relevance"
    needs = frozenset({Need.ANSWER_CLAIMS, Need.BEARING})

    def needs_for(self, sample: Sample) -> frozenset[Need]:
        return NOTHING if text_gap(sample, ANSWER) or not sample.question.strip() else self.needs

    def score(self, case: Case) -> Score:
        if missing := text_gap(case.sample, ANSWER):
            return Score.undefined(self.name, missing)
        if not case.asks:
            return as_one_item(self.name, low=0.0, high=1.0, judged=False, note="the question has no asks")
        rated = case.rated("ask")
        labels = {rated[ask.id].label if ask.id in rated else None for ask in case.asks}
        if labels == {"declined"}:
            return Score.undefined(self.name, Reason.REFUSED)
        asked = self._share(rated, [ask.id for ask in case.asks], "answered")
        gap = claims_gap(case, ANSWER)
        if asked.value == 0 or gap is Reason.NO_CLAIMS:
            return harmonic_score(self.name, asked, asked)
        if gap:
            return Score.undefined(self.name, gap)
        bearing = self._share(case.rated("bearing"), [claim.id for claim in case.claims_of(ANSWER)], "yes")
        return harmonic_score(self.name, asked, bearing)

    def _share(self, rated: Mapping[str, Rating], subjects: Iterable[str], wanted: str) -> Score:
        basis = list(subjects)
        labels = [rated[subject].label if subject in rated else None for subject in basis]
        return Score.share(self.name, [None if label is None else label == wanted for label in labels], basis=basis)
