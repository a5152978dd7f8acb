"""Filled-in sheets become labels: whatever program saved them, by unit id alone, and all of a call or nothing.

The files in `tests/sheets` were drawn here, filled in, and saved again by LibreOffice 7.4.
"""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import openpyxl
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from review_cases import a_result, a_run

from judgekit.cli import cli
from judgekit.errors import InputError
from judgekit.records import Label, Score
from judgekit.review import Filled, Order, draw_review, history_of, import_sheets, key_of, labels_of, settled
from judgekit.review.labels import labels_path
from judgekit.review.sheets import FORMATS, read

SAVED_AGAIN = Path(__file__).parent / "sheets"
NOW, LATER = "2026-11-30T02:00:00+00:00", "2026-11-30T03:00:00+00:00"
VERDICT = "verdict (supported / not_supported / cannot_tell)"


@pytest.fixture
def run(tmp_path):
    return a_run(tmp_path / "run", *(a_result(f"q{at}") for at in range(4)), metrics=("faithfulness",))


@pytest.fixture
def export(run, tmp_path):
    return draw_review(run, Order(n=4, seed=1), sheet=tmp_path / "sheet.csv", form=FORMATS["csv"], at=NOW)


@pytest.fixture
def rows(export, tmp_path):
    return list(csv.DictReader(io.StringIO((tmp_path / "sheet.csv").read_text(encoding="utf-8-sig"), newline="")))


@pytest.fixture
def saved(tmp_path, rows):
    """Write rows as a spreadsheet would, with cells changed by (row, column)."""

    def write(changes, *, name="back.csv", drop=(), extra=None, **how):
        told = [{**row, **(extra or {})} for row in rows]
        for (at, column), value in changes.items():
            told[at][next((one for one in told[at] if one.startswith(f"{column} (")), column)] = value
        names = [heading for heading in told[0] if heading not in drop]
        out = io.StringIO(newline="")
        writer = csv.DictWriter(out, names, extrasaction="ignore", delimiter=how.get("separator", ","))
        writer.writeheader()
        writer.writerows(how.get("order", lambda one: one)(told))
        text = out.getvalue().replace("\r\n", how.get("ends", "\r\n"))
        (tmp_path / name).write_bytes(how.get("before", b"") + text.encode(how.get("encoding", "utf-8")))
        return tmp_path / name

    return write


def brought_in(run, *paths, **more):
    return import_sheets(run, paths, **{"at": NOW, "reviewer": "Ann", **more})


def said(run):
    return {label.unit_id: label.verdict.value for label in labels_of(run)}


# --- whatever program saved it -----------------------------------------------------------------


@pytest.mark.parametrize("name", ["comma.csv", "semicolon.csv", "tab-utf16.csv", "libreoffice.xlsx"])
def test_what_libreoffice_saved_again_comes_back(name):
    first, second, third, fourth = read(SAVED_AGAIN / name)
    assert first == Filled(
        unit_id="u1",
        export_id="x1",
        verdict="supported",
        note="one fact",
        reviewer="Ann",
        minutes=1.5,
        status="done",
        where=first.where,
    )
    assert (second.verdict, second.claim_ok, second.evidence, second.minutes) == ("not_supported", "duplicate", "d2", 2)
    assert second.note == 'zwei\nZeilen, "so"; gut'
    assert (third.status, third.reviewer) == ("blank", "Ann")
    assert (fourth.verdict, fourth.note) == ("cannot_tell", "Übergröße")
    assert fourth.where.endswith("row 5" if name.endswith("xlsx") else ":13 (row 5)")


def test_a_formula_of_the_log_is_still_text_after_libreoffice_has_read_and_written_it():
    with (SAVED_AGAIN / "comma.csv").open(encoding="utf-8", newline="") as file:
        assert [row["claim"] for row in csv.DictReader(file)][1] == "'=1+1"


def test_a_sheet_in_another_encoding_is_read_but_for_what_was_lost_in_it(run, saved, rows):
    with pytest.raises(InputError, match=r"semicolon-ansi.csv:13 \(row 5\): note: .* save the sheet as UTF-8"):
        read(SAVED_AGAIN / "semicolon-ansi.csv")
    path = saved({(0, "verdict"): "supported", (1, "question"): "Größe?"}, encoding="latin-1")
    assert brought_in(run, path).new == 1


@pytest.mark.parametrize("heading", ["human_verdict", "verdict: supported or not", "My Verdict (yes / no)"])
def test_a_renamed_column_of_verdicts_is_no_sheet_of_rows_put_off(run, saved, heading):
    filled = saved({}, drop=(VERDICT,), extra={heading: "supported", "note": "read twice"})
    with pytest.raises(InputError, match=r"back.csv:1: no column 'verdict'; is it '.*verdict.*'\? call it 'verdict'"):
        brought_in(run, filled)
    assert labels_of(run) == history_of(run) == []


def test_a_renamed_count_of_what_is_missed_is_no_sheet_of_blank_rows(run, saved):
    filled = saved({}, extra={"missed statements": "2"})
    with pytest.raises(InputError, match="no column 'missed'; is it 'missed statements'"):
        brought_in(run, filled)


def test_a_sheet_without_verdicts_is_none(run, saved):
    with pytest.raises(InputError, match="no column 'verdict'; give the sheet as it was drawn"):
        brought_in(run, saved({}, drop=(VERDICT,), extra={"note": "read twice"}))


@pytest.mark.parametrize(
    "how",
    [
        {"separator": ";", "before": b"\xef\xbb\xbf"},
        {"separator": "\t", "encoding": "utf-16"},
        {"separator": ",", "encoding": "utf-16-le"},
        {"separator": ",", "encoding": "utf-16-be"},
        {"separator": ";", "before": b"sep=;\r\n"},
        {"separator": "|"},
        {"ends": "\r"},
        {"ends": "\n"},
        {"order": lambda told: told[::-1]},
        {"drop": ("question", "answer", "evidence_1", "export_id", "claim")},
        {"extra": {"my own column": "x", "Verdict of mine": "no", "note 2": "y"}},
    ],
    ids=str,
)
def test_only_ids_and_filled_columns_are_read(run, saved, rows, how):
    path = saved({(0, "verdict"): "supported", (2, "verdict"): "cannot_tell", (2, "note"): "hm"}, **how)
    done = brought_in(run, path)
    assert (done.new, done.blank) == (2, 2)
    assert said(run) == {rows[0]["unit_id"]: "supported", rows[2]["unit_id"]: "cannot_tell"}


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    notes=st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\ufffd")), max_size=4),
    separator=st.sampled_from(",;\t|"),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"]),
    ends=st.sampled_from(["\r\n", "\n", "\r"]),
)
def test_a_note_comes_back_from_any_csv(tmp_path, notes, separator, encoding, ends):
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=separator, lineterminator=ends, quoting=csv.QUOTE_ALL)
    writer.writerows(
        [["unit_id", "verdict", "note"], *([f"u{at}", "supported", note] for at, note in enumerate(notes))]
    )
    (tmp_path / "any.csv").write_bytes(out.getvalue().encode(encoding))
    found = [(one.unit_id, one.note or "") for one in read(tmp_path / "any.csv")]
    assert found == [(f"u{at}", note.strip()) for at, note in enumerate(notes)]


def test_text_that_was_changed_does_not_matter(run, saved, rows):
    assert brought_in(run, saved({(0, "verdict"): "supported", (0, "claim"): "=1+1", (0, "answer"): ""})).new == 1


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        (" Supported ", "supported"),
        ("NOT  supported", "not_supported"),
        ("not-supported", "not_supported"),
        ("Cannot Tell", "cannot_tell"),
        ("partially supported", "partially_supported"),
        ("unsupported", "unsupported"),
        ("Contradicted", "contradicted"),
    ],
)
def test_spelling_may_differ_in_case_and_space(run, saved, rows, told, kept):
    brought_in(run, saved({(0, "verdict"): told}))
    assert said(run) == {rows[0]["unit_id"]: kept}


@pytest.mark.parametrize("told", ["yes", "1", "TRUE", "support", "supported?", "unjudged", "supported / not_supported"])
def test_a_verdict_is_never_guessed(run, saved, told):
    with pytest.raises(InputError, match="cannot be read; give one of supported, not_supported, cannot_tell"):
        brought_in(run, saved({(0, "verdict"): told}))
    assert history_of(run) == []


# --- what is wrong is named, and nothing is kept -----------------------------------------------


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"unit_id": "u000000000000"}, r"back.csv:2 \(row 2\): unit_id: 'u000000000000' was not drawn there"),
        (
            {"export_id": "x000"},
            r"back.csv:2 \(row 2\): export_id: 'x000' was not drawn from .*run, whose exports are: x",
        ),
        ({"unit_id": ""}, r"\(row 2\): unit_id: empty, in a row that is filled in"),
        ({"claim_ok": "fine"}, "claim_ok: 'fine' cannot be read; give one of ok, not_in_answer, not_atomic, duplicate"),
        ({"minutes": "two"}, "minutes: 'two' cannot be read"),
        ({"evidence_id": "d9"}, "evidence_id: 'd9' is none of d1, d2"),
    ],
)
def test_what_cannot_be_right_is_named_with_its_place(run, saved, change, told):
    path = saved({(0, "verdict"): "supported", (1, "verdict"): "supported"} | {(0, k): v for k, v in change.items()})
    with pytest.raises(InputError, match=told):
        brought_in(run, path)
    assert not labels_path(run).exists()


def test_all_problems_of_all_files_are_told_at_once_and_nothing_is_kept(run, saved):
    good = saved({(0, "verdict"): "supported"}, name="good.csv")
    bad = saved({(0, "verdict"): "maybe", (1, "minutes"): "-1", (1, "verdict"): "supported"}, name="bad.csv")
    worse = saved({(2, "verdict"): "supported", (2, "unit_id"): "u1"}, name="worse.csv")
    with pytest.raises(InputError) as refused:
        brought_in(run, good, bad, worse)
    assert [problem.partition("/")[2].rpartition("/")[2].split(":")[0] for problem in refused.value.problems] == [
        "bad.csv",
        "bad.csv",
        "worse.csv",
    ]
    assert history_of(run) == []


def test_a_unit_twice_in_one_file_is_refused_unless_both_say_the_same(run, saved, rows):
    unit_id = rows[0]["unit_id"]
    twice = {(0, "verdict"): "supported", (1, "unit_id"): unit_id, (1, "verdict"): "not_supported"}
    with pytest.raises(
        InputError, match=rf"\(row 3\): unit_id: '{unit_id}' stands there twice, with different labels by 'Ann'"
    ):
        brought_in(run, saved(twice))
    assert brought_in(run, saved(twice | {(1, "verdict"): "supported"})).new == 1
    assert brought_in(run, saved(twice | {(0, "reviewer"): "Ann", (1, "reviewer"): "Bob"})).new == 1


def test_what_somebody_skipped_and_then_decided_is_decided(run, saved, rows):
    unit_id = rows[0]["unit_id"]
    for first, second in (("", "supported"), ("supported", "")):
        notes = {(0, "note"): "skipped", (1, "note"): "skipped", (1, "unit_id"): unit_id}
        brought_in(run, saved({**notes, (0, "verdict"): first, (1, "verdict"): second}))
        assert said(run) == {unit_id: "supported"}


def test_columns_that_stand_there_twice_or_not_at_all_are_refused(run, saved, tmp_path):
    path = saved({(0, "verdict"): "supported"}, extra={"Verdict": "not_supported"})
    with pytest.raises(InputError, match=r"back.csv:1: column 'verdict' stands there twice"):
        brought_in(run, path)
    for name in ("none.csv", "empty.csv"):
        (tmp_path / name).write_text("a,b\n1,2\n" if name == "none.csv" else "", encoding="utf-8")
        with pytest.raises(InputError, match="not a sheet that was drawn here"):
            brought_in(run, tmp_path / name)
    with pytest.raises(InputError, match=r"away.csv: no such file"):
        brought_in(run, tmp_path / "away.csv")


def test_somebody_must_have_filled_it_in(run, saved):
    path = saved({(0, "verdict"): "supported", (1, "verdict"): "supported", (1, "reviewer"): "Bob"})
    with pytest.raises(InputError, match="names nobody; say who filled it in with --reviewer NAME"):
        brought_in(run, path, reviewer=None)
    brought_in(run, path)
    assert {label.reviewer for label in labels_of(run)} == {"Ann", "Bob"}


# --- history, reviewers, adjudication ----------------------------------------------------------


def test_the_same_sheet_again_changes_nothing_and_a_changed_label_is_history(run, saved, rows):
    path = saved({(0, "verdict"): "supported", (1, "verdict"): "supported"})
    assert brought_in(run, path)[1:5] == (2, 0, 0, 0)
    raw = labels_path(run).read_bytes()
    assert brought_in(run, path, at=LATER)[1:5] == (0, 0, 2, 0)
    assert labels_path(run).read_bytes() == raw
    assert brought_in(run, saved({(0, "verdict"): "contradicted"}), at=LATER)[1:5] == (0, 1, 0, 0)
    assert said(run) == {rows[0]["unit_id"]: "contradicted", rows[1]["unit_id"]: "supported"}
    first, second, third = history_of(run)
    assert (first.verdict, third.verdict, first.at, third.at) == ("supported", "contradicted", NOW, LATER)
    assert second.unit_id == rows[1]["unit_id"], "a row left blank takes nothing back"


def test_a_row_with_a_note_and_no_verdict_is_put_off(run, saved, rows):
    done = brought_in(run, saved({(0, "note"): "ask a lawyer", (1, "minutes"): "3", (1, "reviewer"): "Ann"}))
    assert (done.new, done.deferred, done.blank) == (1, 1, 3)
    assert labels_of(run) == []
    assert history_of(run)[0].note == "ask a lawyer"


def test_reviewers_who_disagree_leave_a_unit_open_until_it_is_settled(run, saved, rows):
    unit_id, other = rows[0]["unit_id"], rows[1]["unit_id"]
    ann = saved({(0, "verdict"): "supported", (1, "verdict"): "supported"}, name="ann.csv")
    bob = saved({(0, "verdict"): "not_supported", (1, "verdict"): "supported"}, name="bob.csv")
    brought_in(run, ann)
    assert brought_in(run, bob, reviewer="Bob").disputed == (unit_id,)
    assert {one: found.is_supported for one, found in settled(labels_of(run)).items()} == {unit_id: None, other: True}
    verdict = saved({(0, "verdict"): "contradicted"}, name="settled.csv")
    assert brought_in(run, verdict, reviewer="Ann", adjudicated=True).disputed == ()
    found = settled(labels_of(run))[unit_id]
    assert (found.is_supported, found.is_adjudicated) == (False, True)
    assert [(label.reviewer, label.verdict) for label in found.labels] == [
        ("Ann", "supported"),
        ("Bob", "not_supported"),
        ("Ann", "contradicted"),
    ], "what she said before she adjudicated still tells how far reviewers agree"


def test_labels_of_a_visible_sheet_are_assisted(run, tmp_path, saved, rows):
    path = tmp_path / "visible.csv"
    export = draw_review(run, Order(n=4, seed=1, visible=True), sheet=path, form=FORMATS["csv"], at=NOW)
    text = path.read_text(encoding="utf-8-sig")
    assert "judge_verdict" in text.partition("\n")[0]
    one = rows[0]["unit_id"]
    (tmp_path / "filled.csv").write_text(
        f"unit_id,verdict,export_id\r\n{one},supported,{export.export_id}\r\n", encoding="utf-8"
    )
    brought_in(run, tmp_path / "filled.csv")
    assert [(label.assisted, label.export_id) for label in labels_of(run)] == [(True, export.export_id)]
    brought_in(run, saved({(0, "verdict"): "supported"}), reviewer="Bob")
    assert [label.assisted for label in labels_of(run)] == [True, False]
    (tmp_path / "noexport.csv").write_text(f"unit_id,verdict\r\n{one},supported\r\n", encoding="utf-8")
    with pytest.raises(InputError, match="drawn both blind and visible"):
        brought_in(run, tmp_path / "noexport.csv", reviewer="Cy")


def test_a_whole_answer_is_labelled_by_what_it_lacks(tmp_path, run):
    path = tmp_path / "whole.csv"
    export = draw_review(run, Order(n=4, seed=1, kind="sample"), sheet=path, form=FORMATS["csv"], at=NOW)
    ids = [line.unit_id for line in key_of(run, export.export_id)]
    (tmp_path / "filled.csv").write_text(
        f"unit_id;missed;verdict\r\n{ids[0]};2;\r\n{ids[1]};0,0;supported\r\n{ids[2]};;\r\n", encoding="utf-8"
    )
    assert brought_in(run, tmp_path / "filled.csv")[1:6] == (2, 0, 0, 0, 1)
    assert [(label.unit_id, label.missed, label.verdict) for label in labels_of(run)] == [
        (ids[0], 2, None),
        (ids[1], 0, "supported"),
    ]
    (tmp_path / "bad.csv").write_text(f"unit_id;missed\r\n{ids[0]};some\r\n", encoding="utf-8")
    with pytest.raises(InputError, match="missed: 'some' cannot be read; give a whole number"):
        brought_in(run, tmp_path / "bad.csv")


@pytest.mark.parametrize("form", ["xlsx", "label-studio", "argilla", "prodigy", "doccano"])
def test_every_format_joins_back_to_its_run(run, tmp_path, form):
    path = tmp_path / f"sheet{FORMATS[form].suffix}"
    export = draw_review(run, Order(n=4, seed=1), sheet=path, form=FORMATS[form], at=NOW)
    unit_id = key_of(run, export.export_id)[0].unit_id
    back = tmp_path / f"back{path.suffix}"
    filled_in(form, path, back, unit_id)
    assert brought_in(run, back).new == 1
    assert said(run) == {unit_id: "not_supported"}


def filled_in(form, path, back, unit_id):
    """What the tool gives back once somebody has labelled one unit."""
    if form == "xlsx":
        book = openpyxl.load_workbook(path)
        sheet = book["review"]
        column = next(cell.column for cell in sheet[1] if cell.value == VERDICT)
        row = next(cell.row for cell in sheet["A"] if cell.value == unit_id)
        sheet.cell(row, column).value = "not_supported"
        book.save(back)
        return
    text = path.read_text(encoding="ascii")
    tasks = json.loads(text) if path.suffix == ".json" else [json.loads(line) for line in text.splitlines()]
    for task in tasks:
        if unit_id in (task.get("unit_id"), task.get("id"), task.get("data", {}).get("unit_id")):
            result = {"from_name": "verdict", "type": "choices", "value": {"choices": ["not_supported"]}}
            back_of = {
                "label-studio": {"annotations": [{"completed_by": 1, "result": [result]}]},
                "argilla": {"responses": {"verdict": [{"value": "not_supported", "user_id": "u-1"}]}},
                "prodigy": {"answer": "accept", "accept": ["not_supported"]},
                "doccano": {"label": ["not_supported"]},
            }
            task.update(back_of[form])
    lines = "".join(f"{json.dumps(task)}\n" for task in tasks)
    back.write_text(json.dumps(tasks) if path.suffix == ".json" else lines, encoding="utf-8")


# --- the command -------------------------------------------------------------------------------


def command(*args):
    return CliRunner().invoke(cli, ["spotcheck", *map(str, args)], catch_exceptions=True)


def test_the_commands_draw_and_import(run, tmp_path, saved):
    sheet = tmp_path / "s.csv"
    drawn = command("draw", run.folder, "-n", 2, "-o", sheet, "--metric", "faithfulness", "--inspect", "q0")
    assert drawn.exit_code == 0
    lines = drawn.output.splitlines()
    assert lines[0].endswith("4 of 4 units drawn (more than 2: every stratum gives some)")
    assert lines[-1] == "  blind sheet of 4: s.csv"
    path = saved({(0, "verdict"): "supported", (1, "note"): "later"})
    done = command("import", run.folder, path, "--reviewer", "Ann")
    assert done.output.splitlines() == ["labels by Ann: 2 new, 0 changed, 0 as before", "  1 put off, 2 blank"]
    settling = saved({(0, "verdict"): "contradicted"}, name="bob.csv")
    done = command("import", run.folder, settling, "--reviewer", "Bob")
    assert done.output.splitlines()[2].startswith("  1 disputed, which count as not reviewed until")
    assert "disputed" not in command("import", run.folder, settling, "--adjudicated").output
    assert {label.reviewer for label in labels_of(run)} == {"Ann", "Bob", "adjudicator"}
    assert "--reviewer: empty" in str(command("import", run.folder, sheet, "--reviewer", " ").exception)
    refused = command("import", run.folder, saved({(0, "verdict"): "yes"}, name="bad.csv"))
    assert isinstance(refused.exception, InputError)
    assert refused.exception.exit_code == 2


def test_worst_picks_the_rows_that_the_report_shows_first(tmp_path):
    def scored(row_id, value):
        label = Label.SUPPORTED if value else Label.UNSUPPORTED
        return a_result(row_id, label=label).having(scores=(Score.share("faithfulness", [value]),))

    nothing_judged = scored("q9", 0.0)
    nothing_judged = nothing_judged.having(case=nothing_judged.case.having(verdicts=()))
    rows = [nothing_judged, *(scored(f"q{at}", float(at > 12)) for at in range(10, 70))]
    run = a_run(tmp_path / "run", *rows, metrics=("faithfulness", "citation_support"))
    more = ("--metric", "faithfulness", "--inspect", "worst", "--seed", 3)
    drawn = command("draw", run.folder, "-n", 10, "-o", tmp_path / "s.csv", *more)
    assert "10 of 60 units drawn" in drawn.output, drawn.exception
    (name,) = (path.name.partition(".")[0] for path in (run.folder / "spotcheck").glob("*.key.jsonl"))
    assert {line.sample_id for line in key_of(run, name)} >= {"q10", "q11", "q12"}


def test_several_imports_at_once_lose_no_line(run, saved, rows):
    """Whoever comes second waits, instead of cutting off as torn what the other is about to write."""
    path = labels_path(run)
    path.parent.mkdir(exist_ok=True)
    add = "from judgekit.review import HumanLabel; from judgekit.review.labels import add_labels"
    told = "unit_id=str(at), export_id='x', reviewer=sys.argv[2], verdict='supported', at='', where='w' * 9000"
    code = f"""import sys; {add}; from judgekit.rundir import Run
for at in range(60): add_labels(Run(sys.argv[1]), [HumanLabel({told})])"""
    writers = [subprocess.Popen([sys.executable, "-c", code, str(run.folder), name]) for name in "abc"]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    assert len(history_of(run)) == 180
