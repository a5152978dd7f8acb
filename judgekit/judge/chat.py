"""Chat models on any OpenAI-compatible endpoint: a prompt out, JSON back.

How an endpoint wants to be asked is found out from its own 400 replies, once, and remembered: the reply format
(strict `json_schema`, then `json_object`, then plain text) and the parameters it refuses or wants renamed. Once a call
has succeeded, a 400 speaks only of its own request: it is adapted for that request, and all others go on as before.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from pydantic import JsonValue

from judgekit.errors import CassetteMiss, RequestRefused, ServerFailed
from judgekit.judge import layout, reading
from judgekit.judge.backend import Body
from judgekit.judge.endpoint import Endpoint
from judgekit.prompts import Prompts
from judgekit.wire import Answer, JudgeReply, JudgeRequest, JudgeSpec

PATH = "/chat/completions"
FORM = "chat"
FORMATS = ("json_schema", "json_object", "text")
#: More adaptations than this in one call means that they do not help.
_MOST_ADAPTATIONS = 12
_RENAMES: Final = {"max_tokens": "max_completion_tokens"}
_TEXT_PARTS: Final = ("text", "output_text")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_ABOUT_FORMAT = re.compile(r"response_format|json_schema|json_object|schema|structured|grammar|guided", re.IGNORECASE)


class Dialect(NamedTuple):
    """How an endpoint wants to be asked."""

    format: str = FORMATS[0]
    dropped: frozenset[str] = frozenset()
    renamed: frozenset[str] = frozenset()


class ChatBackend:
    """A chat model behind an endpoint. Without an endpoint it replays: whatever is not stored is a CassetteMiss."""

    def __init__(self, spec: JudgeSpec, endpoint: Endpoint | None, prompts: Prompts) -> None:
        self._spec = spec
        self._endpoint = endpoint
        self._prompts = prompts
        self._dialect = Dialect()
        self._is_proven = False

    @property
    def spec(self) -> JudgeSpec:
        return self._spec

    @property
    def most_questions(self) -> int | None:
        return None

    @property
    def dialect(self) -> dict[str, JsonValue]:
        renamed: dict[str, JsonValue] = {name: _RENAMES[name] for name in sorted(self._dialect.renamed)}
        return {"format": self._dialect.format, "dropped": [*sorted(self._dialect.dropped)], "renamed": renamed}

    def learn(self, dialect: Mapping[str, JsonValue]) -> None:
        found, dropped, renamed = (dialect.get(name) for name in ("format", "dropped", "renamed"))
        names = dropped if isinstance(dropped, list) else []
        learned = renamed if isinstance(renamed, dict) else {}
        # only what could have been found out: a row that someone else wrote must not set other fields of the body
        self._dialect = Dialect(
            found if isinstance(found, str) and found in FORMATS else FORMATS[0],
            frozenset(name for name in self._spec.params if name in names),
            frozenset(name for name, new in _RENAMES.items() if learned.get(name) == new),
        )
        self._is_proven = False

    def prepare(self, request: JudgeRequest) -> Body:
        return self._body(request, self._dialect)

    def _body(self, request: JudgeRequest, dialect: Dialect) -> Body:
        body: dict[str, JsonValue] = {"model": self._spec.model, "messages": layout.messages(self._prompts, request)}
        for name, value in self._spec.params.items():
            if name not in dialect.dropped:
                body[_RENAMES[name] if name in dialect.renamed else name] = value
        if dialect.format == "json_schema":
            strict: dict[str, JsonValue] = {"name": "reply", "strict": True, "schema": layout.schema(request)}
            body["response_format"] = {"type": "json_schema", "json_schema": strict}
        elif dialect.format == "json_object":
            body["response_format"] = {"type": "json_object"}
        return body

    async def send(self, request: JudgeRequest) -> tuple[Body, JudgeReply]:
        if self._endpoint is None:
            asked = f"{request.task} with {', '.join(request.ids)}"
            raise CassetteMiss(
                f"the cassette holds no reply to: {asked}; the log, the metrics or the prompts changed "
                "since it was recorded; record it again with --record"
            )
        dialect = self._dialect
        for _ in range(_MOST_ADAPTATIONS):
            body = self._body(request, dialect)
            try:
                reply = self._reply(await self._endpoint.post(PATH, body))
            except RequestRefused as refusal:
                adapted = self._adapted(dialect, refusal)
                if adapted is None:
                    raise
                dialect = adapted
                continue
            if not self._is_proven:
                self._dialect, self._is_proven = dialect, True
            return body, reply
        raise ServerFailed(f"{self._spec.model}: the endpoint refuses every form of request that was tried")

    def read(self, request: JudgeRequest, reply: JudgeReply) -> dict[str, Answer]:
        return reading.read(request, reply)

    async def close(self) -> None:
        if self._endpoint is not None:
            await self._endpoint.close()

    def _adapted(self, dialect: Dialect, refusal: RequestRefused) -> Dialect | None:
        """The dialect changed by what a 400 says; None when it says nothing about how the request was made."""
        if refusal.status not in (400, 422):
            return None
        words = str(refusal).partition(f"HTTP {refusal.status}")[2] or str(refusal)  # without the URL
        said = refusal.param or words  # what it names is meant; words may quote anything
        named: dict[int, str] = {}
        for name in self._spec.params:
            sent_as = _RENAMES[name] if name in dialect.renamed else name
            found = re.search(rf"\b{re.escape(sent_as)}\b", said) if name not in dialect.dropped else None
            if found is not None:
                named[found.start()] = name
        about_format = _ABOUT_FORMAT.search(said) if dialect.format != FORMATS[-1] else None
        if named and not (about_format and about_format.start() < min(named)):
            return _without(dialect, named[min(named)], words)
        if dialect.format != FORMATS[-1] and (about_format or not refusal.param or _ABOUT_FORMAT.search(words)):
            return dialect._replace(format=FORMATS[FORMATS.index(dialect.format) + 1])
        return None

    def _reply(self, data: Mapping[str, Any]) -> JudgeReply:
        """What matters of a chat completion. Raises ServerFailed for a body that is not one."""
        choices = data.get("choices")
        first = choices[0] if isinstance(choices, list) and choices else None
        message = first.get("message") if isinstance(first, dict) else None
        if not isinstance(first, dict) or not isinstance(message, dict):
            shown = self._endpoint.shown(str(data)) if self._endpoint is not None else ""
            raise ServerFailed(f"{self._spec.base_url} answered without choices: {shown}")
        usage = data.get("usage")
        usage = usage if isinstance(usage, dict) else {}
        return JudgeReply(
            text=_text(message.get("content")),
            finish=_text(first.get("finish_reason")),
            refusal=_text(message.get("refusal")) or None,
            reasoning=_text(message.get("reasoning_content") or message.get("reasoning")),
            model=_text(data.get("model")) or None,
            fingerprint=_text(data.get("system_fingerprint")) or None,
            prompt_tokens=_count(usage.get("prompt_tokens")),
            completion_tokens=_count(usage.get("completion_tokens")),
        )


def _without(dialect: Dialect, name: str, words: str) -> Dialect:
    """A dialect that renames a parameter, where the endpoint says so, and drops it otherwise."""
    new = _RENAMES.get(name)
    if new is not None and new in words and name not in dialect.renamed:
        return dialect._replace(renamed=dialect.renamed | {name})
    return dialect._replace(dropped=dialect.dropped | {name})


def _text(content: object) -> str | None:
    """A text, or the text parts of a list of parts; lone surrogates, which no record can hold, are replaced."""
    if isinstance(content, list):
        parts = (part for part in content if isinstance(part, dict) and part.get("type", "text") in _TEXT_PARTS)
        content = "".join(part["text"] for part in parts if isinstance(part.get("text"), str))
    return _SURROGATE.sub("\ufffd", content) if isinstance(content, str) else None


def _count(value: object) -> int:
    return max(0, value) if isinstance(value, int) and not isinstance(value, bool) else 0
