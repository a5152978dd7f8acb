"""The draw: any order of the results, the same units; every unit equally likely; a larger draw only adds."""

import random
from collections import Counter

import pytest

from judgekit.errors import InputError
from judgekit.records import ANSWER, REFERENCE, THE_REFERENCE, Case, Check, Claim, Label, Result, Sample, Verdict
from judgekit.sampling import Unit, draw, units_of


def some_units(count):
    return [Unit.of(f"q{at // 3}", Check(claim_id=f"c{at % 3}", sources=("d1",))) for at in range(count)]


def a_claim(claim_id, side=ANSWER):
    return Claim(id=claim_id, side=side, text="A claim.", segment_ids=("s1",), start=0, end=8)


def a_verdict(claim_id, *sources, label=Label.SUPPORTED, **more):
    return Verdict(check=Check(claim_id=claim_id, sources=sources), label=label, **more)


def test_a_draw_does_not_depend_on_the_order_of_the_units():
    units = some_units(60)
    drawn = draw(units, 10, seed=7)
    for seed in range(5):
        random.Random(seed).shuffle(units)
        assert draw(iter(units), 10, seed=7) == drawn


def test_a_larger_draw_keeps_the_smaller_one_and_adds_at_its_end():
    units = some_units(60)
    for n in range(1, 60):
        assert draw(units, n + 1, seed=3)[:n] == draw(units, n, seed=3)


def test_a_draw_of_more_than_there_is_is_all_of_it():
    assert sorted(draw(some_units(4), 50, seed=1)) == sorted(some_units(4))
    assert draw([], 5, seed=1) == []


def test_another_seed_draws_other_units():
    units = some_units(60)
    assert len({tuple(draw(units, 5, seed=seed)) for seed in range(10)}) == 10


def test_every_unit_is_drawn_about_equally_often():
    units = some_units(30)
    counts = Counter(unit for seed in range(2000) for unit in draw(units, 6, seed=seed))
    expected, spread = 400, (2000 * 0.2 * 0.8) ** 0.5
    assert len(counts) == 30
    assert all(abs(count - expected) < 4.5 * spread for count in counts.values())


@pytest.mark.parametrize("n", [0, -3])
def test_a_draw_of_nothing_is_refused(n):
    with pytest.raises(InputError, match="give 1 or more"):
        draw(some_units(4), n, seed=1)


def test_units_are_what_the_judge_was_asked_also_where_it_failed():
    case = Case(
        sample=Sample(id="q1"),
        claims=(a_claim("c1"), a_claim("t1", REFERENCE)),
        verdicts=(
            a_verdict("c1", "d1", "d2"),
            a_verdict("c1", "d1", label=Label.UNJUDGED, cause="timeout"),
            a_verdict("t1", *THE_REFERENCE, label=Label.CONTRADICTED),
            a_verdict("c1", "d2", label=Label.UNSUPPORTED, reason="no text in the source"),
            a_verdict("c1", "d3", label=Label.UNSUPPORTED, reason="no quote that stands in the sources", calls=("k1",)),
            a_verdict("gone", "d1"),
        ),
    )
    units = list(units_of([Result(case=case)]))
    assert [(unit.sample_id, unit.claim_id, unit.sources) for unit in units] == [
        ("q1", "c1", ("d1", "d2")),
        ("q1", "c1", ("d1",)),
        ("q1", "t1", ("@reference",)),
        ("q1", "c1", ("d3",)),
    ]
    assert units[0].check == case.verdicts[0].check


def test_a_unit_id_is_stable_and_no_spreadsheet_takes_it_for_a_number():
    # printf '["q1", "c1", ["d1"]]' | sha256sum
    assert Unit.of("q1", Check(claim_id="c1", sources=("d1",))).unit_id == "ubce64b843627"


def test_units_that_read_alike_when_joined_are_told_apart():
    alike = [
        Unit.of("q1/c1", Check(claim_id="c2", sources=("d1",))),
        Unit.of("q1", Check(claim_id="c1/c2", sources=("d1",))),
        Unit.of("q1", Check(claim_id="c1", sources=("d1,d2",))),
        Unit.of("q1", Check(claim_id="c1", sources=("d1", "d2"))),
    ]
    assert len({unit.unit_id for unit in alike}) == 4
