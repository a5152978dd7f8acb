"""Words of a text, compared across languages without a dictionary: does one text speak of what another says?

Content words are folded to a short stem (the first letters), numbers to their digits, and scripts without spaces to
pairs of characters, so that inflected forms meet and nothing has to know the language.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable
from functools import lru_cache

_NUMBER = re.compile(r"\d+(?:[.,'\u00a0\u202f]\d+)*")
_WORD = re.compile(r"[^\W\d_]+")
# Scripts written without spaces: Han, Hiragana, Katakana, Thai, Lao, Khmer, Myanmar.
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+"
)
_PIECE = re.compile(rf"(?P<unspaced>{_UNSPACED.pattern})|{_NUMBER.pattern}|{_WORD.pattern}")
_STEM = 5


class _Spaced(dict[int, str]):
    """For every sign the space that stands for it, or the sign itself; each is looked up once."""

    def __missing__(self, code: int) -> str:
        sign = chr(code)
        self[code] = " " if unicodedata.category(sign)[0] in "PZC" else sign
        return self[code]


_SPACED = _Spaced()
_SHORTEST = 3


def normalised(text: str) -> str:
    """NFKC, case folded, punctuation dropped, white space collapsed: for telling whether two texts say the same."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().translate(_SPACED).split())


def numbers(text: str) -> set[str]:
    """The numbers of a text in one spelling: `1,000` and `1000` are the same number, `1.5` and `15` are not."""
    return {_plain(found) for found in _NUMBER.findall(unicodedata.normalize("NFKC", text))}


def _plain(number: str) -> str:
    """Digits of any script as 0-9, thousands run together; a sign before anything but three digits is a decimal one."""
    digits = "".join(str(unicodedata.digit(sign)) if sign.isdigit() else sign for sign in number)
    return re.sub(r"\D", ".", re.sub(r"\D(?=\d{3}(?!\d))", "", digits))


def is_unspaced(text: str) -> bool:
    """True for a text that is written, mostly, in a script without spaces."""
    unspaced = sum(map(len, _UNSPACED.findall(text)))
    return unspaced > 0 and 2 * unspaced > sum(map(str.isalpha, text))


@lru_cache(maxsize=2048)  # claims, segments and questions are looked at many times each
def content_words(text: str) -> frozenset[str]:
    """Stems of the content words of a text, with its numbers; empty for a text of signs only."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    found = set(numbers(folded))
    for run in _UNSPACED.findall(folded):
        found.update([run] if len(run) == 1 else (run[i : i + 2] for i in range(len(run) - 1)))
    for word in _WORD.findall(_UNSPACED.sub(" ", folded)):
        if len(word) >= _SHORTEST:
            found.add(word[:_STEM])
    return frozenset(found)


def where_said(words: Collection[str], text: str) -> list[tuple[int, int]]:
    """The stretches of a text, in order and apart, whose content words are among these: (start, end) in characters.

    A word counts whole though only its stem is compared; in scripts without spaces, pairs that touch are one stretch.
    """
    wanted = frozenset(words)
    said: list[tuple[int, int]] = []
    for found in _PIECE.finditer(text):
        start, end = found.span()
        if found.lastgroup != "unspaced" or end - start == 1:
            if not _stems(found[0]).isdisjoint(wanted):
                said.append((start, end))
            continue
        for at in range(start, end - 1):
            if not _stems(text[at : at + 2]).isdisjoint(wanted):
                begin = said.pop()[0] if said and said[-1][1] >= at else at
                said.append((begin, at + 2))
    return said


@lru_cache(maxsize=1 << 16)
def _stems(word: str) -> frozenset[str]:
    return frozenset(content_words(word))


def share_of(words: Collection[str], *, found_in: Iterable[str]) -> float:
    """Share of words that occur in a text's words, 0..1; 1.0 when there are no words to find."""
    if not words:
        return 1.0
    there = set(found_in)
    return sum(word in there for word in words) / len(words)
