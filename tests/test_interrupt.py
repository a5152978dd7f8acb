"""A run that is interrupted sends nothing more, and what it has paid for lands."""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from misbehaving import Reply, Request, Server, late
from scripts import Truth, lines, over_http, row
from test_run_folder import command, results_of, until

import judgekit as jk
from judgekit.batch import Job, judge_log
from judgekit.errors import JudgeStop
from judgekit.metrics import metrics_of

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no such signal")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    path.write_text(lines(row(number) for number in range(1, 13)), encoding="utf-8")
    return path


class Slow:
    """A judge behind HTTP that answers each of its first calls at once, and then for a while each after `pause`."""

    def __init__(self, pause: float) -> None:
        self._answer = over_http(Truth())
        self._pause = pause
        self.asked: list[bytes] = []

    def __call__(self, request: Request) -> Reply:
        self.asked.append(request.raw)
        return late(self._answer(request), self._pause) if 5 < len(self.asked) <= 9 else self._answer(request)


ARGUMENTS = ("--judge", "m", "--metrics", "faithfulness,context_relevance", "--concurrency", 4)


def test_calls_in_flight_land_and_are_not_paid_again(log: Path, tmp_path: Path) -> None:
    slow = Slow(1.0)
    with Server(slow) as server:
        how = ("run", log, *ARGUMENTS, "--base-url", server.url)
        first = command(*how, "-o", tmp_path / "run")
        until(lambda: len(slow.asked) >= 9, first)
        first.send_signal(signal.SIGINT)
        errors = first.communicate(timeout=30)[1]
        assert (first.returncode, "Traceback" in errors) == (130, False), errors
        assert len(slow.asked) == 9, "something was sent after the interrupt"
        assert jk.load_run(tmp_path / "run").manifest.sessions[0].sent == 9
        command(*how, "-o", tmp_path / "run").communicate(timeout=60)
        assert len(slow.asked) == len(set(slow.asked)), "a reply was paid twice"
        command(*how, "-o", tmp_path / "whole").communicate(timeout=60)
    assert results_of(tmp_path / "run") == results_of(tmp_path / "whole")


def test_a_second_interrupt_waits_for_nothing(log: Path, tmp_path: Path) -> None:
    slow = Slow(60.0)
    with Server(slow) as server:
        first = command("run", log, *ARGUMENTS, "--base-url", server.url, "-o", tmp_path / "run")
        until(lambda: len(slow.asked) >= 9, first)
        first.send_signal(signal.SIGINT)
        began = time.monotonic()
        until_stopping = began + 0.3
        while time.monotonic() < until_stopping and first.poll() is None:
            time.sleep(0.01)
        assert first.poll() is None, "it did not wait for what is in flight"
        first.send_signal(signal.SIGINT)
        errors = first.communicate(timeout=30)[1]
    assert time.monotonic() - began < 4.5
    assert (first.returncode, "Traceback" in errors) == (130, False), errors


def test_a_stop_sends_nothing_that_waits_for_its_budget(log: Path, tmp_path: Path) -> None:
    sent: list[str] = []
    held = asyncio.Event()

    async def script(request: Any) -> Any:
        sent.append(request.task)
        await held.wait()
        return Truth().answer(request)

    async def scene() -> None:
        judge = jk.Judge(jk.Scripted(script), budget=jk.Budget(max_calls=3))
        job = Job(logs=[log], out=tmp_path / "run", judge=judge, metrics=metrics_of(["faithfulness"]), grace=5.0)
        run = asyncio.ensure_future(judge_log(job))
        while not sent:  # noqa: ASYNC110 - nothing announces it
            await asyncio.sleep(0.001)
        run.cancel()
        while not judge._extractor._here().is_ending:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        held.set()
        with pytest.raises((asyncio.CancelledError, JudgeStop)):
            await run
        await judge.aclose()

    asyncio.run(scene())
    assert len(sent) == 1
    assert jk.load_run(tmp_path / "run").manifest.sessions[0].sent == 1
