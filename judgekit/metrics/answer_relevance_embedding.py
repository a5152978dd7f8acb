"""Answer relevance by embeddings: are the questions that the answer answers like the one that was asked?"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum

from judgekit.metrics.base import NOTHING, Metric
from judgekit.metrics.gaps import text_gap
from judgekit.metrics.means import as_one_item
from judgekit.records import ANSWER, Case, Need, Reason, Sample, Score


@dataclass(frozen=True, kw_only=True)
class AnswerRelevanceEmbedding(Metric):
    """Mean cosine between the question and the questions that a judge writes from the answer alone, up to three.

    A negative cosine counts as 0, and none counts as more than 1. Range [0, 1], but embeddings of any two questions
    are alike to a degree, so values are to be compared only under one embeddings model, and seldom come near 0. The
    sample counts as one item: numerator = value, denominator = 1. An answer that declines is None, `refused`.
    None: `no_answer`, `refused`, `unjudged` (no questions, no vectors, no verdict on refusal, or no question asked).
    Source: Ragas "answer relevancy" (Es et al. 2023, arXiv 2309.15217), where a refusal is 0.
    """

    name = "answer_relevance_embedding"
    needs = frozenset({Need.REVERSE_QUESTIONS, Need.REFUSAL})

    def needs_for(self, sample: Sample) -> frozenset[Need]:
        return NOTHING if text_gap(sample, ANSWER) or not sample.question.strip() else self.needs

    def score(self, case: Case) -> Score:
        if missing := text_gap(case.sample, ANSWER):
            return Score.undefined(self.name, missing)
        if not case.sample.question.strip():
            return as_one_item(self.name, low=0.0, high=1.0, judged=False, note="there is no question")
        rating = case.rated("refusal").get("answer")
        refused = rating.label if rating else None
        if refused == "yes":
            return Score.undefined(self.name, Reason.REFUSED)
        likenesses = case.likenesses or ()
        cosines = [None if one.cosine is None else min(1.0, max(0.0, one.cosine)) for one in likenesses] or [None]
        known = [cosine for cosine in cosines if cosine is not None]
        low, high = (fsum([*known, *[unknown] * (len(cosines) - len(known))]) / len(cosines) for unknown in (0.0, 1.0))
        judged = refused is not None and len(known) == len(cosines)
        return as_one_item(self.name, low=low, high=high, judged=judged, basis=[one.text for one in likenesses])
