"""Chat models on any OpenAI-compatible endpoint: a prompt out, JSON back.

How an endpoint wants to be asked is found out from its own 400 replies, once, and remembered: the reply format
(strict `json_schema`, then `json_object`, then plain text) and the parameters it refuses or wants renamed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from judgekit.errors import CassetteMiss, RequestRefused, ServerFailed
from judgekit.judge import layout, reading
from judgekit.judge.backend import Body
from judgekit.judge.endpoint import Endpoint
from judgekit.prompts import Prompts
from judgekit.wire import Answer, JudgeReply, JudgeRequest, JudgeSpec

PATH = "/chat/completions"
FORMATS = ("json_schema", "json_object", "text")
#: More adaptations than this in one call means that they do not help.
_MOST_ADAPTATIONS = 8
_ABOUT_FORMAT = re.compile(r"response_format|json_schema|json_object|schema|structured|grammar|guided", re.IGNORECASE)


class ChatBackend:
    """A chat model behind an endpoint. Without an endpoint it replays: whatever is not stored is a CassetteMiss."""

    def __init__(self, spec: JudgeSpec, endpoint: Endpoint | None, prompts: Prompts) -> None:
        self._spec = spec
        self._endpoint = endpoint
        self._prompts = prompts
        self._format = FORMATS[0]
        self._dropped: list[str] = []
        self._renamed: dict[str, str] = {}

    @property
    def spec(self) -> JudgeSpec:
        return self._spec

    @property
    def dialect(self) -> dict[str, JsonValue]:
        return {"format": self._format, "dropped": list(self._dropped), "renamed": dict(self._renamed)}

    def learn(self, dialect: Mapping[str, JsonValue]) -> None:
        found = dialect.get("format")
        self._format = found if isinstance(found, str) and found in FORMATS else FORMATS[0]
        dropped, renamed = dialect.get("dropped"), dialect.get("renamed")
        self._dropped = [str(name) for name in dropped] if isinstance(dropped, list) else []
        self._renamed = {k: str(v) for k, v in renamed.items()} if isinstance(renamed, dict) else {}

    def prepare(self, request: JudgeRequest) -> Body:
        body: dict[str, JsonValue] = {"model": self._spec.model, "messages": layout.messages(self._prompts, request)}
        for name, value in self._spec.params.items():
            if name not in self._dropped:
                body[self._renamed.get(name, name)] = value
        if self._format == "json_schema":
            strict: dict[str, JsonValue] = {"name": "reply", "strict": True, "schema": layout.schema(request)}
            body["response_format"] = {"type": "json_schema", "json_schema": strict}
        elif self._format == "json_object":
            body["response_format"] = {"type": "json_object"}
        return body

    async def send(self, request: JudgeRequest) -> tuple[Body, JudgeReply]:
        if self._endpoint is None:
            asked = f"{request.task} with {', '.join(request.ids)}"
            raise CassetteMiss(
                f"the cassette holds no reply to: {asked}; the log, the metrics or the prompts changed "
                "since it was recorded; record it again with --record"
            )
        for _ in range(_MOST_ADAPTATIONS):
            body = self.prepare(request)
            try:
                return body, _reply(await self._endpoint.post(PATH, body))
            except RequestRefused as refusal:
                if not self._adapt(refusal, body):
                    raise
        raise ServerFailed(f"{self._spec.model}: the endpoint refuses every form of request that was tried")

    def read(self, request: JudgeRequest, reply: JudgeReply) -> dict[str, Answer]:
        return reading.read(request, reply)

    async def close(self) -> None:
        if self._endpoint is not None:
            await self._endpoint.close()

    def _adapt(self, refusal: RequestRefused, body: Body) -> bool:
        """Change the dialect by what a 400 says. False when it says nothing about how the request was made."""
        if refusal.status not in (400, 422):
            return False
        said = f"{refusal.param or ''} {refusal}"
        for name in self._spec.params:
            sent_as = self._renamed.get(name, name)
            if sent_as in body and re.search(rf"\b{re.escape(sent_as)}\b", said):
                self._drop_or_rename(name, said)
                return True
        if "response_format" in body and (_ABOUT_FORMAT.search(said) or not refusal.param):
            sent = body["response_format"]
            used = sent["type"] if isinstance(sent, dict) else None
            if used == self._format:  # else another call has stepped down already
                self._format = FORMATS[FORMATS.index(self._format) + 1]
            return True
        return False

    def _drop_or_rename(self, name: str, said: str) -> None:
        if name == "max_tokens" and name not in self._renamed and "max_completion_tokens" in said:
            self._renamed[name] = "max_completion_tokens"
        elif name not in self._dropped:
            self._dropped.append(name)


def _reply(data: Mapping[str, Any]) -> JudgeReply:
    """What matters of a chat completion. Raises ServerFailed for a body that is not one."""
    choices = data.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise ServerFailed(f"the endpoint answered without choices: {str(data)[:200]}")
    message = choices[0].get("message") or {}
    usage = data.get("usage") or {}
    return JudgeReply(
        text=_text(message.get("content")),
        finish=choices[0].get("finish_reason"),
        refusal=message.get("refusal"),
        reasoning=_text(message.get("reasoning_content") or message.get("reasoning")),
        model=data.get("model"),
        fingerprint=data.get("system_fingerprint"),
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
    )


def _text(content: object) -> str | None:
    """Message content as text: a string, or the text parts of a list of parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else None


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
