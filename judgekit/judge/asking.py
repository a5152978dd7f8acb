"""Asking one backend: each request once, paid once, under one pin.

A reply is stored before it is used. The key of a stored reply is who answers + the whole body as its endpoint is asked
+ the repeat index, so nothing else can be taken for it. Questions that a reply leaves open are asked again once, alone.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from pydantic import JsonValue, ValidationError

from judgekit.errors import ConnectionFailed, JudgeDrift, JudgeError, JudgeStop, JudgeUnreachable, RequestTooLong
from judgekit.judge.backend import Backend, Body
from judgekit.judge.budget import Budget
from judgekit.judge.endpoint import Endpoint
from judgekit.judge.later import Later, failure
from judgekit.judge.messages import warn
from judgekit.judge.naming import is_snapshot_of, names_snapshot
from judgekit.judge.store import Store
from judgekit.together import all_of, in_turn
from judgekit.wire import INPUT_CUT, Answer, JudgeReply, JudgeRequest, JudgeSpec, canonical, digest

#: Causes that asking again cannot mend.
_FINAL = frozenset({"content_filter", "thinking_used_up", "refused", "abstained"})


class Call(NamedTuple):
    """One judge call that answers rest on, whether it was paid now or earlier; of a panel, by which part."""

    key: str
    prompt_tokens: int
    completion_tokens: int
    part: str = ""


class Asked(NamedTuple):
    """Typed answers by question id, and the calls they rest on."""

    answers: dict[str, Answer]
    calls: tuple[Call, ...]


@dataclass
class Meter:
    """What this session did: calls sent and paid, calls answered from the store, and failures by cause. `unnamed`
    counts replies that named no snapshot of a model: none at all, or the alias that was asked for."""

    sent: int = 0
    reused: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    fingerprints: set[str] = field(default_factory=set)
    unnamed: int = 0


_ENDING = "the run was stopped before this was sent"


class _Place(NamedTuple):
    """A request as it would be sent now, and the key under which the reply to it is kept."""

    who: JudgeSpec | None
    body: Body
    key: str


class _Got(NamedTuple):
    """A reply, the key it is kept under, and what it answers where that was read already."""

    key: str
    reply: JudgeReply
    answers: Mapping[str, Answer] | None = None


_Flight: TypeAlias = "asyncio.Task[_Got]"


class _Loopwise:
    """What belongs to one event loop: the lock of the first call, and the calls in flight. While it `is_ending` none
    is sent any more."""

    def __init__(self) -> None:
        self.is_ending = False
        self.first = asyncio.Lock()
        self.flights: dict[str, _Flight] = {}


class Asker:
    """One backend with its store. `replay`: serve every stored row, also replies that could not be read.

    `strict`: a reply that does not say which model wrote it stops the run.
    """

    def __init__(self, backend: Backend, store: Store, *, strict: bool = False) -> None:
        self.backend = backend
        self.meter = Meter()
        self.budget: Budget | None = None
        self.used: dict[str, str] | None = None
        self._store = store
        self._strict = strict
        self.replay = False
        self.later: Later | None = None
        self._who: JudgeSpec | None = None
        self._is_remembered = False
        self._is_doubted = False
        self._named: str | None = None
        self._loops: dict[asyncio.AbstractEventLoop, _Loopwise] = {}
        self._lock = threading.Lock()
        self._opened = False
        self._written_down: tuple[str | None, Mapping[str, JsonValue]] | None = None
        self._stops = 0
        self._stop: JudgeStop | None = None
        self._signed = _signed(None)

    @property
    def who(self) -> JudgeSpec | None:
        """The judge with the model it turned out to be; None before anything was asked."""
        self._open()
        return self._who

    def pin(self, spec: JudgeSpec) -> None:
        """Answer as this judge only. Raises JudgeDrift when the store was filled by another."""
        self._open()
        if self._who is not None and self._who.judge_id != spec.judge_id:
            raise _drift(spec, self._who.resolved)
        self._who, self._is_doubted = spec, False

    def doubt(self) -> None:
        """Let the next request be sent even if its reply is stored, when an earlier session alone tells who answers
        and the name asked for is an alias: until that reply it is not known whose stored replies are this judge's."""
        self._open()
        self._is_doubted = self._is_remembered and not self.replay and not names_snapshot(self.backend.spec.model)

    def anew(self, store: Store) -> Asker:
        """The same backend asked as strictly, with another store and nothing counted yet."""
        return Asker(self.backend, store, strict=self._strict)

    def use_store(self, store: Store) -> None:
        """Keep replies there from now on."""
        self._store, self._opened, self._written_down = store, False, None

    async def ask(self, request: JudgeRequest, *, repeat: int = 0) -> Asked:
        """Answers to all questions, each valid or with the cause of its failure. What is more than one call of this
        backend can hold is asked in several, side by side.

        Raises RequestTooLong when the input does not fit the judge, and JudgeStop when no call can succeed.
        """
        if not request.questions:
            return Asked({}, ())
        asked = await all_of(self._ask(part, repeat) for part in _fitting(request, self.backend.most_questions))
        answers = {question_id: answer for part in asked for question_id, answer in part.answers.items()}
        return Asked(answers, tuple(call for part in asked for call in part.calls))

    async def _ask(self, request: JudgeRequest, repeat: int) -> Asked:
        """One call for all questions, and a second one for those that it leaves open."""
        answers, calls, cut = await self._once(request, repeat)
        open_ids = [i for i in request.ids if not answers[i].is_answered and answers[i].cause not in _FINAL]
        if not open_ids or not calls:  # without a call the endpoint failed, and was tried again already
            return Asked(answers, tuple(calls))
        for again in await in_turn(self._again(request.only(ids), repeat) for ids in _parts(open_ids, cut=cut)):
            calls.extend(again.calls)
            answers.update(again.answers)
        return Asked({question_id: answers[question_id] for question_id in request.ids}, tuple(calls))

    async def _again(self, request: JudgeRequest, repeat: int) -> Asked:
        """Ask a second time; halves again what is cut off by length, until single questions are left."""
        answers, calls, cut = await self._once(request, repeat)
        still_open = [i for i in request.ids if not answers[i].is_answered]
        if cut and still_open and len(request.ids) > 1:
            for more in await in_turn(self._again(request.only(ids), repeat) for ids in _parts(still_open, cut=True)):
                calls.extend(more.calls)
                answers.update(more.answers)
        return Asked(answers, tuple(calls))

    async def _once(self, request: JudgeRequest, repeat: int) -> tuple[dict[str, Answer], list[Call], bool]:
        try:
            key, reply, known = await self._reply(request, repeat)
        except RequestTooLong:
            raise
        except JudgeError as error:
            self.meter.failures[error.cause] += 1
            failed = {i: Answer(id=i, cause=error.cause, raw=str(error)) for i in request.ids}
            return failed, [], False
        if reply.finish == INPUT_CUT:
            raise RequestTooLong(f"{self.backend.spec.model} answered on a part of the input only, by its own account")
        read = self.backend.read(request, reply) if known is None else known
        answers = {
            i: read.get(i, Answer(id=i, cause="missing")).model_copy(update={"calls": (key,)}) for i in request.ids
        }
        call = Call(key, reply.prompt_tokens, reply.completion_tokens)
        return answers, [call], reply.finish == "length"

    # --- one call, from the store or from the judge ---------------------------------------------

    async def _reply(self, request: JudgeRequest, repeat: int) -> _Got:
        self._open()
        place = self._place(request, repeat)
        if self._is_known:
            stored = self._stored(place, request, repeat)
            if stored is not None:
                self.meter.reused += 1
                return _Got(place.key, stored)
        flights = self._here().flights
        flight = flights.get(place.key)
        if flight is None:
            flight = asyncio.ensure_future(self._fetch(request, repeat, place))
            flights[place.key] = flight
            flight.add_done_callback(lambda done: _landed(flights, place.key, done))
        else:
            self.meter.reused += 1
        # Shielded: whoever gives up waiting must not take a paid call away from the others, or from the store.
        return await asyncio.shield(flight)

    @property
    def is_settled(self) -> bool:
        """True when it is known who answers, and every reply may be taken from where it is kept without being noted."""
        self._open()
        return self._is_known and self.used is None and self.later is None

    @property
    def _is_known(self) -> bool:
        """True when it is known, beyond doubt, whose replies are served and kept."""
        return self._who is not None and not self._is_doubted

    async def _fetch(self, request: JudgeRequest, repeat: int, place: _Place) -> _Got:
        if self._is_known:
            return await self._sent(request, repeat, place)
        stops = self._stops
        async with self._here().first:  # who answers is learned from the first call, which goes alone
            if self._stop is not None and self._stops > stops:  # nor can any other that waited for it succeed
                raise self._stop
            if self._is_doubted:
                await self._confirm(request, repeat)
            elif self._who is None:
                return await self._sent(request, repeat, place)
        # How the endpoint wants to be asked is known only now, and with it what another loop may have stored.
        place = self._place(request, repeat)
        stored = self._stored(place, request, repeat)
        return _Got(place.key, stored) if stored is not None else await self._sent(request, repeat, place)

    async def _confirm(self, request: JudgeRequest, repeat: int) -> None:
        """Find out who answers now. What the same judge said earlier stands; where nobody can be reached, so does all
        that is stored."""
        known = self._who
        if known is None:
            raise RuntimeError("only who is remembered can be doubted")
        place = self._place(request, repeat)
        kept = self._store.get(place.key) or ""
        try:
            await self._sent(request, repeat, place)
        except (JudgeUnreachable, ConnectionFailed) as error:
            if not _is_ok(kept):
                raise
            warn(f"{error}; going on with kept replies of {known.resolved!r}, which may have been replaced since")
            self._is_doubted = False
        if self._who != known:
            now = self._who.resolved if self._who is not None else None
            warn(f"{known.base_url} answers as {now!r} now; the kept replies of {known.resolved!r} are not used")
        elif _is_ok(kept):
            self._store.put(place.key, kept)

    async def _sent(self, request: JudgeRequest, repeat: int, place: _Place) -> _Got:
        try:
            body, reply = await self._sent_or_brought(request, place)
        except JudgeStop as stop:
            self._stops, self._stop = self._stops + 1, stop
            raise
        except JudgeError as error:
            if self._is_known:
                self._keep_failure(request, error, self._place(request, repeat, place))
            raise
        self.meter.sent += 1
        self.meter.prompt_tokens += reply.prompt_tokens
        self.meter.completion_tokens += reply.completion_tokens
        if reply.fingerprint:
            self.meter.fingerprints.add(reply.fingerprint)
        self._recognise(reply.model)
        answers = self.backend.read(request, reply)
        ok = reply.finish == INPUT_CUT  # a fact that the next run need not find out again
        ok = ok or any(answer.is_answered for answer in answers.values())
        place = self._place(request, repeat, place)  # not `body`: it may be adapted for this request only
        self._put(
            place.key, {"task": request.task, "request": dict(body), "reply": reply.model_dump(mode="json"), "ok": ok}
        )
        return _Got(place.key, reply, answers)

    async def _sent_or_brought(self, request: JudgeRequest, place: _Place) -> tuple[Body, JudgeReply]:
        """Ask now; or, once it is known who answers, take what a batch brought. Raises Postponed where it has to."""
        if self.later is not None and self._is_known:
            brought = self.later.reply(place.key, request, place.body)
            if brought is not None:
                return place.body, brought
        return await self._paid(request)

    async def _paid(self, request: JudgeRequest) -> tuple[Body, JudgeReply]:
        """A reply of the backend, within the budget. Raises BudgetSpent when that has no room for another call."""
        if self.budget is None:
            return await self._send(request)
        async with self.budget.one_call(self.backend.spec.model, self.backend.prepare(request)) as bill:
            body, reply = await self._send(request)
            bill.pay(reply.prompt_tokens, reply.completion_tokens)
        return body, reply

    async def _send(self, request: JudgeRequest) -> tuple[Body, JudgeReply]:
        if self._here().is_ending:
            raise JudgeStop(_ENDING)
        return await self.backend.send(request)

    def _recognise(self, model: str | None) -> None:
        """Learn or check who answers. An endpoint that gives back the name it was asked for says nothing by it."""
        spec = self.backend.spec
        if spec.base_url.startswith("http"):
            self.meter.unnamed += not model or (model == spec.model and not names_snapshot(model))
        if self._strict and not names_snapshot(model or ""):
            said = f"answers as {model!r}, which names no snapshot" if model else "does not say which model answers"
            raise JudgeDrift(f"{spec.base_url} {said}; a strict pin asks for one (leave out --strict-pin to go on)")
        if self._who is None or self._is_doubted:
            known = self._who.resolved if self._who is not None else None
            self._who = spec.model_copy(update={"resolved": model or known or spec.model})
            self._is_doubted = False
        elif model and model not in (self._who.resolved, spec.model, self._named):
            is_first_name = self._who.resolved == spec.model and self._named is None
            if not (is_first_name and is_snapshot_of(model, spec.model)):
                raise _drift(self._who, model)
            self._named = model
        learned = (self._who.resolved, self.backend.dialect)
        if learned != self._written_down:
            self._store.put(self._about, canonical({"resolved": learned[0], "dialect": learned[1]}))
            self._written_down = learned

    def _keep_failure(self, request: JudgeRequest, error: JudgeError, place: _Place) -> None:
        """Store that a call failed, so that a replay fails as the run did. Of these only an input that is too long is
        a fact that the next run need not find out again."""
        failed = {"cause": error.cause, "message": str(error)}
        ok = isinstance(error, RequestTooLong)
        self._put(place.key, {"task": request.task, "request": dict(place.body), "failed": failed, "ok": ok})

    def _put(self, key: str, row: dict[str, object]) -> None:
        text = canonical(row)
        self._store.put(key, text)
        self._note(key, text)

    def _stored(self, place: _Place, request: JudgeRequest, repeat: int) -> JudgeReply | None:
        """The reply kept at a place. Raises the JudgeError that was kept there instead."""
        key = place.key
        text = self._store.get(key)
        try:
            row = json.loads(text or "")
            served = self.replay or row["ok"] is True or self._was_mended(row, request, repeat) or self._came_in(key)
            failed = row.get("failed")
            error = failure(str(failed["cause"]), str(failed["message"])) if failed is not None else None
            reply = JudgeReply.model_validate(row["reply"]) if error is None else None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, ValidationError):
            return None  # a row that cannot be read is a miss
        if text is None or not served:
            return None
        self._note(key, text)
        if error is not None:
            raise error
        return reply

    def _was_mended(self, row: Mapping[str, object], request: JudgeRequest, repeat: int) -> bool:
        """True for a reply that answered nothing when the second asking, which it led to, is stored and did."""
        if request.again or row.get("failed") is not None or self._who is None:
            return False
        second = self._store.get(self._place(request.only(request.ids), repeat).key)
        return second is not None and _is_ok(second)

    def _came_in(self, key: str) -> bool:
        """True for what the batches of this run brought: it counts as it is, and is not asked anew."""
        return self.later is not None and self.later.was_taken(key)

    def _note(self, key: str, row: str) -> None:
        if self.used is not None:
            self.used[key] = row

    def _place(self, request: JudgeRequest, repeat: int, was: _Place | None = None) -> _Place:
        """Where the reply to a request is kept: where it `was`, unless it was learned since then who answers, or how
        the endpoint wants to be asked. Before it is known who answers it is a place in flight only."""
        body, who = self.backend.prepare(request), self._who
        if was is not None and was.body is body and was.who is who:
            return was
        if self._signed[0] is not who:
            self._signed = _signed(who)
        return _Place(who, body, digest([self._signed[1], body, repeat]))

    def _here(self) -> _Loopwise:
        """What belongs to the running loop; what belonged to loops that are closed is let go."""
        loop = asyncio.get_running_loop()
        with self._lock:
            if loop not in self._loops:
                self._loops = {other: its for other, its in self._loops.items() if not other.is_closed()}
                self._loops[loop] = _Loopwise()
            return self._loops[loop]

    @property
    def _about(self) -> str:
        return "who:" + digest(self.backend.spec.model_dump(mode="json", exclude={"settings"}))

    def _open(self) -> None:
        """Read, once, who answered earlier and how the endpoint wants to be asked."""
        if not self._opened:
            self._look_up()
            self._opened = True

    def _look_up(self) -> None:
        if self.backend.spec.resolved is not None:
            self._who = self.backend.spec
        text = self._store.get(self._about)
        if text is None:
            return
        try:
            known = json.loads(text)
            resolved, dialect = str(known["resolved"]), dict(known["dialect"])
        except (ValueError, KeyError, TypeError, RecursionError):
            return
        if self._who is None:
            self._who = self.backend.spec.model_copy(update={"resolved": resolved})
            self._is_remembered = True
        self.backend.learn(dialect)

    async def land(self, seconds: float) -> int:
        """Give up what is not sent yet in the running loop, and wait for so long until what is in flight is stored.
        How many calls that are."""
        here = self._here()
        flights = set(here.flights.values())
        if not flights:
            return 0
        here.is_ending = True
        endpoint = getattr(self.backend, "endpoint", None)
        if isinstance(endpoint, Endpoint):
            endpoint.limiter.stop(JudgeStop(_ENDING))
        _, sent = await asyncio.wait(flights, timeout=0)
        if sent:
            await asyncio.wait(sent, timeout=seconds)
        return len(sent)

    async def close(self) -> None:
        """Cancel what is in flight in the running loop and close its connections."""
        with self._lock:
            mine = self._loops.pop(asyncio.get_running_loop(), None)
        flights = list(mine.flights.values()) if mine else []
        for flight in flights:
            flight.cancel()
        await asyncio.gather(*flights, return_exceptions=True)
        await self.backend.close()


def key_of(who: JudgeSpec | None, body: Body, repeat: int) -> str:
    """What a stored reply is found by: who answered, all that was sent, and the how-manieth asking of it."""
    return digest([_signed(who)[1], body, repeat])


def _signed(who: JudgeSpec | None) -> tuple[JudgeSpec | None, str | None]:
    return who, None if who is None else who.judge_id


def _landed(flights: dict[str, _Flight], key: str, flight: _Flight) -> None:
    flights.pop(key, None)
    if not flight.cancelled():
        flight.exception()  # seen: who waited for it has it, and nobody may be left waiting


def _fitting(request: JudgeRequest, most: int | None) -> list[JudgeRequest]:
    """The request in parts of at most so many questions, in order."""
    questions = request.questions
    if most is None or len(questions) <= most:
        return [request]
    starts = range(0, len(questions), most)
    return [request.model_copy(update={"questions": questions[at : at + most]}) for at in starts]


def _parts(ids: list[str], *, cut: bool) -> list[list[str]]:
    """All at once; in two halves when the last reply was cut off by length."""
    middle = len(ids) // 2
    return [ids[:middle], ids[middle:]] if cut and middle else [ids]


def _is_ok(row: str) -> bool:
    """True for a stored row whose reply is served again."""
    try:
        return json.loads(row)["ok"] is True
    except (ValueError, KeyError, TypeError, RecursionError):
        return False


def _drift(pinned: JudgeSpec, now: str | None) -> JudgeDrift:
    return JudgeDrift(
        f"this judge is pinned to {pinned.resolved!r} (asked for as {pinned.model!r}), {pinned.base_url} now answers "
        f"as {now!r}; finished rows are kept. Pin a dated model, or start a new run in an empty folder"
    )
