"""Did it change, could luck alone do that, and how many questions would show it."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgekit.errors import InputError
from judgekit.stats import (
    holm,
    mcnemar,
    mde_paired,
    n_required_paired,
    paired_mean_diff,
    paired_ratio_diff,
    signflip_exact_p,
    signflip_p,
    unpaired_mean_diff,
)
from judgekit.stats.differences import NO_CHANGE, NO_SPREAD
from judgekit.stats.inputs import NEEDS_TWO, NOTHING

shares = st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.6, 0.9, 1.0])
pairs = st.lists(st.tuples(shares, shares), min_size=2, max_size=12)
changes = st.lists(st.sampled_from([-0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.5]), max_size=9)


def of_pairs(both, **options):
    return paired_mean_diff(a=[a for a, _ in both], b=[b for _, b in both], **options)


# --- two runs --------------------------------------------------------------------------------


def test_a_paired_comparison_by_hand():
    found = paired_mean_diff(a=[0.5, 0.5, 0.5, 0.5], b=[0.5, 0.7, 0.5, 0.7])  # d = 0, .2, 0, .2
    sd = 0.2 / math.sqrt(3)
    assert (found.delta, found.n, found.df) == (pytest.approx(0.1), 4, 3)
    assert (found.sd_diff, found.se, found.t) == pytest.approx((sd, sd / 2, math.sqrt(3)))
    assert (found.lo, found.hi) == pytest.approx((0.1 - 3.182446305 * sd / 2, 0.1 + 3.182446305 * sd / 2))


def test_when_nothing_changed_p_is_1_and_the_interval_is_0():
    same = [1, 0.3, 0.7]
    for found in (
        paired_mean_diff(a=same, b=same),
        paired_ratio_diff(ya=[1, 2, 1], ma=[2, 2, 3], yb=[1, 2, 1], mb=[2, 2, 3]),
    ):
        assert (found.delta, found.lo, found.hi, found.t) == (0, 0, 0, None)
        assert (found.p, found.p_less, found.p_greater) == (1, 1, 1)
        assert (found.is_degenerate, found.reason) == (True, NO_CHANGE)


def test_when_all_questions_changed_alike_p_counts_the_signs_whatever_rounding_says():
    dropped = paired_mean_diff(a=[0.9, 0.5, 0.3, 0.2], b=[0.8, 0.4, 0.2, 0.1])  # the differences differ in the last bit
    assert (dropped.delta, dropped.se, dropped.t) == (pytest.approx(-0.1), 0, None)
    assert (dropped.p, dropped.p_less, dropped.p_greater) == (2 / 16, 1 / 16, 1)
    assert dropped.lo == dropped.hi == dropped.delta
    assert (dropped.is_degenerate, dropped.reason) == (True, NO_SPREAD)
    risen = paired_ratio_diff(ya=[1, 2], ma=[2, 4], yb=[2, 4], mb=[2, 4])
    assert (risen.delta, risen.p, risen.p_less, risen.p_greater) == (0.5, 0.5, 1, 0.25)


def test_one_question_has_a_difference_and_no_test_and_none_has_neither():
    for alone in (
        paired_mean_diff(a=[0.2], b=[0.5]),
        paired_ratio_diff(ya=[2], ma=[10], yb=[5], mb=[10]),
        paired_mean_diff(a=[0.2, 0.2], b=[0.5, 0.5], clusters=["d", "d"]),
        unpaired_mean_diff(a=[0.2], b=[0.4, 0.6]),
    ):
        assert alone.delta == pytest.approx(0.3)
        assert (alone.se, alone.p, alone.p_less, alone.lo, alone.reason) == (None, None, None, None, NEEDS_TWO)
    for empty in (
        paired_mean_diff(a=[], b=[]),
        paired_ratio_diff(ya=[0], ma=[0], yb=[1], mb=[1]),
        unpaired_mean_diff(a=[], b=[1]),
    ):
        assert (empty.delta, empty.p, empty.reason) == (None, None, NOTHING)
    assert (paired_mean_diff(a=[], b=[]).n, unpaired_mean_diff(a=[], b=[1]).n) == (0, 0)


@given(pairs)
def test_swapping_the_runs_turns_the_sign_and_the_tails(both):
    found, swapped = of_pairs(both), of_pairs([(b, a) for a, b in both])
    assert (swapped.p, swapped.p_less, swapped.p_greater) == pytest.approx((found.p, found.p_greater, found.p_less))
    assert (swapped.delta, swapped.lo, swapped.hi) == pytest.approx((-found.delta, -found.hi, -found.lo))


@given(pairs)
def test_the_two_tails_are_one_whole_and_p_is_twice_the_smaller(both):
    found = of_pairs(both)
    if not found.is_degenerate:
        assert found.p_less + found.p_greater == pytest.approx(1)
    assert found.p == pytest.approx(min(1, 2 * min(found.p_less, found.p_greater)))
    assert (found.p < 0.05) == (not found.lo <= 0 <= found.hi) or found.is_degenerate


@given(pairs)
def test_with_as_many_claims_in_each_answer_the_ratio_comparison_is_the_paired_t(both):
    macro = of_pairs(both)
    sizes = [4] * len(both)
    micro = paired_ratio_diff(ya=[4 * a for a, _ in both], ma=sizes, yb=[4 * b for _, b in both], mb=sizes)
    assert (micro.delta, micro.se, micro.p) == pytest.approx((macro.delta, macro.se, macro.p), rel=1e-6, abs=1e-9)


@given(pairs)
def test_repeating_a_question_inside_its_cluster_adds_no_certainty(both):
    twice = [pair for pair in both for _ in range(2)]
    once, again = of_pairs(both), of_pairs(twice, clusters=[at // 2 for at in range(len(twice))])
    assert (again.delta, again.se, again.df, again.p) == pytest.approx((once.delta, once.se, once.df, once.p), abs=1e-9)
    sizes = [2] * len(twice)
    before, after = [2 * a for a, _ in twice], [2 * b for _, b in twice]
    pooled = paired_ratio_diff(ya=before, ma=sizes, yb=after, mb=sizes, clusters=[at // 2 for at in range(len(twice))])
    assert (pooled.se, pooled.p) == pytest.approx((once.se, once.p), abs=1e-9)


@given(pairs, st.randoms(use_true_random=False))
def test_the_order_of_questions_changes_nothing(both, rng):
    shuffled = list(both)
    rng.shuffle(shuffled)
    assert of_pairs(shuffled) == of_pairs(both)


def test_a_question_counts_in_a_ratio_on_the_side_where_it_has_claims():
    with_both_empty = paired_ratio_diff(ya=[1, 0, 2], ma=[2, 0, 2], yb=[2, 0, 1], mb=[2, 0, 3])
    assert with_both_empty == paired_ratio_diff(ya=[1, 2], ma=[2, 2], yb=[2, 1], mb=[2, 3])
    one_empty = paired_ratio_diff(ya=[1, 0, 2], ma=[2, 0, 2], yb=[2, 1, 1], mb=[2, 4, 3])
    assert (one_empty.n, one_empty.delta) == (3, pytest.approx(4 / 9 - 3 / 4))


def test_welch_without_spread_says_so():
    same = unpaired_mean_diff(a=[0.3, 0.3], b=[0.3, 0.3, 0.3])
    assert (same.delta, same.p, same.lo, same.hi, same.reason) == (0, 1, 0, 0, NO_SPREAD)
    assert unpaired_mean_diff(a=[0, 0], b=[0, 0]).p == 1
    apart = unpaired_mean_diff(a=[0.3, 0.3], b=[0.5, 0.5])
    assert (apart.delta, apart.p, apart.p_less, apart.reason) == (pytest.approx(0.2), None, None, NO_SPREAD)
    assert apart.lo == apart.hi == apart.delta


def test_welch_with_equal_spread_and_size_is_students_test():
    found = unpaired_mean_diff(a=[0.1, 0.2, 0.3], b=[0.4, 0.5, 0.6])
    assert (found.df, found.t, found.sd_diff) == (pytest.approx(4), pytest.approx(0.3 / math.sqrt(0.02 / 3)), None)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: paired_mean_diff(a=[1, 1], b=[1]), "a has 2, b has 1"),
        (lambda: paired_mean_diff(a=[1, math.nan], b=[1, 1]), r"a\[1\] is nan"),
        (lambda: paired_ratio_diff(ya=[3], ma=[2], yb=[1], mb=[1]), "counts 3 of 2"),
        (lambda: paired_ratio_diff(ya=[-1], ma=[2], yb=[1], mb=[1]), "give 0 or more"),
        (lambda: unpaired_mean_diff(a=[1, 1], b=[1, math.inf]), r"b\[1\] is inf"),
        (lambda: paired_mean_diff(a=[1, 0], b=[0, 1], conf=1), "between 0 and 1"),
    ],
)
def test_numbers_that_cannot_be_compared_are_refused(call, told):
    with pytest.raises(InputError, match=told):
        call()


# --- exact tests -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("d", "p"),
    [
        ([1, 2, 3], 2 / 8),  # only +++ and ---
        ([1, 2, -3], 1),  # the observed sum is 0
        ([0.1, 0.2, -0.3], 1),  # and so it is in floating point
        ([1, 1, 1, -1], 10 / 16),  # |sum| >= 2: all but the six of two and two
        ([0.5, 0, 0], 1),
        ([], 1),
    ],
)
def test_sign_flips_by_hand(d, p):
    assert signflip_exact_p(d) == p
    assert signflip_p(d, seed=1) == (p, True)


@given(changes)
def test_zeros_and_the_overall_sign_change_no_sign_flip_p(d):
    p = signflip_exact_p(d)
    assert 0 < p <= 1
    assert signflip_exact_p([*d, 0.0]) == p == signflip_exact_p([-change for change in d])


@given(changes.filter(any))
@settings(max_examples=10)
def test_the_monte_carlo_comes_near_the_exact_p(d):
    near, is_exact = signflip_p(d, seed=11, replicates=2000, exact_up_to=0)
    assert not is_exact
    assert near == pytest.approx(signflip_exact_p(d), abs=0.06)


def test_many_questions_are_drawn_with_the_seed_and_p_is_never_0():
    d = [0.1] * 15
    assert signflip_p(d, seed=3, replicates=99) == (1 / 100, False) == signflip_p(d, seed=3, replicates=99)
    assert signflip_p(d[:14], seed=3) == (2 / 2**14, True)
    assert signflip_p([0.1] * 40, seed=3) == (1 / 10000, False)
    mixed = [0.1, -0.2] * 10
    assert signflip_p(mixed, seed=3, replicates=99) != signflip_p(mixed, seed=4, replicates=99)
    with pytest.raises(InputError, match="signflip_p"):
        signflip_exact_p([0.1] * 21)
    with pytest.raises(InputError, match="give 1 or more"):
        signflip_p(d, seed=3, replicates=0)


def test_mcnemar_by_hand():
    assert mcnemar(b=1, c=4) == (12 / 32, 12 / 32 - 5 / 32)
    assert mcnemar(b=4, c=1) == mcnemar(b=1, c=4)
    assert mcnemar(b=3, c=3) == (1, 1)
    with pytest.raises(InputError, match="no counts"):
        mcnemar(b=-1, c=2)


@given(st.integers(0, 6), st.integers(0, 6))
def test_exact_mcnemar_is_the_sign_flip_of_passes_and_failures(b, c):
    assert mcnemar(b=b, c=c).p_exact == pytest.approx(signflip_exact_p([1.0] * b + [-1.0] * c))
    assert mcnemar(b=b, c=c).p_mid <= mcnemar(b=b, c=c).p_exact


def test_holm_by_hand_and_what_has_no_test_stays_out():
    assert holm([0.01, None, 0.04, 0.03]) == pytest.approx((0.03, None, 0.06, 0.06))
    assert holm([]) == ()
    assert holm([None]) == (None,)
    with pytest.raises(InputError, match=r"in \[0, 1\]"):
        holm([1.5])


@given(st.lists(st.floats(0, 1), max_size=8), st.randoms(use_true_random=False))
def test_holm_lies_between_the_p_and_bonferroni_and_keeps_every_order(p, rng):
    adjusted = holm(p)
    assert all(raw <= up <= min(1, len(p) * raw) for raw, up in zip(p, adjusted, strict=True))
    order = list(range(len(p)))
    rng.shuffle(order)
    assert holm([p[at] for at in order]) == tuple(adjusted[at] for at in order)
    by_raw = [up for _, up in sorted(zip(p, adjusted, strict=True))]
    assert by_raw == sorted(by_raw)


# --- planning --------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "mde"), [(20, 0.157), (50, 0.099), (100, 0.070), (200, 0.050), (500, 0.031)])
def test_what_a_set_of_questions_can_show(n, mde):
    assert mde_paired(sd_diff=0.25, n=n) == pytest.approx(mde, abs=5e-4)


@given(st.floats(0.05, 0.6), st.floats(0.02, 0.3), st.sampled_from([0.8, 0.9]))
def test_the_required_number_of_questions_is_the_first_that_suffices(sd, delta, power):
    n = n_required_paired(sd_diff=sd, delta=delta, power=power)
    assert mde_paired(sd_diff=sd, n=n, power=power) <= delta * (1 + 1e-9)
    if n > 1:
        assert mde_paired(sd_diff=sd, n=n - 1, power=power) > delta
    assert n_required_paired(sd_diff=sd, delta=-delta, power=power) == n


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: mde_paired(sd_diff=0.2, n=0), "at least one question"),
        (lambda: mde_paired(sd_diff=-0.2, n=5), "0 or more"),
        (lambda: mde_paired(sd_diff=0.2, n=5, power=1), "power is 1"),
        (lambda: n_required_paired(sd_diff=0.2, delta=0), "delta is 0"),
        (lambda: n_required_paired(sd_diff=0.2, delta=0.1, alpha=0), "alpha is 0"),
    ],
)
def test_a_plan_of_nothing_is_refused(call, told):
    with pytest.raises(InputError, match=told):
        call()
