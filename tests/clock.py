"""A clock for tests of waiting."""

from __future__ import annotations

import asyncio


class Clock:
    """Time that passes only by sleeping."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.sleeps: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        until = self.now + seconds
        await asyncio.sleep(0)  # others may still start before this sleep is over
        self.now = max(self.now, until)
