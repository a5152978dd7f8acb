"""An OpenAI-compatible endpoint of known latency, in a process of its own: what a run costs beside the judge's time.

It answers every request validly, at once or after a drawn pause: extractions with the sentence itself, questions with
a label. It is as cheap as can be, so that on few cores it takes little from what is measured.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import sys
from collections.abc import Mapping
from typing import Any

_ITEM = re.compile(r'^([a-z]+\d*): ("(?:[^"\\]|\\.)*")$', re.MULTILINE)
_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)


def reply_to(body: Mapping[str, Any]) -> bytes:
    """A chat completion that answers everything that the body's schema asks for."""
    user = body["messages"][1]["content"]
    items = dict(_ITEM.findall(user))
    said = {
        name: _answer(shape, items.get(name, '""'))
        for name, shape in body["response_format"]["json_schema"]["schema"]["properties"].items()
    }
    message = {"role": "assistant", "content": json.dumps(said)}
    value = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": len(user) // 4, "completion_tokens": 40, "total_tokens": len(user) // 4 + 40},
    }
    return json.dumps(value).encode()


def _answer(shape: Mapping[str, Any], text: str) -> object:
    if shape["type"] == "array":
        return [json.loads(text)]
    if shape["type"] == "object":
        return {name: _answer(inner, text) for name, inner in shape["properties"].items()}
    return shape["enum"][-1] if "enum" in shape else ""


class Talk(asyncio.Protocol):
    """One connection; pipelining is not spoken."""

    def __init__(self, pause: tuple[float, float], seed: int) -> None:
        self._median, self._sigma = pause
        self._random = random.Random(seed)
        self._held = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._held += data
        head, found, rest = self._held.partition(b"\r\n\r\n")
        length = _LENGTH.search(head)
        if not found or (length and len(rest) < int(length[1])):
            return
        self._held = b""
        answer = reply_to(json.loads(rest))
        pause = self._median * (self._random.lognormvariate(0, self._sigma) if self._sigma else 1.0)
        asyncio.get_running_loop().call_later(pause, self._send, answer)

    def _send(self, answer: bytes) -> None:
        if not self._transport.is_closing():
            head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(answer)
            self._transport.write(head + answer)  # type: ignore[attr-defined]


async def serve(median: float, sigma: float) -> None:
    """Serve until the parent closes the pipe of standard input; the first line out is the port."""
    loop = asyncio.get_running_loop()
    count = iter(range(1_000_000))
    server = await loop.create_server(lambda: Talk((median, sigma), next(count)), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1]), float(sys.argv[2])))
