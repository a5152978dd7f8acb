"""The matrix of claims and single contexts: hand-computed tables, the identities, and bounds that hold."""

import random
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from metric_cases import C, P, S, U, a_case, a_claim, a_sample, judged
from test_metric_laws import full_cases, law, numbers, with_holes

from judgekit.errors import InputError
from judgekit.metrics import FAMILIES, METRICS, metrics_of
from judgekit.records import ANSWER, REFERENCE, THE_ANSWER, THE_REFERENCE, Check, Reason, Verdict

FAMILY = FAMILIES["attribution"]
NAMES = {metric.name for metric in FAMILY}


def table(answer, reference=None, /, *, texts=("one", "two", "three"), **texts_of):
    """A judged case from rows: claim -> (supported by the other text?, contexts that alone support it)."""
    sides = {ANSWER: answer, REFERENCE: reference or {}}
    made = [a_claim(name, side=side) for side, rows in sides.items() for name in rows]
    rows = {**answer, **(reference or {})}
    sample = a_sample(texts, **{"reference": "A reference.", **texts_of})

    def truth(check):
        right, supporters = rows[check.claim_id]
        if check.sources in (THE_REFERENCE, THE_ANSWER):
            return {True: S, False: U}.get(right, right)
        return S if set(check.sources) <= set(supporters) else U

    return judged(a_case(sample, made=made), (*FAMILY, METRICS["answer_precision"]), truth)


def values(case):
    return {metric.name: metric.score(case).value for metric in FAMILY}


# Context 1 is relevant (it supports r1), 2 and 3 are not.
WORKED = table(
    {
        "a1": (True, "1"),  # right, entailed
        "a2": (True, ""),  # right, from nowhere: self-knowledge
        "a3": (False, "1"),  # wrong, from the relevant context
        "a4": (False, "13"),  # wrong, from both kinds: counts as relevant
        "a5": (False, "3"),  # wrong, from an irrelevant one only
        "a6": (False, ""),  # wrong, from nowhere
        "a7": (P, ""),  # partial support is no support
        "a8": (C, "3"),
    },
    {"r1": (True, "1"), "r2": (False, "1"), "r3": (True, ""), "r4": (False, "")},
)


def test_the_worked_table():
    assert values(WORKED) == {
        "chunk_attribution": 2 / 3,  # contexts 1 and 3
        "context_utilisation": 1 / 2,  # r1 of r1, r2
        "noise_sensitivity_relevant": 2 / 8,
        "noise_sensitivity_irrelevant": 2 / 8,
        "hallucination": 2 / 8,
        "self_knowledge": 1 / 8,
        "matrix_faithfulness": 5 / 8,
        "claim_recall": 2 / 4,
    }


def test_values_come_with_what_was_counted():
    score = METRICS["context_utilisation"].score(WORKED)
    assert (score.numerator, score.denominator) == (1, 2)
    assert METRICS["chunk_attribution"].score(WORKED).basis == ("1", "2", "3")


def test_a_claim_that_needs_two_contexts_is_entailed_by_none():
    case = a_case(a_sample(reference="A reference."), made=[a_claim("a1"), a_claim("r1", side=REFERENCE)])
    case = judged(case, tuple(METRICS.values()), lambda check: S if len(check.sources) > 1 else U)
    assert METRICS["faithfulness"].score(case).value == METRICS["context_recall"].score(case).value == 1.0
    assert METRICS["matrix_faithfulness"].score(case).value == METRICS["claim_recall"].score(case).value == 0.0
    assert METRICS["context_utilisation"].score(case).reason is Reason.NOTHING_RECALLED


def test_repeated_and_blank_contexts():
    case = table({"a1": (True, "1")}, {"r1": (True, "1")}, texts=("one", "two", "one ", ""))
    score = METRICS["chunk_attribution"].score(case)
    assert (score.value, score.denominator, score.note) == (2 / 3, 3, "1 duplicate")
    assert all(check.sources in {("1",), ("2",)} for check in METRICS["chunk_attribution"].checks(case))


@pytest.mark.parametrize("texts", [(), ("", " ")])
def test_no_context_with_text_entails_nothing_and_no_cell_is_asked(texts):
    case = table({"a1": (True, ""), "a2": (False, "")}, {"r1": (True, "")}, texts=texts)
    assert values(case) == {
        "chunk_attribution": None,
        "context_utilisation": None,
        "noise_sensitivity_relevant": 0.0,
        "noise_sensitivity_irrelevant": 0.0,
        "hallucination": 0.5,
        "self_knowledge": 0.5,
        "matrix_faithfulness": 0.0,
        "claim_recall": 0.0,
    }
    assert {verdict.check.sources for verdict in case.verdicts} == {THE_REFERENCE}
    for name in ("chunk_attribution", "context_utilisation"):
        assert METRICS[name].score(case).reason is Reason.NO_CONTEXTS


def test_without_contexts_a_plain_refusal_is_no_answer_to_be_blamed():
    case = table({}, {"r1": (False, "")}, texts=(), answer="I don't know.")
    reasons = {metric.name: metric.score(case).reason for metric in FAMILY}
    assert reasons["matrix_faithfulness"] is reasons["noise_sensitivity_relevant"] is Reason.REFUSED
    assert reasons["hallucination"] is Reason.NO_CLAIMS


def test_the_same_text_is_right_without_asking():
    case = table({"a1": (False, "1"), "a2": (False, "")}, {"r1": (False, "1")}, answer="A reference!")
    found = values(case)
    assert (found["hallucination"], found["noise_sensitivity_relevant"]) == (0.0, 0.0)
    assert (found["self_knowledge"], found["context_utilisation"]) == (0.5, 1.0)
    assert not {verdict.check.sources for verdict in case.verdicts} & {THE_REFERENCE, THE_ANSWER}


GAPS = [
    ({"reference": None}, NAMES - {"chunk_attribution", "matrix_faithfulness"}, Reason.NO_REFERENCE),
    ({"reference": " "}, NAMES - {"chunk_attribution", "matrix_faithfulness"}, Reason.NO_REFERENCE),
    ({"answer": ""}, NAMES - {"claim_recall"}, Reason.NO_ANSWER),
]


@pytest.mark.parametrize(("texts_of", "without_value", "reason"), GAPS)
def test_a_missing_text_is_named_and_nothing_is_asked(texts_of, without_value, reason):
    case = table({}, {}, **texts_of)
    for name in without_value:
        assert METRICS[name].score(case).reason is reason
        assert METRICS[name].needs_for(case.sample) == frozenset()
        assert METRICS[name].checks(case) == []


@pytest.mark.parametrize("side", [ANSWER, REFERENCE])
def test_claims_that_are_not_there_are_named(side):
    rows = {"answer": {"a1": (True, "1")}, "reference": {"r1": (True, "1")}} | {side: {}}
    reads = {metric.name for metric in FAMILY if f"{side}_claims" in metric.needs}
    no_claims = table(rows["answer"], rows["reference"])
    unsplit = no_claims.having(unsplit=(side,))
    for metric in FAMILY:
        assert (metric.score(no_claims).reason is Reason.NO_CLAIMS) == (metric.name in reads)
        assert (metric.score(unsplit).reason is Reason.UNSPLIT) == (metric.name in reads)


# --- identities ---------------------------------------------------------------------------------------


@law
@given(full_cases())
def test_every_answer_claim_is_entailed_invented_or_known(case):
    parts = [METRICS[name].score(case).value for name in ("matrix_faithfulness", "hallucination", "self_knowledge")]
    assert None in parts or sum(parts) == pytest.approx(1)


@law
@given(full_cases())
def test_every_wrong_claim_has_one_origin(case):
    names = ("hallucination", "noise_sensitivity_relevant", "noise_sensitivity_irrelevant")
    parts = [METRICS[name].score(case).value for name in names]
    precision = METRICS["answer_precision"].score(case).value
    assert None in (*parts, precision) or 1 - precision == pytest.approx(sum(parts))


@law
@given(full_cases())
def test_entailed_by_one_context_is_what_both_views_of_the_matrix_say(case):
    by_claim, by_context = METRICS["matrix_faithfulness"].score(case), METRICS["chunk_attribution"].score(case)
    assert by_context.value is None or (by_claim.value > 0) == (by_context.value > 0)


@law
@given(full_cases(), st.data())
def test_one_more_supported_verdict_never_raises_hallucination(case, data):
    if case.verdicts:
        turned = data.draw(st.sampled_from(case.verdicts))
        better = case.having(verdicts=tuple(v.having(label=S) if v is turned else v for v in case.verdicts))
        before, after = METRICS["hallucination"].score(case), METRICS["hallucination"].score(better)
        assert before.value is None or after.value <= before.value


# --- what is missing -----------------------------------------------------------------------------------


def fillings(case, checks):
    """Every case that the missing verdicts could have made."""
    for labels in product((S, U), repeat=len(checks)):
        said = [Verdict(check=check, label=label) for check, label in zip(checks, labels, strict=True)]
        yield case.having(verdicts=(*case.verdicts, *said))


@pytest.mark.parametrize("seed", range(40))
def test_bounds_hold_all_that_could_have_been_said_and_a_value_is_sure(seed):
    rng = random.Random(seed)
    pick = lambda: (rng.random() < 0.5, rng.choice(["", "1", "2", "12"]))  # noqa: E731
    case = table({"a1": pick(), "a2": pick()}, {"r1": pick(), "r2": pick()}, texts=("one", "two"))
    lost = set(rng.sample([verdict.check for verdict in case.verdicts], 4))
    torn = case.having(verdicts=tuple(verdict for verdict in case.verdicts if verdict.check not in lost))
    possible = list(fillings(torn, sorted(lost, key=repr)))
    for metric in FAMILY:
        seen, could = metric.score(torn), [metric.score(filled) for filled in possible]
        defined = [score.value for score in could if score.value is not None]
        if seen.reason is Reason.UNJUDGED:
            assert len({numbers(score) for score in could}) > 1 or metric.name.startswith("noise")
            assert defined == [] or seen.low <= min(defined) <= max(defined) <= seen.high
            if metric.name in {"context_utilisation", "claim_recall", "hallucination", "matrix_faithfulness"}:
                assert (seen.low, seen.high) == (min(defined), max(defined))
        else:
            assert {numbers(score) for score in could} == {numbers(seen)}


@law
@given(full_cases(), st.randoms(use_true_random=False))
def test_identities_hold_between_bounds_too(case, rng):
    torn = with_holes(case, rng)
    entailed, lost = METRICS["matrix_faithfulness"].score(torn), METRICS["hallucination"].score(torn)
    if entailed.high is not None and lost.low is not None and case.sample.source_ids:
        assert lost.low <= 1 - entailed.low


# --- choosing ------------------------------------------------------------------------------------------


def test_the_family_is_chosen_by_its_name_and_each_member_once():
    assert metrics_of("attribution") == FAMILY
    assert metrics_of(["hallucination", "attribution", "faithfulness"]) == (
        METRICS["hallucination"],
        *(metric for metric in FAMILY if metric.name != "hallucination"),
        METRICS["faithfulness"],
    )
    with pytest.raises(InputError, match="did you mean 'attribution'"):
        metrics_of("atribution")


def test_the_family_asks_each_cell_once():
    wanted = {check for metric in FAMILY for check in metric.checks(WORKED)}
    cells = {Check(claim_id=claim.id, sources=(source,)) for claim in WORKED.claims for source in "123"}
    texts = {Check(claim_id=claim.id, sources=THE_REFERENCE) for claim in WORKED.claims_of(ANSWER)}
    texts |= {Check(claim_id=claim.id, sources=THE_ANSWER) for claim in WORKED.claims_of(REFERENCE)}
    assert wanted == cells | texts
