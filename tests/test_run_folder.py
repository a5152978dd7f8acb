"""A run's folder: it can be stopped, killed, taken up and added to, and pays for nothing twice."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from misbehaving import Reply, Request, Server, late
from scripts import ScriptedJudge, Truth, forbidden, judge_that, lines, over_http, row

import judgekit as jk
from judgekit import batch
from judgekit.errors import CallTimeout, ContentFiltered, InputError, JudgeDrift, JudgeUnusable, NotARun
from judgekit.judge.store import Store
from judgekit.metrics import METRICS, Metric
from judgekit.records import Case, Reason, Result, Score
from judgekit.rundir import RESULTS, Results, alone_in
from judgekit.wire import JudgeReply, JudgeRequest

ROOT = Path(__file__).parents[1]
METRIC = ("faithfulness",)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write(tmp_path / "log.jsonl", (row(n) for n in range(1, 7)))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "run"


def write(path: Path, rows: Iterator[dict[str, Any]] | Sequence[dict[str, Any]]) -> Path:
    path.write_text(lines(rows), encoding="utf-8")
    return path


def run_of(log: Path | Sequence[Path], out: Path, judge: ScriptedJudge, metrics: Any = METRIC, **more: Any) -> jk.Run:
    return jk.judge_log(log, out=out, judge=judge.judge, metrics=metrics, **more)


def ids(run: jk.Run) -> list[str]:
    return [result.id for result in run]


def results_of(out: Path) -> bytes:
    return (out / RESULTS).read_bytes()


def manifest_of(out: Path) -> dict[str, Any]:
    found = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    for session in found["sessions"]:
        del session["started"], session["ended"]
    return found


def failing(when: str, error: Exception) -> Callable[[JudgeRequest, dict[str, Any]], Any]:
    def spoil(request: JudgeRequest, said: dict[str, Any]) -> dict[str, Any]:
        if when in request.input:
            raise error
        return said

    return spoil


# --- the same again ------------------------------------------------------------------------------------


def test_a_finished_run_asks_nothing_more(log: Path, out: Path) -> None:
    run_of(log, out, judge_that())
    before = results_of(out)
    again = run_of(log, out, forbidden())
    assert ids(again) == [f"r{n}" for n in range(1, 7)]
    assert results_of(out) == before


def test_a_deleted_store_does_not_unfinish_rows(log: Path, out: Path) -> None:
    run_of(log, out, judge_that())
    for path in (out / "cache").iterdir():
        path.unlink()
    run_of(log, out, forbidden())


def test_rows_with_failures_are_asked_again_and_finished_ones_are_not(log: Path, out: Path) -> None:
    first = run_of(log, out, judge_that(spoil=failing("Tank 2 ", CallTimeout("too slow"))))
    assert first["r2"]["faithfulness"].value is None
    mended = judge_that()
    second = run_of(log, out, mended)
    assert {"Tank 2 " in request.input for request in mended.asked} == {True}
    assert second["r2"]["faithfulness"].value == 1.0
    whole = run_of(log, out.with_name("other"), judge_that())
    assert ids(second) == ids(whole)
    assert results_of(out) == results_of(whole.folder)


def test_what_a_content_filter_refused_is_asked_again_by_the_next_session(log: Path, out: Path) -> None:
    run_of(log, out, judge_that(spoil=failing("Tank 2 ", ContentFiltered("no"))))
    second = run_of(log, out, judge_that())
    assert second["r2"]["faithfulness"].value == 1.0


@pytest.mark.parametrize("concurrency", [1, 4, 32])
def test_a_replay_is_the_run_byte_for_byte_whatever_the_concurrency(
    log: Path, tmp_path: Path, concurrency: int
) -> None:
    truth = Truth(labels={"It is painted blue.": "unsupported"})
    tape = tmp_path / "tape.jsonl"

    async def record(url: str) -> None:
        async with jk.Judge("m", base_url=url, embedding_model="e") as judge:
            judge.record()
            await jk.ajudge_log(log, out=tmp_path / "live", judge=judge, metrics=list(METRICS))
            judge.write_cassette(tape)

    with Server(over_http(truth)) as server:
        asyncio.run(record(server.url))
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        replay = jk.Judge.replay(tape)
        replay.concurrency = concurrency
        jk.judge_log(log, out=folder, judge=replay, metrics=list(METRICS))
    assert results_of(folders[0]) == results_of(folders[1]) == results_of(tmp_path / "live")
    assert manifest_of(folders[0]) == manifest_of(folders[1])
    live = manifest_of(tmp_path / "live")
    assert {**manifest_of(folders[0]), "sessions": []} == {**live, "sessions": []}


def test_results_stand_in_the_log_s_order_whatever_the_latencies(tmp_path: Path, out: Path) -> None:
    log = write(tmp_path / "log.jsonl", [row(n) for n in range(1, 40)])
    run = run_of(log, out, judge_that(latency=11))
    assert ids(run) == [f"r{n}" for n in range(1, 40)]
    assert results_of(out).count(b"\n") == 39


# --- another log, another judge, other metrics -----------------------------------------------------------


def test_an_added_metric_asks_only_what_is_new(log: Path, out: Path) -> None:
    run_of(log, out, judge_that())
    judge = judge_that()
    more = run_of(log, out, judge, ["faithfulness", "context_precision"])
    assert {request.task for request in judge.asked} == {"relevance"}
    assert judge.count() == 6
    alone = run_of(log, out.with_name("alone"), judge_that(), ["faithfulness", "context_precision"])
    assert results_of(out) == results_of(alone.folder)
    assert {len(result.scores) for result in more} == {2}


def test_rows_of_two_settings_never_stand_in_one_run(log: Path, out: Path) -> None:
    """A session that is stopped half-way through a new metric leaves only rows that have it, and loses none."""
    run_of(log, out, judge_that())
    both = ["faithfulness", "context_precision"]
    stopper = judge_that(spoil=failing("Tank 4 ", JudgeUnusable("quota")), concurrency=1)
    with pytest.raises(JudgeUnusable):
        run_of(log, out, stopper, both)
    answered = [request for request in stopper.asked if "Tank 4 " not in request.input]
    stopped = jk.load_run(out)
    assert all(len(result.scores) == 2 for result in stopped)
    run_of(log, out, forbidden())  # the first settings again: every row is still there
    assert [len(result.scores) for result in jk.load_run(out)] == [1] * 6
    rest = judge_that()
    done = run_of(log, out, rest, both)
    assert {request.task for request in rest.asked} == {"relevance"}
    assert not {request.input for request in rest.asked} & {request.input for request in answered}
    assert [len(result.scores) for result in done] == [2] * 6
    assert sorted(path.name for path in out.glob("results*")) == [RESULTS]


def test_other_options_of_a_metric_score_every_row_anew_without_asking(log: Path, out: Path) -> None:
    judge = judge_that(labels=lambda claim, _: "partially_supported" if "litres" in claim else "supported")
    first = run_of(log, out, judge)
    assert {result["faithfulness"].value for result in first} == {0.5}
    second = run_of(log, out, forbidden(), [METRICS["faithfulness"].__class__(partial=0.5)])  # type: ignore[call-arg]
    assert {result["faithfulness"].value for result in second} == {0.75}


def test_a_changed_row_is_judged_again_and_the_others_are_not(log: Path, out: Path) -> None:
    run_of(log, out, judge_that())
    rows = [row(n) for n in range(1, 7)]
    rows[3] = row(4, answer="Tank 4 leaks.")
    judge = judge_that()
    run = run_of(write(log, rows), out, judge)
    assert ids(run) == [f"r{n}" for n in range(1, 7)]
    assert {"Tank 4" in request.input for request in judge.asked} == {True}
    assert run["r4"].case.sample.answer == "Tank 4 leaks."


LOGS: dict[str, Callable[[list[dict[str, Any]]], list[dict[str, Any]]]] = {
    "rows removed": lambda rows: rows[1:4],
    "rows in another order": lambda rows: rows[::-1],
    "rows added in front": lambda rows: [row(0), *rows],
    "rows added at the end": lambda rows: [*rows, row(8), row(9)],
    "all of it": lambda rows: [row(9), *rows[5:2:-1], row(8), rows[0]],
}


@pytest.mark.parametrize("change", LOGS.values(), ids=LOGS)
def test_a_log_that_changed_leaves_the_run_that_it_would_have_been(
    log: Path, out: Path, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]
) -> None:
    old = [row(n) for n in range(1, 7)]
    run_of(log, out, judge_that())
    judge = judge_that()
    run = run_of(write(log, change(old)), out, judge)
    known = {one["question"] for one in old}
    assert not [r for r in judge.asked if any(question in r.input for question in known)]
    fresh = run_of(log, out.with_name("fresh"), judge_that())
    assert ids(run) == [one["id"] for one in change(old)]
    assert results_of(out) == results_of(fresh.folder)


def test_a_folder_of_another_log_is_refused_and_kept(log: Path, out: Path, tmp_path: Path) -> None:
    run_of(log, out, judge_that())
    before = results_of(out)
    with pytest.raises(NotARun, match="another log"):
        run_of(write(tmp_path / "other.jsonl", [row(77)]), out, forbidden())
    assert results_of(out) == before


def test_a_folder_of_another_judge_is_refused_before_anything_is_asked(log: Path, out: Path) -> None:
    run_of(log, out, judge_that())
    before = results_of(out), (out / "manifest.json").read_bytes()
    other = ScriptedJudge(Truth(), model="another")
    with pytest.raises(NotARun, match=r"another judge \(scripted at scripted:"):
        run_of(log, out, other)
    assert other.count() == 0
    assert (results_of(out), (out / "manifest.json").read_bytes()) == before


def test_another_model_answering_stops_the_run_and_keeps_finished_rows(log: Path, out: Path) -> None:
    def drift(request: JudgeRequest, said: dict[str, Any]) -> Any:
        model = "turned" if "Tank 4 " in request.input else "scripted"
        return JudgeReply(text=json.dumps(said), finish="typed", model=model)

    with pytest.raises(JudgeDrift, match="turned"):
        run_of(log, out, judge_that(spoil=drift, concurrency=1))
    assert ids(jk.load_run(out)) == ["r1", "r2", "r3"]
    assert jk.load_run(out).manifest.sessions[-1].stopped_by == "JudgeDrift"
    assert jk.load_run(out).manifest.judge["extractor"]["resolved"] == "scripted"  # type: ignore[index, call-overload]


def test_several_logs_are_one_run_in_their_order(tmp_path: Path, out: Path) -> None:
    logs = [write(tmp_path / f"{n}.jsonl", [row(n), row(n + 10)]) for n in (2, 1)]
    run = run_of(logs, out, judge_that())
    assert ids(run) == ["r2", "r12", "r1", "r11"]
    assert [(file.name, file.rows) for file in run.manifest.logs] == [("2.jsonl", 2), ("1.jsonl", 2)]


HOSTILE_IDS = ["a\nb", "x" * 5000, "../../up", "\x00", "%s{}", " ", "ключ", '"', "{}"]


def test_hostile_ids_survive_writing_resuming_and_looking_up(tmp_path: Path, out: Path) -> None:
    log = write(tmp_path / "log.jsonl", [row(n, id=name) for n, name in enumerate(HOSTILE_IDS)])
    run_of(log, out, judge_that())
    run = run_of(log, out, forbidden())
    assert ids(run) == HOSTILE_IDS
    assert [run[name].id for name in HOSTILE_IDS] == HOSTILE_IDS
    with pytest.raises(KeyError):
        run["nobody"]


# --- killed, torn, interrupted ------------------------------------------------------------------------------


@pytest.mark.parametrize("tail", [b'{"case": {"sample": {"id": "r4"', b"{", b"\xff\xfe", b'{"case": {}}'])
def test_a_torn_last_line_is_cut_off_and_judged_again(log: Path, out: Path, tail: bytes) -> None:
    run_of(log, out, judge_that())
    whole = results_of(out)
    kept = b"".join(whole.splitlines(keepends=True)[:3])
    (out / RESULTS).write_bytes(kept + tail)
    assert ids(jk.load_run(out)) == ["r1", "r2", "r3"]
    run_of(log, out, forbidden())  # the replies are in the store
    assert results_of(out) == whole


def test_a_row_appended_after_a_torn_line_stands_on_a_line_of_its_own(log: Path, out: Path) -> None:
    third = run_of(log, out, judge_that())["r3"]
    kept = b"".join(results_of(out).splitlines(keepends=True)[:2])
    (out / RESULTS).write_bytes(kept + b'{"case": {"sam')
    results = Results(out)
    results.append(third)
    results.close()  # killed before it could settle
    assert ids(jk.load_run(out)) == ["r1", "r2", "r3"]


def test_a_row_that_was_judged_twice_before_a_kill_is_settled_by_the_next_session(log: Path, out: Path) -> None:
    run_of(log, out, judge_that())
    whole = results_of(out)
    rows = whole.splitlines(keepends=True)
    (out / RESULTS).write_bytes(whole + rows[1])
    assert ids(jk.load_run(out)) == [f"r{n}" for n in range(1, 7)]
    run_of(log, out, forbidden())
    assert results_of(out) == whole


@pytest.mark.parametrize("line", [b"\n", b"not json\n", b'{"id": 1}\n', b"[]\n"])
def test_a_results_file_that_something_else_wrote_is_refused(log: Path, out: Path, line: bytes) -> None:
    run_of(log, out, judge_that())
    (out / RESULTS).write_bytes(line + results_of(out))
    with pytest.raises(NotARun, match=r"results\.jsonl"):
        run_of(log, out, forbidden())


def test_a_manifest_that_cannot_be_read_is_refused(log: Path, out: Path) -> None:
    run_of(log, out, judge_that())
    (out / "manifest.json").write_text("{}", encoding="utf-8")
    with pytest.raises(NotARun, match="manifest"):
        run_of(log, out, forbidden())


def test_a_folder_that_another_process_judges_into_is_left_alone(log: Path, out: Path) -> None:
    out.mkdir()
    with alone_in(out), pytest.raises(NotARun, match="another process"):
        run_of(log, out, forbidden())
    run_of(log, out, judge_that())


COMMAND = "import sys; sys.path.insert(0, sys.argv.pop(1)); from judgekit.cli import main; main()"


def command(*arguments: object, key: str = "later") -> subprocess.Popen[str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("JUDGEKIT", "OPENAI"))}
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, str(ROOT), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**environment, "OPENAI_API_KEY": key},
    )


class Gate:
    """A judge behind HTTP that answers `before` requests made with the first key, and all that are made with another.

    Told apart by key, a request that a killed client had still under way is not taken for one of the next session.
    """

    def __init__(self, before: int) -> None:
        self._left = before
        self._answer = over_http(Truth(labels={"It is painted blue.": "unsupported"}))
        self.paid: list[bytes] = []
        self.held = 0

    def __call__(self, request: Request) -> Reply:
        if request.headers["authorization"] != "Bearer first" or self._left > 0:
            self._left -= 1
            self.paid.append(request.raw)
            return self._answer(request)
        self.held += 1
        return late(self._answer(request), 60)


def until(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.01)


def stored(out: Path) -> int:
    with closing(Store(out / "cache")) as store:
        return sum(not key.startswith("who:") for key in list(store.keys()))


STOPS = [(signal.SIGKILL, -signal.SIGKILL, 1), (signal.SIGKILL, -signal.SIGKILL, 13), (signal.SIGINT, 130, 7)]


@pytest.mark.parametrize(("number", "code", "before"), STOPS)
def test_a_stopped_run_goes_on_and_pays_for_nothing_twice(
    log: Path, out: Path, number: signal.Signals, code: int, before: int
) -> None:
    gate = Gate(before)
    arguments = ["--judge", "m", "--metrics", "faithfulness,context_precision,citation_support", "--concurrency", 3]
    with Server(gate) as server:
        first = command("run", log, "-o", out, *arguments, "--base-url", server.url, key="first")
        until(lambda: gate.held > 0 and (out / "cache" / "cache.db").exists() and stored(out) >= before, first)
        first.send_signal(number)
        errors = first.communicate(timeout=30)[1]
        assert first.returncode == code, errors
        assert "Traceback" not in errors
        paid = list(gate.paid)
        assert len(paid) == before
        second = command("run", log, "-o", out, *arguments, "--base-url", server.url)
        assert (second.wait(30), second.communicate()[1].count("Traceback")) == (0, 0)
        assert not set(paid) & set(gate.paid[before:]), "a reply was paid twice"
        assert len(gate.paid) == len(set(gate.paid))
        whole = command("run", log, "-o", out.with_name("whole"), *arguments, "--base-url", server.url)
        whole.communicate(timeout=30)
        assert results_of(out) == results_of(out.with_name("whole"))
    sessions = jk.load_run(out).manifest.sessions
    assert [session.stopped_by for session in sessions] == [
        "killed" if number == signal.SIGKILL else "CancelledError",
        None,
    ]
    assert sessions[1].sent + sessions[1].reused >= len(paid)


# --- what stands in the folder -------------------------------------------------------------------------------


def test_sessions_count_what_each_of_them_paid(log: Path, out: Path, tmp_path: Path) -> None:
    judge = judge_that()
    run_of(log, out, judge)
    other = run_of(write(tmp_path / "other.jsonl", [row(9)]), tmp_path / "other", judge)
    sent = [jk.load_run(out).manifest.sessions[0].sent, other.manifest.sessions[0].sent]
    assert sent == [12, 2]


def test_a_run_says_what_it_is(log: Path, out: Path) -> None:
    run = run_of(log, out, judge_that(), ["faithfulness", "context_recall"])
    manifest = run.manifest
    assert list(manifest.metrics) == ["faithfulness", "context_recall"]
    assert [(file.name, file.rows) for file in manifest.logs] == [("log.jsonl", 6)]
    assert manifest.judge["extractor"]["resolved"] == "scripted"  # type: ignore[index, call-overload]
    assert manifest.sessions[0].stopped_by is None
    assert (len(run), run.rows()[0]["faithfulness"], repr(run)) == (6, 1.0, f"<Run {out}>")


@pytest.mark.skipif(sys.platform == "win32", reason="no such rights")
def test_questions_and_answers_are_for_their_owner_alone_and_a_shared_folder_stays_shared(
    log: Path, tmp_path: Path
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    for out, mode in ((tmp_path / "mine", 0o700), (shared, 0o755)):
        run_of(log, out, judge_that())
        assert stat.S_IMODE(out.stat().st_mode) == mode
        assert stat.S_IMODE((out / "results.jsonl").stat().st_mode) == 0o600


def test_a_folder_without_a_run_is_none(tmp_path: Path) -> None:
    with pytest.raises(NotARun, match=r"manifest\.json"):
        jk.load_run(tmp_path)


def test_a_place_that_cannot_be_written_is_an_error_that_says_so(log: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(InputError, match="file"):
            run_of(log, out, forbidden())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_a_full_disk_stops_the_run_with_a_message(log: Path, out: Path) -> None:
    out.mkdir()
    (out / "manifest.json.partial").symlink_to("/dev/full")
    with pytest.raises(InputError, match="No space left"):
        run_of(log, out, judge_that())


class Mine(Metric):
    name = "mine"
    lower_is_better = True

    def score(self, case: Case) -> Score:
        return Score.share(self.name, [0.25])


def test_a_metric_of_ones_own_stands_in_the_summary_with_its_direction(log: Path, out: Path) -> None:
    run = run_of(log, out, judge_that(), [Mine(), "faithfulness"])
    summary = run.summary()
    assert [(found.metric, found.macro, found.lower_is_better) for found in summary.metrics] == [
        ("mine", 0.25, True),
        ("faithfulness", 1.0, False),
    ]
    run_of(log, out, forbidden(), [Mine(), "faithfulness"])
    with pytest.raises(InputError, match="mine"):
        run.metrics[0].score(Case(sample=jk.Sample(id="x")))


# --- rescoring -------------------------------------------------------------------------------------------------


def rescored(run: jk.Run, *metrics: str | Metric) -> list[Result]:
    return list(batch.Rescored(run=run, metrics=jk.metrics.metrics_of(metrics)))


def test_rescoring_with_other_options_asks_nothing_and_keeps_the_verdicts(log: Path, out: Path) -> None:
    run = run_of(log, out, judge_that(labels=lambda c, _: "partially_supported" if "litres" in c else "supported"))
    half = METRICS["faithfulness"].__class__(partial=0.5)  # type: ignore[call-arg]
    assert {result["faithfulness"].value for result in rescored(run, half)} == {0.75}
    assert [result.case for result in rescored(run, half)] == [result.case for result in run]
    changed = batch.Rescored(run=run, metrics=(half,)).manifest.metrics["faithfulness"]
    assert changed.options == {"partial": 0.5}
    assert changed.pin != run.manifest.metrics["faithfulness"].pin


def test_rescoring_with_the_same_metrics_gives_the_same_run(log: Path, out: Path) -> None:
    run = run_of(log, out, judge_that(), list(METRICS))
    again = batch.Rescored(run=run, metrics=run.metrics)
    assert list(again) == list(run)
    assert again.manifest.metrics == run.manifest.metrics
    written = again.write(out.with_name("again"))
    assert results_of(written.folder) == results_of(out)
    with pytest.raises(NotARun, match="holds a run already"):
        again.write(out)


@pytest.mark.parametrize("name", [name for name in METRICS if name != "context_relevance"])
def test_what_a_run_never_asked_is_unjudged_and_no_number(log: Path, out: Path, name: str) -> None:
    run = run_of(log, out, judge_that(), "context_relevance")
    known = {"context_precision": 1.0, "answer_correctness": None}
    for result in rescored(run, name):
        assert (result[name].value, result[name].reason) == (
            known.get(name),
            None if known.get(name) else Reason.UNJUDGED,
        )


def test_a_row_that_failed_stays_failed_when_rescored(log: Path, out: Path) -> None:
    run = run_of(log, out, judge_that(spoil=failing("Tank 2 ", ZeroDivisionError("a bug"))))
    assert [result["faithfulness"].reason for result in rescored(run, "faithfulness")] == [
        None,
        Reason.UNJUDGED,
        *[None] * 4,
    ]


# --- cost of taking up ---------------------------------------------------------------------------------------------


def test_finished_rows_cost_little(tmp_path: Path, out: Path) -> None:
    log = write(tmp_path / "log.jsonl", [row(n) for n in range(1, 801)])
    begun = time.process_time()
    run_of(log, out, judge_that())
    judged = time.process_time()
    run_of(log, out, forbidden())
    assert time.process_time() - judged < 0.5 * (judged - begun)


def test_looking_up_a_result_does_not_read_the_others(log: Path, out: Path) -> None:
    run_of(log, out, judge_that())
    results = Results(out)
    try:
        found = results.get("r3")
        assert found is not None
        assert found.id == "r3"
        assert results.get("r9") is None
    finally:
        results.close()


def test_progress_tells_what_is_done_and_what_was_kept(log: Path, out: Path) -> None:
    seen: list[batch.Progress] = []
    run_of(write(log, [row(n) for n in range(1, 4)]), out, judge_that())
    job = batch.Job(
        logs=[write(log, [row(n) for n in range(1, 7)])],
        out=out,
        judge=judge_that().judge,
        metrics=jk.metrics.metrics_of(METRIC),
    )
    asyncio.run(batch.judge_log(job, seen.append))
    assert seen[-1] == batch.Progress(done=6, total=6, kept=3)
    assert [one.done for one in seen] == sorted(one.done for one in seen)
