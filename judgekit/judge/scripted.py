"""A judge that answers from a function: for tests, for trying things out, and for judges of your own making."""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from pydantic import JsonValue

from judgekit.judge import reading
from judgekit.judge.backend import Body
from judgekit.wire import Answer, JudgeReply, JudgeRequest, JudgeSpec, Question, Texts, Vector, canonical

#: What a script may return: the text of a chat reply; or typed answers by question id, each a label, a list of texts,
#: a list of numbers, probabilities by label, or an Answer. An exception it raises is the failure of that call.
Said: TypeAlias = str | JudgeReply | Mapping[str, Any]
Script: TypeAlias = Callable[[JudgeRequest], Said | Awaitable[Said]]


class Scripted:
    """A backend whose answers come from `script(request)`.

    Returning text exercises the reading of replies, as from a chat model; returning a mapping answers the typed
    questions directly, as a decision model or a classifier does. `most_questions` is how many one call may hold, any
    number by default. `asked` counts the calls.
    """

    def __init__(self, script: Script, *, model: str = "scripted", most_questions: int | None = None) -> None:
        self._script = script
        self._most_questions = most_questions
        self._spec = JudgeSpec(model=model, base_url="scripted:", form="scripted")
        self.asked = 0

    @property
    def spec(self) -> JudgeSpec:
        return self._spec

    @property
    def most_questions(self) -> int | None:
        return self._most_questions

    @property
    def writes(self) -> bool:
        return True

    @property
    def dialect(self) -> dict[str, JsonValue]:
        return {}

    def learn(self, dialect: Mapping[str, JsonValue]) -> None:
        """Nothing to learn: a script has no dialects."""

    def prepare(self, request: JudgeRequest) -> Body:
        body: dict[str, JsonValue] = request.model_dump(mode="json")
        return body

    async def send(self, request: JudgeRequest) -> tuple[Body, JudgeReply]:
        self.asked += 1
        said = self._script(request)
        if inspect.isawaitable(said):
            said = await said
        return self.prepare(request), self._as_reply(said)

    def _as_reply(self, said: Said) -> JudgeReply:
        if isinstance(said, JudgeReply):
            return said
        if isinstance(said, str):
            return JudgeReply(text=said, finish="stop", model=self._spec.model)
        typed = {key: _jsonable(value) for key, value in said.items()}
        return JudgeReply(text=canonical(typed), finish="typed", model=self._spec.model)

    def read(self, request: JudgeRequest, reply: JudgeReply) -> dict[str, Answer]:
        if reply.finish != "typed":
            return reading.read(request, reply)
        said: dict[str, Any] = json.loads(reply.text or "{}")
        return {question.id: _typed(question, said.get(question.id)) for question in request.questions}

    async def close(self) -> None:
        """Nothing is held open."""


def _jsonable(value: Any) -> Any:
    return value.model_dump(mode="json") if isinstance(value, Answer) else value


def _typed(question: Question, said: Any) -> Answer:
    """A typed answer: an Answer as it is, probabilities by their largest, else what a model would have said so."""
    if said is None:
        return Answer(id=question.id, cause="missing")
    if isinstance(said, dict) and said.get("id") == question.id:
        return Answer.model_validate(said)
    if isinstance(said, dict) and not isinstance(question, Texts | Vector):
        allowed = [option.value for option in question.options]
        if not said or not set(said) <= set(allowed) or not all(_is_probability(value) for value in said.values()):
            return Answer(id=question.id, cause="invalid_label", raw=canonical(said))
        likeliest = max(allowed, key=lambda value: said.get(value, 0.0))
        return Answer(id=question.id, label=likeliest, probabilities={k: float(v) for k, v in said.items()})
    return reading.answer(question, said)


def _is_probability(value: Any) -> bool:
    return isinstance(value, int | float) and 0 <= value <= 1
