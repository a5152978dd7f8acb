"""The review page as a file: what it holds, what it keeps to itself, and what is read of what it hands back."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import judgekit.review.page as page_room
from judgekit.errors import InputError, LogError
from judgekit.records import Label
from judgekit.review.page import read, write
from judgekit.review.page.writing import common_words, page_of
from judgekit.review.records import Filled, JudgeSaid, Passage, ReviewUnit
from judgekit.review.sheets import read as read_sheet
from judgekit.segment.words import content_words, where_said

FOLDER = Path(page_room.__file__).parent


def a_unit(unit_id="u000000000001", **changes):
    unit = ReviewUnit(
        export_id="x1",
        unit_id=unit_id,
        kind="verdict",
        question="How tall is the tower?",
        text="It is old. It is 12 metres tall [1].",
        side="answer",
        claim="The tower is 12 metres tall.",
        span=(10, 36),
        markers=("[1]",),
        passages=(Passage(context_id="d1", text="The tower measures 12 metres.", rank=1, is_cited=True),),
    )
    return unit.having(**changes)


class Page(HTMLParser):
    """The scripts and styles of a page, the data in it, and its policy."""

    def __init__(self, text):
        super().__init__()
        self.scripts, self.styles, self.policy, self.data = [], [], "", None
        self._within = None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self._within = "data" if attrs.get("id") == "data" else tag
        if attrs.get("http-equiv") == "Content-Security-Policy":
            self.policy = attrs["content"]

    def handle_endtag(self, tag):
        self._within = None

    def handle_data(self, data):
        match self._within:
            case "data":
                assert self.data is None, "the data block was left before its end"
                self.data = json.loads(data)
            case "script":
                self.scripts.append(data)
            case "style":
                self.styles.append(data)


# --- what the page holds -----------------------------------------------------------------------


@given(st.lists(st.text() | st.sampled_from(["</script>", "<!--<script>", "\u2028", "\x00", "{{ 7*7 }}", "]]>"])))
def test_any_text_stays_inside_the_data_block_and_comes_out_as_it_was(texts):
    passages = tuple(Passage(context_id=f"d{at}", text=text, title=text) for at, text in enumerate(texts))
    unit = a_unit(question="".join(texts), text="".join(texts), claim="".join(texts), span=None, passages=passages)
    data = Page(page_of([unit])).data
    (found,) = data["units"]
    whole = "".join(texts)
    assert [data["texts"][found[name]] for name in ("question", "text")] == [whole, whole]
    assert found["claim"] == whole
    assert [data["texts"][passage["text"]] for passage in found["passages"]] == texts
    assert [passage["title"] for passage in found["passages"]] == texts


def test_half_a_surrogate_pair_is_no_reason_to_fail(tmp_path):
    write([a_unit(text="\ud83d alone", span=None)], tmp_path / "page.html")
    page = Page((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert "\ud83d alone" in page.data["texts"]


def test_the_policy_names_the_script_and_the_style_by_their_hashes_and_nothing_else():
    page = Page(page_of([a_unit()]))
    (script,), (style,) = page.scripts, page.styles

    def hashed(text):
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    rules = dict(rule.split(" ", 1) for rule in page.policy.split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == hashed(script)
    assert rules["style-src"] == hashed(style)


def test_the_page_names_no_address_and_its_script_builds_no_markup():
    own = "".join(path.read_text(encoding="utf-8") for path in FOLDER.rglob("*.*") if path.suffix != ".pyc")
    assert not re.findall(r"(?:https?:)?//[\w.-]+\.\w|url\(|@import", own)
    assert not re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|\|safe", own)


def test_a_blind_page_knows_nothing_of_the_judge():
    blind = page_of([a_unit()])
    assert Page(blind).data["blind"] is True
    assert Page(blind).data["units"][0]["judge"] is None
    said = JudgeSaid(
        label=Label.CONTRADICTED, reason="It says 13.", quotes=(("d1", "measures 12  metres"), ("d9", "13 metres"))
    )
    visible = Page(page_of([a_unit(judge=said)])).data
    assert visible["blind"] is False
    quotes = [["d1", "measures 12  metres", True], ["d9", "13 metres", False]]
    assert visible["units"][0]["judge"] == {"label": "contradicted", "reason": "It says 13.", "quotes": quotes}
    (passage,) = visible["units"][0]["passages"]
    assert passage["quotes"] == [10, 28]
    assert "".join(visible["texts"][passage["text"]][10:28]) == "measures 12 metres"


def test_a_text_that_many_units_share_stands_in_the_file_once():
    units = [a_unit(f"u{number}") for number in range(50)]
    assert page_of(units).count("The tower measures 12 metres.") == 1


def test_the_same_units_make_the_same_page_and_none_is_overwritten(tmp_path):
    path = tmp_path / "page.html"
    write([a_unit()], path)
    assert path.read_bytes() == page_of([a_unit()]).encode()
    with pytest.raises(InputError, match=r"page\.html: exists already"):
        write([a_unit()], path)


@pytest.mark.parametrize("units", [[], [a_unit(), a_unit("u2", export_id="x2")]])
def test_a_page_belongs_to_one_export(tmp_path, units):
    with pytest.raises(InputError, match="the units of one export"):
        write(units, tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


# --- marks -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "text", "said"),
    [
        ("The tower is 1,000 metres tall.", "Towers: 1000 metres or 1000.5?", ["Towers", "1000", "metres"]),
        ("Der Turm misst.", "Die TÜRME messen, der Turm misst.", ["der", "Turm", "misst"]),
        ("東京タワー", "昔の東京には", ["東京"]),
        ("高さ三三三メートル", "三三三だ", ["三三三"]),
        ("a b", "a b c", []),
        ("Tower", "", []),
    ],
)
def test_words_of_the_claim_are_found_where_they_are_said(claim, text, said):
    assert [text[start:end] for start, end in where_said(content_words(claim), text)] == said


@given(st.text(), st.text())
def test_stretches_are_in_order_and_apart(claim, text):
    spans = where_said(content_words(claim), text)
    places = [place for span in spans for place in span]
    assert places == sorted(places)
    assert all(start < end for start, end in spans)


def test_words_that_stand_nearly_everywhere_are_not_marked():
    texts = [f"The tower number{'abcdefghij'[at] * 3} is {word}." for at, word in enumerate(["tall"] * 3 + ["old"] * 7)]
    assert common_words(texts) >= {"the", "tower", "old"}
    assert "tall" not in common_words(texts)
    assert common_words(texts[:3]) == set()


def test_marks_are_counted_as_javascript_counts():
    text = "🗼🗼 The tower 🗼 measures 12 metres."
    (unit,) = Page(page_of([a_unit(text=text, span=(3, 12), passages=(Passage(context_id="d1", text=text),))])).data[
        "units"
    ]
    units16 = text.encode("utf-16-le")

    def cut(places):
        return [
            units16[2 * start : 2 * end].decode("utf-16-le")
            for start, end in zip(places[::2], places[1::2], strict=True)
        ]

    assert cut(unit["span"]) == ["The tower"]
    assert cut(unit["passages"][0]["words"]) == ["The", "tower", "12", "metres"]


# --- colours -----------------------------------------------------------------------------------


def _luminance(colour):
    digits = colour.lstrip("#")
    digits = "".join(2 * digit for digit in digits) if len(digits) == 3 else digits
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("text", "ground"),
    [
        *((text, ground) for text in ("ink", "muted", "accent", "yes", "no", "unsure") for ground in ("paper", "card")),
        ("on-accent", "accent"),
        ("on-claim", "claim"),
        ("ink", "quote"),
        *(("on-verdict", verdict) for verdict in ("yes", "no", "unsure")),
    ],
)
def test_text_stands_out_from_its_ground_as_wcag_asks(text, ground, scheme):
    css = (FOLDER / "page.css").read_text(encoding="utf-8")
    colours = {name: pair for name, *pair in re.findall(r"--([\w-]+): light-dark\((#\w+), (#\w+)\)", css)}
    light, dark = sorted((_luminance(colours[name][scheme]) for name in (text, ground)), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5


# --- what comes back ---------------------------------------------------------------------------

LINE = {"unit_id": "u1", "export_id": "x1", "reviewer": "Ada", "blind": True, "status": "done", "verdict": "supported"}


def test_a_download_is_read_by_ids_and_filled_fields(tmp_path):
    path = tmp_path / "x1.Ada.jsonl"
    more = {"claim_ok": "not_atomic", "evidence_id": "d1", "note": "=1+1", "minutes": 0.25}
    path.write_text(
        f"\ufeff{json.dumps(LINE)}\r\n\r\n{json.dumps({**LINE, 'unit_id': 'u2', **more})}\n", encoding="utf-8"
    )
    first = Filled(unit_id="u1", export_id="x1", reviewer="Ada", status="done", verdict="supported", where=f"{path}:1")
    more["evidence"] = more.pop("evidence_id")
    second = first.having(unit_id="u2", where=f"{path}:3", **more)
    assert read(path) == [first, second]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", r"is not a filled unit"),
        ("[" * 100_000, r"is not a filled unit"),
        ("7", r"is not a filled unit"),
        (json.dumps({**LINE, "verdict": "maybe"}), r"verdict: Input should be 'supported', 'not_supported'"),
        (json.dumps({**LINE, "text": "The answer."}), r"text: Extra inputs"),
        (json.dumps({"export_id": "x1"}), r"unit_id: Field required"),
    ],
)
def test_a_line_that_no_page_writes_is_named(tmp_path, line, message):
    path = tmp_path / "back.jsonl"
    path.write_text(f"{json.dumps(LINE)}\n{line}\n{line}\n", encoding="utf-8")
    with pytest.raises(LogError, match=rf"back\.jsonl:2: {message}") as raised:
        read(path)
    assert [problem.split(": ")[0] for problem in raised.value.problems] == [f"{path}:2", f"{path}:3"]


def test_a_file_that_is_no_text_is_refused(tmp_path):
    (tmp_path / "back.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="is not UTF-8 text; give the file"):
        read(tmp_path / "back.jsonl")


def test_the_page_itself_is_not_what_it_hands_back(tmp_path):
    write([a_unit()], tmp_path / "page.html")
    with pytest.raises(InputError, match=r"page\.html: is the page itself; open it, press Download"):
        read_sheet(tmp_path / "page.html")


# --- what the docs say of it -------------------------------------------------------------------

DOCS = (Path(__file__).parent.parent / "docs" / "spotcheck.md").read_text(encoding="utf-8")


def test_the_docs_name_every_key_and_no_other():
    table = DOCS.partition("| key | |")[2].partition("\n\n")[0]
    told = set(re.findall(r"`(.)`", table))
    wiring = (FOLDER / "script" / "6_wiring.js").read_text(encoding="utf-8")
    keys = set(re.findall(r'^  \["(\S+)", "', wiring, re.MULTILINE))
    assert told == keys - {"ArrowRight", "ArrowLeft"} | {"→", "←"}


def test_the_line_of_a_download_in_the_docs_can_be_read(tmp_path):
    (line,) = re.findall(r"^```json\n(.*?)^```$", DOCS, re.DOTALL | re.MULTILINE)
    (tmp_path / "back.jsonl").write_text(line, encoding="utf-8")
    (filled,) = read_sheet(tmp_path / "back.jsonl")
    assert (filled.verdict, filled.evidence, filled.reviewer) == ("not_supported", "kettle-care", "Anna")
