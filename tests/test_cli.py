"""The command line: exit codes, what goes to which stream, and messages that name the remedy."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest
from misbehaving import Reply, Request, Server, chat, error
from scripts import Truth, lines, over_http, row

import judgekit as jk
from judgekit.cli import cli, main

ROOT = Path(__file__).parents[1]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    path.write_text(lines([row(1), row(2), row(3)]), encoding="utf-8")
    return path


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "run"


class Done(NamedTuple):
    code: int
    out: str
    err: str


def judgekit(*arguments: object, env: Mapping[str, str] | None = None) -> Done:
    """The command in this process, with its own arguments, environment and streams."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2)]
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(streams[0]), redirect_stderr(streams[1]):
        patch.setattr(sys, "argv", ["judgekit", *map(str, arguments)])
        patch.setattr(warnings, "showwarning", warnings.showwarning)  # restored afterwards
        for name in [name for name in os.environ if name.startswith(("JUDGEKIT", "OPENAI"))]:
            patch.delenv(name)
        for name, value in (env or {}).items():
            patch.setenv(name, value)
        with pytest.raises(SystemExit) as left:
            main()
    texts = [stream.buffer.getvalue().decode() for stream in streams]  # type: ignore[attr-defined]
    assert isinstance(left.value.code, int)
    return Done(left.value.code, *texts)


def judged(log: Path, out: Path, server: Server, *more: object, **options: Any) -> Done:
    given = ("run", log, "-o", out, "--judge", "m", "--base-url", server.url, "--metrics", "faithfulness", *more)
    return judgekit(*given, **options)


def per_row(faults: Mapping[int, Reply]) -> Any:
    """A judge that knows everything, but replies so to whatever concerns these rows."""
    answer = over_http(Truth())

    def handle(request: Request) -> Reply:
        text = request.raw.decode()
        return next((reply for n, reply in faults.items() if f"Tank {n} " in text), None) or answer(request)

    return handle


# --- a run ---------------------------------------------------------------------------------------------------


def test_a_run_prints_its_report_and_exits_with_0(log: Path, out: Path) -> None:
    with Server(over_http(Truth(labels={"It is painted blue.": "unsupported"}))) as server:
        done = judged(log, out, server)
    assert done.code == 0
    assert "faithfulness" in done.out
    assert "3 rows; 6 judge calls sent, 0 answered from what was kept" in done.err


def test_json_is_all_that_stands_on_stdout(log: Path, out: Path) -> None:
    with Server(over_http(Truth())) as server:
        done = judged(log, out, server, "--json")
        again = judged(log, out, server, "--json")
        assert len(server.requests) == 6
    assert json.loads(done.out)["rows"] == json.loads(again.out)["rows"] == 3
    assert "judgekit:" in done.err
    for arguments in (("report", out), ("rescore", out), ("report", out, "--row", "r1")):
        assert json.loads(judgekit(*arguments, "--json").out)


def test_one_row_that_fails_does_not_fail_the_run(log: Path, out: Path) -> None:
    log.write_text(lines(row(n) for n in range(1, 11)), encoding="utf-8")
    filtered = error(400, "The response was filtered", code="content_filter")
    with Server(per_row({4: filtered})) as server:
        done = judged(log, out, server, "--json")
    run = jk.load_run(out)
    assert done.code == 0
    assert [result.id for result in run] == [f"r{n}" for n in range(1, 11)]
    assert [result["faithfulness"].value for result in run] == [1.0] * 3 + [None] + [1.0] * 6
    assert list(json.loads(done.out)["faults"]) == ["split answer: content_filter"]


@pytest.mark.parametrize("broken", [chat("Sure! Here you go."), chat(None), chat('{"s1": 7}')])
def test_a_run_in_which_too_much_is_missing_exits_with_3(log: Path, out: Path, broken: Reply) -> None:
    with Server(per_row({1: broken, 2: broken})) as server:
        done = judged(log, out, server)
    assert done.code == 3
    assert "missing; the numbers are not valid" in done.err
    assert len(jk.load_run(out)) == 3
    with Server(per_row({1: broken, 2: broken})) as server:
        assert judged(log, out.with_name("lenient"), server, "--max-unjudged", "1").code == 0


STOPS = {
    "a wrong key": (error(401, "bad key", code="invalid_api_key"), 2, "key"),
    "no such model": (error(404, "The model `m` does not exist", code="model_not_found"), 2, "model"),
    "no credit": (error(429, "no credit", code="insufficient_quota"), 2, "quota"),
    "another model": (chat("{}", model="another"), 3, "another"),
}


@pytest.mark.parametrize(("reply", "code", "said"), STOPS.values(), ids=STOPS)
def test_what_stops_a_run_says_so_and_keeps_what_was_done(
    log: Path, out: Path, reply: Reply, code: int, said: str
) -> None:
    log.write_text(lines(row(n) for n in range(1, 13)), encoding="utf-8")
    with Server(per_row({11: reply})) as server:
        done = judged(log, out, server, "--concurrency", 4)
    assert (done.code, said in done.err) == (code, True), done.err
    kept = [result.id for result in jk.load_run(out)]
    assert kept == [f"r{n}" for n in range(1, len(kept) + 1)]
    assert 6 <= len(kept) <= 10


def test_a_server_that_is_not_there_is_named(log: Path, out: Path) -> None:
    done = judgekit("run", log, "-o", out, "--judge", "m", "--base-url", "http://127.0.0.1:9/v1")
    assert done.code == 3
    assert "no connection to http://127.0.0.1:9/v1" in done.err


# --- usage: exit code 2, nothing asked -------------------------------------------------------------------------


def test_a_run_without_a_judge_names_the_ways_to_give_one(log: Path, out: Path) -> None:
    done = judgekit("run", log, "-o", out)
    assert done.code == 2
    for way in ("--judge MODEL --base-url URL", "--cassette FILE", "judgekit demo", "--api-key-file"):
        assert way in done.err
    assert not out.exists()


USAGE: dict[str, tuple[tuple[str, ...], str]] = {
    "a model without an endpoint": (("--judge", "m"), "--judge m needs the endpoint that serves it: --base-url"),
    "an endpoint that is none": (("--judge", "m", "--base-url", "127.0.0.1:1"), "https://host/v1"),
    "recording nothing": (("--record",), "--record needs a judge to ask and a cassette to write"),
    "a cassette and a judge": (("--cassette", "x.jsonl", "--judge", "m"), "add --record"),
    "a cassette that is not there": (("--cassette", "nothing.jsonl"), "nothing.jsonl: No such file"),
    "a key file that is not there": (
        ("--judge", "m", "--base-url", "http://h/v1", "--api-key-file", "no"),
        "--api-key",
    ),
    "prompts that are not there": (("--judge", "m", "--base-url", "http://h/v1", "--prompts", "no"), "no such folder"),
    "a parameter without a value": (("--judge", "m", "--base-url", "http://h/v1", "--param", "x"), "--param x: write"),
    "an unknown metric": (
        ("--judge", "m", "--base-url", "http://h/v1", "--metrics", "faith"),
        "unknown metric 'faith'",
    ),
    "an option of no metric": (
        ("--judge", "m", "--base-url", "http://h/v1", "--set", "faithfulness.x=1"),
        "no such option; faithfulness has: min_probability, partial",
    ),
    "an option outside its range": (
        ("--judge", "m", "--base-url", "http://h/v1", "--set", "faithfulness.partial=2"),
        "partial=2.0 is not a share",
    ),
    "a mapping of no field": (
        ("--judge", "m", "--base-url", "http://h/v1", "--map", "ctx=docs"),
        "no such field; the fields are",
    ),
    "a mapping that is none": (("--judge", "m", "--base-url", "http://h/v1", "--map", "ctx"), "--map ctx: write"),
    "an unknown option": (("--nonsense",), "No such option"),
}


@pytest.mark.parametrize(("arguments", "said"), USAGE.values(), ids=USAGE)
def test_wrong_usage_exits_with_2_and_names_the_remedy(
    log: Path, out: Path, arguments: tuple[str, ...], said: str
) -> None:
    done = judgekit("run", log, "-o", out, *arguments)
    assert (done.code, done.out) == (2, "")
    assert said in " ".join(done.err.split()), done.err


def test_a_log_with_bad_rows_exits_with_2_and_asks_nothing(log: Path, out: Path) -> None:
    log.write_bytes(b'{"question": "q"}\nnot json\n' + lines([row(3)]).encode())
    with Server(over_http(Truth())) as server:
        done = judged(log, out, server)
        assert (done.code, server.requests) == (2, [])
        assert f"{log}:1: answer: missing" in done.err
        assert f"{log}:2: not JSON" in done.err
        assert judged(log, out, server, "--skip-bad-rows").code == 0
    assert [result.id for result in jk.load_run(out)] == ["r3"]
    assert len(jk.load_run(out).manifest.skipped_rows) == 2


def test_columns_are_mapped(tmp_path: Path, out: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text(lines([{"q": "What?", "a": "The tank is blue.", "docs": ["A blue tank."]}]), encoding="utf-8")
    mapping = [part for pair in ("question=q", "answer=a", "contexts=docs") for part in ("--map", pair)]
    with Server(over_http(Truth())) as server:
        assert judged(other, out, server, *mapping).code == 0
    assert jk.load_run(out)["1"].case.sample.question == "What?"


def test_a_folder_that_cannot_be_a_run_exits_with_2(log: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with Server(over_http(Truth())) as server:
        done = judged(log, tmp_path / "file", server)
    assert done.code == 2
    assert "give another folder" in done.err
    for arguments in (("report", tmp_path), ("rescore", tmp_path / "none"), ("report", tmp_path / "file")):
        failed = judgekit(*arguments)
        assert failed.code == 2
        assert "not a run" in failed.err


def test_another_judge_into_the_same_folder_exits_with_2(log: Path, out: Path) -> None:
    with Server(over_http(Truth())) as server:
        assert judged(log, out, server).code == 0
        done = judged(log, out, server, "--judge", "other")
        assert len(server.requests) == 6
    assert done.code == 2
    assert "begun with another judge (m at" in done.err


def test_a_wrong_model_name_can_be_put_right_in_the_same_folder_while_nobody_has_answered(log: Path, out: Path) -> None:
    with Server(lambda _: error(404, "the model does not exist", code="model_not_found")) as server:
        assert judged(log, out, server, "--judge", "typo").code == 2
    with Server(over_http(Truth())) as server:
        assert judged(log, out, server).code == 0


@pytest.mark.parametrize(
    "setting",
    ["context_precision.k=abc", "context_precision.k=1.5", "context_precision.k=true", "faithfulness.partial=x"],
)
def test_an_option_of_the_wrong_type_is_refused_before_anything_is_asked(log: Path, out: Path, setting: str) -> None:
    chosen = ("--metrics", "context_precision,faithfulness", "--judge", "m", "--base-url", "http://127.0.0.1:9/v1")
    done = judgekit("run", log, "-o", out, *chosen, "--set", setting)
    assert done.code == 2
    assert f"--set {setting.partition('=')[0]}=" in done.err
    assert "not of the type" in done.err


# --- secrets and the environment ---------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["environment", "another variable", "file", "none"])
def test_a_key_reaches_the_endpoint_and_nothing_else(log: Path, out: Path, tmp_path: Path, way: str) -> None:
    key, keyfile = "sk-very-secret-key", tmp_path / "key"
    keyfile.write_text(f"{key}\n", encoding="utf-8")
    more: dict[str, tuple[tuple[object, ...], dict[str, str]]] = {
        "environment": ((), {"OPENAI_API_KEY": key}),
        "another variable": (("--api-key-env", "MY_KEY"), {"MY_KEY": key, "OPENAI_API_KEY": "wrong"}),
        "file": (("--api-key-file", keyfile), {"OPENAI_API_KEY": "wrong"}),
        "none": ((), {}),
    }
    arguments, environment = more[way]
    with Server(over_http(Truth())) as server:
        done = judged(log, out, server, *arguments, env=environment)
    expected = {None} if way == "none" else {f"Bearer {key}"}
    assert {request.headers.get("authorization") for request in server.requests} == expected
    assert key not in done.out + done.err
    assert key.encode() not in b"".join(path.read_bytes() for path in out.rglob("*") if path.is_file())


def test_judge_and_endpoint_may_come_from_the_environment(log: Path, out: Path) -> None:
    with Server(over_http(Truth())) as server:
        environment = {"JUDGEKIT_JUDGE": "m", "JUDGEKIT_BASE_URL": server.url}
        done = judgekit("run", log, "-o", out, "--metrics", "faithfulness", env=environment)
    assert done.code == 0


# --- recordings, rescoring, prompts ------------------------------------------------------------------------------


def test_a_recording_replays_to_the_same_bytes_without_a_network(log: Path, out: Path, tmp_path: Path) -> None:
    tape, again = tmp_path / "tape.jsonl", tmp_path / "again"
    with Server(over_http(Truth())) as server:
        assert judged(log, out, server, "--cassette", tape, "--record").code == 0
    done = judgekit("run", log, "-o", again, "--cassette", tape, "--metrics", "faithfulness")
    assert done.code == 0
    assert (again / "results.jsonl").read_bytes() == (out / "results.jsonl").read_bytes()
    missing = judgekit("run", log, "-o", tmp_path / "more", "--cassette", tape, "--metrics", "context_recall")
    assert missing.code == 2
    assert "holds no reply to: " in missing.err


def test_rescoring_uses_the_run_s_own_settings_unless_told_otherwise(log: Path, out: Path, tmp_path: Path) -> None:
    partly = Truth(labels={"It is painted blue.": "partially_supported"})
    with Server(over_http(partly)) as server:
        judged(log, out, server, "--set", "faithfulness.partial=0.5")
        asked = len(server.requests)

        def macro(*more: object) -> float:
            metrics = json.loads(judgekit("rescore", out, "--json", *more).out)["metrics"]
            return float(metrics["faithfulness"]["macro"])

        assert macro() == 0.75
        assert macro("--set", "faithfulness.partial=1") == 1.0
        assert judgekit("rescore", out, "-o", tmp_path / "other", "--set", "faithfulness.partial=0").code == 0
        assert len(server.requests) == asked
    assert {result["faithfulness"].value for result in jk.load_run(tmp_path / "other")} == {0.5}
    assert judgekit("rescore", out, "-o", tmp_path / "other").code == 2


def test_prompts_are_listed_and_shown() -> None:
    listed = judgekit("prompts", "list")
    names = [line.split()[0] for line in listed.out.splitlines()]
    assert {"split", "verify", "relevance", "chat"} <= set(names)
    shown = judgekit("prompts", "show", "verify")
    assert shown.out == (ROOT / "prompts" / "verify.j2").read_text(encoding="utf-8") + "\n"
    unknown = judgekit("prompts", "show", "nothing")
    assert unknown.code == 2
    assert "there are: asks" in unknown.err


def test_an_unknown_row_is_answered_with_those_there_are(log: Path, out: Path) -> None:
    with Server(over_http(Truth())) as server:
        judged(log, out, server)
    done = judgekit("report", out, "--row", "r9")
    assert done.code == 2
    assert "no row 'r9'; its rows are: r1, r2, r3" in done.err


# --- help ----------------------------------------------------------------------------------------------------------


def every_command(group: click.Group = cli, *above: str) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for name, one in group.commands.items():
        found.append((*above, name))
        if isinstance(one, click.Group):
            found.extend(every_command(one, *above, name))
    return found


def test_every_command_and_every_option_explains_itself() -> None:
    for path in every_command():
        found: Any = cli
        for name in path:
            found = found.commands[name]
        assert found.help, path
        options = [p for p in found.params if isinstance(p, click.Option)]
        assert [option.name for option in options if not option.help] == [], path
        assert found.get_help(click.Context(found)).startswith("Usage:")


@pytest.mark.parametrize("group", [(), ("batch",), ("spotcheck",), ("prompts",)])
def test_the_list_of_commands_cuts_no_sentence_off(group: tuple[str, ...]) -> None:
    assert "..." not in judgekit(*group, "--help").out.partition("Commands:")[2]


def test_the_help_of_a_command_with_many_options_has_each_once_under_a_heading() -> None:
    shown = judgekit("run", "--help").out
    headings = [line.removesuffix(":") for line in shown.splitlines() if line.endswith(":") and line[0] != " "]
    assert [heading.partition(",")[0] for heading in headings] == [
        *("Options", "Metrics", "Log", "Judge", "Deciders", "Recorded and kept replies", "Pace", "Spending", "Batches")
    ]
    listed = [
        line.split()[0].strip(",") for line in shown.splitlines() if line.startswith("  -") and "help" not in line
    ]
    assert sorted(listed) == sorted(one.opts[0] for one in cli.commands["run"].params if isinstance(one, click.Option))


def test_one_row_is_no_plural(tmp_path: Path, out: Path) -> None:
    (tmp_path / "one.jsonl").write_text(lines([row(1)]), encoding="utf-8")
    done = judgekit(
        *("run", tmp_path / "one.jsonl", "-o", out, "--judge", "m-2025-04-14", "--base-url", "http://127.0.0.1:9/v1"),
        "--estimate",
    )
    assert (done.code, "Estimate for 1 row; nothing" in done.out) == (0, True)


def test_help_is_printed_on_stdout() -> None:
    done = judgekit("run", "--help")
    assert (done.code, done.err) == (0, "")
    assert "goes on where an earlier one stopped" in " ".join(done.out.split())
    assert judgekit("nonsense").code == 2


@pytest.mark.parametrize("arguments", [("--json",), ()])
def test_a_reader_that_leaves_early_is_no_error(log: Path, out: Path, arguments: tuple[str, ...]) -> None:
    with Server(over_http(Truth())) as server:
        judged(log, out, server)
    read, write = os.pipe()
    os.close(read)
    command = "import sys; sys.path.insert(0, sys.argv.pop(1)); from judgekit.cli import main; main()"
    process = subprocess.run(
        [sys.executable, "-c", command, str(ROOT), "report", str(out), *arguments],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    os.close(write)
    assert (process.returncode, process.stderr) == (0, "")
