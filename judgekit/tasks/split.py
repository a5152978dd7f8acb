"""Splitting segments into claims: the extraction that all claim metrics share.

The extractor is not trusted with the denominator. A claim must speak of what its own segment says, or it is an
invention and is dropped; the claims of a segment must between them carry its numbers and most of its words, or the
segment is asked again. What still fails stands as its own claim.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from judgekit.prompts import Prompts
from judgekit.records import Citation, Claim, Segment, Side
from judgekit.segment.words import content_words, is_unspaced, normalised, numbers, share_of
from judgekit.wire import Answer, JudgeRequest, Texts

NAME = "split"
TEMPLATES = ("split",)

#: Share of a claim's words that must occur in the text or the question; a script without spaces is compared in pairs
#: of characters, of which a paraphrase keeps fewer.
TRACED_FROM = 0.5
TRACED_FROM_UNSPACED = 0.3
#: Share of a segment's words that its claims must carry; more where a claim was dropped, for it may have been a fact.
COVERED_FROM = 0.5
COVERED_FROM_AFTER_A_DROP = 0.8
#: A segment of at most so many content words ("Yes.", "It does.") says something only together with the question.
SHORT = 2
_STATES_NOTHING = ("?", ":", "\uff1f", "\uff1a")


def splittable(segments: Iterable[Segment]) -> list[Segment]:
    """The segments that can state something."""
    return [segment for segment in segments if segment.may_state]


def request(
    prompts: Prompts, *, question: str, text: str, segments: Iterable[Segment], again: bool = False
) -> JudgeRequest:
    """The claims of each segment. `again`: the last list of these segments was faulty."""
    ask = prompts.render(NAME, "again" if again else "ask")
    return JudgeRequest(
        task=NAME,
        role=prompts.render(NAME, "role"),
        input=prompts.render(NAME, "input", question=question, text=text),
        questions=tuple(
            Texts(id=segment.id, ask=ask, text=prompts.render(NAME, "question", sentence=segment.bare))
            for segment in segments
        ),
    )


class Draft(NamedTuple):
    """What the extractor made of one segment. `fault` is why it must be asked again; None when it holds."""

    segment: Segment
    claims: tuple[str, ...]
    invented: tuple[str, ...]
    fault: str | None
    answered: bool


def read(answers: Mapping[str, Answer], segments: Iterable[Segment], *, question: str, text: str) -> list[Draft]:
    """One draft a segment, checked against the segment it came from."""
    vocabulary = content_words(text) | content_words(question)
    asked_numbers = numbers(question)
    drafts = [_draft(segment, answers.get(segment.id), vocabulary, asked_numbers) for segment in segments]
    return _placed(drafts)


def _draft(
    segment: Segment, answer: Answer | None, vocabulary: AbstractSet[str], asked_numbers: AbstractSet[str]
) -> Draft:
    if answer is None or answer.texts is None:
        return Draft(segment, (), (), answer.cause if answer and answer.cause else "missing", answered=False)
    own = content_words(segment.bare)
    kept: dict[str, str] = {}
    invented: list[str] = []
    for claim in (" ".join(text.split()) for text in answer.texts):
        if not any(sign.isalnum() for sign in claim):
            continue
        if _is_traced(claim, segment, own, vocabulary):
            kept.setdefault(normalised(claim), claim)
        else:
            invented.append(claim)
    claims = tuple(kept.values())
    fault = _gap(segment, own, claims, asked_numbers, least=COVERED_FROM_AFTER_A_DROP if invented else COVERED_FROM)
    if invented and not claims:
        fault = "invented"
    elif any(_is_fragment(claim) for claim in claims) and not _is_fragment(segment.bare):
        fault = "fragments"
    return Draft(segment, claims, tuple(invented), fault, answered=True)


def _placed(drafts: list[Draft]) -> list[Draft]:
    """A claim that was listed under several segments stays where most of its words stand; all of them, when equal."""
    best: dict[str, float] = {}
    for draft in drafts:
        for claim in draft.claims:
            best[normalised(claim)] = max(best.get(normalised(claim), 0.0), _fit(claim, draft.segment))
    return [
        _kept(draft, [c for c in draft.claims if _fit(c, draft.segment) == best[normalised(c)]]) for draft in drafts
    ]


def _kept(draft: Draft, claims: list[str]) -> Draft:
    """The draft with these of its claims; one that loses all it had is asked again, for it may state something else."""
    fault = "misplaced" if draft.claims and not claims else None
    return draft._replace(claims=tuple(claims), fault=draft.fault or fault)


def _fit(claim: str, segment: Segment) -> float:
    return share_of(content_words(claim), found_in=content_words(segment.bare))


def _is_traced(claim: str, segment: Segment, own: AbstractSet[str], vocabulary: AbstractSet[str]) -> bool:
    words = content_words(claim)
    if not words:
        return normalised(claim) in normalised(segment.bare)
    known = share_of(words, found_in=vocabulary)
    if len(own) <= SHORT and known == 1.0:  # "Yes." written out with the question, and nothing added
        return True
    least = TRACED_FROM_UNSPACED if is_unspaced(claim) else TRACED_FROM
    return share_of(words, found_in=own) > 0 and known >= least


def _is_fragment(text: str) -> bool:
    """True for a single word, which states nothing by itself; scripts without spaces have no single words."""
    return text.isascii() and len(text.split()) == 1


def _gap(
    segment: Segment, own: AbstractSet[str], claims: tuple[str, ...], asked_numbers: AbstractSet[str], *, least: float
) -> str | None:
    """`uncovered` when the claims leave out a number or most of the words of their segment."""
    said = content_words(" ".join(claims))
    if numbers(segment.bare) - asked_numbers - said and not segment.bare.rstrip().endswith(_STATES_NOTHING):
        return "uncovered"
    if len(own) <= SHORT:  # few words prove nothing about coverage, and what was kept is traced
        return None
    return "uncovered" if claims and share_of(own, found_in=said) < least else None


def settled(first: Iterable[Draft], again: Iterable[Draft]) -> list[Draft]:
    """The drafts after the second asking: of a faulty one the repaired form, or the segment as its own claim."""
    repaired = {draft.segment.id: draft for draft in again}
    return [_better(draft, repaired.get(draft.segment.id)) for draft in first]


def _better(first: Draft, second: Draft | None) -> Draft:
    if first.fault is None or second is None:
        return first
    invented = (*first.invented, *second.invented)
    if second.answered and second.fault is None:
        return second._replace(invented=invented)
    if not first.answered and not second.answered:
        return second
    return Draft(first.segment, (), invented, "whole", answered=True)


def claims_of(drafts: Sequence[Draft], side: Side, *, question: str) -> tuple[Claim, ...]:
    """Claims numbered over the whole text (a1, a2, ... or r1, r2, ...), each with the span and citations it inherits.

    A segment that is its own claim and too short to be understood alone is written behind the question.
    """
    claims: list[Claim] = []
    for draft in drafts:
        texts = (_alone(draft.segment.bare, question),) if draft.fault == "whole" else draft.claims
        for text in texts:
            citations = _own_citations(text, draft.segment) if len(texts) > 1 else draft.segment.citations
            claim_id = f"{side[0]}{len(claims) + 1}"
            claims.append(_claim(claim_id, side, text, draft, citations))
    return tuple(claims)


def _alone(bare: str, question: str) -> str:
    asked = " ".join(question.split())
    return f"{asked} {bare}" if asked and len(content_words(bare)) <= SHORT else bare


def whole_segments(segments: Iterable[Segment], side: Side, *, question: str) -> tuple[Claim, ...]:
    """The segments themselves as claims, where no extractor is asked."""
    drafts = [Draft(segment, (), (), "whole", answered=True) for segment in splittable(segments)]
    return claims_of(drafts, side, question=question)


def _claim(claim_id: str, side: Side, text: str, draft: Draft, citations: Iterable[Citation]) -> Claim:
    listed = list(citations)
    return Claim(
        id=claim_id,
        side=side,
        text=text,
        segment_ids=(draft.segment.id,),
        start=draft.segment.start,
        end=draft.segment.end,
        citations=tuple(dict.fromkeys(c.context_id for c in listed if c.context_id is not None)),
        dangling=tuple(dict.fromkeys(c.label for c in listed if c.context_id is None)),
        is_whole=draft.fault == "whole",
    )


def _own_citations(claim: str, segment: Segment) -> tuple[Citation, ...]:
    """The citations of the clause that a claim came from, where a segment cites at several places.

    The clause of a marker is the text since the marker before it. A claim that fits two clauses equally well, or that
    comes from the text after the last marker, keeps all citations of the segment.
    """
    places = sorted({(citation.start, citation.end) for citation in segment.citations})
    clauses: list[tuple[str, list[tuple[int, int]]]] = []
    at = segment.start
    for start, end in places:
        text = segment.text[at - segment.start : start - segment.start]
        if clauses and not content_words(text):
            clauses[-1][1].append((start, end))  # [1][2]: one clause, two markers
        else:
            clauses.append((text, [(start, end)]))
        at = max(at, end)
    if len(clauses) < 2:  # noqa: PLR2004  one clause: nothing to choose from
        return segment.citations
    tail = segment.text[at - segment.start :]
    words = content_words(claim)
    fits = [share_of(words, found_in=content_words(text)) for text in (*(text for text, _ in clauses), tail)]
    best = max(fits)
    if best == 0 or fits.count(best) > 1 or fits[-1] == best:
        return segment.citations
    spans = clauses[fits.index(best)][1]
    return tuple(c for c in segment.citations if (c.start, c.end) in spans)
