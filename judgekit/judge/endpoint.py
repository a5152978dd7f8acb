"""One OpenAI-compatible HTTP endpoint: bodies in, JSON objects out, and whatever goes wrong as one typed error.

All retrying of the house happens here. Opening an HTTP client imports the openai SDK; nothing else here does.
"""

from __future__ import annotations

import asyncio
import json
import random
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic import JsonValue

from judgekit.errors import (
    CallTimeout,
    ConnectionFailed,
    JudgeError,
    JudgeUnreachable,
    JudgeUnusable,
    RateLimited,
    ServerFailed,
)
from judgekit.judge import envelope, faults
from judgekit.judge.address import public_url, secrets_of
from judgekit.judge.limiter import Limiter, Slot
from judgekit.judge.messages import Say, say_nothing
from judgekit.judge.tokens import FIRST_REPLY, tokens_of
from judgekit.judge.transfer import SLOWEST, Download, Received, Upload

if TYPE_CHECKING:
    from tenacity import RetryCallState

    from judgekit.judge.transport import Carrier, QuietClient

PASSING: Final = (CallTimeout, ConnectionFailed, RateLimited, ServerFailed)
BACKOFF: Final = 0.5
FIRST_TRIES: Final = 3
#: Seconds of a pause that is worth a word.
LONG: Final = 10.0


@dataclass(slots=True)
class Line:
    """What one event loop holds of an endpoint: a client for each slot, and the generator that closes them."""

    free: list[QuietClient]
    keeper: AsyncGenerator[None]


@dataclass(slots=True)
class Call:
    """One call through all its attempts. `content` is what is posted; None and a Download are got."""

    path: str
    content: bytes | Upload | Download | None
    model: str | None
    tokens: int = 0
    deadline: float | None = None
    sent: int = 0
    most: int = 1
    lacks: Callable[[Mapping[str, Any]], str | None] = lambda _: None
    listed: bool = False
    attempts: int = 0
    answered_before: int = 0
    failure: JudgeError | None = None


class Endpoint:
    """One endpoint, usable from any number of event loops. Constructing it opens nothing.

    At most `concurrency` requests are in flight, from all event loops together; after a 429 fewer (see Limiter), and
    at most `rpm` requests and `tpm` tokens are sent in any minute. `timeout` bounds one attempt in total, however
    slowly a body drips in. A call makes at most `max_attempts` attempts, not counting a 429 while other calls get
    through, and starts none later than `max_seconds` after its first. Where the endpoint says when to come back (429,
    503), every call waits until then, or fails at once when that is later than it may start. `wait_cap` bounds only
    the pauses that nobody asked for. After `dead_after` failed calls in a row, none succeeding between, it is given up.
    `carrier` is what posts: aiohttp where it is installed and no proxy stands between, else httpx2.
    `on_message` is told of long pauses. `clock`, `sleep` and `chance` (a number in [0, 1)) are parameters so that
    waiting can be tested without waiting.

    `sent` counts requests, `retried` those that followed a failure, `waited_seconds` the pauses of all calls;
    `hints` are the headers of the last answer that tell what stands behind the endpoint.
    """

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 120.0,
        max_attempts: int = 6,
        max_seconds: float = 600.0,
        concurrency: int = 16,
        rpm: float | None = None,
        tpm: float | None = None,
        carrier: Carrier = "auto",
        wait_cap: float = 120.0,
        dead_after: int = 8,
        on_message: Say = say_nothing,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.public_url = public_url(base_url)
        self.sent = 0
        self.retried = 0
        self.hints: dict[str, str] = {}
        self.limiter = Limiter(concurrency, rpm=rpm, tpm=tpm, clock=clock, sleep=sleep)
        self._url = base_url
        self._key = api_key or None
        self._headers = dict(headers or {})
        self._secrets = secrets_of(base_url, self._key, self._headers)
        self._timeout = timeout
        self._max_attempts = max_attempts
        self._max_seconds = max_seconds
        self._concurrency = concurrency
        self._carrier: Carrier = carrier
        self._wait_cap = wait_cap
        self._dead_after = dead_after
        self._clock = clock
        self._chance = chance
        self._say = on_message
        self._lines: dict[asyncio.AbstractEventLoop, Line] = {}
        self._lock = threading.Lock()
        self._held_until = float("-inf")
        self._answered = 0
        self._answered_tokens = 0
        self._is_heard = False
        self._failed_in_row = 0
        self._dead = ""

    @property
    def waited_seconds(self) -> float:
        return self.limiter.waited_seconds

    def __repr__(self) -> str:
        return f"Endpoint({self.public_url!r})"

    def shown(self, text: str) -> str:
        """Text from this endpoint made fit for a message: one short line without the secrets it was given."""
        return faults.shown(text, self._secrets)

    @property
    def secrets(self) -> frozenset[str]:
        """What must stand in no message."""
        return self._secrets

    async def post(
        self,
        path: str,
        body: Mapping[str, JsonValue],
        *,
        attempts: int | None = None,
        lacks: Callable[[Mapping[str, Any]], str | None] = lambda _: None,
        listed: bool = False,
    ) -> dict[str, JsonValue]:
        """Send `body` as JSON to `path` below the base URL and return the JSON object that comes back.

        `attempts`: as many at most for this call, instead of `max_attempts`. `lacks` names what is missing in an
        object that is not the API's; such a reply is a failed attempt like any other. `listed`: the API answers with a
        bare list, which becomes the `data` of an object. Raises a JudgeError where this
        call failed, a JudgeStop where no other call would fare better.
        """
        model = body.get("model")
        # ASCII, so that a lone surrogate in judged text can be sent at all
        content = json.dumps(body, separators=(",", ":"), allow_nan=False).encode("ascii")
        most = self._max_attempts if attempts is None else attempts
        call = Call(
            path.lstrip("/"), content, model if isinstance(model, str) else None, most=most, lacks=lacks, listed=listed
        )
        if self.limiter.counts_tokens:
            call.tokens = tokens_of(body) + self._usual_reply
        return await self._call(call)

    async def get(self, path: str) -> dict[str, JsonValue]:
        """The JSON object at `path` below the base URL. Raises like `post`."""
        return await self._call(Call(path.lstrip("/"), None, None))

    async def upload(self, file: Path, purpose: str) -> dict[str, JsonValue]:
        """Send a file to `/files` and return what the endpoint says of it. Raises like `post`."""
        return await self._call(Call("files", Upload(file, purpose), None, most=self._max_attempts))

    async def download(self, file_id: str, into: Path, *, most: int) -> None:
        """Get the content of a stored file, at most so many bytes, into a file here. Raises like `post`."""
        content = Download(file_id, into, most)
        await self._call(Call(f"files/{file_id}/content", content, None, most=self._max_attempts))

    async def close(self) -> None:
        """Close what the running event loop holds. An orderly end of the loop (`asyncio.run`) does it as well."""
        with self._lock:
            line = self._lines.pop(asyncio.get_running_loop(), None)
        if line is not None:
            await line.keeper.aclose()

    async def _line(self) -> Line:
        from judgekit.judge.transport import open_clients  # noqa: PLC0415 - it imports the SDK

        loop = asyncio.get_running_loop()
        with self._lock:
            if (line := self._lines.get(loop)) is not None:
                return line
            # a loop that ended without closing its line would stay alive through it
            self._lines = {loop: line for loop, line in self._lines.items() if not loop.is_closed()}
            clients = open_clients(
                self._url,
                api_key=self._key,
                headers=self._headers,
                connections=max(1, self._concurrency),
                carrier=self._carrier,
            )
            line = Line(clients, _keep(set(clients)))
            self._lines[loop] = line
        # an event loop closes the async generators that were begun in it before it ends
        await anext(line.keeper)
        return line

    async def _call(self, call: Call) -> dict[str, JsonValue]:
        line = await self._line()
        try:
            try:
                reply = await self._attempt(line, call)  # most calls need no other, and nothing that retrying costs
            except PASSING as first:
                reply = await self._retried(line, call, first)
        except PASSING as error:
            self._note_failure(call, error)
            raise
        except JudgeError:
            self._failed_in_row = 0
            raise
        self._failed_in_row = 0
        return reply

    async def _retried(self, line: Line, call: Call, first: JudgeError) -> dict[str, JsonValue]:
        """The further attempts of a call whose first one failed so. Raises what the last one failed with."""
        from tenacity import AsyncRetrying, retry_if_exception_type  # noqa: PLC0415 - 25 ms

        failed: list[JudgeError] = [first]

        async def attempt() -> dict[str, JsonValue]:
            if failed:
                raise failed.pop()
            return await self._attempt(line, call)

        retrying = AsyncRetrying(
            retry=retry_if_exception_type(PASSING),
            wait=partial(self._pause, call),
            stop=partial(self._is_over, call),
            sleep=self.limiter.rest,
            reraise=True,
        )
        reply: dict[str, JsonValue] = await retrying(attempt)
        return reply

    async def _attempt(self, line: Line, call: Call) -> dict[str, JsonValue]:
        if self._dead:
            raise JudgeUnreachable(self._dead)
        slot = await self._slot(call)
        client = line.free.pop()
        try:
            call.sent += 1
            call.attempts += 1
            with self._lock:
                self.sent += 1
                self.retried += call.sent > 1
            reply = self._read(await self._exchanged(client, call), call)
            self._note_answer(slot, reply)
        except RateLimited as error:
            self.limiter.turned_away(slot)
            call.failure = error
            if self._answered > call.answered_before:  # it is busy with others, and this call will have its turn
                call.attempts -= 1
            call.answered_before = self._answered
            raise
        except JudgeError as error:
            call.failure = error
            raise
        except faults.NotServed:  # it speaks of one path
            raise
        except JudgeUnusable as stop:  # it speaks for all calls that have not been sent yet
            self.limiter.stop(stop)
            raise
        else:
            return reply
        finally:
            line.free.append(client)
            self.limiter.leave()

    async def _slot(self, call: Call) -> Slot:
        """The right to send one request now; a call that came too late for its time raises what it failed with."""
        left = self._max_seconds if call.deadline is None else call.deadline - self._clock()
        try:
            slot = await self.limiter.enter(call.tokens, again=call.sent > 0, patience=left)
        except RateLimited as late:
            raise RateLimited(f"{self.public_url}: {late}", late.retry_after) from None
        if call.deadline is None:
            call.deadline, call.answered_before = self._clock() + self._max_seconds, self._answered
        elif call.failure is not None and self._clock() > call.deadline:
            self.limiter.leave()
            raise call.failure
        return slot

    async def _exchanged(self, client: QuietClient, call: Call) -> Received:
        from judgekit.judge.transport import exchange, fetch  # noqa: PLC0415 - it imports the SDK

        where = f"{self.public_url}/{call.path}"
        try:
            async with asyncio.timeout(self._timeout + _seconds_for(call.content)) as limit:
                if isinstance(call.content, Download):  # the more has come, the longer it may take
                    received = await fetch(client, call.content, lambda size: _extend(limit, size))
                else:
                    received = await exchange(client, call.path, call.content)
        except TimeoutError:
            raise CallTimeout(f"{where} gave no whole answer within {self._timeout:g} s") from None
        except ConnectionFailed as error:
            raise type(error)(f"{where}: {faults.shown(str(error), self._secrets)}") from None
        self._is_heard = True
        self.hints = faults.hints(received.headers, self._secrets)
        return received

    def _note_answer(self, slot: Slot, reply: Mapping[str, JsonValue]) -> None:
        """Tell the limiter what a request took, and remember how long replies are, for the estimates of later calls."""
        self._answered += 1
        used = envelope.used(reply) if self.limiter.counts_tokens else None
        self.limiter.answered(slot, sum(used) if used else None)
        if used:
            self._answered_tokens += used.completion_tokens

    @property
    def _usual_reply(self) -> int:
        return self._answered_tokens // self._answered if self._answered else FIRST_REPLY

    def _read(self, received: Received, call: Call) -> dict[str, JsonValue]:
        status, where = received.status, f"{self.public_url}/{call.path}"
        if status in range(200, 300):
            if isinstance(call.content, Download):
                return {}
            body = faults.read_object(received.content, listed=call.listed)
            if body is None:
                page = faults.shown(received.content[:1000].decode("utf-8", "replace"), self._secrets)
                raise ServerFailed(f"{where} answered HTTP {status} with a body that is no JSON object: {page!r}")
            if (claimed := faults.error_in(body)) is None:
                if (missing := call.lacks(body)) is None:
                    return body
                raise ServerFailed(f"{where} answered without {missing}: {self.shown(str(body))}")
            status = claimed
        said = faults.hear(status, received.headers, received.content, now=time.time())
        error = faults.fault(said, where=where, model=call.model, secrets=self._secrets)
        if isinstance(error, RateLimited | ServerFailed) and error.retry_after is not None:
            self._hold(error.retry_after)
        raise error

    def _hold(self, seconds: float) -> None:
        """Let every call wait for so long; say so when it is long."""
        self.limiter.hold(seconds)
        until = self._clock() + seconds
        if LONG <= seconds <= self._max_seconds and until > self._held_until + LONG:
            self._held_until = until
            self._say(f"{self.public_url} asks to come back in {seconds:.0f} s; waiting")

    def _pause(self, call: Call, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, RateLimited | ServerFailed) and error.retry_after is not None:
            return error.retry_after
        # the exponent is bounded, or it would overflow
        longest = min(self._wait_cap, BACKOFF * 2.0 ** min(max(call.attempts - 1, 0), 60))
        return longest * (0.5 + self._chance() / 2)

    def _is_over(self, call: Call, state: RetryCallState) -> bool:
        return (
            bool(self._dead)
            or call.attempts >= call.most
            or call.deadline is None
            or self._clock() + state.upcoming_sleep > call.deadline
            or self._never_connected(call, state.outcome.exception() if state.outcome else None)
        )

    def _never_connected(self, call: Call, error: BaseException | None) -> bool:
        return isinstance(error, faults.NotConnected) and not self._is_heard and call.attempts >= FIRST_TRIES

    def _note_failure(self, call: Call, error: JudgeError) -> None:
        self._failed_in_row += 1
        if not self._dead:
            if self._never_connected(call, error):
                reason = f"no connection to {self.public_url} ({error}); is it running, and is the URL right?"
            elif self._failed_in_row >= self._dead_after:
                reason = f"{self._failed_in_row} calls to {self.public_url} failed in a row, the last with: {error}"
            else:
                return
            self._dead = f"{reason}; what was answered is kept, the same command goes on from here"
            self.limiter.stop(JudgeUnreachable(self._dead))
        raise JudgeUnreachable(self._dead) from None


def _seconds_for(content: object) -> float:
    """Seconds that the sending of a body may take beside the time of an answer."""
    return content.size / SLOWEST if isinstance(content, Upload) else 0.0


def _extend(limit: asyncio.Timeout, size: int) -> None:
    limit.reschedule((limit.when() or 0.0) + size / SLOWEST)


async def _keep(clients: Collection[QuietClient]) -> AsyncGenerator[None]:
    try:
        yield
    finally:
        for client in clients:
            await client.close()
