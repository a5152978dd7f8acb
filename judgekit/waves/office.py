"""Where a wave's requests go out and its answers come in: files written, batches created and watched, results read.

What was sent and what came is on disk at any moment: a session that is killed is gone on with by the next one, which
uploads nothing twice and creates no batch twice.
"""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from judgekit.errors import BatchUnderWay, BudgetSpent, InputError, JudgeUnreachable, JudgeUnusable, RequestRefused
from judgekit.judge import Judge
from judgekit.judge.backend import Body
from judgekit.judge.batches import Batch, Batches
from judgekit.judge.batchfile import MOST_REQUESTS
from judgekit.judge.endpoint import PASSING
from judgekit.judge.later import Inbox, Later
from judgekit.judge.store import Store
from judgekit.waves.intake import Intake
from judgekit.waves.parcels import INBOX, Outbox, Parcel, Parcels

FIRST_PAUSE: Final = 2.0
LONGEST_PAUSE: Final = 60.0
#: Rounds in a row in which a batch cannot be sent, looked at or read before its endpoint is given up.
MOST_FAILURES: Final = 8
#: Why a batch may fail that will not when less is waiting at the endpoint.
_TOO_MUCH: Final = "token_limit_exceeded"


def _say_nothing(_message: str) -> None:
    pass


@dataclass(frozen=True, kw_only=True)
class Posting:
    """How a run is to be judged by batches.

    size: requests in a batch at most. least: a wave of fewer is asked at once, live. longest_wait: seconds after which
    a session leaves a batch to itself; None: never. by_hand: the files are only written, for people to upload.
    for_granted: ask nothing live, not even who answers. `clock` and `sleep` are parameters so that waiting can be
    tested without waiting.
    """

    size: int = MOST_REQUESTS
    least: int = 1
    longest_wait: float | None = None
    by_hand: bool = False
    for_granted: bool = False
    say: Callable[[str], None] = _say_nothing
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


class Office:
    """The batches of one run. Raises InputError for a judge that batches cannot ask."""

    def __init__(self, folder: Path, judge: Judge, posting: Posting) -> None:
        self._judge = judge
        self._posting = posting
        self._parcels = Parcels(folder)
        self._parcels.begin()
        self._store = Store(folder / INBOX, on_message=posting.say)
        self._inbox = Inbox(self._store)
        self._backends = judge.postables
        self._outboxes: dict[str, Outbox] = {}
        self._failures: dict[int, int] = {}
        self._held: dict[int, int] = {}
        self._full: BudgetSpent | None = None
        if posting.for_granted:
            judge.take_for_granted()

    # --- one wave ------------------------------------------------------------------------------

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Let the judge answer from what came in, and write down what is wanted beside."""
        size = max(1, min(self._posting.size, MOST_REQUESTS))
        self._outboxes = {
            part: Outbox(self._parcels.folder, part, path=backend.path, size=size)
            for part, backend in self._backends.items()
        }
        later = {part: Later(self._backends[part], self._inbox, self._wanted_of(part)) for part in self._backends}
        self._full = None
        with self._answering(later):
            yield

    def _wanted_of(self, part: str) -> Callable[[str, Body], None]:
        box, model = self._outboxes[part], self._backends[part].spec.model

        def want(key: str, body: Body) -> None:
            if self._full is None and not box.holds(key):
                try:
                    self._judge.budget.take(model, body)
                except BudgetSpent as spent:
                    self._full = spent  # what fitted goes out; the rest is left to another session
                else:
                    box.want(key, body)

        return want

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Let the judge answer from what came in, and ask live for the rest."""
        with self._answering({part: Later(backend, self._inbox, None) for part, backend in self._backends.items()}):
            yield

    @contextmanager
    def _answering(self, later: dict[str, Later]) -> Iterator[None]:
        self._judge.answer_later(later)
        try:
            yield
        finally:
            self._judge.answer_later({})
            for box in self._outboxes.values():
                box.close()

    def has_few(self) -> bool:
        """True when the wave that was collected is too small for a batch."""
        return self._full is None and sum(box.requests for box in self._outboxes.values()) < self._posting.least

    def post(self) -> None:
        """Make parcels of what was collected. Raises BudgetSpent when the budget allowed none of it."""
        if self._full is not None and not any(box.written for box in self._outboxes.values()):
            raise self._full
        wave, number = self._parcels.next_wave, self._parcels.next_number
        made: list[Parcel] = []
        for part, box in self._outboxes.items():
            spec = self._judge.specs[part]
            for path, count in box.written:
                name = f"wave-{wave}-{number + len(made)}.jsonl"
                path.replace(self._parcels.folder / name)
                made.append(
                    Parcel(
                        number=number + len(made),
                        wave=wave,
                        file=name,
                        requests=count,
                        part=part,
                        path=self._backends[part].path,
                        model=spec.model,
                        resolved=spec.resolved or spec.model,
                        by_hand=self._posting.by_hand,
                    )
                )
        self._parcels.keep(*made)
        count = sum(parcel.requests for parcel in made)
        self._posting.say(f"wave {wave}: {count} requests in {len(made)} file{'s'[: len(made) > 1]}")

    def close(self, *, is_complete: bool) -> None:
        """Let go of the inbox; delete everything when the run is complete."""
        self._store.close()
        if is_complete:
            shutil.rmtree(self._parcels.folder)

    # --- sending, watching, reading ---------------------------------------------------------------

    async def settle(self) -> None:
        """Return when every parcel has been answered and its results are read.

        Raises BatchUnderWay when that takes longer than allowed or is left to people, and JudgeStop where a batch
        failed as a whole or brought what must not be used.
        """
        self._check_hands()
        began, pause = self._posting.clock(), FIRST_PAUSE
        while self._parcels.open:
            for parcel in self._parcels.open:
                await self._advance(parcel)
            waited = self._posting.clock() - began
            if not (left := self._parcels.open):
                return
            if self._posting.longest_wait is not None and waited >= self._posting.longest_wait:
                names = ", ".join(parcel.batch_id or parcel.file for parcel in left)
                raise BatchUnderWay(f"not done yet: {names}; the same command takes it up again")
            await self._posting.sleep(pause)
            pause = min(LONGEST_PAUSE, pause * 1.5)

    def check_nothing_is_open(self) -> None:
        """Raise InputError when requests that are under way, or exported, would be paid for twice if asked live."""
        if left := self._parcels.open:
            names = ", ".join(parcel.batch_id or str(self._parcels.file_of(parcel)) for parcel in left)
            raise InputError(
                f"{names}: requests of this run are under way; go on with --batch, end it with judgekit batch cancel, "
                f"or delete {self._parcels.folder} to ask them anew"
            )

    def _check_hands(self) -> None:
        """Raise when a parcel is in other hands than this session's."""
        left = self._parcels.open
        if not left:
            return
        names = ", ".join(parcel.batch_id or str(self._parcels.file_of(parcel)) for parcel in left)
        if any(parcel.by_hand for parcel in left):
            if all(parcel.status == "written" for parcel in left) and self._posting.by_hand:
                run = self._parcels.folder.parent
                raise BatchUnderWay(f"to be answered: {names}; then judgekit batch import {run} RESULTS...")
            raise InputError(
                f"{names}: exported and not imported; import the results (judgekit batch import), or delete "
                f"{self._parcels.folder} to ask anew"
            )
        if self._posting.by_hand:
            raise InputError(
                f"{names}: under way at the endpoint; go on with judgekit run --batch, or end it: judgekit batch cancel"
            )

    async def _advance(self, parcel: Parcel) -> None:
        """Take a parcel as far as it comes without waiting."""
        endpoint = self._backends[parcel.part].endpoint
        if endpoint is None:  # `postables` lets none through
            raise InputError(f"{parcel.model} has no endpoint")
        api = Batches(endpoint)
        if parcel.batch_id is None and 0 < self._held.get(parcel.number, 0) <= self._in_flight:
            return  # nothing that it waits for has ended
        try:
            sent = parcel if parcel.batch_id is not None else await self._sent(parcel, api)
            await self._looked_at(sent, await api.get(sent.batch_id or ""), api, endpoint.secrets)
        except PASSING as error:
            failed = self._failures[parcel.number] = self._failures.get(parcel.number, 0) + 1
            if failed >= MOST_FAILURES:
                raise JudgeUnreachable(f"{error}; the same command goes on from here") from None
        except RequestRefused as error:
            raise JudgeUnusable(f"{error}; the same command goes on from here", status=error.status) from None
        else:
            self._failures.pop(parcel.number, None)

    @property
    def _in_flight(self) -> int:
        return sum(parcel.batch_id is not None for parcel in self._parcels.open)

    async def _sent(self, parcel: Parcel, api: Batches) -> Parcel:
        there: Batch | None = None
        if parcel.file_id is None:
            parcel = parcel.having(file_id=await api.upload(self._parcels.file_of(parcel)), status="uploaded")
            self._parcels.keep(parcel)
        elif parcel.status == "uploaded":  # an earlier session may have been killed while it created the batch
            there = await api.find(parcel.file_id or "")
        batch = there or await api.create(parcel.file_id or "", parcel.path)
        parcel = parcel.having(batch_id=batch.id, status=batch.status)
        self._parcels.keep(parcel)
        self._posting.say(f"batch {batch.id}: {parcel.requests} requests; it may be left alone (Ctrl-C) and taken up")
        return parcel

    async def _looked_at(self, parcel: Parcel, batch: Batch, api: Batches, secrets: frozenset[str]) -> None:
        if batch.status != parcel.status:
            failed = f", {batch.failed} failed" if batch.failed else ""
            done = f"{batch.completed} of {batch.total or parcel.requests} answered{failed}"
            self._posting.say(f"batch {batch.id}: {batch.status}, {done}")
            parcel = parcel.having(status=batch.status)
            self._parcels.keep(parcel)
        if not batch.is_over:
            return
        if batch.status == "failed":
            self._failed(parcel, batch)
            return
        intake = Intake(self._parcels, self._inbox, secrets=secrets)
        files = []
        for number, file_id in enumerate(batch.results, start=1):
            files.append(self._parcels.folder / f"results-{parcel.number}-{number}.partial")
            await api.fetch(file_id, files[-1])
        self._posting.say(intake.take_in(parcel, files))

    def _failed(self, parcel: Parcel, batch: Batch) -> None:
        """A batch that was refused as a whole: nothing of it was executed."""
        others = self._in_flight - 1
        if _TOO_MUCH in batch.codes and others > 0:
            self._held[parcel.number] = others
            self._parcels.keep(parcel.having(batch_id=None, status="held"))
            self._posting.say(f"batch {batch.id}: waits until another of this run is done ({batch.reason})")
            return
        self._parcels.keep(parcel.having(is_read=True))
        remedy = "give a smaller --batch-size" if _TOO_MUCH in batch.codes else "mend it"
        raise JudgeUnusable(
            f"batch {batch.id} failed: {batch.reason or 'no reason given'}; {remedy}, and the same command sends its "
            "requests again"
        )
