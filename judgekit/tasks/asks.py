"""What does the question ask for? An extraction, which a simple question does not need.

It is not trusted with the denominator: an ask that shares no content word with the question is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet

from judgekit.prompts import Prompts
from judgekit.records import Ask
from judgekit.segment.words import content_words, is_unspaced, normalised
from judgekit.wire import Answer, JudgeRequest, Texts

NAME = "asks"
TEMPLATES = ("asks",)
_ID = "q"
_MOST = 12
#: Lengths of the beginnings of a word that may be the word itself uninflected; the stems compared have five letters.
_BEGINNINGS = (3, 4)

# What can join two asks in one question, in the languages that most logs are written in; a sign that is not here
# only means that a compound question is taken as one ask.
_JOINED = re.compile(
    r"[,;:\n\u3001\u060c\uff0c\uff1b]|[?\uff1f\u061f](?=.)"
    r"|\b(?:and|or|und|oder|sowie|et|ou|y|o|e|i|oraz|lub|\u0438|\u0438\u043b\u0438|en|of|och|eller|og)\b|[\u548c\u3068]|\u0648",
    re.IGNORECASE,
)


def is_simple(question: str) -> bool:
    """True when nothing in the question joins two asks, so that it is its own single ask."""
    return not _JOINED.search(question.strip())


def single(question: str) -> tuple[Ask, ...]:
    """The question as its own ask."""
    return (Ask(id="q1", text=" ".join(question.split())),)


def request(prompts: Prompts, question: str) -> JudgeRequest:
    """The asks of a question. The answer is not shown: what counts as asked cannot depend on what was answered."""
    return JudgeRequest(
        task=NAME,
        role=prompts.render(NAME, "role"),
        input=prompts.render(NAME, "input", question=question),
        questions=(Texts(id=_ID, ask=prompts.render(NAME, "ask")),),
    )


def read(answers: Mapping[str, Answer], question: str) -> tuple[Ask, ...] | None:
    """The asks that can be traced to the question, each once and at most 12; the question itself when there are none;
    None when it could not be asked."""
    answer = answers.get(_ID)
    if answer is None or answer.texts is None:
        return None
    distinct = {normalised(text): " ".join(text.split()) for text in answer.texts if normalised(text)}
    traced = _traced(distinct.values(), question)
    return tuple(Ask(id=f"q{n}", text=text) for n, text in enumerate(traced[:_MOST], start=1)) or single(question)


def _traced(texts: Iterable[str], question: str) -> list[str]:
    """The texts that share a content word with the question; any word at all where one of the two has none."""
    there, all_there = content_words(question), set(normalised(question).split())
    kept = []
    for text in texts:
        asked = content_words(text)
        if _are_akin(asked, there) if asked and there else _are_akin(set(normalised(text).split()), all_there):
            kept.append(text)
    return kept


def _are_akin(some: AbstractSet[str], others: AbstractSet[str]) -> bool:
    """True when a word of the one is a word of the other, or begins one, as `sail` does `sails`."""
    return not (some.isdisjoint(_parts(others)) and others.isdisjoint(_parts(some)))


def _parts(words: AbstractSet[str]) -> set[str]:
    """Words and their beginnings; in a script without spaces a lone sign may be a word, so each sign as well."""
    found = set(words)
    for word in words:
        if is_unspaced(word):
            found.update(word)
        elif word.isalpha():
            found.update(word[:end] for end in _BEGINNINGS if end < len(word))
    return found
