"""The child process behind `local:`: one GGUF model on a free port of this machine, for as long as its parent lives.

Started as a script, it reads one line of JSON from standard input, says one line on standard output (`url`, or
`error`), and ends when standard input does: so it cannot outlive whoever started it, however that one ends.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from typing import Any


def main() -> None:
    """Serve what the first line of standard input says, until standard input ends."""
    asked: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    # what the library prints must not stand between the parent and its one line
    line = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    try:
        said = {"url": _serve(asked)}
    except Exception as error:  # noqa: BLE001 - whatever it is, the parent tells it
        said = {"error": f"{type(error).__name__}: {error}"}
    line.write(json.dumps(said) + "\n")
    line.close()
    if "error" not in said:
        threading.Event().wait()


def _leave_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(0)  # an orderly shutdown may hang on an open connection


def _serve(asked: dict[str, Any]) -> str:
    import xllamacpp  # noqa: PLC0415 - an extra; the error is told to the parent

    params = xllamacpp.CommonParams()
    params.model.path = asked["path"]
    params.model_alias = {asked["name"]}
    params.api_keys = [asked["api_key"]]
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.ui = False
    params.use_jinja = True
    params.verbosity = 1
    # one slot and no reuse of prefixes: the same question then gets the same answer, bit by bit
    params.n_parallel, params.n_ctx, params.cache_prompt = 1, asked["context_size"], False
    global _server  # noqa: PLW0603 - it serves as long as it is referred to
    _server = xllamacpp.Server(params)
    return f"{_server.listening_address}/v1"


_server: Any = None

if __name__ == "__main__":
    main()
