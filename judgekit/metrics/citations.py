"""What all citation metrics share: they read the answer's claims, and nothing without an answer."""

from __future__ import annotations

from judgekit.metrics.base import NOTHING, Metric
from judgekit.metrics.gaps import text_gap
from judgekit.metrics.sources import cited_source, cited_sources
from judgekit.records import ANSWER, Case, Check, Claim, Need, Sample


class CitationMetric(Metric):
    """A metric over the answer's claims and the contexts they cite.

    A citation is one (claim, cited context) pair; a context cited twice by one claim is one citation. Contexts
    with the same text are judged as one source. A blank context supports nothing, and nobody is asked.
    """

    needs = frozenset({Need.ANSWER_CLAIMS})

    def needs_for(self, sample: Sample) -> frozenset[Need]:
        return NOTHING if text_gap(sample, ANSWER) else self.needs


def citations_of(case: Case, claim: Claim) -> list[tuple[str, ...]]:
    """The sources of each citation of a claim, taken alone: one source, or none for a blank context."""
    sources = (cited_source(case, context_id) for context_id in claim.citations)
    return [() if source is None else (source,) for source in sources]


def checks_alone(case: Case, claim: Claim) -> list[Check]:
    """The claim held against each source it cites, one at a time."""
    return [Check.of(claim, (source,)) for source in cited_sources(case, claim)]
