"""Laws that hold for every case, whatever the judge said."""

import random
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st
from metric_cases import S, a_case, a_claim, a_sample, judged, ratings

from judgekit.metrics import METRICS, CitationRecall, CitationSupport, Metric
from judgekit.metrics.means import harmonic_mean
from judgekit.metrics.ranking import average_precision_bounds
from judgekit.records import (
    ANSWER,
    REFERENCE,
    THE_ANSWER,
    THE_REFERENCE,
    Ask,
    Case,
    Check,
    Label,
    Likeness,
    Reason,
    Score,
)

ALL: tuple[Metric, ...] = tuple(METRICS.values())
LABELS = [label for label in Label if label is not Label.UNJUDGED]

#: Turning one verdict to `supported` can only help these.
RISING = [
    "faithfulness",
    "context_recall",
    "citation_support",
    "citation_support_weighted",
    "citation_recall",
    "answer_precision",
    "answer_recall",
    "answer_correctness",
    "chunk_attribution",
    "claim_recall",
    "matrix_faithfulness",
]

#: What these divide by has to be asked too, so it may be missing itself.
ASKED_TOO = {"context_utilisation", "context_entity_recall"}

fractions = st.floats(0, 1)

#: A busy machine is slow, not wrong.
law = settings(deadline=None)


def truth_of(seed: int):
    """A judge that says something at random, but the same about the same check."""
    return lambda check: random.Random(f"{seed} {check!r}").choice(LABELS)


@st.composite
def unjudged_cases(draw) -> Case:
    """Any sample, split into any claims, with every rating there is but no verdict yet."""
    texts = draw(st.lists(st.sampled_from(["one", "two", "two ", "three", "", " "]), max_size=4))
    sample = a_sample(
        texts,
        answer=draw(st.sampled_from(["An answer.", "An answer.", "I don't know.", "", "A reference"])),
        reference=draw(st.sampled_from([None, "A reference.", "A reference."])),
    )
    ids = [context.id for context in sample.contexts]
    cites = st.lists(st.sampled_from(ids), unique=True) if ids else st.just([])
    dangling = st.lists(st.sampled_from(["8", "9"]), max_size=1)
    cited = draw(st.lists(st.tuples(cites, dangling), max_size=4))
    made = [a_claim(f"a{n}", *pair) for n, pair in enumerate(cited)]
    made += [a_claim(f"r{n}", side=REFERENCE) for n in range(draw(st.integers(0, 3)))]
    asks = tuple(Ask(id=f"k{n}", text="?") for n in range(draw(st.integers(0, 3))))

    def rated(kind, subjects, labels):
        return ratings(kind, {subject: draw(st.sampled_from(labels)) for subject in subjects})

    given_ratings = [
        *rated("relevance", sample.source_ids, "0123"),
        *rated("relevance_by_answer", sample.source_ids, "0123"),
        *rated("ask", [ask.id for ask in asks], ["answered", "declined", "ignored"]),
        *rated("bearing", [claim.id for claim in made if claim.side == ANSWER], ["yes", "no"]),
        *rated("refusal", ["answer"], ["yes", "no"]),
        *rated("sufficiency", ["contexts"], ["yes", "partly", "no"]),
    ]
    unsplit = draw(st.sampled_from([(), (), (), (ANSWER,), (REFERENCE,)]))
    empty = [side for side, text in ((ANSWER, sample.answer), (REFERENCE, sample.reference)) if not text]
    made = [claim for claim in made if claim.side not in (*unsplit, *empty)]
    named = draw(st.sampled_from([(), ("one",), ("Two", "four"), ("one", "two", "six")]))
    cosines = draw(st.lists(st.sampled_from([-0.5, 0.0, 0.5, 1.0]), min_size=1, max_size=3))
    alike = tuple(Likeness(text=f"question {n}", cosine=cosine) for n, cosine in enumerate(cosines))
    known = {"asks": asks, "entities": named, "likenesses": alike}
    return a_case(sample, made=made, rated=given_ratings, unsplit=unsplit, **known)


@st.composite
def full_cases(draw) -> Case:
    """A case in which nothing is missing."""
    return judged(draw(unjudged_cases()), ALL, truth_of(draw(st.integers(0, 10**6))))


def numbers(score: Score) -> tuple[object, ...]:
    return (score.value, score.reason, score.numerator, score.denominator, score.low, score.high, score.label)


def with_holes(case: Case, rng: random.Random) -> Case:
    """The case after an outage: some verdicts and ratings never came, some came as failures."""
    verdicts = [
        verdict.having(label=Label.UNJUDGED) if rng.random() < 0.5 else verdict
        for verdict in case.verdicts
        if rng.random() < 0.7
    ]
    left = [r.having(label=None) if rng.random() < 0.3 else r for r in case.ratings if rng.random() < 0.8]
    named = case.entities if rng.random() < 0.7 else None
    alike = tuple(one if rng.random() < 0.7 else one.having(cosine=None) for one in case.likenesses or ())
    return case.having(verdicts=tuple(verdicts), ratings=tuple(left), entities=named, likenesses=alike)


@law
@given(full_cases())
def test_a_value_is_a_share_or_none_with_a_reason(case):
    for metric in ALL:
        score = metric.score(case)
        assert score.metric == metric.name
        if score.value is None:
            assert score.reason is not None
            # nothing is missing in this case but the asks of a question that has none
            assert score.reason is not Reason.UNJUDGED or not case.asks
        else:
            assert score.reason is None
            assert 0 <= score.value <= 1
            assert score.value == score.numerator / score.denominator == score.low == score.high


@law
@given(full_cases(), st.randoms(use_true_random=False))
def test_what_is_missing_never_becomes_a_number_and_the_bounds_hold_the_truth(case, rng):
    torn = with_holes(case, rng)
    for metric in ALL:
        true, seen = metric.score(case), metric.score(torn)
        assert seen.value is None or numbers(seen) == numbers(true)
        if seen.reason is Reason.UNJUDGED:
            assert 0 <= seen.low <= seen.high <= 1
            if true.value is not None:
                assert seen.low <= true.value <= seen.high
                assert seen.denominator == (None if metric.name in ASKED_TOO else true.denominator)


@law
@given(full_cases())
def test_without_any_verdict_no_metric_that_asks_has_a_value(case):
    silent = case.having(verdicts=())
    for metric in ALL:
        assert metric.checks(silent) == [] or metric.score(silent).value is None


@law
@given(full_cases(), st.data())
def test_one_more_supported_verdict_never_lowers_these(case, data):
    if not case.verdicts:
        return
    turned = data.draw(st.sampled_from(case.verdicts))
    better = case.having(verdicts=tuple(v.having(label=S) if v is turned else v for v in case.verdicts))
    for name in RISING:
        before, after = METRICS[name].score(case), METRICS[name].score(better)
        assert before.value is None or after.value >= before.value


@law
@given(full_cases(), st.randoms(use_true_random=False))
def test_order_and_repetition_change_nothing(case, rng):
    for credit in ALL, tuple(type(metric)(partial=0.1) for metric in ALL if "partial" in metric.options):
        shuffled = case.having(
            claims=tuple(rng.sample(case.claims, len(case.claims))),
            verdicts=tuple(rng.sample(case.verdicts * 2, 2 * len(case.verdicts))),
            ratings=tuple(rng.sample(case.ratings, len(case.ratings))),
        )
        for metric in credit:
            assert numbers(metric.score(shuffled)) == numbers(metric.score(case))


@law
@given(unjudged_cases(), st.integers(0, 10**6))
def test_adding_a_metric_changes_no_other(case, seed):
    together = judged(case, ALL, truth_of(seed))
    for metric in ALL:
        assert metric.score(judged(case, metric, truth_of(seed))) == metric.score(together)


@law
@given(unjudged_cases(), st.integers(0, 10**6))
def test_what_is_asked_can_be_asked(case, seed):
    """Every check names a claim and sources that exist, never blanks or repeats, and each is planned once."""
    claims = {claim.id for claim in case.claims}
    full = judged(case, ALL, truth_of(seed))
    assert len({verdict.check for verdict in full.verdicts}) == len(full.verdicts)
    ranks = {source: rank for rank, source in enumerate(case.sample.source_ids)}
    for metric in ALL:
        planned = metric.checks(full)
        assert len(set(planned)) == len(planned)
        for check in planned:
            assert check.claim_id in claims
            assert check.sources
            if check.sources not in (THE_ANSWER, THE_REFERENCE):
                held = [ranks[source] for source in check.sources]
                assert held == sorted(set(held))


@law
@given(unjudged_cases())
def test_what_needs_nothing_is_decided_without_anything(case):
    """Where a metric drops its needs, it scores the bare sample as it scores everything known about it."""
    bare = Case(sample=case.sample)
    known = judged(case, ALL, truth_of(0))
    for metric in ALL:
        assert metric.needs_for(case.sample) <= metric.needs
        if metric.needs and not metric.needs_for(case.sample):
            assert metric.checks(known) == []
            assert numbers(metric.score(bare)) == numbers(metric.score(known))


@law
@given(st.lists(st.sampled_from("123"), min_size=1, max_size=6), st.integers(0, 10**6))
def test_with_one_citation_a_claim_recall_is_mean_support(cited, seed):
    made = [a_claim(f"a{n}", [context_id]) for n, context_id in enumerate(cited)]
    case = judged(a_case(made=made), ALL, truth_of(seed))
    assert CitationRecall().score(case).value == CitationSupport().score(case).value


@law
@given(st.lists(st.sampled_from([True, False, None]), max_size=9))
def test_bounds_of_average_precision_are_those_of_all_fillings(flags):
    def average_precision(filled):
        found = [rank for rank, flag in enumerate(filled, start=1) if flag]
        return sum(n / rank for n, rank in enumerate(found, start=1)) / len(found) if found else 0.0

    choices = [(True, False) if flag is None else (flag,) for flag in flags]
    values = [average_precision(filled) for filled in product(*choices)]
    assert average_precision_bounds(flags) == (min(values), max(values))


@law
@given(fractions, fractions, fractions)
def test_the_harmonic_mean_is_symmetric_between_its_arguments_and_rising(a, b, c):
    mean = harmonic_mean(a, b)
    assert mean == harmonic_mean(b, a)
    assert min(a, b) <= mean <= max(a, b) or 0.0 in (a, b)
    assert harmonic_mean(max(a, c), b) >= mean


def test_one_check_is_one_record_for_every_metric_that_wants_it():
    sources = ("1", "2", "3")
    case = a_case(made=[a_claim("a1", ["2"])])
    wanted = [check for metric in ALL for check in metric.checks(case)]
    assert set(wanted) == {Check(claim_id="a1", sources=held) for held in (sources, ("1",), ("2",), ("3",))}
