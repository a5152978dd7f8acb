"""Takes parcels to the endpoint and brings their results: a batch is created once, watched patiently, and read when it
is over."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from judgekit.errors import BatchUnderWay, InputError, JudgeUnreachable, JudgeUnusable, RequestRefused
from judgekit.judge.batches import Batch, Batches
from judgekit.judge.endpoint import PASSING, Endpoint
from judgekit.judge.later import Inbox
from judgekit.waves.intake import Intake
from judgekit.waves.parcels import Parcel, Parcels
from judgekit.waves.posting import Posting

FIRST_PAUSE: Final = 2.0
LONGEST_PAUSE: Final = 60.0
#: Rounds in a row in which a batch cannot be sent, looked at or read before its endpoint is given up.
MOST_FAILURES: Final = 8
#: Why a batch may fail that will not when less is waiting at the endpoint.
_TOO_MUCH: Final = "token_limit_exceeded"


class Courier:
    """The way of a run's parcels. `endpoints`: part of the judge -> where it is asked."""

    def __init__(self, parcels: Parcels, inbox: Inbox, posting: Posting, *, endpoints: Mapping[str, Endpoint]) -> None:
        self._parcels = parcels
        self._inbox = inbox
        self._posting = posting
        self._endpoints = endpoints
        self._failures: dict[int, int] = {}
        self._held: dict[int, int] = {}

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
            if not (left := self._parcels.open):
                return
            patience = math.inf if self._posting.longest_wait is None else self._posting.longest_wait
            patience -= self._posting.clock() - began
            if patience <= 0:
                names = ", ".join(parcel.batch_id or parcel.file for parcel in left)
                raise BatchUnderWay(f"not done yet: {names}; the same command takes it up again")
            await self._posting.sleep(min(pause, patience))
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
        if strange := sorted({parcel.part for parcel in left} - self._endpoints.keys()):
            raise InputError(f"{names}: asked of a judge that has a part more ({', '.join(strange)}); give it again")
        if self._posting.by_hand:
            raise InputError(
                f"{names}: under way at the endpoint; go on with judgekit run --batch, or end it: judgekit batch cancel"
            )

    async def _advance(self, parcel: Parcel) -> None:
        """Take a parcel as far as it comes without waiting."""
        endpoint = self._endpoints[parcel.part]
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
