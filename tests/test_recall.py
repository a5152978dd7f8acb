"""Rows that another run judged are found again whole, where runs share a cache, and only where they are the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from misbehaving import Server, chat
from scripts import Truth, lines, over_http, row

import judgekit as jk
from judgekit.judge.store import Store
from judgekit.records import Options

METRICS = ["faithfulness", "citation_support", "context_precision", "answer_relevance"]
MODEL = "m-2026-01-01"
TRUTH = Truth(labels=lambda claim, _: "supported" if "litres" in claim else "unsupported")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    path.write_text(lines(row(number) for number in range(1, 6)), encoding="utf-8")
    return path


def judged(log: Path, out: Path, server: Server, *, metrics: Any = METRICS, **more: Any) -> jk.Run:
    judge = {"cache": log.parent / "cache", "base_url": server.url, **more}
    options = judge.pop("options", Options())
    with jk.Judge(MODEL, **judge) as one:
        run = jk.judge_log(log, out=out, judge=one, metrics=metrics, options=options)
        run_meter = one.meters["extractor"]
    assert run_meter.sent + run_meter.reused == sum(len(result.calls) for result in run)
    return run


def kept_rows(folder: Path) -> dict[str, Any]:
    store = Store(folder)
    try:
        return {key: json.loads(store.get(key) or "") for key in list(store.keys()) if key.startswith("row:")}
    finally:
        store.close()


def test_a_run_of_the_same_rows_has_the_same_bytes_and_sends_nothing(log: Path, tmp_path: Path) -> None:
    with Server(over_http(TRUTH)) as server:
        first = judged(log, tmp_path / "first", server)
        paid = len(server.requests)
        again = judged(log, tmp_path / "again", server)
        assert len(server.requests) == paid
    assert len(kept_rows(tmp_path / "cache")) == 5
    assert (first.folder / "results.jsonl").read_bytes() == (again.folder / "results.jsonl").read_bytes()


def test_it_is_the_kept_row_that_is_served(log: Path, tmp_path: Path) -> None:
    """Shown by a verdict that was turned in the kept row alone: scores are computed anew from what is there."""
    with Server(over_http(TRUTH)) as server:
        judged(log, tmp_path / "first", server)
        store = Store(tmp_path / "cache")
        for key in list(store.keys()):
            if key.startswith("row:"):
                store.put(key, (store.get(key) or "").replace('"unsupported"', '"supported"'))
        store.close()
        run = judged(log, tmp_path / "again", server)
    assert {result["faithfulness"].value for result in run} == {1.0}


@pytest.mark.parametrize(
    "change",
    [
        {"metrics": ["faithfulness", "context_precision"]},
        {"metrics": [*METRICS, "refusal"]},
        {"options": Options(split="segments")},
        {"options": Options(evidence="required")},
        {"params": {"seed": 8}},
    ],
    ids=str,
)
def test_another_question_is_another_row(log: Path, tmp_path: Path, change: dict[str, Any]) -> None:
    with Server(over_http(TRUTH)) as server:
        judged(log, tmp_path / "first", server)
        before = set(kept_rows(tmp_path / "cache"))
        changed = judged(log, tmp_path / "changed", server, **change)
        fresh = judged(log, tmp_path / "fresh", server, **change, cache=tmp_path / "another")
    assert len(set(kept_rows(tmp_path / "cache")) - before) == 5
    assert (changed.folder / "results.jsonl").read_bytes() == (fresh.folder / "results.jsonl").read_bytes()


def test_a_changed_row_is_judged(log: Path, tmp_path: Path) -> None:
    with Server(over_http(TRUTH)) as server:
        judged(log, tmp_path / "first", server)
        log.write_text(lines(row(n, answer=f"Tank {n} leaks.") for n in range(1, 6)), encoding="utf-8")
        run = judged(log, tmp_path / "changed", server)
    assert {result["faithfulness"].value for result in run} == {0.0}


def test_a_row_in_which_anything_failed_is_asked_for_again(log: Path, tmp_path: Path) -> None:
    well = over_http(TRUTH)
    with Server(
        lambda one: chat("I would rather not.", model=MODEL) if "Tank 3 " in str(one.body) else well(one)
    ) as server:
        judged(log, tmp_path / "first", server)
        assert len(kept_rows(tmp_path / "cache")) == 4
        server._handler = well
        run = judged(log, tmp_path / "again", server)
    assert all(result.is_finished for result in run)


@pytest.mark.parametrize("text", ["", "{}", "[", '{"case": 7}', '{"case": {"sample": {"id": "r1"}}}'])
def test_a_kept_row_that_cannot_be_read_is_a_miss(log: Path, tmp_path: Path, text: str) -> None:
    with Server(over_http(TRUTH)) as server:
        first = judged(log, tmp_path / "first", server)
        store = Store(tmp_path / "cache")
        for key in list(store.keys()):
            if key.startswith("row:"):
                store.put(key, text)
        store.close()
        again = judged(log, tmp_path / "again", server)
    assert (first.folder / "results.jsonl").read_bytes() == (again.folder / "results.jsonl").read_bytes()


class Strict(jk.Metric):
    """A metric of one's own whose code changes between two runs."""

    name = "strict"
    worth_of_all = 1.0

    def checks(self, case: Any) -> list[Any]:
        return []

    def score(self, case: Any) -> jk.Score:
        return jk.Score(metric=self.name, value=self.worth_of_all)


def test_scores_are_computed_anew_by_the_metrics_as_they_are(log: Path, tmp_path: Path) -> None:
    class Stricter(Strict):
        worth_of_all = 0.25

    with Server(over_http(TRUTH)) as server:
        judged(log, tmp_path / "first", server, metrics=["faithfulness", Strict()])
        run = judged(log, tmp_path / "again", server, metrics=["faithfulness", Stricter()])
    assert {result["strict"].value for result in run} == {0.25}


def test_without_a_cache_of_its_own_and_while_recording_no_row_is_kept(log: Path, tmp_path: Path) -> None:
    with Server(over_http(TRUTH)) as server:
        judged(log, tmp_path / "first", server, cache=None)
        assert kept_rows(tmp_path / "first" / "cache") == {}
        with jk.Judge(MODEL, base_url=server.url, cache=tmp_path / "cache") as judge:
            judge.record()
            jk.judge_log(log, out=tmp_path / "recorded", judge=judge, metrics=METRICS)
            judge.write_cassette(tmp_path / "tape")
        assert kept_rows(tmp_path / "cache") == {}
    replayed = jk.judge_log(log, out=tmp_path / "replay", judge=jk.Judge.replay(tmp_path / "tape"), metrics=METRICS)
    assert len(replayed) == 5
