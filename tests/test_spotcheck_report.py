"""From a draw to the corrected score, through files: what people say comes back, and nothing is made up without it."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from scripts import judge_that, lines
from test_cli import Done, judgekit

import judgekit as jk
from judgekit.metrics import METRICS, Metric
from judgekit.review import exports_of, key_of
from judgekit.review.drawn import Labels, draws_of
from judgekit.review.outcome import outcome_of
from judgekit.rundir import RESULTS, Run

VERDICT = "verdict (supported / not_supported / cannot_tell)"
#: How often the judge of these tests is right about what is supported, and about what is not.
SENS, SPEC = 0.97, 0.45
TRUE_RATE = 0.8


def is_true(claim: str) -> bool:
    """What is true in these tests: a coin thrown for the text of the claim."""
    return random.Random(f"true {claim}").random() < TRUE_RATE


def says(claim: str, _sources: object = (), *, seed: int = 0) -> str:
    """What a judge with known error rates says of a claim, always the same."""
    coin = random.Random(f"judge {seed} {claim}").random()
    supported = coin < SENS if is_true(claim) else coin >= SPEC
    return "supported" if supported else "unsupported"


def a_log(path: Path, *, rows: int = 60, first: int = 0) -> Path:
    made = []
    for at in range(first, first + rows):
        facts = [f"Tank {at} has part {part}." for part in range(1 + at % 7)]
        made.append(
            {"id": f"r{at}", "question": f"What of {at}?", "answer": " ".join(facts), "contexts": [f"Parts of {at}."]}
        )
    path.write_text(lines(made), encoding="utf-8")
    return path


def a_run(
    tmp_path: Path, name: str = "run", *, seed: int = 0, form: str = "typed", metrics=("faithfulness",), **log: int
) -> Run:
    judge = judge_that(
        form=form, labels=lambda claim, sources: says(claim, sources, seed=seed), split=lambda text: [text]
    )
    return jk.judge_log(
        a_log(tmp_path / f"{name}.jsonl", **log), out=tmp_path / name, judge=judge.judge, metrics=metrics
    )


def fill(sheet: Path, verdict: Callable[[Mapping[str, str]], str | None], **columns: str) -> Path:
    """The sheet as a reviewer gives it back; None leaves a row blank."""
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    filled = sheet.with_name(f"filled-{sheet.name}")
    with filled.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, VERDICT: verdict(row) or "", **columns} for row in rows)
    return filled


def truly(row: Mapping[str, str]) -> str:
    return "supported" if is_true(row["claim"]) else "not_supported"


def reviewed(
    run: Run, verdict: Callable[[Mapping[str, str]], str | None] = truly, *options: object, n: int = 90, by: str = "ann"
) -> None:
    """Draw from a run, fill the sheet in, and import it."""
    sheet = run.folder / f"{by}.csv"
    assert judgekit("spotcheck", "draw", run.folder, "-n", n, "-o", sheet, *options).code == 0
    done = judgekit("spotcheck", "import", run.folder, fill(sheet, verdict, reviewer=by))
    assert done.code == 0, done.err


def report(run: Run, *options: object) -> dict:
    done = judgekit("spotcheck", "report", run.folder, "--json", *options)
    assert done.code == 0, done.err + done.out
    return json.loads(done.out)


def true_means(run: Run) -> tuple[float, float]:
    rows = [[is_true(claim.text) for claim in result.claims] for result in run]
    return sum(sum(row) / len(row) for row in rows) / len(rows), sum(map(sum, rows)) / sum(map(len, rows))


# --- the whole way ---------------------------------------------------------------------------------


def test_a_biased_judge_is_corrected_from_the_sheet_that_came_back(tmp_path):
    run = a_run(tmp_path)
    reviewed(run)
    found = report(run)
    (score,) = found["scores"]
    for mean, true in zip(("macro", "micro"), true_means(run), strict=True):
        told = score[mean]
        assert told["low"] <= true <= told["high"]
        assert told["raw"] == run.summary()["faithfulness"].model_dump()[mean]
        assert told["raw_interval"]["low"] > true
        assert told["more"] > 0
    assert (score["labels"], found["labels"], found["reviewers"], found["reason"]) == (90, 90, ["ann"], None)
    tpr = found["agreement"]["measures"]["tpr"]
    assert tpr["low"] < SPEC < tpr["high"]
    assert len(found["disagreements"]) == found["agreement"]["fp"] + found["agreement"]["fn"]


def test_the_weights_are_those_of_the_draw(tmp_path):
    """Each labelled check stands for all of its stratum over those labelled: the confusion shares say so."""
    run = a_run(tmp_path)
    reviewed(run, n=40)
    found = outcome_of(run)
    (draw,) = draws_of(run, Labels.of(run))
    strata: dict[str, list] = {}
    for check in draw.checks.values():
        strata.setdefault(check.stratum, []).append(check)
    fn = 0.0
    for checks in strata.values():
        said = [check for check in checks if check.human is not None]
        assert {check.judge for check in checks} == {checks[0].judge}
        missed = sum(jk.Label.SUPPORTED not in check.human for check in said)
        fn += len(checks) * missed / len(said) if checks[0].judge is jk.Label.SUPPORTED else 0
    assert found.agreement.shares["fn"] * len(draw.checks) == pytest.approx(fn)


def test_a_larger_draw_counts_once_labels_of_it_have_come(tmp_path):
    run = a_run(tmp_path)
    reviewed(run, n=30)
    first = report(run)
    sheet = tmp_path / "more.csv"
    assert judgekit("spotcheck", "draw", run.folder, "-n", 80, "-o", sheet).code == 0
    assert report(run) == first
    assert judgekit("spotcheck", "import", run.folder, fill(sheet, truly, reviewer="ann")).code == 0
    assert report(run)["labels"] == 80


# --- nothing is made up ----------------------------------------------------------------------------


def nothing_said(done: Done) -> str:
    assert done.code == 3, done.err
    return done.out


def test_without_a_draw_or_a_label_there_is_no_number_and_the_next_step(tmp_path):
    run = a_run(tmp_path, rows=12)
    assert "judgekit spotcheck draw" in nothing_said(judgekit("spotcheck", "report", run.folder))
    assert judgekit("spotcheck", "draw", run.folder, "-n", 10, "-o", tmp_path / "sheet.csv").code == 0
    assert "judgekit spotcheck import" in nothing_said(judgekit("spotcheck", "report", run.folder))
    assert judgekit("spotcheck", "report", run.folder, "--metric", "context_recall").code == 2


def test_a_part_of_the_run_without_a_label_gives_no_number(tmp_path):
    run = a_run(tmp_path)
    reviewed(run, lambda row: truly(row) if says(row["claim"]) == "supported" else None)
    done = judgekit("spotcheck", "report", run.folder)
    assert "a part of the run has no label" in " ".join(nothing_said(done).split())
    assert "unsupported" in done.out


def test_what_reviewers_left_open_is_told_with_its_bounds(tmp_path):
    run = a_run(tmp_path)
    reviewed(run, lambda row: "cannot_tell" if row["claim"].endswith("part 0.") else truly(row))
    (score,) = report(run)["scores"]
    assert score["unanswered"].keys() == {"cannot_tell"}
    mean = score["micro"]
    assert mean["lowest"] < mean["value"] < mean["highest"]
    assert mean["lowest"] <= true_means(run)[1] <= mean["highest"]
    shown = judgekit("spotcheck", "report", run.folder).out
    assert f"{score['unanswered']['cannot_tell']} cannot tell; with them the mean is from" in " ".join(shown.split())


def test_picks_by_hand_enter_no_estimate(tmp_path):
    run = a_run(tmp_path)
    reviewed(run, truly, "--inspect", "r6", n=20)
    found = report(run)
    assert found["labels"] == found["drawn"] == 20
    assert found["aside"] > 0


def test_labels_given_with_the_verdict_in_view_are_called_optimistic(tmp_path):
    run = a_run(tmp_path)
    reviewed(run, truly, "--visible")
    assert report(run)["assisted"] == 90
    assert "optimistic" in judgekit("spotcheck", "report", run.folder).out


def test_a_run_that_was_changed_since_its_draw_is_refused(tmp_path):
    run = a_run(tmp_path)
    reviewed(run)
    results = run.folder / RESULTS
    results.write_bytes(results.read_bytes().replace(b'"label":"unsupported"', b'"label":"supported"', 3))
    done = judgekit("spotcheck", "report", run.folder)
    assert done.code == 2
    assert "is not what it was when" in done.err
    reviewed(run, by="ben", n=60)
    assert report(run)["drawn"] in (60, 61)


def test_a_metric_of_ones_own_is_corrected_by_its_object(tmp_path):
    class Refuted(Metric):
        name = "refuted"
        lower_is_better = True
        needs = METRICS["faithfulness"].needs

        def checks(self, case):
            return METRICS["faithfulness"].checks(case)

        def worth(self, label):
            return None if label is jk.Label.UNJUDGED else float(label is not jk.Label.SUPPORTED)

        def score(self, case):
            return jk.Score.share(self.name, [self.worth(case.label(check)) for check in self.checks(case)])

    run = a_run(tmp_path, metrics=["faithfulness", Refuted()])
    reviewed(run)
    assert outcome_of(run).not_corrected == {"refuted": "their code is not here"}
    (own,) = outcome_of(run, metrics=[Refuted()]).scores
    (other,) = outcome_of(run, metrics=["faithfulness"]).scores
    assert own.micro.value == pytest.approx(1 - other.micro.value)
    assert own.micro.low == pytest.approx(1 - other.micro.high)
    assert own.macro.value == pytest.approx(1 - other.macro.value)
    both = outcome_of(run, metrics=[Refuted(), "faithfulness"])
    assert both.by_metric["refuted"].measures == both.by_metric["faithfulness"].measures


def test_checks_that_the_judge_failed_on_are_counted_apart(tmp_path):
    judge = judge_that(labels=says, split=lambda text: [text], spoil=forget).judge
    log = a_log(tmp_path / "log.jsonl")
    run = jk.judge_log(log, out=tmp_path / "run", judge=judge, metrics=["faithfulness"])
    missing = sum(verdict.label is jk.Label.UNJUDGED for result in run for verdict in result.verdicts)
    reviewed(run)
    found = report(run)
    assert found["unjudged"] == missing > 0
    (score,) = found["scores"]
    assert score["left_out"] == run.summary()["faithfulness"].undefined["unjudged"]


def forget(request, said):
    """A judge that never has a label for the claims about part 3."""
    if request.task != "verify":
        return said
    about = {question.id for question in request.questions if "part 3" in question.text}
    return {name: label for name, label in said.items() if name not in about}


def test_a_metric_that_was_not_drawn_for_says_so(tmp_path):
    run = a_run(tmp_path, metrics=("faithfulness", "contradiction_rate", "context_relevance", "citation_precision"))
    reviewed(run, truly, "--metric", "faithfulness")
    found = report(run)
    assert [score["metric"] for score in found["scores"]] == ["faithfulness", "contradiction_rate"]
    assert found["not_corrected"].keys() == {"context_relevance", "citation_precision"}
    coarse = found["scores"][1]
    assert coarse["micro"]["value"] is None or coarse["unanswered"]["too_coarse"] > 0


def test_finer_labels_correct_what_asks_for_them(tmp_path):
    run = a_run(tmp_path, metrics=("contradiction_rate",))
    reviewed(run, lambda row: "supported" if is_true(row["claim"]) else "contradicted")
    (score,) = report(run)["scores"]
    assert score["micro"]["raw"] == 0
    assert score["micro"]["low"] <= 1 - true_means(run)[1] <= score["micro"]["high"]
    assert score["unanswered"] == {}


def test_two_draws_for_two_metrics_are_both_used(tmp_path):
    """Claims of the answer in one sheet, claims of the reference in another: each metric rests on its own draw."""
    facts = [f"Tank {at} has part {at % 3}." for at in range(40)]
    rows = [
        {"id": f"r{at}", "question": "What?", "answer": fact, "contexts": ["Parts."], "reference": f"Surely: {fact}"}
        for at, fact in enumerate(facts)
    ]
    log = tmp_path / "log.jsonl"
    log.write_text(lines(rows), encoding="utf-8")
    judge = judge_that(labels=says, split=lambda text: [text]).judge
    run = jk.judge_log(log, out=tmp_path / "run", judge=judge, metrics=["faithfulness", "context_recall"])
    reviewed(run, truly, "--metric", "faithfulness", by="ann", n=20)
    reviewed(run, truly, "--metric", "context_recall", by="ben", n=15)
    found = report(run)
    assert {score["metric"]: score["labels"] for score in found["scores"]} == {"faithfulness": 20, "context_recall": 15}
    assert all(score["macro"]["value"] is not None for score in found["scores"])
    assert (found["labels"], found["aside"]) == (20, 0)


# --- people against people -------------------------------------------------------------------------


def test_two_reviewers_are_the_ceiling_and_what_they_dispute_counts_as_open(tmp_path):
    run = a_run(tmp_path)
    sheet = tmp_path / "sheet.csv"
    assert judgekit("spotcheck", "draw", run.folder, "-n", 60, "--reviewers", 2, "-o", sheet).code == 0

    def contrary(row):
        flipped = int(row["unit_id"][-1], 16) < 3
        return {"supported": "not_supported", "not_supported": "supported"}[truly(row)] if flipped else truly(row)

    for name, verdict in (("ann", truly), ("ben", contrary)):
        half = sheet.with_name(f"sheet.{1 if name == 'ann' else 2}.csv")
        assert judgekit("spotcheck", "import", run.folder, fill(half, verdict, reviewer=name)).code == 0
    found = report(run)
    ceiling = found["ceiling"]
    assert (ceiling["checks"], ceiling["reviewers"]) == (20, ["ann", "ben"])
    assert ceiling["disputed"] == found["unanswered"]["disputed"] > 0
    assert ceiling["kappa"] < 1
    assert "Humans against humans" in judgekit("spotcheck", "report", run.folder).out


# --- the split -------------------------------------------------------------------------------------


def test_what_people_say_of_claims_and_of_whole_answers(tmp_path):
    """Nine answers of 1 to 7 claims are read, one statement is missed in each: found claims / (claims + 9)."""
    run = a_run(tmp_path, rows=9)
    sheet = tmp_path / "whole.csv"
    assert judgekit("spotcheck", "draw", run.folder, "-n", 9, "--unit", "sample", "-o", sheet).code == 0
    assert (
        judgekit("spotcheck", "import", run.folder, fill(sheet, lambda _: None, missed="1", reviewer="ann")).code == 0
    )
    found = report(run)["splitting"]
    reviewed(run, truly, n=20)
    assert report(run)["splitting"] == found
    claims = sum(len(result.claims) for result in run)
    assert (found["answers"], found["claims"], found["missed"]) == (9, claims, 9)
    assert found["found"] == pytest.approx(claims / (claims + 9))
    assert "9 answers read whole" in judgekit("spotcheck", "report", run.folder).out


# --- confidences -----------------------------------------------------------------------------------


def test_confidences_are_held_against_the_labels(tmp_path):
    run = a_run(tmp_path, form="probabilities")
    reviewed(run)
    found = report(run)["calibration"]
    assert found["labels"] == sum(one["labels"] for one in found["bins"]) == 90
    shown = judgekit("spotcheck", "report", run.folder).out
    assert "ECE" in shown
    typed = a_run(tmp_path, "typed")
    reviewed(typed)
    assert report(typed)["calibration"] is None
    assert "the judge gave no probabilities" in judgekit("spotcheck", "report", typed.folder).out


# --- labels of another run -------------------------------------------------------------------------


def test_labels_of_the_same_checks_serve_another_judge(tmp_path):
    first, second = a_run(tmp_path, "first"), a_run(tmp_path, "second", seed=2)
    sheet = tmp_path / "sheet.csv"
    assert judgekit("spotcheck", "draw", first.folder, "-n", 90, "-o", sheet).code == 0
    filled = fill(sheet, truly, reviewer="ann")
    with filled.open(encoding="utf-8", newline="") as file:
        rows = [{**row, "note": f"of {row['claim']}"} for row in csv.DictReader(file)]
    with filled.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    assert judgekit("spotcheck", "import", first.folder, filled).code == 0
    found = report(second, "--labels-from", first.folder)
    assert found["matched"] == found["checks"] == sum(len(result.claims) for result in second)
    (score,) = found["scores"]
    assert score["labels"] == 90
    for mean, true in zip(("macro", "micro"), true_means(second), strict=True):
        assert score[mean]["low"] <= true <= score[mean]["high"]
        assert score[mean]["raw"] == second.summary()["faithfulness"].model_dump()[mean]
    assert found["transferred"] == []
    assert (found["reviewers"], found["aside"]) == (["ann"], 0)
    assert {odd["notes"][0] for odd in found["disagreements"]} == {
        f"of {odd['claim']}" for odd in found["disagreements"]
    }


def test_errors_are_carried_to_a_run_of_other_answers_by_the_same_judge(tmp_path):
    there, here = a_run(tmp_path, "there", rows=120), a_run(tmp_path, "here", first=200)
    reviewed(there, n=250)
    found = report(here, "--labels-from", there.folder)
    assert found["matched"] == 0
    (one,) = found["transferred"]
    assert one["low"] <= true_means(here)[1] <= one["high"]
    assert abs(one["value"] - true_means(here)[1]) < abs(one["raw"] - true_means(here)[1])
    shown = judgekit("spotcheck", "report", here.folder, "--labels-from", there.folder).out
    assert "right only if the judge errs here as it did there" in " ".join(shown.split())


def test_errors_of_another_judge_are_not_carried(tmp_path):
    there = a_run(tmp_path, "there", rows=120)
    reviewed(there, n=250)
    log = a_log(tmp_path / "other.jsonl", first=300, rows=20)
    judge = judge_that(form="probabilities", labels=says, split=lambda text: [text]).judge
    here = jk.judge_log(
        log, out=tmp_path / "other", judge=judge, metrics=["faithfulness"], options=jk.Options(split="segments")
    )
    done = judgekit("spotcheck", "report", here.folder, "--labels-from", there.folder)
    assert done.code == 3
    assert "another pin" in done.out


def test_another_run_without_labels_has_nothing_to_give(tmp_path):
    run, other = a_run(tmp_path, rows=10), a_run(tmp_path, "other", rows=10)
    done = judgekit("spotcheck", "report", run.folder, "--labels-from", other.folder)
    assert "has no labels" in " ".join(nothing_said(done).split())


# --- where "uncertain" begins ----------------------------------------------------------------------


def test_a_recommended_threshold_can_be_drawn_by(tmp_path):
    """The judge gives its label .9: all it has for support, but what it calls unsupported has .967 on its side."""
    run = a_run(tmp_path, form="probabilities", rows=20)
    draw = ("spotcheck", "draw", run.folder, "-n", 20, "-o")
    for below in ("0.5", "1.01", "nan"):
        done = judgekit(*draw, tmp_path / "no.csv", "--uncertain-below", below)
        assert (done.code, "give more than 0.5, at most 1" in done.err) == (2, True)
    reviewed(run, truly, "--uncertain-below", "0.95")
    assert judgekit(*draw, tmp_path / "as before.csv").code == 0
    (export, plain) = exports_of(run)
    assert (export.uncertain_below, plain.uncertain_below) == (0.95, None)
    assert export.export_id != plain.export_id
    sure = {(line.label.value, line.bin) for line in key_of(run, export.export_id)}
    assert sure == {("supported", "uncertain"), ("unsupported", "clear")}
    assert {line.bin for line in key_of(run, plain.export_id)} == {"clear"}
    found = report(run)
    assert (found["export_id"], found["labels"]) == (export.export_id, export.drawn)


def test_no_confidence_can_be_asked_of_what_has_none(tmp_path):
    run = a_run(tmp_path, rows=5)
    draw = ("spotcheck", "draw", run.folder, "-o", tmp_path / "no.csv", "--uncertain-below", "0.9")
    assert "its judge gave no probabilities; leave out --uncertain-below" in judgekit(*draw).err
    assert "so none is uncertain: leave out --uncertain-below" in judgekit(*draw, "--unit", "sample").err
    assert not (tmp_path / "no.csv").exists()


# --- a run that was judged anew --------------------------------------------------------------------


def judged(folder: Path, colours: Sequence[tuple[int, str]]) -> Run:
    """A run of a claim a row, every one of them found supported; the row keeps its id, whatever its colour is."""
    log = folder.with_name("log.jsonl")
    rows = [{"id": f"r{at}", "question": "?", "answer": f"It is {one}.", "contexts": ["."]} for at, one in colours]
    log.write_text(lines(rows), encoding="utf-8")
    judge = judge_that(labels=lambda _claim, _sources: "supported", split=lambda text: [text])
    return jk.judge_log(log, out=folder, judge=judge.judge, metrics=["faithfulness"])


def test_a_label_counts_for_the_text_it_was_given_for_alone(tmp_path):
    """Row 0 gets another answer, which is judged anew under the same ids and with the same verdict."""
    first = list(enumerate(["red", "blue", "green", "grey"]))
    run = judged(tmp_path / "run", first)
    reviewed(run)
    assert report(run)["labels"] == 4
    again = judged(tmp_path / "run", [(0, "pink"), *first[1:]])
    assert again.folder == run.folder
    done = judgekit("spotcheck", "report", run.folder)
    assert done.code == 2
    assert "has other texts; draw again, labels of the same checks are kept" in done.err
    sheet = tmp_path / "new.csv"
    assert judgekit("spotcheck", "draw", run.folder, "-n", 90, "--only", "new", "-o", sheet).code == 0
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        assert [row["claim"] for row in csv.DictReader(file)] == ["It is pink."]
    found = report(run)
    assert (found["labels"], found["aside"], found["unanswered"]) == (3, 1, {"blank": 1})
    filled = fill(sheet, lambda _row: "not_supported", reviewer="ann")
    assert judgekit("spotcheck", "import", run.folder, filled).out.startswith("labels by ann: 1 new, 0 changed")
    found = report(run)
    assert (found["labels"], found["aside"]) == (4, 0)
    assert [one["claim"] for one in found["disagreements"] if one["sample_id"] == "r0"] == ["It is pink."]


def test_a_text_that_is_as_it_was_again_has_its_labels_again(tmp_path):
    first = list(enumerate(["red", "blue"]))
    run = judged(tmp_path / "run", first)
    reviewed(run, lambda _row: "supported")
    judged(tmp_path / "run", [(0, "pink"), first[1]])
    reviewed(run, lambda _row: "not_supported", by="bob")
    assert report(run)["disagreements"][0]["claim"] == "It is pink."
    judged(tmp_path / "run", first)
    found = report(run)
    assert (found["labels"], found["unanswered"]) == (1, {"disputed": 1})


def test_a_sheet_that_comes_back_late_is_kept_and_said_to_be_of_other_texts(tmp_path):
    run = judged(tmp_path / "run", [(0, "red"), (1, "blue")])
    sheet = tmp_path / "sheet.csv"
    assert judgekit("spotcheck", "draw", run.folder, "-o", sheet).code == 0
    judged(tmp_path / "run", [(0, "pink"), (1, "blue")])
    late = fill(sheet, lambda _row: "supported", reviewer="ann")
    done = judgekit("spotcheck", "import", run.folder, late)
    assert "2 new" in done.out
    assert "1 for texts that the run no longer holds: in no estimate; draw again" in done.out
    assert judgekit("spotcheck", "draw", run.folder, "-o", tmp_path / "again.csv").code == 0
    nameless = tmp_path / "nameless.csv"
    with late.open(encoding="utf-8", newline="") as file:
        rows = [{key: cell for key, cell in row.items() if key != "export_id"} for row in csv.DictReader(file)]
    with nameless.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    done = judgekit("spotcheck", "import", run.folder, nameless)
    assert (done.code, "was drawn with other texts (x" in done.err) == (2, True)


def test_reviewers_of_different_texts_are_not_in_dispute(tmp_path):
    run = judged(tmp_path / "run", [(0, "red")])
    reviewed(run, lambda _row: "supported")
    judged(tmp_path / "run", [(0, "pink")])
    sheet = tmp_path / "pink.csv"
    assert judgekit("spotcheck", "draw", run.folder, "-o", sheet).code == 0
    done = judgekit("spotcheck", "import", run.folder, fill(sheet, lambda _row: "not_supported", reviewer="bob"))
    assert "disputed" not in done.out
    found = report(run)
    assert (found["labels"], found["reviewers"], found["ceiling"]) == (1, ["bob"], None)


# --- what is printed -------------------------------------------------------------------------------


def test_text_of_people_cannot_steer_the_terminal(tmp_path):
    run = a_run(tmp_path)
    sheet = tmp_path / "sheet.csv"
    assert judgekit("spotcheck", "draw", run.folder, "-n", 60, "-o", sheet).code == 0
    filled = fill(sheet, truly, reviewer="ann\x1b[2J", note="[bold]\x1b[31mred")
    assert judgekit("spotcheck", "import", run.folder, filled).code == 0
    shown = judgekit("spotcheck", "report", run.folder).out
    assert "note: [bold]" in shown
    assert "\x1b" not in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_a_run_rescored_with_a_threshold_is_corrected_by_the_labels_of_the_first(tmp_path):
    """No verdict reaches .95, so the judge then finds nothing supported; what people found stays what it was."""
    run = a_run(tmp_path, form="probabilities")
    reviewed(run)
    strict = tmp_path / "strict"
    done = judgekit(
        "rescore", run.folder, "--metrics", "faithfulness", "--set", "faithfulness.min_probability=0.95", "-o", strict
    )
    assert done.code == 0, done.err
    (before,), (after,) = report(run)["scores"], report(Run(strict), "--labels-from", run.folder)["scores"]
    assert after["micro"]["raw"] == 0
    assert after["micro"]["value"] == pytest.approx(before["micro"]["value"])
    assert after["macro"]["low"] <= true_means(run)[0] <= after["macro"]["high"]
