"""`judgekit retrieval RUN --judged`: a judge's grades in the place of labels."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from metric_cases import a_case, ratings

from judgekit.cli import cli
from judgekit.errors import InputError
from judgekit.records import Case, Context, Manifest, MetricPin, Result, Retrieval, Sample
from judgekit.retrieval import Conventions, judged_sample, score_sample
from judgekit.rundir import write_run

TEXTS = {"d1": "First.", "d2": "Second.", "blank": " ", "again": "Second. "}
BY_GRADE = Conventions(relevance_level=2)


def judged(row_id: str, grades: dict[str, str | None], ids: str = "d1 d2 blank again") -> Case:
    contexts = tuple(Context(id=one, text=TEXTS[one]) for one in ids.split())
    return a_case(Sample(id=row_id, question="?", contexts=contexts), rated=ratings("relevance", grades))


def run_of(folder: Path, *cases: Case, metric: str = "context_precision") -> Path:
    pins = {metric: MetricPin(pin="p", version=1, lower_is_better=False, options={"relevant_from": 2, "k": None})}
    write_run(folder, map(as_result, cases), Manifest(judgekit="0.1.0", logs=(), judge={}, metrics=pins))
    return folder


def as_result(case: Case) -> Result:
    return Result(case=case)


def retrieval(*arguments: object) -> str:
    done = CliRunner().invoke(cli, ["retrieval", *map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


CASES = (
    judged("q1", {"d1": "1", "d2": "3"}, "d1 d2"),
    judged("q2", {"d1": "2", "d2": "0"}, "d1 d2"),
    judged("q3", {"d1": "3", "d2": None}, "d1 d2"),
    judged("q4", {}, ""),
)


def test_grades_are_labels_blanks_are_0_and_copies_carry_the_grade_of_the_first() -> None:
    found = judged_sample(judged("q", {"d1": "1", "d2": "3"}))
    assert found.relevance == {"d1": 1, "d2": 3, "blank": 0, "again": 3}
    assert score_sample(found, "precision", conventions=BY_GRADE).contexts["precision"] == 0.5


@pytest.mark.parametrize("grades", [{"d1": "3", "d2": None}, {"d1": "3"}])
def test_one_missing_grade_leaves_no_labels(grades: dict[str, str | None]) -> None:
    assert judged_sample(judged("q", grades)).relevance is None


def test_retrieval_calls_were_not_judged_and_are_left_out() -> None:
    case = judged("q", {"d1": "3"}, "d1")
    calls = (Retrieval(contexts=(Context(id="d9", text="Unseen."),)),)
    assert judged_sample(case.having(sample=case.sample.having(retrievals=calls))).retrievals == ()


def test_a_run_is_scored_from_grade_2_on_and_marked(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", *CASES)
    shown = retrieval(run, "--judged", "--measures", "mrr,precision@2").splitlines()
    assert shown[0] == "4 queries; relevant from judged grade 2"
    assert shown[1].startswith("mean, judged  value [95 %]")
    # q1 finds grade 3 at rank 2, q2 grade 2 at rank 1, q4 retrieved nothing: (1/2 + 1 + 0) / 3
    assert shown[2].split()[:2] == ["mrr", "0.5000"]
    assert shown[2].split()[4:] == ["3*", "1", "unjudged"]
    assert "[ ]: interval, given this pinned judge; its own errors are not in it" in shown
    assert any(line.startswith("note: the judge saw only what was retrieved") for line in shown)
    assert not any(line.startswith("  q3") for line in shown)


def test_the_json_says_that_relevance_was_judged_and_from_which_grade(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", *CASES)
    found = json.loads(retrieval(run, "--judged", "--measures", "precision@2", "--json"))
    assert (found["relevance"], found["conventions"]["relevance_level"]) == ("judged", 2)
    assert found["measures"]["precision@2"]["mean"] == pytest.approx(1 / 3)
    assert found["measures"]["precision@2"]["undefined"] == {"unjudged": 1}
    lower = json.loads(retrieval(run, "--judged", "--measures", "precision@2", "--relevant-from", 1, "--json"))
    assert lower["measures"]["precision@2"]["mean"] == pytest.approx(1 / 2)


def test_labels_stay_relevant_from_1(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text('{"contexts": [{"id": "a"}], "relevance": {"a": 1}}\n', encoding="utf-8")
    found = json.loads(retrieval(log, "--measures", "rr", "--json"))
    assert (found["relevance"], found["measures"]["rr"]["mean"]) == ("labels", 1.0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--judged", "--map", "contexts=ctx"), "--judged takes one run's folder and no --map"),
        (("--judged", "other"), "--judged takes one run's folder"),
    ],
)
def test_what_else_cannot_stand_beside_it(tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    done = CliRunner().invoke(cli, ["retrieval", str(tmp_path), *arguments])
    assert isinstance(done.exception, InputError)
    assert words in str(done.exception)


def test_a_run_that_never_asked_for_relevance_is_an_error_with_the_remedy(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", judged("q", {}, "d1"), metric="own")
    done = CliRunner().invoke(cli, ["retrieval", str(run), "--judged"])
    assert isinstance(done.exception, InputError)
    assert "judge the log with context_precision too" in str(done.exception)


def test_grades_asked_for_a_metric_of_ones_own_serve_too(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", judged("q", {"d1": "2"}, "d1"), metric="own")
    assert json.loads(retrieval(run, "--judged", "--measures", "rr", "--json"))["measures"]["rr"]["mean"] == 1.0
