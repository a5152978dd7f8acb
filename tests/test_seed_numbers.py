"""Numbers that introductions to the field print, beyond the rankings of `ir_articles.jsonl`, and outside vectors of
rankings: each is computed again here from what the text gives. What a text rounds is compared as it prints it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from metric_cases import S, U, a_case, a_sample, labelled, ratings

from judgekit.metrics import METRICS, ContextPrecision, ContextRelevance, Faithfulness
from judgekit.records import ANSWER, REFERENCE, Context, Fact, MetricSummary, Result, Sample
from judgekit.retrieval import (
    Conventions,
    FactCoverage,
    coverage_pass_rate,
    evaluate,
    fact_coverage,
    score_ranking,
)
from judgekit.retrieval.gains import dcg, gains
from judgekit.scoring import summarize

RANKING = json.loads((Path(__file__).parent / "vectors" / "ranking.json").read_text(encoding="utf-8"))


def ranked(grades: Sequence[int], missed: Sequence[int] = ()) -> tuple[list[str], dict[str, int]]:
    """A ranking with these grades, and the labels: of what stands in it, and of what was missed."""
    ids = [str(rank) for rank, _ in enumerate(grades, start=1)]
    labels = dict(zip(ids, grades, strict=True))
    return ids, labels | {f"missed {n}": grade for n, grade in enumerate(missed)}


def at(measure: str, grades: Sequence[int], missed: Sequence[int] = ()) -> float | None:
    (found,) = score_ranking(*ranked(grades, missed), measure).values.values()
    return found


def graded(flags: Sequence[int]):
    """A case whose contexts a judge found relevant or not."""
    sample = a_sample([f"text {rank}" for rank, _ in enumerate(flags)])
    labels = {str(rank): "3" if flag else "0" for rank, flag in enumerate(flags, start=1)}
    return a_case(sample, rated=ratings("relevance", labels))


# --- shares of claims -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "supported", "total", "said"),
    [
        ("faithfulness", 3, 3, 1.0),
        ("faithfulness", 1, 2, 0.5),  # of two claims about a birth, the date is wrong
        ("context_recall", 7, 8, 0.875),
    ],
)
def test_a_share_of_claims(name: str, supported: int, total: int, said: float) -> None:
    side = REFERENCE if name == "context_recall" else ANSWER
    case = labelled([S] * supported + [U] * (total - supported), METRICS[name], side=side)
    assert METRICS[name].score(case).value == said


def faithfulness_over(supported: Sequence[int], total: Sequence[int]) -> MetricSummary:
    metric = Faithfulness()
    cases = [labelled([S] * yes + [U] * (all_ - yes), metric) for yes, all_ in zip(supported, total, strict=True)]
    return summarize([Result(case=case, scores=(metric.score(case),)) for case in cases], [metric])[metric.name]


def test_fifty_answers_of_eight_claims_have_one_mean_whether_pooled_or_not() -> None:
    claims = 50 * 8
    unsupported = {}
    for said, lacking in (("0.88", 1), ("0.71", 2)):
        # so many claims lack in every answer, and one more or less in some, until the whole is as said
        spare = round(claims * float(said)) - 50 * (8 - lacking)
        spread = [8 - lacking + (number < spare) - (number < -spare) for number in range(50)]
        found = faithfulness_over(spread, [8] * 50)
        assert f"{found.macro:.14f}" == f"{found.micro:.14f}" == f"{float(said):.14f}"
        unsupported[said] = round((1 - found.micro) * claims)
    assert (claims, unsupported) == (400, {"0.88": 48, "0.71": 116})
    assert unsupported["0.71"] - unsupported["0.88"] == 68


def test_with_other_numbers_of_claims_the_two_means_part() -> None:
    found = faithfulness_over([1, 1], [1, 3])
    assert (found.macro, found.micro) == (pytest.approx(2 / 3), 0.5)


# --- rankings, as they are printed ----------------------------------------------------------------------

CARBON = [0, 2, 3, 1, 1]


def test_the_worked_example_is_printed_as_it_prints_itself() -> None:
    ndcg = at("ndcg@5[exp2,judged]", CARBON)
    assert (f"{at('rr', CARBON):.1f}", f"{ndcg:.3f}", f"{ndcg:.1%}") == ("0.5", "0.632", "63.2%")


def test_the_judged_metrics_give_both_readings_of_context_precision() -> None:
    case = graded([0, 1, 1, 1, 1])
    assert ContextRelevance().score(case).value == 0.8 == at("id_context_precision@5", CARBON)
    assert ContextPrecision().score(case).value == pytest.approx(163 / 240, abs=1e-15)


def test_one_slot_of_precision_at_five_is_a_fifth() -> None:
    assert at("precision@5", [1, 0, 0, 0, 0]) - at("precision@5", [0, 0, 0, 0, 0], missed=[1]) == 0.2


def test_one_perfect_chunk_fills_one_slot_of_five_or_all_there_are() -> None:
    assert at("precision@1", [1], missed=[1]) == at("id_context_precision@5", [1], missed=[1]) == 1.0
    assert at("precision@5", [1], missed=[1]) == 0.2


@pytest.mark.parametrize(
    ("flags", "steps", "mean"),
    [
        ([1, 0, 1, 0, 0], {1: 1, 3: 2 / 3}, 0.8333),
        ([1, 1, 0, 0, 0], {1: 1, 2: 1}, 1.0),
        ([0, 0, 0, 1, 1], {4: 1 / 4, 5: 2 / 5}, 0.325),
    ],
)
def test_context_precision_is_the_mean_of_the_precisions_at_its_ranks(
    flags: list[int], steps: dict[int, float], mean: float
) -> None:
    found = {rank: at(f"precision@{rank}", flags, missed=[1]) for rank in steps}
    assert found == pytest.approx(steps, abs=1e-15)
    assert round(sum(found.values()) / len(found), 4) == mean
    assert round(ContextPrecision().score(graded(flags)).value, 4) == mean
    assert round(at("context_precision@5", flags, missed=[1]), 4) == mean


# --- what a hit leaves open -----------------------------------------------------------------------------


def first_hits(ranks: dict[int | None, int]) -> tuple[float | None, ...]:
    """hit@5, recall@5 and MRR of so many queries for each rank of their only target; None: it was missed."""
    every = [rank for rank, count in ranks.items() for _ in range(count)]
    runs = {str(n): [] if rank is None else [*map(str, range(1, rank)), "target"] for n, rank in enumerate(every)}
    means = evaluate(runs, {query: {"target"} for query in runs}, ["hit@5", "recall@5", "rr"]).means
    return tuple(means[name].value for name in ("hit@5", "recall@5", "rr"))


def test_ninety_hits_of_a_hundred_are_recall_with_one_target_a_query() -> None:
    assert first_hits({5: 90, None: 10})[:2] == (0.9, 0.9)


@pytest.mark.parametrize(
    ("ranks", "bound"),
    [
        ({5: 95, None: 5}, 0.19),  # so 0.28 beside a recall@5 of 0.95 is possible
        ({5: 90, None: 10}, 0.18),  # so is 0.31 beside 0.9
        ({1: 90, 6: 10}, 0.9167),  # and 0.74
    ],
)
def test_the_first_rank_is_bounded_by_the_hits(ranks: dict[int | None, int], bound: float) -> None:
    assert round(first_hits(ranks)[2], 4) == bound


# --- facts ----------------------------------------------------------------------------------------------


def covered(facts: int, found: int) -> FactCoverage:
    contexts = tuple(Context(id=str(n)) for n in range(found))
    return fact_coverage(
        Sample(id="q", contexts=contexts, facts=tuple(Fact(id=str(n), context_ids=(str(n),)) for n in range(facts)))
    )


def test_two_of_three_facts_do_not_reach_nine_tenths() -> None:
    coverage = covered(3, 2)
    assert f"{coverage.value:.2f}" == "0.67"
    assert coverage_pass_rate([coverage], threshold=0.9).value == 0.0


@pytest.mark.parametrize(("lacking", "said"), [(32, 0.68), (29, 0.71)])
def test_what_is_called_coverage_of_a_hundred_queries_is_a_rate_of_passes(lacking: int, said: float) -> None:
    coverages = [covered(3, 3)] * (100 - lacking) + [covered(3, 2)] * lacking
    assert coverage_pass_rate(coverages, threshold=0.9).value == said
    assert sum(one.value for one in coverages) / 100 > said  # the mean coverage is another number


# --- outside vectors ------------------------------------------------------------------------------------


def answers(fn: str, given: dict) -> dict[str, list[float | None]]:
    """Field -> the value by each way there is to get it."""
    if fn == "ndcg":
        grades, left = given["grades"], list(given["all_grades"])
        for grade in grades:
            left.remove(grade)
        gain = {"exp": "exp2"}.get(given["gain"], given["gain"])
        kept = [(rank, grade) for rank, grade in enumerate(grades[: given["k"]], start=1) if grade > 0]
        gained = gains([grade for _, grade in kept], gain, highest=max(grades))
        return {
            "dcg": [dcg(gained, [rank for rank, _ in kept])],
            "ndcg": [at(f"ndcg@{given['k']}[{gain},judged]", grades, left)],
        }
    if fn == "context_precision":
        flags = given["relevant"]
        zero = Conventions(zero_undefined=True)
        (unlabelled,) = score_ranking(*ranked(flags), "context_precision", conventions=zero).values.values()
        judged = ContextPrecision().score(graded(flags)).value
        return {"value": [judged, unlabelled, at("context_precision", flags, missed=[1])]}
    assert fn == "mrr"
    return {"value": [first_hits(dict.fromkeys(given["first_ranks"], 1))[2]]}


@pytest.mark.parametrize("vector", RANKING["vectors"], ids=lambda vector: vector["id"])
def test_a_ranking_gives_what_the_outside_tool_gives(vector: dict) -> None:
    found = answers(vector["fn"], vector["input"])
    assert found.keys() == vector["expected"].keys()
    for field, expected in vector["expected"].items():
        assert found[field] == [pytest.approx(expected, rel=0, abs=RANKING["tolerance"])] * len(found[field])


def test_no_kind_of_vector_is_missing() -> None:
    kinds = [vector["fn"] for vector in RANKING["vectors"]]
    assert sorted(kinds) == ["context_precision"] * 2 + ["mrr"] + ["ndcg"] * 2
