"""Which judge answered: what a run says about it, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from misbehaving import Server
from scripts import Truth, lines, over_http, row

import judgekit as jk
from judgekit.cli import cli


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    path.write_text(lines(row(number) for number in range(1, 4)), encoding="utf-8")
    return path


def judged(log: Path, out: Path, server: Server, *more: object, model: str = "m") -> Result:
    arguments = ["run", log, "-o", out, "--judge", model, "--base-url", server.url, "--metrics", "faithfulness", *more]
    given = [str(argument) for argument in arguments]
    return CliRunner().invoke(cli, given, env={"OPENAI_API_KEY": ""}, standalone_mode=False)


def answering_as(model: str, **more: Any) -> Any:
    return over_http(Truth(), model=model, **more)


def test_a_new_run_over_a_shared_cache_asks_once_who_answers_and_takes_no_reply_of_another(
    log: Path, tmp_path: Path
) -> None:
    cache = ("--cache", tmp_path / "cache")
    with Server(answering_as("m-2026-01-01")) as server:
        judged(log, tmp_path / "first", server, *cache)
        paid = len(server.requests)
        judged(log, tmp_path / "second", server, *cache)
        assert len(server.requests) == paid + 1, "one call tells that it is the same judge"
        judged(log, tmp_path / "second", server, *cache)
        assert len(server.requests) == paid + 1, "a run that is taken up knows its judge"
        server._handler = answering_as("m-2026-02-02")
        with pytest.warns(RuntimeWarning, match="kept replies of 'm-2026-01-01' are not used"):
            judged(log, tmp_path / "third", server, *cache)
        assert len(server.requests) == 2 * paid + 1
    resolved = [jk.load_run(tmp_path / name).manifest.judge["extractor"]["resolved"] for name in ("second", "third")]
    assert resolved == ["m-2026-01-01", "m-2026-02-02"]


def test_a_run_taken_up_when_another_model_answers_stops(log: Path, tmp_path: Path) -> None:
    with Server(answering_as("m-2026-01-01")) as server:
        judged(log, tmp_path / "run", server)
        log.write_text(log.read_text(encoding="utf-8") + lines([row(4)]), encoding="utf-8")
        server._handler = answering_as("m-2026-02-02")
        outcome = judged(log, tmp_path / "run", server)
    assert type(outcome.exception) is jk.JudgeDrift
    assert outcome.exception.exit_code == 3
    assert len(jk.load_run(tmp_path / "run")) == 3


def test_an_alias_is_warned_about_and_refused_where_the_pin_is_strict(log: Path, tmp_path: Path) -> None:
    with Server(answering_as("m")) as server:
        warned = judged(log, tmp_path / "run", server)
        assert "judgekit: m names no snapshot" in warned.stderr
        asked = len(server.requests)
        refused = judged(log, tmp_path / "strict", server, "--strict-pin")
        assert type(refused.exception) is jk.InputError
        assert len(server.requests) == asked
        dated = judged(log, tmp_path / "dated", server, "--strict-pin", model="m-2026-01-01")
    assert type(dated.exception) is jk.JudgeDrift, "it answers as m"
    with Server(answering_as("m-2026-01-01")) as server:
        dated = judged(log, tmp_path / "dated", server, "--strict-pin", model="m-2026-01-01")
    assert (dated.return_value, "names no snapshot" in dated.stderr) == (0, False)


def test_the_report_says_when_it_cannot_be_known_who_answered(log: Path, tmp_path: Path) -> None:
    with Server(answering_as("m")) as server:
        assert "unverifiable: 6 of 6 replies name no snapshot" in judged(log, tmp_path / "run", server).stdout
    with Server(answering_as("m-2026-01-01")) as server:
        assert "Identity" not in judged(log, tmp_path / "named", server).stdout
    sessions = [jk.load_run(tmp_path / name).manifest.sessions[0] for name in ("run", "named")]
    assert [session.unnamed for session in sessions] == [6, 0]


def test_the_report_says_that_fingerprints_changed(log: Path, tmp_path: Path) -> None:
    one, other = (answering_as("m-2026-01-01", fingerprint=name) for name in ("fp_1", "fp_2"))
    with Server(lambda sent: (one if "Tank 1 " in str(sent.body) else other)(sent)) as server:
        assert "2 fingerprints seen" in judged(log, tmp_path / "run", server).stdout


# --- a fingerprint that was not seen before ------------------------------------------------------------


def taken_up(tmp_path: Path, second: Any, *more: object) -> tuple[Result, list[Any]]:
    """A run of 30 rows, and then one row more, judged by an endpoint with another fingerprint."""
    log = tmp_path / "log.jsonl"
    log.write_text(lines(row(number) for number in range(1, 31)), encoding="utf-8")
    truth = Truth(labels=lambda claim, _: "supported" if "litres" in claim else "unsupported")
    with Server(over_http(truth, model=DATED, fingerprint="fp_1")) as server:
        judged(log, tmp_path / "run", server, model=DATED)
        log.write_text(log.read_text(encoding="utf-8") + lines([row(31)]), encoding="utf-8")
        server.requests.clear()
        server._handler = second
        return judged(log, tmp_path / "run", server, *more, model=DATED), server.requests


DATED = "m-2026-01-01"
SAME = over_http(
    Truth(labels=lambda claim, _: "supported" if "litres" in claim else "unsupported"), model=DATED, fingerprint="fp_2"
)
OTHER = over_http(Truth(), model=DATED, fingerprint="fp_2")


def test_a_new_fingerprint_has_checks_of_the_run_asked_again_past_the_cache(tmp_path: Path) -> None:
    outcome, requests = taken_up(tmp_path, SAME)
    assert outcome.return_value == 0
    assert "asked some checks of the run again: same" in outcome.stderr
    assert len(requests) > 20


def test_verdicts_that_turn_with_the_fingerprint_make_the_run_invalid(tmp_path: Path) -> None:
    outcome, _ = taken_up(tmp_path, OTHER)
    assert outcome.return_value == 3
    assert "asked some checks of the run again: drifted" in outcome.stderr


def test_it_is_asked_only_when_wanted(tmp_path: Path) -> None:
    outcome, requests = taken_up(tmp_path, OTHER, "--recheck", "never")
    assert outcome.return_value == 0
    assert len(requests) == 2, "the split and the verdicts of the new row"


def test_without_a_new_fingerprint_it_is_asked_on_request(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(lines(row(number) for number in range(1, 31)), encoding="utf-8")
    with Server(answering_as(DATED)) as server:
        outcome = judged(log, tmp_path / "run", server, "--recheck", "always", model=DATED)
        paid = len(server.requests)
        assert outcome.return_value == 0
        assert "checks of the run again: same" in outcome.stderr
        again = judged(log, tmp_path / "run", server, "--recheck", "always", model=DATED)
        assert "checks of the run again: same" in again.stderr
        assert len(server.requests) > paid, "it never is answered from what was kept"
