"""The draw: strata that are a partition, exact chances, any order of the results the same units; more only adds."""

import random
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from review_cases import a_result, a_verdict

from judgekit.errors import InputError
from judgekit.metrics import metrics_of
from judgekit.records import Case, Check, Evidence, Label, Result, Sample
from judgekit.sampling import Candidate, Unit, answers_of, bin_of, checks_of, draw

METRICS = metrics_of(["faithfulness", "citation_support"])


def some(count, stratum="m | supported | clear", label=Label.SUPPORTED, sure="clear", start=0):
    units = [Unit.of(f"q{at}", Check(claim_id="a1", sources=("d1",))) for at in range(start, start + count)]
    return [Candidate(unit, stratum, ("m",), label, sure) for unit in units]


def three_strata():
    return [
        *some(60),
        *some(30, "m | unsupported | clear", Label.UNSUPPORTED, start=100),
        *some(7, "m | supported | uncertain", sure="uncertain", start=200),
    ]


def ids(drawn):
    return [one.candidate.unit.unit_id for one in drawn]


# --- which units -------------------------------------------------------------------------------


def test_a_draw_does_not_depend_on_the_order_of_the_units():
    candidates = three_strata()
    drawn = draw(candidates, 30, seed=7, overlap=0.2)
    for seed in range(5):
        random.Random(seed).shuffle(candidates)
        assert draw(iter(candidates), 30, seed=7, overlap=0.2) == drawn


def test_a_larger_draw_keeps_all_that_a_smaller_one_drew():
    before = set()
    for n in range(1, 98):
        now = set(ids(draw(three_strata(), n, seed=3)))
        assert before <= now
        before = now
    assert len(before) == 97


@given(
    st.lists(st.tuples(st.integers(1, 25), st.sampled_from(list(Label)[:4]), st.booleans()), min_size=1, max_size=5),
    st.integers(1, 60),
    st.integers(1, 40),
)
def test_more_only_adds_whatever_the_strata(strata, n, more):
    candidates = [
        one
        for at, (size, label, sure) in enumerate(strata)
        for one in some(size, f"{at}", label, "clear" if sure else "uncertain", start=at * 100)
    ]
    assert set(ids(draw(candidates, n, seed=1))) <= set(ids(draw(candidates, n + more, seed=1)))


def test_the_chances_are_exact_and_describe_the_whole_population():
    drawn = draw(three_strata(), 30, seed=1)
    found = {one.candidate.stratum: (one.stratum_drawn, one.stratum_size) for one in drawn}
    # weights: 60 x .218 = 13.08, 30 x .458 = 13.74, 7 x .5 = 3.5 of 30.32; whole parts of 30: 12, 13, 3, the last
    # raised to 5; 30 together, and so spent
    assert found == {
        "m | supported | clear": (12, 60),
        "m | unsupported | clear": (13, 30),
        "m | supported | uncertain": (5, 7),
    }
    assert Counter(one.candidate.stratum for one in drawn) == {key: n for key, (n, _) in found.items()}
    assert {Fraction(one.inclusion).limit_denominator(1000) for one in drawn} == {
        Fraction(12, 60),
        Fraction(13, 30),
        Fraction(5, 7),
    }


def test_every_stratum_gives_five_or_all_even_beyond_the_budget():
    drawn = draw([*three_strata(), *some(2, "rare", start=300)], 4, seed=1)
    assert sorted(Counter(one.candidate.stratum for one in drawn).values()) == [2, 5, 5, 5]


def test_another_seed_draws_other_units_and_another_order():
    assert len({tuple(ids(draw(three_strata(), 10, seed=seed))) for seed in range(10)}) == 10


def test_inside_a_stratum_every_unit_is_drawn_about_equally_often():
    candidates = some(30)
    counts = Counter(unit_id for seed in range(2000) for unit_id in ids(draw(candidates, 6, seed=seed)))
    expected, spread = 400, (2000 * 0.2 * 0.8) ** 0.5
    assert len(counts) == 30
    assert all(abs(count - expected) < 4.5 * spread for count in counts.values())


def test_rows_are_in_an_order_that_tells_nothing_of_strata():
    strata = [one.candidate.label for one in draw(three_strata(), 97, seed=7)]
    flips = sum(first is not second for first, second in pairwise(strata))
    assert flips > 30  # sorted by stratum there would be two


@pytest.mark.parametrize(("share", "doubled"), [(None, 0), (0.0, 0), (0.2, 20), (0.5, 30), (1.0, 60)])
def test_the_overlap_is_a_share_but_at_least_twenty(share, doubled):
    drawn = draw(some(60), 60, seed=1, overlap=share)
    assert sum(one.is_overlap for one in drawn) == doubled
    assert sum(one.is_overlap for one in draw(some(8), 8, seed=1, overlap=0.2)) == 8


@pytest.mark.parametrize(("n", "overlap", "told"), [(0, None, "give 1 or more"), (5, 1.5, "not a share")])
def test_a_draw_that_makes_no_sense_is_refused(n, overlap, told):
    with pytest.raises(InputError, match=told):
        draw(some(4), n, seed=1, overlap=overlap)


# --- which population --------------------------------------------------------------------------


def test_a_check_is_one_unit_in_the_stratum_of_all_its_metrics():
    found = checks_of([a_result("q1")], METRICS)
    assert [(one.unit.claim_id, one.unit.sources, one.stratum) for one in found.candidates] == [
        ("a1", ("d2",), "citation_support | supported | clear"),
        ("a1", ("d1", "d2"), "faithfulness | supported | clear"),
    ]
    alone = checks_of([a_result("q1", contexts=(a_result("q").case.sample.contexts[1],))], METRICS)
    (one,) = alone.candidates
    assert (one.metrics, one.stratum) == (
        ("citation_support", "faithfulness"),
        "citation_support+faithfulness | supported | clear",
    )


def test_the_strata_of_one_metric_do_not_depend_on_the_order_of_metrics():
    results = [a_result("q1"), a_result("q2", label=Label.CONTRADICTED)]
    assert checks_of(results, METRICS) == checks_of(results, METRICS[::-1])


def test_what_the_judge_could_not_label_is_counted_apart_and_what_nobody_asked_is_no_unit():
    verdicts = (
        a_verdict("a1", "d1", "d2", label=Label.UNJUDGED, cause="timeout"),
        a_verdict("a1", "d2", label=Label.UNSUPPORTED, reason="no text in the source", calls=()),
    )
    found = checks_of([a_result("q1", verdicts=verdicts), a_result("q2", verdicts=())], METRICS)
    assert found.candidates == []
    assert found.apart == {"unjudged": 3}  # the first of q1, and both of q2, which have no verdict at all


@pytest.mark.parametrize(
    ("told", "sure"),
    [
        ({}, "clear"),
        ({"probabilities": {"supported": 0.8, "unsupported": 0.2}}, "clear"),
        ({"probabilities": {"supported": 0.75, "unsupported": 0.25}}, "clear"),
        ({"probabilities": {"supported": 0.7, "unsupported": 0.3}}, "uncertain"),
        ({"probabilities": {"a": 0.1, "b": 0.5, "c": 0.4}}, "uncertain"),
        ({"probabilities": {"supported": 1.0}}, "clear"),
        ({"in_parts": True}, "uncertain"),
        ({"evidence": ()}, "uncertain"),
        ({"evidence": (), "label": Label.UNSUPPORTED}, "clear"),
        ({"evidence": (Evidence(context_id="d1", quote="made up", verified=False),)}, "uncertain"),
        ({"reason": "the judge said supported and gave no quote that stands in the sources"}, "uncertain"),
    ],
)
def test_a_verdict_is_uncertain_when_anything_it_left_says_so(told, sure):
    assert bin_of(a_verdict("a1", "d1", **told)) == sure


@pytest.mark.parametrize(
    ("told", "sure"),
    [
        ({"probabilities": {"supported": 0.8, "unsupported": 0.2}}, "clear"),  # as sure as asked for
        ({"probabilities": {"supported": 0.79, "unsupported": 0.21}}, "uncertain"),
        ({"probabilities": {"supported": 0.1, "unsupported": 0.5, "contradicted": 0.4}}, "clear"),  # of its side: 0.9
        ({"probabilities": {"unsupported": 0.6, "contradicted": 0.4}}, "clear"),
        ({"probabilities": {"supported": 0.95}, "in_parts": True}, "uncertain"),
        ({}, "clear"),
    ],
)
def test_a_least_confidence_takes_the_place_of_the_two_likeliest_labels(told, sure):
    assert bin_of(a_verdict("a1", "d1", **told), below=0.8) == sure


def test_whole_answers_are_drawn_where_their_claims_are_known():
    results = [
        a_result("q1"),
        a_result("q2", answer="  "),
        Result(case=Case(sample=Sample(id="q3", answer="Failed on the way."))),
        Result(case=a_result("q4").case.having(unsplit=("answer",))),
    ]
    found = answers_of(results, METRICS)
    assert [one.unit.sample_id for one in found.candidates] == ["q1"]
    assert found.apart == {"unsplit": 2}
    with pytest.raises(InputError, match="split no answer into claims"):
        answers_of(results, metrics_of("context_relevance"))


# --- ids ---------------------------------------------------------------------------------------


def test_a_unit_id_is_stable_and_no_spreadsheet_takes_it_for_a_number():
    # printf '["q1", "c1", ["d1"]]' | sha256sum; printf '["q1"]' | sha256sum
    assert Unit.of("q1", Check(claim_id="c1", sources=("d1",))).unit_id == "ubce64b843627"
    assert Unit.whole("q1").unit_id == "s798a75ec4cbe"


def test_units_that_read_alike_when_joined_are_told_apart():
    alike = [
        Unit.of("q1/c1", Check(claim_id="c2", sources=("d1",))),
        Unit.of("q1", Check(claim_id="c1/c2", sources=("d1",))),
        Unit.of("q1", Check(claim_id="c1", sources=("d1,d2",))),
        Unit.of("q1", Check(claim_id="c1", sources=("d1", "d2"))),
        Unit.whole("q1"),
    ]
    assert len({unit.unit_id for unit in alike}) == 5
