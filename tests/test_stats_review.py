"""A human spot-check: what to draw, what it says about the score, and how far judge and humans agree."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.errors import InputError
from judgekit.stats import (
    Stratum,
    WeightedUnit,
    cohen_kappa,
    cohen_kappa_weighted_sample,
    cross_table,
    fleiss_kappa,
    gwet_ac1,
    gwet_ac1_raters,
    hash_rank,
    hash_rank_sample,
    hash_uniform,
    ht_difference_poisson,
    judge_total,
    judge_vs_human,
    krippendorff_alpha,
    neyman_allocation,
    ppi_mean,
    rogan_gladen,
    stratified_difference,
    stratified_rate,
    weighted_kappa,
)
from judgekit.stats.agreement import ONE_CATEGORY
from judgekit.stats.inputs import NEEDS_TWO, NOTHING
from judgekit.stats.transferred import BLUNT

# --- drawing ---------------------------------------------------------------------------------

ids = st.lists(st.text("abc123#", min_size=1, max_size=4), max_size=20)


@given(ids, st.integers(0, 8), st.randoms(use_true_random=False))
def test_a_draw_knows_no_order_draws_nothing_twice_and_grows_at_its_end(units, n, rng):
    drawn = hash_rank_sample(units, seed="s", stratum="h", n=n)
    assert len(drawn) == len(set(drawn)) == min(n, len(set(units)))
    assert hash_rank_sample(units, seed="s", stratum="h", n=n + 1)[:n] == drawn
    shuffled = [*units, *units]
    rng.shuffle(shuffled)
    assert hash_rank_sample(shuffled, seed="s", stratum="h", n=n) == drawn


def test_seed_and_stratum_both_move_the_draw():
    ranks = {hash_rank("q1", seed=seed, stratum=stratum) for seed in ("1", "2") for stratum in ("a", "b")}
    assert len(ranks) == 4
    assert hash_uniform("q1", seed="1") == int(hash_rank("q1", seed="1"), 16) / 2**256


def test_every_unit_is_drawn_about_equally_often():
    units = [f"u{at}" for at in range(10)]
    often = dict.fromkeys(units, 0)
    for seed in range(600):
        for unit in hash_rank_sample(units, seed=str(seed), n=3):
            often[unit] += 1
    assert all(140 < count < 220 for count in often.values())  # 180 expected, standard deviation 11


@given(
    st.lists(st.tuples(st.integers(0, 60), st.sampled_from([0.0, 0.2, 0.5])), max_size=6),
    st.integers(0, 90),
    st.integers(0, 6),
)
def test_an_allocation_keeps_its_floors_and_spends_its_budget(strata, budget, low):
    sizes = [size for size, _ in strata]
    drawn = neyman_allocation(
        budget=budget, sizes=sizes, sd_guess=[spread for _, spread in strata], min_per_stratum=low
    )
    floors = [min(low, size) for size in sizes]
    assert all(floor <= n <= size for floor, n, size in zip(floors, drawn, sizes, strict=True))
    assert sum(drawn) == min(max(budget, sum(floors)), sum(sizes))


def test_an_allocation_follows_size_times_spread_and_gives_ties_to_the_first():
    assert neyman_allocation(budget=40, sizes=[100, 100], sd_guess=[0.1, 0.3]) == (10, 30)
    # 3 and 7 are the whole parts; the one that is left goes where weight / (drawn + 1) is largest
    assert neyman_allocation(budget=11, sizes=[100, 100], sd_guess=[0.3, 0.7], min_per_stratum=0) == (3, 8)
    assert neyman_allocation(budget=21, sizes=[100, 100], sd_guess=[0.2, 0.2]) == (11, 10)
    assert neyman_allocation(budget=4, sizes=[9, 9, 2], sd_guess=[0.2, 0.2, 0.2]) == (5, 5, 2)


@given(st.lists(st.tuples(st.integers(0, 30), st.sampled_from([0.218, 0.458, 0.5])), max_size=5), st.integers(0, 6))
def test_a_larger_budget_takes_no_unit_away_from_any_stratum(strata, low):
    before = (0,) * len(strata)
    for budget in range(sum(size for size, _ in strata) + 1):
        drawn = neyman_allocation(
            budget=budget,
            sizes=[size for size, _ in strata],
            sd_guess=[spread for _, spread in strata],
            min_per_stratum=low,
        )
        assert all(n >= was for n, was in zip(drawn, before, strict=True))
        before = drawn


def test_equal_strata_in_any_number_are_served_in_turn():
    # both once failed: by which of two equals gives back, and by 20 x 0.218 / 6 being no longer 300 x 0.218 / 90
    for sizes, spread in (([20, 10, 20, 10, 3], 0.5), ([20, 10, 20, 300], 0.218)):
        drawn = [
            neyman_allocation(budget=budget, sizes=sizes, sd_guess=[spread] * len(sizes)) for budget in range(30, 110)
        ]
        assert all(n >= was for before, now in pairwise(drawn) for n, was in zip(now, before, strict=True))


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: hash_rank_sample(["a"], seed="s", n=-1), "give 0 or more"),
        (lambda: neyman_allocation(budget=-1, sizes=[1], sd_guess=[1]), "budget -1"),
        (lambda: neyman_allocation(budget=1, sizes=[-1], sd_guess=[1]), r"sizes\[0\] is -1"),
        (lambda: neyman_allocation(budget=1, sizes=[1], sd_guess=[1, 1]), "sd_guess has 2"),
    ],
)
def test_draws_that_make_no_sense_are_refused(call, told):
    with pytest.raises(InputError, match=told):
        call()


# --- corrected scores ------------------------------------------------------------------------


def reviewed(stratum, size, labels, *, f, w):
    """A stratum of `size` units with judge value f, the first of them labelled."""
    padded = [*labels, *[None] * (size - len(labels))]
    return [WeightedUnit(w=w, f=f, y=y, stratum=stratum) for y in padded]


def test_a_corrected_rate_by_hand():
    found = stratified_rate([Stratum(30, 10, 9), Stratum(10, 5, 1)])
    assert found.estimate == pytest.approx((30 * 0.9 + 10 * 0.2) / 40)
    variance = (0.75**2 * (2 / 3) * 0.09 / 9) + (0.25**2 * 0.5 * 0.16 / 4)
    assert (found.se_design, found.reviewed) == (pytest.approx(math.sqrt(variance)), 15)
    q1, q2 = 9.5 / 11, 1.5 / 6
    smoothed = 0.75**2 * (2 / 3) * q1 * (1 - q1) / 11 + 0.25**2 * 0.5 * q2 * (1 - q2) / 6
    assert found.se_smoothed == pytest.approx(math.sqrt(smoothed))


def test_agreement_of_the_whole_review_still_leaves_an_interval_and_a_census_none():
    part = stratified_rate([Stratum(50, 10, 10)])
    assert (part.estimate, part.se_design, part.n_eff, part.hi) == (1, 0, 10, 1)
    assert 0.6 < part.lo < 0.8
    census = stratified_rate([Stratum(4, 4, 3), Stratum(1, 1, 0)])
    assert (census.estimate, census.lo, census.hi, census.se_smoothed, census.n_eff) == (0.6, 0.6, 0.6, 0, 5)


def test_one_label_of_several_units_shows_no_textbook_spread():
    assert stratified_rate([Stratum(5, 1, 1)]).se_design is None
    assert stratified_difference(reviewed("h", 5, [1], f=1, w=0.2)).se_design is None
    assert stratified_rate([Stratum(5, 1, 1)]).se_smoothed > 0


def test_a_stratum_that_nobody_reviewed_leaves_no_estimate_and_an_empty_one_is_nothing():
    for found in (
        stratified_rate([Stratum(5, 5, 2), Stratum(3, 0, 0)]),
        stratified_difference([*reviewed("a", 2, [1], f=1, w=0.25), *reviewed("b", 2, [], f=0, w=0.25)]),
    ):
        assert (found.estimate, found.lo, found.reason) == (None, None, "a stratum has no human label")
    assert stratified_rate([Stratum(8, 4, 2), Stratum(0, 0, 0)]) == stratified_rate([Stratum(8, 4, 2)])
    for empty in (stratified_rate([]), stratified_rate([Stratum(0, 0, 0)]), stratified_difference([])):
        assert (empty.estimate, empty.reviewed, empty.reason) == (None, 0, NOTHING)


strata = st.integers(2, 12).flatmap(
    lambda size: st.integers(2, size).flatmap(lambda n: st.tuples(st.just(size), st.just(n), st.integers(0, n)))
)


@given(strata, strata)
def test_with_equal_weights_both_estimators_are_one(supported, unsupported):
    total = supported[0] + unsupported[0]
    units = [
        unit
        for name, f, (size, n, x) in (("sup", 1, supported), ("uns", 0, unsupported))
        for unit in reviewed(name, size, [1] * x + [0] * (n - x), f=f, w=1 / total)
    ]
    rate = stratified_rate([Stratum(*supported), Stratum(*unsupported)])
    difference = stratified_difference(units)
    assert (difference.estimate, difference.se_design) == pytest.approx((rate.estimate, rate.se_design), abs=1e-9)
    assert 0 <= rate.lo <= rate.estimate <= rate.hi <= 1
    assert 0 <= difference.lo <= difference.hi <= 1


@given(st.lists(st.tuples(st.sampled_from([0.0, 1.0]), st.sampled_from([0.0, 1.0])), min_size=1, max_size=12))
def test_a_review_of_everything_gives_the_human_mean(both):
    units = [WeightedUnit(w=1 / len(both), f=f, y=y, stratum=str(f)) for f, y in both]
    found = stratified_difference(units)
    assert found.estimate == pytest.approx(sum(y for _, y in both) / len(both))
    assert found.lo == found.hi
    poisson = ht_difference_poisson(
        y=[y for _, y in both], f=[f for f, _ in both], pi=[1] * len(both), f_all=[f for f, _ in both]
    )
    assert (poisson.estimate, poisson.se, poisson.hajek) == pytest.approx((found.estimate, 0, found.estimate))


def test_weights_that_add_up_to_1_only_nearly_do_not_blow_the_interval_up():
    units = reviewed("sup", 49, [1] * 20, f=1, w=1 / 49)
    assert judge_total(units) != 1
    found = stratified_difference(units)
    assert (found.n_eff, found.hi) == (20, 1)
    assert 0.8 < found.lo < 0.9


def test_a_correction_beyond_1_is_told_and_its_interval_kept_inside():
    units = [*reviewed("a", 9, [1, 1, 0], f=0, w=0.05), *reviewed("b", 11, [1, 1], f=1, w=0.09)]
    found = stratified_difference(units)
    assert found.estimate == pytest.approx(0.99 + 9 * 2 / 3 * 0.05)
    assert found.estimate > 1 >= found.hi > found.lo


def test_a_sample_drawn_elsewhere_by_hand():
    found = ht_difference_poisson(y=[0], f=[1], pi=[0.5], f_all=[1, 1, 1, 0])
    assert found == (0.75 - 2 / 4, pytest.approx(math.sqrt(0.5 * 4) / 4), 0.75 - 1)
    assert ht_difference_poisson(y=[], f=[], pi=[], f_all=[1, 0]) == (0.5, 0, None)
    assert ht_difference_poisson(y=[], f=[], pi=[], f_all=[]) is None


def test_a_perfect_judge_needs_no_carrying_over_and_a_blunt_one_is_refused():
    perfect = rogan_gladen(p=0.7, spec=1, sens=1, n=100, m_neg=50, m_pos=50)
    assert perfect.estimate == 0.7
    assert 0 <= perfect.lo < 0.7 < perfect.hi <= 1
    assert rogan_gladen(p=0.99, spec=0.6, sens=0.9, n=100, m_neg=50, m_pos=50).estimate == 1
    assert rogan_gladen(p=0.1, spec=0.6, sens=0.9, n=100, m_neg=50, m_pos=50).estimate == 0
    blunt = rogan_gladen(p=0.5, spec=0.55, sens=0.6, n=100, m_neg=50, m_pos=50)
    assert blunt == (None, None, None, BLUNT)
    # hardly any labels: smoothing takes what the judge's numbers promise
    assert rogan_gladen(p=0.5, spec=0.2, sens=1, n=100, m_neg=1000, m_pos=1).reason == BLUNT


def test_prediction_powered_means_by_hand():
    y, labelled, others = [1, 0, 1, 0], [1, 0, 1, 1], [1, 0]
    tuned = ppi_mean(y=y, f_labeled=labelled, f_unlabeled=others)
    assert tuned.lam == pytest.approx(0.15625)  # cov .125 / ((1 + 4/2) * var 4/15)
    assert tuned.estimate == pytest.approx(0.15625 * 0.5 + 0.5 - 0.15625 * 0.75)
    ignored = ppi_mean(y=y, f_labeled=labelled, f_unlabeled=others, lam=0)
    assert (ignored.estimate, ignored.se) == (0.5, 0.25)
    full = ppi_mean(y=y, f_labeled=labelled, f_unlabeled=others, lam=1)
    assert (full.estimate, full.se) == pytest.approx((0.25, math.sqrt(0.25 / 2 + 0.1875 / 4)))
    assert ppi_mean(y=y, f_labeled=[1] * 4, f_unlabeled=[1, 1]).lam == 0
    assert ppi_mean(y=y, f_labeled=[0, 1, 0, 1], f_unlabeled=[1, 0]).lam == 0  # a judge that errs the other way round
    for few in (
        ppi_mean(y=[1], f_labeled=[1], f_unlabeled=others),
        ppi_mean(y=y, f_labeled=labelled, f_unlabeled=[]),
    ):
        assert (few.estimate, few.lo, few.reason) == (None, None, NEEDS_TWO)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: stratified_rate([Stratum(5, 6, 1)]), "x <= n <= N"),
        (lambda: stratified_rate([Stratum(5, 2, 3)]), "x <= n <= N"),
        (lambda: stratified_difference([WeightedUnit(-1, 1, 1, "h")]), r"w\[0\] is -1"),
        (lambda: stratified_difference([WeightedUnit(1, 2, 1, "h")]), "f is 2"),
        (lambda: stratified_difference([WeightedUnit(1, 1, 2, "h")]), "y is 2"),
        (lambda: ht_difference_poisson(y=[1], f=[1], pi=[0], f_all=[1]), r"pi\[0\] is 0"),
        (lambda: ht_difference_poisson(y=[1], f=[1], pi=[1, 1], f_all=[1]), "pi has 2"),
        (lambda: rogan_gladen(p=1.1, spec=1, sens=1, n=9, m_neg=9, m_pos=9), r"p is 1\.1"),
        (lambda: rogan_gladen(p=1, spec=1, sens=1, n=9, m_neg=0, m_pos=9), "m_neg is 0"),
        (lambda: ppi_mean(y=[1, 0], f_labeled=[1], f_unlabeled=[1]), "f_labeled has 1"),
        (lambda: ppi_mean(y=[1, 0], f_labeled=[1, 1], f_unlabeled=[1], lam=2), "lam is 2"),
    ],
)
def test_corrections_that_make_no_sense_are_refused(call, told):
    with pytest.raises(InputError, match=told):
        call()


# --- agreement -------------------------------------------------------------------------------

tables = st.integers(2, 4).flatmap(
    lambda q: st.lists(st.lists(st.integers(0, 9), min_size=q, max_size=q), min_size=q, max_size=q)
)


def coefficients(table):
    return (cohen_kappa(table).kappa, gwet_ac1(table).ac1)


@given(tables)
def test_coefficients_care_neither_who_is_a_nor_what_categories_are_called_nor_about_scale(table):
    found = coefficients(table)
    assert all(value is None or -1 - 1e-9 <= value <= 1 + 1e-9 for value in found)
    flipped = [list(column) for column in zip(*table, strict=True)]
    renamed = [row[::-1] for row in table[::-1]]
    scaled = [[2.5 * entry for entry in row] for row in table]
    for other in (flipped, renamed, scaled):
        assert coefficients(other) == pytest.approx(found, abs=1e-9)
    for weights in ("linear", "quadratic"):
        kappa = weighted_kappa(table, weights=weights).kappa
        assert weighted_kappa(renamed, weights=weights).kappa == pytest.approx(kappa, abs=1e-9)


@given(st.lists(st.integers(0, 9), min_size=4, max_size=4))
def test_with_two_categories_there_is_nothing_to_weigh(entries):
    table = [entries[:2], entries[2:]]
    for weights in ("linear", "quadratic"):
        assert weighted_kappa(table, weights=weights).kappa == pytest.approx(cohen_kappa(table).kappa, abs=1e-9)


def test_a_weighted_kappa_gives_partial_credit():
    near, far = [[1, 1, 0], [0, 1, 0], [0, 0, 1]], [[1, 0, 1], [0, 1, 0], [0, 0, 1]]
    assert weighted_kappa(near, weights="linear")[2:4] == (1 - 0.25 / 2, pytest.approx(1 - 7 / 16))
    assert weighted_kappa(near, weights="quadratic").po == 1 - 0.25 / 4
    assert weighted_kappa(far, weights="linear").po == weighted_kappa(far, weights="quadratic").po == 0.75


def test_kappa_and_ac1_part_ways_when_one_category_is_rare():
    kappa, ac1 = cohen_kappa([[118, 5], [2, 0]]), gwet_ac1([[118, 5], [2, 0]])
    assert (kappa.po, ac1.pa) == (pytest.approx(0.944), pytest.approx(0.944))
    assert (round(kappa.kappa, 3), round(ac1.ac1, 3)) == (-0.023, 0.941)
    assert (round(cohen_kappa([[130, 56], [9, 5]]).kappa, 3), cohen_kappa([[130, 56], [9, 5]]).po) == (0.022, 0.675)


def test_full_agreement_is_1_and_agreement_without_choice_is_nothing():
    assert (cohen_kappa([[3, 0], [0, 2]]).kappa, cohen_kappa([[3, 0], [0, 2]]).se) == (1, 0)
    assert (gwet_ac1([[3, 0], [0, 2]]).ac1, gwet_ac1([[3, 0], [0, 2]]).se) == (1, 0)
    for only in (cohen_kappa([[3, 0], [0, 0]]), weighted_kappa([[0, 0], [0, 3]], weights="linear"), cohen_kappa([[3]])):
        assert (only.kappa, only.se, only.reason) == (None, None, ONE_CATEGORY)
        assert (only.po, only.pe) == (1, 1)
    assert gwet_ac1([[3, 0], [0, 0]]).ac1 == 1
    assert gwet_ac1([[3]]).reason == ONE_CATEGORY
    for empty in (cohen_kappa([]), cohen_kappa([[0, 0], [0, 0]]), weighted_kappa([], weights="linear"), gwet_ac1([])):
        assert (empty[0], empty.reason) == (None, NOTHING)


def test_a_cross_table_counts_or_weighs_and_knows_categories_nobody_used():
    a, b = ["yes", "no", "yes"], ["yes", "yes", "no"]
    assert cross_table(a=a, b=b) == [[1, 1], [1, 0]]
    assert cross_table(a=a, b=b, sample_weight=[2, 0.5, 1]) == [[2, 1], [0.5, 0]]
    assert cross_table(a=a, b=b, categories=["no", "maybe", "yes"]) == [[0, 0, 1], [0, 0, 0], [1, 0, 1]]
    weighed = cohen_kappa(cross_table(a=a, b=b, sample_weight=[2, 0.5, 1])).kappa
    assert cohen_kappa_weighted_sample(a=a, b=b, sample_weight=[2, 0.5, 1]) == weighed


PUBLISHED = [  # Krippendorff 2011, four observers and twelve units
    [1, 1, None, 1],
    [2, 2, 3, 2],
    [3, 3, 3, 3],
    [3, 3, 3, 3],
    [2, 2, 2, 2],
    [1, 2, 3, 4],
    [4, 4, 4, 4],
    [1, 1, 2, 1],
    [2, 2, 2, 2],
    [None, 5, 5, 5],
    [None, None, 1, 1],
    [None, 3, None, None],
]


@pytest.mark.parametrize(("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_of_the_published_example(level, alpha):
    assert round(krippendorff_alpha(PUBLISHED, level=level).alpha, 3) == alpha
    backwards = [row[::-1] for row in reversed(PUBLISHED)]
    assert krippendorff_alpha(backwards, level=level) == krippendorff_alpha(PUBLISHED, level=level)


def test_alpha_needs_pairs_and_more_than_one_value():
    assert krippendorff_alpha([[1, None], [None, 2]], level="nominal") == (None, NOTHING)
    assert krippendorff_alpha([], level="ordinal") == (None, NOTHING)
    assert krippendorff_alpha([[1, 1], [1, 1], [2, None]], level="interval") == (None, ONE_CATEGORY)
    assert krippendorff_alpha([[1, 1], [2, 2]], level="ordinal").alpha == 1


def test_fleiss_kappa_of_the_published_example():
    # ten subjects, fourteen raters, five categories: kappa .210, mean agreement .378
    counts = [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
    found = fleiss_kappa(counts)
    assert (round(found.kappa, 3), round(1 - found.pairwise_disagreement, 3)) == (0.210, 0.378)
    assert fleiss_kappa([[3, 0], [3, 0]]) == (None, 0, ONE_CATEGORY)
    assert fleiss_kappa([]) == (None, None, NOTHING)


def test_ac1_of_two_raters_is_the_same_from_a_table_and_from_ratings():
    ratings = [["y", "y"]] * 6 + [["y", "n"]] * 2 + [["n", "n"]]
    table = cross_table(a=[a for a, _ in ratings], b=[b for _, b in ratings])
    assert gwet_ac1_raters(ratings).ac1 == pytest.approx(gwet_ac1(table).ac1)
    with_singles = gwet_ac1_raters([*ratings, ["n", None], [None, None]])
    assert with_singles.pa == pytest.approx(7 / 9)
    assert with_singles.pe > gwet_ac1_raters(ratings).pe  # a lone rating tells how common a label is
    assert gwet_ac1_raters([["y", "y"]]).reason == ONE_CATEGORY
    assert gwet_ac1_raters([["y", "y"]], categories=["y", "n"]).ac1 == 1
    assert gwet_ac1_raters([["y", None]]).reason == NOTHING


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: cohen_kappa([[1, 2]]), "square"),
        (lambda: cohen_kappa([[1, -2], [0, 1]]), "0 or more"),
        (lambda: cross_table(a=["x"], b=["x", "y"]), "b has 2"),
        (lambda: cross_table(a=["x"], b=["y"], categories=["x"]), "label 'y' is none"),
        (lambda: gwet_ac1_raters([["x", "y"]], categories=["x"]), "rating 'y' is none"),
        (lambda: krippendorff_alpha([[1, math.nan]], level="nominal"), "is nan"),
        (lambda: fleiss_kappa([[2, 1], [1, 1]]), "same number of calls"),
        (lambda: fleiss_kappa([[1, 0]]), "at least two"),
        (lambda: fleiss_kappa([[3, 0], [3]]), "same number of calls"),
        (lambda: fleiss_kappa([[4, -1]]), "0 or more"),
        (lambda: judge_vs_human(human=[0], judge=[0], sample_weight=[-1]), "0 or more"),
        (lambda: judge_vs_human(human=[0, 1], judge=[0]), "judge has 1"),
    ],
)
def test_tables_that_make_no_sense_are_refused(call, told):
    with pytest.raises(InputError, match=told):
        call()


# --- judge against human ---------------------------------------------------------------------


def test_a_judge_that_never_flags_has_high_accuracy_and_finds_nothing():
    found = judge_vs_human(human=[0] * 4 + [1] * 96, judge=[1] * 100)
    assert (found.tp, found.fp, found.fn, found.tn) == (0, 0, 4, 96)
    assert (found.accuracy, found.recall, found.specificity, found.precision) == (0.96, 0, 1, None)
    assert (found.f1, found.balanced_accuracy, found.mcc) == (0, 0.5, 0)


def test_rates_without_a_denominator_are_none_never_0_or_1():
    nothing = judge_vs_human(human=[], judge=[])
    rates = ("accuracy", "precision", "recall", "specificity", "f1", "balanced_accuracy", "mcc")
    assert [getattr(nothing, rate) for rate in rates] == [None] * 7
    all_fine = judge_vs_human(human=[1, 1], judge=[1, 1])
    assert (all_fine.accuracy, all_fine.recall, all_fine.f1, all_fine.balanced_accuracy, all_fine.mcc) == (
        1,
        None,
        None,
        None,
        0,
    )


labelled = st.lists(st.tuples(st.sampled_from([0, 1]), st.sampled_from([0, 1]), st.integers(1, 4)), max_size=20)


@given(labelled)
def test_a_weight_is_so_many_units(units):
    human, judge, weight = ([unit[at] for unit in units] for at in range(3))
    spread = [(truth, said) for truth, said, times in units for _ in range(times)]
    weighed = judge_vs_human(human=human, judge=judge, sample_weight=weight)
    counted = judge_vs_human(human=[truth for truth, _ in spread], judge=[said for _, said in spread])
    assert weighed == counted


@given(labelled)
def test_looking_from_the_other_class_swaps_the_rates(units):
    human, judge = [unit[0] for unit in units], [unit[1] for unit in units]
    defects, rest = judge_vs_human(human=human, judge=judge), judge_vs_human(human=human, judge=judge, positive=1)
    assert (defects.recall, defects.mcc, defects.balanced_accuracy) == (
        rest.specificity,
        rest.mcc,
        rest.balanced_accuracy,
    )


def test_the_correlation_by_hand():
    assert judge_vs_human(human="aaabbb", judge="aabbba", positive="a").mcc == pytest.approx((2 * 2 - 1 * 1) / 9)
    assert judge_vs_human(human="aaabb", judge="aaabb", positive="a").mcc == 1
    assert judge_vs_human(human="aaabb", judge="bbbaa", positive="a").mcc == -1
