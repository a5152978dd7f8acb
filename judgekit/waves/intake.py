"""Taking in the results of a batch: foreign lines, believed only where they answer what was asked, once."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from judgekit.errors import (
    CallTimeout,
    ContentFiltered,
    InputError,
    JudgeDrift,
    JudgeError,
    JudgeStop,
    JudgeUnreachable,
    RequestTooLong,
    ServerFailed,
)
from judgekit.judge.batchfile import Outcome, ids_of, outcomes
from judgekit.judge.endpoint import PASSING
from judgekit.judge.later import Inbox
from judgekit.judge.naming import is_snapshot_of
from judgekit.judge.store import Store
from judgekit.waves.parcels import INBOX, Parcel, Parcels

#: A batch of so many requests of which not one was answered says that no other will fare better.
HOPELESS: Final = 8


class Intake:
    """Reads results into the inbox of a run."""

    def __init__(self, parcels: Parcels, inbox: Inbox, *, secrets: Collection[str] = ()) -> None:
        self._parcels = parcels
        self._secrets = secrets
        self._inbox = inbox
        self._named: str | None = None
        self._stop: JudgeStop | None = None

    def take_in(self, parcel: Parcel, files: Sequence[Path]) -> str:
        """Keep what results there are to a parcel's requests, and say in one line what came.

        A request without a usable result is asked again with the next batch. Raises JudgeDrift when another model
        answered than the run is pinned to, and JudgeStop when every other call would fail as these did; what can be
        used is kept before.
        """
        wanted = ids_of(self._parcels.file_of(parcel))
        found = _look_through(self._read(parcel, files), wanted)
        is_hopeless = parcel.status == "completed" and not found.replies and found.failures >= HOPELESS
        for outcome in () if is_hopeless else self._read(parcel, files):
            if outcome.custom_id in found.once:
                self._take(parcel, outcome)
        if parcel.status != "cancelled" and not is_hopeless:
            for key in wanted - found.once:
                self._inbox.put_failure(key, _unanswered(parcel), batch=parcel.number, is_final=False)
        self._parcels.keep(parcel.having(is_read=True))
        for path in (self._parcels.file_of(parcel), *(file for file in files if file.parent == self._parcels.folder)):
            path.unlink(missing_ok=True)
        if is_hopeless:
            raise JudgeUnreachable(
                f"not one of the {parcel.requests} requests of batch {parcel.batch_id} was answered, the first: "
                f"{found.first}; mend it, and the same command sends them again"
            )
        self._check(parcel, found)
        doubtful = {"passed over because nobody asked for them": found.strange, "given twice": found.twice}
        told = "".join(f", {count} {words}" for words, count in doubtful.items() if count)
        return f"batch {parcel.batch_id or parcel.file}: {found.replies} of {parcel.requests} answered{told}"

    def _read(self, parcel: Parcel, files: Sequence[Path]) -> Iterator[Outcome]:
        where = f"batch {parcel.batch_id or parcel.file}"
        for file in files:
            yield from outcomes(file, where=where, model=parcel.model, secrets=self._secrets)

    def _take(self, parcel: Parcel, outcome: Outcome) -> None:
        error, body = outcome.error, outcome.body
        if body is not None:
            model = body.get("model")
            if isinstance(model, str) and model and self._is_another(model, parcel):
                self._stop = JudgeDrift(
                    f"this judge is pinned to {parcel.resolved!r}, a batch was answered by {model[:200]!r}; nothing of "
                    "that is kept. Pin a dated model, or start a new run in an empty folder"
                )
                return
            try:
                self._inbox.put_reply(outcome.custom_id, body, batch=parcel.number)
            except RecursionError:  # nested so deep that it could just be read
                self._inbox.put_failure(outcome.custom_id, _unanswered(parcel), batch=parcel.number, is_final=False)
        elif isinstance(error, JudgeError):
            is_passing = isinstance(error, PASSING)
            if not (is_passing and parcel.status == "cancelled"):
                self._inbox.put_failure(outcome.custom_id, error, batch=parcel.number, is_final=not is_passing)
        elif isinstance(error, JudgeStop) and self._stop is None:
            self._stop = error

    def _is_another(self, model: str, parcel: Parcel) -> bool:
        """True for a model that is not the pinned one: neither its name nor, once, a snapshot of the alias."""
        if model in (parcel.resolved, parcel.model, self._named):
            return False
        if self._named is None and parcel.resolved == parcel.model and is_snapshot_of(model, parcel.model):
            self._named = model
            return False
        return True

    def _check(self, parcel: Parcel, found: _Found) -> None:
        if self._stop is not None:
            raise self._stop
        if parcel.status == "cancelled":
            raise JudgeUnreachable(
                f"batch {parcel.batch_id} was cancelled: {found.replies} of {parcel.requests} requests were answered, "
                "and are kept; the same command sends the rest again"
            )


class _Found(NamedTuple):
    """What a look through results shows: the ids with exactly one, how many replies and failures are among these (but
    for failures that are about the input), how many ids have several, how many results nobody asked for."""

    once: set[str]
    replies: int
    failures: int
    first: JudgeError | None
    twice: int
    strange: int


def _look_through(results: Iterator[Outcome], wanted: set[str]) -> _Found:
    seen: set[str] = set()
    twice: set[str] = set()
    replies = failures = strange = 0
    first: JudgeError | None = None
    for custom_id, body, error in results:
        if custom_id not in wanted:
            strange += 1
        elif custom_id in seen:
            twice.add(custom_id)
        else:
            seen.add(custom_id)
            replies += body is not None
            if isinstance(error, JudgeError) and not isinstance(error, ContentFiltered | RequestTooLong):
                failures += 1
                first = first or error
    return _Found(seen - twice, replies, failures, first, len(twice), strange)


def _unanswered(parcel: Parcel) -> JudgeError:
    if parcel.status == "expired":
        return CallTimeout(f"batch {parcel.batch_id} expired before the request was executed")
    return ServerFailed(f"the results of batch {parcel.batch_id or parcel.file} hold no usable answer to the request")


def bring_in(parcels: Parcels, files: Sequence[Path]) -> Iterator[str]:
    """Take in results of exported parcels from files that people brought, and say a line about each parcel.

    Raises InputError when they answer none of the parcels; a parcel of which they hold nothing goes on waiting.
    """
    store = Store(parcels.folder / INBOX)
    answered = 0
    for parcel in [parcel for parcel in parcels.open if parcel.by_hand]:
        wanted = ids_of(parcels.file_of(parcel))
        if not any(outcome.custom_id in wanted for file in files for outcome in outcomes(file, where="", model=None)):
            yield f"{parcel.file}: no result of it is in there; it goes on waiting"
            continue
        answered += 1
        yield Intake(parcels, Inbox(store)).take_in(parcel.having(status="imported"), files)
    store.close()
    if not answered:
        raise InputError(f"{', '.join(map(str, files))}: nothing in there answers a request that was exported")
