"""Quotes: found where they really stand, with offsets into the raw text; anything else proves nothing."""
# ruff: noqa: RUF001 - other scripts are meant

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.segment.quotes import align, find_quote

TEXT = "The Halden pump — built in 1940 — weighs 12 kg,\nruns at 48 V and costs €1,250."

FOUND = {
    "as it stands": ("weighs 12 kg", TEXT, "weighs 12 kg"),
    "other case": ("the halden PUMP", TEXT, "The Halden pump"),
    "other white space": ("weighs 12 kg, runs   at 48 V", TEXT, "weighs 12 kg,\nruns at 48 V"),
    "other punctuation": ("pump - built in 1940 - weighs", TEXT, "pump — built in 1940 — weighs"),
    "words left out at an ellipsis": ("The Halden pump ... runs at 48 V", TEXT, TEXT[: TEXT.index(" and")]),
    "an ellipsis of one sign": ("Halden pump … 48 V", TEXT, TEXT[4 : TEXT.index(" and")]),
    "quotation marks around it": ('"weighs 12 kg"', TEXT, "weighs 12 kg"),
    "a number spelled with its thousands": ("costs €1250", TEXT, "costs €1,250"),
    "full-width letters": ("weighs １２ kg", TEXT, "weighs 12 kg"),
    "a ligature": ("the final office", "See the ﬁnal oﬃce.", "the ﬁnal oﬃce"),
    "accents in two pieces": (unicodedata.normalize("NFD", "Café Zürich"), "Im Café Zürich.", "Café Zürich"),
    "accents in the text in two pieces": (
        "Café",
        unicodedata.normalize("NFD", "Im Café."),
        unicodedata.normalize("NFD", "Café"),
    ),
    "German sharp s": ("STRASSE", "Die Straße endet.", "Straße"),
    "Chinese": ("水泵重12公斤", "据称，水泵重12公斤。", "水泵重12公斤"),
    "Hindi": ("पानी की टंकी", "यह पानी की टंकी है।", "पानी की टंकी"),
    "Arabic without its vowel signs": ("كتاب", "هذا كِتَابٌ جديد", None),
    "a number that begins a longer word": ("12 kg", TEXT, "12 kg"),
}


@pytest.mark.parametrize(("quote", "text", "raw"), FOUND.values(), ids=FOUND)
def test_a_quote_is_found_where_it_stands(quote: str, text: str, raw: str | None) -> None:
    found = find_quote(quote, text)
    assert found is not None
    assert raw is None or text[found.start : found.end] == raw


NOT_FOUND = {
    "a word changed": ("weighs 13 kg", TEXT),
    "a part of a number": ("built in 40", "It was built in 1940."),
    "the end of a number": ("194 pumps", "1940 pumps"),
    "a decimal left out": ("weighs 15 kg", "It weighs 1.5 kg."),
    "the fraction of a decimal": ("weighs 5 kg", "It weighs 1.5 kg, weighs 2.5 kg."),
    "a vowel sign changed": ("पानी का टंकी", "यह पानी की टंकी है।"),
    "in another order": ("48 V ... 12 kg", TEXT),
    "signs only": ("— , .", TEXT),
    "two letters": ("V a", TEXT),
    "nothing": ("", TEXT),
    "an ellipsis alone": ("...", TEXT),
    "from nowhere": ("the moon is made of rock", TEXT),
    "another currency": ("costs $1,250", TEXT),
    "in an empty text": ("pump", ""),
}


@pytest.mark.parametrize(("quote", "text"), NOT_FOUND.values(), ids=NOT_FOUND)
def test_what_is_not_there_is_not_found(quote: str, text: str) -> None:
    assert find_quote(quote, text) is None


@given(st.text(max_size=60), st.data())
def test_offsets_lie_in_the_text_and_what_stands_there_is_found_again(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    found = find_quote(text[start:end], text)
    if found is not None:
        assert 0 <= found.start < found.end <= len(text)
        assert find_quote(text[found.start : found.end], text) is not None


@given(st.text(alphabet="abc déß中 ", min_size=3, max_size=40))
def test_a_text_is_found_in_itself(text: str) -> None:
    if sum(sign.isalnum() for sign in text) >= 3:
        assert find_quote(text, f"x. {text} .x") is not None


def test_a_claim_is_aligned_with_the_sentence_that_shares_most_words() -> None:
    text = "The tank is blue. The pump weighs 12 kg. The pump is old."
    spans = [(0, 17), (18, 40), (41, 57)]
    found = align("The pump weighs twelve kilograms", text, spans)
    assert found is not None
    assert text[found.start : found.end] == "The pump weighs 12 kg."
    assert align("Nothing alike", text, spans) is None
    assert align("", text, spans) is None
