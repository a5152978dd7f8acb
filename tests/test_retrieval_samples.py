"""Facts, chunks, duplicates and retrieval calls of logged samples."""

from __future__ import annotations

from typing import Any

import pytest

from judgekit.confidence import interval_of_values
from judgekit.records import Context, Fact, Retrieval, Sample
from judgekit.retrieval import (
    FactCoverage,
    PassRate,
    StaleFact,
    UnusableValue,
    chunk_containment,
    compare_rankings,
    coverage_pass_rate,
    duplicate_contexts,
    fact_coverage,
    score_sample,
    stale_facts,
    union_of,
)


def chunk(one: str, text: str = "", **known: Any) -> Context:
    return Context(id=one, text=text, **known)


def sample(*contexts: Context, **known: Any) -> Sample:
    return Sample(id="q", contexts=contexts, **known)


# --- facts ---------------------------------------------------------------------------------------


def test_a_fact_no_context_supplies_is_missing_and_so_is_one_below_the_cut_off() -> None:
    facts = (Fact(id="price", context_ids=("c2", "c9")), Fact(id="term", context_ids=("c1",)), Fact(id="void"))
    row = sample(chunk("c1"), chunk("c2"), facts=facts)
    assert fact_coverage(row) == FactCoverage(2 / 3, ("price", "term"), ("void",))
    assert fact_coverage(row, k=1).missing == ("price", "void")
    assert fact_coverage(sample()).value is None
    with pytest.raises(UnusableValue):
        fact_coverage(row, k=0)


def test_the_pass_rate_is_another_number_than_the_mean_coverage() -> None:
    covered = [FactCoverage(value, (), ()) for value in (1.0, 2 / 3, 0.9, None)]
    assert coverage_pass_rate(covered) == PassRate(2 / 3, 2, 3, 1, interval_of_values([1, 0, 1]))
    assert coverage_pass_rate(covered, threshold=0.5).value == 1.0
    assert coverage_pass_rate([]).value is None
    for threshold in (0, 1.1):
        with pytest.raises(UnusableValue):
            coverage_pass_rate(covered, threshold=threshold)


OLD = chunk("d7@2025#3", doc_id="d7", version="2025-12")
NEW = chunk("d7@2026#3", doc_id="d7", version="2026-03")
PRICE = Fact(id="price", context_ids=("d7@2026#3", "d7@2025#3"))


@pytest.mark.parametrize(
    ("contexts", "current", "stale"),
    [
        ((OLD,), {"d7": "2026-03"}, ["price"]),
        ((OLD, NEW), {"d7": "2026-03"}, []),
        ((OLD, NEW), None, []),
        ((OLD,), None, []),  # nobody knows of a newer version
        ((NEW,), {"d7": "2026-04"}, ["price"]),
        ((), {"d7": "2026-03"}, []),  # missing, not stale
        ((chunk("d8#1", doc_id="d8", version="1"),), {"d7": "2026-03", "d8": "2"}, []),
        ((chunk("d7@2025#3"),), {"d7": "2026-03"}, []),  # no version: taken as current
    ],
)
def test_a_fact_is_stale_when_only_an_outdated_version_was_retrieved(
    contexts: tuple[Context, ...], current: dict[str, str] | None, stale: list[str]
) -> None:
    found = stale_facts(sample(*contexts, facts=(PRICE,)), current=current)
    assert [fact.fact_id for fact in found] == stale


def test_a_stale_fact_names_the_document_what_came_and_what_should_have() -> None:
    fact = Fact(id="f", context_ids=("d7#3",))
    old = [chunk(f"old{n}", doc_id="d7", version=f"v{n}") for n in (9, 10)]
    row = sample(*old, facts=(fact,), retrievals=(Retrieval(contexts=(chunk("x", doc_id="d7", version="v11"),)),))
    assert stale_facts(row) == (StaleFact("f", "d7", ("v9", "v10"), "v11"),)
    assert stale_facts(row, k=1) == (StaleFact("f", "d7", ("v9",), "v11"),)


# --- chunks --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chunks", "span", "shown"),
    [
        (["The fee is 5 euros a month."], "fee is 5 EUROS", "whole"),
        (["It reads: \u201cthe ﬁnal  \n date\u201d."], "the final date", "whole"),
        (["party"], "art", "lost"),
        (["他住在北京市。"], "北京", "whole"),
        (
            ["pay within thirty", "days of the invoice date"],
            "within thirty days of the invoice",
            "spread over 2 chunks",
        ),
        (
            ["pay within thirty days", "thirty days of the invoice"],
            "within thirty days of the invoice",
            "spread over 2 chunks",
        ),
        (["a b", "c d", "e f"], "b c d e", "spread over 3 chunks"),
        (["a b", "c d", "e f"], "b c e", "lost"),
        (["within", "thirty"], "within forty", "lost"),
        (["say within thirty of", "days"], "within thirty days", "lost"),  # the chunk goes on otherwise
        ([], "x", "lost"),
        (["x"], "...", "no span"),
    ],
)
def test_a_span_is_whole_in_a_chunk_spread_over_neighbours_or_lost(chunks: list[str], span: str, shown: str) -> None:
    row = sample(*(chunk(str(n), text) for n, text in enumerate(chunks)))
    found = chunk_containment(row, span)
    assert str(found) == shown
    assert found.value == {"whole": 1.0, "no span": None}.get(shown, 0.0)


def test_containment_takes_the_reference_and_names_the_chunks() -> None:
    row = sample(chunk("a", "one two three"), chunk("b", "zero one two"), reference="one two")
    assert chunk_containment(row).context_ids == ("a", "b")
    assert chunk_containment(row, "zero one two three").context_ids == ("b", "a")
    assert chunk_containment(sample(chunk("a", "x"))).status is None


def test_duplicate_contexts_are_found_exact_and_near() -> None:
    text = "the pump at the lower station moves water to the upper basin when the level falls below two metres"
    row = sample(
        chunk("a", text), chunk("b", text.upper() + "."), chunk("c", text.replace("two", "three")), chunk("d", "other")
    )
    found = duplicate_contexts(row, near=0.6)
    assert found.exact == (("a", "b"),)
    ((first, second, similarity),) = found.near
    assert (first, second, round(similarity, 4)) == ("a", "c", round(15 / 19, 4))
    assert found.share == 0.5
    assert duplicate_contexts(row, near=0.8).near == ()
    assert duplicate_contexts(sample(chunk("a"), chunk("b"), chunk("a"))).exact == (("a", "a"),)
    assert duplicate_contexts(sample()).share is None
    with pytest.raises(UnusableValue):
        duplicate_contexts(row, near=0)


# --- retrieval calls -----------------------------------------------------------------------------


def test_every_retrieval_call_is_scored_and_so_is_their_union() -> None:
    calls = (Retrieval(contexts=(chunk("x"), chunk("a"))), Retrieval(contexts=(chunk("a"), chunk("b"))))
    row = sample(chunk("b"), relevance={"a": 1, "b": 1}, retrievals=calls)
    found = score_sample(row, "recall")
    assert found.contexts["recall"] == 0.5
    assert [call["recall"] for call in found.calls] == [0.5, 1.0]
    assert found.union is not None
    assert found.union["recall"] == 1.0
    assert [context.id for context in union_of(row)] == ["x", "a", "b"]
    assert score_sample(sample(chunk("a")), "recall").contexts.gaps == {"recall": "no_labels"}


# --- rerankers -----------------------------------------------------------------------------------

CANDIDATES = [f"c{n}" for n in range(20)]


def test_recall_is_pinned_at_the_number_of_candidates_and_not_at_the_cut_off_above() -> None:
    reranked = [*CANDIDATES[10:], *CANDIDATES[:10]]
    measures = ["recall@5", "recall@20", "mrr", "precision@20", "ndcg@20", "hit@20", "f1@20", "judged@20"]
    found = compare_rankings({"q": CANDIDATES}, {"q": reranked}, {"q": {"c10", "c3", "gone"}}, measures)
    moves = found.queries["q"]
    assert {name for name, move in moves.items() if not move.can_move} == {
        "recall@20",
        "precision@20",
        "hit@20",
        "f1@20",
        "judged@20",
    }
    assert (moves["recall@5"].before, moves["recall@5"].after, moves["recall@5"].best) == (1 / 3, 1 / 3, 2 / 3)
    assert (moves["rr"].before, moves["rr"].after, moves["rr"].best) == (0.25, 1.0, 1.0)
    mean = found.means["rr"]
    assert (mean.name, mean.before, mean.after, mean.can_move, mean.pinned, mean.rose, mean.fell) == (
        "mrr",
        0.25,
        1.0,
        1,
        0,
        1,
        0,
    )
    assert (found.means["recall@20"].can_move, found.means["recall@20"].pinned) == (0, 1)


def test_the_means_before_and_after_have_their_intervals_and_count_queries_without_a_value() -> None:
    before = {"q": ["x", "a"], "r": ["b"], "s": ["c"]}
    qrels = {"q": {"a": 1}, "r": {"b": 1}, "s": {"c": 0}}
    mean = compare_rankings(before, {**before, "q": ["a", "x"]}, qrels, "ap").means["ap"]
    assert (mean.before, mean.after, mean.n, mean.undefined) == (0.75, 1.0, 2, {"no_relevant": 1})
    assert mean.before_interval == interval_of_values([0.5, 1])
    assert mean.after_interval == mean.best_interval == interval_of_values([1, 1])


@pytest.mark.parametrize(
    ("grades", "k", "can_move"),
    [
        ([1, 1, 2, 2], 2, True),
        ([1, 2, 2], 2, True),
        ([2, 2, 2], 2, False),
        ([0, 0, 0], 2, False),
        ([1, 2], 1, False),
        ([0, 2], 1, True),
    ],
)
def test_with_a_retrieved_ideal_only_mixed_grades_can_move(grades: list[int], k: int, can_move: bool) -> None:
    labels = {f"d{n}": grade for n, grade in enumerate(grades)} | {"gone": 1}
    ids = [f"d{n}" for n in range(len(grades))]
    name = f"ndcg@{k}[linear,retrieved]"
    found = compare_rankings({"q": ids}, {"q": ids[::-1]}, {"q": labels}, name)
    assert found.queries["q"][name].can_move is can_move


def test_other_candidates_pin_nothing_and_a_shorter_list_is_a_choice_among_them() -> None:
    found = compare_rankings({"q": ["a", "b"]}, {"q": ["a", "z"]}, {"q": {"a"}}, "recall@2")
    assert found.other_candidates == ("q",)
    assert found.queries["q"]["recall@2"].can_move is None
    chosen = compare_rankings({"q": ["x", "a"]}, {"q": ["a"]}, {"q": {"a"}}, "recall@2").queries["q"]["recall@2"]
    assert (chosen.after, chosen.can_move) == (1.0, True)
