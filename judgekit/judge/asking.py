"""Asking one backend: each request once, paid once, under one pin.

A reply is stored before it is used. The key of a stored reply is who answers + the whole body as sent + the repeat
index, so nothing else can be taken for it. Questions that a reply leaves open are asked again once, alone.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

from pydantic import ValidationError

from judgekit.errors import JudgeDrift, JudgeError, RequestTooLong
from judgekit.judge.backend import Backend, Body
from judgekit.judge.store import Store
from judgekit.wire import Answer, JudgeReply, JudgeRequest, JudgeSpec, canonical, digest

#: Causes that asking again cannot mend.
_FINAL = frozenset({"content_filter", "thinking_used_up"})
_TOO_LONG = "too_long"


class Call(NamedTuple):
    """One judge call that answers rest on, whether it was paid now or earlier."""

    key: str
    prompt_tokens: int
    completion_tokens: int


class Asked(NamedTuple):
    """Typed answers by question id, and the calls they rest on."""

    answers: dict[str, Answer]
    calls: tuple[Call, ...]


@dataclass
class Meter:
    """What this session did: calls sent and paid, calls answered from the store, and failures by cause."""

    sent: int = 0
    reused: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    fingerprints: set[str] = field(default_factory=set)


_Flight: TypeAlias = "asyncio.Task[tuple[str, JudgeReply]]"


class _Loopwise:
    """What belongs to one event loop: the lock of the first call, and the calls in flight."""

    def __init__(self) -> None:
        self.first = asyncio.Lock()
        self.flights: dict[str, _Flight] = {}


class Asker:
    """One backend with its store. `replay`: serve every stored row, also replies that could not be read."""

    def __init__(self, backend: Backend, store: Store) -> None:
        self.backend = backend
        self.meter = Meter()
        self.used: dict[str, str] | None = None
        self._store = store
        self.replay = False
        self._who: JudgeSpec | None = None
        self._loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _Loopwise] = WeakKeyDictionary()
        self._opened = False

    @property
    def who(self) -> JudgeSpec | None:
        """The judge with the model it turned out to be; None before anything was asked."""
        self._open()
        return self._who

    def pin(self, spec: JudgeSpec) -> None:
        """Answer as this judge only. Raises JudgeDrift when the store was filled by another."""
        self._open()
        if self._who is not None and self._who != spec:
            raise _drift(spec, self._who.resolved)
        self._who = spec

    def use_store(self, store: Store) -> None:
        """Keep replies there from now on."""
        self._store, self._opened = store, False

    async def ask(self, request: JudgeRequest, *, repeat: int = 0) -> Asked:
        """Answers to all questions, each valid or with the cause of its failure.

        Raises RequestTooLong when the input does not fit the judge, and JudgeStop when no call can succeed.
        """
        answers, calls, cut = await self._once(request, repeat)
        open_ids = [i for i in request.ids if not answers[i].is_answered and answers[i].cause not in _FINAL]
        if not open_ids or not calls:  # without a call the endpoint failed, and was tried again already
            return Asked(answers, tuple(calls))
        for ids in _parts(open_ids, cut=cut):
            again = await self._again(request.only(ids), repeat)
            calls.extend(again.calls)
            answers.update(again.answers)
        return Asked({question_id: answers[question_id] for question_id in request.ids}, tuple(calls))

    async def _again(self, request: JudgeRequest, repeat: int) -> Asked:
        """Ask a second time; halves again what is cut off by length, until single questions are left."""
        answers, calls, cut = await self._once(request, repeat)
        still_open = [i for i in request.ids if not answers[i].is_answered]
        if cut and still_open and len(request.ids) > 1:
            for ids in _parts(still_open, cut=True):
                more = await self._again(request.only(ids), repeat)
                calls.extend(more.calls)
                answers.update(more.answers)
        return Asked(answers, tuple(calls))

    async def _once(self, request: JudgeRequest, repeat: int) -> tuple[dict[str, Answer], list[Call], bool]:
        try:
            key, reply = await self._reply(request, repeat)
        except RequestTooLong:
            raise
        except JudgeError as error:
            self.meter.failures[error.cause] += 1
            failed = {i: Answer(id=i, cause=error.cause, raw=str(error)) for i in request.ids}
            return failed, [], False
        if reply.finish == _TOO_LONG:
            raise RequestTooLong(reply.refusal or "the input does not fit the judge's window")
        answers = {
            i: answer.model_copy(update={"calls": (key,)}) for i, answer in self.backend.read(request, reply).items()
        }
        call = Call(key, reply.prompt_tokens, reply.completion_tokens)
        return answers, [call], reply.finish == "length"

    # --- one call, from the store or from the judge ---------------------------------------------

    async def _reply(self, request: JudgeRequest, repeat: int) -> tuple[str, JudgeReply]:
        self._open()
        mine = self._loops.setdefault(asyncio.get_running_loop(), _Loopwise())
        if self._who is None:  # who answers is learned from the first call, which goes alone
            async with mine.first:
                if self._who is None:
                    return await self._fetch(request, repeat)
        key = self._key(self.backend.prepare(request), repeat)
        stored = self._stored(key)
        if stored is not None:
            self.meter.reused += 1
            return key, stored
        flight = mine.flights.get(key)
        if flight is None:
            flight = asyncio.ensure_future(self._fetch(request, repeat))
            mine.flights[key] = flight
            flight.add_done_callback(lambda done: _landed(mine.flights, key, done))
        else:
            self.meter.reused += 1
        # Shielded: whoever gives up waiting must not take a paid call away from the others, or from the store.
        return await asyncio.shield(flight)

    async def _fetch(self, request: JudgeRequest, repeat: int) -> tuple[str, JudgeReply]:
        try:
            body, reply = await self.backend.send(request)
        except RequestTooLong as error:
            if self._who is None:
                raise
            # A fact about this request that costs nothing to keep: the same input is not sent again.
            body, reply = self.backend.prepare(request), JudgeReply(text=None, finish=_TOO_LONG, refusal=str(error))
            return self._keep(request, body, reply, repeat, ok=True), reply
        self.meter.sent += 1
        self.meter.prompt_tokens += reply.prompt_tokens
        self.meter.completion_tokens += reply.completion_tokens
        if reply.fingerprint:
            self.meter.fingerprints.add(reply.fingerprint)
        self._recognise(reply.model)
        ok = any(answer.is_answered for answer in self.backend.read(request, reply).values())
        return self._keep(request, body, reply, repeat, ok=ok), reply

    def _recognise(self, model: str | None) -> None:
        spec = self.backend.spec
        if self._who is None:
            self._who = spec.model_copy(update={"resolved": model or spec.model})
        elif model is not None and model != self._who.resolved:
            raise _drift(self._who, model)
        remembered = canonical({"resolved": self._who.resolved, "dialect": self.backend.dialect})
        if remembered != self._store.get(self._about):
            self._store.put(self._about, remembered)

    def _keep(self, request: JudgeRequest, body: Body, reply: JudgeReply, repeat: int, *, ok: bool) -> str:
        """Store a reply. One that answers nothing is kept to be looked at and replayed, and asked anew next time."""
        key = self._key(body, repeat)
        row = {"task": request.task, "request": dict(body), "reply": reply.model_dump(mode="json"), "ok": ok}
        text = canonical(row)
        self._store.put(key, text)
        self._note(key, text)
        return key

    def _stored(self, key: str) -> JudgeReply | None:
        text = self._store.get(key)
        if text is None:
            return None
        try:
            row = json.loads(text)
            reply = JudgeReply.model_validate(row["reply"])
            served = self.replay or row["ok"] is True
        except (ValueError, KeyError, TypeError, ValidationError):
            return None  # a row that cannot be read is a miss
        if not served:
            return None
        self._note(key, text)
        return reply

    def _note(self, key: str, row: str) -> None:
        if self.used is not None:
            self.used[key] = row

    def _key(self, body: Body, repeat: int) -> str:
        who = self._who
        if who is None:
            raise RuntimeError("a reply was kept before it was known who answers")
        return digest([who.judge_id, body, repeat])

    @property
    def _about(self) -> str:
        return "who:" + digest(self.backend.spec.model_dump(mode="json"))

    def _open(self) -> None:
        """Read, once, who answered earlier and how the endpoint wants to be asked."""
        if self._opened:
            return
        self._opened = True
        if self.backend.spec.resolved is not None:
            self._who = self.backend.spec
        text = self._store.get(self._about)
        if text is None:
            return
        try:
            known = json.loads(text)
            resolved, dialect = str(known["resolved"]), dict(known["dialect"])
        except (ValueError, KeyError, TypeError):
            return
        self._who = self._who or self.backend.spec.model_copy(update={"resolved": resolved})
        self.backend.learn(dialect)

    async def close(self) -> None:
        """Cancel what is in flight in the running loop and close its connections."""
        mine = self._loops.pop(asyncio.get_running_loop(), None)
        flights = list(mine.flights.values()) if mine else []
        for flight in flights:
            flight.cancel()
        await asyncio.gather(*flights, return_exceptions=True)
        await self.backend.close()


def _landed(flights: dict[str, _Flight], key: str, flight: _Flight) -> None:
    flights.pop(key, None)
    if not flight.cancelled():
        flight.exception()  # seen: who waited for it has it, and nobody may be left waiting


def _parts(ids: list[str], *, cut: bool) -> list[list[str]]:
    """All at once; in two halves when the last reply was cut off by length."""
    middle = len(ids) // 2
    return [ids[:middle], ids[middle:]] if cut and middle else [ids]


def _drift(pinned: JudgeSpec, now: str | None) -> JudgeDrift:
    return JudgeDrift(
        f"this judge is pinned to {pinned.resolved!r} (asked for as {pinned.model!r}), {pinned.base_url} now answers "
        f"as {now!r}; finished rows are kept. Pin a dated model, or start a new run in an empty folder"
    )
