"""What every sheet shows and asks, in words and in order, whatever its format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from judgekit.records import ANSWER
from judgekit.review.records import OFFERED, ClaimCheck, Passage, ReviewUnit

#: How a unit and the draw it came from are named in every format.
UNIT_ID, EXPORT_ID = "unit_id", "export_id"

#: Before and after the part of a text that the claim came from, where a format has no other way to mark it.
MARKS = (">>", "<<")

GUIDE = (
    "Judge each claim by the evidence alone, not by what you know. supported: the evidence says so, or it follows "
    "directly. not_supported: the evidence does not say so, says so only in part, or says otherwise. cannot_tell: a "
    "fair reader could see it either way."
)
GUIDE_WHOLE = (
    "Judge the whole answer by its sources alone. supported: everything it states is in the sources. not_supported: "
    "something is not. Then count the statements of the answer that none of the listed claims covers."
)


class Column(NamedTuple):
    """Something that a reviewer fills in: its name, what it asks, and the values it may have (none: any)."""

    name: str
    asks: str
    options: tuple[str, ...] = ()


VERDICT = Column("verdict", "Does the evidence support the claim?", tuple(OFFERED))
CLAIM_OK = Column("claim_ok", "Is it a claim of the answer? (optional)", tuple(ClaimCheck))
EVIDENCE = Column("evidence_id", "Id of the evidence that decides (optional)")
MISSED = Column("missed", "How many statements of the answer are in no listed claim?")
NOTE = Column("note", "Note (optional)")
REVIEWER = Column("reviewer", "Your name")
MINUTES = Column("minutes", "Minutes spent (optional)")

_OF_CLAIMS = (VERDICT, CLAIM_OK, EVIDENCE, NOTE)
_OF_ANSWERS = (VERDICT._replace(asks="Do the sources support all that the answer states?"), MISSED, NOTE)


def asked(units: Sequence[ReviewUnit]) -> tuple[Column, ...]:
    """What a reviewer fills in for these units, beside name and time."""
    return _OF_ANSWERS if is_whole(units) else _OF_CLAIMS


def is_whole(units: Sequence[ReviewUnit]) -> bool:
    """Whether these are whole answers; a sheet holds one kind of unit."""
    return any(unit.kind == "sample" for unit in units)


def marked(unit: ReviewUnit) -> str:
    """The text of a unit with the part that the claim came from between `>>` and `<<`."""
    before, part, after = in_three(unit)
    return f"{before}{MARKS[0]}{part}{MARKS[1]}{after}" if part else unit.text


def in_three(unit: ReviewUnit) -> tuple[str, str, str]:
    """The text before, in and after the part that the claim came from; all of it is before, if that is not known."""
    start, end = unit.span or (len(unit.text), len(unit.text))
    return unit.text[:start], unit.text[start:end], unit.text[end:]


def taken_from(unit: ReviewUnit) -> str:
    """What the text of a unit is called."""
    return "answer" if unit.side == ANSWER else "reference"


def head(passage: Passage) -> str:
    """One line that says what a passage is: `[d7#3] Terms of use (cited, rank 2, document d7, version 2026-03)`."""
    facts = [
        *(("cited",) if passage.is_cited else ()),
        *((f"rank {passage.rank}",) if passage.rank else ()),
        *((f"document {passage.doc_id}",) if passage.doc_id else ()),
        *((f"version {passage.version}",) if passage.version else ()),
    ]
    told = f"({', '.join(facts)})" if facts else ""
    return " ".join(f"[{passage.context_id}] {passage.title or ''} {told}".split())


def listed(claims: Iterable[str]) -> str:
    """Claims, numbered, a line each."""
    return "\n".join(f"{number}. {' '.join(claim.split())}" for number, claim in enumerate(claims, start=1))


def said(unit: ReviewUnit) -> Iterator[tuple[str, str]]:
    """What the judge said, as (name, text): nothing at all in a blind sheet."""
    if unit.judge is None:
        return
    yield "judge_verdict", unit.judge.label.value
    if unit.judge.reason:
        yield "judge_reason", unit.judge.reason
    for number, (context_id, quote) in enumerate(unit.judge.quotes, start=1):
        yield f"judge_quote_{number}", f"[{context_id}] {quote}"
