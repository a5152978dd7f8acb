"""Each request once, paid once, under one pin: against a real server, with a store on disk."""

from __future__ import annotations

import asyncio
import base64
import gc
import json
import sqlite3
import threading
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

import misbehaving as bad
import pytest
import uvloop
from misbehaving import Reply, Request, Server, chat, error

from judgekit.errors import InputError, JudgeDrift, JudgeStop, JudgeUnreachable, JudgeUnusable, RequestTooLong
from judgekit.judge import Judge
from judgekit.judge.asking import Asked
from judgekit.judge.scripted import Scripted
from judgekit.judge.store import Store
from judgekit.wire import JudgeReply, JudgeRequest, JudgeSpec, YesNo, digest

T = TypeVar("T")


def request(*ids: str, text: str = "It rains.") -> JudgeRequest:
    questions = tuple(YesNo(id=question_id, ask="Is it so?") for question_id in ids or ("q1",))
    return JudgeRequest(task="t", role="You check.", input=json.dumps(text), questions=questions)


def yes(*ids: str, **fields: Any) -> Reply:
    return chat(json.dumps(dict.fromkeys(ids or ("q1",), "yes")), **fields)


def asked_ids(one: Request) -> list[str]:
    """The ids that a request asks for, from its schema."""
    required: list[str] = one.body["response_format"]["json_schema"]["schema"]["required"]
    return required


def obedient(one: Request) -> Reply:
    return yes(*asked_ids(one))


def judge_at(server: Server, cache: Path | None = None, **options: Any) -> Judge:
    return Judge("m", base_url=server.url, cache=cache, **{"timeout": 10.0, "max_attempts": 1, **options})


def run(judge: Judge, *requests: JudgeRequest, repeat: int = 0) -> list[Any]:
    """The outcomes of asks made at the same time, exceptions as values."""

    async def all_of_them() -> list[Any]:
        async with judge:
            asks = (judge.ask(one, repeat=repeat) for one in requests)
            return await asyncio.gather(*asks, return_exceptions=True)

    return asyncio.run(all_of_them())


def one(judge: Judge, asked: JudgeRequest | None = None, *, repeat: int = 0) -> Asked:
    (outcome,) = run(judge, asked or request(), repeat=repeat)
    if isinstance(outcome, BaseException):
        raise outcome
    assert isinstance(outcome, Asked)
    return outcome


def said(asked: Asked) -> dict[str, str | None]:
    return {i: answer.label or answer.cause for i, answer in asked.answers.items()}


def rows(folder: Path) -> dict[str, Any]:
    store = Store(folder)
    try:
        return {key: json.loads(store.get(key) or "") for key in list(store.keys()) if not key.startswith("who:")}
    finally:
        store.close()


# --- stored before used, and found again -----------------------------------------------------


def test_a_reply_is_paid_once(tmp_path: Path) -> None:
    with Server(obedient) as server:
        judge = judge_at(server, tmp_path)
        first, second, later = one(judge), one(judge), one(judge_at(server, tmp_path))
        assert first == second == later
        assert len(server.requests) == 1
        assert (judge.meters["extractor"].sent, judge.meters["extractor"].reused) == (1, 1)
    assert first.answers["q1"].calls == (first.calls[0].key,)
    (key,) = rows(tmp_path)
    assert key == first.calls[0].key


def test_a_row_says_what_was_asked_and_what_came_back(tmp_path: Path) -> None:
    with Server(obedient) as server:
        one(judge_at(server, tmp_path))
        (row,) = rows(tmp_path).values()
        assert row["request"] == server.requests[0].body
    assert (row["task"], row["ok"], row["reply"]["text"], row["reply"]["model"]) == ("t", True, '{"q1": "yes"}', "m")


def test_the_key_is_of_who_answers_the_body_and_the_repeat(tmp_path: Path) -> None:
    with Server(obedient) as server:
        base = judge_at(server, tmp_path)
        (key,) = (call.key for call in one(base).calls)
        others = [
            one(base, request(text="It snows.")),
            one(base, request("q2")),
            one(base, repeat=1),
            one(judge_at(server, tmp_path, params={"seed": 8})),
            one(Judge("n", base_url=server.url, cache=tmp_path)),
            one(Judge("m", base_url=server.url + "/", params={"stop": ["x"]}, cache=tmp_path)),
        ]
        same = [
            one(
                judge_at(server, tmp_path, api_key="another-key", headers={"X-Trace": "7"}, timeout=9.0, concurrency=2)
            ),
            one(Judge("m", base_url=server.url + "/", cache=tmp_path)),
        ]
        body = server.requests[0].body
        spec = JudgeSpec(model="m", base_url=server.url, params=base.specs["extractor"].params, resolved="m")
    assert key == digest([spec.judge_id, body, 0])
    assert len({key, *(asked.calls[0].key for asked in others)}) == 7
    assert {asked.calls[0].key for asked in same} == {key}


@pytest.mark.parametrize("who_is_known", [False, True])
def test_a_reply_is_stored_before_it_is_used(tmp_path: Path, who_is_known: bool) -> None:
    """Even where nobody is left to use it."""
    gate = threading.Event()

    async def give_up(judge: Judge, server: Server) -> None:
        known = len(judge._store)
        asking = asyncio.ensure_future(judge.ask(request()))
        await until(lambda: bool(server.requests))
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        gate.set()
        await until(lambda: len(judge._store) == known + (1 if who_is_known else 2))

    with Server(obedient) as server:
        if who_is_known:
            one(judge_at(server, tmp_path), request(text="another"))
            server.requests.clear()
        server._handler = lambda asked: obedient(asked) if gate.wait(10) else error(500)
        asyncio.run(give_up(judge_at(server, tmp_path), server))
        assert said(one(judge_at(server, tmp_path))) == {"q1": "yes"}
        assert len(server.requests) == 1


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not holds():  # noqa: ASYNC110 - what is waited for happens in the server's thread
            await asyncio.sleep(0)


def test_a_reply_that_a_second_asking_mended_is_not_asked_for_again_later(tmp_path: Path) -> None:
    def second_time(one: Request) -> Reply:
        return obedient(one) if "asked before" in one.body["messages"][1]["content"] else chat("I would rather not.")

    with Server(second_time) as server:
        first = one(judge_at(server, tmp_path))
        later = one(judge_at(server, tmp_path))
        assert said(first) == said(later) == {"q1": "yes"}
        assert len(server.requests) == 2, "one call that was not answered, and the one that was"


def test_repeats_are_kept_apart_and_come_back_in_order(tmp_path: Path) -> None:
    replies = ["yes", "no", "yes", "no", "no"]
    with Server([chat(f'{{"q1": "{label}"}}') for label in replies]) as server:
        judge = judge_at(server, tmp_path, params={"temperature": 0.7})
        first = [said(one(judge, repeat=repeat))["q1"] for repeat in range(5)]
        judge = judge_at(server, tmp_path, params={"temperature": 0.7})
        second = [said(one(judge, repeat=repeat))["q1"] for repeat in range(5)]
        assert len(server.requests) == 5
    assert first == second == replies
    assert len(rows(tmp_path)) == 5


def test_a_request_without_questions_costs_nothing() -> None:
    with Server(obedient) as server:
        nothing = request().model_copy(update={"questions": ()})
        assert one(judge_at(server), nothing) == Asked({}, ())
        assert server.requests == []


PLANTED = [
    "",
    "null",
    "[]",
    "{}",
    "not json",
    "[" * 100_000,
    '{"ok": true}',
    '{"ok": true, "reply": null}',
    '{"ok": true, "reply": {"text": 7}}',
    '{"ok": true, "reply": {"text": "{\\"q1\\": \\"no\\"}", "unknown": 1}}',
    '{"ok": 1, "reply": {"text": "{\\"q1\\": \\"no\\"}"}}',
    '{"ok": "true", "reply": {"text": "{\\"q1\\": \\"no\\"}"}}',
    '{"reply": {"text": "{\\"q1\\": \\"no\\"}"}}',
    '{"ok": true, "failed": 7}',
    '{"ok": true, "failed": {"cause": "timeout"}}',
]


@pytest.mark.parametrize("row", PLANTED)
def test_a_row_that_cannot_be_read_is_a_miss(tmp_path: Path, row: str) -> None:
    with Server(obedient) as server:
        (key,) = (call.key for call in one(judge_at(server, tmp_path)).calls)
        store = Store(tmp_path)
        store.put(key, row)
        store.close()
        assert said(one(judge_at(server, tmp_path))) == {"q1": "yes"}
        assert len(server.requests) == 2
    assert rows(tmp_path)[key]["ok"] is True


@pytest.mark.parametrize("row", ["", "7", "{}", '{"resolved": "m", "dialect": 7}', '{"resolved": "m"}', "[" * 100_000])
def test_a_garbled_memory_of_who_answers_is_no_memory(tmp_path: Path, row: str) -> None:
    with Server(obedient) as server:
        one(judge_at(server, tmp_path))
        store = Store(tmp_path)
        (about,) = (key for key in list(store.keys()) if key.startswith("who:"))
        store.put(about, row)
        store.close()
        later = judge_at(server, tmp_path)
        assert said(one(later)) == {"q1": "yes"}
        assert later.specs["extractor"].resolved == "m"


# --- one flight ------------------------------------------------------------------------------


@pytest.mark.parametrize("who_is_known", [False, True])
@pytest.mark.parametrize("reply", [obedient, lambda _one: chat("no JSON at all"), lambda _one: error(400, "odd text")])
def test_equal_asks_made_at_once_are_one_call(who_is_known: bool, reply: Callable[[Request], Reply]) -> None:
    with Server(obedient) as server:
        judge = judge_at(server)
        if who_is_known:
            one(judge, request(text="another"))
        server.requests.clear()
        server._handler = reply
        outcomes = run(judge, *[request() for _ in range(20)])
        bodies = [json.dumps(sent.body) for sent in server.requests]
    assert len({json.dumps(said(outcome)) for outcome in outcomes}) == 1
    assert len(bodies) == len(set(bodies)), "no body was sent twice"


def test_repeats_do_not_share_a_flight() -> None:
    async def both(judge: Judge) -> None:
        async with judge:
            await asyncio.gather(judge.ask(request(), repeat=0), judge.ask(request(), repeat=1))

    with Server(obedient) as server:
        asyncio.run(both(judge_at(server)))
        assert len(server.requests) == 2


@pytest.mark.parametrize("who_is_known", [False, True])
def test_who_gives_up_waiting_does_not_take_the_call_away(who_is_known: bool) -> None:
    gate = threading.Event()

    def slow(asked: Request) -> Reply:
        assert gate.wait(10)
        return obedient(asked)

    async def two(judge: Judge, server: Server) -> Asked:
        async with judge:
            first, second = (asyncio.ensure_future(judge.ask(request())) for _ in range(2))
            await until(lambda: bool(server.requests))
            first.cancel()
            with pytest.raises(asyncio.CancelledError):
                await first
            gate.set()
            return await second

    with Server(obedient) as server:
        judge = judge_at(server)
        if who_is_known:
            one(judge, request(text="another"))
            server.requests.clear()
        server._handler = slow
        assert said(asyncio.run(two(judge, server))) == {"q1": "yes"}
        assert len(server.requests) == 1


def test_a_failure_that_nobody_waits_for_is_no_complaint() -> None:
    gate, complaints = threading.Event(), list[str]()

    async def give_up(judge: Judge, server: Server) -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, told: complaints.append(str(told)))
        asking = asyncio.ensure_future(judge.ask(request()))
        await until(lambda: bool(server.requests))
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        (flight,) = judge._extractor._here().flights.values()
        gate.set()
        await until(flight.done)
        await asyncio.sleep(0)
        del flight
        gc.collect()

    with Server(lambda _one: error(401) if gate.wait(10) else error(500)) as server:
        asyncio.run(give_up(judge_at(server), server))
    assert complaints == []


def test_nothing_is_left_of_calls_that_have_landed() -> None:
    async def many(judge: Judge) -> None:
        async with judge:
            await asyncio.gather(*(judge.ask(request(text=str(number))) for number in range(50)))
            await asyncio.sleep(0)
            assert all(not its.flights for its in judge._extractor._loops.values())

    with Server(lambda asked: error(400, "odd") if '"7"' in json.dumps(asked.body) else obedient(asked)) as server:
        judge = judge_at(server)
        for _ in range(5):
            asyncio.run(many(judge))
        assert judge._extractor._loops == {}


def test_loops_that_were_not_closed_in_order_are_let_go() -> None:
    async def asks(judge: Judge, name: str) -> None:
        await asyncio.gather(*(judge.ask(request(text=f"{name} {number}")) for number in range(3)))

    with Server(obedient) as server:
        judge = judge_at(server)
        for name in "abcd":
            asyncio.run(asks(judge, name))
        gc.collect()
        assert len(judge._extractor._loops) == 1


@pytest.mark.parametrize("factory", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_any_event_loop_will_do(factory: Callable[[], asyncio.AbstractEventLoop]) -> None:
    async def some(judge: Judge) -> list[Asked]:
        async with judge:
            return await asyncio.gather(*(judge.ask(request(text=str(number % 3))) for number in range(9)))

    with Server(obedient) as server:
        judge = judge_at(server)
        for _ in range(2):
            with asyncio.Runner(loop_factory=factory) as runner:
                assert all(said(asked) == {"q1": "yes"} for asked in runner.run(some(judge)))
        assert len(server.requests) == 3


def test_two_event_loops_at_once(tmp_path: Path) -> None:
    texts = [str(number) for number in range(10)]

    def in_a_thread(work: Coroutine[Any, Any, T], into: list[T]) -> threading.Thread:
        thread = threading.Thread(target=lambda: into.append(asyncio.run(work)))
        thread.start()
        return thread

    async def some(judge: Judge) -> Sequence[Asked]:
        async with judge:
            return await asyncio.gather(*(judge.ask(request(text=text)) for text in texts))

    with Server(obedient) as server:
        judge, found = judge_at(server, tmp_path), list[Sequence[Asked]]()
        for thread in [in_a_thread(some(judge), found) for _ in range(3)]:
            thread.join()
        sent = len(server.requests)
        one(judge, request(text=texts[0]))
        assert len(server.requests) == sent
    assert len(found) == 3
    assert all(said(asked) == {"q1": "yes"} for outcome in found for asked in outcome)
    assert len(rows(tmp_path)) == len(texts)


# --- asked again -----------------------------------------------------------------------------


def test_what_is_missing_is_asked_again_once_alone() -> None:
    with Server([yes("q1", "q3"), chat('{"q2": "no"}')]) as server:
        asked = one(judge_at(server), request("q1", "q2", "q3"))
        assert [asked_ids(sent) for sent in server.requests] == [["q1", "q2", "q3"], ["q2"]]
        assert "asked before" in server.requests[1].body["messages"][1]["content"]
    assert said(asked) == {"q1": "yes", "q2": "no", "q3": "yes"}
    assert [len(answer.calls) for answer in asked.answers.values()] == [1, 1, 1]
    assert len(asked.calls) == 2


def test_what_is_missing_twice_is_missing_and_nothing_is_invented() -> None:
    with Server(chat('{"q1": "yes", "q9": "yes"}')) as server:
        asked = one(judge_at(server), request("q1", "q2"))
        assert len(server.requests) == 2
    assert said(asked) == {"q1": "yes", "q2": "wrong_ids"}
    assert asked.answers["q2"].raw == '{"q1": "yes", "q9": "yes"}'


@pytest.mark.parametrize(
    ("reply", "cause", "calls"),
    [
        (chat('{"q1": "partially"}'), "invalid_label", 2),
        (chat("Yes."), "no_json", 2),
        (chat(""), "empty_reply", 2),
        (chat(None, refusal="I cannot."), "content_filter", 1),
        (chat("", finish="content_filter"), "content_filter", 1),
        (chat(None, finish="length", reasoning="..."), "thinking_used_up", 1),
        (error(400, "blocked", code="content_filter"), "content_filter", 1),
        (error(400, "odd"), "refused_by_endpoint", 3),
        (error(500), "server_error", 1),
        (bad.no_answer(), "connection", 1),
        (bad.html(), "server_error", 1),
    ],
)
def test_a_failure_keeps_its_cause_and_is_asked_anew_in_the_next_run(
    tmp_path: Path, reply: Reply, cause: str, calls: int
) -> None:
    with Server(obedient) as server:
        one(judge_at(server, tmp_path), request(text="another"))
        server.requests.clear()
        server._handler = lambda _one: reply
        judge = judge_at(server, tmp_path)
        asked = one(judge)
        assert said(asked) == {"q1": cause}
        assert len(server.requests) == calls
        server._handler = obedient
        assert said(one(judge_at(server, tmp_path))) == {"q1": "yes"}
        assert len(server.requests) == calls + 1
        assert said(one(judge_at(server, tmp_path))) == {"q1": "yes"}
        assert len(server.requests) == calls + 1


def test_cut_off_by_length_is_asked_in_halves() -> None:
    ids = [f"q{number}" for number in range(1, 9)]

    def two_at_most(asked: Request) -> Reply:
        wanted = asked_ids(asked)
        if len(wanted) <= 2:
            return yes(*wanted)
        return chat('{"' + wanted[0] + '": "yes", "' + wanted[1] + '": "y', finish="length")

    with Server(two_at_most) as server:
        asked = one(judge_at(server), request(*ids))
        sizes = [len(asked_ids(sent)) for sent in server.requests]
    assert said(asked) == dict.fromkeys(ids, "yes")
    assert sizes == [8, 3, 1, 1, 4, 1, 2]
    assert len(asked.calls) == len(sizes)


def test_halving_ends_at_single_questions() -> None:
    with Server(chat('{"q1": "y', finish="length")) as server:
        asked = one(judge_at(server), request("q1", "q2", "q3", "q4"))
        assert sorted(len(asked_ids(sent)) for sent in server.requests) == [1, 1, 1, 1, 2, 2, 4]
    assert said(asked) == dict.fromkeys(("q1", "q2", "q3", "q4"), "cut_off")


def test_a_failing_second_asking_leaves_the_first_answers() -> None:
    with Server([yes("q1"), error(500)]) as server:
        assert said(one(judge_at(server), request("q1", "q2"))) == {"q1": "yes", "q2": "server_error"}


def test_a_backend_that_forgets_or_invents_questions_invents_no_answer() -> None:
    class Forgetful(Scripted):
        def read(self, asked: JudgeRequest, reply: JudgeReply) -> dict[str, Any]:
            answers = super().read(asked, reply)
            return {"q1": answers["q1"], "q9": answers["q1"]} if "q1" in answers else {}

    judge = Judge(Forgetful(lambda asked: dict.fromkeys(asked.ids, "yes")))
    assert said(one(judge, request("q1", "q2"))) == {"q1": "yes", "q2": "missing"}


# --- too long --------------------------------------------------------------------------------

TOO_LONG = error(400, "This model's maximum context length is 8 tokens.", code="context_length_exceeded")


def test_an_input_that_is_too_long_is_sent_once(tmp_path: Path) -> None:
    with Server([yes(), TOO_LONG]) as server:
        judge = judge_at(server, tmp_path)
        one(judge, request(text="short"))
        for again in (judge, judge, judge_at(server, tmp_path)):
            with pytest.raises(RequestTooLong, match="maximum context length"):
                one(again, request(text="long"))
        assert len(server.requests) == 2


def test_too_long_at_the_very_first_does_not_stop_the_others() -> None:
    with Server(lambda sent: TOO_LONG if "long" in json.dumps(sent.body["messages"]) else obedient(sent)) as server:
        outcomes = run(judge_at(server), *(request(text=text) for text in ("long 1", "a", "long 2", "b")))
    assert [type(outcome).__name__ for outcome in outcomes] == ["RequestTooLong", "Asked", "RequestTooLong", "Asked"]


# --- who answers -----------------------------------------------------------------------------


def test_who_answers_is_learned_from_one_call_that_goes_alone() -> None:
    seen: list[int] = []

    def watched(sent: Request) -> Reply:
        seen.append(server._busy)
        return bad.late(yes(model="m-2026-01-01"), 0.02)

    with Server(watched) as server:
        judge = judge_at(server)
        assert judge.specs["extractor"].resolved is None
        run(judge, *(request(text=str(number)) for number in range(6)))
        assert seen[0] == 1
        assert server.requests[1].at - server.requests[0].at >= 0.02
        assert server.peak > 1
    assert judge.specs["extractor"].resolved == "m-2026-01-01"


def test_another_model_stops_the_run_and_is_kept_nowhere(tmp_path: Path) -> None:
    with Server([yes(model="m-1"), yes(model="m-2")]) as server:
        judge = judge_at(server, tmp_path)
        one(judge, request(text="a"))
        with pytest.raises(JudgeDrift, match=r"pinned to 'm-1'.*now answers as 'm-2'"):
            one(judge, request(text="b"))
        before = rows(tmp_path)
        with pytest.raises(JudgeDrift, match="'m-2'"):
            one(judge_at(server, tmp_path), request(text="b"))
        assert said(one(judge, request(text="a"))) == {"q1": "yes"}, "what was paid is still served"
    assert rows(tmp_path) == before
    assert [row["reply"]["model"] for row in before.values()] == ["m-1"]


def test_drift_among_many_open_calls_keeps_what_the_pinned_model_said(tmp_path: Path) -> None:
    def mixed(sent: Request) -> Reply:
        return yes(model="m-2" if "odd" in json.dumps(sent.body["messages"]) else "m-1")

    with Server(mixed) as server:
        judge = judge_at(server, tmp_path)
        one(judge, request(text="first"))
        outcomes = run(judge, *(request(text=f"{'odd' if number % 2 else 'even'} {number}") for number in range(12)))
    assert [isinstance(outcome, JudgeDrift) for outcome in outcomes] == [bool(number % 2) for number in range(12)]
    assert {row["reply"]["model"] for row in rows(tmp_path).values()} == {"m-1"}
    assert len(rows(tmp_path)) == 7


def test_a_backend_that_once_does_not_say_who_it_is_has_not_drifted() -> None:
    names = ["m-1", "", None, "m-1"]
    judge = Judge(Scripted(lambda _one: JudgeReply(text='{"q1": "yes"}', model=names.pop(0))))
    for text in "abcd":
        assert said(one(judge, request(text=text))) == {"q1": "yes"}


@pytest.mark.parametrize("model", ["", None])
def test_an_endpoint_that_does_not_say_who_it_is_is_taken_at_its_name(model: Any) -> None:
    with Server(yes(model=model)) as server:
        judge = judge_at(server)
        run(judge, *(request(text=str(number)) for number in range(3)))
        assert said(one(judge, request(text="more"))) == {"q1": "yes"}
    assert judge.specs["extractor"].resolved == "m"


def test_a_new_fingerprint_is_recorded_and_no_error(tmp_path: Path) -> None:
    with Server([yes(fingerprint="fp_1"), yes(fingerprint="fp_2")]) as server:
        judge = judge_at(server, tmp_path)
        first, second = (one(judge, request(text=text)) for text in "ab")
        assert said(first) == said(second) == {"q1": "yes"}
    assert judge.meters["extractor"].fingerprints == {"fp_1", "fp_2"}
    assert {row["reply"]["fingerprint"] for row in rows(tmp_path).values()} == {"fp_1", "fp_2"}


def test_a_pin_holds_before_anything_is_asked(tmp_path: Path) -> None:
    with Server(yes(model="m-2")) as server:
        judge = judge_at(server, tmp_path)
        spec = judge.specs["extractor"].model_copy(update={"resolved": "m-1"})
        judge.pin({"extractor": spec})
        with pytest.raises(JudgeDrift):
            one(judge)
        assert rows(tmp_path) == {}
        other = judge_at(server, tmp_path / "other")
        one(other)
        with pytest.raises(JudgeDrift):
            other.pin({"extractor": spec})


def test_the_name_that_was_asked_for_tells_nothing_and_is_no_drift() -> None:
    """A gateway that gives back the alias now and then has not changed the model by it."""
    names = ["m-2026-01-01", "m", "m-2026-01-01", "m-2026-02-02"]
    with Server([yes(model=name) for name in names]) as server:
        judge = judge_at(server)
        for text in "abc":
            one(judge, request(text=text))
        with pytest.raises(JudgeDrift, match=r"pinned to 'm-2026-01-01'.*as 'm-2026-02-02'"):
            one(judge, request(text="d"))
    assert judge.meters["extractor"].unnamed == 1


def test_an_alias_may_turn_out_to_be_one_snapshot_and_no_second() -> None:
    with Server([yes(model=name) for name in ("m", "m-2026-01-01", "m-2026-01-01", "m-2026-02-02")]) as server:
        judge = judge_at(server)
        for text in "abc":
            one(judge, request(text=text))
        with pytest.raises(JudgeDrift):
            one(judge, request(text="d"))
    assert judge.specs["extractor"].resolved == "m"


def test_replies_without_the_name_of_a_snapshot_are_counted() -> None:
    with Server([yes(model=name) for name in ("m", "", None, "m")]) as server:
        judge = judge_at(server)
        run(judge, *(request(text=text) for text in "abcd"))
    assert judge.meters["extractor"].unnamed == 4
    with Server(yes(model="m-2026-01-01")) as server:
        judge = Judge("m-2026-01-01", base_url=server.url)
        one(judge)
    assert judge.meters["extractor"].unnamed == 0


# --- what an earlier session remembers of who answers -------------------------------------------


def doubted(server: Server, cache: Path, **options: Any) -> Judge:
    judge = judge_at(server, cache, **options)
    judge.doubt()
    return judge


def test_a_doubted_memory_is_confirmed_by_one_call_before_the_cache_is_read(tmp_path: Path) -> None:
    with Server(yes(model="m-1")) as server:
        run(judge_at(server, tmp_path), *(request(text=text) for text in "abc"))
        kept = rows(tmp_path)
        server.requests.clear()
        run(judge_at(server, tmp_path), *(request(text=text) for text in "abc"))
        assert server.requests == [], "without a doubt nothing is sent"
        run(doubted(server, tmp_path), *(request(text=text) for text in "abc"))
        assert len(server.requests) == 1
    assert rows(tmp_path) == kept


def test_replies_of_the_model_that_answered_earlier_are_not_served_as_those_of_the_one_that_answers_now(
    tmp_path: Path,
) -> None:
    with Server(yes(model="m-1")) as server:
        run(judge_at(server, tmp_path), *(request(text=text) for text in "abc"))
        server.requests.clear()
        server._handler = lambda _one: chat('{"q1": "no"}', model="m-2")
        judge = doubted(server, tmp_path)
        with pytest.warns(RuntimeWarning, match="answers as 'm-2' now; the kept replies of 'm-1' are not used"):
            outcomes = run(judge, *(request(text=text) for text in "abc"))
        assert [said(outcome)["q1"] for outcome in outcomes] == ["no"] * 3
        assert len(server.requests) == 3
    assert judge.specs["extractor"].resolved == "m-2"
    assert sorted(row["reply"]["model"] for row in rows(tmp_path).values()) == ["m-1"] * 3 + ["m-2"] * 3


def test_where_nobody_can_be_reached_what_is_kept_is_served_and_nothing_else(tmp_path: Path) -> None:
    with Server(yes(model="m-1")) as server:
        one(judge_at(server, tmp_path))
    judge = doubted(server, tmp_path)
    with pytest.warns(RuntimeWarning, match="going on with kept replies of 'm-1'"):
        assert said(one(judge)) == {"q1": "yes"}
    for unasked in (judge, doubted(server, tmp_path)):
        assert said(one(unasked, request(text="never asked"))) == {"q1": "connection"}


def test_a_doubt_that_a_failing_call_does_not_settle_stays(tmp_path: Path) -> None:
    with Server(yes(model="m-1")) as server:
        one(judge_at(server, tmp_path))
        replies = [error(500), yes(model="m-1")]
        server._handler = lambda _one: replies.pop(0)
        judge = doubted(server, tmp_path)
        assert said(one(judge)) == {"q1": "server_error"}
        assert said(one(judge)) == {"q1": "yes"}
        assert replies == []
    assert [row["ok"] for row in rows(tmp_path).values()] == [True]


def test_a_dated_name_and_a_judge_that_answered_already_are_not_doubted(tmp_path: Path) -> None:
    with Server(obedient) as server:
        for name in ("m-2026-01-01", "m"):
            judge = Judge(name, base_url=server.url, cache=tmp_path)
            server._handler = lambda sent: yes(model=sent.body["model"])
            one(judge)
            server.requests.clear()
            judge = judge if name == "m" else Judge(name, base_url=server.url, cache=tmp_path)
            judge.doubt()
            one(judge)
            assert server.requests == []


def test_a_strict_pin_refuses_aliases_and_replies_without_a_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"strict_pin: m names no snapshot.*give a dated name"):
        Judge("m", base_url="http://127.0.0.1:1/v1", strict_pin=True)
    with Server(yes(model=None)) as server:
        judge = Judge("m-2026-01-01", base_url=server.url, strict_pin=True, cache=tmp_path)
        with pytest.raises(JudgeDrift, match="does not say which model answers"):
            one(judge)
        assert rows(tmp_path) == {}


# --- stops -----------------------------------------------------------------------------------


def test_a_wrong_key_stops_after_one_call() -> None:
    with Server(error(401, "Incorrect API key provided")) as server:
        judge = judge_at(server, api_key="wrong-key-planted")
        outcomes = run(judge, *(request(text=str(number)) for number in range(40)))
        assert len(server.requests) == 1
        assert {type(outcome) for outcome in outcomes} == {JudgeUnusable}
        server._handler = obedient
        assert said(one(judge)) == {"q1": "yes"}, "with the key put right the same judge goes on"


def test_a_quota_that_runs_out_stops_what_waits_for_a_slot() -> None:
    with Server(obedient) as server:
        judge = judge_at(server, concurrency=2)
        one(judge, request(text="first"))
        server.requests.clear()
        server._handler = lambda _one: error(429, "You exceeded your current quota", code="insufficient_quota")
        outcomes = run(judge, *(request(text=str(number)) for number in range(40)))
        assert {type(outcome) for outcome in outcomes} == {JudgeUnusable}
        assert len(server.requests) <= 4
        server._handler = obedient
        assert said(one(judge, request(text="later"))) == {"q1": "yes"}


def test_a_server_that_is_not_there_stops_all() -> None:
    with Server(obedient) as server:
        pass
    judge = judge_at(server, max_attempts=1)
    outcomes = run(judge, *(request(text=str(number)) for number in range(30)))
    assert isinstance(outcomes[-1], JudgeUnreachable)
    assert all(isinstance(outcome, Asked | JudgeStop) for outcome in outcomes)


def test_after_a_failing_first_call_the_next_one_learns_who_answers() -> None:
    with Server([error(500), error(400, "odd", param="messages"), yes()]) as server:
        outcomes = run(judge_at(server), *(request(text=str(number)) for number in range(5)))
    assert [said(outcome)["q1"] for outcome in outcomes] == ["server_error", "refused_by_endpoint", "yes", "yes", "yes"]


# --- secrets ---------------------------------------------------------------------------------


@pytest.mark.parametrize("has_user", [False, True])
def test_no_secret_is_kept_or_shown(tmp_path: Path, has_user: bool) -> None:
    key, header, password, query = "sk-planted-key-1", "planted-header-2", "planted-password-3", "planted-query-4"

    def telling(sent: Request) -> Reply:
        if "tell" in json.dumps(sent.body["messages"]):
            told = f"no: {sent.headers['authorization']}, {header}, {password}, {query}"
            return error(400, told, param="messages") if "tell 1" in json.dumps(sent.body) else bad.answer({"x": told})
        return obedient(sent)

    with Server(telling) as server:
        user = f"user:{password}@" if has_user else ""
        url = server.url.replace("http://", f"http://{user}") + f"?token={query}"
        judge = Judge(
            "m", base_url=url, api_key=key, headers={"X-Secret": header}, cache=tmp_path / "c", max_attempts=1
        )
        judge.record()
        outcomes = [one(judge, request(text=text)) for text in ("a", "tell 1", "tell 2")]
        judge.write_cassette(tmp_path / "tape.jsonl")
        server._handler = lambda sent: error(401, f"{sent.headers['authorization']} {header} {password} {query}")
        with pytest.raises(JudgeUnusable) as stop:
            one(judge, request(text="b"))
        sent = server.requests[0]
    assert header in sent.headers.values()
    basic = base64.b64encode(f"user:{password}".encode()).decode()
    assert sent.headers["authorization"] == (f"Basic {basic}" if has_user else f"Bearer {key}")
    assert [said(outcome)["q1"] for outcome in outcomes] == ["yes", "refused_by_endpoint", "server_error"]
    with sqlite3.connect(tmp_path / "c" / "cache.db") as database:
        dump = "\n".join(database.iterdump())
    database.close()
    shown = repr([judge, judge.specs, judge.dialects, judge.meters, outcomes, str(stop.value), repr(stop.value)])
    files = [path.read_bytes().decode("utf-8", "replace") for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 1
    secrets = [key, header, query, *([password, basic, "user:"] if has_user else [])]
    for text in (dump, shown, *files):
        assert not [secret for secret in secrets if secret in text]


# --- what is more than one call can hold ---------------------------------------------------------


def test_a_request_of_many_questions_goes_out_in_calls_of_as_many_as_the_backend_takes() -> None:
    seen: list[tuple[str, ...]] = []

    def script(one: JudgeRequest) -> dict[str, str]:
        seen.append(one.ids)
        return dict.fromkeys(one.ids, "yes")

    judge = Judge(Scripted(script, most_questions=2))
    asked = one(judge, request("a", "b", "c", "d", "e"))
    assert seen == [("a", "b"), ("c", "d"), ("e",)]
    assert list(asked.answers) == ["a", "b", "c", "d", "e"]
    assert len({call.key for call in asked.calls}) == 3
    assert {answer.calls for answer in asked.answers.values()} == {(call.key,) for call in asked.calls}


def test_each_part_is_stored_and_asked_again_by_itself(tmp_path: Path) -> None:
    seen: list[tuple[tuple[str, ...], bool]] = []

    def script(one: JudgeRequest) -> dict[str, str]:
        seen.append((one.ids, one.again))
        return {i: "yes" for i in one.ids if i != "b"}

    def session(*ids: str) -> dict[str, str | None]:
        seen.clear()
        return said(one(Judge(Scripted(script, most_questions=1), cache=tmp_path), request(*ids)))

    assert session("a", "b") == {"a": "yes", "b": "missing"}
    assert sorted(seen) == [(("a",), False), (("b",), False), (("b",), True)]
    assert session("a", "c") == {"a": "yes", "c": "yes"}
    assert seen == [(("c",), False)]


def test_a_part_that_is_too_long_makes_the_whole_too_long() -> None:
    def script(one: JudgeRequest) -> dict[str, str]:
        if "b" in one.ids:
            raise RequestTooLong("b is too long")
        return dict.fromkeys(one.ids, "yes")

    with pytest.raises(RequestTooLong, match="b is too long"):
        one(Judge(Scripted(script, most_questions=1)), request("a", "b", "c"))
