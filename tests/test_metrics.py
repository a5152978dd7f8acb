"""Metrics over claims and ratings: worked examples, empty cases, and what is asked for."""
# ruff: noqa: RUF001 - the full-width signs are meant

import pytest
from metric_cases import (
    MISSING,
    C,
    P,
    S,
    U,
    a_case,
    a_claim,
    a_sample,
    a_segment,
    by_claim,
    claims,
    judged,
    labelled,
    ratings,
    vectors,
)

from judgekit.errors import InputError
from judgekit.metrics import (
    METRICS,
    REFERENCE_FREE,
    AnswerCorrectness,
    AnswerPrecision,
    AnswerRecall,
    AnswerRelevance,
    CitationSupport,
    ContextPrecision,
    ContextPrecisionByAnswer,
    ContextRecall,
    ContextRelevance,
    ContradictionRate,
    Faithfulness,
    Metric,
    Refusal,
    metrics_of,
)
from judgekit.metrics.means import harmonic_mean
from judgekit.metrics.refusals import reads_as_refusal
from judgekit.metrics.same_text import same_text
from judgekit.records import ANSWER, REFERENCE, THE_ANSWER, THE_REFERENCE, Ask, Case, Label, Need, Reason, Verdict

BLANK = [(), ("",), ("   ", "\n")]


# --- faithfulness, contradiction_rate --------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "value"),
    [([S, S, S], 1.0), ([S, C], 0.5), ([U], 0.0), ([P, P], 0.0), ([S, P, U, C], 0.25)],
)
def test_faithfulness_counts_what_is_fully_supported(labels, value):
    score = Faithfulness().score(labelled(labels, Faithfulness()))
    assert score.value == value
    assert score.denominator == len(labels)


def test_partial_support_earns_the_credit_it_is_given():
    metric = Faithfulness(partial=0.5)
    assert metric.score(labelled([S, P], metric)).value == 0.75
    assert metric.options == {"partial": 0.5}


@pytest.mark.parametrize("row", vectors("claim_shares", "ratio"), ids=lambda row: row["id"])
def test_supported_over_total(row):
    labels = [S] * row["supported"] + [U] * (row["total"] - row["supported"])
    assert Faithfulness().score(labelled(labels, Faithfulness())).value == row["expected"]["faithfulness"]
    recall = ContextRecall().score(labelled(labels, ContextRecall(), side=REFERENCE))
    assert recall.value == row["expected"]["context_recall"]


def test_the_order_of_claims_does_not_matter_to_the_last_bit():
    metric = Faithfulness(partial=0.1)
    orders = ([P, P, P, S], [S, P, P, P], [P, S, P, P])
    assert len({metric.score(labelled(order, metric)).value for order in orders}) == 1


def test_every_claim_is_held_against_all_contexts_at_once_each_text_once():
    case = a_case(a_sample(["one", "", "two", "one"]), made=claims(2))
    assert [(check.claim_id, check.sources) for check in Faithfulness().checks(case)] == [
        ("a1", ("1", "3")),
        ("a2", ("1", "3")),
    ]


def test_a_missing_verdict_leaves_no_value_but_bounds():
    score = Faithfulness().score(labelled([S, MISSING, U, Label.UNJUDGED], Faithfulness()))
    assert (score.value, score.reason) == (None, Reason.UNJUDGED)
    assert (score.numerator, score.denominator, score.judged) == (1, 4, 2)
    assert (score.low, score.high) == (0.25, 0.75)


def test_verdicts_that_nobody_asked_for_count_nowhere():
    case = labelled([S, U], Faithfulness())
    stray = Verdict(check=Faithfulness().checks(case)[0].having(claim_id="a9"), label=S)
    crowded = case.having(verdicts=(stray, *reversed(case.verdicts), case.verdicts[0]))
    assert Faithfulness().score(crowded) == Faithfulness().score(case)


@pytest.mark.parametrize("texts", BLANK)
def test_without_context_nothing_is_faithful_and_nobody_is_asked(texts):
    sample = a_sample(texts)
    segments = tuple(a_segment(kind) for kind in ("heading", "sentence", "list_item", "table", "code"))
    case = a_case(sample, segments=segments)
    score = Faithfulness().score(case)
    assert (score.value, score.numerator, score.denominator) == (0.0, 0, 3)
    assert score.note.startswith("no_contexts")
    assert Faithfulness().needs_for(sample) == frozenset()
    assert Faithfulness().checks(a_case(sample, made=claims(2))) == []
    assert Faithfulness().score(case.having(claims=tuple(claims(7)))) == score


@pytest.mark.parametrize("texts", BLANK)
def test_a_plain_refusal_without_context_is_not_unfaithful(texts):
    score = Faithfulness().score(a_case(a_sample(texts, answer="I'm sorry, but I don't know.")))
    assert (score.value, score.reason) == (None, Reason.REFUSED)


@pytest.mark.parametrize(
    "answer",
    [
        "I don't know.",
        "I\u2019m sorry, but I cannot answer that question based on the provided context.",
        "Unfortunately, the provided documents do not contain any information about refunds. Please contact support.",
        "Based on the given context, I am unable to answer.",
        "There is no information on this in the sources.",
        "Sorry, I am unable to help with that.",
        "I am sorry, I cannot tell.",
        "Das weiß ich leider nicht.",
        "Es tut mir leid, aber ich kann diese Frage nicht beantworten.",
        "Je suis désolé, mais je ne sais pas.",
        "Lo siento, no puedo responder a esa pregunta.",
        "Mi dispiace, non ho informazioni su questo.",
        "Desculpe, não sei.",
        "Przykro mi, nie mam informacji na ten temat.",
        "Sorry, ik weet het niet.",
        "抱歉，我无法回答这个问题。",
        "申し訳ありませんが、わかりません。",
    ],
)
def test_plain_refusals_are_recognised(answer):
    assert reads_as_refusal(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "Sorry.",
        "Refunds are accepted for 45 days.",
        "I don't know the exact day, but refunds are accepted for 45 days.",
        "Refunds are accepted for 45 days and I don't know more.",
        "I cannot answer that. Refunds are accepted for 45 days.",
        "Refunds are accepted for 45 days. I don't know more.",
        "We cannot give refunds after 45 days.",
        "We did not find any defects in the pump.",
        "Das Depot öffnet um sechs Uhr.",
        "La ville ne possède pas de gare.",
        "Nie ma tam stacji.",
        "泵的电压是48伏。",
        "I don't know. " * 20,
    ],
)
def test_an_answer_that_says_something_is_no_plain_refusal(answer):
    assert not reads_as_refusal(answer)


def test_contradiction_rate_counts_only_what_is_refuted():
    metric = ContradictionRate()
    case = labelled([C, U, S, P], metric)
    assert metric.score(case).value == 0.25
    assert metric.lower_is_better
    assert metric.checks(case) == Faithfulness().checks(case)
    assert metric.score(labelled([C, MISSING], metric)).value is None


@pytest.mark.parametrize("texts", BLANK)
def test_nothing_can_be_contradicted_without_context(texts):
    assert ContradictionRate().score(a_case(a_sample(texts), made=claims(1))).reason is Reason.NO_CONTEXTS
    assert ContradictionRate().needs_for(a_sample(texts)) == frozenset()


# --- context_recall --------------------------------------------------------------------------


def test_seven_of_eight_reference_claims():
    assert ContextRecall().score(labelled([S] * 7 + [U], ContextRecall(), side=REFERENCE)).value == 0.875


@pytest.mark.parametrize("texts", BLANK)
def test_nothing_is_recalled_without_context_and_nobody_is_asked(texts):
    sample = a_sample(texts, reference="Refunds are accepted for 45 days.")
    score = ContextRecall().score(a_case(sample, reference_segments=(a_segment("sentence"),)))
    assert (score.value, score.denominator) == (0.0, 1)
    assert ContextRecall().needs_for(sample) == frozenset()


def test_context_recall_does_not_need_an_answer():
    sample = a_sample(answer="", reference="A reference.")
    assert ContextRecall().score(labelled([S], ContextRecall(), side=REFERENCE, sample=sample)).value == 1.0


# --- the empty cases of all metrics over claims ----------------------------------------------

OVER_ANSWER = [name for name, metric in METRICS.items() if Need.ANSWER_CLAIMS in metric.needs]
OVER_REFERENCE = ["context_recall", "answer_correctness", "answer_precision", "answer_recall"]


@pytest.mark.parametrize("name", OVER_ANSWER)
@pytest.mark.parametrize("answer", ["", " \n"])
def test_no_answer(name, answer):
    sample = a_sample(answer=answer, reference="A reference.")
    assert METRICS[name].score(a_case(sample)).reason is Reason.NO_ANSWER
    assert METRICS[name].needs_for(sample) == frozenset()


@pytest.mark.parametrize("name", OVER_REFERENCE)
@pytest.mark.parametrize("reference", [None, "", "  "])
def test_no_reference(name, reference):
    sample = a_sample(reference=reference)
    assert METRICS[name].score(a_case(sample)).reason is Reason.NO_REFERENCE
    assert METRICS[name].needs_for(sample) == frozenset()


@pytest.mark.parametrize("name", OVER_ANSWER)
def test_a_failed_split_is_not_an_answer_without_claims(name):
    asked = {"asks": (Ask(id="k1", text="?"),), "rated": ratings("ask", {"k1": "answered"})}
    sample = a_sample(reference="A reference.")
    other = claims(1, side=REFERENCE)
    assert METRICS[name].score(a_case(sample, made=other, unsplit=(ANSWER,), **asked)).reason is Reason.UNSPLIT
    without = METRICS[name].score(a_case(sample, made=other, **asked))
    assert without.value == 1.0 if name == "answer_relevance" else without.reason is Reason.NO_CLAIMS


@pytest.mark.parametrize("name", ["context_recall", "answer_recall", "answer_correctness"])
def test_a_failed_split_of_the_reference(name):
    case = a_case(a_sample(reference="A reference."), made=claims(1))
    assert METRICS[name].score(case).reason is Reason.NO_CLAIMS
    assert METRICS[name].score(case.having(unsplit=(REFERENCE,))).reason is Reason.UNSPLIT


# --- context_precision, context_relevance ----------------------------------------------------


def graded(grades, *, texts=None, kind="relevance"):
    sample = a_sample(texts or [f"text {rank}" for rank, _ in enumerate(grades)])
    return a_case(sample, rated=ratings(kind, {str(rank): g for rank, g in enumerate(grades, start=1) if g != "-"}))


def flagged(flags):
    return graded([None if flag is None else "3" if flag else "0" for flag in flags])


@pytest.mark.parametrize(
    ("flags", "precision", "relevance"),
    [
        ([1], 1.0, 1.0),
        ([0], 0.0, 0.0),
        ([1, 0, 1], 5 / 6, 2 / 3),
        ([1, 1, 0, 0, 0], 1.0, 0.4),
        ([0, 0, 0, 1, 1], 0.325, 0.4),
        ([0, 1, 1, 1, 1], 163 / 240, 0.8),
        ([0, 1, 0], 0.5, 1 / 3),
        ([1] * 13, 1.0, 1.0),
    ],
)
def test_precision_by_rank_and_plain_share(flags, precision, relevance):
    case = flagged(flags)
    assert ContextPrecision().score(case).value == pytest.approx(precision, abs=1e-15)
    assert ContextRelevance().score(case).value == pytest.approx(relevance, abs=1e-15)


def test_a_perfect_ranking_is_exactly_one():
    assert all(ContextPrecision().score(flagged([1] * n + [0] * (20 - n))).value == 1.0 for n in range(1, 21))


def test_relevant_starts_at_the_grade_asked_for():
    case = graded(["1", "2", "3"])
    by_grade = [ContextRelevance(relevant_from=grade).score(case).numerator for grade in (1, 2, 3)]
    assert by_grade == [3, 2, 1]
    assert ContextPrecision(relevant_from=3).score(case).value == pytest.approx(1 / 3)


def test_only_the_first_k_count():
    case = graded(["0", "3", "3", None])
    assert ContextPrecision(k=2).score(case).value == 0.5
    assert ContextRelevance(k=3).score(case).value == pytest.approx(2 / 3)
    assert ContextRelevance().score(case).reason is Reason.UNJUDGED


def test_a_blank_context_is_irrelevant_without_asking():
    case = graded(["-", "3"], texts=["  ", "two"])
    assert ContextPrecision().score(case).value == 0.5
    assert ContextRelevance().score(case).value == 0.5


@pytest.mark.parametrize("metric", [ContextPrecision(), ContextRelevance(), ContextPrecisionByAnswer()])
def test_no_context_at_all_is_no_score_but_blank_ones_are_zero(metric):
    assert metric.score(a_case(a_sample(()))).reason is Reason.NO_CONTEXTS
    assert metric.score(a_case(a_sample(("", " ")))).value == 0.0
    assert metric.needs_for(a_sample(())) == metric.needs_for(a_sample(("", " "))) == frozenset()
    assert metric.needs_for(a_sample()) == metric.needs


def test_a_repeated_text_keeps_its_rank_carries_its_grade_and_is_noted():
    case = graded(["0", "3", "-", "-"], texts=["one", "two", "two ", "one"])
    score = ContextPrecision().score(case)
    assert score.value == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert score.note == "2 duplicate"
    assert ContextRelevance().score(case).value == 0.5
    assert ContextRelevance().score(graded(["3"])).note is None


@pytest.mark.parametrize(
    ("flags", "low", "high"),
    [
        ([None], 0.0, 1.0),
        ([1, None], 1.0, 1.0),
        ([None, 1], 0.5, 1.0),
        ([1, None, 1], 5 / 6, 1.0),
        ([0, None, None, None, 1], 1 / 5, 163 / 240),
        # worst is rank 3 alone added: (1 + 2/3) / 2; neither none (1) nor both (1)
        ([1, None, None], 5 / 6, 1.0),
    ],
)
def test_a_missing_grade_leaves_the_bounds_of_all_fillings(flags, low, high):
    score = ContextPrecision().score(flagged(flags))
    assert (score.value, score.reason, score.judged) == (None, Reason.UNJUDGED, 0)
    assert (score.low, score.high) == (pytest.approx(low), pytest.approx(high))


def test_a_label_outside_the_grades_is_no_grade():
    assert ContextRelevance().score(graded(["-1"], kind="relevance")).reason is Reason.UNJUDGED
    assert ContextRelevance().score(graded(["7"], kind="relevance")).reason is Reason.UNJUDGED


def test_relevance_to_the_answer_is_its_own_rating():
    case = graded(["0", "3"], kind="relevance_by_answer")
    assert ContextPrecisionByAnswer().score(case).value == 0.5
    assert ContextPrecision().score(case).reason is Reason.UNJUDGED
    assert ContextPrecisionByAnswer().score(a_case(a_sample(answer=" "))).reason is Reason.NO_ANSWER


# --- answer_relevance ------------------------------------------------------------------------


def asked(asks, bearing, **known) -> Case:
    given = ratings("ask", {f"k{n}": label for n, label in enumerate(asks, start=1)})
    given += ratings("bearing", {f"a{n}": label for n, label in enumerate(bearing, start=1)})
    named = tuple(Ask(id=f"k{n}", text="?") for n, _ in enumerate(asks, start=1))
    return a_case(made=claims(len(bearing)), rated=given, asks=named, **known)


@pytest.mark.parametrize(
    ("asks", "bearing", "value"),
    [
        (["answered"], ["yes"], 1.0),
        (["answered"] * 7, ["yes"] * 3, 1.0),
        (["answered", "ignored"], ["yes"], 2 / 3),
        (["answered"], ["yes", "no"], 2 / 3),
        (["answered", "declined"], ["yes"], 2 / 3),
        (["answered"], ["no"], 0.0),
        (["ignored"], ["yes"], 0.0),
        (["ignored", "declined"], ["yes"], 0.0),
        (["ignored"], [None], 0.0),
        (["ignored"], [], 0.0),
        (["answered", "ignored"], [], 0.5),
    ],
)
def test_answer_relevance_is_harmonic(asks, bearing, value):
    score = AnswerRelevance().score(asked(asks, bearing))
    assert score.value == pytest.approx(value, abs=1e-15)
    assert (score.numerator, score.denominator) == (score.value, 1)


def test_no_ask_answered_is_zero_even_when_the_split_failed():
    assert AnswerRelevance().score(asked(["ignored"], [], unsplit=(ANSWER,))).value == 0.0
    assert AnswerRelevance().score(asked(["answered"], [], unsplit=(ANSWER,))).reason is Reason.UNSPLIT


@pytest.mark.parametrize("bearing", [[], ["yes"], [None]])
def test_declining_everything_is_a_refusal_and_not_zero(bearing):
    score = AnswerRelevance().score(asked(["declined", "declined"], bearing))
    assert (score.value, score.reason) == (None, Reason.REFUSED)


@pytest.mark.parametrize(
    ("asks", "bearing", "low", "high"),
    [
        ([None], ["yes"], 0.0, 1.0),
        (["answered", None], ["yes"], 2 / 3, 1.0),
        (["answered"], ["yes", None], 2 / 3, 1.0),
        (["answered", None], [], 0.5, 1.0),
        (["declined", None], ["yes"], 0.0, 2 / 3),
    ],
)
def test_a_missing_rating_leaves_bounds(asks, bearing, low, high):
    score = AnswerRelevance().score(asked(asks, bearing))
    assert (score.value, score.reason) == (None, Reason.UNJUDGED)
    assert (score.low, score.high) == (pytest.approx(low), pytest.approx(high))


def test_a_question_without_asks_is_unjudged_and_not_zero():
    score = AnswerRelevance().score(a_case(made=claims(1)))
    assert (score.value, score.reason, score.low, score.high) == (None, Reason.UNJUDGED, 0.0, 1.0)
    assert AnswerRelevance().needs_for(a_sample(question=" ")) == frozenset()


# --- answer_correctness ----------------------------------------------------------------------

SIDES = a_sample(reference="A reference.")


def both_ways(answer_labels, reference_labels) -> Case:
    made = claims(len(answer_labels)) + claims(len(reference_labels), side=REFERENCE)
    labels = dict(zip([c.id for c in made], [*answer_labels, *reference_labels], strict=True))
    return judged(a_case(SIDES, made=made), AnswerCorrectness(), by_claim(labels))


def test_each_half_has_its_own_direction_and_denominator():
    case = both_ways([S, U], [S, U, U, U])
    assert AnswerPrecision().score(case).value == 0.5
    assert AnswerRecall().score(case).value == 0.25
    assert AnswerCorrectness().score(case).value == pytest.approx(1 / 3)
    sources = {check.claim_id[0]: check.sources for check in AnswerCorrectness().checks(case)}
    assert sources == {"a": THE_REFERENCE, "r": THE_ANSWER}
    halves = AnswerPrecision().checks(case) + AnswerRecall().checks(case)
    assert AnswerCorrectness().checks(case) == halves


@pytest.mark.parametrize("row", vectors("claim_shares", "f1_counts"), ids=lambda row: row["id"])
def test_f1_from_counts(row):
    hits = [S] * row["tp"]
    score = AnswerCorrectness().score(both_ways(hits + [U] * row["fp"], hits + [U] * row["fn"]))
    if row["tp"] + row["fp"] == 0:
        # the count formula says 0; an answer that states nothing has no precision, so judgekit gives no number
        assert (score.value, score.reason) == (None, Reason.NO_CLAIMS)
    else:
        assert score.value == pytest.approx(row["expected"]["f1"], abs=1e-15)


@pytest.mark.parametrize("row", vectors("claim_shares", "f1"), ids=lambda row: row["id"])
def test_harmonic_mean(row):
    assert harmonic_mean(row["precision"], row["recall"]) == pytest.approx(row["expected"]["f1"], abs=1e-15)


def test_partial_credit_holds_in_both_directions():
    metric = AnswerCorrectness(partial=0.5)
    assert metric.score(both_ways([P], [S])).value == pytest.approx(2 / 3)
    assert metric.score(both_ways([S], [P])).value == pytest.approx(2 / 3)


def test_a_failed_split_outweighs_a_side_without_claims():
    assert AnswerCorrectness().score(a_case(SIDES, unsplit=(REFERENCE,))).reason is Reason.UNSPLIT
    assert AnswerCorrectness().score(a_case(SIDES, unsplit=(ANSWER,))).reason is Reason.UNSPLIT


@pytest.mark.parametrize(("answer", "reference", "value"), [([S, S], [S], 1.0), ([U], [U], 0.0), ([C], [S], 0.0)])
def test_correctness_at_its_ends(answer, reference, value):
    assert AnswerCorrectness().score(both_ways(answer, reference)).value == value


def test_a_missing_verdict_in_one_half_leaves_the_bounds_of_the_whole():
    score = AnswerCorrectness().score(both_ways([S, MISSING], [S]))
    assert (score.value, score.reason) == (None, Reason.UNJUDGED)
    assert (score.low, score.high) == (pytest.approx(2 / 3), 1.0)


@pytest.mark.parametrize("name", ["answer_correctness", "answer_precision", "answer_recall"])
def test_the_same_text_is_right_without_asking(name):
    sample = a_sample(answer="薄荷", reference=" 薄荷。")
    case = a_case(sample, made=[*claims(1), *claims(1, side=REFERENCE)])
    assert METRICS[name].score(case).value == 1.0
    assert METRICS[name].checks(case) == []
    assert METRICS[name].needs_for(sample) == frozenset()
    assert METRICS[name].needs_for(SIDES) == METRICS[name].needs


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Paris", "paris."),
        ("“Paris,  France”", "Paris France"),
        ("Ｖｉｋ", "Vik"),
        ("e\u0301t\u00e9", "\u00e9te\u0301"),
    ],
)
def test_texts_that_say_the_same_to_the_letter(first, second):
    assert same_text(first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [("5", "-5"), ("5", "5%"), ("5", ".5"), ("1.5", "15"), ("C", "C#"), ("10²", "102"), ("1½", "11/2"), ("!", "?")],
)
def test_signs_that_carry_meaning_are_kept(first, second):
    assert not same_text(first, second)


# --- refusal ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("refused", "sufficient", "value", "label"),
    [
        ("no", "yes", 0.0, "answered_sufficient"),
        ("no", "partly", 0.0, "answered_insufficient"),
        ("no", "no", 0.0, "answered_insufficient"),
        ("yes", "yes", 1.0, "over_refusal"),
        ("yes", "partly", 1.0, "due_refusal"),
        ("yes", "no", 1.0, "due_refusal"),
    ],
)
def test_refusal_against_sufficiency(refused, sufficient, value, label):
    rated = ratings("refusal", {"answer": refused}) + ratings("sufficiency", {"contexts": sufficient})
    score = Refusal().score(a_case(rated=rated))
    assert (score.value, score.label) == (value, label)


@pytest.mark.parametrize("texts", BLANK)
def test_no_context_is_insufficient_without_asking(texts):
    case = a_case(a_sample(texts), rated=ratings("refusal", {"answer": "yes"}))
    assert Refusal().score(case).label == "due_refusal"
    assert Refusal().needs_for(a_sample(texts)) == {Need.REFUSAL}
    assert Refusal().needs_for(a_sample()) == {Need.REFUSAL, Need.SUFFICIENCY}


@pytest.mark.parametrize(
    ("refused", "sufficient", "bounds"),
    [(None, "yes", (0, 1)), ("yes", None, (1, 1)), ("no", None, (0, 0)), (None, None, (0, 1))],
)
def test_half_a_row_of_the_table_is_no_score(refused, sufficient, bounds):
    rated = ratings("refusal", {"answer": refused}) + ratings("sufficiency", {"contexts": sufficient})
    score = Refusal().score(a_case(rated=rated))
    assert (score.value, score.reason, score.label) == (None, Reason.UNJUDGED, None)
    assert (score.low, score.high) == bounds


def test_a_blank_answer_is_no_refusal():
    assert Refusal().score(a_case(a_sample(answer=""))).reason is Reason.NO_ANSWER
    assert Refusal().needs_for(a_sample(answer="")) == frozenset()


# --- choosing --------------------------------------------------------------------------------


def test_the_registry_names_what_it_holds():
    assert all(name == metric.name for name, metric in METRICS.items())
    assert list(METRICS)[:3] == ["faithfulness", "contradiction_rate", "citation_support"]
    assert set(REFERENCE_FREE) <= set(METRICS)
    assert {name for name, metric in METRICS.items() if metric.lower_is_better} == {
        "contradiction_rate",
        "uncited_claim_rate",
        "hallucination",
        "noise_sensitivity_relevant",
        "noise_sensitivity_irrelevant",
    }


@pytest.mark.parametrize("name", METRICS)
def test_every_docstring_is_a_contract(name):
    text = type(METRICS[name]).__doc__
    assert all(word in text for word in ("Source: ", "None", "enominator", "ange"))


def test_metrics_are_chosen_by_name_or_object_in_the_order_given():
    own = Faithfulness(partial=0.5)
    assert metrics_of(["citation_support", own]) == (CitationSupport(), own)
    assert metrics_of(["faithfulness", Faithfulness()]) == (Faithfulness(),)
    assert metrics_of("faithfulness") == metrics_of(Faithfulness()) == (Faithfulness(),)


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        (["faithfullness"], "unknown metric 'faithfullness'; did you mean 'faithfulness'\\? there are: faithfulness, "),
        (["Context Recall"], "did you mean 'context_recall'"),
        (["zzz"], "unknown metric 'zzz'; there are: faithfulness, "),
        (["faithfulness", Faithfulness(partial=0.5)], "two different metrics are named 'faithfulness'"),
        ([], "no metric chosen; choose from: faithfulness, "),
        ([Faithfulness], r"the class Faithfulness; pass an object: Faithfulness\(\)"),
        ([7], "not a metric: 7"),
    ],
)
def test_a_wrong_choice_says_what_to_do(chosen, message):
    with pytest.raises(InputError, match=message):
        metrics_of(chosen)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Faithfulness(partial=1.5), "faithfulness: partial=1.5 is not a share"),
        (lambda: CitationSupport(partial=-1), "citation_support: partial=-1"),
        (lambda: ContextPrecision(relevant_from=0), "context_precision: relevant_from=0"),
        (lambda: ContextRelevance(k=0), "context_relevance: k=0"),
    ],
)
def test_an_option_out_of_range_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_a_metric_of_ones_own_needs_a_name_and_a_score():
    class Always(Metric):
        name = "always"

        def score(self, case: Case):
            return ContextRelevance().score(case).having(metric=self.name)

    (own,) = metrics_of([Always()])
    assert (own.checks(a_case()), own.needs_for(a_sample()), own.options) == ([], frozenset(), {})
    assert own.score(flagged([1, 0])).value == 0.5


def test_a_claim_supported_by_another_context_than_the_cited_one():
    case = a_case(made=[a_claim("a1", cites=["1"])])
    both = (Faithfulness(), CitationSupport())
    case = judged(case, both, lambda check: S if "3" in check.sources else U)
    assert [metric.score(case).value for metric in both] == [1.0, 0.0]
