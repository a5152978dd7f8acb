"""What is a citation marker, what it names, and what only looks like one."""
# ruff: noqa: RUF001 - markers of many scripts

import time

import pytest

from judgekit.records import Context
from judgekit.segment import find_markers, segment


def labels(text: str, *ids: str) -> list[str]:
    return [label for marker in find_markers(text, [Context(id=id_) for id_ in ids]) for label in marker.labels]


MARKERS = [
    ("Ice floats [1].", "1"),
    ("Ice floats [1][2].", "1 2"),
    ("Ice floats [1], [2].", "1 2"),
    ("Ice floats [1, 3].", "1 3"),
    ("Ice floats [1,3,12].", "1 3 12"),
    ("Ice floats [1;3].", "1 3"),
    ("Ice floats [2-4].", "2 3 4"),
    ("Ice floats [2–4].", "2 3 4"),
    ("Ice floats [1]-[3].", "1 2 3"),
    ("Ice floats [1, 3-5 and 9].", "1 3 4 5 9"),
    ("Ice floats [1 and 3].", "1 3"),
    ("Ice floats [1 & 3].", "1 3"),
    ("Eis schwimmt [1 und 3].", "1 3"),
    ("La glace flotte [1 et 3].", "1 3"),
    ("El hielo flota [1 y 3].", "1 3"),
    ("Il ghiaccio galleggia [1 e 3].", "1 3"),
    ("Lód pływa [1 i 3].", "1 3"),
    ("Лёд плавает [1 и 3].", "1 3"),
    ("冰会浮[1和3]。", "1 3"),
    ("Ice floats [ 1 ].", "1"),
    ("Ice floats [1, 1].", "1"),
    ("Ice floats ［1］.", "1"),
    ("Ice floats [2, p. 14].", "2"),
    ("Ice floats [[1]].", "1"),
    ("Ice floats【1†source】.", "1"),
    ("Ice floats【4:0†ice.pdf】.", "4:0"),
    ("Ice floats \ue200cite\ue202turn0search1\ue202turn0search4\ue201.", "turn0search1 turn0search4"),
    ("Ice floats[^1] and melts[^2^].", "1 2"),
    ("Ice floats.¹ It melts¹² in water.¹,²", "1 12 1 2"),
    ("Ice floats<sup>1</sup>.", "1"),
    ("Ice floats <cite>[12-15]</cite>", "12 13 14 15"),
    ("Ice floats (Doc 2).", "2"),
    ("Ice floats (Document 2; Document 3).", "2 3"),
    ("Ice floats (Passage 2, Passage 5).", "2 5"),
    ("Ice floats (see Source 3).", "3"),
    ("Ice floats (Context 1, 2).", "1 2"),
    ("Ice floats (contexts 1 and 2).", "1 2"),
    ("Eis schwimmt (Quelle 3).", "3"),
    ("Ice floats [Doc 2].", "2"),
    ("Ice floats [doc2].", "2"),
    ("Ice floats [Source 1, Source 4].", "1 4"),
    ("Ice floats [citation:3].", "3"),
    ("According to Passage 2, ice floats.", "2"),
    ("Ice floats, as passages 1 and 3 say.", "1 3"),
    ("In context [1], ice floats.", "1"),
    ("[ 2 Ice floats ] on [ 3 water ] .", "2 3"),
    ("See [1](https://example.org/ice).", "1"),
    ("Retrieved from https://example.org/Ice_floe[3]", "3"),
    ("Retrieved from https://example.org/wiki/The_history_of_the_sea_ice_of_the_northern_hemisphere[3]", "3"),
    ("Read at https://example.org/Sea_ice.[2]", "2"),
    ("It is made of hydrogen[1].", "1"),
    ("The result is Output5[16].", "16"),
    ("A last word[1].", "1"),
    ("It is on the list[1].", "1"),
    ("Hepatitis B[2] and the iPhone[3]", "2 3"),
    ("However [2] it floats", "2"),
]


@pytest.mark.parametrize(("text", "expected"), MARKERS)
def test_a_marker_names_its_sources_in_order(text, expected):
    assert labels(text) == expected.split()


NO_MARKERS = [
    "In the edition of [1999] it was new.",
    "A reign [1850-1900] of peace.",
    "A range too wide to list [1-40].",
    "A range that runs back [4-2].",
    "He said [sic] it [the ice] floats [online].",
    "Sea ice. [Accessed: 9-May-2021]",
    "A 501(c)(3) body with 78 (54) members.",
    "It is (1) cold and (2) wet.",
    "- [ ] open\n- [x] done",
    "Take arr[0] first.",
    "Then x[1] and a[2].",
    "Here list[1] returns the second.",
    "Set user_ids[3] to None, or myList[2].",
    "In matrix[0][1] we find it.",
    "Call items()[2] or rows[1] = 3.",
    "Use `word [1]` and ``a ` [2]``.",
    "```\nprint [1]\n```",
    "~~~\nprint [1]",
    "The value is in the interval [0, 1].",
    "An area of 5 km², 3 m³, x², 10⁻³ and 10⁵.",
    "Energy is E = mc² and Ca²⁺ is an ion of ¹⁴C age (a+b)².",
    "Take 10<sup>3</sup> units.",
    "The film documents 12 cases, and sources 30 suppliers.",
    "The source 2 km away is dry.",
    "A version [1.5] at [12:30], [1/3] of it.",
    "A [link](https://example.org/other) and ![1](https://example.org/picture.png).",
    "",
]


@pytest.mark.parametrize("text", NO_MARKERS)
def test_what_only_looks_like_a_marker_is_none(text):
    assert find_markers(text) == ()


@pytest.mark.parametrize(
    ("text", "ids", "expected"),
    [
        ("Ice floats [doc-a].", ["doc-a"], "doc-a"),
        ("Ice floats [d7#3].", ["d7#3"], "d7#3"),
        ("Ice floats [doc-a].", ["doc-b"], ""),
        ("Ice floats [doc-a, doc-z].", ["doc-a"], "doc-a doc-z"),
        ("Ice floats [Source: doc-a].", ["doc-a"], "doc-a"),
        ("Ice floats [1999].", ["1999"], "1999"),
        ("Ice floats [20231 | Frost et al. | 2020].", ["20231"], "20231"),
        ("Ice [which] floats [doc-a and more].", ["doc-a"], ""),
    ],
)
def test_a_bracketed_name_is_a_marker_only_as_an_id(text, ids, expected):
    assert labels(text, *ids) == expected.split()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ice floats [1], [2] and [3]; it melts.", "Ice floats; it melts."),
        ("Ice floats (see [1]).", "Ice floats."),
        ("Ice floats ([1][2]) on water.", "Ice floats on water."),
        ("Ice floats. [1-3]. ", "Ice floats."),
        ("Ice floats[1]on water", "Ice floats on water"),
        ("Ice [1] floats [2] , it [3] melts.", "Ice floats, it melts."),
        ("Ice floats <sup>[1]</sup>.", "Ice floats."),
        ("Ice floats. Source: [1]", "Ice floats."),
        ("Ice [sic] floats (on water) [1] [here].", "Ice [sic] floats (on water) [here]."),
        ("[ 2 Ice floats ] on [ 3 water ] .", "Ice floats on water."),
        ("[ 1 It ] [ 2 floats ] , [ 3 so ] .", "It floats, so."),
        ('He said "ice floats [1]".', 'He said "ice floats".'),
        ("冰[1]会浮[2]。", "冰会浮。"),
        # as words of the sentence they stay
        ("According to Passage 2, ice floats.", "According to Passage 2, ice floats."),
        ("According to [2], ice floats.", "According to [2], ice floats."),
        ("In context [1], ice floats [2].", "In context [1], ice floats."),
        ("[1] says that ice floats.", "[1] says that ice floats."),
    ],
)
def test_bare_is_the_sentence_without_its_markers(text, expected):
    assert [one.bare for one in segment(text)] == [expected]


def test_a_link_to_a_context_is_a_citation_and_keeps_its_words():
    ice = Context(id="7", url="https://example.org/ice/")
    text = "Ice [floats](https://example.org/ice#top) on water [1](https://example.org/ice). See [more](https://x.org)."
    first, second = segment(text, [ice])
    assert first.bare == "Ice floats on water."
    assert [(one.label, one.context_id) for one in first.citations] == [
        ("https://example.org/ice#top", "7"),
        ("1", "7"),
    ]
    assert second.bare == "See [more](https://x.org)."
    assert second.citations == ()


def test_positions_enclose_the_marker():
    (marker,) = find_markers("Ice floats [1, 3].")
    assert (marker.start, marker.end, marker.labels) == (11, 17, ("1", "3"))


@pytest.mark.parametrize(
    "unit",
    [
        "[",
        "[1",
        "((((",
        "*",
        " ",
        "`",
        "_",
        ".",
        "-",
        "1-2-",
        "[1](",
        "[a](x",
        "¹",
        "[1, ",
        "(source ",
        "“",
        "http://",
        "` ``",
    ],
)
def test_hostile_text_takes_linear_time(unit):
    def seconds(size: int) -> float:
        text = (unit * size)[:size]
        started = time.perf_counter()
        segment(text)
        return time.perf_counter() - started

    seconds(1000)
    small, large = min(seconds(10_000) for _ in range(3)), seconds(100_000)
    # ten times the text: linear work takes ten times as long, quadratic a hundred times
    assert large < 40 * small + 0.2
