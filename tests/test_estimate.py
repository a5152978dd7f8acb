"""An estimate sends nothing, plans what a run plans, and is near what the run then takes."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from misbehaving import Server, error
from scripts import Truth, lines, over_http, row
from test_cli import judgekit

import judgekit as jk
from judgekit.batch import Job
from judgekit.cli.judging import _DEMO_METRICS
from judgekit.estimate import Estimate, estimate
from judgekit.judge.rehearsal import Rehearsal
from judgekit.metrics import METRICS, REFERENCE_FREE, metrics_of
from judgekit.records import Summary
from judgekit.scoring import summarize
from judgekit.wire import JudgeRequest

ROOT = Path(__file__).parents[1]
LOG = ROOT / "examples/answers.jsonl"


def estimated(log: Path, out: Path, judge: jk.Judge, *metrics: str) -> Estimate:
    return asyncio.run(estimate(Job(logs=[log], out=out, judge=judge, metrics=metrics_of([*metrics]))))


def nobody(**judge: Any) -> jk.Judge:
    return jk.Judge("qwen1.5b", base_url="http://127.0.0.1:9/v1", **judge)


def recorded(metrics: list[str]) -> Summary:
    rows = [json.loads(line) for line in LOG.read_text(encoding="utf-8").splitlines()]
    results = jk.score_all(rows, judge=jk.Judge.replay(ROOT / "cassettes/demo.jsonl"), metrics=metrics)
    return summarize(results, metrics_of(metrics))


@pytest.mark.parametrize(
    "metrics",
    [[*_DEMO_METRICS], [*REFERENCE_FREE], ["answer_correctness"], ["citation_recall", "context_relevance"]],
    ids=["demo", "default", "correctness", "two"],
)
def test_it_is_near_what_the_recorded_run_took(tmp_path: Path, metrics: list[str]) -> None:
    real, found = recorded(metrics), estimated(LOG, tmp_path / "run", nobody(), *metrics)
    pairs = [(found.together, real.usage)] + [(found.metrics[name].usage, real[name].usage) for name in metrics]
    for expected, taken in pairs:
        assert expected.calls == pytest.approx(taken.calls, rel=0.15)
        assert expected.prompt_tokens == pytest.approx(taken.prompt_tokens, rel=0.15)
        assert expected.completion_tokens == pytest.approx(taken.completion_tokens, rel=0.15)


def test_it_sends_nothing_and_writes_nothing(tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    with Server(error(500)) as server:
        where = ("--judge", "m", "--base-url", server.url, "--cache", tmp_path / "cache", "--estimate")
        done = judgekit("run", LOG, "-o", tmp_path / "run", *where)
    assert (done.code, server.requests) == (0, [])
    assert "Estimate for 12 rows; nothing was sent" in done.out
    assert sorted(tmp_path.rglob("*")) == before


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    path.write_text(lines(row(number) for number in range(1, 7)), encoding="utf-8")
    return path


EVERY = [name for name in METRICS if name != "answer_relevance_embedding"]


def test_where_a_sentence_is_a_claim_its_calls_are_those_of_the_run(log: Path, tmp_path: Path) -> None:
    with Server(over_http(Truth())) as server, jk.Judge("m", base_url=server.url, embedding_model="e") as judge:
        found = estimated(log, tmp_path / "run", judge, *METRICS)
        run = jk.judge_log(log, out=tmp_path / "run", judge=judge, metrics=[*METRICS])
    summary = run.summary()
    reverse = found.by_task.pop("reverse"), summary.usage_by_task.pop("reverse")
    assert reverse[0].calls == reverse[1].calls
    counts = {task: usage.calls for task, usage in found.by_task.items()}
    assert counts == {task: usage.calls for task, usage in summary.usage_by_task.items()}
    assert found.together.calls == summary.usage.calls == len(server.requests)


def test_what_is_kept_is_free_and_its_replies_are_taken_as_they_were(log: Path, tmp_path: Path) -> None:
    rest = tmp_path / "rest.jsonl"
    rest.write_text(lines(row(number) for number in range(4, 7)), encoding="utf-8")
    half = tmp_path / "half.jsonl"
    half.write_text(lines(row(number) for number in range(1, 4)), encoding="utf-8")
    with Server(over_http(Truth())) as server, jk.Judge("m", base_url=server.url, cache=tmp_path / "cache") as judge:
        jk.judge_log(half, out=tmp_path / "half", judge=judge, metrics=EVERY)
        asked = len(server.requests)
        found = estimated(log, tmp_path / "run", judge, *EVERY)
        assert found.kept == asked
        assert found.together == estimated(rest, tmp_path / "run", judge, *EVERY).together
        jk.judge_log(log, out=tmp_path / "run", judge=judge, metrics=EVERY)
        everything = estimated(log, tmp_path / "run", judge, *EVERY)
    assert everything.together.calls == 0
    assert everything.kept == len(server.requests) == asked + found.together.calls
    assert judge.meters["extractor"].sent == len(server.requests)


def test_a_run_that_stopped_is_estimated_from_where_it_stopped(log: Path, tmp_path: Path) -> None:
    with Server(over_http(Truth())) as server:
        where = ("--judge", "m", "--base-url", server.url, "--metrics", "faithfulness")
        whole = json.loads(judgekit("run", log, "-o", tmp_path / "run", *where, "--estimate", "--json").out)
        judgekit("run", log, "-o", tmp_path / "run", *where, "--max-calls", 5)
        left = json.loads(judgekit("run", log, "-o", tmp_path / "run", *where, "--estimate", "--json").out)
    assert whole["together"]["calls"] == 12
    assert left["together"]["calls"] == 7
    assert left["kept"] == 5
    assert left["together"]["cost"] is None  # no price was given


def test_it_counts_money_at_the_prices_of_the_parts(log: Path, tmp_path: Path) -> None:
    prices = {"big": (2.0, 8.0), "vectors": (0.1, 0.0)}
    judge = jk.Judge(
        "big", base_url="http://127.0.0.1:9/v1", embedding_model="vectors", budget=jk.Budget(prices=prices)
    )
    found = estimated(log, tmp_path / "run", judge, "answer_relevance_embedding")
    tasks = dict(found.by_task)
    vectors = tasks.pop("likeness")
    assert vectors.calls == 6
    assert vectors.completion_tokens == 0
    assert vectors.cost == pytest.approx(vectors.prompt_tokens * 0.1 / 1e6)
    spoken = sum(task.prompt_tokens * 2 + task.completion_tokens * 8 for task in tasks.values()) / 1e6
    assert found.together.cost == pytest.approx(spoken + (vectors.cost or 0.0))


def test_a_judge_that_writes_one_token_or_none_is_taken_for_what_it_is(log: Path, tmp_path: Path) -> None:
    written = estimated(log, tmp_path / "run", nobody(), "faithfulness").by_task["verify"]
    read_out = estimated(log, tmp_path / "run", nobody(readout=True), "faithfulness").by_task["verify"]
    assert (written.calls, read_out.calls) == (6, 12)  # two claims a row, one a call
    assert read_out.completion_tokens == 12 < written.completion_tokens


def test_the_same_from_python(log: Path, tmp_path: Path) -> None:
    found = jk.estimate_log(log, out=tmp_path / "run", judge=nobody(), metrics="faithfulness")
    assert found == estimated(log, tmp_path / "run", nobody(), "faithfulness")
    assert (found.rows, found.together.calls, found.metrics["faithfulness"].usage) == (6, 12, found.together)


def test_every_vote_of_a_panel_is_a_call(log: Path, tmp_path: Path) -> None:
    judge = nobody(panel=["another"], votes=3, params={"temperature": 1})
    found = estimated(log, tmp_path / "run", judge, "faithfulness").by_task
    assert (found["split answer"].calls, found["verify"].calls) == (6, 6 * 2 * 3)


def test_a_bad_log_is_named_before_anything_is_counted(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text('{"question": "?"}\n', encoding="utf-8")
    where = ("--judge", "m", "--base-url", "http://127.0.0.1:9/v1")
    done = judgekit("run", log, "-o", tmp_path / "run", *where, "--estimate")
    assert done.code == 2
    assert f"{log}:1" in done.err


@pytest.mark.parametrize(("words", "pieces"), [(1, 1), (11, 1), (12, 2), (23, 2), (24, 3)])
def test_a_text_is_taken_to_hold_one_claim_for_every_twelve_words_begun(words: int, pieces: int) -> None:
    text = " ".join(f'w"{n}' for n in range(words))
    question = {"id": "s1", "kind": "texts", "ask": "?", "text": json.dumps(text)}
    asked = JudgeRequest.model_validate({"task": "t", "role": "r", "input": "i", "questions": [question]})
    paper = Rehearsal(jk.Scripted(lambda _request: {}))
    _, reply = asyncio.run(paper.send(asked))
    found = paper.read(asked, reply)["s1"].texts
    assert found is not None
    assert len(found) == pieces
    assert " ".join(found) == text
