"""Asks: the judge takes a question apart, and cannot ask for what the question does not speak of."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from judgekit.tasks import asks
from judgekit.wire import Answer


def read(question: str, *texts: str) -> list[str]:
    found = asks.read({"q": Answer(id="q", texts=texts)}, question)
    assert found is not None
    assert [ask.id for ask in found] == [f"q{n}" for n in range(1, len(found) + 1)]
    return [ask.text for ask in found]


@pytest.mark.parametrize(
    ("question", "said", "kept"),
    [
        ("Who owns the mill, and what of its sails?", ["Who owns the mill?", "The sails"], "all"),
        ("Who owns the mill, and what of its sails?", ["Owner of the mill", "Name a brewery"], ["Owner of the mill"]),
        ("Wem geh\u00f6rt die M\u00fchle, und seit 1,900?", ["Besitz der M\u00fchlen", "seit 1900"], "all"),
        (
            "\u6c34\u8f66\u548c\u98ce\u8f66\u5728\u54ea\u91cc\uff1f",
            ["\u6c34\u8f66\u5728\u54ea\u91cc", "\u8c01\u62e5\u6709\u78e8\u574a"],
            ["\u6c34\u8f66\u5728\u54ea\u91cc"],
        ),
        ("\u6c34\u3068\u706b\u306f\u4f55\u304b", ["\u6c34", "\u706b", "\u6728"], ["\u6c34", "\u706b"]),
        ("\u6c34, \u706b?", ["\u6c34\u662f\u4ec0\u4e48", "\u6728\u5934"], ["\u6c34\u662f\u4ec0\u4e48"]),
        ("Is A or B up?", ["Is A?", "B", "C"], ["Is A?", "B"]),
    ],
)
def test_an_ask_that_shares_no_word_with_the_question_is_dropped(
    question: str, said: Sequence[str], kept: Sequence[str]
) -> None:
    assert read(question, *said) == (said if kept == "all" else kept)


@pytest.mark.parametrize("said", [[], ["", " ? "], ["Name a brewery"]])
def test_a_question_of_which_no_ask_is_left_is_its_own_ask(said: list[str]) -> None:
    assert read("Who owns  the mill?", *said) == ["Who owns the mill?"]


def test_there_are_at_most_twelve_asks_each_once() -> None:
    said = [f"Sail {n}" for n in range(1, 20)]
    assert read("What of the sails?", "Sail 1.", *said) == [f"Sail {n}" for n in range(1, 13)]


def test_what_could_not_be_asked_is_none() -> None:
    assert asks.read({"q": Answer(id="q", cause="timeout")}, "Who?") is None
    assert asks.read({}, "Who?") is None
