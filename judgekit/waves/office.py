"""Where a wave's requests are collected and its answers handed out.

What was sent and what came is on disk at any moment: a session that is killed is gone on with by the next one.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from judgekit.errors import BudgetSpent
from judgekit.judge import Judge
from judgekit.judge.backend import Body
from judgekit.judge.batchfile import MOST_REQUESTS
from judgekit.judge.later import Inbox, Later
from judgekit.judge.store import Store
from judgekit.waves.courier import Courier
from judgekit.waves.parcels import INBOX, Outbox, Parcel, Parcels
from judgekit.waves.posting import Posting


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
        endpoints = {part: backend.endpoint for part, backend in self._backends.items() if backend.endpoint is not None}
        self.courier = Courier(self._parcels, self._inbox, posting, endpoints=endpoints)
        self._outboxes: dict[str, Outbox] = {}
        self._full: BudgetSpent | None = None
        if posting.for_granted:
            judge.take_for_granted()

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
