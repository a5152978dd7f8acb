"""Stands in for the child that serves a GGUF file: the same protocol, a little HTTP server instead of a model.

What it does wrong depends on what the file holds after its magic: `fail` says an error, `die` ends before it is
loaded, `slow` never is, `vanish` ends with the first request.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

ASKED: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
HOW = Path(ASKED["path"]).read_bytes()[4:].decode()


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if HOW == "vanish":
            sys.stderr.write(f"out of memory, and the key was {ASKED['api_key']}\n")
            sys.stderr.flush()
            os._exit(9)
        is_known = self.headers["authorization"] == f"Bearer {ASKED['api_key']}"
        said = json.dumps({"pid": os.getpid(), "context_size": ASKED["context_size"], "asked": body["model"]})
        message = {"role": "assistant", "content": said}
        reply = {
            "model": ASKED["name"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 5},
            "timings": {"prompt_n": 10, "prompt_ms": 500.0, "predicted_n": 5, "predicted_ms": 1000.0},
        }
        sent = json.dumps(reply if is_known else {"error": {"message": "no such key"}}).encode()
        self.send_response(200 if is_known else 401)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_: object) -> None:
        pass


def say(what: dict[str, str]) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def leave() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


if HOW == "die":
    sys.stderr.write("the file is broken\n")
    sys.exit(3)
if HOW == "fail":
    say({"error": "RuntimeError: no model in it"})
elif HOW == "slow":
    leave()
else:
    threading.Thread(target=leave, daemon=True).start()
    server = HTTPServer(("127.0.0.1", 0), Handler)
    say({"url": f"http://127.0.0.1:{server.server_port}/v1"})
    server.serve_forever()
