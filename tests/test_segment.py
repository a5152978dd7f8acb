"""Segments: they lose no character, and end where sentences, items and rows end."""
# ruff: noqa: RUF001 - sentences of many scripts

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.records import CitedSpan, Context
from judgekit.segment import segment


def texts(text: str) -> list[str]:
    return [one.text.strip() for one in segment(text)]


def kinds(text: str) -> list[tuple[str, str]]:
    return [(one.kind, one.bare) for one in segment(text)]


def cited(text: str, contexts=(), **options) -> list[list[tuple[str, str | None]]]:
    return [[(c.label, c.context_id) for c in one.citations] for one in segment(text, contexts, **options)]


def ranked(*ids: str) -> list[Context]:
    return [Context(id=id_, text=id_) for id_ in ids]


PARTS = [
    *"ab Z.!?,:;()[]{}<>\"'`*_#|-+~^=1290 \n\r\t\\/é漢。！｡「」（）【】¹²\u2028\ue200\x00",
    *("[1]", "[2, 3]", ". [1]", "[ 1 a ]", "```\n", "- ", "1. ", "| a | b |\n", "|---|---|\n", "# ", "> ", "[^1]: x"),
    *("References\n", "Sources: [1]", "https://a.b/c?d=1", "[x](http://y)", "Dr. ", "(see [1])", "---\n", "【4:0†f】"),
]
hostile = st.lists(st.sampled_from(PARTS), max_size=30).map("".join)
any_text = st.text(alphabet=st.characters(exclude_categories=()))


@given(st.one_of(any_text, hostile))
def test_segments_tile_the_text(text):
    segments = segment(text, ranked("1", "x"))
    assert "".join(one.text for one in segments) == text
    assert [one.start for one in segments] == [0, *(one.end for one in segments)][:-1] if segments else text == ""
    for number, one in enumerate(segments, 1):
        assert one.id == f"s{number}"
        assert one.text == text[one.start : one.end] != ""
        assert one.bare == " ".join(one.bare.split())
        for citation in one.citations:
            assert citation.start < one.end
            assert citation.end > one.start


@given(hostile)
def test_bare_invents_no_character(text):
    for one in segment(text):
        left = iter(one.text)
        assert all(sign in left for sign in one.bare.replace(" ", "")), (one.text, one.bare)


@pytest.mark.parametrize("text", ["", " ", "\n\n", "[1]", "...", "---", "\ud800. A"])
def test_texts_without_words_still_tile(text):
    assert "".join(one.text for one in segment(text)) == text


SENTENCES = {
    "abbreviations": "Dr. Frost lives in the U.S. in winter. | We use e.g. ice. | See Fig. 3 and vol. 2. | It melts.",
    "numbers": "Version 2.0.1 costs $3.50 now. | It weighs approx. 5 kg. | Fine.",
    "initials": "J. K. Frost wrote it. | A. B. Snow read it.",
    "ellipses": "It works... maybe. | So what?! | Wait… what? | Yes.",
    "quotes": 'She said "It is ice. It floats." | Then she left. | "Go now," she said.',
    "inches": 'He is 6\'4" (1.93 m). | She is 5\'9". | "Tall," he said.',
    "unclosed": "A stray (bracket here. | Another sentence. | And a last one.",
    "addresses": "See https://example.org/a?b=1. | Then node.js and System.Out help. | He left.",
    "glued": "He left. | Then he came.",
    "brands": "I like it. | eBay is old. | iPhones too.",
    "emphasis": "**Ice floats.** | It *melts*. | **Water** flows.",
    "code": "Call `ice.melt()`. | Then `a.b` is. | Done.",
    "enumeration": "First: 1. Take ice. | 2. Let it melt.",
    "German": "Das ist z. B. Eis. | Am 3. Oktober war es bzw. ist es kalt. | Prof. Dr. Frost kam d. h. lief. | Ende.",
    "French": "M. Gel est arrivé. | Mme. Neige, p. ex. a dit « Oui. Non. » | Il part. | Voir p. 5.",
    "Spanish": "El Sr. Hielo, p. ej., llegó. | ¿Cómo estás? | ¡Bien! | Vive en EE. UU. desde 1999. | Fin.",
    "Polish": "Prof. Lód mieszka np. w Krakowie. | Ur. w 1990 r. w Polsce. | To jest tzw. test. | Ma ok. 5 tys. zł.",
    "Russian": "Он родился в 1990 г. в Москве. | Это т. е. тест. | Живёт на ул. Ленина. | А. С. Мороз писал.",
    "Arabic": "مرحبا بالعالم. | كيف حالك؟ | أنا بخير.",
    "Hindi": "यह एक परीक्षण है। | आप कैसे हैं? | डॉ. शर्मा आए।",
}


@pytest.mark.parametrize("name", SENTENCES)
def test_sentences_end_where_a_reader_ends_them(name):
    expected = SENTENCES[name].split(" | ")
    assert texts(" ".join(expected)) == expected


@pytest.mark.parametrize(
    "expected",
    [
        ["今天天气很好。", "我们去公园吧！", "你去吗？"],
        ["今日は天気がいいです。", "「はい。」と言った。", "終わり。"],
        ["大坝高61米。", "1958年建成！", "2003年重修？", "是。"],
        ["高さは61メートルです。", "1958年に完成しました。"],
        ["ﾀﾞﾑﾃﾞｽ｡", "1958年ﾃﾞｽ｡"],
        ["真的吗？！", "1958年建成。"],
        ["大坝（高61米。1958年建成。）很大。", "它很老。"],
        ["「高さ61m。1958年完成。」と言った。", "終わり。"],
        ["《冰！2》很好看。", "2003年上映。"],
        ["**大坝高61米。**", "1958年建成。"],
        ["他喊“冰！”，1958年走了。"],
        ["大坝（高61米。", "1958年建成。"],
        ["He left.", "Then he came."],
    ],
)
def test_sentences_need_no_space_between_them(expected):
    assert texts("".join(expected)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ice floats. [1] Water flows.", [["1"], []]),
        ("Ice floats.[1] Water flows.[2]", [["1"], ["2"]]),
        ("Ice floats.[1]Water flows [2].", [["1"], ["2"]]),
        ("Ice floats. [1][2]. Water flows.", [["1", "2"], []]),
        ("Ice floats.¹ Water flows.²", [["1"], ["2"]]),
        ("Ice floats 【1†source】. Water flows【2†source】.", [["1"], ["2"]]),
        ("冰会浮。[1]水会流[2]。", [["1"], ["2"]]),
        ("大坝高61米。[1]1958年建成[2]。", [["1"], ["2"]]),
        ("大坝高61米。[1][2] 1958年建成。【3】它很老。", [["1", "2"], ["3"], []]),
        ("Lemons hold vitamin C [1]. Limes do too.", [["1"], []]),
        ("See eq. (3) [2]. It melts.", [["2"], []]),
        ("Ice floats.\n[1]\nWater flows.", [["1"], []]),
        ("Ice floats.\n[2] Water flows.", [[], ["2"]]),
        ("Ice floats. [2] says that water flows.", [[], ["2"]]),
        ("- Ice floats [1]\n- [2] Water flows", [["1"], ["2"]]),
        ("Ice floats.\nSource: [1]", [["1"]]),
        ("Steps:\n\n1[2]. Take ice.\n2[3]. Melt it.", [[], ["2"], ["3"]]),
        ("[ 1 Ice floats. It melts. ] Water flows.", [["1"], ["1"], []]),
        ("> Ice floats [1].\n> Water flows [2].", [["1"], ["2"]]),
    ],
)
def test_a_marker_belongs_to_the_sentence_it_closes(text, expected):
    assert [[label for label, _ in one] for one in cited(text)] == expected


DOCUMENT = """\
# Ice

Ice has forms:
- blocks [1]
  - cubes
* shards. They cut.
1. hail
2) sleet
a) snow

**Table**
| Form | Size |
|------|------|
| cube [2] | 2 cm |
| hail | 1 cm |

```py
arr[1]
```
> Ice floats.

---

## References
[1] Frost. https://example.org/1
[2] Snow. https://example.org/2
"""


def test_a_reference_list_with_gaps_is_one_segment():
    tail = "## Sources\n\n[1] https://example.org/1\n\n[2] https://example.org/2\n"
    assert [one.text for one in segment(f"Ice floats.\n\n{tail}")] == ["Ice floats.\n\n", tail]


def test_each_kind_of_line_is_told_apart():
    assert kinds(DOCUMENT) == [
        ("heading", "Ice"),
        ("sentence", "Ice has forms:"),
        ("list_item", "blocks"),
        ("list_item", "cubes"),
        ("list_item", "shards."),
        ("list_item", "They cut."),
        ("list_item", "hail"),
        ("list_item", "sleet"),
        ("list_item", "snow"),
        ("heading", "**Table**"),
        ("table", ""),
        ("table", "cube | 2 cm"),
        ("table", "hail | 1 cm"),
        ("code", "```py arr[1] ```"),
        ("sentence", "Ice floats."),
        ("references", "## References [1] Frost. https://example.org/1 [2] Snow. https://example.org/2"),
    ]
    assert list(chain(*cited(DOCUMENT))) == [("1", None), ("2", None)]


@pytest.mark.parametrize(
    ("tail", "is_references"),
    [
        ("Sources:\n1. https://example.org/1\n2. https://example.org/2", True),
        ("**Works cited**\n- Frost, J. Ice. 2020.", True),
        ("Sources: [1], [2]", True),
        ("[^1]: Frost, on ice.", True),
        ("[1] Frost. https://example.org/1", True),
        ("参考文献\n[1] 冰", True),
        ("## Sources\n- Glaciers [1]\n- Snow", False),
        ("Sources:\nIce comes from glaciers [1].", False),
        ("References to ice are rare [1].", False),
        ("[1] Ice floats on water.", False),
    ],
)
def test_a_reference_list_cites_nothing(tail, is_references):
    text = f"Ice floats.\n\n{tail}"
    assert ("references" in [kind for kind, _ in kinds(text)]) == is_references
    assert any(cited(text)) == (not is_references)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ice floats on\nwater.", 1),
        ("Ice is\nWater", 2),
        ("A long line as mail programs wrap it, of some seventy characters, in\nParis.", 1),
        ("**Paris**", 1),
        ("In short:\nice floats.", 2),
    ],
)
def test_a_line_break_ends_a_sentence_unless_it_is_wrapped(text, expected):
    assert len(texts(text)) == expected


def test_one_bold_word_is_an_answer_and_no_heading():
    assert kinds("**Paris**") == [("sentence", "**Paris**")]


RESOLVED = [
    # ids, base, text, what the numbers mean
    ("a b c", "auto", "Ice [1] [3].", ["a", "c"]),
    ("a b c", "auto", "Ice [0] [2].", ["a", "c"]),
    ("a b c", "auto", "Take arr[0] of ice [1].", ["a"]),
    ("a b c", "auto", "Use `x [0]` on ice [1].", ["a"]),
    ("a b c", "auto", "Ice [4] [1].", [None, "a"]),
    ("a b c", 1, "Ice [0] [1].", [None, "a"]),
    ("a b c", 0, "Ice [1] [3].", ["b", None]),
    ("7 3 5", "auto", "Ice [3] [1].", ["3", None]),
    ("7 3 5", 1, "Ice [3] [1].", ["5", "7"]),
    ("1 2 3", "auto", "Ice [0] [2].", ["1", "3"]),
    ("1 2 3", 0, "Ice [0] [2].", ["1", "3"]),
    ("3 1 2", "auto", "Ice [0] [2].", [None, "2"]),
    ("0 1 2", "auto", "Ice [0] [2].", ["0", "2"]),
    ("", "auto", "Ice [1].", [None]),
    ("a b c", "auto", "Ice【4:1†source】【4:9†source】.", ["b", None]),
    ("a b c", "auto", "Ice【4:1†c】.", ["c"]),
    ("a b c", "auto", "Ice floats.¹²", ["a", "b"]),
    ("a b c", "auto", "Ice [a] [b, q].", ["a", "b", None]),
]


@pytest.mark.parametrize(("ids", "base", "text", "expected"), RESOLVED)
def test_a_number_means_an_id_or_a_rank(ids, base, text, expected):
    found = chain(*cited(text, ranked(*ids.split()), base=base))
    assert [context_id for _, context_id in found] == expected


def test_one_marker_names_a_source_once():
    ice = Context(id="ice", url="https://example.org/ice")
    assert cited("Ice floats [1, ice, 1].", [ice]) == [[("1", "ice")]]


def test_spans_replace_the_markers_and_the_markers_still_leave():
    text = "Ice floats [1]. Water flows. Steam rises."
    spans = (CitedSpan(start=16, end=32, context_ids=("b", "x", "b")), CitedSpan(start=0, end=3, context_ids=("a",)))
    segments = segment(text, ranked("a", "b"), spans=spans)
    assert [one.bare for one in segments] == ["Ice floats.", "Water flows.", "Steam rises."]
    assert [[(c.start, c.end, c.label, c.context_id) for c in one.citations] for one in segments] == [
        [(0, 3, "a", "a")],
        [(16, 29, "b", "b"), (16, 29, "x", None)],
        [(29, 32, "b", "b"), (29, 32, "x", None)],
    ]


def test_a_dangling_label_of_a_span_is_no_id():
    text = "Ice floats. Water flows."
    spans = (CitedSpan(start=0, end=11, context_ids=("1",), dangling=("2", "2")),)
    assert cited(text, ranked("1", "2"), spans=spans) == [[("1", "1"), ("2", None)], []]
    nowhere = (CitedSpan(start=0, end=24, context_ids=(), dangling=("12",)),)
    assert cited(text, ranked("12", "7"), spans=nowhere) == [[("12", None)], [("12", None)]]


def test_a_span_that_shares_only_white_space_with_a_segment_does_not_cite_for_it():
    text = "Ice floats. Water flows."
    assert cited(text, ranked("a"), spans=(CitedSpan(start=11, end=24, context_ids=("a",)),)) == [[], [("a", "a")]]


def test_no_spans_at_all_means_no_citations():
    assert cited("Ice floats [1].", ranked("a"), spans=()) == [[]]


def test_ids_take_the_prefix():
    assert [one.id for one in segment("Ice. Water.", prefix="t")] == ["t1", "t2"]
