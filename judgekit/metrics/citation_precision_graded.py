"""Citation precision with partial support: a citation that adds a needed part counts."""

from __future__ import annotations

from dataclasses import dataclass

from judgekit.metrics.base import VerdictMetric
from judgekit.metrics.citations import CitationMetric, checks_alone, citations_of
from judgekit.metrics.gaps import claims_gap
from judgekit.metrics.sources import cited_sources, dangling_note
from judgekit.metrics.support import label_for, names, supports
from judgekit.records import ANSWER, Case, Check, Claim, Label, Reason, Score


@dataclass(frozen=True, kw_only=True)
class CitationPrecisionGraded(CitationMetric, VerdictMetric):
    """Share of citations that support their claim, fully or as a part of what only together supports it.

    Numerator: citations that support the claim fully, or partially where all cited contexts together support it
    fully and none does alone. Denominator: all citations, dangling ones too (mark 0, counted in the note).
    Range [0, 1]. None: `no_answer`, `unsplit`, `no_claims`, `no_citations`, `unjudged`.
    Neither this nor `citation_precision` bounds the other. The joint check is asked only where it can matter.
    Source: Liu, Zhang, Liang 2023 (arXiv 2304.09848), rule as retold in ALCE, appendix D.
    """

    name = "citation_precision_graded"

    def checks(self, case: Case) -> list[Check]:
        case = self.held(case)
        checks: list[Check] = []
        for claim in case.claims_of(ANSWER):
            alone = checks_alone(case, claim)
            labels = [case.label(check) for check in alone]
            checks += alone
            if len(alone) > 1 and Label.PARTIALLY_SUPPORTED in labels and Label.SUPPORTED not in labels:
                checks.append(Check.of(claim, cited_sources(case, claim)))
        return checks

    def score(self, case: Case) -> Score:
        case = self.held(case)
        if gap := claims_gap(case, ANSWER):
            return Score.undefined(self.name, gap)
        marks: list[float | None] = []
        claims = case.claims_of(ANSWER)
        for claim in claims:
            marks += [_mark(case, claim, alone) for alone in citations_of(case, claim)]
            marks += [0.0] * len(claim.dangling)
        if not marks:
            return Score.undefined(self.name, Reason.NO_CITATIONS)
        return Score.share(self.name, marks, basis=names(self.checks(case)), note=dangling_note(claims))


def _mark(case: Case, claim: Claim, alone: tuple[str, ...]) -> float | None:
    """1 for a citation that counts, 0 for one that does not, None while a verdict that decides it is missing."""
    label = label_for(case, claim, alone)
    if label is not Label.PARTIALLY_SUPPORTED:
        return supports(case, claim, alone)
    together = cited_sources(case, claim)
    suffices = [supports(case, claim, (source,)) for source in together]
    whole = supports(case, claim, together)
    if True in suffices or whole is False:
        return 0.0
    return None if None in suffices else whole
