"""Every mean of a run has its interval: from running sums, the same as from all rows at once."""

import json
import pickle
import random
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from metric_cases import a_case, a_sample

from judgekit.batch import Rescored
from judgekit.cli import cli
from judgekit.confidence import bracketed
from judgekit.errors import InputError
from judgekit.metrics import Faithfulness, Metric, metrics_of
from judgekit.records import Interval, Manifest, MetricPin, Reason, Result, Score
from judgekit.rundir import Run, write_run
from judgekit.scoring import summarize
from judgekit.stats import RunningRatio, cluster_ratio, macro_mean, t_ppf
from judgekit.stats.inputs import NEEDS_TWO, NOTHING

VECTORS = [
    vector
    for vector in json.loads((Path(__file__).parent / "vectors" / "stats.json").read_text(encoding="utf-8"))["vectors"]
    if vector["fn"] in {"cluster_ratio", "macro_mean"}
]
FIELDS = ("estimate", "se", "n_eff", "df", "lo", "hi")

counts = st.integers(0, 9).flatmap(lambda size: st.tuples(st.integers(0, size), st.just(size)))
scores = st.floats(0, 1).map(lambda value: (value, 1))
rows = st.lists(st.one_of(counts, scores), max_size=12)


def running(counted, clusters=None) -> RunningRatio:
    sums = RunningRatio()
    for at, (y, m) in enumerate(counted):
        sums.add(y, m, cluster=clusters[at] if clusters else None)
    return sums


def numbers(mean):
    return [getattr(mean, field) for field in (*FIELDS, "deff", "t_lo", "t_hi")]


# --- running sums ----------------------------------------------------------------------------


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_running_sums_give_what_the_outside_tool_gives(vector):
    given_rows = dict(vector["input"])
    conf, cap = given_rows.pop("conf"), given_rows.pop("cap")
    y = given_rows.get("y") or given_rows["r"]
    found = running(zip(y, given_rows.get("m") or [1] * len(y), strict=True)).mean(conf=conf, cap=cap)
    for field in FIELDS:
        assert getattr(found, field) == pytest.approx(vector["expected"][field], rel=1e-9, abs=1e-9)


@given(rows, st.one_of(st.none(), st.integers(1, 40)))
def test_running_sums_say_what_all_rows_at_once_say(counted, cap):
    found = running(counted).mean(cap=cap)
    listed = cluster_ratio(y=[y for y, _ in counted], m=[m for _, m in counted], cap=cap)
    assert numbers(found) == [value if value is None else pytest.approx(value, abs=1e-6) for value in numbers(listed)]
    assert (found.clusters, found.undefined, found.reason) == (listed.clusters, listed.undefined, listed.reason)


@given(rows, st.lists(st.sampled_from("abc"), min_size=12, max_size=12), st.randoms(use_true_random=False))
def test_the_order_of_rows_and_of_clusters_changes_no_bit(counted, names, rng):
    order = rng.sample(range(len(counted)), len(counted))
    found = running(counted, names).mean()
    assert running([counted[at] for at in order], [names[at] for at in order]).mean() == found


def test_rows_of_a_cluster_are_summed_first_and_a_row_without_one_stands_alone():
    sums = running([(1, 2), (1, 1), (0, 3)], ["a", None, "a"])
    assert numbers(sums.mean()) == numbers(running([(1, 5), (1, 1)]).mean())
    assert sums.mean().clusters == 2


def test_a_mean_can_be_asked_for_at_any_time():
    sums = running([(1, 2), (1, 1)], ["a", "b"])
    first = sums.mean()
    assert sums.mean() == first
    sums.add(0, 1, cluster="a")
    assert numbers(sums.mean()) == numbers(running([(1, 3), (1, 1)]).mean())


@pytest.mark.parametrize(("y", "m"), [(2, 1), (-1, 1), (float("nan"), 1), (0, float("inf"))])
def test_what_is_no_share_is_refused(y, m):
    with pytest.raises(InputError, match="y lies between 0 and m"):
        RunningRatio().add(y, m)


# --- intervals of a summary ------------------------------------------------------------------


class Own(Metric):
    name = "own"

    def score(self, case):
        raise NotImplementedError


def summed(scored, metadata=(), **options):
    """The summary of one metric whose rows have these scores: a value, (numerator, denominator), or a reason."""
    results = []
    for at, one in enumerate(scored):
        known = {"value": one}
        if isinstance(one, tuple):
            known = {"value": one[0] / one[1], "numerator": one[0], "denominator": one[1]}
        elif isinstance(one, Reason):
            known = {"value": None, "reason": one}
        sample = a_sample().having(metadata=metadata[at] if metadata else {})
        results.append(Result(case=a_case(sample), scores=(Score(metric="own", **known),)))
    return summarize(results, [Own()], **options)


def ends(interval):
    return (interval.low, interval.high, interval.n_eff, interval.clusters)


def test_macro_and_micro_by_hand():
    """Rows 1/1, 1/2, 0/1. Macro: p = 1/2, V = 3/2 * (1/4 + 1/4) / 9 = 1/12, n_eff = 3, inside 4 verdicts.
    Micro: p = 1/2, e = (1/2, 0, -1/2), V = 3/2 * 1/2 / 16 = 3/64, n_eff = 16/3, of which 4 verdicts allow 4.
    At p = 1/2 Wilson's interval is 1/2 +- c / 2 sqrt(n + c^2)."""
    found = summed([(1, 1), (1, 2), (0, 1)])["own"]
    assert (found.macro, found.micro) == (0.5, 0.5)
    c2 = t_ppf(0.975, df=2) ** 2
    for interval, n_eff in ((found.macro_interval, 3), (found.micro_interval, 4)):
        half = (c2 / (n_eff + c2)) ** 0.5 / 2
        assert ends(interval) == pytest.approx((0.5 - half, 0.5 + half, n_eff, 3))
        assert (interval.confidence, interval.small, interval.reason) == (0.95, True, None)


def test_scores_that_are_no_counts_of_verdicts_are_not_capped_by_them():
    """p = 1/2, V = 4/3 * 2 * 0.02^2 / 16 = 1/15000, n_eff = 15000/4."""
    values = [0.5, 0.52, 0.48, 0.5]
    found = summed([(value, 1) for value in values])["own"]
    for interval in (found.macro_interval, found.micro_interval):
        assert ends(interval)[:3] == pytest.approx((macro_mean(values).lo, macro_mean(values).hi, 3750))


def test_rows_without_a_value_widen_nothing_and_count_in_no_cluster():
    gaps = [Reason.REFUSED, Reason.UNJUDGED]
    assert summed([(1, 2), *gaps, (2, 3)])["own"].having(undefined={}) == summed([(1, 2), (2, 3)])["own"]


@pytest.mark.parametrize(
    ("scored", "reason", "clusters"), [([(1, 2)], NEEDS_TWO, 1), ([Reason.REFUSED], NOTHING, 0), ([], NOTHING, 0)]
)
def test_from_fewer_than_two_rows_there_is_no_interval_and_the_reason(scored, reason, clusters):
    found = summed(scored)["own"]
    expected = Interval(clusters=clusters, confidence=0.95, small=True, reason=reason)
    assert found.macro_interval == found.micro_interval == expected


def test_a_metric_of_ones_own_has_its_interval_and_without_counts_no_pooled_one():
    found = summed([0.25, 0.75])["own"]
    assert found.macro_interval.low is not None
    assert (found.micro, found.micro_interval.low, found.micro_interval.reason) == (None, None, NOTHING)


def test_counts_that_are_no_shares_leave_the_mean_and_take_the_pooled_one():
    results = [
        Result(case=a_case(), scores=(Score(metric="own", value=0.5, numerator=n, denominator=2),)) for n in (1, 3)
    ]
    found = summarize(results, [Own()])["own"]
    assert (found.macro, found.micro, found.micro_interval.reason) == (0.5, None, "counts are no shares")


def test_a_value_outside_0_and_1_names_its_metric():
    with pytest.raises(InputError, match=r"metric 'own' has the value 1\.5, outside \[0, 1\]"):
        summed([1.5])


def test_20_rows_are_no_small_sample():
    assert [summed([(1, 1)] * rows)["own"].macro_interval.small for rows in (19, 20)] == [True, False]


# --- coarser clusters ------------------------------------------------------------------------

DOCUMENTS = [{"document": name} for name in ("a", "a", "b", "c")]
COUNTED = [(1, 2), (3, 3), (0, 1), (2, 4)]


def test_rows_of_one_document_are_one_unit_and_the_means_stay():
    whole = summed(COUNTED, DOCUMENTS, cluster_by="document")
    plain, found = summed(COUNTED)["own"], whole["own"]
    assert (found.macro, found.micro) == (plain.macro, plain.micro)
    by_hand = cluster_ratio(y=[4, 0, 2], m=[5, 1, 4], cap=10)
    assert ends(found.micro_interval) == pytest.approx((by_hand.lo, by_hand.hi, by_hand.n_eff, 3))
    by_hand = macro_mean([0.5, 1, 0, 0.5], clusters="aabc", cap=10)
    assert ends(found.macro_interval) == pytest.approx((by_hand.lo, by_hand.hi, by_hand.n_eff, 3))
    assert (whole.cluster_by, whole.clusters, whole.ungrouped) == ("document", 3, 0)


def test_a_row_without_the_key_stands_alone_and_is_counted():
    some = [{"document": "a"}, {"document": "a"}, {}, {"document": None}]
    found = summed(COUNTED, some, cluster_by="document")
    assert (found.clusters, found.ungrouped, found["own"].macro_interval.clusters) == (3, 2, 3)


def test_values_are_told_apart_by_type_and_not_by_the_order_of_their_keys():
    values = [1, "1", {"a": 1, "b": 2}, {"b": 2, "a": 1}]
    found = summed(COUNTED, [{"document": value} for value in values], cluster_by="document")
    assert found.clusters == 3


def test_one_document_alone_is_no_spread():
    found = summed(COUNTED, [{"document": "a"}] * 4, cluster_by="document")["own"]
    assert (found.macro_interval.low, found.macro_interval.reason) == (None, "needs >= 2 values of document")


def test_a_key_that_no_row_has_is_an_error_that_names_those_there_are():
    with pytest.raises(InputError, match="no row has it in its metadata; its keys there are: document"):
        summed(COUNTED, DOCUMENTS, cluster_by="doc")
    assert summed([], cluster_by="doc").clusters == 0


def test_memory_grows_with_the_clusters_and_not_with_the_rows():
    sums, rng = RunningRatio(), random.Random(3)

    def size_after(more):
        for _ in range(more):
            sums.add(rng.random(), cluster=rng.randrange(4))
            sums.add(rng.random())
        return len(pickle.dumps(sums))

    first = size_after(100)
    assert size_after(2000) < first + 100


def test_the_shipped_metric_has_the_same_interval_as_its_counts():
    result = [Result(case=a_case(), scores=(Score.share("faithfulness", marks),)) for marks in ([1, 0], [1], [0, 0, 1])]
    found = summarize(result, [Faithfulness()])["faithfulness"]
    by_hand = cluster_ratio(y=[1, 1, 1], m=[2, 1, 3], cap=6)
    assert ends(found.micro_interval) == pytest.approx((by_hand.lo, by_hand.hi, by_hand.n_eff, 3))


@pytest.fixture
def run(tmp_path) -> Run:
    results = [
        Result(
            case=a_case(a_sample().having(id=str(at), metadata=metadata)),
            scores=(Score.share("faithfulness", [1] * y + [0] * (m - y)),),
        )
        for at, ((y, m), metadata) in enumerate(zip(COUNTED, [*DOCUMENTS[:3], {}], strict=True))
    ]
    pins = {"faithfulness": MetricPin(pin="p", version=1, lower_is_better=False)}
    return write_run(tmp_path / "run", results, Manifest(judgekit="0.1.0", logs=(), judge={}, metrics=pins))


def reported(run, *options):
    done = CliRunner().invoke(cli, ["report", str(run.folder), *options], catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def test_the_report_takes_clusters_by_a_key_and_says_so(run):
    expected = run.summary(cluster_by="document")
    found = json.loads(reported(run, "--cluster-by", "document", "--json"))
    assert found["metrics"]["faithfulness"]["macro_interval"] == expected["faithfulness"].macro_interval.model_dump()
    assert (found["cluster_by"], found["clusters"], found["ungrouped"]) == ("document", 3, 1)
    assert expected["faithfulness"].macro_interval != run.summary()["faithfulness"].macro_interval
    shown = reported(run, "--cluster-by", "document").splitlines()
    assert "  [ ]: rows of one document count as one: 3 in all, 1 of them rows without it" in shown
    assert "  * small sample: fewer than 20 values of document" in shown
    assert bracketed(expected["faithfulness"].micro_interval) in "\n".join(shown)
    assert "count as one" not in reported(run)


def test_a_rescored_run_takes_clusters_too(run):
    rescored = Rescored(run=run, metrics=metrics_of("uncited_claim_rate"))
    assert rescored.summary(cluster_by="document").clusters == 3


def test_a_key_that_is_not_there_is_an_error_of_the_command(run):
    done = CliRunner().invoke(cli, ["report", str(run.folder), "--cluster-by", "doc"])
    assert isinstance(done.exception, InputError)
    assert "its keys there are: document" in str(done.exception)
