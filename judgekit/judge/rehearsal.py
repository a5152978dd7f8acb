"""A judge on paper: the calls that would be made, with what they would take, and none of them sent.

Requests are built and laid out by the code that sends them, so they are the real ones as far as the replies before them
are known. What is kept from earlier is answered as it was; everything else by a placeholder:
- a list of texts about an item holds the item's own words, one text for every twelve of them;
- a typed question gets its first option;
- a reply has the tokens of such an answer written out, with a quote as long as what is asked about. What a model thinks
  before it writes is not in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Final

from pydantic import JsonValue

from judgekit.judge.backend import Backend, Body
from judgekit.judge.chat import FORM as CHAT
from judgekit.judge.readout import FORM as READOUT
from judgekit.judge.store import Store
from judgekit.judge.tokens import tokens_in, tokens_of
from judgekit.wire import Answer, Choice, JudgeReply, JudgeRequest, JudgeSpec, Question, Texts, Vector

#: Words of an item for each text that a list about it is taken to hold.
WORDS_A_TEXT: Final = 12
_FINISH: Final = "placeholder"
#: Tokens of JSON around an answer, a text in a list, a source with its quote, and a sentence of reason.
_AROUND: Final = 6
_AROUND_TEXT: Final = 3
_AROUND_QUOTE: Final = 11
_REASON: Final = 30
_QUOTED: Final = re.compile(r'"(?:[^"\\]|\\.)*"')


class Rehearsal:
    """A backend that asks nobody: it counts what `backend` would send, and answers by placeholders."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    @property
    def spec(self) -> JudgeSpec:
        return self._backend.spec

    @property
    def most_questions(self) -> int | None:
        return self._backend.most_questions

    @property
    def writes(self) -> bool:
        return self._backend.writes

    @property
    def dialect(self) -> dict[str, JsonValue]:
        return self._backend.dialect

    def learn(self, dialect: Mapping[str, JsonValue]) -> None:
        self._backend.learn(dialect)

    def prepare(self, request: JudgeRequest) -> Body:
        return self._backend.prepare(request)

    async def send(self, request: JudgeRequest) -> tuple[Body, JudgeReply]:
        body = self.prepare(request)
        written = {CHAT: _written(request), READOUT: len(request.questions)}.get(self.spec.form, 0)
        return body, JudgeReply(text="", finish=_FINISH, prompt_tokens=tokens_of(body), completion_tokens=written)

    def read(self, request: JudgeRequest, reply: JudgeReply) -> dict[str, Answer]:
        if reply.finish != _FINISH:
            return self._backend.read(request, reply)
        return {question.id: _placeholder(question, request) for question in request.questions}

    async def close(self) -> None:
        """Nothing was opened."""


class Above(Store):
    """A store in memory above another one, which is read and never written. It holds (`in`) what came here alone."""

    def __init__(self, below: Store) -> None:
        super().__init__(None)
        self._below = below

    def get(self, key: str) -> str | None:
        row = super().get(key)
        return self._below.get(key) if row is None else row

    def __contains__(self, key: object) -> bool:
        return key in self._memory


def _placeholder(question: Question, request: JudgeRequest) -> Answer:
    if isinstance(question, Vector):
        return Answer(id=question.id, vector=(1.0,))
    if isinstance(question, Texts):
        return Answer(id=question.id, texts=_pieces(question.text or request.input))
    return Answer(id=question.id, label=question.options[0].value)


def _pieces(item: str) -> tuple[str, ...]:
    """The words of an item, or of the first text quoted in it, in as many pieces as it is taken to hold."""
    quoted = _QUOTED.search(item)
    words = (json.loads(quoted[0]) if quoted else item).split()
    count = 1 + len(words) // WORDS_A_TEXT
    cuts = [len(words) * n // count for n in range(count + 1)]
    return tuple(" ".join(words[start:end]) for start, end in pairwise(cuts))


def _written(request: JudgeRequest) -> int:
    """Tokens of the placeholders as a chat model would write them."""
    return 1 + sum(_AROUND + _said(question, request) for question in request.questions)


def _said(question: Question, request: JudgeRequest) -> int:
    if isinstance(question, Vector):
        return 0
    if isinstance(question, Texts):
        return sum(_AROUND_TEXT + tokens_in(text) for text in _pieces(question.text or request.input))
    quote = _AROUND_QUOTE + tokens_in(question.text) if isinstance(question, Choice) and question.quote_from else 0
    return tokens_in(question.options[0].value) + quote + (_REASON if question.explain else 0)
