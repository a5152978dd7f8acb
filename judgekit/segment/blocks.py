"""The build of a text, line by line: paragraphs, list items, headings, tables, code, reference lists."""
# ruff: noqa: RUF001 - the signs of many scripts are meant

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from judgekit.records import SegmentKind
from judgekit.segment.references import reference_lines

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of whole lines of one kind; `signs` are its list, heading and quote signs, which are no words.

    Blocks are in order and do not overlap; between two of them there is only white space.
    """

    kind: SegmentKind
    start: int
    end: int
    signs: tuple[Span, ...] = ()

    @property
    def is_prose(self) -> bool:
        """True when sentences are to be sought in it."""
        return self.kind in ("sentence", "list_item")


_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_QUOTE_SIGN = re.compile(r"[ \t]*(?:>[ \t]?)+|[ \t]*")
_FENCE = re.compile(r"(`{3,})[^`]*$|(~{3,})")
_RULE = re.compile(r"([-*_=])(?:[ \t]*\1){2,}$")
_HEADING = re.compile(r"#{1,6}[ \t]+")
_BOLD = re.compile(r"(\*\*|__)(?=\S)[^*_]{1,80}(?<=[^\s.!?。！？])\1:?$")
_SEPARATOR_ROW = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?$")
_ITEM = re.compile(
    r"[-*+•‣◦▪●○∙·–—][ \t]+"
    r"|(?P<number>\d{1,3})(?:\[\d{1,3}\])*[.)](?:[ \t]+|$|(?=[^\W\d_a-z]))"
    r"|\d{1,3}[、．]|[①-⑳][ \t]*"
    r"|\((?:\d{1,2}|[a-z]|[ivx]{1,4})\)[ \t]+"
    r"|(?:[a-z]|[ivx]{1,4}|[A-Z])\)[ \t]+"
    r"|(?P<letter>[a-z])\.[ \t]+(?![a-z]\.)"
)
_TASK_BOX = re.compile(r"\[[ xX]\][ \t]+")
_ENDED = re.compile(r"[.!?:;。！？：।؟…][\"'”’»)\]*_]*(?:\s*\[[^\[\]]{0,40}\])*$")
_JOINED_FROM, _JOINED_TO = 60, 115


@dataclass(frozen=True)
class Line:
    """One line: `start`/`end` in the text, its words from `body` on (after the quote sign), without the break."""

    start: int
    end: int
    body: int
    words: str

    @cached_property
    def is_table_row(self) -> bool:
        return len(self.words) > 1 and self.words[0] == self.words[-1] == "|"

    @cached_property
    def is_separator_row(self) -> bool:
        return "|" in self.words and "-" in self.words and bool(_SEPARATOR_ROW.match(self.words))


def blocks(text: str) -> tuple[Block, ...]:
    """The blocks of a text, covering every line that is not blank.

    A table is one block a row, its header and separator lines together being one; a fence that is never closed
    runs to the end of the text. Lines that carry only a rule are blocks without words.
    """
    lines = list(_lines(text))
    return tuple(_Builder(lines, reference_lines([line.words for line in lines])).build())


def dead_stretches(text: str, found: Sequence[Block] | None = None) -> tuple[Span, ...]:
    """Where no marker counts: code, fenced or inline, and reference lists; in order."""
    dead: list[Span] = []
    for block in blocks(text) if found is None else found:
        if block.kind in ("code", "references"):
            dead.append((block.start, block.end))
        else:
            dead.extend(inline_code(text, block.start, block.end))
    return tuple(dead)


def inline_code(text: str, start: int, end: int) -> Iterator[Span]:
    """Stretches between two runs of equally many backticks."""
    runs = [match.span() for match in re.compile("`+").finditer(text, start, end)]
    closers: dict[int, list[int]] = {}
    for number in range(len(runs) - 1, -1, -1):
        closers.setdefault(runs[number][1] - runs[number][0], []).append(number)
    position = start
    for number, (low, high) in enumerate(runs):
        waiting = closers[high - low]
        while waiting and waiting[-1] <= number:
            waiting.pop()
        if low >= position and waiting:
            position = runs[waiting[-1]][1]
            yield low, position


def _lines(text: str) -> Iterator[Line]:
    for match in _LINE.finditer(text):
        sign = _QUOTE_SIGN.match(match.group())
        indent = sign.end() if sign else 0
        yield Line(match.start(), match.end(), match.start() + indent, match.group()[indent:].strip())


class _Builder:
    """Walks the lines once; `_open` is the paragraph or item that the next line may continue."""

    def __init__(self, lines: list[Line], references: frozenset[int]) -> None:
        self._lines = lines
        self._references = references
        self._done: list[Block] = []
        self._open: list[Line] = []
        self._kind: SegmentKind = "sentence"
        self._signs: list[Span] = []

    def build(self) -> list[Block]:
        at = 0
        while at < len(self._lines):
            at = self._take(at)
        self._close()
        return self._done

    def _take(self, at: int) -> int:
        """Deals with line `at` and what belongs to it; returns the number of the next line."""
        line = self._lines[at]
        if at in self._references:  # before blank lines: a list with gaps is one list
            return self._whole("references", at, self._while(at, lambda i: i in self._references))
        if not line.words:
            self._close()
            return at + 1
        if fence := _FENCE.match(line.words):
            return self._whole("code", at, self._fence_end(at, fence[1] or fence[2]))
        if table_end := self._table_end(at):
            return self._table(at, table_end)
        if _RULE.match(line.words):
            self._rule(line)
        elif heading := _HEADING.match(line.words):
            self._close()
            self._add("heading", line, sign=heading.end())
        elif self._is_bold_heading(at):
            self._close()
            self._add("heading", line)
        else:
            self._words(line)
        return at + 1

    def _while(self, at: int, holds: Callable[[int], bool]) -> int:
        """The number of the first line from `at` on for which it does not hold."""
        while at < len(self._lines) and holds(at):
            at += 1
        return at

    def _whole(self, kind: SegmentKind, at: int, end: int) -> int:
        self._close()
        lines = self._lines[at:end]
        self._done.append(Block(kind, lines[0].start, lines[-1].end))
        return end

    def _fence_end(self, at: int, fence: str) -> int:
        """The line after the one that closes the fence; without one, the end of the text."""
        closing = re.compile(rf"{re.escape(fence[0])}{{{len(fence)},}}$")
        last = self._while(at + 1, lambda i: not closing.match(self._lines[i].words))
        return min(last + 1, len(self._lines))

    def _table_end(self, at: int) -> int | None:
        """The line after the table that starts at `at`, if one does: a header over a separator, or rows in pipes."""
        line, below = self._lines[at], self._lines[at + 1 : at + 2]
        if "|" in line.words and below and below[0].is_separator_row:
            return self._while(at, lambda i: "|" in self._lines[i].words)
        if line.is_table_row and below and below[0].is_table_row:
            return self._while(at, lambda i: self._lines[i].is_table_row)
        return None

    def _table(self, at: int, end: int) -> int:
        """One block a row, so that a row keeps its own citations; the header states nothing and is all sign."""
        self._close()
        has_header = self._lines[at + 1].is_separator_row
        if has_header:
            head, rule = self._lines[at], self._lines[at + 1]
            self._done.append(Block("table", head.start, rule.end, ((head.start, rule.end),)))
        for line in self._lines[at + 2 * has_header : end]:
            signs = ((line.start, line.end),) if line.is_separator_row else ((line.start, line.body),)
            self._done.append(Block("table", line.start, line.end, signs))
        return end

    def _rule(self, line: Line) -> None:
        """A rule right under a single line without a stop makes that line a heading; any other is a sign alone."""
        underlined = line.words[0] in "-=" and self._kind == "sentence" and len(self._open) == 1
        if underlined and not _ENDED.search(self._open[0].words):
            self._kind = "heading"
            self._open.append(line)
            self._signs.append((line.start, line.end))
            self._close()
        else:
            self._close()
            self._done.append(Block("sentence", line.start, line.end, ((line.start, line.end),)))

    def _is_bold_heading(self, at: int) -> bool:
        """A line that is bold from end to end, with something under it: an answer may be one bold word."""
        if self._open or not _BOLD.match(self._lines[at].words):
            return False
        return any(line.words for line in self._lines[at + 1 : at + 3])

    def _words(self, line: Line) -> None:
        item = _ITEM.match(line.words)
        if item and not (self._open and _is_wrapped(self._open[-1]) and item["number"] not in (None, "1")):
            self._close()
            self._kind = "list_item"
            box = _TASK_BOX.match(line.words, item.end())
            self._signs.append((line.start, line.body + (box or item).end()))
        elif self._open and _continues(self._open[-1], line):
            if line.body > line.start:
                self._signs.append((line.start, line.body))
        else:
            was_item, self._kind = self._kind == "list_item" and bool(self._open), "sentence"
            indented = line.body > line.start
            kind: SegmentKind = "list_item" if was_item and indented else "sentence"
            self._close()
            self._kind = kind
            if indented:
                self._signs.append((line.start, line.body))
        self._open.append(line)

    def _add(self, kind: SegmentKind, line: Line, *, sign: int = 0) -> None:
        self._done.append(Block(kind, line.start, line.end, ((line.start, line.body + sign),)))

    def _close(self) -> None:
        if self._open:
            self._done.append(Block(self._kind, self._open[0].start, self._open[-1].end, tuple(self._signs)))
        self._open, self._signs, self._kind = [], [], "sentence"


def _is_wrapped(line: Line) -> bool:
    """True for a line as long as an editor or a mail program makes them, that ends in the middle of a sentence."""
    return _JOINED_FROM <= len(line.words) <= _JOINED_TO and not _ENDED.search(line.words)


def _continues(line: Line, after: Line) -> bool:
    """True when the line break is typography: the sentence, or the paragraph, goes on in the next line."""
    if line.words.endswith((":", "：")) or (after.words[0] in "[［【" and _ENDED.search(line.words)):
        return False
    first = re.search(r"[^\W\d_]", after.words)
    if (first and first.group().islower()) or line.words.endswith((",", "，")):
        return True
    return _JOINED_FROM <= len(line.words) <= _JOINED_TO
