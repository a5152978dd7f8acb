"""What all backends behind an endpoint have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import JsonValue

from judgekit.errors import CassetteMiss
from judgekit.judge.endpoint import Endpoint
from judgekit.wire import JudgeRequest, JudgeSpec


class Served:
    """A judge behind an endpoint. Without one it replays: whatever is not stored is a CassetteMiss."""

    most_questions: ClassVar[int | None] = None
    writes: ClassVar[bool] = False

    def __init__(self, spec: JudgeSpec, endpoint: Endpoint | None) -> None:
        self._spec = spec
        self._endpoint = endpoint

    @property
    def spec(self) -> JudgeSpec:
        return self._spec

    @property
    def endpoint(self) -> Endpoint | None:
        """Where it is asked; None in a replay."""
        return self._endpoint

    @property
    def dialect(self) -> dict[str, JsonValue]:
        return {}

    def learn(self, dialect: Mapping[str, JsonValue]) -> None:
        """Nothing to learn where there is one way to ask."""

    def _asks(self, request: JudgeRequest) -> Endpoint:
        """The endpoint to ask. Raises CassetteMiss, naming what would be asked, in a replay."""
        if self._endpoint is None:
            raise CassetteMiss(
                f"the cassette holds no reply to: {request.task} with {', '.join(request.ids)}; the log, the metrics, "
                "the prompts or the model changed since it was recorded; record it again with --record"
            )
        return self._endpoint

    async def close(self) -> None:
        if self._endpoint is not None:
            await self._endpoint.close()
