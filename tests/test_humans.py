"""What human labels say of a run: corrected scores that cover the truth, agreement that is the run's and not the
sheet's, and nothing made up where labels are missing."""

import random
from collections import Counter
from dataclasses import replace
from math import fsum

import pytest
from hypothesis import given
from hypothesis import strategies as st
from populations import SAYS, SUPPORTED, a_row, by_name, checked, judged_with_errors, truths
from test_metric_laws import full_cases, law

from judgekit.humans import (
    MEASURES,
    NOT_SUPPORTED,
    Checked,
    Guess,
    Pair,
    Rated,
    Spread,
    agreement_of,
    at_odds,
    calibration_of,
    ceiling_of,
    corrected_score,
    is_share,
    labels_to_halve,
    pairs_of,
    shares_of,
    transferred,
)
from judgekit.metrics import METRICS, CitationSupportWeighted, Faithfulness
from judgekit.records import Check, Label, MetricPin, Verdict
from judgekit.scoring import summarize
from judgekit.stats import (
    Confusion,
    Stratum,
    auc,
    cohen_kappa,
    gwet_ac1,
    hash_rank_sample,
    neyman_allocation,
    plausible_totals,
    t_ppf,
)

S, P, U, C = Label.SUPPORTED, Label.PARTIALLY_SUPPORTED, Label.UNSUPPORTED, Label.CONTRADICTED
FAITHFULNESS = METRICS["faithfulness"]


def by_verdict(verdict):
    return str(verdict.label)


# --- what a metric is made of ----------------------------------------------------------------------


@law
@given(full_cases())
def test_a_metric_that_can_be_corrected_is_the_sum_of_what_its_verdicts_are_worth(case):
    """Turning any verdicts moves the numerator by what they are worth, and the denominator not at all."""
    for metric in (*METRICS.values(), Faithfulness(partial=0.3), CitationSupportWeighted()):
        if not is_share(metric):
            continue
        before = metric.score(case)
        for turned in Label:
            if turned is Label.UNJUDGED:
                continue
            after = metric.score(case.having(verdicts=tuple(v.having(label=turned) for v in case.verdicts)))
            assert (before.value is None) == (after.value is None)
            if before.value is not None:
                assert after.denominator == before.denominator
                moved = fsum(metric.worth(turned) - metric.worth(case.label(check)) for check in metric.counted(case))
                assert after.numerator - before.numerator == pytest.approx(moved)


def test_which_metrics_can_be_corrected():
    assert [name for name, metric in METRICS.items() if is_share(metric)] == [
        "faithfulness",
        "contradiction_rate",
        "citation_support",
        "citation_support_weighted",
        "citation_recall",
        "context_recall",
        "answer_precision",
        "answer_recall",
    ]


@law
@given(full_cases())
def test_a_review_of_everything_that_agrees_with_the_judge_gives_the_judges_score(case):
    """Also with duplicate citations, dangling ones, blank contexts, and rows that no judge was asked about."""
    names = {verdict.check: f"u{at}" for at, verdict in enumerate(case.verdicts)}
    units = {
        ("q", check.claim_id, check.sources): Checked(
            unit_id=name, sample_id="q", stratum="all", judge=case.label(check), human=frozenset({case.label(check)})
        )
        for check, name in names.items()
    }
    for share in shares_of([metric for metric in METRICS.values() if is_share(metric)], [case], units):
        score = METRICS[share.metric].score(case)
        found = corrected_score(share, raw_of([case], share.metric))
        if score.value is None:
            assert found.macro.value is found.micro.value is None
            assert found.rows == 0
            continue
        for mean in (found.macro, found.micro):
            assert mean.value == pytest.approx(score.value)
            assert (mean.low, mean.high) == (pytest.approx(score.value), pytest.approx(score.value))
            assert mean.more is None


def raw_of(cases, metric):
    rows = [result_of(case) for case in cases]
    return summarize(rows, [METRICS[metric]])[metric]


def result_of(case):
    from judgekit.records import Result  # noqa: PLC0415
    from judgekit.scoring import score_case  # noqa: PLC0415

    return Result(case=case, scores=score_case(case, METRICS.values()))


# --- by hand ---------------------------------------------------------------------------------------


def a_share(rows, labels, *, metric=FAITHFULNESS, stratum=by_verdict):
    """The share of a metric over rows of judge's labels; `labels` are the humans' for (row, claim) by number."""
    results = [a_row(f"r{at}", row, [metric]) for at, row in enumerate(rows)]

    def human(at):
        def said(verdict):
            return labels.get((at, int(verdict.check.claim_id[1:])))

        return said

    units = [unit for at, result in enumerate(results) for unit in checked(result, stratum, human(at))]
    (share,) = shares_of([metric], [result.case for result in results], by_name(results, units))
    return share, summarize(results, [metric])[metric.name]


def test_the_corrected_score_worked_out_by_hand():
    """Two answers: the judge supports c0, c1 of the first and c0 of the second, which has one claim; one is not.

    Stratum supported: 3 checks, labelled r0.c0 (right) and r1.c0 (wrong). Stratum unsupported: 1 check, labelled right.
    Micro: (3 * 1/2 + 1 * 0) / 4 = .375. Macro: weights 1/6 and 1/2, judge's (2/3 + 1) / 2 = 5/6, errors 0 and -1/2,
    so 5/6 + 3 * (-1/4) = 1/12.
    """
    share, raw = a_share([[S, S, U], [S]], {(0, 0): SUPPORTED, (1, 0): NOT_SUPPORTED, (0, 2): NOT_SUPPORTED})
    found = corrected_score(share, raw)
    assert found.micro.value == pytest.approx(0.375)
    assert found.macro.value == pytest.approx(1 / 12)
    assert (found.micro.raw, found.macro.raw) == (0.75, pytest.approx(5 / 6))
    assert (found.rows, found.checks, found.labels, found.complete) == (2, 4, 3, False)
    assert found.micro.low < 0.375 < found.micro.high


def test_for_more_rows_like_these_both_stages_of_sampling_add_up():
    """Three rows: n_eff of the raw mean and of the correction add up as 1 / (1/a + 1/b), at t with 2 degrees."""
    share, raw = a_share([[S, S, U], [S], [S, U]], {(0, 0): SUPPORTED, (1, 0): NOT_SUPPORTED, (0, 2): NOT_SUPPORTED})
    mean = corrected_score(share, raw).macro
    n = 1 / (1 / raw.macro_interval.n_eff + 1 / mean.n_eff)
    spread = t_ppf(0.975, df=2) ** 2 / n
    centre = (mean.value + spread / 2) / (1 + spread)
    half = (spread * (mean.value * (1 - mean.value) + spread / 4)) ** 0.5 / (1 + spread)
    assert (mean.wide_low, mean.wide_high) == (pytest.approx(centre - half), pytest.approx(centre + half))
    assert mean.wide_low < mean.low < mean.high < mean.wide_high


def test_the_wide_interval_holds_what_such_runs_have_on_average():
    """A check is true at .7 - .03 * (size - 5) in a row of size 1 to 9: .7 on average over rows."""
    held = 0
    for seed in range(100):
        share, raw, truth, *_ = a_world(seed, rows=60, rate=0.7, sens=0.95, spec=0.6)
        mean = corrected_score(drawn_and_labelled(share, truth, budget=80, seed=str(seed)), raw).macro
        held += mean.wide_low <= 0.7 <= mean.wide_high
    assert 92 <= held <= 99


def test_a_stratum_without_a_label_gives_no_value_and_names_itself():
    share, raw = a_share([[S, S, U], [S]], {(0, 0): SUPPORTED})
    found = corrected_score(share, raw)
    assert found.macro.value is found.micro.value is found.macro.low is None
    assert found.unlabelled == {"unsupported": 1}
    assert found.micro.reason == "a stratum has no human label"


def test_what_reviewers_left_open_is_bounded_and_counted():
    share, raw = a_share([[S, S, S, S], [U]], {(0, 0): SUPPORTED, (0, 1): SUPPORTED, (1, 0): NOT_SUPPORTED})
    open_ = [
        item._replace(unit=replace(item.unit, unanswered="cannot_tell")) if item.unit.unit_id == "u-r0-c2" else item
        for item in share.items
    ]
    found = corrected_score(replace(share, items=tuple(open_)), raw)
    assert found.unanswered == {"cannot_tell": 1}
    assert found.micro.value == pytest.approx(0.8)
    assert (found.micro.lowest, found.micro.highest) == (pytest.approx(4 * 2 / 3 / 5), pytest.approx(0.8))


def test_a_label_too_coarse_for_a_metric_is_no_label_for_it():
    """Contradicted or merely unsupported: `not_supported` does not say, `supported` does."""
    labels = {(0, 0): SUPPORTED, (0, 1): NOT_SUPPORTED, (0, 2): frozenset({C})}
    share, raw = a_share([[S, C, C]], labels, metric=METRICS["contradiction_rate"], stratum=lambda _: "all")
    found = corrected_score(share, raw)
    assert (found.labels, found.unanswered) == (2, {"too_coarse": 1})
    assert found.micro.value == pytest.approx(0.5)


def test_labels_given_with_the_verdict_in_view_are_counted():
    share, raw = a_share([[S, U]], {(0, 0): SUPPORTED, (0, 1): NOT_SUPPORTED})
    seen = tuple(item._replace(unit=replace(item.unit, assisted=True)) for item in share.items)
    assert corrected_score(replace(share, items=seen), raw).assisted == 2


def test_a_threshold_on_the_probability_turns_the_judges_label_and_not_the_humans():
    """Two of three verdicts are supported at .9, one at .6: held to .8 the judge finds 2/3, and so do people."""
    sure, unsure = ({"supported": p, "unsupported": 1 - p} for p in (0.9, 0.6))
    rows = [a_row("r0", [S, S], probabilities=sure), a_row("r1", [S], probabilities=unsure)]
    said = {"r0": SUPPORTED, "r1": NOT_SUPPORTED}
    units = [unit for row in rows for unit in checked(row, by_verdict)]
    units = [replace(unit, human=said[unit.sample_id]) for unit in units]
    strict = Faithfulness(min_probability=0.8)
    (share,) = shares_of([strict], [row.case for row in rows], by_name(rows, units))
    found = corrected_score(share, summarize(rows, [strict])["faithfulness"])
    assert [share.judge(item.unit) for item in share.items] == [1, 1, 0]
    assert found.micro.value == pytest.approx(2 / 3)
    assert agreement_of(pairs_of((item.unit for item in share.items), share), seed=1).tp == 1


def test_a_check_outside_the_draw_is_told_and_a_row_with_a_missing_verdict_is_left_out():
    row, torn = a_row("r0", [S, S]), a_row("r1", [S, Label.UNJUDGED])
    (unit,) = checked(a_row("r0", [S]), by_verdict)
    (share,) = shares_of([FAITHFULNESS], [row.case, torn.case], {("r0", "c0", ("d1",)): unit})
    assert (share.outside, share.left_out, share.rows) == (1, 1, 1)


# --- the truth is covered --------------------------------------------------------------------------

WORLDS = [  # rows, truth, sens, spec, labels
    (80, 0.90, 0.95, 0.70, 60),
    (80, 0.95, 0.98, 0.60, 60),
    (120, 0.85, 0.90, 0.80, 100),
    (120, 0.70, 0.97, 0.50, 100),
]


def drawn_and_labelled(share, truth, *, budget, seed):
    """The share after a draw as judgekit makes it and labels that are true."""
    strata: dict[str, list] = {}
    for item in share.items:
        strata.setdefault(item.unit.stratum, []).append(item.unit.unit_id)
    names = sorted(strata)
    guess = [0.218 if name == "supported" else 0.458 for name in names]
    allocation = neyman_allocation(budget=budget, sizes=[len(strata[name]) for name in names], sd_guess=guess)
    chosen = {
        unit_id
        for name, n in zip(names, allocation, strict=True)
        for unit_id in hash_rank_sample(strata[name], seed=seed, n=n, stratum=name)
    }
    return replace(
        share,
        items=tuple(
            item._replace(unit=replace(item.unit, human=SAYS[truth[item.unit.unit_id]]))
            if item.unit.unit_id in chosen
            else item
            for item in share.items
        ),
    )


def a_world(seed, *, rows, rate, sens, spec):
    """A judged run and what is true of it: its share, the raw summary, unit -> truth, and the true macro and micro."""
    rng = random.Random(seed)
    facts = truths(rng, rows=rows, rate=rate)
    judged = [[judged_with_errors(rng, fact, sens=sens, spec=spec) for fact in row] for row in facts]
    share, raw = a_share(judged, {})
    truth = {f"u-r{at}-c{n}": fact for at, row in enumerate(facts) for n, fact in enumerate(row)}
    macro = fsum(fsum(row) / len(row) for row in facts) / rows
    return share, raw, truth, macro, sum(map(sum, facts)) / len(truth)


def test_corrected_intervals_hold_the_truth_where_the_judges_own_do_not():
    """Judges of known sensitivity and specificity over known truth: 60 runs, each with its draw, of four kinds.

    In the first two kinds the judge's errors nearly cancel out, in the last two they do not: there its own interval
    hardly ever holds the truth.
    """
    held, raw_held, draws = Counter(), Counter(), 60
    errors: list[float] = []
    for at, (rows, rate, sens, spec, budget) in enumerate(WORLDS):
        for seed in range(draws):
            share, raw, truth, *true = a_world(seed, rows=rows, rate=rate, sens=sens, spec=spec)
            found = corrected_score(drawn_and_labelled(share, truth, budget=budget, seed=str(seed)), raw)
            for name, mean, value in zip(("macro", "micro"), (found.macro, found.micro), true, strict=True):
                held[name] += mean.low <= value <= mean.high
                held[name, at] += mean.low <= value <= mean.high
                raw_held[name, at] += mean.raw_interval.low <= value <= mean.raw_interval.high
                errors.append(mean.value - value)
    total = draws * len(WORLDS)
    for name in ("macro", "micro"):
        assert 0.92 <= held[name] / total <= 0.99
        assert min(held[name, at] for at in range(len(WORLDS))) / draws >= 0.84
        assert max(raw_held[name, 2], raw_held[name, 3]) / draws <= 0.25
    assert abs(fsum(errors) / len(errors)) < 0.003


def test_rates_of_agreement_hold_the_truth_also_where_few_labels_show_a_defect():
    held, defined = Counter(), Counter()
    for at, (rows, rate, sens, spec, budget) in enumerate(WORLDS[:2]):
        share, _, truth, *_ = a_world(at, rows=rows, rate=rate, sens=sens, spec=spec)
        whole = pairs_of((item.unit for item in share.items), share)
        whole = [
            pair._replace(human=not truth[item.unit.unit_id]) for pair, item in zip(whole, share.items, strict=True)
        ]
        true = agreement_of(whole, seed=1)
        for seed in range(50):
            drawn = drawn_and_labelled(share, truth, budget=budget, seed=str(seed))
            found = agreement_of(pairs_of((item.unit for item in drawn.items), drawn), seed=seed)
            for name in MEASURES:
                measure = found.measures[name]
                if measure.low is not None:
                    defined[name] += 1
                    held[name] += measure.low - 1e-9 <= true.measures[name].value <= measure.high + 1e-9
    for name in MEASURES:
        assert held[name] / defined[name] >= 0.9, name


# --- judge against humans --------------------------------------------------------------------------


def test_agreement_is_that_of_the_run_not_of_the_sheet():
    """The judge flags 10 of 110 checks; of 5 flagged and 10 passed that were labelled, 4 and 1 are defects.

    Over the run: tp 8, fp 2, fn 10, tn 90.
    """
    flagged = [Pair("flagged", judge=True, human=human) for human in [True] * 4 + [False] + [None] * 5]
    passed = [Pair("passed", judge=False, human=human) for human in [True] + [False] * 9 + [None] * 90]
    found = agreement_of([*flagged, *passed], seed=1)
    assert (found.tp, found.fp, found.fn, found.tn, found.labels, found.checks) == (4, 1, 1, 9, 15, 110)
    assert {name: round(share * 110, 9) for name, share in found.shares.items()} == {
        "tp": 8,
        "fp": 2,
        "fn": 10,
        "tn": 90,
    }
    value = {name: measure.value for name, measure in found.measures.items()}
    assert value["tpr"] == pytest.approx(8 / 18)
    assert value["tnr"] == pytest.approx(90 / 92)
    assert value["precision"] == pytest.approx(8 / 10)
    assert value["f1"] == pytest.approx(16 / 28)
    assert value["balanced_accuracy"] == pytest.approx((8 / 18 + 90 / 92) / 2)
    assert value["kappa"] == pytest.approx(cohen_kappa([[8, 10], [2, 90]]).kappa)
    assert value["ac1"] == pytest.approx(gwet_ac1([[8, 10], [2, 90]]).ac1)
    assert (found.judge_share, found.human_share) == (pytest.approx(10 / 110), pytest.approx(18 / 110))
    for name, measure in found.measures.items():
        assert measure.low <= measure.value <= measure.high, name


def test_what_no_label_can_tell_is_none():
    found = agreement_of([Pair("all", judge=False, human=False)] * 8 + [Pair("all", judge=False, human=None)], seed=1)
    assert found.measures["tpr"].value is None
    assert found.measures["precision"].value is None
    assert found.measures["balanced_accuracy"].value is None
    assert found.measures["kappa"].value is None
    assert found.measures["tnr"].value == 1.0
    assert found.measures["tnr"].low == pytest.approx(8 / (8 + 1.959964**2))  # Wilson, 8 of 8
    assert agreement_of([Pair("all", judge=True, human=None)], seed=1) is None


@given(*(st.integers(0, 40) for _ in range(4)))
def test_kappa_and_ac1_of_a_confusion_are_those_of_its_table(tp, fp, fn, tn):
    confusion, table = Confusion(tp=tp, fp=fp, fn=fn, tn=tn), [[tp, fn], [fp, tn]]
    for value, other in ((confusion.kappa, cohen_kappa(table).kappa), (confusion.ac1, gwet_ac1(table).ac1)):
        assert (value is None) == (other is None)
        assert value == pytest.approx(other, abs=1e-12)


def test_plausible_totals_are_a_beta_binomial_beside_what_was_found():
    """Mean x + (N - n) a / (a + b) and the variance of a beta-binomial, with a = x + 1/2, b = n - x + 1/2."""
    strata = [Stratum(40, 10, 0), Stratum(500, 20, 13), Stratum(7, 7, 3), Stratum(9, 0, 0)]
    draws = plausible_totals(strata, seed=5, draws=4000)
    assert draws == plausible_totals(strata, seed=5, draws=4000)
    for (size, n, x), values in zip(strata, zip(*draws, strict=True), strict=True):
        rest, a, b = size - n, x + 0.5, n - x + 0.5
        mean = fsum(values) / len(values)
        variance = fsum((value - mean) ** 2 for value in values) / len(values)
        expected = rest * a * b * (a + b + rest) / ((a + b) ** 2 * (a + b + 1))
        assert mean == pytest.approx(x + rest * a / (a + b), abs=4 * (expected / 4000) ** 0.5 + 1e-9)
        assert variance == pytest.approx(expected, rel=0.12)
        assert x <= min(values) <= max(values) <= x + rest


def test_the_ceiling_of_two_reviewers_by_hand():
    """Kappa of [[1, 1], [0, 2]]: po 3/4, pe 1/2; the check with one label does not count."""
    labels = [(True, True), (True, True), (False, False), (False, True)]
    rated = [Rated(1.0, {"ann": ann, "ben": ben}) for ann, ben in labels] + [Rated(1.0, {"ann": True})]
    found = ceiling_of(rated, disputed=1)
    assert (found.checks, found.reviewers, found.disputed) == (4, ("ann", "ben"), 1)
    assert found.agreement == 0.75
    assert found.kappa == pytest.approx(0.5)
    assert ceiling_of(rated[-1:]) is None


def test_disagreements_come_with_what_stands_for_most_first():
    share, _ = a_share(
        [[S] * 6 + [U] * 2], {(0, 0): NOT_SUPPORTED, (0, 1): SUPPORTED, (0, 6): SUPPORTED, (0, 7): SUPPORTED}
    )
    assert [unit.unit_id for unit in at_odds([item.unit for item in share.items])] == ["u-r0-c0", "u-r0-c6", "u-r0-c7"]


# --- calibration -----------------------------------------------------------------------------------


def test_calibration_by_hand():
    """Confidences .9 (right, weight 1) and .9 (wrong, weight 3); .6 right: gaps .65 of 4 and .4 of 1."""
    found = calibration_of([Guess(0.9, True, 1), Guess(0.1, True, 3), Guess(0.4, False, 1)])
    assert [(one.low, one.high, one.labels) for one in found.bins] == [(0.6, 0.65, 1), (0.9, 0.95, 2)]
    assert found.bins[1].right == pytest.approx(0.25)
    assert found.bins[1].right_low < 0.25 < found.bins[1].right_high
    assert found.ece == pytest.approx((4 * 0.65 + 1 * 0.4) / 5)
    assert found.brier == pytest.approx((0.01 + 3 * 0.81 + 0.16) / 5)
    assert found.auc == pytest.approx(1 / 4)
    assert calibration_of([]) is None


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.2, 0.5, 0.7, 1.0]), st.booleans()), min_size=1))
def test_the_auc_of_equal_weights_is_the_plain_one(pairs):
    found = calibration_of([Guess(support, side, 2.0) for support, side in pairs]).auc
    plain = auc(scores=[support for support, _ in pairs], is_positive=[side for _, side in pairs]).auc
    assert found == (plain if plain is None else pytest.approx(plain))


def test_a_threshold_is_recommended_where_confidence_tells_right_from_wrong():
    sure = [Guess(0.97, True, 1.0)] * 60
    unsure = [Guess(0.7, at % 2 == 0, 1.0) for at in range(20)]
    found = calibration_of(sure + unsure)
    assert found.threshold == pytest.approx(0.835)
    assert found.saves > 0.1
    blind = [Guess(0.97 - at / 100, at % 4 > 0, 1.0) for at in range(24)]
    assert calibration_of(blind * 3).threshold is None


# --- planning and carrying over --------------------------------------------------------------------


@pytest.mark.parametrize("strata", [[Spread(2000, 60, 0.3), Spread(200, 40, 0.45)], [Spread(90, 30, 0.4)]])
def test_the_labels_asked_for_halve_the_interval_and_fewer_do_not(strata):
    have = [one.labels for one in strata]

    def variance(labels):
        return fsum(s.size**2 * (1 - n / s.size) * s.spread**2 / n for s, n in zip(strata, labels, strict=True))

    enough = []
    for budget in range(sum(have), sum(one.size for one in strata) + 1):
        drawn = neyman_allocation(
            budget=budget, sizes=[one.size for one in strata], sd_guess=[one.spread for one in strata]
        )
        labels = [max(pair) for pair in zip(drawn, have, strict=True)]
        if variance(labels) <= variance(have) / 4:
            enough.append(sum(labels) - sum(have))
    assert labels_to_halve(strata) == min(enough)
    assert labels_to_halve([Spread(10, 10, 0.4)]) is None


PIN = MetricPin(pin="one", version=1, lower_is_better=False)


def test_errors_are_carried_to_another_run_of_the_same_pin():
    """On average over runs the raw score misses the truth by more than .05, the transferred one by less than .02."""
    off, raw_off, held = [], [], 0
    for seed in range(25):
        there, _, truth, *_ = a_world(seed, rows=150, rate=0.8, sens=0.9, spec=0.8)
        there = drawn_and_labelled(there, truth, budget=200, seed=str(seed))
        here, raw, _, _, micro = a_world(1000 + seed, rows=100, rate=0.9, sens=0.9, spec=0.8)
        found = transferred(here, raw, there, pins=(PIN, PIN))
        off.append(found.value - micro)
        raw_off.append(found.raw - micro)
        held += found.low <= micro <= found.high
    assert abs(fsum(raw_off)) / 25 > 0.05
    assert abs(fsum(off)) / 25 < 0.02
    assert held >= 22


def test_a_transfer_that_would_not_hold_is_refused_with_the_reason():
    there, raw, truth, *_ = a_world(1, rows=60, rate=0.8, sens=0.9, spec=0.8)
    other = PIN.having(pin="another")
    labelled = drawn_and_labelled(there, truth, budget=120, seed="1")
    assert "another pin" in transferred(there, raw, labelled, pins=(PIN, other)).reason
    assert "no label" in transferred(there, raw, there, pins=(PIN, PIN)).reason
    few = drawn_and_labelled(there, truth, budget=20, seed="1")
    assert "it takes 20 of either kind" in transferred(there, raw, few, pins=(PIN, PIN)).reason
    seen = replace(
        labelled, items=tuple(item._replace(unit=replace(item.unit, assisted=True)) for item in labelled.items)
    )
    assert "in view" in transferred(there, raw, seen, pins=(PIN, PIN)).reason
    blunt, raw_of_blunt, its_truth, *_ = a_world(2, rows=200, rate=0.7, sens=0.55, spec=0.5)
    dull = drawn_and_labelled(blunt, its_truth, budget=250, seed="1")
    assert "below 0.2" in transferred(blunt, raw_of_blunt, dull, pins=(PIN, PIN)).reason
    weighted, raw_weighted = a_share([[S, P, U]], {}, metric=CitationSupportWeighted(partial=0.5))
    assert "counts in part" in transferred(weighted, raw_weighted, weighted, pins=(PIN, PIN)).reason


def test_a_verdict_that_needed_no_judge_is_fixed():
    row = a_row("r0", [S, U], reason="same text")
    (share,) = shares_of([FAITHFULNESS], [row.case], {})
    assert (share.outside, share.items) == (0, ())
    assert corrected_score(share, raw_of([row.case], "faithfulness")).micro.value == 0.5
    assert row.case.verdict(Check(claim_id="c0", sources=("d1",))) == Verdict(
        check=Check(claim_id="c0", sources=("d1",)), label=S, reason="same text"
    )
