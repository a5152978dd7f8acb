"""Citation support: does each cited context, read alone, bear out the claim that cites it?"""

from __future__ import annotations

from dataclasses import dataclass

from judgekit.metrics.base import VerdictMetric, require_share
from judgekit.metrics.citations import CitationMetric, checks_alone, citations_of
from judgekit.metrics.gaps import claims_gap
from judgekit.metrics.sources import dangling_note
from judgekit.metrics.support import label_for, support_mark
from judgekit.records import ANSWER, Case, Check, Label, Reason, Score


@dataclass(frozen=True, kw_only=True)
class CitationSupport(CitationMetric, VerdictMetric):
    """Share of (claim, cited context) pairs in which that context alone supports the claim.

    Numerator: pairs labelled `supported`, plus `partial` for each `partially_supported` one.
    Denominator: all pairs; a citation to nothing that was retrieved is a pair too, with mark 0, and is counted in
    the note as dangling. Range [0, 1]. The basis names every pair: `c1@d4`, or `c1@?7` for a dangling label 7.
    A claim that only an uncited context supports is faithful, but its citation is not supported.
    None: `no_answer`, `unsplit`, `no_claims`, `no_citations`, `unjudged`.
    Source: Liu, Zhang, Liang 2023 (arXiv 2304.09848), citation precision of a single citation.
    """

    name = "citation_support"

    partial: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_share(self, "partial", self.partial)

    def checks(self, case: Case) -> list[Check]:
        return [check for claim in case.claims_of(ANSWER) for check in checks_alone(case, claim)]

    def worth(self, label: Label) -> float | None:
        return support_mark(label, partial=self.partial)

    def counted(self, case: Case) -> list[Check]:
        pairs = [(claim, sources) for claim in case.claims_of(ANSWER) for sources in citations_of(case, claim)]
        return [Check.of(claim, sources) for claim, sources in pairs if sources]

    def score(self, case: Case) -> Score:
        case = self.held(case)
        if gap := claims_gap(case, ANSWER):
            return Score.undefined(self.name, gap)
        marks: list[float | None] = []
        basis: list[str] = []
        claims = case.claims_of(ANSWER)
        for claim in claims:
            alone = citations_of(case, claim)
            marks += [support_mark(label_for(case, claim, sources), partial=self.partial) for sources in alone]
            marks += [0.0] * len(claim.dangling)
            basis += [f"{claim.id}@{cited}" for cited in claim.citations]
            basis += [f"{claim.id}@?{label}" for label in claim.dangling]
        if not marks:
            return Score.undefined(self.name, Reason.NO_CITATIONS)
        return Score.share(self.name, marks, basis=basis, note=dangling_note(claims))


@dataclass(frozen=True, kw_only=True)
class CitationSupportWeighted(CitationSupport):
    """Citation support in which partial support earns half: sum of weights / citations.

    Numerator: 1 a `supported` pair, `partial` (0.5) a `partially_supported` one. Denominator, range, None cases
    and checks are those of `citation_support`.
    Source: the weighted precision of the TREC RAG 2024 support evaluation (arXiv 2504.15205).
    """

    name = "citation_support_weighted"

    partial: float = 0.5
