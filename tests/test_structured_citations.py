"""Citations that logs give beside the answer or in its parts: every form ends as the same character spans."""

import pytest
from scripts import judge_that

import judgekit as jk
from judgekit.formats.citations import read_answer
from judgekit.records import CitedSpan, Context

CONTEXTS = (Context(id="a", url="https://example.org/a"), Context(id="b"), Context(id="c"))
# characters: Ä 0, emoji 10, second sentence from 12; bytes: Ä is 2, 🧊 is 4; UTF-16: 🧊 is 2
ICE = "Äs Eis ist 🧊. Das Eis 冰 schmilzt. Äs Eis ist 🧊."
AGAIN = ICE.rindex("Äs")


def read(answer, citations=None):
    return read_answer(answer, citations, CONTEXTS)


def cited(answer, citations=None) -> list[tuple[str, tuple[str, ...]]]:
    text, spans = read(answer, citations)
    assert spans is not None
    return [(text[one.start : one.end], one.context_ids) for one in spans]


def dangling(answer, citations=None, contexts=CONTEXTS) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    _, spans = read_answer(answer, citations, contexts)
    assert spans is not None
    return [(one.context_ids, one.dangling) for one in spans]


def in_bytes(text: str, words: str, *, last: bool = False) -> tuple[int, int]:
    raw, part = text.encode(), words.encode()
    start = raw.rindex(part) if last else raw.index(part)
    return start, start + len(part)


def test_an_answer_without_citations_keeps_its_markers():
    assert read("Ice floats [1].") == ("Ice floats [1].", None)


def test_no_citations_and_no_list_of_citations_are_not_the_same():
    assert read("Ice floats.", []) == ("Ice floats.", ())


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"start": 0, "end": 6, "context_ids": ["a", "c"]}, ("Äs Eis", ("a", "c"))),
        ({"start": 14, "end": 17, "contexts": ["b", "b"]}, ("Das", ("b",))),
        ({"start": 14, "end": 17, "context_ids": ["zz", 7]}, ("Das", ("zz", "7"))),
        ({"start": 0, "end": 7, "context_ids": ["a"], "unit": "bytes"}, ("Äs Eis", ("a",))),
        ({"start": 12, "end": 16, "context_ids": ["a"], "unit": "bytes"}, ("🧊", ("a",))),
    ],
)
def test_native_spans(entry, expected):
    assert cited(ICE, [entry]) == [expected]


def test_trec_parts_are_joined_with_spaces_and_count_from_zero():
    answer = [
        {"text": "Eis schwimmt.", "citations": [0, 2]},
        {"text": "Und?", "citations": []},
        {"text": "冰.", "citations": ["b", 9]},
    ]
    assert read(answer)[0] == "Eis schwimmt. Und? 冰."
    assert cited(answer) == [("Eis schwimmt.", ("a", "c")), ("冰.", ("b",))]
    assert dangling(answer) == [(("a", "c"), ()), (("b",), ("9",))]


def test_anthropic_blocks_are_spans_as_a_whole():
    answer = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "Als Antwort: ", "citations": None},
        {
            "type": "text",
            "text": "🧊 schwimmt",
            "citations": [
                {
                    "type": "char_location",
                    "document_index": 1,
                    "cited_text": "x",
                    "start_char_index": 0,
                    "end_char_index": 1,
                },
                {"type": "page_location", "document_index": 1, "cited_text": "y"},
                {"type": "content_block_location", "document_index": 0, "cited_text": "z"},
                {"type": "search_result_location", "search_result_index": 8, "cited_text": "w"},
                {"type": "web_search_result_location", "url": "https://example.org/a", "cited_text": "v"},
            ],
        },
        {"type": "text", "text": "."},
    ]
    assert read(answer)[0] == "Als Antwort: 🧊 schwimmt."
    assert cited(answer) == [("🧊 schwimmt", ("b", "a"))]
    assert dangling(answer) == [(("b", "a"), ("8",))]


def test_blocks_that_cite_nothing_leave_the_markers_to_count():
    assert read([{"type": "text", "text": "Ice [1]."}, {"type": "text", "text": " Yes."}]) == ("Ice [1]. Yes.", None)


def one_index(form: str, index: int) -> tuple[object, object]:
    """Answer and citations of a row that cites one index, in each form that counts its sources."""
    if form == "trec":
        return [{"text": "Ice floats.", "citations": [index]}], None
    if form == "gemini":
        return "Ice floats.", [{"segment": {"endIndex": 11}, "groundingChunkIndices": [index]}]
    return [{"type": "text", "text": "Ice floats.", "citations": [{form: index}]}], None


@pytest.mark.parametrize("form", ["trec", "gemini", "document_index", "search_result_index"])
@pytest.mark.parametrize(
    ("ids", "index", "expected"),
    [
        ("1 2 3", 2, (("3",), ())),
        ("1 2 3", 3, ((), ("3",))),  # one too many: the last context is called so, and is not meant
        ("1 2 3", -1, ((), ("-1",))),
        ("12 7", 1, (("7",), ())),
        ("12 7", 12, ((), ("12",))),
        ("12 7", 7, ((), ("7",))),
        ("", 0, ((), ("0",))),
    ],
)
def test_an_index_out_of_range_dangles_whatever_the_ids_look_like(form, ids, index, expected):
    contexts = tuple(Context(id=one, text=one) for one in ids.split())
    assert dangling(*one_index(form, index), contexts) == [expected]
    answer, citations = one_index(form, index)
    row = {
        "question": "What floats?",
        "answer": answer,
        "citations": citations,
        "contexts": [{"id": one, "text": f"Ice {one} floats."} for one in ids.split()],
    }
    (result,) = jk.score_all([row], judge=judge_that().judge, metrics="citation_support")
    (claim,) = result.case.claims
    assert (claim.citations, claim.dangling) == expected
    support = result["citation_support"]
    assert (support.numerator, support.denominator) == (len(expected[0]), 1)


def test_the_same_text_and_number_are_an_id_and_an_index():
    contexts = (Context(id="5"), Context(id="6"))
    assert dangling([{"text": "Ice.", "citations": ["5", 5, 5, 1]}], None, contexts) == [(("5", "6"), ("5",))]


UTF16 = len(ICE[:14].encode("utf-16-le")) // 2


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"start": 14, "end": 17, "text": "Das", "document_ids": ["c"]}, (14, ("c",))),
        ({"start": 14, "end": 17, "document_ids": ["c", "q"]}, (14, ("c", "q"))),
        ({"start": UTF16, "end": UTF16 + 3, "text": "Das", "document_ids": ["c"]}, (14, ("c",))),
        ({"start": 18, "end": 21, "text": "Das", "document_ids": ["c"]}, (14, ("c",))),
        ({"start": 14, "end": 17, "text": "Das", "sources": [{"type": "document", "id": "b"}]}, (14, ("b",))),
        ({"start": 14, "end": 17, "text": "Das", "sources": [{"document": {"id": "b"}}]}, (14, ("b",))),
        ({"start": 14, "end": 17, "text": "Das", "sources": [{"id": "doc:1", "document": {"id": "b"}}]}, (14, ("b",))),
        # in no unit do these offsets hold the words: the nearest place counts, not the first
        ({"start": AGAIN + 2, "end": AGAIN + 8, "text": "Äs Eis", "document_ids": ["a"]}, (AGAIN, ("a",))),
        ({"start": 3, "end": 9, "text": "Äs Eis", "document_ids": ["a"]}, (0, ("a",))),
    ],
)
def test_cohere_spans_are_found_by_their_words(entry, expected):
    (span,) = read(ICE, [entry])[1]
    assert (span.start, span.context_ids) == expected
    assert ICE[span.start : span.end] == entry.get("text", "Das")


def test_gemini_counts_utf8_bytes_and_omits_zero():
    first, second = in_bytes(ICE, "Äs Eis ist 🧊."), in_bytes(ICE, "Das Eis 冰 schmilzt.")
    third = in_bytes(ICE, "Äs Eis ist 🧊.", last=True)
    supports = [
        {"segment": {"endIndex": first[1], "text": "Äs Eis ist 🧊."}, "groundingChunkIndices": [0]},
        {"segment": {"startIndex": second[0], "endIndex": second[1]}, "groundingChunkIndices": [1, 2]},
        {"segment": {"startIndex": third[0], "endIndex": third[1]}, "groundingChunkIndices": [5]},
        {"segment": {"startIndex": third[0], "endIndex": third[1]}},
    ]
    expected = (
        CitedSpan(start=0, end=13, context_ids=("a",)),
        CitedSpan(start=14, end=33, context_ids=("b", "c")),
        CitedSpan(start=AGAIN, end=len(ICE), context_ids=(), dangling=("5",)),
    )
    assert read(ICE, {"groundingSupports": supports}) == (ICE, expected)
    assert read(ICE, {"groundingMetadata": {"groundingSupports": supports}}) == (ICE, expected)
    assert read(ICE, supports) == (ICE, expected)


def test_gemini_in_snake_case_and_in_parts():
    support = {
        "segment": {"part_index": 1, "start_index": 0, "end_index": 7, "text": "Äs Eis"},
        "grounding_chunk_indices": [0],
    }
    parts = [{"text": "Äs Eis schwimmt. "}, {"text": "Äs Eis schmilzt."}]
    text, spans = read(parts, {"grounding_supports": [support]})
    assert text == "Äs Eis schwimmt. Äs Eis schmilzt."
    assert spans == (CitedSpan(start=17, end=23, context_ids=("a",)),)
    # the same parts logged as one text: the words still tell the place
    assert read("Eis? Äs Eis schmilzt.", [support])[1] == (CitedSpan(start=5, end=11, context_ids=("a",)),)


@pytest.mark.parametrize(
    ("answer", "citations", "message"),
    [
        (None, None, "null is no answer"),
        (7, None, "an int is no answer"),
        (["Ice"], None, r"\[0\]: a str is no part"),
        ([{"text": None}], None, r"\[0\]\.text: null"),
        ([{"text": "Ice", "citations": "a"}], None, r"\[0\]\.citations: a str where a list"),
        ([{"text": "Ice", "citations": [{"type": "x"}]}], None, r"\[0\]\.citations\[0\]: an object with type"),
        ([{"text": "Ice", "citations": [True]}], None, r"\[0\]\.citations\[0\]: a bool"),
        ([{"text": "Ice"}, {"text": "Water"}], [{"start": 0, "end": 1, "context_ids": ["a"]}], "2 parts"),
        ("Ice", "a", "a str where a list"),
        ("Ice", {"spans": []}, "without groundingSupports"),
        ("Ice", ["a"], r"\[0\]: a str is no citation"),
        ("Ice", [{"start": 0, "end": 2}], r"\[0\]: names no source"),
        (
            "Ice",
            [{"start": 0, "end": 4, "context_ids": ["a"]}],
            r"\[0\]: 0 to 4 is no stretch of the answer \(3 characters",
        ),
        ("Ice", [{"start": 2, "end": 1, "context_ids": ["a"]}], r"\[0\]: 2 to 1"),
        ("Ice", [{"start": -1, "end": 1, "context_ids": ["a"]}], r"\[0\]: -1 to 1"),
        ("Ice", [{"start": "0", "end": 1, "context_ids": ["a"]}], r"\[0\]\.start: a str where a whole number"),
        ("Ice", [{"start": 0, "end": 1, "context_ids": "a"}], r"\[0\]\.context_ids: a str"),
        ("Ice", [{"start": 0, "end": 1, "context_ids": ["a"], "unit": "words"}], r"\[0\]\.unit: 'words' is unknown"),
        ("Äis", [{"start": 1, "end": 2, "context_ids": ["a"], "unit": "bytes"}], r"\[0\]: 1 to 2 .* in bytes"),
        ("Ice", [{"start": 0, "end": 3, "text": "Fog", "document_ids": ["a"]}], r"not in the answer: 'Fog'"),
        ("Ice", [{"start": 0, "end": 90, "text": "Ice", "document_ids": ["a"]}], r"\[0\]: 0 to 90"),
        ("Ice", [{"start": 0, "end": 3, "sources": [{}]}], r"\[0\]\.sources: a source without an id"),
        ("Ice", [{"segment": {"startIndex": 0, "endIndex": 9}}], r"\[0\]\.segment: 0 to 9"),
        ("Ice", [{"segment": {"partIndex": 1, "endIndex": 3}}], r"\[0\]\.segment\.partIndex: 1, .* 1 part"),
        ("Ice", [{"segment": None}], r'\[0\]: no "segment" object'),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(answer, citations, message):
    with pytest.raises(ValueError, match=message):
        read(answer, citations)
