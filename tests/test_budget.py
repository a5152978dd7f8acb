"""Caps hold whatever is in flight, stop a run cleanly, and say nothing about what they do not know."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from misbehaving import Server, error
from scripts import Truth, judge_that, lines, over_http, row
from test_cli import judgekit

import judgekit as jk
from judgekit.errors import BudgetSpent, InputError
from judgekit.judge.prices import Price, money, read_prices

METRICS = "faithfulness,context_relevance"
#: Split, verify and relevance: three calls a row.
CALLS = 3


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    path.write_text(lines(row(number) for number in range(1, 9)), encoding="utf-8")
    return path


def judged(log: Path, out: Path, server: Server, *more: object) -> Any:
    where = ("--judge", "m", "--base-url", server.url)
    return judgekit("run", log, "-o", out, "--metrics", METRICS, *where, *more)


def results(out: Path) -> bytes:
    return (out / "results.jsonl").read_bytes()


def sessions(out: Path) -> list[dict[str, Any]]:
    return json.loads((out / "manifest.json").read_text())["sessions"]


# --- a run under a cap -----------------------------------------------------------------------


@pytest.mark.parametrize("concurrency", [1, 4, 16])
def test_a_cap_on_calls_is_spent_to_the_last_call_and_the_run_goes_on_from_there(
    log: Path, tmp_path: Path, concurrency: int
) -> None:
    out, how = tmp_path / "run", ("--concurrency", concurrency)
    with Server(over_http(Truth())) as server:
        assert judged(log, tmp_path / "whole", server, *how).code == 0
        asked = len(server.requests)
        assert asked == 8 * CALLS
        server.requests.clear()
        first = judged(log, out, server, "--max-calls", 10, *how)
        assert (first.code, len(server.requests)) == (3, 10)
        assert "stopped by --max-calls: 10 of 10 calls spent in this session" in first.err
        assert "The same command goes on from here" in first.err
        second = judged(log, out, server, "--max-calls", 10, *how)
        assert (second.code, len(server.requests)) == (3, 20)
        third = judged(log, out, server, "--max-calls", 10, *how)
        assert (third.code, len(server.requests)) == (0, asked)
    assert results(out) == results(tmp_path / "whole")
    assert [session["stopped_by"] for session in sessions(out)] == ["BudgetSpent", "BudgetSpent", None]
    assert [session["sent"] for session in sessions(out)] == [10, 10, asked - 20]


def test_a_cap_on_tokens_is_not_passed(log: Path, tmp_path: Path) -> None:
    with Server(over_http(Truth(), usage=(500, 40))) as server:  # more than is expected of these prompts
        done = judged(log, tmp_path / "run", server, "--max-tokens", 6000, "--concurrency", 2)
    assert done.code == 3
    assert "--max-tokens" in done.err
    assert 9 <= len(server.requests) <= 6000 // 540 + 2  # two in flight may turn out larger than expected


def test_a_cap_on_money_counts_with_the_prices_given(log: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    with Server(over_http(Truth(), usage=(1000, 100))) as server:  # 0.002 + 0.001 a call
        prices = ("--price-in", 2, "--price-out", 10, "--concurrency", 1)
        done = judged(log, out, server, "--max-cost", 0.02, *prices)
    assert done.code == 3
    (session,) = sessions(out)
    assert f"--max-cost: {session['cost']:.4f} of 0.0200 spent" in done.err
    assert session["cost"] == pytest.approx(session["sent"] * 0.003)
    # these replies cost the same however long their prompts are, so that the last one may not be foreseen
    assert 5 <= session["sent"] <= 7
    assert json.loads((out / "manifest.json").read_text())["prices"] == {"m": {"in": 2.0, "out": 10.0}}


def test_kept_replies_are_free(log: Path, tmp_path: Path) -> None:
    cache = ("--cache", tmp_path / "cache", "--price-in", 1, "--price-out", 1)
    with Server(over_http(Truth())) as server:
        judged(log, tmp_path / "one", server, *cache)
        again = judged(log, tmp_path / "two", server, "--max-calls", 1, *cache)
    assert again.code == 0
    assert results(tmp_path / "one") == results(tmp_path / "two")
    (session,) = sessions(tmp_path / "two")
    # one call may be spent on finding out who answers
    assert session["sent"] <= 1
    assert session["cost"] <= 0.0001


def test_what_is_not_known_is_unknown_and_not_nothing(log: Path, tmp_path: Path) -> None:
    with Server(over_http(Truth())) as server:
        judged(log, tmp_path / "no-price", server)
        assert sessions(tmp_path / "no-price")[0]["cost"] is None
    with Server(over_http(Truth(), usage=(0, 0))) as server:
        done = judged(log, tmp_path / "no-usage", server, "--price-in", 1, "--price-out", 1)
        assert sessions(tmp_path / "no-usage")[0]["cost"] is None
        assert "(cost unknown)" in done.err


def test_where_an_endpoint_does_not_say_what_it_used_the_estimate_counts(log: Path, tmp_path: Path) -> None:
    with Server(over_http(Truth(), usage=(0, 0))) as server:
        done = judged(log, tmp_path / "run", server, "--max-tokens", 3000, "--concurrency", 1)
    assert done.code == 3
    assert 3 <= len(server.requests) <= 12


def test_a_call_that_fails_is_not_counted(log: Path, tmp_path: Path) -> None:
    refused = iter([None, error(400, "flagged", code="content_filter"), error(400, "flagged", code="content_filter")])
    answer = over_http(Truth())
    with Server(lambda request: next(refused, None) or answer(request)) as server:
        done = judged(log, tmp_path / "run", server, "--max-calls", 8 * CALLS - 2)
    assert done.code == 0
    assert len(server.requests) <= 8 * CALLS


USAGE = {
    "money without prices": (("--max-cost", 1), "max_cost needs the price of m (extractor): give --price-in"),
    "half a price": (("--price-in", 1), "--price-in and --price-out belong together"),
    "an unknown file": (("--prices", "nowhere.json"), "nowhere.json: No such file"),
}


@pytest.mark.parametrize(("arguments", "said"), USAGE.values(), ids=USAGE)
def test_a_cap_that_cannot_be_kept_is_refused_before_anything_is_asked(
    log: Path, tmp_path: Path, arguments: tuple[Any, ...], said: str
) -> None:
    with Server(over_http(Truth())) as server:
        done = judged(log, tmp_path / "run", server, *arguments)
    assert (done.code, said in done.err) == (2, True), done.err
    assert server.requests == []


# --- from Python -----------------------------------------------------------------------------


def test_a_scripted_judge_keeps_to_its_budget_too() -> None:
    judge = judge_that()
    judge.judge.use_budget(jk.Budget(max_calls=2))
    with pytest.raises(BudgetSpent):
        jk.score_all([row(1), row(2)], judge=judge.judge, metrics=METRICS.split(","))
    assert judge.count() == 2


def test_the_price_of_the_judge_is_not_that_of_its_embeddings() -> None:
    models = {"extractor": "big", "decider": "small", "embedder": "vectors"}
    budget = jk.Budget(price=(2, 8), prices={"small": {"in": 1, "out": 4}})
    budget.learn(models, own={"extractor", "decider"})
    assert budget.prices == {"big": Price(2, 8), "small": Price(1, 4)}
    with pytest.raises(InputError, match=r"price of vectors \(embedder\)"):
        jk.Budget(price=(2, 8), max_cost=1).learn(models, own={"extractor", "decider"})


@pytest.mark.parametrize("caps", [{"max_calls": 0}, {"max_tokens": -1}, {"max_cost": 0.0}, {"price": (1, -1)}])
def test_a_cap_of_nothing_and_a_negative_price_are_bad_input(caps: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        jk.Budget(**caps)


# --- the sum of it ---------------------------------------------------------------------------

BODY = {"messages": [{"role": "user", "content": "x" * 100}]}  # 29 tokens, and 200 for a first reply


async def one(budget: jk.Budget, used: tuple[int, int] | None) -> None:
    async with budget.one_call("m", BODY) as bill:
        await asyncio.sleep(0)
        if used is not None:
            bill.pay(*used)


@given(
    st.lists(st.one_of(st.none(), st.tuples(st.integers(1, 30), st.integers(0, 30))), max_size=30),
    st.integers(1, 12),
    st.integers(200, 2000),
)
def test_no_cap_is_passed_when_calls_take_no_more_than_expected(
    calls: list[tuple[int, int] | None], max_calls: int, max_tokens: int
) -> None:
    async def scene() -> list[object]:
        return await asyncio.gather(*(one(budget, used) for used in calls), return_exceptions=True)

    budget = jk.Budget(max_calls=max_calls, max_tokens=max_tokens)
    outcomes = asyncio.run(scene())
    assert {type(outcome) for outcome in outcomes} <= {type(None), BudgetSpent}
    paid = [used for used, outcome in zip(calls, outcomes, strict=True) if used and outcome is None]
    assert len(paid) == budget._spent.calls <= max_calls
    assert sum(map(sum, paid)) == budget._spent.tokens <= max_tokens
    assert (budget._held.calls, budget._held.tokens) == (0, 0)


def test_a_call_waits_while_what_is_in_flight_may_leave_enough() -> None:
    async def scene() -> list[object]:
        return await asyncio.gather(one(budget, (10, 10)), one(budget, (10, 10)), return_exceptions=True)

    budget = jk.Budget(max_tokens=300)  # each is expected to take 229
    assert asyncio.run(scene()) == [None, None]
    assert budget._spent.tokens == 40


def test_who_gives_up_in_line_holds_nobody_back() -> None:
    async def scene() -> None:
        budget = jk.Budget(max_calls=2)
        begun = asyncio.Event()

        async def slow() -> None:
            async with budget.one_call("m", BODY):
                begun.set()
                await asyncio.sleep(3600)

        held = [asyncio.ensure_future(slow()) for _ in range(2)]
        await begun.wait()
        waiting = [asyncio.ensure_future(one(budget, (1, 1))) for _ in range(2)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        held[0].cancel()
        await asyncio.wait_for(waiting[1], 5)
        held[1].cancel()

    asyncio.run(scene())


# --- prices ----------------------------------------------------------------------------------

BAD_PRICES = {
    "no JSON": ("{", "no JSON"),
    "a list": ("[]", "holds no object"),
    "one number": ('{"m": 3}', "m: 3 is no price"),
    "a word": ('{"m": {"in": "free", "out": 1}}', "is no price"),
    "another key": ('{"m": {"input": 1, "output": 1}}', "is no price"),
    "negative": ('{"m": {"in": -1, "out": 1}}', "is no price"),
    "infinite": ('{"m": {"in": Infinity, "out": 1}}', "is no price"),
}


@pytest.mark.parametrize(("text", "said"), BAD_PRICES.values(), ids=BAD_PRICES)
def test_a_file_of_prices_that_is_none_is_named_with_its_form(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "prices.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="money per million tokens") as refused:
        read_prices(path)
    assert said in str(refused.value)
    assert str(path) in str(refused.value)


def test_prices_are_per_million_tokens(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    path.write_text('{"m": {"in": 0.4, "out": 1.6}, "e": [0.02, 0]}', encoding="utf-8")
    assert read_prices(path) == {"m": Price(0.4, 1.6), "e": Price(0.02, 0.0)}
    assert Price(0.4, 1.6).of(2_000_000, 500_000) == pytest.approx(1.6)
    assert [money(sum_) for sum_ in (None, 0.0, 0.01234, 1234.5)] == ["unknown", "0.00", "0.0123", "1,234.50"]
