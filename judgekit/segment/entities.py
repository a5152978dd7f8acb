"""Whether a name stands in a text: word by word, whatever the case, width, punctuation or number format.

Beside the name itself only its acronym counts, either way: of three letters or more, from the initials of the words,
written in capitals in the text. Shorter ones, surnames, translations and other spellings do not: who is meant by them
cannot be told from the letters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from judgekit.segment.words import is_unspaced, numbers

_TOKEN = re.compile(r"\d+(?:[.,'\u00a0\u202f]\d+)*|[^\W\d_]+")
_DOTTED = re.compile(r"\b(?:[^\W\d_]\.){2,}(?:[^\W\d_]\b)?")
#: What a name may begin with and not be another for it.
_ARTICLES = frozenset({"the", "a", "an"})
#: Words that an acronym may leave out.
_SMALL = frozenset(
    {"a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with"}
    | {"de", "del", "der", "des", "di", "do", "du", "e", "et", "la", "le", "les", "los", "und", "von", "y"}
)
_SHORTEST_ACRONYM = 3
_LONGEST_ACRONYM = 8


def key_of(name: str) -> tuple[str, ...]:
    """The words of a name, folded: two names with the same key are the same. Empty for signs only."""
    words = tuple(word.casefold() for word in _words(name))
    return words[1:] if len(words) > 1 and words[0] in _ARTICLES else words


def occurs(name: str, text: str) -> bool:
    """True when the text names it, in whole words, or by its acronym, or in full where the name is an acronym."""
    wanted = key_of(name)
    if not wanted:
        return False
    words = _words(text)
    folded = _folded(text)
    if any(folded[at : at + len(wanted)] == wanted for at in range(len(folded) - len(wanted) + 1)):
        return True
    if len(wanted) > 1:
        return not _acronyms(_words(name)).isdisjoint(words)
    (acronym,) = wanted
    return _is_acronym(_words(name)[-1]) and any(
        acronym in {short.casefold() for short in _acronyms(run)} for run in _runs_from(words, acronym[0])
    )


@lru_cache(maxsize=64)  # one text is searched for many names
def _words(text: str) -> tuple[str, ...]:
    """The words and numbers of a text in its own case; `U.S.A.` is `USA`, and signs of a script without spaces stand
    alone, so that a run of them is found wherever it begins."""
    plain = _DOTTED.sub(lambda found: found[0].replace(".", ""), unicodedata.normalize("NFKC", text))
    found: list[str] = []
    for token in _TOKEN.findall(plain):
        if token[0].isdigit():
            found.extend(numbers(token))
        elif token.isascii() or not is_unspaced(token):
            found.append(token)
        else:
            found.extend(token)
    return tuple(found)


@lru_cache(maxsize=64)
def _folded(text: str) -> tuple[str, ...]:
    return tuple(word.casefold() for word in _words(text))


def _is_acronym(word: str) -> bool:
    return word.isupper() and _SHORTEST_ACRONYM <= len(word) <= _LONGEST_ACRONYM


def _acronyms(words: Sequence[str]) -> set[str]:
    """The acronyms of a name in capitals: from all its words, and without the small ones."""
    if any(not word[0].isalpha() for word in words):
        return set()
    large = [word for word in words if word not in _SMALL]
    made = {"".join(word[0] for word in some).upper() for some in (words, large)}
    return {acronym for acronym in made if _is_acronym(acronym)}


def _runs_from(words: Sequence[str], initial: str) -> list[Sequence[str]]:
    """Runs of capitalised words, small ones between them, that an acronym with this initial could stand for."""
    runs: list[Sequence[str]] = []
    for start, first in enumerate(words):
        if first[0].casefold() != initial or not first[0].isupper():
            continue
        for end in range(start + 1, min(start + 2 * _LONGEST_ACRONYM, len(words)) + 1):
            last = words[end - 1]
            if last[0].isupper():
                runs.append(words[start:end])
            elif last not in _SMALL:
                break
    return runs
