"""Context entity recall: do the contexts name what the reference names?"""

from __future__ import annotations

from dataclasses import dataclass

from judgekit.metrics.base import NOTHING, Metric
from judgekit.metrics.gaps import nothing_supported, text_gap
from judgekit.records import REFERENCE, Case, Need, Reason, Sample, Score
from judgekit.segment.entities import occurs


@dataclass(frozen=True, kw_only=True)
class ContextEntityRecall(Metric):
    """Share of the reference's entities that some context names.

    Entities are the persons, organisations, places, products, works, events and dates that a judge finds in the
    reference and that stand there to the letter. Numerator: those that stand in the title or text of some context, in
    whole words, whatever the case and punctuation, or as their acronym (`segment.entities`); nobody is asked for that.
    Denominator: all of them. Range [0, 1]. No context with text: 0.0 without a judge (`nothing_supported` says over
    what).
    None: `no_reference`, `no_entities`, `unjudged` (the entities could not be had: nothing is known of the value).
    Source: Ragas "context entity recall", with the matching done by letters instead of by a model.
    """

    name = "context_entity_recall"
    needs = frozenset({Need.ENTITIES})

    def needs_for(self, sample: Sample) -> frozenset[Need]:
        return self.needs if sample.source_ids and not text_gap(sample, REFERENCE) else NOTHING

    def score(self, case: Case) -> Score:
        if missing := text_gap(case.sample, REFERENCE):
            return Score.undefined(self.name, missing)
        if not case.sample.source_ids:
            return nothing_supported(self.name, case.reference_segments)
        if case.entities is None:
            return Score(metric=self.name, value=None, reason=Reason.UNJUDGED, low=0.0, high=1.0)
        if not case.entities:
            return Score.undefined(self.name, Reason.NO_ENTITIES)
        texts = [
            text for context in case.sample.contexts if not context.is_blank for text in (context.title, context.text)
        ]
        found = [any(occurs(entity, text) for text in texts if text) for entity in case.entities]
        return Score.share(self.name, found, basis=case.entities)
