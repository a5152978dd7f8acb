"""Measures against outside oracles, and the rules for what cannot be counted."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from judgekit.errors import InputError
from judgekit.records import Context, Fact, Sample
from judgekit.retrieval import (
    MEASURES,
    Conventions,
    Gap,
    Spread,
    UnusableType,
    UnusableValue,
    evaluate,
    fact_coverage,
    measures_of,
    score_ranking,
    tie_spread,
)
from judgekit.retrieval.gains import dcg, gains
from judgekit.retrieval.names import split_names, with_cut
from judgekit.retrieval.sets import Precision

VECTORS = Path(__file__).parent / "vectors"
#: Key of the oracle -> name of the measure, without its cut-off.
NAMES = {
    "P@k": "precision",
    "R@k": "recall",
    "RR@k": "rr",
    "AP@k": "ap",
    "context_precision_rank_aware@k": "context_precision",
    "hit@k": "hit",
    "nDCG@k_linear_judged": "ndcg[linear,judged]",
    "nDCG@k_linear_retrieved": "ndcg[linear,retrieved]",
    "nDCG@k_exp2_judged": "ndcg[exp2,judged]",
    "nDCG@k_exp2_retrieved": "ndcg[exp2,retrieved]",
    "Rprec": "r_precision",
    "bpref": "bpref",
    "F1@k": "f1",
    "judged@k": "judged",
    "set_precision@k": "id_context_precision",
    "R_capped@k": "recall[capped]",
    "AP@k_min(R,k)": "ap[capped]",
    "RBP(p=0.8)@k_binary": "rbp[p=0.8]",
    "ERR@k_max4": "err[max=4]",
}


def load(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (VECTORS / name).read_text(encoding="utf-8").splitlines()]


def approx(value: float) -> Any:
    return pytest.approx(value, rel=0, abs=1e-12)


def grades_of(case: dict[str, Any]) -> dict[str, float]:
    return {one: float(g["__float__"]) if isinstance(g, dict) else g for one, g in case["qrels"].items()}


IR = load("ir.jsonl")
TIES = load("ir_ties.jsonl")
ARTICLES = load("ir_articles.jsonl")


@pytest.mark.parametrize("case", [case for case in IR if "expected" in case], ids=lambda case: case["id"])
def test_every_value_is_the_oracles(case: dict[str, Any]) -> None:
    def scored(**options: Any) -> Any:
        return score_ranking(
            case["ranking"],
            case["qrels"],
            named.values(),
            conventions=Conventions(relevance_level=case["rel_level"], **options),
        ).values

    expected = {**case["expected"], **case["extra"]}
    cut = case["k"]
    named = {key: str(measures_of(with_cut(NAMES[key], cut) if cut else NAMES[key])[0]) for key in expected}
    assert scored(zero_undefined=True) == {named[key]: approx(value) for key, value in expected.items()}
    undefined = {key for key in case["expected"] if scored()[named[key]] is None}
    assert undefined == set(case["undefined"])
    if dropped := case.get("expected_if_dropped"):
        found = scored(duplicates="drop")
        assert {key: found[named[key]] for key in dropped} == {key: approx(value) for key, value in dropped.items()}


@pytest.mark.parametrize("case", [case for case in IR if "expected_error" in case], ids=lambda case: case["id"])
def test_what_cannot_be_counted_raises(case: dict[str, Any]) -> None:
    kinds = tuple(
        {"ValueError": ValueError, "TypeError": TypeError}[name] for name in case["expected_error"].split("|")
    )
    conventions = Conventions(duplicates=case.get("duplicates", "slot"))
    with pytest.raises(kinds) as raised:
        score_ranking(case["ranking"], grades_of(case), [Precision(case["k"])], conventions=conventions)
    assert isinstance(raised.value, InputError)


@pytest.mark.parametrize("case", TIES, ids=lambda case: case["id"])
def test_ties_stand_in_the_order_given_or_in_trec_evals_and_leave_the_spread_of_all_orders(
    case: dict[str, Any],
) -> None:
    names = {key: str(measures_of(with_cut(NAMES[key], case["k"]))[0]) for key in case["best"]}
    for ties, key in (("stable", "expected_stable"), ("trec", "expected_trec")):
        conventions = Conventions(ties=ties, zero_undefined=True)  # type: ignore[arg-type]
        found = score_ranking(case["scores"], case["qrels"], names.values(), conventions=conventions).values
        assert found == {names[one]: approx(value) for one, value in case[key].items()}
    spread = tie_spread(case["scores"], case["qrels"], names.values())
    for one, name in names.items():
        found = [value or 0.0 for value in (spread[name].low, spread[name].mean, spread[name].high)]
        assert found == [approx(case[key][one]) for key in ("worst", "expected_tie_mean", "best")]


@pytest.mark.parametrize("case", load("ir_fact_coverage.jsonl"), ids=lambda case: case["id"])
def test_fact_coverage_is_the_oracles(case: dict[str, Any]) -> None:
    found = fact_coverage(sample_of(case["ranking"], case["fact_to_chunks"]), k=case["k"])
    assert list(found.missing) == case["expected"].get("missing_facts", [])
    if case["fact_to_chunks"]:
        assert found.value == approx(case["expected"]["fact_coverage@k"])
    else:
        assert found.value is None  # the oracle's value is 0 / 0


def sample_of(ranking: list[str], facts: dict[str, list[str]]) -> Sample:
    return Sample(
        id="q",
        contexts=tuple(Context(id=one) for one in ranking),
        facts=tuple(Fact(id=one, context_ids=tuple(ids)) for one, ids in facts.items()),
    )


@pytest.mark.parametrize("case", ARTICLES, ids=lambda case: f"{case['article']}: {case['quantity']}")
def test_the_numbers_of_the_articles(case: dict[str, Any]) -> None:
    found: float | None
    match case["kind"]:
        case "measure":
            found = score_ranking(case["ranking"], case["relevance"], case["measure"])[case["measure"]]
        case "mrr":
            runs = {str(n): ranking for n, ranking in enumerate(case["rankings"])}
            found = evaluate(runs, {query: {"a"} for query in runs}, "mrr").means["rr"].value
        case "facts":
            found = fact_coverage(sample_of(case["ranking"], case["facts"])).value
        case _:
            ranked = [(rank, grade) for rank, grade in enumerate(case["grades"], 1) if grade]
            gained = gains([grade for _, grade in ranked], case["gain"], highest=max(case["grades"]))
            found = dcg(gained, [rank for rank, _ in ranked]) if ranked else 0.0
    assert found == approx(case["expected"])


# --- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "printed", "mean"),
    [
        ("precision@5", "precision@5", "precision@5"),
        ("ndcg@10", "ndcg@10[linear,judged]", "ndcg@10[linear,judged]"),
        ("ndcg@5[retrieved, exp2]", "ndcg@5[exp2,retrieved]", "ndcg@5[exp2,retrieved]"),
        ("mrr@10", "rr@10", "mrr@10"),
        ("map", "ap", "map"),
        ("ap@3[capped]", "ap@3[capped]", "map@3[capped]"),
        ("rbp@7[p=0.123456789]", "rbp@7[p=0.123456789]", "rbp@7[p=0.123456789]"),
        ("err@4", "err@4[max=4]", "err@4[max=4]"),
        ("bpref", "bpref", "bpref"),
    ],
)
def test_a_name_parses_to_a_measure_and_prints_back(typed: str, printed: str, mean: str) -> None:
    (measure,) = measures_of(typed)
    assert (str(measure), measure.mean_name) == (printed, mean)
    assert measures_of(printed) == (measure,)


@pytest.mark.parametrize("key", MEASURES)
def test_every_measure_has_a_name_that_parses_back_to_it(key: str) -> None:
    measure = MEASURES[key]()
    assert measures_of(str(measure)) == (measure,)


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("nDCG@5", "did you mean 'ndcg@5'"),
        ("P@5", "did you mean 'precision@5'"),
        ("recal@5", "did you mean 'recall@5'"),
        ("precision@0", "'0' is no cut-off"),
        ("precision@-1", "'-1' is no cut-off"),
        ("precision@٣", "is no cut-off"),
        ("bpref@5", "write 'bpref'"),
        ("recall@5[exp2]", "'exp2' is no option of recall; it has: capped"),
        ("precision@5[capped]", "it has: none"),
        ("ndcg@5[linear,exp2]", "two words for its gain"),
        ("rbp@5[p=1]", "p=1.0"),
        ("rbp@5[p=nan]", "p=nan"),
        ("err[max=0]", "max=0.0"),
        ("ndcg@5]", "unknown measure"),
        ("", "unknown measure"),
    ],
)
def test_a_name_that_means_nothing_says_what_to_write(typed: str, words: str) -> None:
    with pytest.raises(InputError) as raised:
        measures_of(typed)
    assert words in str(raised.value)


def test_no_measure_at_all_is_an_error_and_the_same_twice_is_one() -> None:
    with pytest.raises(InputError, match="no measure chosen"):
        measures_of([])
    assert [str(one) for one in measures_of(["ndcg@5", "recall@5", "ndcg@5[linear,judged]"])] == [
        "ndcg@5[linear,judged]",
        "recall@5",
    ]


def test_a_list_of_names_keeps_the_commas_in_brackets_and_gets_its_cut_offs() -> None:
    assert split_names("ndcg@5[exp2,judged], mrr,") == ["ndcg@5[exp2,judged]", "mrr"]
    assert [with_cut(name, 5) for name in ("mrr", "ndcg[exp2]", "bpref", "recall@5", "nonsense")] == [
        "mrr@5",
        "ndcg@5[exp2]",
        "bpref",
        "recall@5",
        "nonsense",
    ]


# --- what a ranking may be -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ranking", "relevance", "words"),
    [
        ("abc", {"a"}, "the ranking is the str 'abc'"),
        (b"abc", {"a"}, "the ranking is the bytes"),
        ({"a", "b"}, {"a"}, "the ranking is the set"),
        (["a"], "a", "relevance is the str 'a'"),
        (["a"], 3, "relevance is the int 3"),
        (["a", None], {"a"}, "ids of type NoneType, str"),
        ([["a"]], {"a"}, "the ranking holds ids of type list"),
        (["a"], [["a"]], "relevance holds ids of type list"),
        (["a", 1], {"a"}, "ids of type int, str"),
        ([True, False], {1}, "ids of type bool"),
        ([1, 2], {"1"}, "these never meet"),
        (["a"], {"a": "3"}, "the grade of 'a' is the str '3'"),
        ({"a": None}, {"a"}, "the score of 'a' is the NoneType None"),
    ],
)
def test_input_of_the_wrong_type_is_refused(ranking: Any, relevance: Any, words: str) -> None:
    with pytest.raises(UnusableType) as raised:
        score_ranking(ranking, relevance, "rr")
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("ranking", "relevance", "words"),
    [
        ({"a": float("nan"), "b": 1.0}, {"a"}, "the score of 'a' is NaN"),
        (["a"], {"a": float("nan")}, "the grade of 'a' is nan"),
        (["a"], {"a": 10**400}, "give a finite number"),
    ],
)
def test_input_of_an_impossible_value_is_refused(ranking: Any, relevance: Any, words: str) -> None:
    with pytest.raises(UnusableValue) as raised:
        score_ranking(ranking, relevance, "rr")
    assert words in str(raised.value)


@pytest.mark.parametrize("k", [0, -1])
def test_a_cut_off_below_one_is_refused(k: int) -> None:
    with pytest.raises(UnusableValue):
        Precision(k)


@pytest.mark.parametrize("k", [True, 2.0, "2"])
def test_a_cut_off_that_is_no_whole_number_is_refused(k: Any) -> None:
    with pytest.raises(UnusableType):
        Precision(k)


@pytest.mark.parametrize("options", [{"ties": "mean"}, {"duplicates": "keep"}, {"relevance_level": float("nan")}])
def test_a_convention_that_does_not_exist_is_refused(options: Any) -> None:
    with pytest.raises(UnusableValue):
        Conventions(**options)


def test_a_repeated_id_is_credited_once_wastes_a_slot_and_is_counted() -> None:
    found = score_ranking(["a", "a", "b"], {"a", "b"}, ["precision@3", "ap", "id_context_precision"])
    assert found.values == {"precision@3": 2 / 3, "ap": (1 + 2 / 3) / 2, "id_context_precision": 1.0}
    assert found.repeated == 1
    dropped = score_ranking(["a", "a", "b"], {"a", "b"}, "ap", conventions=Conventions(duplicates="drop"))
    assert (dropped["ap"], dropped.repeated) == (1.0, 1)


def test_an_error_on_repeats_looks_beyond_the_cut_off() -> None:
    with pytest.raises(UnusableValue, match="'b' is ranked again at 4"):
        score_ranking(["a", "b", "c", "b"], {"a"}, "precision@1", conventions=Conventions(duplicates="error"))


def test_whole_numbers_as_ids_and_scores_below_zero_are_counted_as_any_other() -> None:
    assert score_ranking([1, 2], {2}, "rr")["rr"] == 0.5
    assert score_ranking({"a": -1.0, "b": -2.0}, {"b"}, "rr")["rr"] == 0.5


def test_huge_grades_never_leave_the_floats() -> None:
    for grades in ({"a": 2000, "b": 1999}, {"a": 1e308, "b": 1e308, "c": 1e308}, {"a": 5e-324, "b": 1e-320}):
        for name in ("ndcg[linear,judged]", "ndcg[exp2,judged]", "ndcg[exp2,retrieved]"):
            found = score_ranking(["b", "a"], grades, name, conventions=Conventions(relevance_level=0))[name]
            assert found is not None
            assert 0 <= found <= 1


def test_an_order_that_is_rounded_up_past_the_ideal_one_is_still_no_more_than_1() -> None:
    last_digits = (827, 826, 826, 823, 824, 828, 825)
    grades = {one: float(f"0.8595841402001{digits}") for one, digits in zip("abcdefg", last_digits, strict=True)}
    assert score_ranking(list(grades), grades, "ndcg", conventions=Conventions(relevance_level=0))["ndcg"] == 1.0


def test_a_grade_above_errs_scale_leaves_no_value_rather_than_a_wrong_one() -> None:
    found = score_ranking(["a"], {"a": 5}, ["err", "err[max=5]"])
    assert (found["err[max=4]"], found.gaps) == (None, {"err[max=4]": Gap.GRADE_ABOVE_MAX})
    assert found["err[max=5]"] == approx(31 / 32)


# --- many queries --------------------------------------------------------------------------------


def test_a_query_without_a_result_is_zero_in_the_mean_and_listed_one_without_relevant_items_is_left_out() -> None:
    found = evaluate({"q1": ["a"], "q2": ["x"]}, {"q1": {"a"}, "q2": {}, "q3": {"c"}}, ["recall@5", "mrr"])
    assert found.missing == ("q3",)
    recall, rank = found.means["recall@5"], found.means["rr"]
    assert (recall.value, recall.n, recall.undefined) == (0.5, 2, {"no_relevant": 1})
    assert (rank.name, rank.value, rank.n, rank.undefined) == ("mrr", 1 / 3, 3, {})
    assert found.queries["q2"].gaps == {"recall@5": Gap.NO_RELEVANT}


def test_a_ranking_without_labels_is_an_error_unless_asked_to_be_left_out() -> None:
    with pytest.raises(UnusableValue, match="rankings without labels: q9"):
        evaluate({"q9": ["a"]}, {"q1": {"a"}}, "mrr")
    assert evaluate({"q9": ["a"]}, {"q1": {"a"}}, "mrr", ignore_unlabelled=True).unlabelled == ("q9",)


def test_no_labels_at_all_is_an_error_and_a_bad_query_is_named() -> None:
    with pytest.raises(UnusableValue, match="no query has labels"):
        evaluate({}, {}, "mrr")
    with pytest.raises(UnusableType, match="query 'q2': relevance is the str"):
        evaluate({}, {"q1": {"a"}, "q2": "a"}, "mrr")
    with pytest.raises(UnusableType, match="runs is a list"):
        evaluate([["a"]], {"q1": {"a"}}, "mrr")  # type: ignore[arg-type]


def test_a_value_is_found_by_its_short_name_too() -> None:
    found = score_ranking(["a"], {"a"}, "ndcg@5")
    assert found["ndcg@5"] == found["ndcg@5[linear,judged]"] == 1.0
    with pytest.raises(KeyError):
        found["ndcg@6"]


def test_bpref_without_judged_nonrelevant_items_is_said_to_be_recall() -> None:
    assert evaluate({"q": ["a"]}, {"q": {"a"}}, "bpref").notes
    assert not evaluate({"q": ["a"]}, {"q": {"a": 1, "b": 0}}, "bpref").notes


# --- ties ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["precision@2", "recall@3", "recall@2[capped]", "hit@2", "rr@4", "ap@3", "ap@3[capped]", "ndcg@3[exp2,judged]"],
)
def test_the_mean_over_ties_is_the_mean_over_all_orders(name: str) -> None:
    grades = {"b": 2, "c": 1, "e": 1, "f": 3, "z": 1}
    groups = (("a",), ("b", "c", "d", "e"), ("f", "g"))
    scores = {one: float(-n) for n, group in enumerate(groups) for one in group}
    orders = [("a", *first, *second) for first in permutations(groups[1]) for second in permutations(groups[2])]
    values = [score_ranking(order, grades, name)[name] or 0.0 for order in orders]
    found = tie_spread(scores, grades, name)[name]
    assert (found.low, found.mean, found.high) == (min(values), approx(sum(values) / len(values)), max(values))


def test_a_spread_is_refused_where_none_is_known_and_empty_where_nothing_is_defined() -> None:
    with pytest.raises(UnusableValue, match="mean over ties is not known"):
        tie_spread({"a": 1.0}, {"a"}, "bpref")
    with pytest.raises(UnusableType, match="only scores can tie"):
        tie_spread(["a"], {"a"}, "rr")  # type: ignore[arg-type]
    assert tie_spread({"a": 1.0}, {}, "ap")["ap"] == Spread(None, None, None)
