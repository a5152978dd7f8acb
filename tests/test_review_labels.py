"""What several reviewers' labels amount to, and what a history of lines leaves in force."""

import pytest

from judgekit.errors import InputError
from judgekit.records import Manifest
from judgekit.review.labels import (
    add_labels,
    exports_of,
    history_of,
    key_of,
    labels_of,
    labels_path,
    note_export,
    settled,
)
from judgekit.review.records import Export, HumanLabel, HumanVerdict
from judgekit.rundir import write_run


def a_label(unit="u1", reviewer="ann", verdict="supported", **more):
    return HumanLabel(
        unit_id=unit,
        export_id="x1",
        reviewer=reviewer,
        verdict=verdict,
        at="2026-11-30T02:00:00+00:00",
        where="sheet.csv:2",
        **more,
    )


@pytest.fixture
def run(tmp_path):
    return write_run(tmp_path / "run", [], Manifest(judgekit="0.1.0", logs=(), judge={}, metrics={}))


def keep(run, *labels):
    labels_path(run).parent.mkdir(exist_ok=True)
    labels_path(run).write_text("".join(f"{label.model_dump_json()}\n" for label in labels), encoding="utf-8")


@pytest.mark.parametrize(
    ("verdicts", "supported", "disputed"),
    [
        (["supported"], True, False),
        (["not_supported"], False, False),
        (["cannot_tell"], None, False),
        (["supported", "supported"], True, False),
        (["supported", "not_supported"], None, True),
        (["supported", "partially_supported"], None, True),
        (["unsupported", "contradicted", "not_supported", "partially_supported"], False, False),
        (["cannot_tell", "supported"], True, False),
        (["cannot_tell", "supported", "contradicted"], None, True),
    ],
)
def test_reviewers_agree_on_the_side_or_leave_the_unit_open(verdicts, supported, disputed):
    labels = [a_label(reviewer=f"r{at}", verdict=verdict) for at, verdict in enumerate(verdicts)]
    found = settled(labels)["u1"]
    assert (found.is_supported, found.is_disputed, found.labels) == (supported, disputed, tuple(labels))


@pytest.mark.parametrize(("last", "supported"), [("supported", True), ("unsupported", False), ("cannot_tell", None)])
def test_an_adjudicator_outweighs_all_others_and_the_last_one_counts(last, supported):
    labels = [
        a_label(reviewer="ann", verdict="supported", assisted=True),
        a_label(reviewer="cy", verdict="supported", adjudicated=True),
        a_label(reviewer="di", verdict=last, adjudicated=True),
        a_label(reviewer="bob", verdict="not_supported"),
    ]
    found = settled(labels)["u1"]
    assert (found.is_supported, found.is_disputed, found.is_adjudicated) == (supported, False, True)
    assert found.assisted is False


def test_a_label_given_with_the_judges_verdict_in_view_marks_its_unit():
    assert settled([a_label(), a_label(reviewer="bob", assisted=True)])["u1"].assisted is True


def test_the_last_line_of_each_reviewer_is_in_force_and_a_deferral_takes_back(run):
    lines = [
        a_label("u1", "ann", "supported"),
        a_label("u2", "ann", "supported"),
        a_label("u1", "bob", "not_supported"),
        a_label("u1", "ann", "contradicted"),
        a_label("u2", "ann", None),
    ]
    keep(run, *lines)
    assert history_of(run) == lines
    assert labels_of(run) == [lines[2], lines[3]]


def test_a_run_without_a_review_has_no_labels_and_no_exports(run):
    assert (history_of(run), labels_of(run), exports_of(run), settled([])) == ([], [], [], {})
    with pytest.raises(InputError, match="no export 'x1' was drawn from this run; its exports are: none"):
        key_of(run, "x1")


def test_a_torn_last_line_is_none_and_a_broken_one_is_named(run):
    keep(run, a_label("u1\u2028\x85"), a_label("u2"))
    whole = labels_path(run).read_text(encoding="utf-8")
    labels_path(run).write_text(whole[:-3], encoding="utf-8")
    assert [label.unit_id for label in labels_of(run)] == ["u1\u2028\x85"]
    labels_path(run).write_text('{"unit_id": 3}\n' + whole, encoding="utf-8")
    with pytest.raises(InputError, match=r"labels\.jsonl:1: not a line of judgekit"):
        labels_of(run)


def test_a_line_torn_inside_a_character_is_none_and_is_cut_off(run):
    keep(run, a_label("u1"), a_label("u2", "Ö"))
    whole = labels_path(run).read_bytes()
    labels_path(run).write_bytes(whole[: whole.index("Ö".encode()) + 1])
    assert [label.unit_id for label in labels_of(run)] == ["u1"]
    add_labels(run, [a_label("u3")])
    assert [label.unit_id for label in labels_of(run)] == ["u1", "u3"]
    labels_path(run).write_bytes(b"\xff\xfe\n" + whole)
    with pytest.raises(InputError, match=r"labels\.jsonl:1: not a line of judgekit"):
        labels_of(run)


def test_a_draw_whose_key_is_gone_is_named_with_the_file_to_put_back(run):
    told = {"kind": "verdict", "metrics": (), "seed": 7, "blind": True, "population": 1, "drawn": 1, "at": ""}
    note_export(run, Export(export_id="x1", **told))
    with pytest.raises(InputError, match=r"x1\.key\.jsonl: not there, .* put it back"):
        key_of(run, "x1")


def test_only_support_is_support_and_who_cannot_tell_says_neither():
    sides = {verdict.value: verdict.is_supported for verdict in HumanVerdict}
    assert sides == {
        "supported": True,
        "not_supported": False,
        "cannot_tell": None,
        "partially_supported": False,
        "unsupported": False,
        "contradicted": False,
    }
