"""Chat models on any OpenAI-compatible endpoint: a prompt out, JSON back."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from weakref import ref

from pydantic import JsonValue

from judgekit.errors import ServerFailed
from judgekit.judge import certainty, envelope, layout, reading
from judgekit.judge.backend import Body
from judgekit.judge.dialect import LOGPROBS, Dialect, Speaker
from judgekit.judge.endpoint import Endpoint
from judgekit.judge.logprobs import tokens_of
from judgekit.judge.served import Served
from judgekit.prompts import Prompts
from judgekit.wire import Answer, JudgeReply, JudgeRequest, JudgeSpec

PATH = "/chat/completions"
FORM = "chat"
FORMATS = ("json_schema", "json_object", "text")
_TEXT_PARTS: Final = ("text", "output_text")


class _Built(NamedTuple):
    request: ref[JudgeRequest]
    dialect: Dialect
    body: Body


class Completions(Served):
    """Asking a chat model in the dialect that its endpoint wants; what is asked and read is a subclass's."""

    def __init__(
        self, spec: JudgeSpec, endpoint: Endpoint | None, prompts: Prompts, *, formats: tuple[str, ...] = ()
    ) -> None:
        super().__init__(spec, endpoint)
        self._prompts = prompts
        self._speaker = Speaker(spec.params, formats)

    @property
    def path(self) -> str:
        return PATH

    @property
    def dialect(self) -> dict[str, JsonValue]:
        return self._speaker.told

    def learn(self, dialect: Mapping[str, JsonValue]) -> None:
        self._speaker.learn(dialect)

    def prepare(self, request: JudgeRequest) -> Body:
        return self._body(request, self._speaker.dialect)

    async def send(self, request: JudgeRequest) -> tuple[Body, JudgeReply]:
        body, data = await self._speaker.post(
            self._asks(request), PATH, lambda dialect: self._body(request, dialect), lacks
        )
        return body, self.receive(request, body, data)

    def receive(self, request: JudgeRequest, body: Body, data: Mapping[str, Any]) -> JudgeReply:
        """What matters of the completion that came back to a body. Raises ServerFailed for what is none."""
        if (missing := lacks(data)) is not None:
            raise ServerFailed(f"{self._spec.model} answered without {missing}")
        return self._received(request, body, data)

    @abstractmethod
    def _body(self, request: JudgeRequest, dialect: Dialect) -> Body:
        """The body of a request in a dialect."""

    @abstractmethod
    def _received(self, request: JudgeRequest, body: Body, data: Mapping[str, Any]) -> JudgeReply:
        """What matters of a completion."""


class ChatBackend(Completions):
    """A chat model behind an endpoint. Without an endpoint it replays."""

    writes = True

    def __init__(self, spec: JudgeSpec, endpoint: Endpoint | None, prompts: Prompts) -> None:
        super().__init__(spec, endpoint, prompts, formats=FORMATS)
        self._built: dict[int, _Built] = {}

    def _body(self, request: JudgeRequest, dialect: Dialect) -> Body:
        """The body of a request, built once for all who ask for it, and kept as long as the request is."""
        name = id(request)
        kept = self._built.get(name)
        if kept is not None and kept.request() is request and kept.dialect == dialect:
            return kept.body
        body = self._laid_out(request, dialect)
        self._built[name] = _Built(ref(request, lambda _: self._built.pop(name, None)), dialect, body)
        return body

    def _laid_out(self, request: JudgeRequest, dialect: Dialect) -> Body:
        body: dict[str, JsonValue] = {"model": self._spec.model, "messages": layout.messages(self._prompts, request)}
        body |= dialect.spoken(self._spec.params)
        if dialect.format == "json_schema":
            strict: dict[str, JsonValue] = {"name": "reply", "strict": True, "schema": layout.schema(request)}
            body["response_format"] = {"type": "json_schema", "json_schema": strict}
        elif dialect.format == "json_object":
            body["response_format"] = {"type": "json_object"}
        return body

    def _received(self, request: JudgeRequest, body: Body, data: Mapping[str, Any]) -> JudgeReply:
        reply = replied(data)
        found = certainty.probabilities(request, reply, tokens_of(data)) if LOGPROBS in body else None
        return reply.model_copy(update={"probabilities": found}) if found else reply

    def read(self, request: JudgeRequest, reply: JudgeReply) -> dict[str, Answer]:
        answers = reading.read(request, reply)
        for question_id, found in (reply.probabilities or {}).items():
            answers[question_id] = answers[question_id].model_copy(update={"probabilities": found})
        return answers


def lacks(data: Mapping[str, Any]) -> str | None:
    """What keeps an object from being a chat completion; None for one that is."""
    return None if isinstance(envelope.first_choice(data).get("message"), dict) else "choices"


def replied(data: Mapping[str, Any]) -> JudgeReply:
    """What matters of a chat completion."""
    first = envelope.first_choice(data)
    message = first.get("message", {})
    return JudgeReply(
        text=_text(message.get("content")),
        finish=_text(first.get("finish_reason")),
        refusal=_text(message.get("refusal")) or None,
        reasoning=_text(message.get("reasoning_content") or message.get("reasoning")),
        model=envelope.model(data),
        fingerprint=_text(data.get("system_fingerprint")) or None,
        **envelope.used(data)._asdict(),
    )


def _text(content: object) -> str | None:
    """A text, or the text parts of a list of parts."""
    if isinstance(content, list):
        parts = (part for part in content if isinstance(part, dict) and part.get("type", "text") in _TEXT_PARTS)
        content = "".join(part["text"] for part in parts if isinstance(part.get("text"), str))
    return envelope.text(content)
