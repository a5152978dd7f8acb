"""Judging by batches: the same numbers as live, nothing sent twice, and foreign results believed only where they answer
what was asked."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from batch_server import BatchServer, Line, instead, with_body
from misbehaving import Reply, Request, Server, answer, broken_off, chat, error, no_answer, reset, truncated
from scripts import Truth, judge_that, lines, over_http, row
from test_cli import Done, judgekit

import judgekit as jk
from judgekit.batch import Job, judge_log
from judgekit.errors import (
    BatchUnderWay,
    InputError,
    JudgeDrift,
    JudgekitError,
    JudgeUnreachable,
    JudgeUnusable,
)
from judgekit.judge import Judge
from judgekit.judge.endpoint import Endpoint
from judgekit.judge.later import Inbox
from judgekit.judge.store import Store
from judgekit.metrics import metrics_of
from judgekit.rundir import RESULTS
from judgekit.waves import BATCHES, Parcels, Posting, bring_in

ROOT = Path(__file__).parents[1]
TRUTH = Truth(labels={"It is painted blue.": "unsupported"}, grades=[3, 1])
METRICS = ("faithfulness", "citation_support", "context_precision", "answer_relevance", "context_recall")
ROWS = 6
#: In a prompt that asks a second time.
AGAIN = "This was asked before"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    path.write_text(lines(row(n) for n in range(1, ROWS + 1)), encoding="utf-8")
    return path


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "run"


class Patience:
    """A clock and a sleep that take no time, and what was waited for."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds
        assert len(self.pauses) < 1000, "waits for ever"

    def clock(self) -> float:
        return self.now


def posting(patience: Patience | None = None, **how: Any) -> Posting:
    patience = patience or Patience()
    return Posting(clock=patience.clock, sleep=patience.sleep, **how)


def judge_at(server: Server, **more: Any) -> Judge:
    return Judge("m", base_url=server.url, **{"max_attempts": 1, **more})


def run(
    log: Path,
    out: Path,
    server: Server,
    how: Posting | None = None,
    *,
    metrics: Any = METRICS,
    judge: Judge | None = None,
) -> jk.Run:
    """The log judged by a judge of its own, as a new process would."""

    async def work() -> jk.Run:
        async with judge or judge_at(server) as asked:
            return await judge_log(Job(logs=[log], out=out, judge=asked, metrics=metrics_of(metrics), posting=how))

    return asyncio.run(work())


def results(out: Path) -> bytes:
    return (out / RESULTS).read_bytes()


# --- the same as live ----------------------------------------------------------------------------------------


def test_a_run_by_batches_is_the_live_run_byte_for_byte(log: Path, out: Path) -> None:
    api = BatchServer(over_http(TRUTH), steps=("validating", "in_progress", "finalizing"))
    with Server(api) as server:
        run(log, out, server, posting())
        run(log, out.with_name("live"), server)
    assert results(out) == results(out.with_name("live"))
    manifest, live = jk.load_run(out).manifest, jk.load_run(out.with_name("live")).manifest
    assert manifest.metrics == live.metrics
    assert manifest.sessions[0].sent == live.sessions[0].sent
    assert manifest.sessions[0].prompt_tokens == live.sessions[0].prompt_tokens


def test_one_request_goes_out_live_and_all_others_by_waves(log: Path, out: Path) -> None:
    api = BatchServer(over_http(TRUTH))
    with Server(api) as server:
        run(log, out, server, posting())
    assert len(api.live) == 1
    sent = [len(api.lines_of(number)) for number in (1, 2)]
    assert len(api.batches) == 2
    assert sum(sent) == len(api.files["file-1"].splitlines()) + len(api.files["file-3"].splitlines())
    assert 1 + sum(sent) == jk.load_run(out).manifest.sessions[0].sent
    assert {name["purpose"] for name in api.uploads} == {"batch"}
    assert [name["filename"] for name in api.uploads] == ["wave-1-1.jsonl", "wave-2-2.jsonl"]


def test_a_request_line_is_what_the_api_asks_for(log: Path, out: Path) -> None:
    api = BatchServer(over_http(TRUTH))
    with Server(api) as server:
        run(log, out, server, posting())
    for line in api.lines_of(1):
        assert line.keys() == {"custom_id", "method", "url", "body"}
        assert (line["method"], line["url"], line["body"]["model"]) == ("POST", "/v1/chat/completions", "m")
        assert len(line["custom_id"]) <= 64


def test_a_finished_run_asks_nothing_and_leaves_nothing_behind(log: Path, out: Path) -> None:
    api = BatchServer(over_http(TRUTH))
    with Server(api) as server:
        run(log, out, server, posting())
        assert not (out / BATCHES).exists()
        before, asked = results(out), len(server.requests)
        run(log, out, server, posting())
        assert len(server.requests) == asked
    assert results(out) == before


def test_another_metric_sends_only_what_is_new(log: Path, out: Path) -> None:
    api = BatchServer(over_http(TRUTH))
    with Server(api) as server:
        run(log, out, server, posting(), metrics=["faithfulness"])
        done = len(api.batches)
        run(log, out, server, posting(), metrics=["faithfulness", "citation_support"])
    assert len(api.live) == 1
    new = [line for number in range(done + 1, len(api.batches) + 1) for line in api.lines_of(number)]
    old = [line for number in range(1, done + 1) for line in api.lines_of(number)]
    assert {line["custom_id"] for line in new}.isdisjoint(line["custom_id"] for line in old)


def test_what_a_reply_leaves_open_is_asked_again_with_the_next_wave(log: Path, out: Path) -> None:
    whole = over_http(TRUTH)

    def forgetful(request: Request) -> Reply:
        user = request.body["messages"][1]["content"]
        return chat("I cannot say.") if "Tank 3 " in user and AGAIN not in user else whole(request)

    api = BatchServer(forgetful)
    with Server(api) as server:
        run(log, out, server, posting(), metrics=["faithfulness"])
        run(log, out.with_name("live"), server, metrics=["faithfulness"])
    assert results(out) == results(out.with_name("live"))
    assert len(api.batches) == 4  # split and verify, each twice for tank 3


def test_embeddings_go_out_in_files_of_their_own(log: Path, out: Path) -> None:
    api = BatchServer(over_http(TRUTH))
    metrics = ["answer_relevance_embedding", "faithfulness"]
    with Server(api) as server:
        run(log, out, server, posting(), metrics=metrics, judge=judge_at(server, embedding_model="e"))
        other = out.with_name("live")
        run(log, other, server, metrics=metrics, judge=judge_at(server, embedding_model="e"))
    assert results(out) == results(other)
    assert {batch["endpoint"] for batch in api.batches} == {"/v1/chat/completions", "/v1/embeddings"}


def test_a_panel_and_repeated_votes_are_asked_by_batches_too(log: Path, out: Path) -> None:
    api = BatchServer(over_http(TRUTH))
    other = out.with_name("live")
    with Server(api) as server:
        for folder, how in ((out, posting()), (other, None)):
            judge = judge_at(server, panel=["n"], votes=2, params={"temperature": 0.5})
            run(log, folder, server, how, metrics=["faithfulness"], judge=judge)
    assert results(out) == results(other)
    assert {line["body"]["model"] for n in range(len(api.batches)) for line in api.lines_of(n + 1)} == {"m", "n"}
    assert all(len({line["body"]["model"] for line in api.lines_of(n + 1)}) == 1 for n in range(len(api.batches)))


def test_a_readout_is_asked_by_batches_too(log: Path, out: Path) -> None:
    def lettered(request: Request) -> Reply:
        if not request.body.get("logprobs"):
            return over_http(TRUTH)(request)
        listed = [{"token": "A", "logprob": -0.1}, {"token": "B", "logprob": -2.5}]
        return chat("A", logprobs={"content": [{**listed[0], "top_logprobs": listed}]})

    api = BatchServer(lettered)
    other = out.with_name("live")
    with Server(api) as server:
        for folder, how in ((out, posting()), (other, None)):
            run(log, folder, server, how, metrics=["faithfulness"], judge=judge_at(server, readout=True))
    assert results(out) == results(other)


def test_a_part_that_is_missing_now_is_named(log: Path, out: Path) -> None:
    api = BatchServer(over_http(TRUTH), steps=("in_progress",))
    metrics = ["answer_relevance_embedding"]
    with Server(api) as server:
        for _wave in (1, 2):
            with pytest.raises(BatchUnderWay):
                run(
                    log,
                    out,
                    server,
                    posting(longest_wait=0),
                    metrics=metrics,
                    judge=judge_at(server, embedding_model="e"),
                )
        with pytest.raises(InputError, match=r"batch_2: asked of a judge that has a part more \(embedder\)"):
            run(log, out, server, posting(), metrics=["faithfulness"])


def test_files_keep_to_the_size_that_was_asked_for(log: Path, out: Path) -> None:
    api = BatchServer(over_http(TRUTH))
    with Server(api) as server:
        run(log, out, server, posting(size=4))
        run(log, out.with_name("live"), server)
    assert max(len(api.lines_of(number + 1)) for number in range(len(api.batches))) == 4
    assert results(out) == results(out.with_name("live"))


def test_a_small_wave_is_asked_live(log: Path, out: Path) -> None:
    api = BatchServer(over_http(TRUTH))
    with Server(api) as server:
        run(log, out, server, posting(least=1000))
        assert api.batches == []
        run(log, out.with_name("live"), server)
    assert results(out) == results(out.with_name("live"))


# --- stopped and taken up ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rounds", [0, 1, 2, 3])
def test_a_session_that_leaves_a_batch_is_gone_on_with_by_the_next(log: Path, out: Path, rounds: int) -> None:
    api = BatchServer(over_http(TRUTH), steps=("validating", "in_progress", "in_progress2", "finalizing"))
    sessions, told = 0, list[str]()
    with Server(api) as server:
        while True:
            sessions += 1
            patience = Patience()
            try:
                run(log, out, server, posting(patience, longest_wait=2.0 * rounds))
                break
            except BatchUnderWay as left:
                told.append(str(left))
            assert sessions < 40
        uploads = len(api.uploads)
        run(log, out.with_name("live"), server)
    assert {left.partition(";")[0] for left in told} == {"not done yet: batch_1", "not done yet: batch_2"}
    assert uploads == len(api.batches) == 2
    assert results(out) == results(out.with_name("live"))


class Killed(BaseException):
    """Ends a session where it stands, as a kill does."""


def test_a_session_may_be_killed_while_it_waits(log: Path, out: Path) -> None:
    api = BatchServer(over_http(TRUTH), steps=("validating", "in_progress"))

    async def dying(_seconds: float) -> None:
        raise Killed

    with Server(api) as server:
        for _ in range(20):
            try:
                run(log, out, server, Posting(sleep=dying))
                break
            except Killed:
                assert (out / BATCHES).exists()
        run(log, out.with_name("live"), server)
    assert len(api.uploads) == len(api.batches) == 2
    assert results(out) == results(out.with_name("live"))


def test_a_batch_whose_creation_was_not_heard_of_is_found_and_not_created_again(log: Path, out: Path) -> None:
    api = BatchServer(over_http(TRUTH))
    lost: list[Request] = []

    def deaf(request: Request) -> Reply | None:
        if request.method == "POST" and request.path == "/v1/batches" and not lost:
            lost.append(request)
            api._create(request.body)
            return no_answer()
        return None

    api.refuses = deaf
    with Server(api) as server:
        run(log, out, server, posting())
    assert len(lost) == 1
    assert len(api.batches) == 2


def test_a_session_that_was_killed_while_it_created_a_batch_finds_it(log: Path, out: Path) -> None:
    api = BatchServer(over_http(TRUTH))

    def dying(request: Request) -> Reply | None:
        if request.method == "POST" and request.path == "/v1/batches" and not api.batches:
            api._create(request.body)
            return error(401, "the key was withdrawn")
        return None

    api.refuses = dying
    with Server(api) as server:
        with pytest.raises(JudgeUnusable):
            run(log, out, server, posting())
        run(log, out, server, posting())
    assert len(api.batches) == len(api.uploads) == 2


def test_endpoints_without_a_list_of_batches_get_a_batch_all_the_same(log: Path, out: Path) -> None:
    api = BatchServer(over_http(TRUTH))
    failed: list[str] = []

    def sparse(request: Request) -> Reply | None:
        if request.path.startswith("/v1/batches?"):
            return error(405, "Method Not Allowed")
        if request.method == "POST" and request.path == "/v1/batches" and not failed:
            failed.append(request.path)
            return error(503, "busy")
        return None

    api.refuses = sparse
    with Server(api) as server:
        run(log, out, server, posting())
    assert len(api.batches) == 2


def test_an_endpoint_that_goes_away_stops_the_run_with_how_to_go_on(log: Path, out: Path) -> None:
    api = BatchServer(over_http(TRUTH), steps=("in_progress",))
    api.refuses = lambda request: error(503, "maintenance") if request.path.startswith("/v1/batches/") else None
    with Server(api) as server:
        with pytest.raises(JudgeUnreachable, match="the same command goes on"):
            run(log, out, server, posting())
        api.refuses = lambda _request: None
        run(log, out, server, posting())
    assert len(api.batches) == 2


def test_a_live_session_does_not_ask_what_is_under_way_and_uses_what_came(log: Path, out: Path) -> None:
    api = BatchServer(over_http(TRUTH), steps=("in_progress",))
    with Server(api) as server:
        with pytest.raises(BatchUnderWay):
            run(log, out, server, posting(longest_wait=0))
        with pytest.raises(InputError, match=r"batch_1.*under way.*--batch"):
            run(log, out, server)
        assert len(api.live) == 1
        api.ends = {2: "failed"}
        api.errors = {2: [{"code": "invalid_request", "message": "no more"}]}
        with pytest.raises(JudgeUnusable):
            run(log, out, server, posting())
        first, asked = len(api.lines_of(1)), len(api.live)
        run(log, out, server)
        assert len(api.live) - asked == len(api.lines_of(2))
        assert first
        run(log, out.with_name("live"), server)
    assert results(out) == results(out.with_name("live"))
    assert not (out / BATCHES).exists()


# --- results that are not all there ------------------------------------------------------------------------------


def test_what_expired_goes_out_again_and_what_came_is_kept(log: Path, out: Path) -> None:
    def half(number: int, line: Line) -> Line | None:
        return None if number == 1 and int(line["custom_id"], 16) % 2 else line

    api = BatchServer(over_http(TRUTH), ends={1: "expired"}, spoil=half)
    with Server(api) as server:
        run(log, out, server, posting())
        run(log, out.with_name("live"), server)
    assert results(out) == results(out.with_name("live"))
    again = {line["custom_id"] for line in api.lines_of(2)}
    odd = {line["custom_id"] for line in api.lines_of(1) if int(line["custom_id"], 16) % 2}
    even = {line["custom_id"] for line in api.lines_of(1)} - odd
    assert odd
    assert odd <= again
    assert even.isdisjoint(again)


class Spoiled(BatchServer):
    """A batch server that answers otherwise whatever is asked about one tank."""

    def __init__(self, tank: int, reply: Reply | None, *, until: int = 1000, **more: Any) -> None:
        super().__init__(over_http(TRUTH), spoil=self._spoil, **more)
        self._tank = f"Tank {tank} "
        self._reply = reply
        self._until = until

    def _spoil(self, number: int, line: Line) -> Line | list[Line] | None:
        asked = next(one for one in self.lines_of(number) if one["custom_id"] == line["custom_id"])
        if self._tank not in json.dumps(asked["body"]) or number > self._until:
            return line
        return None if self._reply is None else instead(line, self._reply)


@pytest.mark.parametrize(
    ("reply", "cause", "batches"),
    [
        (error(500, "oops"), "server_error", 3),
        (error(429, "slow down"), "rate_limited", 3),
        (None, "timeout", 3),
        (error(400, "The response was filtered", code="content_filter"), "content_filter", 2),
        (error(422, "cannot"), "refused_by_endpoint", 2),
    ],
    ids=["server", "rate", "never executed", "filter", "refused"],
)
def test_a_request_that_fails_for_good_is_unjudged_with_its_cause(
    log: Path, out: Path, reply: Reply | None, cause: str, batches: int
) -> None:
    api = Spoiled(3, reply)
    with Server(api) as server:
        found = run(log, out, server, posting(), metrics=["faithfulness"])
    assert [result["faithfulness"].value is None for result in found] == [n == 3 for n in range(1, ROWS + 1)]
    (fault,) = {fault.cause for fault in found["r3"].faults}
    assert fault == cause
    assert len(api.batches) == batches


@pytest.mark.parametrize("reply", [error(500, "oops"), None], ids=["failed", "never executed"])
def test_what_fails_once_is_tried_again(log: Path, out: Path, reply: Reply | None) -> None:
    api = Spoiled(3, reply, until=1)
    with Server(api) as server:
        run(log, out, server, posting())
        run(log, out.with_name("live"), server)
    assert results(out) == results(out.with_name("live"))


def test_an_input_that_is_too_long_is_asked_in_halves(log: Path, out: Path) -> None:
    whole = over_http(TRUTH)

    def small(request: Request) -> Reply:
        text = json.dumps(request.body)
        if "volume of 3 litres" in text and "Tank 3 is blue" in text:
            return error(400, "maximum context length exceeded", code="context_length_exceeded")
        return whole(request)

    api = BatchServer(small)
    with Server(api) as server:
        run(log, out, server, posting(), metrics=["faithfulness"])
        run(log, out.with_name("live"), server, metrics=["faithfulness"])
    assert results(out) == results(out.with_name("live"))


def test_the_same_command_asks_again_for_what_failed(log: Path, out: Path) -> None:
    api = Spoiled(3, error(500, "oops"))
    with Server(api) as server:
        run(log, out, server, posting())
        api._reply = chat("{}")
        api._until = 0
        run(log, out, server, posting())
        run(log, out.with_name("live"), server)
    assert results(out) == results(out.with_name("live"))


# --- results that must not be believed -----------------------------------------------------------------------------


def test_another_model_in_the_results_stops_the_run_and_is_not_kept(log: Path, out: Path) -> None:
    def other(number: int, line: Line) -> Line:
        return with_body(line, model="another") if number == 2 else line

    api = BatchServer(over_http(TRUTH), spoil=other)
    with Server(api) as server:
        with pytest.raises(JudgeDrift, match="another"):
            run(log, out, server, posting())
        assert b'"another"' not in b"".join(path.read_bytes() for path in out.rglob("*") if path.is_file())
        api.spoil = lambda _number, line: line
        run(log, out, server, posting())
        run(log, out.with_name("live"), server)
    assert len(api.batches) == 3
    assert results(out) == results(out.with_name("live"))


def test_a_snapshot_of_the_alias_is_the_pinned_model(log: Path, out: Path) -> None:
    api = BatchServer(over_http(TRUTH, model="m-2026-01-02"))
    with Server(api) as server:
        run(log, out, server, posting())
        run(log, out.with_name("live"), server)
    assert results(out) == results(out.with_name("live"))


HOSTILE: Mapping[str, Callable[[Line], Line | list[Line]]] = {
    "an unknown id": lambda line: [line, {**line, "custom_id": "f" * 32}],
    "an id that is no text": lambda line: [line, {**line, "custom_id": {"a": 1}}],
    "no json": lambda line: [{"raw": b"<html>\n", "response": None}, line],
    "a list": lambda line: [{"raw": b"[1, 2]\n", "response": None}, line],
    "no utf-8": lambda line: [{"raw": b'{"custom_id": "\xff"}\n', "response": None}, line],
    "a deep nest": lambda line: [{"raw": b"[" * 100_000 + b"\n", "response": None}, line],
    "an endless line": lambda line: [{"raw": b"x" * ((1 << 24) + 99) + b"\n", "response": None}, line],
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_lines_that_are_no_results_are_passed_over(log: Path, out: Path, kind: str) -> None:
    seen: list[int] = []

    def spoil(number: int, line: Line) -> Line | list[Line]:
        seen.append(number)
        return HOSTILE[kind](line) if len(seen) == 2 else line

    api = BatchServer(over_http(TRUTH), spoil=spoil)
    with Server(api) as server:
        run(log, out, server, posting(), metrics=["faithfulness"])
        run(log, out.with_name("live"), server, metrics=["faithfulness"])
    assert results(out) == results(out.with_name("live"))
    assert len(api.batches) == 2


@pytest.mark.parametrize("kept", ["", "[", "[1]", '{"reply": 7}', '{"tries": "x"}', "[" * 100_000, '{"new": 1}'])
def test_a_row_of_the_inbox_that_cannot_be_read_is_a_failure_and_not_asked_for_ever(kept: str) -> None:
    store = Store(None)
    store.put("k", kept)
    came = Inbox(store).look("k")
    assert came.reply is None
    assert came.failure is not None
    assert came.failure.cause == "server_error"


def test_a_reply_with_half_a_character_is_a_reply(log: Path, out: Path) -> None:
    def halved(_number: int, line: Line) -> Line:
        return with_body(line, note="\ud83d")

    api = BatchServer(over_http(TRUTH), spoil=halved)
    with Server(api) as server:
        run(log, out, server, posting(), metrics=["faithfulness"])
        run(log, out.with_name("live"), server, metrics=["faithfulness"])
    assert results(out) == results(out.with_name("live"))
    assert len(api.batches) == 2


MALFORMED: Mapping[str, Callable[[Line], Line | list[Line]]] = {
    "no choices": lambda line: with_body(line, choices=[]),
    "given twice": lambda line: [line, with_body(line, choices=[])],
    "no body": lambda line: {**line, "response": {"status_code": 200, "body": "text"}},
    "no status": lambda line: {**line, "response": {"body": {}}},
    "nothing at all": lambda line: {"custom_id": line["custom_id"]},
    "an error with status 200": lambda line: instead(line, answer({"error": {"message": "upstream", "code": 503}})),
}


@pytest.mark.parametrize("kind", MALFORMED)
def test_a_result_that_cannot_be_used_is_asked_for_again(log: Path, out: Path, kind: str) -> None:
    seen: list[int] = []

    def spoil(number: int, line: Line) -> Line | list[Line]:
        seen.append(number)
        return MALFORMED[kind](line) if len(seen) == 2 else line

    api = BatchServer(over_http(TRUTH), spoil=spoil)
    with Server(api) as server:
        run(log, out, server, posting(), metrics=["faithfulness"])
        run(log, out.with_name("live"), server, metrics=["faithfulness"])
    assert results(out) == results(out.with_name("live"))
    assert len(api.batches) == 3
    assert len({line["custom_id"] for line in api.lines_of(1)} & {line["custom_id"] for line in api.lines_of(2)}) == 1


@pytest.mark.parametrize("spoiled", [broken_off, reset, truncated], ids=["broken off", "reset", "cut short"])
def test_a_download_that_breaks_off_loses_nothing(log: Path, out: Path, spoiled: Callable[[Reply, int], Reply]) -> None:
    api = BatchServer(over_http(TRUTH))
    broken: list[str] = []

    def breaking(request: Request) -> Reply | None:
        if not request.path.endswith("/content") or broken:
            return None
        broken.append(request.path)
        return spoiled(Reply(200, api.files[request.path.split("/")[3]]), 700)

    api.refuses = breaking
    with Server(api) as server:
        run(log, out, server, posting(), metrics=["faithfulness"], judge=judge_at(server, max_attempts=2))
        run(log, out.with_name("live"), server, metrics=["faithfulness"])
    assert len(broken) == 1
    assert results(out) == results(out.with_name("live"))


def test_a_file_that_is_larger_than_allowed_is_not_read(tmp_path: Path) -> None:
    async def work(url: str) -> None:
        endpoint = Endpoint(url)
        try:
            await endpoint.download("file-1", tmp_path / "some", most=1000)
        finally:
            await endpoint.close()

    with Server(Reply(200, b"x" * 1001)) as server, pytest.raises(JudgeUnusable, match="larger than 1000 bytes"):
        asyncio.run(work(server.url))
    with Server(Reply(200, b"x" * 1000)) as server:
        asyncio.run(work(server.url))
    assert (tmp_path / "some").stat().st_size == 1000


# --- batches that fail as a whole ------------------------------------------------------------------------------------


def test_an_endpoint_without_batches_is_named(log: Path, out: Path) -> None:
    def none(request: Request) -> Reply:
        return error(404, "Not Found") if "chat" not in request.path else over_http(TRUTH)(request)

    with Server(none) as server, pytest.raises(JudgeUnusable, match=r"has no Batch API .*leave out --batch"):
        run(log, out, server, posting())


def test_a_batch_that_fails_its_validation_stops_with_the_servers_words(log: Path, out: Path) -> None:
    why = [{"code": "model_not_supported", "message": "The model m has no batches", "line": 1}]
    api = BatchServer(over_http(TRUTH), errors={1: why})
    with Server(api) as server:
        with pytest.raises(JudgeUnusable, match=r"line 1: model_not_supported The model m has no batches"):
            run(log, out, server, posting())
        api.errors = {}
        run(log, out, server, posting())
    assert len(api.batches) == 3


def test_a_batch_that_is_too_much_waits_for_the_others(log: Path, out: Path) -> None:
    why = [{"code": "token_limit_exceeded", "message": "Enqueued token limit reached"}]
    api = BatchServer(over_http(TRUTH), errors={2: why}, steps=("in_progress", "in_progress2"))
    with Server(api) as server:
        run(log, out, server, posting(size=10))
        run(log, out.with_name("live"), server)
    assert results(out) == results(out.with_name("live"))
    assert len(api.batches) == len(api.uploads) + 1


def test_a_batch_that_is_too_much_by_itself_names_the_remedy(log: Path, out: Path) -> None:
    why = [{"code": "token_limit_exceeded", "message": "Enqueued token limit reached"}]
    api = BatchServer(over_http(TRUTH), errors={1: why})
    with Server(api) as server:
        with pytest.raises(JudgeUnusable, match="give a smaller --batch-size"):
            run(log, out, server, posting())
        run(log, out, server, posting(size=5))
        run(log, out.with_name("live"), server)
    assert results(out) == results(out.with_name("live"))


STOPS: Mapping[str, tuple[Reply, type[JudgekitError], str]] = {
    "no credit": (error(429, "You exceeded your current quota", code="insufficient_quota"), JudgeUnusable, "quota"),
    "a wrong key": (error(401, "Incorrect API key"), JudgeUnusable, "key"),
    "nothing but failures": (error(500, "The server had an error"), JudgeUnreachable, "not one of"),
    "a parameter that batches refuse": (error(400, "bad request", param="seed"), JudgeUnreachable, "not one of"),
}


@pytest.mark.parametrize(("reply", "kind", "said"), STOPS.values(), ids=STOPS)
def test_a_batch_in_which_nothing_succeeds_stops_the_run_and_can_be_sent_again(
    log: Path, out: Path, reply: Reply, kind: type[JudgekitError], said: str
) -> None:
    api = BatchServer(over_http(TRUTH), spoil=lambda _number, line: instead(line, reply))
    with Server(api) as server:
        with pytest.raises(kind, match=said):
            run(log, out, server, posting())
        api.spoil = lambda _number, line: line
        run(log, out, server, posting())
        run(log, out.with_name("live"), server)
    assert results(out) == results(out.with_name("live"))


def test_a_batch_that_somebody_cancels_stops_the_run_and_what_came_is_kept(log: Path, out: Path) -> None:
    def half(number: int, line: Line) -> Line | None:
        return None if number == 1 and int(line["custom_id"], 16) % 2 else line

    api = BatchServer(over_http(TRUTH), ends={1: "cancelled"}, spoil=half)
    with Server(api) as server:
        with pytest.raises(JudgeUnreachable, match="cancelled"):
            run(log, out, server, posting())
        run(log, out, server, posting())
        run(log, out.with_name("live"), server)
    assert results(out) == results(out.with_name("live"))
    kept = {line["custom_id"] for line in api.lines_of(1) if not int(line["custom_id"], 16) % 2}
    assert kept.isdisjoint(line["custom_id"] for line in api.lines_of(2))


# --- what is on disk, and how long it waits --------------------------------------------------------------------------


def test_no_key_is_in_the_folder_and_nobody_else_may_read_it(log: Path, out: Path) -> None:
    key = "sk-very-secret-key"
    api = BatchServer(over_http(TRUTH), steps=("in_progress",))
    with Server(api) as server:
        judge = judge_at(server, api_key=key, headers={"x-team": "secret-team"})
        with pytest.raises(BatchUnderWay):
            run(log, out, server, posting(longest_wait=0), judge=judge)
        assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {key}"}
    written = b"".join(path.read_bytes() for path in out.rglob("*") if path.is_file())
    assert key.encode() not in written
    assert b"secret-team" not in written
    assert stat.S_IMODE((out / BATCHES).stat().st_mode) == 0o700


def test_what_results_quote_is_shown_without_secrets(log: Path, out: Path) -> None:
    header = "planted-secret-of-a-header"
    api = Spoiled(3, error(422, f"who sends {header}?"))
    with Server(api) as server:
        found = run(log, out, server, posting(), judge=judge_at(server, headers={"x-team": header}))
    assert "who sends ***?" in found["r3"].model_dump_json()
    assert header.encode() not in b"".join(path.read_bytes() for path in out.rglob("*") if path.is_file())


def test_pauses_grow_up_to_a_minute(log: Path, out: Path) -> None:
    api = BatchServer(over_http(TRUTH), steps=[f"in_progress{n}" for n in range(12)])
    patience = Patience()
    with Server(api) as server:
        run(log, out, server, posting(patience), metrics=["faithfulness"])
    first = patience.pauses[:11]
    assert first == sorted(first)
    assert (first[0], max(patience.pauses)) == (2.0, 60.0)


def test_a_log_that_loses_rows_meanwhile_is_named(log: Path, out: Path) -> None:
    api = BatchServer(over_http(TRUTH), steps=("in_progress",))

    def shorten() -> None:
        log.write_text(lines(row(n) for n in range(1, ROWS)), encoding="utf-8")

    async def shortening(_seconds: float) -> None:
        shorten()

    with Server(api) as server:
        with pytest.raises(InputError, match="rows went from the log"):
            run(log, out, server, Posting(sleep=shortening), metrics=["faithfulness"])
        found = run(log, out, server, posting(), metrics=["faithfulness"])
    assert [result.id for result in found] == [f"r{n}" for n in range(1, ROWS)]


def test_what_happens_is_told(log: Path, out: Path) -> None:
    api = BatchServer(over_http(TRUTH), steps=("in_progress",))
    told: list[str] = []
    with Server(api) as server:
        run(log, out, server, posting(say=told.append), metrics=["faithfulness"])
    assert told[0] == "wave 1: 6 requests in 1 file"
    assert "batch batch_1: completed, 6 of 6 answered" in told
    assert told[-1] == "batch batch_2: 5 of 5 answered"


def test_a_list_of_batches_that_was_changed_is_refused(log: Path, out: Path) -> None:
    (out / BATCHES).mkdir(parents=True)
    (out / BATCHES / "batches.json").write_text("[{}]", encoding="utf-8")
    with Server(BatchServer(over_http(TRUTH))) as server, pytest.raises(InputError, match=r"batches\.json: cannot be"):
        run(log, out, server, posting())


def test_a_judge_that_has_no_batches_is_refused(log: Path, out: Path) -> None:
    job = Job(logs=[log], out=out, judge=judge_that().judge, metrics=metrics_of("faithfulness"), posting=posting())
    with pytest.raises(InputError, match="cannot be asked by batches"):
        asyncio.run(judge_log(job))


# --- by hand ---------------------------------------------------------------------------------------------------------


def by_hand(log: Path, out: Path, server: Server, **more: Any) -> list[Path]:
    """Export the next wave; the files that are to be answered, none when nothing is left."""
    try:
        run(log, out, server, posting(by_hand=True, **more))
    except BatchUnderWay:
        parcels = Parcels(out / BATCHES)
        return [parcels.file_of(parcel) for parcel in parcels.open]
    return []


def answered(api: BatchServer, file: Path, number: int = 1) -> tuple[Path, Path]:
    """The results of a batch file, as somebody would download them: what succeeded, and what did not."""
    good, bad = file.with_name("out.jsonl").parents[2] / f"out-{number}.jsonl", file.parents[2] / f"err-{number}.jsonl"
    made = [one for line in file.read_bytes().splitlines() for one in api._executed(number, json.loads(line))]
    for path, is_good in ((good, True), (bad, False)):
        some = [one for one in made if ((one["response"] or {}).get("status_code") == 200) is is_good]
        path.write_text("".join(json.dumps(one) + "\n" for one in some), encoding="utf-8")
    return good, bad


def test_waves_by_hand_give_the_run_too(log: Path, out: Path) -> None:
    api = BatchServer(over_http(TRUTH))
    waves = 0
    with Server(api) as server:
        while files := by_hand(log, out, server):
            waves += 1
            assert by_hand(log, out, server) == files  # exporting again exports the same
            list(bring_in(Parcels(out / BATCHES), answered(api, *files)))
        assert (waves, api.uploads, len(api.live)) == (2, [], 1)
        assert not (out / BATCHES).exists()
        run(log, out.with_name("live"), server)
    assert results(out) == results(out.with_name("live"))


def test_an_export_can_do_without_any_call(log: Path, out: Path) -> None:
    api = BatchServer(over_http(TRUTH))
    with Server(api) as server:
        while files := by_hand(log, out, server, for_granted=True):
            list(bring_in(Parcels(out / BATCHES), answered(api, *files)))
        assert server.requests == []
        run(log, out.with_name("live"), server)
    assert results(out) == results(out.with_name("live"))


def test_results_of_another_model_cannot_be_imported(log: Path, out: Path) -> None:
    api = BatchServer(over_http(TRUTH, model="other"))
    with Server(api) as server:
        files = by_hand(log, out, server, for_granted=True)
        with pytest.raises(JudgeDrift, match=r"pinned to 'm'.*answered by 'other'"):
            list(bring_in(Parcels(out / BATCHES), answered(api, *files)))


def test_results_that_answer_nothing_are_refused_and_the_wave_goes_on_waiting(log: Path, out: Path) -> None:
    api = BatchServer(over_http(TRUTH))
    wrong = log.with_name("wrong.jsonl")
    wrong.write_text('{"custom_id": "1", "response": {"status_code": 200, "body": {}}}\n', encoding="utf-8")
    with Server(api) as server:
        files = by_hand(log, out, server)
        with pytest.raises(InputError, match="answers a request that was exported"):
            list(bring_in(Parcels(out / BATCHES), [wrong]))
        with pytest.raises(InputError, match=r"nothing\.jsonl: No such file"):
            list(bring_in(Parcels(out / BATCHES), [log.with_name("nothing.jsonl")]))
        assert by_hand(log, out, server) == files


def test_hands_are_not_mixed(log: Path, out: Path) -> None:
    api = BatchServer(over_http(TRUTH), steps=("in_progress",))
    with Server(api) as server:
        with pytest.raises(BatchUnderWay):
            run(log, out, server, posting(longest_wait=0))
        with pytest.raises(InputError, match="batch_1: under way at the endpoint"):
            run(log, out, server, posting(by_hand=True))
        other = out.with_name("other")
        by_hand(log, other, server)
        with pytest.raises(InputError, match="exported and not imported"):
            run(log, other, server, posting())
        with pytest.raises(InputError, match="under way"):
            run(log, other, server)
    assert len(api.batches) == 1


# --- the commands -------------------------------------------------------------------------------------------------


def asked(log: Path, out: Path, server: Server, *more: object, command: tuple[str, ...] = ("run",)) -> Done:
    given = (*command, log, "-o", out, "--judge", "m", "--base-url", server.url, "--metrics", "faithfulness", *more)
    return judgekit(*given, env={"OPENAI_API_KEY": "sk-very-secret-key"})


def test_a_run_by_batches_prints_its_report(log: Path, out: Path) -> None:
    api = BatchServer(over_http(TRUTH))
    with Server(api) as server:
        done = asked(log, out, server, "--batch")
    assert done.code == 0, done.err
    assert "faithfulness" in done.out
    assert "judgekit: batch batch_1: completed, 6 of 6 answered" in done.err
    assert "6 rows; 12 judge calls sent" in done.err


def test_a_run_may_submit_and_leave_and_be_asked_after_and_cancelled(log: Path, out: Path) -> None:
    api = BatchServer(over_http(TRUTH), steps=("in_progress",) * 9)
    with Server(api) as server:
        left = asked(log, out, server, "--batch", "--batch-wait", 0)
        assert (left.code, left.out) == (3, "")
        assert "not done yet: batch_1; the same command takes it up again" in left.err
        assert asked(log, out, server).code == 2
        assert judgekit("batch", "status", out).out == "wave 1  batch_1  6 requests  in_progress\n"
        elsewhere = judgekit("batch", "cancel", out, "--judge", "m", "--base-url", "http://127.0.0.1:9/v1")
        assert (elsewhere.code, f"its batches are at {server.url}" in elsewhere.err) == (2, True)
        cancelled = judgekit("batch", "cancel", out, "--judge", "m", "--base-url", server.url)
        assert (cancelled.code, cancelled.out) == (0, "batch_1  cancelling\n"), cancelled.err
        stopped = asked(log, out, server, "--batch")
        assert (stopped.code, "was cancelled" in stopped.err) == (3, True)
        api.steps = ()
        assert asked(log, out, server, "--batch").code == 0
    assert "secret" not in left.err + stopped.err


def test_an_interrupted_run_says_what_becomes_of_the_batch(log: Path, out: Path) -> None:
    api = BatchServer(over_http(TRUTH), steps=("in_progress",) * 99)
    command = "import sys; sys.path.insert(0, sys.argv.pop(1)); from judgekit.cli import main; main()"
    with Server(api) as server:
        given = (
            "run",
            log,
            "-o",
            out,
            "--judge",
            "m",
            "--base-url",
            server.url,
            "--metrics",
            "faithfulness",
            "--batch",
        )
        process = subprocess.Popen(
            [sys.executable, "-c", command, str(ROOT), *map(str, given)], stderr=subprocess.PIPE, text=True
        )
        assert process.stderr is not None
        for line in process.stderr:
            if "in_progress" in line:
                break
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
        assert process.wait(30) == 130
        process.stderr.close()
        assert (
            f"batch_1: goes on at the endpoint; the same command takes it up again, judgekit batch cancel {out}" in said
        )
        api.steps = ()
        api.looks.clear()
        assert asked(log, out, server, "--batch").code == 0
    assert len(api.uploads) == 2


def test_export_and_import_are_commands(log: Path, out: Path) -> None:
    api = BatchServer(over_http(TRUTH))
    export = ("batch", "export")
    with Server(api) as server:
        for number in (1, 2):
            done = asked(log, out, server, "--offline", command=export)
            assert done.code == 0, done.err
            (file,) = done.out.split()
            assert f"judgekit: wave {number}: " in done.err
            brought = judgekit("batch", "import", out, *answered(api, Path(file), number))
            assert (brought.code, brought.out) == (0, ""), brought.err
            assert "now export again" in brought.err
        last = asked(log, out, server, "--offline", command=export)
        assert server.requests == []
    assert (last.code, last.out) == (0, "")
    assert "nothing is left to ask" in last.err
    assert judgekit("report", out).code == 0


def test_the_docs_show_what_an_export_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = (ROOT / "docs" / "batch.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```console\n\$ judgekit (.*?)\n(.*?)^```$", shown, re.DOTALL | re.MULTILINE)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    done = judgekit(*block[0].split())
    first, *rest = done.err.splitlines(keepends=True)
    assert first + done.out + "".join(rest) == block[1]


def test_a_budget_sends_what_fits_and_then_stops(log: Path, out: Path) -> None:
    api = BatchServer(over_http(TRUTH))
    sessions = []
    with Server(api) as server:
        for _ in range(9):
            done = asked(log, out, server, "--batch", "--max-calls", 5)
            sessions.append(done.code)
            if done.code == 0:
                break
            assert "stopped by --max-calls" in done.err
        assert sum(len(api.lines_of(number + 1)) for number in range(len(api.batches))) == 11
        run(log, out.with_name("live"), server, metrics=["faithfulness"])
    assert sessions == [3, 3, 0]
    assert results(out) == results(out.with_name("live"))


@pytest.mark.parametrize(
    "arguments",
    [("import", "nowhere", "x.jsonl"), ("status", "nowhere"), ("cancel", "nowhere", "--judge", "m")],
    ids=lambda given: given[0],
)
def test_a_folder_without_batches_is_named(arguments: tuple[str, ...]) -> None:
    done = judgekit("batch", *arguments)
    assert (done.code, "nowhere: has no batches" in done.err) == (2, True)


def test_a_replay_has_no_batches(log: Path, out: Path, tmp_path: Path) -> None:
    api = BatchServer(over_http(TRUTH))
    tape = tmp_path / "tape.jsonl"
    with Server(api) as server:
        assert asked(log, out, server, "--batch", "--cassette", tape, "--record").code == 0
    again = judgekit("run", log, "-o", tmp_path / "again", "--cassette", tape, "--metrics", "faithfulness")
    assert again.code == 0, again.err
    assert results(tmp_path / "again") == results(out)
    refused = judgekit("run", log, "-o", tmp_path / "no", "--cassette", tape, "--batch", "--metrics", "faithfulness")
    assert (refused.code, "a replay sends nothing; leave out --batch" in refused.err) == (2, True)
