"""Flips and balanced accuracy against values computed by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.stats import balanced_accuracy, binomial_tail, flip_alarm, flip_rate, wilson_interval


@pytest.mark.parametrize(
    ("labels", "rate"),
    [
        ([], None),
        ([[True]], None),
        ([[True, True, True]], 0.0),
        ([[True, True, False]], 2 / 3),  # of its three pairs two differ
        ([[True, False], [True, True]], 0.5),
        ([[True, True, False], [False], [False, False]], 1 / 3),
    ],
)
def test_the_flip_rate_is_the_share_of_differing_pairs_averaged_over_units(labels, rate) -> None:
    assert flip_rate(labels) == (None if rate is None else pytest.approx(rate))


@pytest.mark.parametrize(
    ("k", "n", "p", "chance"),
    [(0, 5, 0.3, 1.0), (1, 1, 0.25, 0.25), (2, 2, 0.5, 0.25), (2, 3, 0.5, 0.5), (4, 3, 0.5, 0.0), (1, 4, 0.0, 0.0)],
)
def test_the_binomial_tail_counts_k_and_more(k, n, p, chance) -> None:
    assert binomial_tail(k, n=n, p=p) == pytest.approx(chance)


@pytest.mark.parametrize(
    ("n", "rate", "alarm"), [(60, 0.02, 5), (60, 0.05, 8), (100, 0.02, 7), (10, 0.0, 1), (2, 0.9, 3), (0, 0.02, 1)]
)
def test_the_alarm_is_the_first_number_of_flips_that_is_rarer_than_one_in_a_hundred(n, rate, alarm) -> None:
    assert flip_alarm(n=n, rate=rate) == alarm


@given(st.integers(1, 80), st.floats(0, 1))
def test_one_flip_fewer_than_the_alarm_is_not_rare(n, rate) -> None:
    alarm = flip_alarm(n=n, rate=rate)
    assert binomial_tail(alarm, n=n, p=rate) < 0.01
    assert binomial_tail(alarm - 1, n=n, p=rate) >= 0.01


def test_balanced_accuracy_is_the_mean_of_both_rates_and_its_interval_is_made_of_theirs() -> None:
    found = balanced_accuracy(x=(9, 5), n=(10, 10))
    first, second = wilson_interval(x=9, n=10), wilson_interval(x=5, n=10)
    assert found is not None
    assert first is not None
    assert second is not None
    assert found.value == pytest.approx(0.7)
    below = ((0.9 - first.lo) ** 2 + (0.5 - second.lo) ** 2) ** 0.5 / 2
    assert found.interval.lo == pytest.approx(0.7 - below)


def test_a_class_without_units_has_no_balanced_accuracy() -> None:
    assert balanced_accuracy(x=(0, 5), n=(0, 5)) is None


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 10), st.integers(0, 10))
def test_the_interval_holds_the_value_and_stays_inside_zero_and_one(right, also_right, wrong, also_wrong) -> None:
    n = (right + wrong, also_right + also_wrong)
    found = balanced_accuracy(x=(right, also_right), n=n)
    if 0 in n:
        assert found is None
    else:
        assert found is not None
        assert 0 <= found.interval.lo <= found.value <= found.interval.hi <= 1 + 1e-12
