"""What a run took, metric by metric: each line is true alone, and together they are the whole."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from scripts import judge_that, row
from test_cli import judgekit

import judgekit as jk
from judgekit.cli.judging import _DEMO_METRICS
from judgekit.cli.progress import spent_line
from judgekit.metrics import METRICS, metrics_of
from judgekit.records import JudgeCall, Need, Result, Summary, Usage
from judgekit.scoring import summarize
from judgekit.scoring.spending import TASKS, Spending

ROOT = Path(__file__).parents[1]
ROWS = [json.loads(line) for line in (ROOT / "examples/answers.jsonl").read_text(encoding="utf-8").splitlines()]


def replayed(metrics: list[str]) -> Summary:
    results = jk.score_all(ROWS, judge=jk.Judge.replay(ROOT / "cassettes/demo.jsonl"), metrics=metrics)
    return summarize(results, metrics_of(metrics), prices={"extractor": (2.0, 8.0)})


@pytest.fixture(scope="module")
def whole() -> Summary:
    return replayed([*_DEMO_METRICS])


@pytest.mark.parametrize("metric", _DEMO_METRICS)
def test_a_metrics_line_is_what_it_takes_alone(whole: Summary, metric: str) -> None:
    alone = replayed([metric])
    assert whole[metric].usage == alone.usage
    assert alone[metric].own == alone.usage


@pytest.mark.parametrize("metric", _DEMO_METRICS)
def test_its_own_calls_are_what_leaving_it_out_saves(whole: Summary, metric: str) -> None:
    without = replayed([name for name in _DEMO_METRICS if name != metric])
    assert whole[metric].own.calls == whole.usage.calls - without.usage.calls
    assert whole[metric].own.prompt_tokens == whole.usage.prompt_tokens - without.usage.prompt_tokens


def test_the_tasks_add_up_to_the_whole_and_so_does_the_money(whole: Summary) -> None:
    tasks = whole.usage_by_task.values()
    assert sum(task.calls for task in tasks) == whole.usage.calls
    assert sum(task.prompt_tokens for task in tasks) == whole.usage.prompt_tokens
    expected = (whole.usage.prompt_tokens * 2 + whole.usage.completion_tokens * 8) / 1_000_000
    assert whole.usage.cost == pytest.approx(expected)
    assert sum(task.cost or 0.0 for task in tasks) == pytest.approx(expected)


def test_every_need_says_which_calls_answer_it() -> None:
    assert TASKS.keys() == set(Need)
    judge = judge_that(asks={row(1)["question"]: ["one?", "two?"]})
    (result,) = jk.score_all(
        [row(1)], judge=judge.judge, metrics=[*METRICS.values(), jk.Rubric(name="r", criterion="It is so.")]
    )
    known = {task for tasks in TASKS.values() for task in tasks} | {"verify", "rubric"}
    assert {call.task for call in result.calls} <= known
    spending = Spending(metrics_of([*METRICS.values(), jk.Rubric(name="r", criterion="It is so.")]), {})
    spending.add(result)
    assert spending.own_of("r").calls == 1
    assert spending.together.calls == result.usage.calls == judge.count()


def a_call(key: str, part: str, prompt: int, completion: int) -> JudgeCall:
    return JudgeCall(key=key, task="verify", part=part, prompt_tokens=prompt, completion_tokens=completion)


def spent(*calls: JudgeCall, listed: int | None = None, **prices: tuple[float, float]) -> Usage:
    (result,) = jk.score_all([row(1)], judge=judge_that().judge, metrics=["faithfulness"])
    usage = Usage.of(calls) if listed is None else Usage(calls=listed)
    spending = Spending((), prices)
    spending.add(Result(case=result.case, calls=calls, usage=usage))
    return spending.together


def test_each_part_has_its_price_and_what_is_not_known_is_not_0() -> None:
    split, verify = a_call("a", "extractor", 1000, 100), a_call("b", "decider", 2000, 0)
    both = spent(split, verify, extractor=(1.0, 10.0), decider=(0.5, 0.0))
    assert both.cost == pytest.approx((1000 + 1000 + 1000) / 1e6)
    assert spent(split, verify, extractor=(1.0, 10.0)).cost is None
    assert spent(a_call("a", "extractor", 0, 0), extractor=(1.0, 10.0)).cost is None  # it did not say what it used
    assert spent(listed=3, extractor=(1.0, 10.0)).cost is None  # a row that does not list its calls
    assert spent(extractor=(1.0, 10.0)).cost == 0.0


def test_the_report_and_its_json_hold_calls_tokens_and_money(tmp_path: Path) -> None:
    prices = tmp_path / "prices.json"
    prices.write_text('{"qwen1.5b": {"in": 1, "out": 2}}', encoding="utf-8")
    demo = ("--cassette", ROOT / "cassettes/demo.jsonl", "--prices", prices)
    asked = ("--metrics", "faithfulness,citation_support")
    done = judgekit("run", ROOT / "examples/answers.jsonl", "-o", tmp_path / "run", *asked, *demo)
    assert "Paid      0 calls, cost 0.00; 38 kept replies were free" in done.out
    for line in ("faithfulness         23   8,029       1,370  0.0108         11", "together             38"):
        assert line in done.out
    found: dict[str, Any] = json.loads(judgekit("report", tmp_path / "run", "--json").out)
    usage = found["metrics"]["faithfulness"]["usage"]
    assert usage == {"calls": 23, "prompt_tokens": 8029, "completion_tokens": 1370, "cost": pytest.approx(0.010769)}
    assert found["usage"]["cost"] == pytest.approx(sum(task["cost"] for task in found["usage_by_task"].values()))
    row_shown = judgekit("report", tmp_path / "run", "--row", "canada-2023").out
    assert re.search(r"Rests on \d+ calls, .* completion tokens, cost 0\.\d{4}", row_shown)


def test_the_progress_line_tells_rate_and_money_where_they_are_known() -> None:
    judge = jk.Judge(jk.Scripted(lambda _request: {}), budget=jk.Budget(prices={"scripted": (2.0, 8.0)}))
    assert spent_line(judge, 60.0) == "0 calls, 0 from cache, 0 tokens, cost 0.00"
    meter = judge.meters["extractor"]
    meter.sent, meter.reused, meter.prompt_tokens, meter.completion_tokens = 30, 1200, 4000, 500
    assert spent_line(judge, 90.0) == "30 calls (20/min), 1,200 from cache, 4,500 tokens, cost 0.0120"
    judge.use_budget(jk.Budget())
    assert spent_line(judge, 90.0) == "30 calls (20/min), 1,200 from cache, 4,500 tokens"
