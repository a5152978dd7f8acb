"""Citation recall and precision as ALCE counts them (Gao et al. 2023, arXiv 2305.14627).

Supported means fully supported: the judge's `partially_supported` is 0 here. As in ALCE's code, a claim with a
dangling citation has recall 0 and its citations leave the precision's denominator; `citation_support` is the
metric in which an invented citation costs something. Unlike ALCE's code, a context cited twice by one claim counts
once, all citations are read (ALCE's default stops after three), and an answer without citations has no precision.
"""

from __future__ import annotations

from dataclasses import dataclass

from judgekit.metrics.base import VerdictMetric
from judgekit.metrics.citations import CitationMetric, checks_alone, citations_of
from judgekit.metrics.gaps import claims_gap
from judgekit.metrics.sources import cited_sources, dangling_note, without
from judgekit.metrics.support import names, support_mark, supports
from judgekit.records import ANSWER, Case, Check, Claim, Label, Reason, Score


def _clean(case: Case) -> list[Claim]:
    """The answer's claims without a dangling citation: the only ones whose verdicts can matter."""
    return [claim for claim in case.claims_of(ANSWER) if not claim.dangling]


def _together(case: Case) -> list[Check]:
    """Each clean claim held against all it cites at once."""
    cited = [(claim, cited_sources(case, claim)) for claim in _clean(case)]
    return [Check.of(claim, sources) for claim, sources in cited if sources]


@dataclass(frozen=True, kw_only=True)
class CitationRecall(CitationMetric, VerdictMetric):
    """Share of the answer's claims that the contexts they cite, taken together, support.

    Numerator: claims supported by their cited contexts. Denominator: all answer claims. Range [0, 1].
    A claim that cites nothing, only blanks, or anything that dangles, scores 0 without a judge.
    None: `no_answer`, `unsplit`, `no_claims`, `unjudged`. Source: ALCE.
    """

    name = "citation_recall"

    def checks(self, case: Case) -> list[Check]:
        return _together(case)

    def worth(self, label: Label) -> float | None:
        return support_mark(label)

    def score(self, case: Case) -> Score:
        case = self.held(case)
        if gap := claims_gap(case, ANSWER):
            return Score.undefined(self.name, gap)
        claims = case.claims_of(ANSWER)
        marks = [supports(case, claim, () if claim.dangling else cited_sources(case, claim)) for claim in claims]
        return Score.share(self.name, marks, basis=names(self.checks(case)), note=dangling_note(claims))


@dataclass(frozen=True, kw_only=True)
class CitationPrecision(CitationMetric, VerdictMetric):
    """Share of citations that belong to a supported claim and are not dispensable.

    Numerator: citations whose claim is supported by all it cites, and which support it alone or cannot be left out.
    Denominator: all citations of claims without a dangling one (those are only counted in the note). Range [0, 1].
    Two contexts that suffice only together both score 1; so do two that each suffice.
    None: `no_answer`, `unsplit`, `no_claims`, `no_citations`, `unjudged`. Source: ALCE.
    Checks come in two rounds: leaving one out is asked only where it can matter.
    """

    name = "citation_precision"

    def checks(self, case: Case) -> list[Check]:
        case = self.held(case)
        checks = _together(case)
        for claim in _clean(case):
            together = cited_sources(case, claim)
            checks += checks_alone(case, claim)
            if supports(case, claim, together):
                weak = [source for source in together if supports(case, claim, (source,)) is False]
                checks += [Check.of(claim, without(together, source)) for source in weak]
        # with one cited source or two, the lists name the same check again
        return list(dict.fromkeys(checks))

    def score(self, case: Case) -> Score:
        case = self.held(case)
        if gap := claims_gap(case, ANSWER):
            return Score.undefined(self.name, gap)
        marks = [_mark(case, claim, alone) for claim in _clean(case) for alone in citations_of(case, claim)]
        note = dangling_note(case.claims_of(ANSWER))
        if not marks:
            return Score.undefined(self.name, Reason.NO_CITATIONS, note=note)
        return Score.share(self.name, marks, basis=names(self.checks(case)), note=note)


def _mark(case: Case, claim: Claim, alone: tuple[str, ...]) -> float | None:
    """1 for a citation that counts, 0 for one that does not, None while a verdict that decides it is missing."""
    if not alone:
        return 0.0  # a blank context never supports, and leaving it out changes nothing
    together = cited_sources(case, claim)
    whole = supports(case, claim, together)
    if not whole:
        return whole
    suffices = supports(case, claim, alone)
    if suffices is not False:
        return suffices
    others = supports(case, claim, without(together, alone[0]))
    return None if others is None else not others
