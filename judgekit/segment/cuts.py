"""What is taken out of a text so that its sentences can be read: markers with their commas and brackets, and signs."""
# ruff: noqa: RUF001 - the signs of many scripts are meant

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from judgekit.segment.markers import AND, GLUED_AND, NOUN, Marker

Span = tuple[int, int]

_BETWEEN = re.compile(rf"[ \t]*(?:[,;，、；/]?[ \t]*|[,;]?[ \t]*(?:{AND}|{GLUED_AND})[ \t]*)", re.IGNORECASE)
_LONGEST_GAP = 8
_REACH = 60

_ASIDE = (
    r"[(（]\s?(?:(?:see(?: also)?|e\.g\.,?|cf\.?|from|in|per|siehe|vgl\.|laut|voir|selon|ver|según)\s?:?\s)?"
    rf"(?:{NOUN}\s?:?\s)?"
)
#: What may enclose markers and says nothing without them: `(see [1])`, `[[1]]`, `<sup>[1]</sup>`, `Source: [1]`.
_WRAPPERS = tuple(
    (re.compile(before + "$", re.IGNORECASE), re.compile(after, re.IGNORECASE))
    for before, after in (
        (_ASIDE, r"\s?[)）]"),
        (r"\[", r"\]"),
        (r"\*\*", r"\*\*"),
        (r"<(?:sup|cite|sub)>", r"</(?:sup|cite|sub)>"),
        (r"(?:^|(?<=[.!?\n])\s?)\s?(?:sources?|references?|quellen?|fuentes?|出典|来源)\s?[:：]\s?", r"(?=[\s.,;]|$)"),
    )
)
# Without the marker these words would hang in the air: the marker is the sentence's word, and stays.
_GOVERNED = re.compile(
    rf"(?<!\w)(?:{NOUN}|according to|based on|per|in|from|by|of|to|with|see|and both|laut|nach|siehe|von|mit|und|selon|"
    r"d'après|dans|voir|según|en|de|ver|secondo|według|w|согласно|в|根据|根據|据)[ \t]*$",
    re.IGNORECASE,
)
_SPEAKS = re.compile(
    r"[ \t]+(?:both |also |all )?(?:says?|states?|notes?|mentions?|reports?|shows?|describes?|suggests?|indicates?|"
    r"claims?|explains?|provides?|discuss(?:es)?|defines?|lists?|gives?|adds?|confirms?|argues?|finds?|is about)\b"
)
_OPENS = re.compile(r"(?:^|[.!?:;\n][\"'”’)\]]*\s+)$")


@dataclass(frozen=True, slots=True)
class Cuts:
    """`removed`: stretches that are no words of the text; `kept`: markers that serve as words. Sorted, disjoint."""

    removed: tuple[Span, ...]
    kept: tuple[Span, ...]


def cuts(text: str, markers: Sequence[Marker]) -> Cuts:
    """What is to be removed for the markers of a text, their separators and wrappers with them."""
    removed: list[Span] = []
    kept: list[Span] = []
    for run in _runs(text, markers):
        if len(run[0].cuts) != 1:
            removed.extend(run[0].cuts)
            continue
        start, end = run[0].start, run[-1].end
        wrapped = _wrapped(text, start, end)
        if wrapped == (start, end) and _is_spoken(text, start, end):
            kept.append((start, end))
        else:
            removed.append(wrapped)
    return Cuts(tuple(removed), tuple(kept))


def _runs(text: str, markers: Sequence[Marker]) -> list[list[Marker]]:
    """The markers in runs: `[1], [2] and [3]` is one."""
    runs: list[list[Marker]] = [[marker] for marker in markers[:1]]
    for left, right in pairwise(markers):
        gap = text[left.end : right.start]
        whole = len(left.cuts) == len(right.cuts) == 1
        if whole and len(gap) <= _LONGEST_GAP and _BETWEEN.fullmatch(gap):
            runs[-1].append(right)
        else:
            runs.append([right])
    return runs


def _wrapped(text: str, start: int, end: int) -> Span:
    """The run with everything that only encloses it."""
    for before, after in _WRAPPERS:
        base = max(0, start - _REACH)
        if (right := after.match(text, end)) and (left := before.search(text[base:start])):
            start, end = base + left.start(), right.end()
    return start, end


def _is_spoken(text: str, start: int, end: int) -> bool:
    """True for "according to [1]", "context [1]", and "[1] says": the sentence needs the marker as a word."""
    before = text[max(0, start - _REACH) : start]
    return bool(_GOVERNED.search(before) or (_SPEAKS.match(text, end) and _OPENS.search(before)))


def bare(text: str, start: int, end: int, removed: Iterable[Span]) -> str:
    """`text[start:end]` without the removed stretches, on one line, with no gap left where a stretch was.

    Characters outside the stretches stay, but for white space and a second full stop or comma that would now stand
    next to the first.
    """
    out: list[str] = []
    position, spaced = start, False
    for low, high in (*removed, (end, end)):
        piece = text[position : max(position, low)]
        spaced = spaced or piece[:1].isspace()
        if core := piece.strip():
            joint = _joint(out[-1], core, spaced=spaced) if out else core
            out.extend([joint] if joint else [])
            spaced = piece[-1].isspace()
        position = max(position, min(high, end))
    return " ".join("".join(out).split())


_TIGHT = frozenset(",.;:!?…)]}»”’%。，；：！？、）】」』।؟،")
_STOPS = frozenset(".!?…。！？")
_FIRST_CJK = "\u2e80"


def _joint(before: str, after: str, *, spaced: bool) -> str:
    """`after` as it follows `before` once the stretch between them is gone: marks close up, words stay apart."""
    last, first = before[-1], after[0]
    if first in _TIGHT or (first in "\"'*_" and not after[1:2].isalnum()):
        repeats = (first == "." and last in _STOPS and after[1:2] != ".") or first == last == ","
        return after[1:] if repeats else after
    touch = (last.isalnum() and first.isalnum()) or (last in _STOPS and first.isalpha())
    return f" {after}" if spaced or (touch and max(last, first) < _FIRST_CJK) else after
