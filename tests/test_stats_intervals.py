"""How sure is one number: t quantiles, means of a run with their intervals, the bootstrap."""

import ast
import math
import random
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import judgekit.stats
from judgekit.errors import InputError
from judgekit.stats import bootstrap, cluster_bootstrap, cluster_ratio, macro_mean, quantile, wilson_interval
from judgekit.stats.distributions import coin_tail, norm_ppf, t_ppf, t_sf, t_two_sided_p
from judgekit.stats.inputs import NEEDS_TWO, NOTHING

T3 = 3.182446305284263  # t.ppf(.975, 3)

rows = st.lists(
    st.integers(1, 9).flatmap(lambda size: st.tuples(st.integers(0, size), st.just(size))), min_size=2, max_size=12
)
shares = st.lists(st.sampled_from([0.0, 0.1, 1 / 3, 0.5, 0.7, 1.0]), min_size=2, max_size=12)


def of_rows(counted, **options):
    return cluster_ratio(y=[y for y, _ in counted], m=[m for _, m in counted], **options)


def test_nothing_but_the_standard_library_and_the_errors_is_needed():
    for file in Path(judgekit.stats.__file__).parent.glob("*.py"):
        nodes = list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
        found = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        found |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
        outside = {name for name in found if name.split(".")[0] not in sys.stdlib_module_names}
        assert {name for name in outside if not name.startswith("judgekit.stats.")} <= {"judgekit.errors"}, file.name


def test_the_public_names_are_sorted_and_exist():
    assert judgekit.stats.__all__ == sorted(judgekit.stats.__all__)
    assert all(hasattr(judgekit.stats, name) for name in judgekit.stats.__all__)


# --- distributions ---------------------------------------------------------------------------


@pytest.mark.parametrize("p", [0.001, 0.3, 0.5, 0.9, 0.999999])
def test_t_has_a_closed_form_with_one_and_with_two_degrees_of_freedom(p):
    assert t_ppf(p, df=1) == pytest.approx(math.tan(math.pi * (p - 0.5)), rel=1e-9, abs=1e-12)
    assert t_ppf(p, df=2) == pytest.approx((2 * p - 1) / math.sqrt(2 * p * (1 - p)), rel=1e-9, abs=1e-12)


@given(st.floats(1e-6, 1 - 1e-6), st.floats(0.5, 1e5))
@settings(max_examples=60)
def test_a_t_quantile_has_that_share_below_it_and_mirrors_the_other_side(p, df):
    t = t_ppf(p, df=df)
    assert 1 - t_sf(t, df=df) == pytest.approx(p, rel=1e-7)
    assert t_sf(t, df=df) + t_sf(-t, df=df) == pytest.approx(1)
    assert t_ppf(1 - p, df=df) == pytest.approx(-t, rel=1e-6, abs=1e-9)
    assert t_two_sided_p(t, df=df) == pytest.approx(2 * min(p, 1 - p), rel=1e-7)


@pytest.mark.parametrize("df", [1e5, 9.9e6, 1e7, 1e12])
def test_t_comes_down_to_the_normal(df):
    z = norm_ppf(0.975)
    assert t_ppf(0.975, df=df) == pytest.approx(z + z * (z * z + 1) / (4 * df), abs=1e-6)
    assert t_two_sided_p(z, df=df) == pytest.approx(0.05, abs=1e-5)


def test_t_reaches_far_out():
    assert t_ppf(1 - 1e-12, df=1) == pytest.approx(1 / (math.pi * 1e-12), rel=1e-3)
    assert 0 < t_two_sided_p(40, df=100) < 1e-60


def test_a_coin_is_counted_in_whole_numbers():
    assert coin_tail(1, n=5) == (6 / 32, 5 / 32)
    assert coin_tail(0, n=2000)[0] == 0.5**1000 * 0.5**1000


@pytest.mark.parametrize("bad", [0, 1, -0.1, math.nan])
def test_a_level_lies_strictly_between_0_and_1(bad):
    for refuse in (
        lambda: norm_ppf(bad),
        lambda: t_ppf(bad, df=3),
        lambda: wilson_interval(x=1, n=2, conf=bad),
        lambda: macro_mean([1, 0], conf=bad),
    ):
        with pytest.raises(InputError, match=r"such as 0\.95"):
            refuse()


@pytest.mark.parametrize("df", [0, -1, math.nan])
def test_t_needs_degrees_of_freedom(df):
    for refuse in (lambda: t_ppf(0.9, df=df), lambda: t_sf(1, df=df), lambda: t_two_sided_p(1, df=df)):
        with pytest.raises(InputError, match="degrees of freedom"):
            refuse()


# --- means -----------------------------------------------------------------------------------


def test_wilson_by_hand():
    c2 = norm_ppf(0.975) ** 2
    assert wilson_interval(x=0, n=10) == (0.0, pytest.approx(c2 / (10 + c2)))
    assert wilson_interval(x=10, n=10) == (pytest.approx(10 / (10 + c2)), 1.0)
    assert wilson_interval(x=0, n=0) is None
    for x, n in ((-1, 3), (4, 3)):
        with pytest.raises(InputError, match="no share"):
            wilson_interval(x=x, n=n)


def test_when_every_sample_is_perfect_the_interval_still_has_a_width():
    found = cluster_ratio(y=[3, 1, 4, 2], m=[3, 1, 4, 2])
    assert (found.estimate, found.se, found.n_eff, found.df, found.hi) == (1.0, 0.0, 4.0, 3, 1.0)
    assert found.lo == pytest.approx(4 / (4 + T3**2))
    assert found.deff == 10 / 4


def test_claims_that_stand_and_fall_together_are_worth_one():
    found = cluster_ratio(y=[5, 0, 5, 0], m=[5, 5, 5, 5])
    assert found.n_eff == pytest.approx(3)  # p(1-p) / V = .25 / (4/3 * 25 / 400)
    assert found.deff == pytest.approx(20 / 3)


def test_equal_scores_have_no_spread_whatever_rounding_says():
    for value in (0.1, 0.7, 1 / 3, 0.9):
        found = macro_mean([value] * 7)
        assert (found.se, found.n_eff) == (0.0, 7.0)
    assert cluster_ratio(y=[1, 2, 3], m=[3, 6, 9]).n_eff == 3


def test_undefined_samples_are_left_out_and_counted():
    assert macro_mean([1, None, 0.5, None]) == replaced(macro_mean([1, 0.5]), undefined=2)
    assert cluster_ratio(y=[1, 0, 2], m=[2, 0, 2]) == replaced(cluster_ratio(y=[1, 2], m=[2, 2]), undefined=1)
    names = ["a", "b", "b", "c"]
    assert macro_mean([1, None, 0.5, 0], clusters=names).clusters == 3
    assert cluster_ratio(y=[1, 0, 1, 0], m=[1, 0, 2, 1], clusters=names).clusters == 3


def replaced(mean, **changes):
    return type(mean)(**{name: changes.get(name, getattr(mean, name)) for name in type(mean).__dataclass_fields__})


def test_one_sample_has_a_value_and_no_interval_and_none_has_neither():
    for alone in (macro_mean([0.5]), cluster_ratio(y=[1], m=[2]), macro_mean([0.5, 0.5], clusters=["d", "d"])):
        assert (alone.estimate, alone.clusters, alone.reason) == (0.5, 1, NEEDS_TWO)
        assert (alone.se, alone.n_eff, alone.df, alone.lo, alone.hi, alone.t_lo) == (None,) * 6
    for empty in (macro_mean([]), macro_mean([None]), cluster_ratio(y=[0], m=[0])):
        assert (empty.estimate, empty.clusters, empty.lo, empty.reason) == (None, 0, None, NOTHING)


def test_a_cluster_is_one_row_of_sums():
    y, m, names = [1, 2, 0, 4], [1, 3, 2, 4], ["d1", "d2", "d1", "d3"]
    assert cluster_ratio(y=y, m=m, clusters=names) == cluster_ratio(y=[1, 2, 4], m=[3, 3, 4])
    grouped = macro_mean([1, 0.5, 0, 1], clusters=names)
    by_hand = cluster_ratio(y=[1, 0.5, 1], m=[2, 1, 1])
    assert (grouped.lo, grouped.hi, grouped.se) == (by_hand.lo, by_hand.hi, by_hand.se)


def test_the_cap_bounds_what_the_verdicts_can_be_worth():
    scores = [0.5, 0.52, 0.48, 0.5]
    free, capped = macro_mean(scores), macro_mean(scores, cap=12)
    assert (free.n_eff > 12, capped.n_eff) == (True, 12)
    assert capped.lo < free.lo


def test_below_20_clusters_a_sample_is_small():
    assert macro_mean([0.5] * 19).is_small_sample
    assert not macro_mean([0.5] * 20).is_small_sample


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: cluster_ratio(y=[3], m=[2]), r"y\[0\] is 3 of m\[0\] = 2"),
        (lambda: cluster_ratio(y=[-1], m=[2]), "between 0 and m"),
        (lambda: cluster_ratio(y=[0], m=[-2]), "0 or more"),
        (lambda: cluster_ratio(y=[0, 1], m=[2]), "y has 2, m has 1"),
        (lambda: cluster_ratio(y=[math.nan], m=[2]), "between 0 and m"),
        (lambda: cluster_ratio(y=[1], m=[math.inf]), "leave undefined values out"),
        (lambda: macro_mean([1.2]), r"r is 1\.2"),
        (lambda: macro_mean([1.0], clusters=["a", "b"]), "clusters has 2"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(call, told):
    with pytest.raises(InputError, match=told):
        call()


@given(rows, st.randoms(use_true_random=False))
def test_an_interval_holds_its_estimate_and_the_order_of_rows_changes_no_bit(counted, rng):
    found = of_rows(counted)
    assert 0 <= found.lo <= found.estimate <= found.hi <= 1
    shuffled = list(counted)
    rng.shuffle(shuffled)
    assert of_rows(shuffled) == found


@given(rows)
def test_counting_the_unsupported_instead_mirrors_the_interval(counted):
    found, mirrored = of_rows(counted), of_rows([(m - y, m) for y, m in counted])
    ends = (found.estimate, found.se, found.lo, found.hi)
    assert ends == pytest.approx((1 - mirrored.estimate, mirrored.se, 1 - mirrored.hi, 1 - mirrored.lo), abs=1e-9)


@given(rows, st.sampled_from([0.5, 0.8, 0.9]))
def test_more_confidence_is_never_narrower(counted, conf):
    narrow, wide = of_rows(counted, conf=conf), of_rows(counted, conf=0.95)
    assert wide.lo <= narrow.lo <= narrow.hi <= wide.hi


@given(shares)
def test_with_as_many_claims_in_each_answer_micro_is_macro(scores):
    macro, micro = macro_mean(scores), cluster_ratio(y=[4 * score for score in scores], m=[4] * len(scores))
    assert (macro.estimate, macro.lo, macro.hi) == pytest.approx((micro.estimate, micro.lo, micro.hi), abs=1e-9)


@given(rows)
def test_repeating_a_sample_inside_its_cluster_adds_no_certainty(counted):
    twice = [row for row in counted for _ in range(2)]
    once, again = of_rows(counted), of_rows(twice, clusters=[at // 2 for at in range(len(twice))])
    assert (again.estimate, again.lo, again.hi) == pytest.approx((once.estimate, once.lo, once.hi), abs=1e-9)


def test_the_interval_covers_where_claims_as_independent_do_not():
    rng = random.Random(5)
    ours = naive = 0
    for _ in range(300):  # 15 answers of 5 claims, true share .9, claims of an answer correlated by .4
        chances = [rng.betavariate(0.9 * 1.5, 0.1 * 1.5) for _ in range(15)]
        y = [sum(rng.random() < chance for _ in range(5)) for chance in chances]
        found, blind = cluster_ratio(y=y, m=[5] * 15, cap=75), wilson_interval(x=sum(y), n=75)
        ours += found.lo <= 0.9 <= found.hi
        naive += blind.lo <= 0.9 <= blind.hi
    assert ours >= 0.93 * 300 > 0.85 * 300 >= naive


# --- bootstrap -------------------------------------------------------------------------------


def test_quantiles_by_hand():
    assert [quantile([1, 2, 3, 4], q) for q in (0, 0.25, 0.5, 1)] == [1, 1.75, 2.5, 4]
    with pytest.raises(InputError, match="no quantile"):
        quantile([], 0.5)


def test_the_same_seed_gives_the_same_bootstrap_and_another_one_another():
    draws = [cluster_bootstrap(y=[1, 3, 2, 0], m=[3, 3, 4, 2], seed=seed, replicates=200) for seed in (1, 1, 2)]
    assert draws[0] == draws[1] != draws[2]


def test_the_bootstrap_collapses_when_all_is_perfect_which_is_why_it_is_no_default():
    assert cluster_bootstrap(y=[2, 3], m=[2, 3], seed=1, replicates=50)[:3] == (1.0, 1.0, 0.0)


def test_each_stratum_is_resampled_to_its_own_size():
    items = ["a1", "b1", "a2", "a3", "b2"]
    seen = []
    bootstrap(
        items, lambda drawn: seen.append(sorted(item[0] for item in drawn)), seed=3, replicates=40, strata="abaab"
    )
    assert seen == [["a", "a", "a", "b", "b"]] * 40


def test_replicates_without_a_value_are_counted_and_left_out():
    found = cluster_bootstrap(y=[0, 1], m=[0, 2], seed=4, replicates=100)
    assert 0 < found.undefined < 100
    assert (found.lo, found.hi) == (0.5, 0.5)
    nothing = cluster_bootstrap(y=[0, 0], m=[0, 0], seed=4, replicates=10)
    assert nothing == (None, None, None, 10, NOTHING)
    assert cluster_bootstrap(y=[1], m=[1], seed=4) == (None, None, None, 0, NEEDS_TWO)


def test_a_bootstrap_needs_replicates():
    with pytest.raises(InputError, match="give 1 or more"):
        cluster_bootstrap(y=[1, 1], m=[1, 1], seed=1, replicates=0)
