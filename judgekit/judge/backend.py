"""The seam: what any kind of judge must be able to do.

A backend turns a request into the body that is sent, sends it, and reads typed answers from what comes back. Caching,
asking again, pinning and recording happen outside and are the same for all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from pydantic import JsonValue

from judgekit.wire import Answer, JudgeReply, JudgeRequest, JudgeSpec

Body = Mapping[str, JsonValue]


class Backend(Protocol):
    """One judge behind one wire form. One that asks over HTTP shows its `endpoint`, so that a run that is stopped can
    let the calls in flight land and send no more."""

    @property
    def spec(self) -> JudgeSpec:
        """Who answers, as configured; `resolved` is left to be learned."""
        ...

    @property
    def most_questions(self) -> int | None:
        """How many questions one call can hold; larger requests are asked in several. None: any number."""
        ...

    @property
    def writes(self) -> bool:
        """Whether it writes text, so that it can be asked for extractions; the typed questions any can answer."""
        ...

    @property
    def dialect(self) -> dict[str, JsonValue]:
        """What was found out about the endpoint (reply format, refused parameters), to be remembered."""
        ...

    def learn(self, dialect: Mapping[str, JsonValue]) -> None:
        """Take over what an earlier run found out."""
        ...

    def prepare(self, request: JudgeRequest) -> Body:
        """The body that would be sent now; what is stored is found again by it."""
        ...

    async def send(self, request: JudgeRequest) -> tuple[Body, JudgeReply]:
        """Ask, and return the body as it was sent in the end. Raises JudgeError for this call, JudgeStop for all."""
        ...

    def read(self, request: JudgeRequest, reply: JudgeReply) -> dict[str, Answer]:
        """One answer a question, by id; a question without a valid answer has `cause` set."""
        ...

    async def close(self) -> None:
        """Let go of connections held in the running event loop."""
        ...
