"""How much an endpoint is asked at once and a minute: one limiter an endpoint, whoever asks it and from where.

Nothing here polls: who may not send yet waits for a wake-up, and only the first in line ever waits for a time.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable

from judgekit.errors import InputError, JudgeStop, RateLimited
from judgekit.judge.perminute import INSTANT, PerMinute, Taken


class Slot:
    """The right to one request in flight. `round` tells which cuts of the limit it was sent before."""

    __slots__ = ("round", "tokens")

    def __init__(self, round_: int, tokens: Taken | None) -> None:
        self.round = round_
        self.tokens = tokens


def _running() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


class Waiter:
    """Someone who waits in an event loop, to be woken from any thread."""

    __slots__ = ("_future", "_loop", "stop", "tokens")

    def __init__(self, tokens: int = 0) -> None:
        self._loop = asyncio.get_running_loop()
        self._future: asyncio.Future[None] = self._loop.create_future()
        self.tokens = tokens
        self.stop: JudgeStop | None = None

    def wake(self) -> None:
        if _running() is self._loop:
            self._woken()
            return
        with contextlib.suppress(RuntimeError):  # its loop has ended, and with it the one who waited
            self._loop.call_soon_threadsafe(self._woken)

    def _woken(self) -> None:
        if not self._future.done():
            self._future.set_result(None)

    @property
    def is_gone(self) -> bool:
        return self._loop.is_closed()

    async def woken(self, sleeper: asyncio.Future[None] | None = None) -> None:
        """Return when woken, or when `sleeper` is done. Raises the stop that came meanwhile."""
        if sleeper is None:
            await self._future
        else:
            try:
                await asyncio.wait((self._future, sleeper), return_when=asyncio.FIRST_COMPLETED)
            finally:
                sleeper.cancel()
        if self._future.done():
            self._future = self._loop.create_future()
        if self.stop is not None:
            raise type(self.stop)(str(self.stop))


class Limiter:
    """Who may send when. First come, first served, save that a request which is sent again goes before new ones.

    `most` requests are in flight at most, and as many from the start. A 429 halves that, once for all requests that
    were sent before the halving; what is sent later and comes back grows it again, by one for every full round of
    requests that left no slot unused. Nothing else changes it: a server that fails is not helped by less traffic.
    `rpm` and `tpm` bound requests and tokens in any 60 seconds; tokens are the caller's estimate until it says better.
    `clock` and `sleep` are parameters so that waiting can be tested without waiting.
    """

    def __init__(
        self,
        most: int,
        *,
        rpm: float | None = None,
        tpm: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        for name, value in (("concurrency", most), ("rpm", rpm), ("tpm", tpm)):
            if value is not None and not value > 0:
                raise InputError(f"{name}={value}: a limit is more than 0; leave it out to set none")
        self.in_flight = 0
        self.waited_seconds = 0.0
        self._most = most
        self._limit = float(most)
        self._round = 0
        self._requests = PerMinute(rpm) if rpm is not None else None
        self._tokens = PerMinute(tpm) if tpm is not None else None
        self._not_before = float("-inf")
        self._clock = clock
        self._sleep = sleep
        self._again: deque[Waiter] = deque()
        self._fresh: deque[Waiter] = deque()
        self._resting: set[Waiter] = set()
        self._lock = threading.Lock()

    @property
    def limit(self) -> int:
        """How many requests may be in flight now."""
        return int(self._limit)

    @property
    def counts_tokens(self) -> bool:
        return self._tokens is not None

    # --- slots -----------------------------------------------------------------------------------

    async def enter(self, tokens: int = 0, *, again: bool = False, patience: float = float("inf")) -> Slot:
        """A slot, as soon as one is free and the limits allow it; give it back with `leave`.

        Raises RateLimited when the endpoint asked for a pause longer than `patience` seconds, and what stopped the
        endpoint meanwhile.
        """
        queue = self._again if again else self._fresh
        with self._lock:
            if not self._again and not queue and self.in_flight < self.limit and self._pause(tokens) <= INSTANT:
                return self._taken(tokens)
            waiter = Waiter(tokens)
            queue.append(waiter)
        try:
            return await self._in_turn(waiter, queue, patience)
        except BaseException:
            with self._lock:
                if waiter in queue:
                    queue.remove(waiter)
                self._call_next()
            raise

    async def _in_turn(self, waiter: Waiter, queue: deque[Waiter], patience: float) -> Slot:
        while True:
            with self._lock:
                is_next = waiter is self._first() and self.in_flight < self.limit
                pause = self._pause(waiter.tokens) if is_next else 0.0
                if is_next and pause <= INSTANT:
                    queue.popleft()
                    slot = self._taken(waiter.tokens)
                    self._call_next()
                    return slot
                asked = self._not_before - self._clock()
            if asked > patience:
                raise RateLimited(f"it asks to come back in {asked:.0f} s, later than a call may wait", asked)
            if is_next:
                await self._asleep(waiter, pause)
            else:
                await waiter.woken()

    def leave(self) -> None:
        """Give a slot back."""
        with self._lock:
            self.in_flight -= 1
            self._call_next()

    def _taken(self, tokens: int) -> Slot:
        now = self._clock()
        self.in_flight += 1
        if self._requests is not None:
            self._requests.take(1, now)
        return Slot(self._round, self._tokens.take(tokens, now) if self._tokens is not None else None)

    def _pause(self, tokens: int) -> float:
        """Seconds until the first in line may send, as far as time is concerned."""
        if self._not_before == float("-inf") and self._requests is None and self._tokens is None:
            return 0.0
        now = self._clock()
        return max(
            self._not_before - now,
            self._requests.pause(1, now) if self._requests is not None else 0.0,
            self._tokens.pause(tokens, now) if self._tokens is not None else 0.0,
        )

    def _first(self) -> Waiter | None:
        for queue in (self._again, self._fresh):
            while queue and queue[0].is_gone:
                queue.popleft()
            if queue:
                return queue[0]
        return None

    def _call_next(self) -> None:
        if self.in_flight < self.limit and (first := self._first()) is not None:
            first.wake()

    # --- what the endpoint said ------------------------------------------------------------------

    def answered(self, slot: Slot, tokens: int | None = None) -> None:
        """The request of a slot that is still held was answered; `tokens` is what it took, where that is known."""
        if slot.tokens is None and self._limit >= self._most:
            return
        with self._lock:
            if slot.tokens is not None and self._tokens is not None and tokens:
                self._tokens.correct(slot.tokens, tokens)
            if slot.round == self._round and self.in_flight >= self.limit:
                self._limit = min(float(self._most), self._limit + 1.0 / self.limit)
                self._call_next()

    def turned_away(self, slot: Slot) -> None:
        """The request of a slot met a 429."""
        with self._lock:
            if slot.tokens is not None and self._tokens is not None:
                self._tokens.correct(slot.tokens, 0)
            if slot.round == self._round:
                self._round += 1
                self._limit = float(max(1, self.limit // 2))

    def hold(self, seconds: float) -> None:
        """Send nothing for so long: the endpoint said when to come back."""
        with self._lock:
            self._not_before = max(self._not_before, self._clock() + seconds)

    # --- waiting ---------------------------------------------------------------------------------

    async def rest(self, seconds: float) -> None:
        """Wait. Raises what stops the endpoint as soon as it does."""
        waiter = Waiter()
        with self._lock:
            self._resting.add(waiter)
        try:
            await self._asleep(waiter, seconds)
        finally:
            with self._lock:
                self._resting.discard(waiter)

    async def _asleep(self, waiter: Waiter, seconds: float) -> None:
        with self._lock:
            self.waited_seconds += seconds
        await waiter.woken(asyncio.ensure_future(self._sleep(seconds)))

    def stop(self, stop: JudgeStop) -> None:
        """Raise this in all who wait, for a slot or for a time."""
        with self._lock:
            for waiter in (*self._again, *self._fresh, *self._resting):
                waiter.stop = stop
                waiter.wake()
