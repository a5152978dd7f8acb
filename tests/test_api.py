"""Python: one answer, many, a log; synchronous in any surroundings; and wrong calls that say what is wrong."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import signal
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from scripts import forbidden, judge_that, lines, row

import judgekit as jk
from judgekit.errors import InputError

GIVEN = {"question": "What is it?", "answer": "The tank is blue.", "contexts": ["A blue tank."]}


def faithful() -> float | None:
    result = jk.score(**GIVEN, judge=judge_that().judge, metrics="faithfulness")
    return result["faithfulness"].value


# --- one answer ------------------------------------------------------------------------------------------


def test_one_answer_is_scored_with_everything_it_rests_on() -> None:
    result = jk.score(**GIVEN, judge=judge_that(form="text").judge)
    assert [score.metric for score in result.scores] == list(jk.metrics.REFERENCE_FREE)
    assert [claim.text for claim in result.claims] == ["The tank is blue."]
    assert result.verdicts[0].evidence[0].quote == "A blue tank"
    with pytest.raises(KeyError, match="no score 'x'; this result has: faithfulness"):
        result["x"]


def test_contexts_may_be_texts_mappings_or_records() -> None:
    contexts = ("a", {"id": "d", "text": "b", "page": 4}, jk.Context(id="e", text="c", metadata={"k": 1}))
    result = jk.score(**{**GIVEN, "contexts": contexts}, judge=judge_that().judge, metrics="faithfulness")
    assert result.case.sample.contexts == (
        jk.Context(id="1", text="a"),
        jk.Context(id="d", text="b", metadata={"page": 4}),
        jk.Context(id="e", text="c", metadata={"k": 1}),
    )


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "contexts a text": ({"contexts": "A blue tank."}, "contexts: a str where a list is expected"),
    "contexts nothing": ({"contexts": None}, "contexts: null"),
    "contexts a mapping": ({"contexts": {"1": "x"}}, "contexts: a dict"),
    "a context a number": ({"contexts": [7]}, r"contexts\[0\]: an int"),
    "no answer": ({"answer": None}, "answer: null"),
    "a question a number": ({"question": 3}, "question: an int"),
    "a reference a list": ({"reference": ["x"]}, "reference: a list"),
    "half an emoji": ({"answer": "nice \ud83d"}, "answer: holds half a character"),
    "an unknown metric": ({"metrics": "faithfullness"}, "did you mean 'faithfulness'"),
    "no metric": ({"metrics": []}, "no metric chosen"),
    "the class of a metric": ({"metrics": [jk.Metric]}, "not a metric: the class Metric"),
}


@pytest.mark.parametrize(("change", "said"), WRONG.values(), ids=WRONG)
def test_a_wrong_call_says_what_is_wrong_and_asks_nothing(change: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        jk.score(**{**GIVEN, **change}, judge=forbidden().judge)


# --- many -----------------------------------------------------------------------------------------------------


def test_rows_and_records_can_be_mixed_and_keep_their_order() -> None:
    samples = [row(1), jk.Sample(id="mine", question="?", answer="The tank is blue."), {**GIVEN}]
    results = jk.score_all(samples, judge=judge_that(latency=1).judge, metrics="faithfulness")
    assert [result.id for result in results] == ["r1", "mine", "3"]


def test_a_list_with_a_bad_row_is_refused_before_anything_is_asked() -> None:
    with pytest.raises(InputError, match="row 2: contexts: a str"):
        jk.score_all([row(1), {**GIVEN, "contexts": "x"}], judge=forbidden().judge)


def test_memory_does_not_grow_with_the_number_of_samples() -> None:
    """A thousand samples more, read from a generator and dropped as they come, leave no more behind than a hundred."""
    kilobyte = "x" * 1000

    def samples(count: int) -> Iterator[jk.Sample]:
        for n in range(count):
            yield jk.Sample(id=str(n), question="?", answer="", metadata={"load": kilobyte + str(n)})

    async def drain(count: int) -> int:
        judge, most = forbidden().judge, 0
        gc.collect()
        tracemalloc.start()
        async for result in jk.ascore_all(samples(count), judge=judge, metrics="faithfulness"):
            assert result["faithfulness"].value is None
            most = max(most, tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
        return most

    asyncio.run(drain(20))
    few, many = asyncio.run(drain(100)), asyncio.run(drain(1100))
    assert many < few + 300_000


# --- surroundings ----------------------------------------------------------------------------------------------


def test_synchronous_calls_work_inside_a_running_loop() -> None:
    async def notebook() -> float | None:
        return faithful()

    assert asyncio.run(notebook()) == 1.0


def test_synchronous_calls_work_inside_uvloop() -> None:
    uvloop = pytest.importorskip("uvloop")

    async def served() -> float | None:
        assert "uvloop" in type(asyncio.get_running_loop()).__module__
        result = await jk.ascore(**GIVEN, judge=judge_that().judge, metrics="faithfulness")
        return faithful() if result["faithfulness"].value == 1.0 else None

    assert uvloop.run(served()) == 1.0


def test_synchronous_calls_work_from_several_threads_with_one_judge() -> None:
    judge = judge_that(latency=2)
    found: list[list[str]] = []

    def work(start: int) -> None:
        rows = [row(n) for n in range(start, start + 5)]
        found.append([result.id for result in jk.score_all(rows, judge=judge.judge, metrics="faithfulness")])

    threads = [threading.Thread(target=work, args=(n * 10,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(found) == sorted([f"r{n * 10 + k}" for k in range(5)] for n in range(6))
    assert sum(thread.name == "judgekit" for thread in threading.enumerate()) == 1


def test_one_judge_serves_one_loop_after_another() -> None:
    judge = judge_that()

    async def once() -> float | None:
        return (await jk.ascore(**GIVEN, judge=judge.judge, metrics="faithfulness"))["faithfulness"].value

    assert [asyncio.run(once()), asyncio.run(once()), faithful()] == [1.0, 1.0, 1.0]
    assert judge.count() == 2


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_has_a_loop_of_its_own() -> None:
    assert faithful() == 1.0
    fork = multiprocessing.get_context("fork")
    results = fork.Queue()
    child = fork.Process(target=lambda: results.put(faithful()), daemon=True)
    child.start()
    try:
        assert results.get(timeout=20) == 1.0
    finally:
        child.terminate()
        child.join(20)
        results.close()
        results.join_thread()


def test_calling_back_into_the_synchronous_functions_is_refused_instead_of_hanging() -> None:
    def spoil(_request: object, said: dict[str, Any]) -> dict[str, Any]:
        faithful()
        return said

    with pytest.raises(InputError, match="await ascore"):
        jk.score(**GIVEN, judge=judge_that(spoil=spoil).judge)


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal")
def test_an_interrupt_stops_the_work_and_leaves_an_orderly_run(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(lines(row(n) for n in range(1, 9)), encoding="utf-8")
    main, pressed = threading.main_thread().ident, threading.Event()

    def spoil(request: Any, said: dict[str, Any]) -> dict[str, Any]:
        if "Tank 5 " in request.input and not pressed.is_set():
            pressed.set()
            signal.pthread_kill(main or 0, signal.SIGINT)
            time.sleep(0.05)
        return said

    with pytest.raises(KeyboardInterrupt):
        jk.judge_log(log, out=tmp_path / "run", judge=judge_that(spoil=spoil, concurrency=1).judge)
    assert jk.load_run(tmp_path / "run").manifest.sessions[-1].ended is not None
    run = jk.judge_log(log, out=tmp_path / "run", judge=judge_that().judge)
    assert [result.id for result in run] == [f"r{n}" for n in range(1, 9)]


# --- a log ------------------------------------------------------------------------------------------------------


def test_a_log_is_judged_into_a_folder_and_loaded_from_it(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(lines([row(1), row(2)]), encoding="utf-8")
    run = jk.judge_log(str(log), out=str(tmp_path / "run"), judge=judge_that().judge, metrics=["faithfulness"])
    assert run.summary()["faithfulness"].macro == 1.0
    assert list(jk.load_run(tmp_path / "run")) == list(run)
    assert run["r2"].claims[0].citations == ("1",)
    with pytest.raises(KeyError, match="no metric 'x'; this run has: faithfulness"):
        run.summary()["x"]


FRAMES: dict[str, Callable[[jk.Run], Any]] = {"pandas": jk.Run.to_pandas, "polars": jk.Run.to_polars}


@pytest.mark.parametrize("library", FRAMES)
def test_rows_become_a_data_frame(library: str, tmp_path: Path) -> None:
    pytest.importorskip(library)
    log = tmp_path / "log.jsonl"
    log.write_text(lines([row(1), row(2)]), encoding="utf-8")
    run = jk.judge_log(log, out=tmp_path / "run", judge=judge_that().judge, metrics="faithfulness")
    frame = FRAMES[library](run)
    assert list(frame["faithfulness"]) == [1.0, 1.0]


def test_the_public_names_are_sorted_and_there() -> None:
    constants_first = sorted(jk.__all__, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    assert constants_first == jk.__all__
    assert all(hasattr(jk, name) for name in jk.__all__)
