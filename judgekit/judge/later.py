"""Answers that come later: what a batch brought is handed out, and what is still wanted is noted down.

An Asker that has a `Later` sends nothing. A reply that came in with a batch takes the same way as one that was just
sent for: it is counted, recognised and stored under the same key. What did not come in is wanted, and Postponed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict

from judgekit.errors import JudgeError, Postponed, RequestTooLong, ServerFailed
from judgekit.judge.backend import Backend, Body
from judgekit.judge.endpoint import Endpoint
from judgekit.judge.store import Store
from judgekit.wire import JudgeReply, JudgeRequest, canonical

#: Batches in which a request may fail, for reasons that pass, before it counts as failed.
MOST_TRIES: Final = 3
_TAKEN: Final = "taken:"


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


class Came(NamedTuple):
    """What batches brought for a request: the response, or the failure that it ended with; both None where it is still
    to be asked, for the first time or again."""

    reply: dict[str, Any] | None
    failure: JudgeError | None


class _Row(BaseModel):
    """What is kept of a request: the response and the batch that brought it, or why there is none; and the batches that
    tried in vain."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reply: dict[str, Any] | None = None
    batch: int = 0
    cause: str = ""
    message: str = ""
    tries: frozenset[int] = frozenset()
    is_final: bool = False


class Inbox:
    """What batches brought, by the key of the request: the response, or why there is none.

    It survives the process. A request that failed for a passing reason may be tried again in another batch.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def put_reply(self, key: str, body: dict[str, Any], *, batch: int) -> None:
        """Keep what a batch, by its number, brought."""
        self._put(key, _Row(reply=body, batch=batch, tries=self._get(key).tries))

    def put_failure(self, key: str, error: JudgeError, *, batch: int, is_final: bool) -> None:
        """Note that a batch brought no reply; a reply that another brought stands."""
        row = self._get(key)
        if row.reply is None:
            tries = row.tries | {batch}
            self._put(key, _Row(cause=error.cause, message=str(error), tries=tries, is_final=is_final))

    def reject(self, key: str, error: JudgeError) -> None:
        """Note that what came is no reply."""
        row = self._get(key)
        self._put(key, _Row(cause=error.cause, message=str(error), tries=row.tries | {row.batch}))

    def look(self, key: str) -> Came:
        """What came to a request so far."""
        row = self._get(key)
        has_ended = row.is_final or len(row.tries) >= MOST_TRIES
        return Came(row.reply, failure(row.cause, row.message) if row.reply is None and has_ended else None)

    def take(self, key: str) -> None:
        """Note that what came in has been used."""
        self._store.put(_TAKEN + key, "{}")

    def was_taken(self, key: str) -> bool:
        """True for what came in and was used."""
        return self._store.get(_TAKEN + key) is not None

    def _put(self, key: str, row: _Row) -> None:
        self._store.put(key, canonical(row.model_dump(mode="json", exclude_defaults=True)))

    def _get(self, key: str) -> _Row:
        text = self._store.get(key)
        try:
            return _Row.model_validate(json.loads(text)) if text is not None else _Row()
        except (ValueError, RecursionError):
            # not a miss: asked again by wave after wave it might come back unreadable each time
            return _Row(cause=ServerFailed.cause, message="what a batch brought cannot be read", is_final=True)


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
        came = self._inbox.look(key)
        if came.reply is not None:
            try:
                reply = self._backend.receive(request, body, came.reply)
            except ServerFailed as error:
                self._inbox.reject(key, error)
                came = self._inbox.look(key)
            else:
                self._inbox.take(key)
                return reply
        if self._want is None:
            return None
        if came.failure is not None:
            self._inbox.take(key)
            raise came.failure
        self._want(key, body)
        raise Postponed(f"{request.task} waits for a batch")

    def was_taken(self, key: str) -> bool:
        """True for what came in with a batch and was used; where the rest is asked at once, for replies alone."""
        return self._inbox.was_taken(key) and (self._want is not None or self._inbox.look(key).reply is not None)


def failure(cause: str, message: str) -> JudgeError:
    """A JudgeError as it was kept: its cause and its words."""
    if cause == RequestTooLong.cause:
        return RequestTooLong(message)
    error = JudgeError(message)
    error.cause = cause
    return error
