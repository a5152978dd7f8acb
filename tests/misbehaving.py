"""A real HTTP server on this machine that behaves, or misbehaves, as it is told. Standard library only.

    with Server(chat("yes")) as server:                       # the same reply to everything
        ...  # talk to server.url ("http://127.0.0.1:<port>/v1")
        assert server.requests[0].body["model"] == "m"

    Server([error(503), chat("yes")])                         # one after the other, the last one for ever
    Server(lambda request: chat(request.body["messages"][0]["content"]))    # whatever a function says

A `Reply` is a value; its fields say what goes wrong, and `dataclasses.replace` (or the makers below) changes them:

    chat(text, model=, finish=, usage=, ...)      a chat completion
    embeddings(vectors, model=)                   a reply of /v1/embeddings
    answer(value, status=)                        any JSON
    error(status, message, code=, type=, param=)  an error as OpenAI writes it
    html(status)                                  an error page
    late(reply, seconds)                          nothing is sent for a while
    dripping(reply, pause, piece=)                the body comes in small pieces
    stalled(reply, after)                         the body stops, the connection stays open
    reset(reply, after)                           the connection is reset (RST) after so many bytes of the body
    broken_off(reply, after)                      closed early: Content-Length promises more
    truncated(reply, after)                       the body is cut off, and Content-Length fits the rest
    no_answer()                                   closed without a byte

`server.requests` holds every request that came in, in order: `path`, `headers` (names in lower case), `body` (parsed
JSON; None without a body, and for a form), `raw`, `at` (of `clock`, monotonic seconds by default), `connection` (a
number). `server.peak` is the most requests that were in work at once. A handler that raises gives HTTP 500, and the
error is raised at the end of the `with` block. Connections are kept alive, one request at a time on each.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: dict[str, str]
    raw: bytes
    at: float
    connection: int
    body: Any = None


@dataclass(frozen=True)
class Reply:
    """`end` is what happens after `cut` bytes of the body (None: all of them); `length` overrides Content-Length."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    pause: float = 0.0
    piece: int = 1 << 16
    cut: int | None = None
    end: Literal["keep", "close", "reset", "stall"] = "keep"
    length: int | None = None
    silent: bool = False


Handler = Callable[[Request], Reply]


def answer(value: object, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
    body = json.dumps(value, allow_nan=True).encode()
    return Reply(status, body, {"content-type": "application/json", **(headers or {})})


def chat(
    text: str | None,
    *,
    model: str = "m",
    finish: str = "stop",
    usage: tuple[int, int] = (10, 5),
    fingerprint: str | None = None,
    refusal: str | None = None,
    reasoning: str | None = None,
    logprobs: object = None,
    headers: Mapping[str, str] | None = None,
) -> Reply:
    message: dict[str, object] = {"role": "assistant", "content": text, "refusal": refusal}
    if reasoning is not None:
        message["reasoning_content"] = reasoning
    choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": logprobs}
    counted = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    value = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [choice],
        "usage": counted,
        "system_fingerprint": fingerprint,
    }
    return answer(value, headers=headers)


def embeddings(vectors: Sequence[object], *, model: str = "e") -> Reply:
    data = [{"object": "embedding", "index": n, "embedding": vector} for n, vector in enumerate(vectors)]
    return answer({"object": "list", "data": data, "model": model, "usage": {"prompt_tokens": 4, "total_tokens": 4}})


def error(
    status: int,
    message: str = "something is wrong",
    *,
    code: str | int | None = None,
    type: str | None = None,  # noqa: A002 - the API's word
    param: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Reply:
    value = {"error": {"message": message, "type": type, "param": param, "code": code}}
    return answer(value, status=status, headers=headers)


def html(status: int = 200, text: str = "Bad gateway") -> Reply:
    page = f"<!doctype html><html><head><title>{text}</title></head><body><h1>{text}</h1></body></html>"
    return Reply(status, page.encode(), {"content-type": "text/html"})


def late(reply: Reply, seconds: float) -> Reply:
    return replace(reply, delay=seconds)


def dripping(reply: Reply, pause: float, *, piece: int = 8) -> Reply:
    return replace(reply, pause=pause, piece=piece)


def stalled(reply: Reply, after: int = 10) -> Reply:
    return replace(reply, cut=after, end="stall")


def reset(reply: Reply, after: int = 10) -> Reply:
    return replace(reply, cut=after, end="reset")


def broken_off(reply: Reply, after: int = 10) -> Reply:
    return replace(reply, cut=after, end="close")


def truncated(reply: Reply, after: int = 10) -> Reply:
    return replace(reply, body=reply.body[:after])


def no_answer() -> Reply:
    return Reply(silent=True, end="close")


def _parsed(raw: bytes) -> Any:
    """The JSON of a body; None for one that is empty or no JSON."""
    try:
        return json.loads(raw)
    except ValueError:
        return None


def _in_turn(replies: Sequence[Reply]) -> Handler:
    left = list(replies)
    return lambda _request: left.pop(0) if len(left) > 1 else left[0]


class Server:
    """The server, on a free port of the loopback, in a thread of its own for the length of a `with` block."""

    def __init__(
        self, handler: Handler | Reply | Sequence[Reply], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        if isinstance(handler, Reply):
            handler = [handler]
        self._handler: Handler = handler if callable(handler) else _in_turn(handler)
        self._clock = clock
        self._ready = threading.Event()
        self._failures: list[Exception] = []
        self._connections = 0
        self._busy = 0
        self.requests: list[Request] = []
        self.peak = 0
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        assert self._ready.wait(10), "the server did not come up"
        return self

    def __exit__(self, kind: type[BaseException] | None, *_rest: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)
        assert not self._thread.is_alive(), "the server did not stop"
        if kind is None and self._failures:
            raise self._failures[0]

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=1 << 24)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections += 1
        task = self._loop.create_task(self._talk(reader, writer, self._connections))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, connection: int) -> None:
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                while (request := await self._read(reader, connection)) is not None:
                    self._busy += 1
                    self.peak = max(self.peak, self._busy)
                    try:
                        goes_on = await self._send(writer, self._reply_to(request))
                    finally:
                        self._busy -= 1
                    if not goes_on:
                        return
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _read(self, reader: asyncio.StreamReader, connection: int) -> Request | None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        except asyncio.IncompleteReadError:
            return None
        first, *lines = head.strip().split("\r\n")
        method, path, _ = first.split(" ")
        pairs = (line.partition(":") for line in lines)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        raw = await reader.readexactly(int(headers.get("content-length", 0)))
        body = _parsed(raw)
        request = Request(method, path, headers, raw, self._clock(), connection, body)
        self.requests.append(request)
        return request

    def _reply_to(self, request: Request) -> Reply:
        try:
            return self._handler(request)
        except Exception as failure:  # noqa: BLE001 - raised again when the block ends
            self._failures.append(failure)
            return error(500, f"the handler of this test failed: {failure!r}")

    async def _send(self, writer: asyncio.StreamWriter, reply: Reply) -> bool:
        """Send the reply; True where the connection goes on."""
        await asyncio.sleep(reply.delay)
        if not reply.silent:
            length = len(reply.body) if reply.length is None else reply.length
            lines = [f"HTTP/1.1 {reply.status} Status", f"content-length: {length}"]
            lines += [f"{name}: {value}" for name, value in reply.headers.items()]
            writer.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))
            body = reply.body[: reply.cut]
            for start in range(0, len(body), reply.piece):
                writer.write(body[start : start + reply.piece])
                await writer.drain()
                if reply.pause:
                    await asyncio.sleep(reply.pause)
            await writer.drain()
        if reply.end == "stall":
            await self._stop.wait()
        if reply.end == "reset":
            # lingering for no time at all makes the kernel send RST instead of FIN
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
        return reply.end == "keep"
