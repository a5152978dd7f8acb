"""From a unit of a draw to what its reviewer is shown."""

from __future__ import annotations

from collections.abc import Sequence

from judgekit.errors import InputError
from judgekit.metrics.sources import cited_sources
from judgekit.records import ANSWER, REFERENCE, THE_ANSWER, THE_REFERENCE, Case, Claim, Result
from judgekit.review.records import JudgeSaid, Passage, ReviewUnit
from judgekit.sampling import Unit


def shown(result: Result, unit: Unit, *, export_id: str, visible: bool) -> ReviewUnit:
    """What a reviewer may see of a unit of this result; with `visible` also what the judge said.

    InputError: the result holds no such claim.
    """
    case = result.case
    if unit.claim_id is None:
        return _whole(case, unit, export_id)
    claim = next((one for one in case.claims if one.id == unit.claim_id), None)
    if claim is None:
        raise InputError(f"row {result.id!r} holds no claim {unit.claim_id!r}; draw the units from this run")
    text = case.sample.answer if claim.side == ANSWER else case.sample.reference or ""
    return ReviewUnit(
        export_id=export_id,
        unit_id=unit.unit_id,
        kind="verdict",
        question=case.sample.question,
        text=text,
        side=claim.side,
        claim=claim.text,
        span=_trimmed(text, claim),
        markers=_markers(case, claim),
        passages=_passages(case, unit.sources, cited=cited_sources(case, claim)),
        judge=_said(case, unit) if visible else None,
    )


def _whole(case: Case, unit: Unit, export_id: str) -> ReviewUnit:
    return ReviewUnit(
        export_id=export_id,
        unit_id=unit.unit_id,
        kind="sample",
        question=case.sample.question,
        text=case.sample.answer,
        side=ANSWER,
        claims=tuple(claim.text for claim in case.claims_of(ANSWER)),
        passages=_passages(case, case.sample.source_ids, cited=()),
    )


def _trimmed(text: str, claim: Claim) -> tuple[int, int]:
    """The span of a claim without the white space around it."""
    piece = text[claim.start : claim.end]
    start = claim.start + len(piece) - len(piece.lstrip())
    return start, start + len(piece.strip())


def _markers(case: Case, claim: Claim) -> tuple[str, ...]:
    text = case.sample.answer if claim.side == ANSWER else case.sample.reference or ""
    segments = case.reference_segments if claim.side == REFERENCE else case.segments
    citations = [one for segment in segments if segment.id in claim.segment_ids for one in segment.citations]
    are_logged = case.sample.citations is not None
    return tuple(dict.fromkeys(one.label if are_logged else text[one.start : one.end] for one in citations))


def _passages(case: Case, sources: Sequence[str], *, cited: Sequence[str]) -> tuple[Passage, ...]:
    sample = case.sample
    if tuple(sources) == THE_REFERENCE:
        return (Passage(context_id=sources[0], text=sample.reference or ""),)
    if tuple(sources) == THE_ANSWER:
        return (Passage(context_id=sources[0], text=sample.answer),)
    ranks = {context.id: rank for rank, context in reversed(list(enumerate(sample.contexts, start=1)))}
    in_order = sorted(sources, key=lambda source: (source not in cited, ranks[source]))
    contexts = [sample.context(source) for source in in_order]
    return tuple(
        Passage(
            context_id=context.id,
            text=context.text,
            title=context.title,
            doc_id=context.doc_id,
            version=context.version,
            rank=ranks[context.id],
            is_cited=context.id in cited,
        )
        for context in contexts
    )


def _said(case: Case, unit: Unit) -> JudgeSaid | None:
    verdict = case.verdict(unit.check)
    if verdict is None:
        return None
    return JudgeSaid(
        label=verdict.label,
        quotes=tuple((evidence.context_id, evidence.quote) for evidence in verdict.evidence),
        reason=verdict.reason,
        probabilities=verdict.probabilities,
    )
