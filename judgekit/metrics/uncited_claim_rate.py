"""Uncited claim rate: how much of the answer names no source?"""

from __future__ import annotations

from dataclasses import dataclass

from judgekit.metrics.citations import CitationMetric
from judgekit.metrics.gaps import claims_gap
from judgekit.metrics.sources import dangling_note
from judgekit.records import ANSWER, Case, Score


@dataclass(frozen=True, kw_only=True)
class UncitedClaimRate(CitationMetric):
    """Share of the answer's claims that cite no retrieved context. Lower is better.

    Numerator: claims without a citation. A claim whose only citations dangle names no source that exists: it is
    uncited, and the dangling citations are counted in the note. Denominator: all answer claims, since what needs no
    citation is no claim. Range [0, 1]; an answer without any citation has 1.0. It asks nothing.
    None: `no_answer`, `unsplit`, `no_claims`.
    Source: the complement of TREC RAG's share of cited sentences (arXiv 2504.15205), over claims.
    """

    name = "uncited_claim_rate"
    lower_is_better = True

    def score(self, case: Case) -> Score:
        if gap := claims_gap(case, ANSWER):
            return Score.undefined(self.name, gap)
        claims = case.claims_of(ANSWER)
        uncited = [not claim.citations for claim in claims]
        return Score.share(self.name, uncited, basis=[claim.id for claim in claims], note=dangling_note(claims))
