"""A clock for tests of waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable


class Clock:
    """Time that passes only by sleeping."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.sleeps: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> Awaitable[None]:
        """A sleep that begins when it is asked for, not when somebody gets round to awaiting it."""
        self.sleeps.append(seconds)
        return self._until(self.now + seconds)

    async def _until(self, moment: float) -> None:
        await asyncio.sleep(0)  # others may still start before this sleep is over
        self.now = max(self.now, moment)
