"""Cuts an answer or a reference into numbered segments that lose no character, each with its citations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from judgekit.records import Citation, CitedSpan, Context, Segment, SegmentKind
from judgekit.segment.blocks import Block, blocks, dead_stretches
from judgekit.segment.cuts import Cuts, bare, cuts
from judgekit.segment.language import language
from judgekit.segment.markers import Marker, find_markers, known_names, scan
from judgekit.segment.sentences import sentence_starts
from judgekit.segment.sources import Base, Sources

__all__ = ["Base", "Marker", "Sources", "find_markers", "segment"]

Span = tuple[int, int]


def segment(
    text: str,
    contexts: Sequence[Context] = (),
    *,
    spans: Sequence[CitedSpan] | None = None,
    base: Base = "auto",
    prefix: str = "s",
) -> tuple[Segment, ...]:
    """The segments of a text, in order: the texts joined are the text, for any string; `()` for the empty one.

    One segment is a sentence (also within a list item), a heading, a table row, a block of code or a reference
    list; white space and pieces without words go with what stands before them. A table's header and separator
    lines are one segment with an empty `bare`, for they state nothing.

    Citations come from the markers in the text or, when `spans` is given (even empty), from the spans alone: each
    segment that shares a non-space character with a span cites its contexts; its `dangling` labels point to no
    context, whatever the ids are. Markers leave `bare` in either case, except where one serves as a word
    ("according to [2]").

    `base` says what a number means: 0 or 1 make it a rank among `contexts`, counted from there. With "auto" it
    means the context with that id when all ids are integers, else a rank, counted from 0 only if the text cites
    source 0. (Ids "1".."n" in rank order do not keep a text that cites source 0 from being read as ranks from 0.)
    """
    found = blocks(text)
    dead = dead_stretches(text, found)
    markers = scan(text, names=known_names(contexts), skip=dead)
    taken = cuts(text, markers)
    pieces = _pieces(text, found, taken, dead)
    sources = Sources(contexts, base=base, markers=markers)
    cited = _cited(pieces, markers, sources) if spans is None else _spanned(text, pieces, spans, sources)
    return tuple(
        Segment(
            id=f"{prefix}{number}",
            start=piece.start,
            end=piece.end,
            text=text[piece.start : piece.end],
            bare=piece.bare,
            kind=piece.kind,
            citations=tuple(citations),
        )
        for number, (piece, citations) in enumerate(zip(pieces, cited, strict=True), 1)
    )


@dataclass(slots=True)
class _Piece:
    """A segment on its way: its start is final, its end when the next one has begun."""

    start: int
    end: int
    kind: SegmentKind
    bare: str = ""

    @property
    def has_words(self) -> bool:
        return self.kind in ("code", "references", "table") or any(map(str.isalnum, self.bare))


def _pieces(text: str, found: Sequence[Block], taken: Cuts, dead: Sequence[Span]) -> list[_Piece]:
    """The stretches that become segments, touching each other from 0 to the end of the text."""
    if not text:
        return []
    spoken_in = language(text)
    removed, kept = _Window(taken.removed), _Window(sorted((*taken.kept, *dead)))
    pieces: list[_Piece] = []
    for block in found:
        inner = removed.within(block.start, block.end)
        starts = [block.start]
        if block.is_prose:
            starts += sentence_starts(
                text,
                block.start,
                block.end,
                language=spoken_in,
                removed=inner,
                kept=kept.within(block.start, block.end),
                signs=block.signs,
            )
        out = sorted((*inner, *block.signs))
        window = _Window(out)
        for start, end in zip(starts, (*starts[1:], block.end), strict=True):
            words = bare(text, start, end, window.within(start, end))
            _add(pieces, _Piece(start, end, block.kind, _cells(words) if block.kind == "table" else words))
    return _touching(pieces or [_Piece(0, len(text), "sentence")], len(text))


def _cells(row: str) -> str:
    return re.sub(r" ?\| ?", " | ", row.strip("| "))


_NUMBER_ALONE = re.compile(r"\(?\d{1,3}[.)]$")


def _add(pieces: list[_Piece], piece: _Piece) -> None:
    """Appends a piece; one without words joins the last, and a number alone waits for the words it counts."""
    last = pieces[-1] if pieces else None
    if last is None:
        pieces.append(piece)
        return
    counts = last.kind == piece.kind and bool(_NUMBER_ALONE.match(last.bare))
    if counts or (not piece.has_words and last.kind not in ("code", "references")):
        last.end, last.bare = piece.end, f"{last.bare} {piece.bare}".strip()
    elif len(pieces) == 1 and not last.has_words:
        pieces[0] = _Piece(last.start, piece.end, piece.kind, piece.bare)
    else:
        pieces.append(piece)


def _touching(pieces: list[_Piece], end: int) -> list[_Piece]:
    pieces[0].start = 0
    for number, piece in enumerate(pieces):
        piece.end = pieces[number + 1].start if number + 1 < len(pieces) else end
    return pieces


class _Window:
    """Sorted, disjoint spans, asked for in order: each question starts where the last one did."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self._spans = tuple(spans)
        self._from = 0

    def within(self, start: int, end: int) -> tuple[Span, ...]:
        """The spans that overlap [start, end); a later question must not start earlier."""
        while self._from < len(self._spans) and self._spans[self._from][1] <= start:
            self._from += 1
        last = self._from
        while last < len(self._spans) and self._spans[last][0] < end:
            last += 1
        return self._spans[self._from : last]


def _cited(pieces: Sequence[_Piece], markers: Sequence[Marker], sources: Sources) -> Iterator[list[Citation]]:
    """For each piece the citations of the markers in it; a quotation over several sentences counts in each."""
    first = 0
    for piece in pieces:
        while first < len(markers) and markers[first].end <= piece.start:
            first += 1
        citations: list[Citation] = []
        for marker in markers[first:]:
            if marker.start >= piece.end:
                break
            citations.extend(sources.citations(marker))
        yield citations


def _spanned(
    text: str, pieces: Sequence[_Piece], spans: Sequence[CitedSpan], sources: Sources
) -> Iterator[list[Citation]]:
    """For each piece the citations of the spans that share a non-space character with it, in order of the spans."""
    by_start = sorted(enumerate(spans), key=lambda numbered: numbered[1].start)
    waiting = iter(by_start)
    upcoming = next(waiting, None)
    live: list[tuple[int, CitedSpan]] = []
    for piece in pieces:
        while upcoming and upcoming[1].start < piece.end:
            live.append(upcoming)
            upcoming = next(waiting, None)
        live = [(number, span) for number, span in live if span.end > piece.start]
        citations: list[Citation] = []
        for _, span in sorted(live, key=lambda numbered: (numbered[1].start, numbered[0])):
            low, high = max(span.start, piece.start), min(span.end, piece.end)
            if text[low:high].strip():
                citations.extend(sources.span_citation(low, high, id_) for id_ in dict.fromkeys(span.context_ids))
                citations.extend(
                    Citation(start=low, end=high, label=label, context_id=None)
                    for label in dict.fromkeys(span.dangling)
                )
        yield citations
