"""What an answer owes to which context, and what to none: RAGChecker's metrics, from one matrix (see `matrix`).

For every sample in which they have a value: `matrix_faithfulness` + `hallucination` + `self_knowledge` = 1, and
1 - `answer_precision` = `hallucination` + `noise_sensitivity_relevant` + `noise_sensitivity_irrelevant`.
Unlike RAGChecker's code, what cannot be counted is None and not 0, so an abstention is not the worst answer there is.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from judgekit.metrics.base import NOTHING, Metric, VerdictMetric
from judgekit.metrics.gaps import claims_gap, text_gap
from judgekit.metrics.matrix import (
    Known,
    MatrixMetric,
    against_the_other,
    alone,
    both,
    entailed,
    first_gap,
    in_the_other,
    is_relevant,
    negated,
    some,
)
from judgekit.metrics.support import names, supports
from judgekit.records import ANSWER, REFERENCE, Case, Check, Claim, Need, Reason, Sample, Score


@dataclass(frozen=True, kw_only=True)
class ChunkAttribution(VerdictMetric):
    """Share of the contexts that alone support at least one claim of the answer.

    Numerator: such contexts. Denominator: contexts with text; a repeated text counts at each rank, as its first copy
    does, and the note counts the repeats. Range [0, 1]. The answer may be wrong: this tells what was used.
    None: `no_answer`, `no_contexts` (none with text), `unsplit`, `no_claims`, `unjudged`.
    Source: Galileo "chunk attribution", counted over RAGChecker's matrix.
    """

    name = "chunk_attribution"
    needs = frozenset({Need.ANSWER_CLAIMS})

    def needs_for(self, sample: Sample) -> frozenset[Need]:
        return NOTHING if self._gap(sample) else self.needs

    def checks(self, case: Case) -> list[Check]:
        return alone(case, ANSWER)

    def score(self, case: Case) -> Score:
        case = self.held(case)
        sample = case.sample
        if gap := self._gap(sample) or claims_gap(case, ANSWER):
            return Score.undefined(self.name, gap)
        listed = [context.id for context in sample.contexts if not context.is_blank]
        used = {
            source: some(supports(case, claim, (source,)) for claim in case.claims_of(ANSWER))
            for source in sample.source_ids
        }
        repeats = len(listed) - len(used)
        marks = [used[sample.first_of_text[context_id]] for context_id in listed]
        return Score.share(self.name, marks, basis=listed, note=f"{repeats} duplicate" if repeats else None)

    def _gap(self, sample: Sample) -> Reason | None:
        return text_gap(sample, ANSWER) or (None if sample.source_ids else Reason.NO_CONTEXTS)


@dataclass(frozen=True, kw_only=True)
class ContextUtilisation(VerdictMetric):
    """Share of what retrieval brought of the reference that the answer says too.

    Numerator: reference claims that some context alone supports and that the answer supports. Denominator: reference
    claims that some context alone supports. Range [0, 1]. Both rest on verdicts: where some are missing there is no
    denominator, and the bounds are the lowest and the highest value over all that they could have said.
    None: `no_reference`, `no_answer`, `no_contexts` (none with text), `unsplit`, `no_claims`, `nothing_recalled` (no
    context supports any reference claim), `unjudged`.
    Source: RAGChecker "context utilization".
    """

    name = "context_utilisation"
    needs = frozenset({Need.REFERENCE_CLAIMS})

    def needs_for(self, sample: Sample) -> frozenset[Need]:
        return NOTHING if self._gap(sample) else self.needs

    def checks(self, case: Case) -> list[Check]:
        return [] if self._gap(case.sample) else [*alone(case, REFERENCE), *against_the_other(case, REFERENCE)]

    def score(self, case: Case) -> Score:
        case = self.held(case)
        if gap := self._gap(case.sample) or claims_gap(case, REFERENCE):
            return Score.undefined(self.name, gap)
        claims = [(entailed(case, claim), in_the_other(case, claim)) for claim in case.claims_of(REFERENCE)]
        possible = [(recalled, used) for recalled, used in claims if recalled is not False]
        if not possible:
            return Score.undefined(self.name, Reason.NOTHING_RECALLED)
        basis = names(self.checks(case))
        if all(recalled and used is not None for recalled, used in possible):
            return Score.share(self.name, [used for _, used in possible], basis=basis)
        low, high = (_share_at(possible, unknown=unknown) for unknown in (False, True))
        return Score(metric=self.name, value=None, reason=Reason.UNJUDGED, low=low, high=high, basis=basis)

    def _gap(self, sample: Sample) -> Reason | None:
        texts = first_gap((text_gap(sample, REFERENCE), text_gap(sample, ANSWER)))
        return texts or (None if sample.source_ids else Reason.NO_CONTEXTS)


def _share_at(claims: Sequence[tuple[Known, Known]], *, unknown: bool) -> float:
    """The share of recalled claims that are used, when all that is unknown turns out for it or against it: an unknown
    use is `unknown`, and a claim that may be recalled is when it moves the share that way."""
    turned = [(recalled, unknown if used is None else used) for recalled, used in claims]
    counted = [used for recalled, used in turned if recalled or used is unknown]
    return sum(counted) / len(counted) if counted else float(not unknown)


@dataclass(frozen=True, kw_only=True)
class ClaimRecall(MatrixMetric):
    """Share of the reference's claims that some context alone supports.

    Numerator: such claims. Denominator: all reference claims. Range [0, 1]. A claim that needs two contexts together
    is not recalled here; it is in `context_recall`. No context with text: 0.0 without a judge.
    None: `no_reference`, `unsplit`, `no_claims`, `unjudged`. Source: RAGChecker "claim recall".
    """

    name = "claim_recall"
    needs = frozenset({Need.REFERENCE_CLAIMS})
    side = REFERENCE
    texts = (REFERENCE,)
    reads = (REFERENCE,)
    by_contexts_alone = True

    def checks(self, case: Case) -> list[Check]:
        return alone(case, REFERENCE)

    def mark(self, case: Case, claim: Claim) -> Known:
        return entailed(case, claim)


@dataclass(frozen=True, kw_only=True)
class MatrixFaithfulness(MatrixMetric):
    """Share of the answer's claims that some context alone supports.

    Numerator: such claims. Denominator: all answer claims. Range [0, 1]. A claim that needs two contexts together is
    not faithful here; it is in `faithfulness`. No context with text: 0.0 without a judge, but None for an answer that
    reads as a plain refusal.
    None: `no_answer`, `refused`, `unsplit`, `no_claims`, `unjudged`. Source: RAGChecker "faithfulness".
    """

    name = "matrix_faithfulness"
    needs = frozenset({Need.ANSWER_CLAIMS})
    by_contexts_alone = True

    def checks(self, case: Case) -> list[Check]:
        return alone(case, ANSWER)

    def mark(self, case: Case, claim: Claim) -> Known:
        return entailed(case, claim)


@dataclass(frozen=True, kw_only=True)
class SelfKnowledge(MatrixMetric):
    """Share of the answer's claims that are right and that no context alone supports.

    Numerator: claims that the reference supports and no context does. Denominator: all answer claims. Range [0, 1].
    Neither direction is better: it is what the generator knew by itself. With no context that has text it equals
    `answer_precision`.
    None: `no_reference`, `no_answer`, `unsplit`, `no_claims`, `unjudged`. Source: RAGChecker "self-knowledge".
    """

    name = "self_knowledge"
    needs = frozenset({Need.ANSWER_CLAIMS})
    texts = (REFERENCE, ANSWER)

    def checks(self, case: Case) -> list[Check]:
        if self._gap(case.sample):
            return []
        return [*alone(case, ANSWER), *against_the_other(case, ANSWER)]

    def mark(self, case: Case, claim: Claim) -> Known:
        return both(in_the_other(case, claim), negated(entailed(case, claim)))


@dataclass(frozen=True, kw_only=True)
class _WrongMetric(MatrixMetric):
    """A share of wrong claims, by where they come from. None is wrong when answer and reference say the same text."""

    lower_is_better = True
    needs = frozenset({Need.ANSWER_CLAIMS})
    texts = (REFERENCE, ANSWER)

    def checks(self, case: Case) -> list[Check]:
        is_asked = not self._gap(case.sample) and not self._is_decided(case.sample)
        wrong = against_the_other(case, ANSWER) if is_asked else []
        return [*wrong, *(check for side in self.reads for check in alone(case, side))] if wrong else []

    def mark(self, case: Case, claim: Claim) -> Known:
        return both(negated(in_the_other(case, claim)), self.comes_from_here(case, claim))

    @abstractmethod
    def comes_from_here(self, case: Case, claim: Claim) -> Known:
        """Whether the claim, if it is wrong, counts in this metric."""


@dataclass(frozen=True, kw_only=True)
class Hallucination(_WrongMetric):
    """Share of the answer's claims that are wrong and that no context alone supports. Lower is better.

    Numerator: claims that neither the reference nor any context supports. Denominator: all answer claims. Range [0, 1].
    With no context that has text it is 1 - `answer_precision`.
    None: `no_reference`, `no_answer`, `unsplit`, `no_claims`, `unjudged`. Source: RAGChecker "hallucination".
    """

    name = "hallucination"

    def comes_from_here(self, case: Case, claim: Claim) -> Known:
        return negated(entailed(case, claim))


@dataclass(frozen=True, kw_only=True)
class NoiseSensitivityRelevant(_WrongMetric):
    """Share of the answer's claims that are wrong and come from a relevant context. Lower is better.

    Numerator: claims that the reference does not support and a relevant context alone does. Denominator: all answer
    claims. Range [0, 1]. No context with text: 0.0 without a judge, but None for an answer that reads as a plain
    refusal. Relevant is what supports a claim of the reference, so both texts are split.
    None: `no_reference`, `no_answer`, `refused`, `unsplit` or `no_claims` (either side), `unjudged`.
    Source: RAGChecker "noise sensitivity in relevant chunks".
    """

    name = "noise_sensitivity_relevant"
    needs = frozenset({Need.ANSWER_CLAIMS, Need.REFERENCE_CLAIMS})
    reads = (ANSWER, REFERENCE)
    by_contexts_alone = True

    def comes_from_here(self, case: Case, claim: Claim) -> Known:
        return _from_relevant(case, claim, relevant=True)


@dataclass(frozen=True, kw_only=True)
class NoiseSensitivityIrrelevant(_WrongMetric):
    """Share of the answer's claims that are wrong and come from irrelevant contexts only. Lower is better.

    Numerator: claims that the reference does not support, an irrelevant context alone does, and no relevant one.
    Denominator, range, None cases and what is asked are those of `noise_sensitivity_relevant`; no claim is in both.
    Source: RAGChecker "noise sensitivity in irrelevant chunks", made exclusive as in its code.
    """

    name = "noise_sensitivity_irrelevant"
    needs = frozenset({Need.ANSWER_CLAIMS, Need.REFERENCE_CLAIMS})
    reads = (ANSWER, REFERENCE)
    by_contexts_alone = True

    def comes_from_here(self, case: Case, claim: Claim) -> Known:
        relevant = _from_relevant(case, claim, relevant=True)
        return both(_from_relevant(case, claim, relevant=False), negated(relevant))


def _from_relevant(case: Case, claim: Claim, *, relevant: bool) -> Known:
    """Whether a relevant context, or an irrelevant one, alone supports the claim."""
    return some(
        both(
            supports(case, claim, (source,)),
            is_relevant(case, source) if relevant else negated(is_relevant(case, source)),
        )
        for source in case.sample.source_ids
    )


#: What `attribution` stands for where metrics are chosen by name.
ATTRIBUTION: tuple[Metric, ...] = (
    ChunkAttribution(),
    ContextUtilisation(),
    NoiseSensitivityRelevant(),
    NoiseSensitivityIrrelevant(),
    Hallucination(),
    SelfKnowledge(),
    MatrixFaithfulness(),
    ClaimRecall(),
)
