"""A judge held against human labels."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from misbehaving import Server, error
from scripts import Truth, judge_that, over_http, request_of

import judgekit as jk
from judgekit.cli import cli
from judgekit.errors import BudgetSpent, InputError, LogError
from judgekit.records import Options
from judgekit.stats import pearson, spearman
from judgekit.validate import Judged, best_threshold, compare, judge_row, measure, read, worst


def labelled(number: int, *, good: bool | None = None, **changes: Any) -> dict[str, Any]:
    """Of claims with an even number people say that they hold."""
    is_good = number % 2 == 0 if good is None else good
    row = {
        "id": f"r{number}",
        "task": "claim_support",
        "question": f"What of pump {number}?",
        "claim": f"Pump {number} runs at 48 volts. It hums.",
        "contexts": [f"Pump {number} runs at {48 if is_good else 24} volts and hums."],
        "label": "supported" if is_good else "not supported",
        "label_binary": int(is_good),
    }
    return {key: value for key, value in {**row, **changes}.items() if value is not ...}


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def validated(path: Path, server: Server, *more: object) -> Result:
    arguments = ["validate", path, "--judge", "m-2026-01-01", "--base-url", server.url, *more]
    given = [str(one) for one in arguments]
    return CliRunner().invoke(cli, given, env={"OPENAI_API_KEY": ""}, standalone_mode=False)


def in_json(path: Path, server: Server, *more: object) -> dict[str, Any]:
    outcome = validated(path, server, "--json", *more)
    assert outcome.exception is None, outcome.output
    found: dict[str, Any] = json.loads(outcome.stdout)
    return found


# --- correlations ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "y", "r", "rho"),
    [
        ([1, 2, 3], [2, 4, 6], 1.0, 1.0),
        ([1, 2, 3], [3, 2, 1], -1.0, -1.0),
        ([1, 2, 3, 4], [1, 4, 9, 16], 0.9843740386976972, 1.0),
        # 30 / sqrt(200 x 5); the ranks 1, 2.5, 2.5, 4 lie as the values do
        ([10, 20, 20, 30], [1, 3, 2, 4], 0.9486832980505138, 0.9486832980505138),
        # 60 / sqrt(900 x 5); the same ranks
        ([10, 20, 20, 50], [1, 3, 2, 4], 0.8944271909999159, 0.9486832980505138),
        ([1, 1, 1], [1, 2, 3], None, None),
        ([1], [2], None, None),
        ([], [], None, None),
    ],
)
def test_correlations(x: list[float], y: list[float], r: float | None, rho: float | None) -> None:
    assert pearson(x=x, y=y) == (None if r is None else pytest.approx(r, abs=1e-9))
    assert spearman(x=x, y=y) == (None if rho is None else pytest.approx(rho, abs=1e-9))


# --- reading -----------------------------------------------------------------------------------------


def test_every_bad_row_is_named_with_its_place_and_remedy(tmp_path: Path) -> None:
    rows = [
        labelled(1),
        labelled(2, task=...),
        labelled(3, claim=...),
        labelled(4, contexts=[]),
        labelled(5, label_binary="yes"),
        labelled(6, label_binary=None),
        labelled(1),
        labelled(8, extra={"votes": "three"}),
    ]
    path = write(tmp_path / "rows.jsonl", rows)
    with pytest.raises(LogError) as caught:
        read(path, raters="extra.votes")
    said = [problem.removeprefix(f"{path}:") for problem in caught.value.problems]
    assert [line.split(": ")[:2] for line in said] == [
        ["2", "task"],
        ["3", "claim"],
        ["4", "contexts"],
        ["5", "label_binary"],
        ["6", "label_binary"],
        ["7", "id"],
        ["8", "extra.votes"],
    ]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"claim": " "}, "claim: empty; give the text that was labelled"),
        ({"claim": ..., "answer": ""}, "answer: empty; give"),
        ({"contexts": ["", " \n"]}, "contexts: none of them has a text"),
        ({"task": "relevance", "question": None}, "question: missing or empty; relevance is judged by it"),
        ({"task": "answer_relevance", "question": " ", "contexts": ...}, "question: missing or empty"),
        ({"label_binary": ..., "label": 10**400}, "label_binary: missing"),
    ],
)
def test_what_says_nothing_is_not_judged(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(LogError, match=f"rows.jsonl:1: {said}"):
        read(write(tmp_path / "rows.jsonl", [labelled(1, **changes)]))


def test_rows_of_other_tasks_are_counted_and_a_file_of_nothing_else_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.jsonl", [labelled(1), labelled(2, task="claim_split")])
    found = read(path)
    assert ([row.id for row in found.rows], found.passed_over) == (["r1"], {"claim_split": 1})
    with pytest.raises(InputError, match="the tasks are: claim_support"):
        read(write(tmp_path / "none.jsonl", [labelled(2, task="claim_split")]))


def test_rows_with_one_question_are_a_group_unless_told_otherwise(tmp_path: Path) -> None:
    rows = [
        labelled(1, question="q", extra={"page": 7}),
        labelled(2, question="q", extra={"page": 8}),
        labelled(3, question=None, contexts=["one page"], extra={"page": 7}),
        labelled(4, question=None, contexts=["one page"]),
    ]
    path = write(tmp_path / "rows.jsonl", rows)
    assert [row.group for row in read(path).rows] == ["q", "q", "one page", "one page"]
    assert [row.group for row in read(path, group_by="extra.page").rows] == ["7", "8", "7", "r4"]


# --- judging -----------------------------------------------------------------------------------------


def judged(row: dict[str, Any], tmp_path: Path, **truth: Any) -> tuple[Judged, Any]:
    import asyncio  # noqa: PLC0415

    script = judge_that(**truth)
    (one,) = read(write(tmp_path / "row.jsonl", [row])).rows
    return asyncio.run(judge_row(one, judge=script.judge, options=Options())), script


@pytest.mark.parametrize(
    ("label", "score", "is_good"),
    [("supported", 1.0, True), ("partially_supported", 0.5, False), ("unsupported", 0.0, False)],
)
def test_a_claim_is_held_whole_against_its_contexts_in_one_call(
    tmp_path: Path, label: str, score: float, is_good: bool
) -> None:
    found, script = judged(labelled(1), tmp_path, labels=lambda *_: label)
    assert (found.score, found.is_good, found.said) == (score, is_good, label)
    assert [request.task for request in script.asked] == ["verify"]
    assert [question.text for question in script.asked[0].questions] == ['"Pump 1 runs at 48 volts. It hums."']


def test_where_a_judge_gives_probabilities_they_are_the_score(tmp_path: Path) -> None:
    found, _ = judged(labelled(1), tmp_path, form="probabilities")
    assert found.has_probability
    assert found.score is not None
    assert 0.5 < found.score < 1


def test_an_answer_is_taken_apart_and_good_when_every_claim_is_supported(tmp_path: Path) -> None:
    row = labelled(1, task="answer_faithfulness", claim=..., answer="Pump 1 hums. Pump 1 runs at 48 volts.")
    found, script = judged(row, tmp_path, labels=lambda claim, _: "unsupported" if "48" in claim else "supported")
    assert (found.score, found.is_good, found.said) == (0.5, False, "1 of 2")
    assert script.count("split") == 1
    assert judged(row, tmp_path)[0].is_good is True


def test_relevance_is_the_grade_of_the_best_context(tmp_path: Path) -> None:
    row = labelled(1, task="relevance", claim=..., contexts=["a", "b"], label=3)
    found, _ = judged(row, tmp_path, grades=[1, 2])
    assert (found.score, found.is_good, found.said) == (pytest.approx(2 / 3), True, "2")
    assert judged(row, tmp_path, grades=[0, 1])[0].is_good is False


def test_a_refusing_answer_has_no_value_and_a_failing_judge_no_verdict(tmp_path: Path) -> None:
    row = labelled(1, task="answer_relevance", claim=..., answer="The pump hums.", contexts=...)
    assert judged(row, tmp_path, addressed={"What of pump 1?": "declined"})[0].reason == "refused"
    failing, _ = judged(labelled(1), tmp_path, spoil=lambda *_: "no JSON at all")
    assert (failing.score, failing.cause) == (None, "no_json")


# --- measuring ---------------------------------------------------------------------------------------


def scored(number: int, *, good: bool, score: float | None, grade: float | None = None, **more: Any) -> Judged:
    row = {
        "id": f"r{number}",
        "task": "claim_support",
        "sample": {"id": f"r{number}", "question": "", "answer": "a", "contexts": []},
        "is_claim": True,
        "is_good": good,
        "grade": grade,
        "raters": more.pop("raters", ()),
        "group": more.pop("group", f"g{number}"),
    }
    said = {} if score is None else {"is_good": score >= 0.75}
    return Judged.model_validate({"row": row, "score": score, "overlap": 0.5, **said, **more})


def test_numbers_worked_out_by_hand() -> None:
    """Good rows scored 1, 1, .5; bad ones .5, 0, 1, and one that the judge failed."""
    rows = [(True, 1.0), (True, 1.0), (True, 0.5), (False, 0.5), (False, 0.0), (False, 1.0)]
    found = [scored(at, good=good, score=score, grade=float(good)) for at, (good, score) in enumerate(rows)]
    found.append(scored(9, good=True, score=None, cause="timeout"))
    numbers = measure("f", "claim_support", found)
    assert (numbers.rows, numbers.unjudged) == (7, {"timeout": 1})
    assert (numbers.found_bad.value, numbers.passed_good.value) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    assert numbers.balanced_accuracy.value == pytest.approx(2 / 3)
    assert numbers.balanced_accuracy.n == 6
    # of nine pairs: 1.0 beats .5 and 0 and ties with 1.0, twice; .5 ties, beats, loses
    assert numbers.auc.value == pytest.approx((2.5 + 2.5 + 1.5) / 9)
    assert numbers.overlap_auc.value == 0.5
    low, high = numbers.balanced_accuracy.low, numbers.balanced_accuracy.high
    assert low is not None
    assert high is not None
    assert 0 <= low < 2 / 3 < high <= 1


def test_the_order_of_the_rows_changes_nothing() -> None:
    rows = [scored(at, good=at % 3 == 0, score=at / 20, group=f"g{at % 7}") for at in range(20)]
    assert measure("f", "t", rows) == measure("f", "t", rows[::-1])


def test_rows_of_one_group_weigh_as_one_in_the_interval() -> None:
    once = [scored(at, good=at % 2 == 0, score=float(at % 3 == 0)) for at in range(24)]
    copies = [
        scored(100 * copy + at, good=at % 2 == 0, score=float(at % 3 == 0), group=f"g{at}")
        for copy in range(5)
        for at in range(24)
    ]
    narrow, wide = measure("f", "t", copies).balanced_accuracy, measure("f", "t", once).balanced_accuracy
    assert narrow.value == pytest.approx(wide.value)
    assert (narrow.low, narrow.high) == (pytest.approx(wide.low), pytest.approx(wide.high))


def test_a_threshold_is_tuned_on_groups_that_it_is_not_measured_on() -> None:
    """Scores that tell good from bad perfectly at .3, where .75 calls every row bad."""
    rows = [scored(at, good=at % 2 == 0, score=0.3 + at / 1000 if at % 2 == 0 else 0.1) for at in range(60)]
    numbers = measure("f", "t", rows)
    assert numbers.balanced_accuracy.value == 0.5
    assert numbers.tuned.balanced_accuracy.value == 1.0
    assert numbers.tuned.threshold is not None
    assert 0.3 <= numbers.tuned.threshold < 0.36
    assert 10 < numbers.tuned.balanced_accuracy.n < 50
    assert measure("f", "t", rows, dev=0.0).tuned.threshold is None


def test_the_best_threshold_of_equal_ones_is_the_lowest() -> None:
    assert best_threshold([(0.9, True), (0.6, True), (0.4, False)]) == 0.6
    assert best_threshold([(0.9, True)]) is None
    assert best_threshold([(0.2, True), (0.8, False)]) == 0.2


def test_the_ceiling_is_one_rater_against_the_others() -> None:
    """Of 3 raters each is held against the two others where these agree: 4 such pairs below, one of them a miss."""
    rows = [
        scored(1, good=True, score=1.0, grade=4.0, raters=(4, 4, 4)),
        scored(2, good=False, score=0.0, grade=2.0, raters=(2, 2, 4)),
    ]
    ceiling = measure("f", "t", rows).human
    assert ceiling.n == 4
    assert ceiling.value == pytest.approx((1 + 0) / 2)
    assert measure("f", "t", [scored(1, good=True, score=1.0)]).human.value is None


def test_two_sets_of_prompts_are_compared_row_by_row() -> None:
    a = [scored(at, good=at % 2 == 0, score=1.0) for at in range(10)]
    b = [scored(at, good=at % 2 == 0, score=float(at % 2 == 0 or at == 1)) for at in range(10)]
    b[3] = scored(3, good=False, score=None, cause="timeout")
    found = compare("f", "t", a, b)
    assert (found.rows, found.only_a, found.only_b) == (9, 0, 3)
    assert found.difference.value == pytest.approx(0.375)  # all of one class right: .5; with 3 of 4 bad ones: .875
    assert found.p == pytest.approx(0.125)


def test_the_rows_farthest_apart_come_first() -> None:
    rows = [scored(1, good=True, score=0.4), scored(2, good=False, score=1.0), scored(3, good=True, score=1.0)]
    assert [one.row.id for one in worst(rows, 5)] == ["r2", "r1"]
    assert worst(rows, 1)[0].row.id == "r2"


# --- the command -------------------------------------------------------------------------------------

#: A judge that believes everything but what has 24 volts in its sources, and rows 2 and 3 wrongly.
TRUTH = Truth(
    labels=lambda claim, sources: (
        "supported" if ("24" not in "".join(sources)) != any(f"Pump {n} " in claim for n in (2, 3)) else "unsupported"
    )
)


def test_a_judge_is_held_against_labels_from_the_command_line(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.jsonl", [labelled(number) for number in range(1, 21)])
    with Server(over_http(TRUTH)) as server:
        (found,) = in_json(path, server, "-o", tmp_path / "out")["measured"]
        paid = len(server.requests)
        again = validated(path, server, "-o", tmp_path / "out")
        assert len(server.requests) == paid == 20
    assert found["balanced_accuracy"]["value"] == found["found_bad"]["value"] == found["passed_good"]["value"] == 0.9
    assert found["calls"] == 20
    assert "balanced accuracy       0.900 [" in again.stdout
    assert again.stdout.index("r2: people say good, the judge unsupported") < again.stdout.index("r3: people say bad")
    rows = [json.loads(line) for line in (tmp_path / "out" / "judged.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["row"]["id"] for row in rows] == [f"r{number}" for number in range(1, 21)]


def test_a_limit_draws_the_same_rows_whatever_their_order(tmp_path: Path) -> None:
    rows = [labelled(number) for number in range(1, 21)]
    drawn = []
    with Server(over_http(TRUTH)) as server:
        for name, order in (("a", rows), ("b", rows[::-1])):
            in_json(write(tmp_path / f"{name}.jsonl", order), server, "--limit", 6, "-o", tmp_path / name)
            judged_rows = (tmp_path / name / "judged.jsonl").read_text(encoding="utf-8").splitlines()
            drawn.append([json.loads(line)["row"]["id"] for line in judged_rows])
        larger = in_json(write(tmp_path / "c.jsonl", rows), server, "--limit", 9)
    assert drawn[0] == drawn[1]
    assert (len(drawn[0]), larger["measured"][0]["rows"]) == (6, 9)


def test_other_prompts_are_compared_on_the_same_rows(tmp_path: Path) -> None:
    prompts = tmp_path / "prompts"
    prompts.mkdir()
    (prompts / "verify.j2").write_text(
        (Path(jk.__file__).parents[1] / "prompts" / "verify.j2")
        .read_text(encoding="utf-8")
        .replace("claims", "CLAIMS"),
        encoding="utf-8",
    )
    better = Truth(labels=lambda _, sources: "unsupported" if "24" in "".join(sources) else "supported")

    def handle(sent: Any) -> Any:
        return over_http(better if "CLAIMS" in json.dumps(sent.body) else TRUTH)(sent)

    path = write(tmp_path / "rows.jsonl", [labelled(number) for number in range(1, 21)])
    with Server(handle) as server:
        (found,) = in_json(path, server, "--compare-prompts", prompts)["compared"]
    assert (found["rows"], found["only_a"], found["only_b"]) == (20, 0, 2)
    assert found["difference"]["value"] == pytest.approx(0.1)


def test_where_the_judge_fails_every_row_the_command_says_so_and_exits_with_3(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.jsonl", [labelled(number) for number in range(1, 5)])
    with Server(error(400, "nothing works")) as server:
        outcome = validated(path, server)
    assert outcome.return_value == 3
    assert "not scored: 4 unjudged (4 refused by endpoint)" in outcome.stdout


def test_hostile_rows_do_not_steer_the_terminal(tmp_path: Path) -> None:
    hostile = labelled(1, id="r\x1b[31m1", claim="Ignore\x1b]0;x\x07 it. \u202eevil", good=False)

    def handle(sent: Any) -> Any:
        request_of(sent.body)
        return over_http(Truth())(sent)

    with Server(handle) as server:
        outcome = validated(write(tmp_path / "rows.jsonl", [hostile]), server)
    assert outcome.return_value == 0
    assert not {"\x1b", "\u202e", "\x07"} & set(outcome.stdout)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--group-by", "extra.pag"), "--group-by extra.pag: no row has it"),
        (("--raters", "extra.votes"), "--raters extra.votes: no row has it"),
        (("{rows}",), "given twice, and its rows would count twice"),
        (("--compare-prompts", "{empty}"), "no prompt in it differs"),
    ],
)
def test_what_would_change_nothing_or_count_twice_is_refused_before_anything_is_asked(
    tmp_path: Path, more: tuple[str, ...], said: str
) -> None:
    path = write(tmp_path / "rows.jsonl", [labelled(1, extra={"page": 7})])
    (tmp_path / "empty").mkdir()
    with Server(over_http(TRUTH)) as server:
        outcome = validated(path, server, *(one.format(rows=path, empty=tmp_path / "empty") for one in more))
        assert isinstance(outcome.exception, InputError)
        assert said in str(outcome.exception)
        assert not server.requests


def test_a_cap_is_one_of_the_command_for_both_sets_of_prompts(tmp_path: Path) -> None:
    other = tmp_path / "prompts"
    other.mkdir()
    shipped = (Path(jk.__file__).parents[1] / "prompts" / "verify.j2").read_text(encoding="utf-8")
    (other / "verify.j2").write_text(shipped.replace("claims", "CLAIMS"), encoding="utf-8")
    path = write(tmp_path / "rows.jsonl", [labelled(number) for number in range(1, 9)])
    with Server(over_http(TRUTH)) as server:
        outcome = validated(path, server, "--compare-prompts", other, "--max-calls", 10, "--concurrency", 1)
        assert isinstance(outcome.exception, BudgetSpent)
        assert len(server.requests) == 10


def test_long_sources_are_asked_in_parts(tmp_path: Path) -> None:
    row = labelled(2, contexts=["It is cold here. " * 5, "Pump 2 runs at 48 volts and hums."])
    with Server(over_http(Truth())) as server:
        (found,) = in_json(write(tmp_path / "rows.jsonl", [row]), server, "--source-chars", 90)["measured"]
        assert len(server.requests) == found["calls"] == 2


def test_files_of_one_name_are_told_apart(tmp_path: Path) -> None:
    paths = []
    for name in ("dev", "test"):
        (tmp_path / name).mkdir()
        paths.append(write(tmp_path / name / "rows.jsonl", [labelled(number) for number in range(1, 5)]))
    with Server(over_http(TRUTH)) as server:
        found = in_json(paths[0], server, paths[1])["measured"]
    assert [(one["name"], one["rows"]) for one in found] == [(str(path), 4) for path in paths]


def test_what_is_kept_is_for_nobody_else(tmp_path: Path) -> None:
    with Server(over_http(TRUTH)) as server:
        validated(write(tmp_path / "rows.jsonl", [labelled(1)]), server, "-o", tmp_path / "out")
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "out" / "judged.jsonl").stat().st_mode & 0o777 == 0o600


def test_rows_of_one_class_say_why_there_is_no_balance(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.jsonl", [labelled(number, good=True) for number in range(1, 5)])
    with Server(over_http(TRUTH)) as server:
        shown = validated(path, server).stdout
    assert "balanced accuracy       -                            4  none: people call them all alike" in shown


def test_the_docs_show_what_the_command_prints() -> None:
    root = Path(__file__).parent.parent
    page = (root / "docs" / "validation.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```console\n\$ judgekit (.*?)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    command = [str(root / part) if "/" in part else part for part in shown[0].split()]
    outcome = CliRunner().invoke(cli, command, standalone_mode=False)
    assert outcome.stdout.rstrip() == shown[1].rstrip()
