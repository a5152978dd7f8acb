"""Splitting: which claims are kept, which are dropped, and that no fact of the text is lost either way."""
# ruff: noqa: RUF001 - other scripts are meant

from __future__ import annotations

from collections.abc import Sequence

import pytest

from judgekit.prompts import prompts_of
from judgekit.records import ANSWER, REFERENCE, Claim, Context
from judgekit.segment import segment
from judgekit.segment.words import content_words, normalised, numbers, share_of
from judgekit.tasks import split
from judgekit.wire import Answer

CONTEXTS = tuple(Context(id=str(n), text=f"context {n}") for n in range(1, 5))


def drafts_of(text: str, *listed: Sequence[str] | None, question: str = "") -> list[split.Draft]:
    """What becomes of lists of claims, one list a sentence; None: the extractor gave none for it."""
    segments = split.splittable(segment(text, CONTEXTS))
    assert len(segments) == len(listed), [one.bare for one in segments]
    answers = {
        one.id: Answer(id=one.id, texts=tuple(claims))
        for one, claims in zip(segments, listed, strict=True)
        if claims is not None
    }
    return split.read(answers, segments, question=question, text=text)


def claims_of(text: str, *listed: Sequence[str], question: str = "") -> list[Claim]:
    return list(split.claims_of(drafts_of(text, *listed, question=question), ANSWER, question=question))


# --- honest claims are kept ------------------------------------------------------------------------

HONEST = {
    "the words themselves": ("The tank holds 40 litres.", ["The tank holds 40 litres."], ""),
    "two facts apart": (
        "It is 4 m wide and 9 m tall.",
        ["The gate is 4 m wide", "The gate is 9 m tall"],
        "How big is it?",
    ),
    "a pronoun resolved from the question": (
        "It weighs 12 kg.",
        ["The Halden pump weighs 12 kg"],
        "And the Halden pump?",
    ),
    "passive for active": ("Ada wrote the booklet.", ["The booklet was written by Ada"], ""),
    "a bare name": ("Norsund", ["The ferry lands in Norsund"], "Where does the ferry land?"),
    "a bare number": ("1998", ["The pier was built in 1998"], "When was the pier built?"),
    "yes, written out": ("Yes.", ["The pump is certified"], "Is the pump certified?"),
    "thousands in another spelling": ("It cost 1,250 euro.", ["The boat cost 1250 euro"], "What did the boat cost?"),
    "Polish": (
        "Biblioteka jest czynna do 19, a w soboty do 14.",
        ["Biblioteka jest otwarta w dni robocze do 19", "W soboty biblioteka jest czynna do 14"],
        "Kiedy czynna jest biblioteka?",
    ),
    "German": (
        "Das Depot öffnet um sechs Uhr und wird von Ada geleitet.",
        ["Das Depot öffnet um sechs Uhr", "Ada leitet das Depot"],
        "",
    ),
    "Chinese": ("水泵的重量为12公斤，电压为48伏。", ["水泵重12公斤", "水泵的电压是48伏"], "水泵多重？"),
    "Chinese, a bare word": ("薄荷", ["谜语描述的草药是薄荷"], "谜语描述的是哪种草药？"),
    "Japanese": ("ポンプの重さは12キロで、色は青です。", ["ポンプの重さは12キロです", "ポンプは青色です"], ""),
    "Arabic, digits of another script": (
        "تعمل المضخة بجهد ٤٨ فولت وتزن ١٢ كيلوغراما.",
        ["المضخة تعمل بجهد 48 فولت", "تزن المضخة 12 كيلوغراما"],
        "",
    ),
    "Russian": ("Насос весит 12 кг, его построила Ада.", ["Насос весит 12 кг", "Ада построила насос"], ""),
}


@pytest.mark.parametrize(("text", "listed", "question"), HONEST.values(), ids=HONEST)
def test_an_honest_claim_stands(text: str, listed: list[str], question: str) -> None:
    (draft,) = drafts_of(text, listed, question=question)
    assert (draft.claims, draft.invented, draft.fault) == (tuple(listed), (), None)


DISTANT = {
    "twelve for 12": ("The pump weighs 12 kg.", ["The pump weighs twelve kilograms"], ""),
    "12 for twelve": ("Twelve.", ["The pump has 12 valves"], "How many valves does the pump have?"),
    "other words throughout": ("It was taken off the market.", ["Sales of the Halden pump ended"], "Halden pump?"),
    "no, written out": ("No.", ["The pump lacks a certificate"], "Is the pump certified?"),
    "Chinese, other words": ("他去年辞职了。", ["王经理离开了公司"], "王经理还在公司吗？"),
}


@pytest.mark.parametrize(("text", "listed", "question"), DISTANT.values(), ids=DISTANT)
def test_a_distant_paraphrase_is_asked_again_and_its_sentence_never_lost(
    text: str, listed: list[str], question: str
) -> None:
    first = drafts_of(text, listed, question=question)
    assert first[0].fault is not None
    settled = split.settled(first, drafts_of(text, listed, question=question))
    (claim,) = split.claims_of(settled, ANSWER, question=question)
    assert claim.is_whole
    assert claim.text.endswith(text)
    assert (claim.start, claim.end) == (0, len(text))


def test_a_segment_too_short_to_be_understood_alone_is_a_claim_with_its_question() -> None:
    (whole,) = split.whole_segments(segment("No."), ANSWER, question="Is the\npump certified?")
    assert whole.text == "Is the pump certified? No."
    (long,) = split.whole_segments(segment("The pump was never certified."), ANSWER, question="Is it?")
    assert long.text == "The pump was never certified."
    (alone,) = split.whole_segments(segment("No."), ANSWER, question=" ")
    assert alone.text == "No."


# --- inventions, fragments and gaps ------------------------------------------------------------------


def test_a_claim_of_something_else_is_dropped_and_counted() -> None:
    (draft,) = drafts_of("The fee is 12 euro per day.", ["The fee is 12 euro per day", "Children travel free"])
    assert (draft.claims, draft.invented, draft.fault) == (
        ("The fee is 12 euro per day",),
        ("Children travel free",),
        None,
    )


def test_a_dropped_claim_makes_the_rest_prove_that_nothing_is_missing() -> None:
    text = "The pump weighs 12 kg, runs quietly in any weather and was withdrawn."
    kept = "The pump weighs 12 kg, runs quietly in any weather"
    assert drafts_of(text, [kept])[0].fault is None
    assert drafts_of(text, [kept, "Sales ended"])[0].fault == "uncovered"


@pytest.mark.parametrize("listed", [["Player A is the top scorer"], ["The top scorer in the league is player A."]])
def test_the_question_answered_instead_of_the_text_split_is_an_invention(listed: list[str]) -> None:
    (draft,) = drafts_of("Puzzle games are fun.", listed, question="Who is the top scorer in the league?")
    assert (draft.claims, draft.invented, draft.fault) == ((), tuple(listed), "invented")


def test_a_short_answer_does_not_let_in_what_only_the_judge_knows() -> None:
    (draft,) = drafts_of("Vik.", ["The pilot boards at the outer buoy"], question="Where does the pilot board?")
    assert draft.fault == "invented"


GAPS = {
    "a number left out": ("It is 4 m wide and 9 m tall.", ["It is 4 m wide"], "uncovered"),
    "most words left out": (
        "The tank is blue, the lid brass and the floor of oak planks.",
        ["The tank is blue"],
        "uncovered",
    ),
    "a decimal turned into another number": ("It weighs 1.5 kg.", ["It weighs 15 kg"], "uncovered"),
    "no claim for a sentence with a number": ("It holds 40 litres.", [], "uncovered"),
    "single words": ("The tank is blue and heavy.", ["tank", "blue", "heavy"], "fragments"),
    "no claim where nothing is stated": ("Glad to help you today!", [], None),
    "no claim for a heading-like question with a number": ("Shall we meet at 9?", [], None),
    "signs only": ("The tank is blue.", ["...", "The tank is blue"], None),
}


@pytest.mark.parametrize(("text", "listed", "fault"), GAPS.values(), ids=GAPS)
def test_what_a_list_of_claims_leaves_out(text: str, listed: list[str], fault: str | None) -> None:
    assert drafts_of(text, listed)[0].fault == fault


def test_a_number_of_the_question_need_not_be_repeated() -> None:
    (draft,) = drafts_of("In 1998 it was blue.", ["It was blue"], question="What colour was it in 1998?")
    assert draft.fault is None


def test_the_same_claim_twice_is_one_claim() -> None:
    assert [c.text for c in claims_of("The tank is blue.", ["The tank is blue", "the tank is  blue."])] == [
        "The tank is blue"
    ]


def test_an_unanswered_sentence_is_no_empty_one() -> None:
    first, second = drafts_of("The tank is blue. The lid is brass.", ["The tank is blue"], None)
    assert first.answered
    assert not second.answered
    assert second.fault == "missing"


def test_a_sentence_left_with_nothing_but_its_neighbours_claims_is_asked_again() -> None:
    both = ["The light pump weighs 12 kg"]
    first, second = drafts_of("The pump weighs 12 kg. The pump is light and quiet.", both, both)
    assert (first.claims, first.fault) == (tuple(both), None)
    assert (second.claims, second.fault) == ((), "misplaced")


# --- the second asking -------------------------------------------------------------------------------


def test_a_repaired_list_replaces_the_first() -> None:
    text = "It is 4 m wide and 9 m tall."
    settled = split.settled(drafts_of(text, ["It is 4 m wide"]), drafts_of(text, ["It is 4 m wide", "It is 9 m tall"]))
    assert settled[0].claims == ("It is 4 m wide", "It is 9 m tall")


def test_a_list_that_stays_faulty_leaves_the_sentence_as_its_own_claim() -> None:
    text = "It is 4 m wide and 9 m tall."
    settled = split.settled(drafts_of(text, ["It is 4 m wide"]), drafts_of(text, ["It is 4 m wide"]))
    (claim,) = split.claims_of(settled, ANSWER, question="")
    assert (claim.text, claim.is_whole) == (text, True)


def test_inventions_of_both_askings_are_counted() -> None:
    text = "Puzzle games are fun."
    settled = split.settled(drafts_of(text, ["Player A leads"]), drafts_of(text, ["Player B leads"]))
    assert settled[0].invented == ("Player A leads", "Player B leads")


def test_a_second_failure_to_answer_is_kept_as_one() -> None:
    text = "The tank is blue."
    settled = split.settled(drafts_of(text, None), drafts_of(text, None))
    assert not settled[0].answered


# --- spans and citations -----------------------------------------------------------------------------


def test_claims_are_numbered_over_the_text_and_carry_the_span_of_their_sentence() -> None:
    text = "The tank is blue. It holds 40 litres and weighs 9 kg."
    claims = claims_of(text, ["The tank is blue"], ["It holds 40 litres", "It weighs 9 kg"])
    assert [(c.id, text[c.start : c.end].strip()) for c in claims] == [
        ("a1", "The tank is blue."),
        ("a2", "It holds 40 litres and weighs 9 kg."),
        ("a3", "It holds 40 litres and weighs 9 kg."),
    ]
    whole = split.whole_segments(segment("One fact here. Two facts there."), REFERENCE, question="")
    assert [c.id for c in whole] == ["r1", "r2"]


CLAUSES = {
    "each clause its own": (
        "It holds 40 litres [1] and weighs 9 kg [2].",
        {"It holds 40 litres": ("1",), "It weighs 9 kg": ("2",)},
    ),
    "two markers of one clause": (
        "It holds 40 litres [1][2] and weighs 9 kg [3].",
        {"It holds 40 litres": ("1", "2"), "It weighs 9 kg": ("3",)},
    ),
    "one marker at the end is for both": (
        "It holds 40 litres and weighs 9 kg [2].",
        {"It holds 40 litres": ("2",), "It weighs 9 kg": ("2",)},
    ),
    "a clause after the last marker keeps all": (
        "It holds 40 litres [1], weighs 9 kg [2] and floats on seawater.",
        {"It holds 40 litres": ("1",), "It weighs 9 kg": ("2",), "It floats on seawater": ("1", "2")},
    ),
}


@pytest.mark.parametrize(("text", "cited"), CLAUSES.values(), ids=CLAUSES)
def test_a_claim_inherits_the_citations_of_its_clause(text: str, cited: dict[str, tuple[str, ...]]) -> None:
    assert {c.text: c.citations for c in claims_of(text, list(cited))} == cited


def test_a_single_claim_keeps_every_citation_of_its_sentence_and_the_dangling_ones() -> None:
    (claim,) = claims_of("The tank [1] is blue [9].", ["The tank is blue"])
    assert (claim.citations, claim.dangling) == (("1",), ("9",))


# --- what is sent --------------------------------------------------------------------------------------


def test_headings_code_and_reference_lists_are_not_split() -> None:
    text = "# Tanks\n\nThe tank is blue.\n\n```\ntank = 40\n```\n\n---\n"
    assert [one.bare for one in split.splittable(segment(text))] == ["The tank is blue."]


def test_the_second_asking_is_worded_otherwise() -> None:
    segments = segment("The tank is blue.")
    first = split.request(prompts_of(), question="?", text="t", segments=segments)
    again = split.request(prompts_of(), question="?", text="t", segments=segments, again=True)
    assert first.questions[0].ask != again.questions[0].ask
    assert first.input == again.input


# --- words ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1,000 and 1000 and 1.000", {"1000"}),
        ("1.5 or 1,5", {"1.5"}),
        ("1,234,567.89", {"1234567.89"}),
        ("12'500", {"12500"}),
        ("٤٨", {"48"}),
        ("in 2019, 7 of 9", {"2019", "7", "9"}),
        ("none", set()),
    ],
)
def test_numbers_have_one_spelling(text: str, found: set[str]) -> None:
    assert numbers(text) == found


def test_inflected_words_meet_and_short_ones_do_not_count() -> None:
    assert content_words("The pumps of it") & content_words("a PUMPS!") == {"pumps"}
    assert content_words("biblioteka") == content_words("biblioteki")
    assert content_words("to be a") == set()
    assert share_of(set(), found_in=["x"]) == 1.0
    assert normalised("  A-b,\nC ") == "a b c"


def test_a_claim_listed_under_two_segments_stays_with_the_one_it_came_from() -> None:
    text = "The pump weighs 12 kg. It has run at 48 V since 2019."
    segments = segment(text)
    listed = {
        segments[0].id: ("The pump weighs 12 kg.", "The pump has run at 48 V since 2019."),
        segments[1].id: ("The pump has run at 48 V since 2019.",),
    }
    answers = {key: Answer(id=key, texts=texts) for key, texts in listed.items()}
    drafts = split.read(answers, segments, question="", text=text)
    assert [draft.claims for draft in drafts] == [
        ("The pump weighs 12 kg.",),
        ("The pump has run at 48 V since 2019.",),
    ]
