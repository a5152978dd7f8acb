"""Laws that every measure keeps, whatever the ranking."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from judgekit.retrieval import MEASURES, Conventions, evaluate, measures_of, score_ranking
from judgekit.retrieval.measure import CutMeasure

IDS = "abcdefghij"
#: Those that are 1.0 for the ideal list; judged, rbp, err and precision beyond R are not.
PERFECT = [
    "recall",
    "hit",
    "rr",
    "ap",
    "context_precision",
    "ndcg",
    "ndcg[exp2,judged]",
    "ndcg[linear,retrieved]",
    "ndcg[exp2,retrieved]",
    "r_precision",
    "bpref",
    "id_context_recall",
    "recall[capped]",
    "ap[capped]",
]
#: Those that a better item moving up never lowers; the last, only if it is a relevant one.
RISING = [
    "rr@3",
    "ap@4",
    "ap",
    "ndcg@4",
    "ndcg[exp2,judged]",
    "rbp",
    "err",
    "context_precision",
    "recall@3",
    "precision@2",
    "bpref",
]

cuts = st.none() | st.integers(1, 12)
rankings = st.permutations(IDS).flatmap(lambda ids: st.integers(0, len(ids)).map(lambda n: ids[:n]))
grades = st.dictionaries(st.sampled_from(IDS + "xyz"), st.integers(-2, 4), max_size=9)
floats = st.dictionaries(st.sampled_from(IDS + "xyz"), st.floats(-1e308, 1e308) | st.integers(0, 3000), max_size=9)


def all_measures(k: int | None) -> list[Any]:
    cut = [kind(k) if issubclass(kind, CutMeasure) else kind() for kind in MEASURES.values()]
    return [
        *cut,
        *measures_of([f"ndcg[{gain},{ideal}]" for gain in ("linear", "exp2") for ideal in ("judged", "retrieved")]),
    ]


@given(st.lists(st.sampled_from(IDS), max_size=14), grades | floats, cuts, st.sampled_from([-1, 0, 0.5, 1, 2]))
def test_every_value_lies_between_0_and_1_or_has_a_reason_not_to(
    ranking: list[str], labels: dict[str, float], k: int | None, level: float
) -> None:
    found = score_ranking(ranking, labels, all_measures(k), conventions=Conventions(relevance_level=level))
    for name, value in found.values.items():
        assert (value is None) == (name in found.gaps)
        assert value is None or (type(value) is float and 0 <= value <= 1), name
    assert found.repeated == len(ranking) - len(set(ranking))


@given(grades, st.integers(0, 3))
def test_the_ideal_list_is_exactly_1(labels: dict[str, float], more: int) -> None:
    ideal = sorted(labels, key=lambda one: -labels[one]) + ["m", "n", "o"][:more]
    found = score_ranking(ideal, labels, PERFECT).values
    relevant = [one for one, grade in labels.items() if grade >= 1]
    for name, value in found.items():
        assert value == (1.0 if relevant else None) or (not relevant and name in ("hit", "rr") and value == 0.0), name
    if relevant:
        found = score_ranking(ideal, labels, [f"precision@{len(relevant)}", f"f1@{len(relevant)}"]).values
        assert set(found.values()) == {1.0}


@settings(max_examples=200)
@given(st.permutations(IDS), grades, st.data())
def test_a_better_item_moving_up_never_lowers_a_measure(ranking: list[str], labels: dict[str, int], data: Any) -> None:
    above, below = sorted(data.draw(st.lists(st.integers(0, len(IDS) - 1), min_size=2, max_size=2, unique=True)))
    everything = {one: labels.get(one, 0) for one in IDS} | labels
    ranking = list(ranking)
    if everything[ranking[above]] > everything[ranking[below]]:
        ranking[above], ranking[below] = ranking[below], ranking[above]
    better = list(ranking)
    better[above], better[below] = ranking[below], ranking[above]
    rising = RISING if everything[better[above]] >= 1 else RISING[:-1]
    before = score_ranking(ranking, everything, rising).values
    after = score_ranking(better, everything, rising).values
    for name, value in before.items():
        assert value is None or after[name] >= value - 1e-15, name  # type: ignore[operator]
    for name in ("rr@3", "ap@4", "ap"):
        assert before[name] is None or after[name] >= before[name], name  # type: ignore[operator]


@given(rankings, grades, cuts)
def test_what_lies_below_the_cut_off_changes_nothing_but_whole_list_measures(
    ranking: list[str], labels: dict[str, int], k: int | None
) -> None:
    cut = [measure for measure in all_measures(k) if measure.depth is not None]
    if cut and k is not None:
        assert score_ranking(ranking, labels, cut).values == score_ranking(ranking[:k], labels, cut).values


@given(rankings, grades)
def test_scores_that_keep_the_order_and_measures_asked_together_change_nothing(
    ranking: list[str], labels: dict[str, int]
) -> None:
    scores = {one: 1 - place / 100 for place, one in enumerate(ranking)}
    together = score_ranking(ranking, labels, all_measures(3)).values
    assert score_ranking(scores, labels, all_measures(3)).values == together
    for measure in all_measures(3):
        assert score_ranking(ranking, labels, measure).values[str(measure)] == together[str(measure)]


@given(st.dictionaries(st.sampled_from("qrstu"), st.tuples(rankings, grades), min_size=1))
def test_the_order_of_the_queries_changes_no_bit_of_a_mean_and_every_query_is_counted(given_: Any) -> None:
    runs = {query: ranking for query, (ranking, _) in given_.items()}
    qrels = {query: labels for query, (_, labels) in given_.items()}
    means = evaluate(runs, qrels, all_measures(5)).means
    assert evaluate(runs, dict(reversed(qrels.items())), all_measures(5)).means == means
    for mean in means.values():
        assert mean.n + sum(mean.undefined.values()) == len(qrels)
