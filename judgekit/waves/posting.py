"""How a run is to be judged by batches."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from judgekit.judge.batchfile import MOST_REQUESTS
from judgekit.judge.messages import Say, say_nothing


@dataclass(frozen=True, kw_only=True)
class Posting:
    """How a run is to be judged by batches.

    size: requests in a batch at most. least: a wave of fewer is asked at once, live. longest_wait: seconds after which
    a session leaves a batch to itself; None: never. by_hand: the files are only written, for people to upload.
    for_granted: ask nothing live, not even who answers. `clock` and `sleep` are parameters so that waiting can be
    tested without waiting.
    """

    size: int = MOST_REQUESTS
    least: int = 1
    longest_wait: float | None = None
    by_hand: bool = False
    for_granted: bool = False
    say: Say = say_nothing
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
