"""The lines of batch files: requests out, results in. Result files are foreign text and are read as such.

Request:  {"custom_id", "method": "POST", "url": "/v1/chat/completions", "body": {...}}
Result:   {"custom_id", "response": {"status_code", "request_id", "body": {...}} or null, "error": {...} or null}
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

from judgekit.errors import CallTimeout, InputError, JudgekitError, ServerFailed
from judgekit.judge import faults
from judgekit.judge.backend import Body

#: What one file may hold, by the rules of the API.
MOST_REQUESTS: Final = 50_000
MOST_BYTES: Final = 200_000_000
#: Bytes of one result line, and of one result file: far more than any honest one has.
LONGEST_LINE: Final = 1 << 24
LARGEST_RESULTS: Final = 1 << 31
#: The paths in request lines begin so, wherever the endpoint itself is served.
PREFIX: Final = "/v1"
_HTTP_OK: Final = range(200, 300)


class Outcome(NamedTuple):
    """What became of one request: the JSON object of its response, or the error that it means."""

    custom_id: str
    body: dict[str, Any] | None = None
    error: JudgekitError | None = None


def request_line(custom_id: str, path: str, body: Body) -> bytes:
    """One request as a line. ASCII, so that a lone surrogate in judged text can be written at all."""
    line = {"custom_id": custom_id, "method": "POST", "url": PREFIX + path, "body": body}
    return json.dumps(line, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n"


def ids_of(path: Path) -> set[str]:
    """The custom ids in a file of requests that we wrote. Raises InputError when it is not there or was changed."""
    try:
        with path.open("rb") as lines:
            return {str(json.loads(line)["custom_id"]) for line in lines}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: cannot be read ({error}); delete the folder {path.parent} to send anew") from None


def outcomes(path: Path, *, where: str, model: str | None, secrets: Collection[str] = ()) -> Iterator[Outcome]:
    """The outcomes in a file of results, in its order; `secrets` are masked in messages.

    A line that is none is passed over: what it was meant for counts as not answered. Raises InputError when the file
    cannot be read.
    """
    try:
        with path.open("rb") as file:
            for line in _lines(file):
                found = _outcome(line, where=where, model=model, secrets=secrets)
                if found is not None:
                    yield found
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}; give a file of batch results") from None


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Lines of bounded length; a longer one is passed over."""
    is_whole = True
    while line := file.readline(LONGEST_LINE):
        ends = line.endswith(b"\n")
        if is_whole and (ends or len(line) < LONGEST_LINE):
            yield line
        is_whole = ends


def _outcome(line: bytes, *, where: str, model: str | None, secrets: Collection[str]) -> Outcome | None:
    said = faults.read_object(line)
    custom_id = said.get("custom_id") if said else None
    if said is None or not isinstance(custom_id, str):
        return None
    response = said.get("response")
    if not isinstance(response, dict):
        return Outcome(custom_id, error=_unanswered(said.get("error"), where, secrets))
    status, body = response.get("status_code"), response.get("body")
    if not isinstance(status, int) or not isinstance(body, dict):
        return Outcome(custom_id, error=ServerFailed(f"{where}: a result without status or body"))
    status = (faults.error_in(body) or status) if status in _HTTP_OK else status
    if status in _HTTP_OK:
        return Outcome(custom_id, body=body)
    heard = faults.hear(status, {}, json.dumps(body).encode("ascii"), now=time.time())
    return Outcome(custom_id, error=faults.fault(heard, where=where, model=model, secrets=secrets))


def _unanswered(error: object, where: str, secrets: Collection[str]) -> JudgekitError:
    """A request that was never executed: the batch expired or was cancelled before, or the server failed."""
    told = error if isinstance(error, dict) else {}
    words = " ".join(word for word in (told.get("code"), told.get("message")) if isinstance(word, str))
    kind = CallTimeout if told.get("code") == "batch_expired" else ServerFailed
    return kind(f"{where} did not execute the request: {faults.shown(words, secrets) or 'no reason given'}")
