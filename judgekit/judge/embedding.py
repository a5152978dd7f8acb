"""Embeddings of an OpenAI-compatible endpoint, as a backend: texts out, one vector for each back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from judgekit.errors import ServerFailed
from judgekit.judge import envelope, reading
from judgekit.judge.backend import Body
from judgekit.judge.served import Served
from judgekit.wire import Answer, JudgeReply, JudgeRequest, canonical

PATH = "/embeddings"
FORM = "embeddings"


class EmbeddingBackend(Served):
    """An embeddings model behind an endpoint. Without one it replays.

    Numbers are kept to six digits, which is more than two runs of a model agree in.
    """

    @property
    def path(self) -> str:
        return PATH

    def prepare(self, request: JudgeRequest) -> Body:
        return {"model": self._spec.model, "input": [question.text for question in request.questions]}

    async def send(self, request: JudgeRequest) -> tuple[Body, JudgeReply]:
        endpoint = self._asks(request)
        body, count = self.prepare(request), len(request.questions)

        def lacks(data: Mapping[str, Any]) -> str | None:
            return None if _vectors(data.get("data"), count) is not None else "one vector for each text"

        return body, self.receive(request, body, await endpoint.post(PATH, body, lacks=lacks))

    def receive(self, request: JudgeRequest, body: Body, data: Mapping[str, Any]) -> JudgeReply:  # noqa: ARG002
        vectors = _vectors(data.get("data"), len(request.questions))
        if vectors is None:
            raise ServerFailed(f"{self._spec.model} answered without one vector for each text")
        return JudgeReply(
            text=canonical(vectors),
            finish="stop",
            model=envelope.model(data),
            prompt_tokens=envelope.used(data).prompt_tokens,
        )

    def read(self, request: JudgeRequest, reply: JudgeReply) -> dict[str, Answer]:
        try:
            vectors = json.loads(reply.text or "")
        except ValueError:
            vectors = None
        said = vectors if isinstance(vectors, list) else []
        paired = zip(request.questions, said, strict=False)  # what is missing is missing
        return {question.id: reading.answer(question, one) for question, one in paired}


def _vectors(data: object, count: int) -> list[list[float]] | None:
    """The vectors in the order of the texts, which the entries' `index` tells; None when there is not one for each."""
    entries = [entry for entry in data if isinstance(entry, dict)] if isinstance(data, list) else []
    found = {entry.get("index", place): entry.get("embedding") for place, entry in enumerate(entries)}
    listed = [found.get(place) for place in range(count)]
    if len(entries) != count or not all(isinstance(vector, list) and all(map(_is_number, vector)) for vector in listed):
        return None
    return [[float(f"{number:.6g}") for number in vector] for vector in listed if vector is not None]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
