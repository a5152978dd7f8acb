"""What may be in flight, and when: never more than asked, less after a 429, and nobody forgotten in line."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import misbehaving as bad
import pytest
from clock import Clock
from hypothesis import given
from hypothesis import strategies as st
from misbehaving import Server, chat, error

from judgekit.errors import InputError, JudgeUnreachable, JudgeUnusable, RateLimited
from judgekit.judge.endpoint import Endpoint
from judgekit.judge.limiter import Limiter
from judgekit.judge.tokens import tokens_in, tokens_of


def limiter(most: int = 2, clock: Clock | None = None, **limits: float) -> Limiter:
    clock = clock or Clock()
    return Limiter(most, clock=clock, sleep=clock.sleep, **limits)


async def settled() -> None:
    """Let everything that can go on go on."""
    for _ in range(20):
        await asyncio.sleep(0)


class Crowd:
    """Many who want a slot; `inside` are those who have one, in the order in which they got it."""

    def __init__(self, limits: Limiter) -> None:
        self.limits = limits
        self.inside: list[int] = []
        self.most = 0
        self._exits: dict[int, asyncio.Event] = {}

    def come(self, number: int, **how: Any) -> asyncio.Task[None]:
        self._exits[number] = asyncio.Event()
        return asyncio.ensure_future(self._visit(number, how))

    async def _visit(self, number: int, how: dict[str, Any]) -> None:
        await self.limits.enter(**how)
        self.inside.append(number)
        self.most = max(self.most, self.limits.in_flight)
        await self._exits[number].wait()
        self.limits.leave()

    async def go(self, number: int) -> None:
        self._exits[number].set()
        await settled()


# --- who may go in ---------------------------------------------------------------------------


def test_first_come_first_served_and_what_is_sent_again_goes_before_what_is_new() -> None:
    async def scene() -> list[int]:
        crowd = Crowd(limiter(1))
        tasks = [crowd.come(1), crowd.come(2), crowd.come(3)]
        await settled()
        tasks.append(crowd.come(4, again=True))
        await settled()
        for number in (1, 4, 2, 3):
            await crowd.go(number)
        await asyncio.gather(*tasks)
        assert crowd.most == 1
        return crowd.inside

    assert asyncio.run(scene()) == [1, 4, 2, 3]


def test_nobody_overtakes_those_who_wait_when_a_slot_is_given_back() -> None:
    async def scene() -> list[int]:
        limits = limiter(1)
        crowd = Crowd(limits)
        tasks = [crowd.come(1), crowd.come(2)]
        await settled()
        crowd._exits[1].set()
        await asyncio.sleep(0)  # 1 has left, 2 is woken and not in yet
        assert limits.in_flight == 0
        tasks.append(crowd.come(3))
        await settled()
        assert crowd.inside == [1, 2]
        for number in (2, 3):
            await crowd.go(number)
        await asyncio.gather(*tasks)
        return crowd.inside

    assert asyncio.run(scene()) == [1, 2, 3]


@given(st.lists(st.sampled_from(["come", "leave", "cancel", "again"]), max_size=40), st.integers(1, 3))
def test_whatever_comes_leaves_or_gives_up_no_slot_is_lost_or_given_twice(moves: list[str], most: int) -> None:
    async def scene() -> None:
        limits = limiter(most)
        crowd = Crowd(limits)
        tasks: dict[int, asyncio.Task[None]] = {}
        for number, move in enumerate(moves):
            waiting = [n for n, task in tasks.items() if not task.done()]
            if move in {"come", "again"}:
                tasks[number] = crowd.come(number, again=move == "again")
            elif waiting and move == "leave":
                crowd._exits[waiting[0]].set()
            elif waiting and waiting[-1] not in crowd.inside:
                tasks[waiting[-1]].cancel()
            if number % 3:
                await settled()
        for exit_ in crowd._exits.values():
            exit_.set()
        await asyncio.wait_for(asyncio.gather(*tasks.values(), return_exceptions=True), 5)
        assert limits.in_flight == 0
        assert crowd.most <= most
        cancelled = {number for number, task in tasks.items() if task.cancelled()}
        assert set(crowd.inside) | cancelled == tasks.keys()

    asyncio.run(scene())


def test_one_limiter_holds_for_all_event_loops_together() -> None:
    with Server(bad.late(chat("yes"), 0.02)) as server:
        client = Endpoint(server.url, concurrency=3)

        async def ten() -> list[Any]:
            return await asyncio.gather(*(client.post("/x", {}) for _ in range(10)))

        threads = [threading.Thread(target=asyncio.run, args=(ten(),)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
    assert len(server.requests) == 40
    assert server.peak == 3


def test_a_loop_that_ends_with_somebody_in_line_blocks_nobody() -> None:
    limits = limiter(1)

    async def leaves_one_waiting() -> None:
        await limits.enter()
        asyncio.ensure_future(limits.enter())  # noqa: RUF006 - it never gets in
        await settled()

    loop = asyncio.new_event_loop()
    loop.run_until_complete(leaves_one_waiting())
    for task in asyncio.all_tasks(loop):
        task._log_destroy_pending = False
    loop.close()

    async def comes_later() -> None:
        waiting = asyncio.ensure_future(limits.enter())
        await settled()
        limits.leave()
        await asyncio.wait_for(waiting, 5)

    asyncio.run(comes_later())
    assert limits.in_flight == 1


# --- more and less at once -------------------------------------------------------------------


async def round_of(limits: Limiter, count: int, *, busy: int = 0) -> None:
    """So many requests at the same time, `busy` of which meet a 429 while all are in flight."""
    slots = [await limits.enter() for _ in range(count)]
    for number, slot in enumerate(slots):
        if number < busy:
            limits.turned_away(slot)
    for number, slot in enumerate(slots):
        if number >= busy:
            limits.answered(slot)
        limits.leave()


def test_a_burst_of_429_halves_once_and_the_next_one_again_down_to_one() -> None:
    async def scene() -> list[int]:
        limits, seen = limiter(16), []
        for _ in range(6):
            await round_of(limits, limits.limit, busy=limits.limit)
            seen.append(limits.limit)
        return seen

    assert asyncio.run(scene()) == [8, 4, 2, 1, 1, 1]


def test_a_round_that_leaves_a_slot_free_adds_nothing_and_a_full_one_adds_one() -> None:
    async def scene() -> tuple[int, int, int]:
        limits = limiter(8)
        await round_of(limits, 8, busy=8)
        for _ in range(9):
            await round_of(limits, 3)
        unused = limits.limit
        held = [await limits.enter() for _ in range(4)]
        seen = []
        for slot in held:
            limits.answered(slot)
            limits.leave()
            seen.append(limits.limit)
            await limits.enter()
        return unused, seen[2], seen[3]

    assert asyncio.run(scene()) == (4, 4, 5)


def test_what_was_sent_before_a_cut_does_not_grow_what_came_after_it() -> None:
    async def scene() -> int:
        limits = limiter(4)
        slots = [await limits.enter() for _ in range(4)]
        limits.turned_away(slots[0])
        for slot in slots[1:]:
            limits.answered(slot)
        for _ in slots:
            limits.leave()
        return limits.limit

    assert asyncio.run(scene()) == 2


def test_it_grows_back_to_what_was_asked_and_never_beyond() -> None:
    async def scene() -> tuple[int, int]:
        limits = limiter(6)
        await round_of(limits, 6, busy=6)
        held = [await limits.enter() for _ in range(limits.limit)]
        for _ in range(200):  # kept full: one comes back, the next goes out
            limits.answered(held.pop(0))
            limits.leave()
            while limits.in_flight < limits.limit:
                held.append(await limits.enter())
        return limits.limit, limits.in_flight

    assert asyncio.run(scene()) == (6, 6)


def run(client: Endpoint, calls: int) -> list[Any]:
    async def all_of_them() -> list[Any]:
        try:
            posts: list[Awaitable[Any]] = [client.post("/x", {"n": number}) for number in range(calls)]
            return await asyncio.gather(*posts, return_exceptions=True)
        finally:
            await client.close()

    return asyncio.run(all_of_them())


def endpoint(server: Server, clock: Clock, **options: Any) -> Endpoint:
    return Endpoint(server.url, clock=clock, sleep=clock.sleep, chance=lambda: 1.0, **options)


@pytest.mark.parametrize(("status", "limit"), [(429, 8), (500, 16), (503, 16), (408, 16)])
def test_only_a_429_lowers_what_is_in_flight(status: int, limit: int) -> None:
    with Server([error(status), chat("yes")]) as server:
        client = endpoint(server, Clock(), concurrency=16)
        run(client, 1)
    assert client.limiter.limit == limit


def test_a_server_that_takes_eight_at_once_answers_everything_when_sixty_four_are_allowed() -> None:
    def crowded(_request: object) -> bad.Reply:
        return bad.late(chat("yes"), 0.005) if server._busy <= 8 else error(429, "too many at once")

    with Server(crowded) as server:
        client = endpoint(server, Clock(), concurrency=64)
        outcomes = run(client, 300)
    assert [outcome for outcome in outcomes if isinstance(outcome, Exception)] == []
    assert client.limiter.limit <= 16
    assert client.sent < 300 * 3


def test_one_429_slows_the_run_and_does_not_freeze_it() -> None:
    clock = Clock()
    with Server([*[chat("yes")] * 20, error(429, headers={"Retry-After": "3"}), chat("yes")]) as server:
        client = endpoint(server, clock, concurrency=4)
        outcomes = run(client, 200)
    assert not [outcome for outcome in outcomes if isinstance(outcome, Exception)]
    assert clock.now == pytest.approx(1003.0)
    assert client.limiter.limit == 4  # and has long grown back


def test_a_429_is_no_attempt_while_others_get_through() -> None:
    """Turned away twice, it is sent a third time where two attempts are allowed."""

    def unlucky(request: bad.Request) -> bad.Reply:
        so_often = sum(one.body["n"] == 0 for one in server.requests)
        return error(429) if request.body["n"] == 0 and so_often <= 2 else chat("yes")

    async def until_another_is_answered(_seconds: float) -> None:
        before = client._answered
        async with asyncio.timeout(10):
            while client._answered == before:  # noqa: ASYNC110 - nothing announces it
                await asyncio.sleep(0.001)

    with Server(unlucky) as server:
        client = Endpoint(server.url, sleep=until_another_is_answered, concurrency=1, max_attempts=2)
        assert not [outcome for outcome in run(client, 9) if isinstance(outcome, Exception)]
    assert client.retried == 2


# --- so many a minute ------------------------------------------------------------------------


def times(limits: Limiter, clock: Clock, tokens: list[int]) -> list[float]:
    """When each of these requests was sent, in seconds from the start."""

    async def scene() -> list[float]:
        seen = []
        for count in tokens:
            await limits.enter(count)
            seen.append(clock.now - 1000)
            limits.leave()
        return seen

    return asyncio.run(scene())


def test_no_minute_holds_more_requests_than_allowed() -> None:
    clock = Clock()
    assert times(limiter(99, clock, rpm=10), clock, [0] * 25) == [0.0] * 10 + [60.0] * 10 + [120.0] * 5


def test_no_minute_holds_more_tokens_than_allowed_and_what_is_too_large_goes_alone() -> None:
    clock = Clock()
    sent = times(limiter(99, clock, tpm=100), clock, [60, 40, 1, 250, 50, 50])
    assert sent == [0.0, 0.0, 60.0, 120.0, 180.0, 180.0]


@given(st.lists(st.integers(1, 50), max_size=30), st.integers(50, 120))
def test_any_minute_is_within_its_tokens(tokens: list[int], most: int) -> None:
    clock = Clock()
    sent = times(limiter(99, clock, tpm=most), clock, tokens)
    for start in sent:
        assert sum(n for n, at in zip(tokens, sent, strict=True) if start <= at < start + 59.99) <= most


def test_an_estimate_is_corrected_by_what_it_was() -> None:
    async def scene() -> list[float]:
        clock = Clock()
        limits = limiter(9, clock, tpm=100)
        seen = []
        for estimate, real in ((90, 10), (80, 95), (1, 1)):
            slot = await limits.enter(estimate)
            seen.append(clock.now - 1000)
            limits.answered(slot, real)
            limits.leave()
        return seen

    assert asyncio.run(scene()) == [0.0, 0.0, 60.0]


def test_the_endpoint_estimates_corrects_and_learns_how_long_replies_are() -> None:
    body = {"messages": [{"role": "user", "content": "x" * 1000}]}  # 254 tokens, and 200 for the first reply
    clock = Clock()
    with Server(chat("yes", usage=(300, 20)), clock=clock) as server:
        client = endpoint(server, clock, tpm=650)

        async def three() -> None:
            for _ in range(3):
                await client.post("/x", body)
            await client.close()

        asyncio.run(three())
    # 454 > 320 when it is answered; + 254 + 20 fits into 650; a third does not
    assert [request.at - 1000 for request in server.requests] == [0.0, 0.0, 60.0]


@pytest.mark.parametrize("limits", [{"rpm": 0}, {"tpm": -1}])
def test_a_limit_of_nothing_is_bad_input(limits: dict[str, float]) -> None:
    with pytest.raises(InputError, match="more than 0"):
        Limiter(1, **limits)


def test_tokens_are_counted_by_kind_of_character() -> None:
    assert tokens_in("a" * 100) == 25
    assert tokens_in("\u00e9" * 100) == tokens_in("\u0434" * 100) == 50
    assert tokens_in("\u6c34" * 100) == 80
    assert tokens_in("\U0001f600" * 10) == 20
    assert tokens_in("\ud83d") == 1  # a lone surrogate is a character too
    assert tokens_of({"model": "m", "messages": [{"role": "user", "content": "a" * 100}]}) == 29
    assert tokens_of({"model": "m", "input": ["a" * 87]}) == 25  # {"input":["a..."]}: 100 characters


# --- waiting ends when there is nothing to wait for ------------------------------------------


@pytest.mark.parametrize("wait", [lambda limits: limits.enter(), lambda limits: limits.rest(9)], ids=["line", "rest"])
def test_who_waits_is_told_at_once_that_the_endpoint_has_stopped(wait: Callable[[Limiter], Awaitable[Any]]) -> None:
    async def never(_seconds: float) -> None:
        await asyncio.Event().wait()

    async def scene() -> None:
        limits = Limiter(1, sleep=never)
        await limits.enter()
        waiting = [asyncio.ensure_future(wait(limits)) for _ in range(3)]
        await settled()
        limits.stop(JudgeUnusable("no key"))
        for outcome in await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), 5):
            assert isinstance(outcome, JudgeUnusable)
        limits.leave()
        await asyncio.wait_for(limits.enter(), 5)  # and who comes later may try again

    asyncio.run(scene())


def test_calls_between_two_attempts_end_when_the_endpoint_is_given_up() -> None:
    async def never(_seconds: float) -> None:
        await asyncio.Event().wait()

    with Server(lambda request: error(503 if request.body["n"] else 500)) as server:
        patient = Endpoint(server.url, sleep=never, dead_after=1, concurrency=8)

        async def scene() -> list[Any]:
            waiting = [asyncio.ensure_future(patient.post("/x", {"n": number})) for number in range(3)]
            while len(patient.limiter._resting) < 3:  # noqa: ASYNC110 - nothing announces it
                await asyncio.sleep(0.001)
            patient._max_attempts = 1
            last = asyncio.ensure_future(patient.post("/x", {"n": 9}))
            outcomes = await asyncio.wait_for(asyncio.gather(*waiting, last, return_exceptions=True), 5)
            await patient.close()
            return outcomes

        assert [type(outcome) for outcome in asyncio.run(scene())] == [JudgeUnreachable] * 4


def test_a_wrong_key_stops_after_at_most_one_call_a_slot() -> None:
    with Server(error(401, "no")) as server:
        outcomes = run(endpoint(server, Clock(), concurrency=4), 50)
    assert {type(outcome) for outcome in outcomes} == {JudgeUnusable}
    assert len(server.requests) <= 4


def test_a_call_whose_turn_comes_after_its_time_fails_with_its_cause() -> None:
    clock = Clock()

    def slow(request: bad.Request) -> bad.Reply:
        if request.body["n"] == 0:
            return error(503, "overloaded")
        clock.now += 100
        return chat("yes")

    with Server(slow) as server:
        failed, *others = run(endpoint(server, clock, concurrency=1, max_seconds=150.0), 4)
    assert "overloaded" in str(failed)
    assert len([request for request in server.requests if request.body["n"] == 0]) <= 2
    assert not [outcome for outcome in others if isinstance(outcome, Exception)]


def test_a_long_pause_is_told_once_and_one_that_is_too_long_is_a_failure() -> None:
    told: list[str] = []
    replies = [error(429, headers={"Retry-After": "90"}), error(429, headers={"Retry-After": "5"}), chat("yes")]
    with Server([*replies, error(429, headers={"Retry-After": "700"})]) as server:
        client = endpoint(server, Clock(), on_message=told.append, concurrency=1)
        (answered,) = run(client, 1)
        assert not isinstance(answered, Exception)
        assert told == [f"{server.url} asks to come back in 90 s; waiting"]
        (failed,) = run(client, 1)
    assert isinstance(failed, RateLimited)
    assert len(told) == 1
