"""A draw from a run: nothing of the verdicts reaches a sheet, and the key says all that an estimate needs."""

import re

import openpyxl
import pytest
from review_cases import D1, D2, a_result, a_run, a_verdict

from judgekit.errors import InputError
from judgekit.metrics import metrics_of
from judgekit.records import Evidence, Label
from judgekit.review import Order, Passage, draw_review, exports_of, key_of, labels_of
from judgekit.review.labels import add_labels, key_path
from judgekit.review.records import HumanLabel, JudgeSaid
from judgekit.review.sheets import FORMATS, Format, format_for
from judgekit.review.units import shown
from judgekit.rundir import Run
from judgekit.sampling import Unit, checks_of

METRICS = metrics_of(["faithfulness", "citation_support", "context_recall", "answer_correctness"])
NOW = "2026-11-30T02:00:00+00:00"


class Shelf:
    """A format that keeps the units it is given, and writes their ids."""

    def __init__(self):
        self.units = {}
        self.form = Format("shelf", ".txt", self.write, read=lambda path: [], recognises=lambda path: False)

    def write(self, units, path):
        self.units[path.name] = units
        path.write_text("".join(f"{unit.unit_id}\n" for unit in units), encoding="utf-8")


@pytest.fixture
def shelf():
    return Shelf()


@pytest.fixture
def drawn_from(tmp_path, shelf):
    def made(run, name="sheet.txt", **order):
        order = {"n": 10, "seed": 7, **order}
        return draw_review(run, Order(**order), sheet=tmp_path / name, form=shelf.form, at=NOW)

    return made


# --- what a reviewer sees ----------------------------------------------------------------------


def unit_of(result, *sources, claim="a1", visible=False):
    unit = next(
        one.unit
        for one in checks_of([result], METRICS).candidates
        if one.unit.sources == sources and one.unit.claim_id == claim
    )
    return shown(result, unit, export_id="x1", visible=visible)


def test_a_unit_shows_what_the_judge_saw_with_the_cited_first():
    result = a_result("q1", answer="  One. \n Two [2]. ")
    unit = unit_of(result, "d1", "d2")
    assert (unit.question, unit.claim, unit.text, unit.side) == ("What?", "A claim.", "  One. \n Two [2]. ", "answer")
    assert unit.text[slice(*unit.span)] == "One. \n Two [2]."
    assert unit.markers == ("[2]",)
    assert unit.passages == (
        Passage(context_id="d2", text=D2.text, rank=2, is_cited=True),
        Passage(context_id="d1", text=D1.text, title="Terms", doc_id="d", version="2026-03", rank=1),
    )
    assert unit.judge is None


def test_a_claim_of_the_reference_stands_in_the_reference_and_a_text_can_be_a_source():
    result = a_result("q1")
    assert unit_of(result, "d1", "d2", claim="r1").text == "The gold."
    assert unit_of(result, "@reference").passages == (Passage(context_id="@reference", text="The gold."),)
    against = unit_of(result, "@answer", claim="r1")
    assert (against.side, against.text, against.passages) == (
        "reference",
        "The gold.",
        (Passage(context_id="@answer", text="An answer [2]."),),
    )


def test_markers_that_were_logged_beside_the_text_are_told_by_id():
    result = a_result("q1")
    logged = result.having(case=result.case.having(sample=result.case.sample.having(citations=())))
    assert unit_of(logged, "d1", "d2").markers == ("2",)


def test_a_whole_answer_is_shown_with_its_claims_and_all_its_contexts():
    unit = shown(a_result("q1"), Unit.whole("q1"), export_id="x1", visible=True)
    assert (unit.kind, unit.claim, unit.claims, unit.span, unit.judge) == ("sample", None, ("A claim.",), None, None)
    assert [passage.context_id for passage in unit.passages] == ["d1", "d2"]


def test_what_the_judge_said_is_shown_only_when_asked_for():
    verdict = a_verdict(
        "a1",
        "d1",
        "d2",
        label=Label.CONTRADICTED,
        probabilities={"contradicted": 0.9},
        evidence=(Evidence(context_id="d2", quote="Second", verified=True),),
    )
    result = a_result("q1", verdicts=(verdict,))
    said = JudgeSaid(label=Label.CONTRADICTED, quotes=(("d2", "Second"),), probabilities={"contradicted": 0.9})
    assert unit_of(result, "d1", "d2", visible=True).judge == said
    assert unit_of(result, "d1", "d2").judge is None


def test_a_unit_of_another_run_is_refused():
    with pytest.raises(InputError, match="holds no claim 'a9'"):
        shown(a_result("q1"), Unit("u1", "q1", "a9", ("d1",)), export_id="x1", visible=False)


@pytest.mark.parametrize("form", [form for form in FORMATS if form != "xlsx"])
def test_a_sheet_is_the_same_byte_for_byte_whatever_the_judge_said(tmp_path, form):
    written = []
    for label in list(Label)[:4]:
        run = a_run(tmp_path / label.value, *(a_result(f"q{at}", label=label) for at in range(4)))
        path = tmp_path / f"{label.value}.sheet"
        draw_review(run, Order(n=100, seed=1), sheet=path, form=FORMATS[form], at=NOW)
        written.append({file.name.partition(".")[2]: file.read_bytes() for file in tmp_path.glob(f"{label.value}.*")})
    assert all(files == written[0] for files in written)
    assert all(b"SECRET-QUOTE" not in raw for raw in written[0].values())


def test_a_workbook_says_the_same_whatever_the_judge_said(tmp_path):
    held = []
    for label in list(Label)[:4]:
        run = a_run(tmp_path / label.value, *(a_result(f"q{at}", label=label) for at in range(4)))
        path = tmp_path / f"{label.value}.xlsx"
        draw_review(run, Order(n=100, seed=1), sheet=path, form=FORMATS["xlsx"], at=NOW)
        held.append([list(sheet.iter_rows(values_only=True)) for sheet in openpyxl.load_workbook(path)])
    assert all(sheets == held[0] for sheets in held)
    assert "SECRET-QUOTE" not in str(held)


# --- the key -----------------------------------------------------------------------------------


def test_the_key_joins_each_unit_to_its_verdict_and_its_chance(tmp_path, drawn_from, shelf):
    labels = [Label.SUPPORTED, Label.UNSUPPORTED]
    run = a_run(tmp_path / "run", *(a_result(f"q{at}", label=labels[at % 3 == 0]) for at in range(60)))
    export = drawn_from(run, n=40, metrics=["faithfulness", "citation_support"])
    key = key_of(run, export.export_id)
    assert [line.unit_id for line in key] == [unit.unit_id for unit in shelf.units["sheet.txt"]]
    assert (export.population, export.drawn, export.metrics) == (120, 40, ("citation_support", "faithfulness"))
    sizes = {line.stratum: line.stratum_size for line in key}
    assert sizes == {
        f"{metric} | {label} | clear": size
        for metric in ("citation_support", "faithfulness")
        for label, size in (("supported", 40), ("unsupported", 20))
    }
    assert sum(sizes.values()) == export.population, "the key alone describes the whole population"
    for line in key:
        assert line.label == run[line.sample_id].case.label(Unit(*line_unit(line)).check)
        assert line.inclusion == line.stratum_drawn / line.stratum_size
        assert line.metrics == (line.stratum.partition(" ")[0],)
        assert (line.purpose, line.blind, line.bin, line.seed) == ("estimate", True, "clear", 7)


def line_unit(line):
    return line.unit_id, line.sample_id, line.claim_id, line.sources


def test_the_same_draw_again_is_the_same_export_and_one_key(tmp_path, drawn_from):
    run = a_run(tmp_path / "run", *(a_result(f"q{at}") for at in range(9)))
    first = drawn_from(run, n=20)
    raw = key_path(run, first.export_id).read_bytes()
    second = drawn_from(run, "other.txt", n=20)
    assert second.export_id == first.export_id
    assert key_path(run, first.export_id).read_bytes() == raw
    assert exports_of(run) == [second]
    assert second.files == ("sheet.txt", "other.txt")


def test_a_run_that_was_judged_anew_does_not_get_the_old_key(tmp_path, drawn_from):
    first = drawn_from(a_run(tmp_path / "run", a_result("q1")))
    again = a_run(tmp_path / "again", a_result("q1", label=Label.UNSUPPORTED))
    key_path(again, first.export_id).parent.mkdir()
    key_path(again, first.export_id).write_bytes(key_path(Run(tmp_path / "run"), first.export_id).read_bytes())
    with pytest.raises(InputError, match="the judge has said something else"):
        drawn_from(again, "again.txt")
    assert not (tmp_path / "again.txt").exists()


def test_metrics_that_rest_on_no_claims_are_left_out_or_refused(tmp_path, drawn_from):
    run = a_run(tmp_path / "run", a_result("q1"), metrics=("context_relevance", "faithfulness"))
    assert drawn_from(run).metrics == ("faithfulness",)
    for name in ("context_relevance", "citation_support", "nonsense"):
        with pytest.raises(InputError, match=f"{name}: not a metric of this run that rests on claims"):
            drawn_from(run, "other.txt", metrics=[name])


# --- picks, reviewers, what is left out --------------------------------------------------------


def test_picks_are_marked_have_no_chance_and_are_drawn_only_once(tmp_path, drawn_from, shelf):
    run = a_run(tmp_path / "run", *(a_result(f"q{at}") for at in range(40)), metrics=("faithfulness",))
    drawn = {line.unit_id for line in key_of(run, drawn_from(run, n=10).export_id)}
    rows = [f"q{at}" for at in range(20)]
    export = drawn_from(run, "more.txt", n=10, inspect=rows)
    key = key_of(run, export.export_id)
    picked = [line for line in key if line.purpose == "inspect"]
    assert {line.unit_id for line in key} - {line.unit_id for line in picked} == drawn
    assert {line.sample_id for line in key} >= set(rows)
    assert {(line.inclusion, line.stratum_size, line.stratum_drawn) for line in picked} == {(None, None, None)}
    assert len(picked) == export.inspected == len(shelf.units["more.txt"]) - 10
    assert drawn_from(run, "one.txt", n=10, inspect=[picked[0].unit_id]).inspected == 1
    with pytest.raises(InputError, match="no row or unit 'q99'"):
        drawn_from(run, "none.txt", inspect=["q1", "q99"])


def test_reviewers_are_dealt_equal_hands_and_the_overlap_is_in_two_of_them(tmp_path, drawn_from, shelf):
    run = a_run(tmp_path / "run", *(a_result(f"q{at}") for at in range(60)), metrics=("faithfulness",))
    export = drawn_from(run, n=60, reviewers=3, overlap=0.5)
    hands = [{unit.unit_id for unit in shelf.units[f"sheet.{at}.txt"]} for at in (1, 2, 3)]
    doubled = {line.unit_id for line in key_of(run, export.export_id) if line.is_overlap}
    assert len(doubled) == export.overlap == 30
    assert sum(map(len, hands)) == 90
    assert [len(hand) for hand in hands] == [30, 30, 30]
    assert {unit for unit in set.union(*hands) if sum(unit in hand for hand in hands) == 2} == doubled
    assert not (tmp_path / "sheet.txt").exists()


def test_a_draw_that_is_made_again_is_the_latest(tmp_path, drawn_from):
    run = a_run(tmp_path / "run", *(a_result(f"q{at}") for at in range(20)), metrics=("faithfulness",))
    first, second = drawn_from(run, n=5), drawn_from(run, "more.txt", n=9)
    assert [export.export_id for export in exports_of(run)] == [first.export_id, second.export_id]
    drawn_from(run, "again.txt", n=5)
    assert [export.export_id for export in exports_of(run)] == [second.export_id, first.export_id]


def test_an_overlap_needs_a_second_reviewer(tmp_path, drawn_from):
    with pytest.raises(InputError, match="--reviewers 2"):
        drawn_from(a_run(tmp_path / "run", a_result("q1")), overlap=0.3)


def test_a_larger_draw_asks_only_for_what_has_no_label(tmp_path, drawn_from, shelf):
    run = a_run(tmp_path / "run", *(a_result(f"q{at}") for at in range(60)), metrics=("faithfulness",))
    export = drawn_from(run, n=20)
    earlier = [unit.unit_id for unit in shelf.units["sheet.txt"]]
    told = {"export_id": export.export_id, "reviewer": "ann", "verdict": "supported", "at": NOW, "where": "w"}
    add_labels(run, [HumanLabel(unit_id=unit_id, **told) for unit_id in earlier[:15]])
    larger = drawn_from(run, "more.txt", n=40, only="new")
    asked = {unit.unit_id for unit in shelf.units["more.txt"]}
    assert asked.isdisjoint(earlier[:15])
    assert len(asked) == 25
    in_key = {line.unit_id for line in key_of(run, larger.export_id)}
    assert in_key == asked | set(earlier), "the key of the larger draw holds all, so earlier labels count for it"
    assert {label.unit_id for label in labels_of(run)} < in_key


def test_what_is_disputed_goes_into_one_sheet_of_the_same_draw(tmp_path, drawn_from, shelf):
    run = a_run(tmp_path / "run", *(a_result(f"q{at}") for at in range(30)), metrics=("faithfulness",))
    export = drawn_from(run, n=30, reviewers=2)
    told = {"export_id": export.export_id, "at": NOW, "where": "w"}
    ids = sorted(line.unit_id for line in key_of(run, export.export_id))
    for reviewer, verdict in (("ann", "supported"), ("bob", "not_supported")):
        add_labels(run, [HumanLabel(unit_id=one, reviewer=reviewer, verdict=verdict, **told) for one in ids[:3]])
    add_labels(run, [HumanLabel(unit_id=ids[0], reviewer="cy", verdict="supported", adjudicated=True, **told)])
    again = drawn_from(run, "settle.txt", n=30, reviewers=2, only="disputed")
    assert sorted(unit.unit_id for unit in shelf.units["settle.txt"]) == ids[1:3]
    assert again.export_id == export.export_id
    assert again.files == ("sheet.1.txt", "sheet.2.txt", "settle.txt")
    assert again.holding == (25, 25, 2)


def test_whole_answers_have_no_metric_and_no_verdict_to_show(tmp_path, drawn_from):
    run = a_run(tmp_path / "run", a_result("q1"), metrics=("faithfulness",))
    for more in ({"metrics": ["faithfulness"]}, {"visible": True}):
        with pytest.raises(InputError, match="leave out --metric and --visible"):
            drawn_from(run, kind="sample", **more)
    assert drawn_from(run, kind="sample").metrics == ()


def test_nobody_is_dealt_an_empty_sheet(tmp_path, drawn_from):
    run = a_run(tmp_path / "run", a_result("q1"), metrics=("faithfulness",))
    with pytest.raises(InputError, match="1 units drawn for 2 reviewers"):
        drawn_from(run, reviewers=2)
    export = drawn_from(run)
    (line,) = key_of(run, export.export_id)
    told = {"export_id": export.export_id, "reviewer": "ann", "verdict": "supported", "at": NOW, "where": "w"}
    add_labels(run, [HumanLabel(unit_id=line.unit_id, **told)])
    with pytest.raises(InputError, match="0 units without a label for 1 reviewers"):
        drawn_from(run, "more.txt", only="new")
    assert not (tmp_path / "more.txt").exists()


# --- nothing is lost ---------------------------------------------------------------------------


@pytest.mark.parametrize("there", ["sheet.txt", "sheet.2.txt"])
def test_no_sheet_is_ever_overwritten(tmp_path, drawn_from, there):
    run = a_run(tmp_path / "run", a_result("q1"))
    (tmp_path / there).write_text("filled in", encoding="utf-8")
    with pytest.raises(InputError, match=f"{re.escape(there)}: exists already"):
        drawn_from(run, reviewers=1 if there == "sheet.txt" else 2)
    assert (tmp_path / there).read_text(encoding="utf-8") == "filled in"
    assert exports_of(run) == []


def test_a_run_without_verdicts_gives_no_empty_sheet(tmp_path, drawn_from):
    run = a_run(tmp_path / "run", a_result("q1", verdicts=()))
    with pytest.raises(InputError, match="nothing to review"):
        drawn_from(run)
    assert not (tmp_path / "sheet.txt").exists()


@pytest.mark.parametrize(
    ("path", "name", "found"),
    [("a.csv", None, "csv"), ("a.XLSX", None, "xlsx"), ("a.json", "argilla", "argilla"), ("a.csv", "xlsx", "xlsx")],
)
def test_the_format_is_told_or_follows_from_the_name(tmp_path, path, name, found):
    assert format_for(tmp_path / path, name).name == found


@pytest.mark.parametrize(
    ("path", "name", "told"),
    [
        ("a.json", None, "--format label-studio or argilla"),
        ("a.doc", None, "give --format xlsx or"),
        ("a.csv", "exel", "unknown format 'exel'; there are: xlsx, "),
    ],
)
def test_a_format_that_is_not_clear_is_asked_for(tmp_path, path, name, told):
    with pytest.raises(InputError, match=told):
        format_for(tmp_path / path, name)
