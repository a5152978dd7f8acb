"""Does a score rank: laws that the vectors of the outside tool do not state."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.errors import InputError
from judgekit.stats import auc
from judgekit.stats.inputs import FEWEST
from judgekit.stats.ranking import ONE_CLASS

units = st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=2, max_size=30)


@given(units)
def test_only_the_order_of_the_scores_counts(rows):
    scores, classes = [score for score, _ in rows], [positive for _, positive in rows]
    found = auc(scores=scores, is_positive=classes)
    bent = auc(scores=[score**3 + 7 for score in scores], is_positive=classes)
    back = auc(scores=scores[::-1], is_positive=classes[::-1])
    assert found == bent == back


@given(units)
def test_scores_upside_down_and_classes_swapped_are_the_complement(rows):
    scores, classes = [score for score, _ in rows], [positive for _, positive in rows]
    found = auc(scores=scores, is_positive=classes)
    for other in (
        auc(scores=[-score for score in scores], is_positive=classes),
        auc(scores=scores, is_positive=[not positive for positive in classes]),
    ):
        if found.auc is None:
            assert (other.auc, other.reason) == (None, ONE_CLASS)
        else:
            assert other.auc == pytest.approx(1 - found.auc)
            assert other.se == pytest.approx(found.se)


def test_by_hand():
    # pairs: .6 over .5 and over .2, .5 ties with .5 and beats .2: (1 + 1 + .5 + 1) / 4
    assert auc(scores=[0.6, 0.5, 0.5, 0.2], is_positive=[True, True, False, False]).auc == pytest.approx(3.5 / 4)


@pytest.mark.parametrize(("classes", "counts"), [([], (0, 0)), ([True], (1, 0)), ([False, False], (0, 2))])
def test_of_one_class_there_is_nothing_to_rank(classes, counts):
    found = auc(scores=[0.5] * len(classes), is_positive=classes)
    assert (found.auc, found.se, found.reason) == (None, None, ONE_CLASS)
    assert (found.positives, found.negatives) == counts


def test_one_unit_of_a_class_has_no_spread():
    assert FEWEST == 2
    found = auc(scores=[0.6, 0.5, 0.7], is_positive=[True, False, False])
    assert (found.auc, found.se) == (0.5, None)


@pytest.mark.parametrize("scores", [[0.1], [0.1, float("nan")]])
def test_scores_that_are_no_scores_are_refused(scores):
    with pytest.raises(InputError):
        auc(scores=scores, is_positive=[True, False])
