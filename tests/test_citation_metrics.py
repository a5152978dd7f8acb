"""Citation metrics: ALCE's own numbers, the three views of partial support, dangling and blank citations."""

from collections import Counter

import pytest
from metric_cases import MISSING, C, P, S, U, a_case, a_claim, a_sample, by_claim, judged, vectors

from judgekit.metrics import (
    METRICS,
    CitationPrecision,
    CitationPrecisionGraded,
    CitationRecall,
    CitationSupport,
    CitationSupportWeighted,
    Faithfulness,
    UncitedClaimRate,
)
from judgekit.records import Check, Label, Reason

RECALL, PRECISION, GRADED = CitationRecall(), CitationPrecision(), CitationPrecisionGraded()
SUPPORT, WEIGHTED, UNCITED = CitationSupport(), CitationSupportWeighted(), UncitedClaimRate()
ALL = (SUPPORT, WEIGHTED, RECALL, PRECISION, GRADED)


def by_sources(labels):
    """Label by source set, as in {"12": S}; anything not listed is unsupported."""
    return lambda check: labels.get("".join(check.sources), U)


def one_claim(cites, labels, *, dangling=(), texts=("one", "two", "three")):
    """A case with one claim, judged for all citation metrics."""
    case = a_case(a_sample(texts), made=[a_claim("a1", cites=cites, dangling=dangling)])
    return judged(case, ALL, by_sources(labels))


def values(case):
    return {metric.name: metric.score(case).value for metric in (*ALL, UNCITED)}


# --- ALCE ------------------------------------------------------------------------------------

# ALCE counts a repeated id twice and judgekit once: the precision of those rows, counted by hand without the repeats.
WITHOUT_REPEATS = {
    "cite_dup_citation2-014": 1 / 2,  # 1 is dispensable, 2 is not
    "cite_dup_joint-015": 1.0,  # 1 and 2 are needed together
    "cite_rand-038": 0.0,
    "cite_rand-043": 2 / 12,
    "cite_rand-076": 3 / 7,
}


def alce_case(row):
    made = []
    for number, sentence in enumerate(row["sentences"], start=1):
        cited = list(dict.fromkeys(sentence["citations"]))
        inside = [str(c) for c in cited if c <= row["n_docs"]]
        made.append(a_claim(f"a{number}", inside, [str(c) for c in cited if c > row["n_docs"]]))
    sample = a_sample([f"text {n}" for n in range(row["n_docs"])])
    enough = {claim.id: sentence["support"] for claim, sentence in zip(made, row["sentences"], strict=True)}

    def truth(check):
        held = {int(source) for source in check.sources}
        return S if any(held.issuperset(group) for group in enough[check.claim_id]) else U

    return judged(a_case(sample, made=made), (RECALL, PRECISION), truth)


@pytest.mark.parametrize("row", vectors("citation_alce", "citation_alce"), ids=lambda row: row["id"])
def test_the_numbers_of_alces_own_code(row):
    case = alce_case(row)
    assert RECALL.score(case).value == pytest.approx(row["expected"]["citation_recall"], abs=1e-15)
    precision = PRECISION.score(case)
    if "citation_precision" in row["undefined"]:
        assert (precision.value, precision.reason) == (None, Reason.NO_CITATIONS)
    else:
        expected = WITHOUT_REPEATS.get(row["id"], row["expected"]["citation_precision"])
        assert precision.value == pytest.approx(expected, abs=1e-15)


def test_every_row_with_a_repeat_has_its_own_expectation():
    repeats = {
        row["id"]
        for row in vectors("citation_alce", "citation_alce")
        if any(len(set(sentence["citations"])) < len(sentence["citations"]) for sentence in row["sentences"])
    }
    assert repeats == set(WITHOUT_REPEATS)


def test_leaving_one_out_is_asked_in_a_second_round_and_only_where_it_matters():
    first = one_round({})
    assert first == {"123", "1", "2", "3"}
    assert one_round({"123": U, "1": U, "2": U, "3": U}) == first
    assert one_round({"123": S, "1": S, "2": U, "3": MISSING}) == first | {"13"}


def one_round(labels):
    """The source sets that precision wants when these verdicts are in."""
    case = a_case(made=[a_claim("a1", cites=["3", "1", "2"])])
    known = judged(case, PRECISION, lambda check: labels.get("".join(check.sources), MISSING))
    return {"".join(check.sources) for check in PRECISION.checks(known)}


@pytest.mark.parametrize(
    ("labels", "joint"),
    [({"1": P, "2": U}, True), ({"1": P, "2": S}, False), ({"1": U, "2": U}, False), ({"1": P, "2": MISSING}, True)],
)
def test_the_graded_view_asks_about_both_only_where_it_matters(labels, joint):
    case = judged(a_case(made=[a_claim("a1", cites=["1", "2"])]), GRADED, by_sources(labels))
    assert (case.verdict(Check(claim_id="a1", sources=("1", "2"))) is not None) == joint


@pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.name)
def test_no_metric_wants_a_check_twice_or_one_without_sources(metric):
    case = one_claim(["1", "2"], {"12": S, "1": P})
    wanted = metric.checks(case)
    assert wanted
    assert max(Counter(wanted).values()) == 1
    assert all(check.sources for check in wanted)


# --- the views side by side ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        # each suffices: neither is punished
        ({"12": S, "1": S, "2": S}, (1, 1, 1, 1, 1)),
        # needed together, each in part
        ({"12": S, "1": P, "2": P}, (1, 1, 1, 0, 0.5)),
        # needed together, though graded none: ALCE credits what Liu does not
        ({"12": S, "1": U, "2": U}, (1, 1, 0, 0, 0)),
        # one suffices, the other is dispensable, partial or not
        ({"12": S, "1": S, "2": U}, (1, 0.5, 0.5, 0.5, 0.5)),
        ({"12": S, "1": S, "2": P}, (1, 0.5, 0.5, 0.5, 0.75)),
        # together still not enough
        ({"12": P, "1": P, "2": P}, (0, 0, 0, 0, 0.5)),
        ({"12": C, "1": C, "2": U}, (0, 0, 0, 0, 0)),
    ],
)
def test_two_citations_seen_five_ways(labels, expected):
    case = one_claim(["1", "2"], labels)
    seen = tuple(metric.score(case).value for metric in (RECALL, PRECISION, GRADED, SUPPORT, WEIGHTED))
    assert seen == expected


def test_a_needed_partial_citation_that_leaving_out_calls_dispensable():
    # 1 in part, and both 23 and 13 suffice: ALCE drops 1 and 2, Liu keeps what is partial
    case = one_claim(["1", "2", "3"], {"123": S, "1": P, "2": P, "3": U, "23": S, "13": S, "12": U})
    assert PRECISION.score(case).value == pytest.approx(1 / 3)
    assert GRADED.score(case).value == pytest.approx(2 / 3)


def test_one_bad_citation_of_ten_is_named():
    made = [a_claim(f"a{n}", cites=["2" if n == 10 else "1"]) for n in range(1, 11)]
    case = judged(a_case(made=made), SUPPORT, by_sources({"1": S}))
    score = SUPPORT.score(case)
    assert (score.value, score.numerator, score.denominator) == (0.9, 9, 10)
    assert score.basis[-1] == "a10@2"
    assert case.label(Check(claim_id="a10", sources=("2",))) is Label.UNSUPPORTED


def test_supported_elsewhere_is_faithful_but_its_citation_is_not_supported():
    case = a_case(made=[a_claim("a1", cites=["1"])])
    case = judged(case, (Faithfulness(), *ALL), by_sources({"123": S}))
    assert Faithfulness().score(case).value == 1.0
    assert {metric.score(case).value for metric in ALL} == {0.0}


# --- dangling, blank, repeated, none ---------------------------------------------------------


def test_a_dangling_citation_counts_against_support_and_is_noted():
    case = one_claim(["1"], {"1": S}, dangling=["7", "x"])
    score = SUPPORT.score(case)
    assert (score.value, score.denominator, score.note) == (pytest.approx(1 / 3), 3, "2 dangling")
    assert score.basis == ("a1@1", "a1@?7", "a1@?x")
    assert GRADED.score(case).value == pytest.approx(1 / 3)


def test_alce_gives_a_claim_with_a_dangling_citation_no_recall_and_drops_its_citations():
    made = [a_claim("a1", cites=["1"]), a_claim("a2", cites=["1"], dangling=["7"])]
    case = judged(a_case(made=made), (RECALL, PRECISION), by_sources({"1": S}))
    assert (RECALL.score(case).value, RECALL.score(case).note) == (0.5, "1 dangling")
    precision = PRECISION.score(case)
    assert (precision.value, precision.denominator, precision.note) == (1.0, 1, "1 dangling")
    assert {check.claim_id for check in PRECISION.checks(case)} == {"a1"}


def test_a_claim_that_only_dangles_is_uncited_and_its_support_is_zero_without_a_judge():
    case = a_case(a_sample(()), made=[a_claim("a1", dangling=["7"])])
    assert [metric.checks(case) for metric in ALL] == [[]] * len(ALL)
    assert values(case) == {
        "citation_recall": 0.0,
        "citation_precision": None,
        "citation_precision_graded": 0.0,
        "citation_support": 0.0,
        "citation_support_weighted": 0.0,
        "uncited_claim_rate": 1.0,
    }


def test_a_blank_context_supports_nothing_and_is_not_asked_about():
    case = a_case(a_sample(["one", " "]), made=[a_claim("a1", cites=["1", "2"]), a_claim("a2", cites=["2"])])
    case = judged(case, ALL, by_sources({"1": S}))
    assert {verdict.check.sources for verdict in case.verdicts} == {("1",)}
    assert values(case) == {
        "citation_recall": 0.5,
        "citation_precision": pytest.approx(1 / 3),
        "citation_precision_graded": pytest.approx(1 / 3),
        "citation_support": pytest.approx(1 / 3),
        "citation_support_weighted": pytest.approx(1 / 3),
        "uncited_claim_rate": 0.0,
    }


def test_contexts_with_the_same_text_are_two_citations_of_one_source():
    case = one_claim(["3", "1", "2"], {"12": S}, texts=["one", "two", "one "])
    assert {verdict.check.sources for verdict in case.verdicts} == {("1", "2"), ("1",), ("2",)}
    assert (PRECISION.score(case).value, PRECISION.score(case).denominator) == (1.0, 3)
    assert SUPPORT.score(case).basis == ("a1@3", "a1@1", "a1@2")


def test_no_citation_anywhere():
    case = a_case(made=[a_claim("a1"), a_claim("a2")])
    assert values(case) == {
        "citation_recall": 0.0,
        "citation_precision": None,
        "citation_precision_graded": None,
        "citation_support": None,
        "citation_support_weighted": None,
        "uncited_claim_rate": 1.0,
    }
    assert {m.score(case).reason for m in (SUPPORT, WEIGHTED, PRECISION, GRADED)} == {Reason.NO_CITATIONS}


def test_the_share_of_claims_without_a_citation():
    made = [a_claim("a1", ["1"]), a_claim("a2"), a_claim("a3", dangling=["9"]), a_claim("a4", ["1"], ["9"])]
    score = UNCITED.score(a_case(made=made))
    assert (score.value, score.note) == (0.5, "2 dangling")
    assert UNCITED.checks(a_case(made=made)) == []


# --- missing verdicts ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("metric", "labels", "low", "high"),
    [
        (SUPPORT, {"1": S, "2": MISSING}, 0.5, 1.0),
        (WEIGHTED, {"1": P, "2": MISSING}, 0.25, 0.75),
        (RECALL, {"12": MISSING}, 0.0, 1.0),
        (PRECISION, {"12": MISSING, "1": S, "2": S}, 0.0, 1.0),
        (PRECISION, {"12": S, "1": S, "2": MISSING}, 0.5, 1.0),
        (GRADED, {"1": P, "2": P, "12": MISSING}, 0.0, 1.0),
        (GRADED, {"1": P, "2": MISSING, "12": S}, 0.0, 1.0),
        (GRADED, {"1": P, "2": MISSING, "12": U}, 0.0, 0.5),
        (GRADED, {"1": U, "2": MISSING}, 0.0, 0.5),
    ],
)
def test_a_missing_verdict_leaves_bounds(metric, labels, low, high):
    score = metric.score(one_claim(["1", "2"], labels))
    assert (score.value, score.reason) == (None, Reason.UNJUDGED)
    assert (score.low, score.high) == (low, high)


def test_a_missing_leave_one_out_leaves_only_its_own_citation_open():
    score = PRECISION.score(one_claim(["1", "2", "3"], {"123": S, "1": S, "2": S, "12": MISSING}))
    assert (score.value, score.judged, score.low, score.high) == (None, 2, pytest.approx(2 / 3), 1.0)


def test_a_missing_verdict_that_decides_nothing_leaves_the_value():
    # the claim is unsupported as a whole, so no citation of it can count: what each does alone is not needed
    assert PRECISION.score(one_claim(["1", "2"], {"12": U, "1": MISSING, "2": MISSING})).value == 0.0
    # 1 alone suffices, so the partial 2 cannot count, whatever both do together
    assert GRADED.score(one_claim(["1", "2"], {"1": S, "2": P, "12": MISSING})).value == 0.5


@pytest.mark.parametrize("name", [m.name for m in (*ALL, UNCITED)])
def test_citation_metrics_see_the_claims_of_the_answer_only(name):
    made = [a_claim("a1", ["1"]), a_claim("r1", ["2"], ["9"], side="reference")]
    case = judged(a_case(a_sample(reference="A reference."), made=made), METRICS[name], by_claim({"a1": S}))
    score = METRICS[name].score(case)
    assert (score.denominator, score.note) == (1, None)
