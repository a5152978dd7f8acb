"""A log judged through an endpoint that fails in every known way: nothing is lost, nothing is invented."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from faults import FAULTS, Faulty, another_model
from misbehaving import Handler, Server, error
from scripts import Truth, judge_that, lines, row

import judgekit as jk
from judgekit.cli import cli
from judgekit.errors import JudgeDrift, JudgeUnreachable, JudgeUnusable
from judgekit.records import Label

METRICS = ["faithfulness", "citation_support", "context_precision", "answer_relevance"]
MODEL = "m-2026-01-01"


def label(claim: str, _sources: object) -> str:
    return "supported" if "litres" in claim else "unsupported"


TRUTH = Truth(labels=label)


def log_of(folder: Path, rows: int) -> Path:
    path = folder / "log.jsonl"
    path.write_text(lines(row(number) for number in range(1, rows + 1)), encoding="utf-8")
    return path


def judged(folder: Path, server: Server | Handler, *, rows: int, **options: Any) -> jk.Run:
    if not isinstance(server, Server):
        with Server(server) as one:
            return judged(folder, one, rows=rows, **options)
    asked = {"timeout": 0.4, "concurrency": 24, **options}
    with jk.Judge(MODEL, base_url=server.url, **asked) as judge:
        return jk.judge_log(log_of(folder, rows), out=folder / "run", judge=judge, metrics=METRICS)


@pytest.fixture(scope="module")
def truth(tmp_path_factory: pytest.TempPathFactory) -> jk.Run:
    """What is to be found where nothing goes wrong."""
    folder = tmp_path_factory.mktemp("truth")
    script = judge_that(labels=label, form="text")
    return jk.judge_log(log_of(folder, 40), out=folder / "run", judge=script.judge, metrics=METRICS)


def nothing_is_lost_or_invented(run: jk.Run, truth: jk.Run, *, rows: int) -> int:
    """Every row is there, and every verdict and rating is the true one, or missing with its cause. How many miss."""
    assert [result.id for result in run] == [f"r{number}" for number in range(1, rows + 1)]
    missing = 0
    for result in run:
        known = truth[result.id].case
        true_labels = {verdict.check: verdict.label for verdict in known.verdicts}
        true_ratings = {(rating.kind, rating.subject): rating.label for rating in known.ratings}
        unsplit = bool(result.case.unsplit)
        assert unsplit or {claim.text for claim in result.claims} == {claim.text for claim in known.claims}
        missing += unsplit
        for verdict in result.verdicts:
            missing += verdict.label is Label.UNJUDGED
            assert verdict.label in (true_labels[verdict.check], Label.UNJUDGED)
            assert (verdict.cause is not None) is (verdict.label is Label.UNJUDGED)
        for rating in result.case.ratings:
            missing += rating.label is None
            assert rating.label in (true_ratings[rating.kind, rating.subject], None)
            assert (rating.cause is not None) is (rating.label is None)
        for score in result.scores:
            assert score.value in (truth[result.id][score.metric].value, None)
            assert score.value is not None or score.reason in ("unjudged", "unsplit")
    return missing


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_one_kind_in_every_twentieth_reply_costs_nothing_that_could_be_had(
    tmp_path: Path, truth: jk.Run, name: str
) -> None:
    faulty = Faulty(TRUTH, 0.05, (name,), surely="Tank 3 ")
    run = judged(tmp_path, faulty, rows=8)
    assert faulty.done[name] > 0
    missing = nothing_is_lost_or_invented(run, truth, rows=8)
    assert missing <= faulty.spoiled_again, "whatever asking again could give is there"


def test_all_faults_at_once_in_three_of_ten_replies(tmp_path: Path, truth: jk.Run) -> None:
    faulty = Faulty(TRUTH, 0.3)
    run = judged(tmp_path, faulty, rows=40)
    assert sum(faulty.done.values()) > 100
    assert len(faulty.done) > 25
    missing = nothing_is_lost_or_invented(run, truth, rows=40)
    assert 0 < missing <= faulty.spoiled_again
    summary = run.summary()
    assert summary.unjudged + sum(summary.faults.values()) >= missing
    assert set(summary.causes) | set(summary.faults)


def test_what_stayed_unjudged_is_had_by_the_same_command_once_the_endpoint_is_well(
    tmp_path: Path, truth: jk.Run
) -> None:
    with Server(Faulty(TRUTH, 0.3)) as server:
        judged(tmp_path, server, rows=40)
        server._handler = Faulty(TRUTH, 0.0)
        again = judged(tmp_path, server, rows=40)
    assert nothing_is_lost_or_invented(again, truth, rows=40) == 0
    assert [[score.value for score in result.scores] for result in again] == [
        [score.value for score in result.scores] for result in truth
    ]


def test_causes_reach_the_report(tmp_path: Path) -> None:
    log = log_of(tmp_path, 6)
    faulty = Faulty(TRUTH, 1.0, ("prose instead",))
    with Server(faulty) as server:
        arguments = ["run", str(log), "-o", str(tmp_path / "run"), "--judge", MODEL, "--base-url", server.url]
        outcome = CliRunner().invoke(cli, [*arguments, "--metrics", "context_precision"], standalone_mode=False)
    assert outcome.return_value == 3, "nothing was judged, so that the numbers are not valid"
    assert "12 of 12 verdicts and ratings (100.0%): 12 no json" in outcome.stdout
    assert "12 of 12 splits, verdicts and ratings are missing" in outcome.stderr


# --- what stops a run --------------------------------------------------------------------------------


def test_another_model_among_the_replies_stops_the_run_and_leaves_nothing_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(JudgeDrift, match="m-2026-02-02"):
        judged(tmp_path, another_model(Faulty(TRUTH, 0.0), share=0.05), rows=40)
    assert not any(b"m-2026-02-02" in path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file())


def test_an_endpoint_that_dies_stops_the_run_and_a_living_one_finishes_it_without_paying_twice(
    tmp_path: Path, truth: jk.Run
) -> None:
    paid: list[bytes] = []
    well = Faulty(TRUTH, 0.0)

    def dying(request: Any) -> Any:
        if len(paid) >= 60:
            return error(503, "going down")
        paid.append(request.raw)
        return well(request)

    later: list[bytes] = []

    def alive(request: Any) -> Any:
        later.append(request.raw)
        return well(request)

    with Server(dying) as server:
        with pytest.raises(JudgeUnreachable) as stop:
            judged(tmp_path, server, rows=40, max_attempts=2)
        server._handler = alive
        run = judged(tmp_path, server, rows=40)
    assert stop.value.exit_code == 3
    assert "goes on" in str(stop.value)
    assert nothing_is_lost_or_invented(run, truth, rows=40) == 0
    assert not set(paid) & set(later)


@pytest.mark.parametrize(
    ("status", "words", "code"),
    [(401, "Incorrect API key", None), (403, "not allowed", None), (404, "no such model", "model_not_found")],
)
def test_what_no_call_can_mend_stops_at_once(tmp_path: Path, status: int, words: str, code: str | None) -> None:
    calls: list[int] = []

    def refuse(_request: Any) -> Any:
        calls.append(1)
        return error(status, words, code=code)

    with pytest.raises(JudgeUnusable):
        judged(tmp_path, refuse, rows=40, concurrency=8)
    assert len(calls) <= 8


def test_a_quota_that_runs_out_half_way_stops_the_run(tmp_path: Path) -> None:
    paid: list[int] = []
    well = Faulty(TRUTH, 0.0)

    def metered(request: Any) -> Any:
        if len(paid) >= 60:
            return error(429, "You exceeded your current quota", code="insufficient_quota")
        paid.append(1)
        return well(request)

    with pytest.raises(JudgeUnusable, match="add credit"):
        judged(tmp_path, metered, rows=40, concurrency=8)
    assert json.loads((tmp_path / "run" / "manifest.json").read_text(encoding="utf-8"))["sessions"][0]["sent"] == 60
