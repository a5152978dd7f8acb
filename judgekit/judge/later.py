"""Answers that come later: what a batch brought is handed out, and what is still wanted is noted down.

An Asker that has a `Later` sends nothing. A reply that came in with a batch takes the same way as one that was just
sent for: it is counted, recognised and stored under the same key. What did not come in is wanted, and Postponed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol, runtime_checkable

from judgekit.errors import JudgeError, Postponed, RequestTooLong, ServerFailed
from judgekit.judge.backend import Backend, Body
from judgekit.judge.endpoint import Endpoint
from judgekit.judge.store import Store
from judgekit.wire import JudgeReply, JudgeRequest, canonical

#: Batches in which a request may fail, for reasons that pass, before it counts as failed.
MOST_TRIES: Final = 3


@runtime_checkable
class Postable(Backend, Protocol):
    """A backend each of whose calls posts one JSON body, so that a batch can hold it."""

    @property
    def endpoint(self) -> Endpoint | None:
        """Where it is asked; None in a replay."""
        ...

    @property
    def path(self) -> str:
        """Below the base URL."""
        ...

    def receive(self, request: JudgeRequest, body: Body, data: Mapping[str, Any]) -> JudgeReply:
        """What matters of the JSON object that came back to a body. Raises ServerFailed for what is no reply."""
        ...


class Inbox:
    """What batches brought, by the key of the request: the response, or why there is none.

    It survives the process. A request that failed for a passing reason may be tried again in another batch.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def put_reply(self, key: str, body: Mapping[str, Any], *, batch: int) -> None:
        """Keep what a batch, by its number, brought."""
        tries = self._get(key).get("tries", [])
        self._store.put(key, canonical({"reply": body, "batch": batch, "tries": tries}))

    def put_failure(self, key: str, error: JudgeError, *, batch: int, is_final: bool) -> None:
        """Note that a batch brought no reply; a reply that another brought stands."""
        row = self._get(key)
        if "reply" not in row:
            self._put_failure(key, error, tries={*row.get("tries", ()), batch}, is_final=is_final)

    def reject(self, key: str, error: JudgeError) -> None:
        """Note that what came is no reply."""
        row = self._get(key)
        self._put_failure(key, error, tries={*row["tries"], row["batch"]}, is_final=False)

    def _put_failure(self, key: str, error: JudgeError, *, tries: set[int], is_final: bool) -> None:
        failed = {"cause": error.cause, "message": str(error)}
        self._store.put(key, canonical({"failed": failed, "tries": sorted(tries), "final": is_final}))

    def reply(self, key: str) -> dict[str, Any] | None:
        """The response to a request; None where none came yet."""
        found: dict[str, Any] | None = self._get(key).get("reply")
        return found

    def failure(self, key: str) -> JudgeError | None:
        """The failure that a request ended with; None where it has not ended, or may be tried again."""
        row = self._get(key)
        if "failed" not in row or not (row["final"] or len(row["tries"]) >= MOST_TRIES):
            return None
        return failure(row["failed"]["cause"], row["failed"]["message"])

    def take(self, key: str) -> None:
        """Note that what came in has been used."""
        self._store.put(key, canonical({**self._get(key), "taken": True}))

    def was_taken(self, key: str) -> bool:
        return self._get(key).get("taken") is True

    def _get(self, key: str) -> dict[str, Any]:
        try:
            row = json.loads(self._store.get(key) or "{}")
        except (ValueError, RecursionError):
            return {}  # a row that cannot be read is a miss
        return row if isinstance(row, dict) else {}


class Later:
    """The batch side of one backend. `want` hears the key and body of every request that is still to be asked; without
    it what did not come in is asked at once."""

    def __init__(self, backend: Postable, inbox: Inbox, want: Callable[[str, Body], None] | None) -> None:
        self._backend = backend
        self._inbox = inbox
        self._want = want

    def reply(self, key: str, request: JudgeRequest, body: Body) -> JudgeReply | None:
        """What a batch brought; None where it is to be asked at once. Raises the JudgeError that came in its place, or
        Postponed where nothing came yet."""
        data = self._inbox.reply(key)
        if data is not None:
            try:
                reply = self._backend.receive(request, body, data)
            except ServerFailed as error:
                self._inbox.reject(key, error)
            else:
                self._inbox.take(key)
                return reply
        failed = self._inbox.failure(key) if self._want is not None else None
        if failed is not None:
            self._inbox.take(key)
            raise failed
        if self._want is None:
            return None
        self._want(key, body)
        raise Postponed(f"{request.task} waits for a batch")

    def was_taken(self, key: str) -> bool:
        """True for what came in with a batch and was used; where the rest is asked at once, for replies alone."""
        return self._inbox.was_taken(key) and (self._want is not None or self._inbox.reply(key) is not None)


def failure(cause: str, message: str) -> JudgeError:
    """A JudgeError as it was kept: its cause and its words."""
    if cause == RequestTooLong.cause:
        return RequestTooLong(message)
    error = JudgeError(message)
    error.cause = cause
    return error
