"""Finding a quote in the raw text it is said to come from."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from judgekit.segment.words import content_words, share_of

_ELLIPSIS = re.compile(r"\s*(?:\.\.\.|\u2026|\[\u2026\]|\[\.\.\.\])\s*")
_LEAST_SIGNS = 3
# A letter with the marks that follow it: one sign in some Unicode forms, several in others.
_CLUSTER = re.compile(r"(?s).[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a]*")
# A sign inside a number that changes what it is: `1.5` is not `15`, but `1,000` is `1000`.
_DECIMAL = re.compile(r"(?<=\d)[.,](?=\d)(?!\d{3}(?!\d))")


class Found(NamedTuple):
    """Where a quote stands: `text[start:end]`; `share` of the words looked for that stand there."""

    start: int
    end: int
    share: float = 1.0


def find_quote(quote: str, text: str) -> Found | None:
    """Where the quote occurs in the text, or None.

    Case, white space, punctuation and Unicode forms may differ, and an ellipsis may stand for words left out;
    every letter and digit must be there, in order. A quote of fewer than three letters or digits proves nothing.
    """
    where, ends, letters = _letters(text)
    at, first, last, seen = 0, None, None, 0
    for piece in _ELLIPSIS.split(quote):
        wanted = _letters(piece)[2]
        if not wanted:
            continue
        hit = _at_word(letters, wanted, at, where, text)
        if hit < 0:
            return None
        at, seen = hit + len(wanted), seen + len(wanted)
        first, last = (hit if first is None else first), at
    if first is None or last is None or seen < _LEAST_SIGNS:
        return None
    return Found(where[first], ends[last - 1])


@lru_cache(maxsize=64)  # one context is searched for many quotes
def _letters(text: str) -> tuple[tuple[int, ...], tuple[int, ...], str]:
    """The letters and digits of a text, folded, with the place that each came from: its start and its end."""
    starts: list[int] = []
    ends: list[int] = []
    kept: list[str] = []
    decimal = {found.start() for found in _DECIMAL.finditer(text)}
    for cluster in _CLUSTER.finditer(text):
        for folded in unicodedata.normalize("NFKC", cluster[0]).casefold():
            if cluster.start() in decimal or folded.isalnum() or _counts(folded):
                starts.append(cluster.start())
                ends.append(cluster.end())
                kept.append("." if cluster.start() in decimal else folded)
    return tuple(starts), tuple(ends), "".join(kept)


def _counts(sign: str) -> bool:
    """Currencies, and the vowel signs that some scripts write as marks."""
    kind = unicodedata.category(sign)
    return kind in ("Sc", "Mc") or (kind == "Mn" and unicodedata.combining(sign) == 0)


def _at_word(letters: str, wanted: str, start: int, where: tuple[int, ...], text: str) -> int:
    """First place of `wanted` that does not begin or end inside a number: `40` is not quoted from `1940`."""
    hit = letters.find(wanted, start)
    while hit >= 0:
        end = hit + len(wanted)
        begins_inside = hit > 0 and _same_number(text, where[hit - 1], where[hit])
        ends_inside = end < len(letters) and _same_number(text, where[end - 1], where[end])
        if not begins_inside and not ends_inside:
            return hit
        hit = letters.find(wanted, hit + 1)
    return -1


def _same_number(text: str, left: int, right: int) -> bool:
    between = text[left + 1 : right]
    return text[left].isdigit() and text[right].isdigit() and between in ("", ".", ",")


def align(claim: str, text: str, sentences: Iterable[tuple[int, int]]) -> Found | None:
    """The sentence of a text that shares most content words with a claim, for judges that write no text.

    `sentences` are the spans to choose from. None when no sentence shares a word.
    """
    words = content_words(claim)
    best, found = 0.0, None
    for start, end in sentences:
        share = share_of(words, found_in=content_words(text[start:end])) if words else 0.0
        if share > best:
            best, found = share, Found(start, end, share)
    return found
