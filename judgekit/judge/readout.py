"""Chat models read out: one question a call, one token a reply, and the probability of every option from it.

What decision models do inside is done here from outside, on any chat endpoint that gives logprobs. One of the options
is asked for, and what the first token of the reply might have been says how likely each was: an option is known by the
beginning of its word where no two begin alike, and else by a letter that it is given. Spellings count together ("No",
" no", "no."). Where the options hold too little of the probability the model meant to say something else, and its
answer is none (`no_label_mass`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from pydantic import JsonValue

from judgekit.errors import InputError, JudgeUnusable, ServerFailed
from judgekit.judge import layout
from judgekit.judge.backend import Body
from judgekit.judge.chat import Completions, replied
from judgekit.judge.dialect import ALTERNATIVES, LOGPROBS, TOP_LOGPROBS, Dialect
from judgekit.judge.endpoint import Endpoint
from judgekit.judge.logprobs import LEAST_MASS, Token, shares_at, tokens_of
from judgekit.prompts import Prompts
from judgekit.wire import Answer, JudgeReply, JudgeRequest, JudgeSpec, Question, Texts, Vector, canonical

FORM = "readout"
_LENGTHS: Final = ("max_tokens", "max_completion_tokens")
#: A token with fewer letters begins no word that could be told.
_LEAST_BEGINNING: Final = 2
#: What may stand around an option in a token, with the signs that tokenizers print for a space.
_AROUND: Final = " \t\r\n\u2581\u0120\"'`*().:"


def readout_spec(spec: JudgeSpec) -> JudgeSpec:
    """The spec of the same model, read out: a single token, with the alternatives to it."""
    length = "max_completion_tokens" if "max_completion_tokens" in spec.params else "max_tokens"
    own = {name: value for name, value in spec.params.items() if name not in _LENGTHS}
    params: dict[str, JsonValue] = {**own, length: 1, LOGPROBS: True, TOP_LOGPROBS: ALTERNATIVES}
    return spec.model_copy(update={"form": FORM, "params": params, "settings": {"least_mass": LEAST_MASS}})


class ReadoutBackend(Completions):
    """A chat model that answers each typed question by one token. Without an endpoint it replays."""

    most_questions = 1

    def __init__(self, spec: JudgeSpec, endpoint: Endpoint | None, prompts: Prompts) -> None:
        super().__init__(spec, endpoint, prompts)
        self._gave_any = False

    def _body(self, request: JudgeRequest, dialect: Dialect) -> Body:
        if LOGPROBS in dialect.dropped:
            raise JudgeUnusable(f"{self._spec.model}: {self._spec.base_url} refuses to give logprobs; {_REMEDY}")
        messages = layout.readout(self._prompts, _fits(request))
        return {"model": self._spec.model, "messages": messages, **dialect.spoken(self._spec.params)}

    def _received(self, request: JudgeRequest, body: Body, data: Mapping[str, Any]) -> JudgeReply:  # noqa: ARG002
        reply = replied(data)
        if reply.refusal or reply.finish == "content_filter":
            return reply
        return reply.model_copy(update={"text": self._alternatives(data), "finish": "stop", "reasoning": None})

    def _alternatives(self, data: Mapping[str, Any]) -> str:
        """The alternatives to the first token, as they are kept: pairs of text and probability, the likeliest first."""
        first = next(iter(tokens_of(data)), None)
        if first is not None:
            self._gave_any = True
            listed = [[piece.decode("utf-8", "replace"), float(f"{p:.6g}")] for piece, p in first.alternatives]
            return canonical(listed)
        said = f"{self._spec.model}: {self._spec.base_url} answered without logprobs"
        raise ServerFailed(said) if self._gave_any else JudgeUnusable(f"{said}; {_REMEDY}")

    def read(self, request: JudgeRequest, reply: JudgeReply) -> dict[str, Answer]:
        if reply.refusal or reply.finish == "content_filter":
            return {i: Answer(id=i, cause="content_filter", raw=reply.refusal) for i in request.ids}
        return {question.id: _answer(question, reply.text or "") for question in request.questions}


_REMEDY: Final = (
    "a readout cannot do without them: leave out --readout (readout=True) to have the reply written as JSON"
)


def _fits(request: JudgeRequest) -> JudgeRequest:
    """The request, when its one question can be answered by one token. Raises InputError when it cannot."""
    (question,) = request.questions
    if isinstance(question, Texts | Vector):
        raise InputError(f"{request.task} wants text written, and a readout gives one token; give a judge that writes")
    if len(question.options) > ALTERNATIVES:
        raise InputError(
            f"a readout tells {ALTERNATIVES} options apart, {question.id} has {len(question.options)}; use fewer"
        )
    return request


def _answer(question: Question, text: str) -> Answer:
    """The likeliest option with the probabilities of all; of equals the one that is offered first."""
    token = _kept(text)
    if token is None:
        return Answer(id=question.id, cause="empty_reply", raw=text)
    marks = layout.marks(question)
    seen: dict[str, float] = {}
    for piece, probability in token.alternatives:
        option = _meant(piece.decode("utf-8", "replace").strip(_AROUND), marks)
        if option is not None:
            seen[option] = seen.get(option, 0.0) + probability
    found = shares_at(marks.values(), token, seen)
    if found is None or found.mass < LEAST_MASS:
        return Answer(id=question.id, cause="no_label_mass", raw=text)
    likeliest = max(found.by_option, key=lambda option: found.by_option[option])
    return Answer(id=question.id, label=likeliest, probabilities=found.by_option)


def _meant(said: str, marks: Mapping[str, str]) -> str | None:
    """The option that a token is, or begins. A single small letter may be an article, and is none."""
    if said in marks:
        return marks[said]
    if len(said) < _LEAST_BEGINNING:
        return None
    return next((value for mark, value in marks.items() if mark.casefold().startswith(said.casefold())), None)


def _kept(text: str) -> Token | None:
    """The token whose alternatives were kept."""
    try:
        listed = [
            (str(piece).encode("utf-8", "replace"), float(probability)) for piece, probability in json.loads(text)
        ]
    except (ValueError, TypeError):
        return None
    return Token(*listed[0], tuple(listed)) if listed else None
