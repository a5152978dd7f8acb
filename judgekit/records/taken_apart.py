"""What a text is taken apart into: segments, citations, claims, asks."""

from __future__ import annotations

from typing import Literal

from judgekit.records.base import Record

Side = Literal["answer", "reference"]
ANSWER: Side = "answer"
REFERENCE: Side = "reference"

SegmentKind = Literal["sentence", "list_item", "heading", "table", "code", "references"]


class Citation(Record):
    """One citation: `text[start:end]` is its marker, `label` what it names, `context_id` where it points.

    A citation to nothing that was retrieved is kept with `context_id` None: it dangles.
    """

    start: int
    end: int
    label: str
    context_id: str | None = None

    @property
    def is_dangling(self) -> bool:
        return self.context_id is None


class Segment(Record):
    """A numbered stretch of the answer or the reference; all segments together are the whole text.

    `text` is the raw slice [start:end]; `bare` is what is left without citation markers and list signs.
    """

    id: str
    start: int
    end: int
    text: str
    bare: str
    kind: SegmentKind = "sentence"
    citations: tuple[Citation, ...] = ()

    @property
    def may_state(self) -> bool:
        """True when the segment can hold a claim: headings, code, reference lists and bare signs cannot."""
        return self.kind in ("sentence", "list_item", "table") and any(sign.isalnum() for sign in self.bare)


class Claim(Record):
    """One checkable statement of the answer or the reference.

    `start`/`end` are characters of the text it came from; `citations` are the ids of the contexts it cites
    (each once), `dangling` the labels of its citations that point nowhere. `is_whole` marks a segment that
    serves as its own claim.
    """

    id: str
    side: Side
    text: str
    segment_ids: tuple[str, ...]
    start: int
    end: int
    citations: tuple[str, ...] = ()
    dangling: tuple[str, ...] = ()
    is_whole: bool = False


class Ask(Record):
    """One thing the question asks for."""

    id: str
    text: str
