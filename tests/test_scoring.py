"""Scores of a case in order, and the means and counts of a run."""

import random

import pytest
from metric_cases import MISSING, C, S, U, a_case, a_claim, a_sample, labelled, ratings

from judgekit.metrics import AnswerRelevance, CitationSupport, ContextPrecision, Faithfulness, Refusal, metrics_of
from judgekit.records import (
    Ask,
    Case,
    Evidence,
    Fault,
    Label,
    MetricSummary,
    Rating,
    Reason,
    Result,
    Score,
    Usage,
    Verdict,
)
from judgekit.scoring import score_case, summarize

FAITHFULNESS = Faithfulness()


def a_result(case: Case, *metrics, **known) -> Result:
    return Result(case=case, scores=score_case(case, metrics or (FAITHFULNESS,)), **known)


def of_values(*values) -> list[Result]:
    scores = [
        Score(metric="faithfulness", value=v, numerator=v, denominator=1, reason=None if v is not None else "no_claims")
        for v in values
    ]
    return [Result(case=a_case(), scores=(score,)) for score in scores]


def test_scores_come_in_the_order_of_the_metrics():
    metrics = metrics_of(["answer_relevance", "faithfulness"])
    scores = score_case(labelled([S, U], FAITHFULNESS), metrics)
    assert [score.metric for score in scores] == ["answer_relevance", "faithfulness"]
    assert scores[1].value == 0.5


def test_macro_is_the_mean_of_rows_and_micro_pools_their_claims():
    results = [a_result(labelled(labels, FAITHFULNESS)) for labels in ([S], [U, U, U], [S, U])]
    summary = summarize(results, [FAITHFULNESS])["faithfulness"]
    assert (summary.macro, summary.micro, summary.scored) == (0.5, pytest.approx(2 / 6), 3)


def test_undefined_rows_stay_out_of_both_means_and_are_counted_by_reason():
    results = [
        a_result(labelled([S, S], FAITHFULNESS)),
        a_result(labelled([S, MISSING], FAITHFULNESS)),
        a_result(a_case()),
        a_result(a_case(a_sample(answer=""))),
        Result(case=a_case()),
    ]
    summary = summarize(results, [FAITHFULNESS])["faithfulness"]
    assert (summary.macro, summary.micro, summary.scored) == (1.0, 1.0, 1)
    assert summary.undefined == {"no_answer": 1, "no_claims": 1, "not_scored": 1, "unjudged": 1}


def test_a_failed_row_is_not_a_failed_answer():
    summary = summarize(of_values(1.0, 1.0, 1.0, None, 1.0), [FAITHFULNESS])
    assert summary.rows == 5
    assert (summary["faithfulness"].macro, summary["faithfulness"].scored) == (1.0, 4)


@pytest.mark.parametrize("results", [[], of_values(None)])
def test_nothing_defined_is_no_mean(results):
    summary = summarize(results, [FAITHFULNESS])["faithfulness"]
    assert (summary.macro, summary.micro, summary.scored) == (None, None, 0)


def test_a_metric_without_counts_has_no_micro_mean():
    bare = Score(metric="faithfulness", value=0.5)
    summary = summarize([Result(case=a_case(), scores=(bare,))], [FAITHFULNESS])["faithfulness"]
    assert (summary.macro, summary.micro) == (0.5, None)


def test_means_do_not_depend_on_the_order_of_the_rows_to_the_last_bit():
    rng = random.Random(7)
    results = of_values(*(rng.random() for _ in range(200)))
    first = summarize(results, [FAITHFULNESS])
    assert all(summarize(rng.sample(results, 200), [FAITHFULNESS]) == first for _ in range(5))
    assert summarize(of_values(*[0.1] * 10), [FAITHFULNESS])["faithfulness"].macro == 0.1


def test_the_same_counts_are_the_same_bytes_in_any_order():
    results = [a_result(labelled([label], FAITHFULNESS)) for label in (U, S, C)]
    results += [a_result(a_case(a_sample(answer=""))), a_result(a_case())]
    there, back = summarize(results, [FAITHFULNESS]), summarize(reversed(results), [FAITHFULNESS])
    assert there.model_dump_json() == back.model_dump_json()


def test_results_are_read_once_and_none_is_kept():
    alive = 0

    class Counted(Result):
        def __del__(self):
            nonlocal alive
            alive -= 1

    def stream():
        nonlocal alive
        for _ in range(50):
            alive += 1
            yield Counted(case=a_case())
            assert alive <= 2

    assert summarize(stream(), [FAITHFULNESS]).rows == 50


def test_what_a_micro_mean_of_rankings_is():
    metric = ContextPrecision()
    cases = [a_case(a_sample(["x", "y"]), rated=ratings("relevance", {"1": g, "2": h})) for g, h in ("03", "30", "00")]
    summary = summarize([a_result(case, metric) for case in cases], [metric])["context_precision"]
    assert summary.macro == summary.micro == 0.5


def test_refusal_is_a_table():
    metric = Refusal()
    rows = [("yes", "yes"), ("yes", "no"), ("no", "yes"), ("no", "yes"), ("no", None)]
    results = [
        a_result(a_case(rated=ratings("refusal", {"answer": r}) + ratings("sufficiency", {"contexts": s})), metric)
        for r, s in rows
    ]
    summary = summarize(results, [metric])["refusal"]
    assert summary.labels == {"answered_sufficient": 2, "due_refusal": 1, "over_refusal": 1}
    assert (summary.macro, summary.scored, summary.undefined) == (0.5, 4, {"unjudged": 1})


def test_verdicts_ratings_causes_and_faults_are_counted():
    case = labelled([S, C, U, MISSING], FAITHFULNESS)
    check = FAITHFULNESS.checks(case)[3]
    failed = (Verdict(check=check, label=Label.UNJUDGED, cause="timeout"),)
    rated = (
        Rating(kind="relevance", subject="1", label="2"),
        Rating(kind="relevance", subject="2", label=None, cause="timeout"),
        Rating(kind="relevance", subject="3", label=None),
    )
    faults = (Fault(stage="split", cause="timeout", message="m"), Fault(stage="verify", cause="missing", message="m"))
    result = a_result(case.having(verdicts=(*case.verdicts, *failed), ratings=rated), faults=faults)
    summary = summarize([result, result], [FAITHFULNESS])
    assert summary.verdicts == {"contradicted": 2, "supported": 2, "unjudged": 2, "unsupported": 2}
    assert (summary.judged, summary.unjudged) == (8, 6)
    assert summary.causes == {"timeout": 4, "unknown": 2}
    assert summary.faults == {"split: timeout": 2, "verify: missing": 2}


def test_evidence_dangling_invented_and_usage_add_up():
    case = labelled([S], FAITHFULNESS)
    quotes = (
        Evidence(context_id="1", quote="one", verified=True),
        Evidence(context_id="1", quote="uno", verified=False),
    )
    case = case.having(
        claims=(*case.claims, a_claim("a9", dangling=["7", "8"])),
        verdicts=(case.verdicts[0].having(evidence=quotes),),
        invented_claims=("Children travel free",),
    )
    usage = Usage(calls=2, prompt_tokens=30, completion_tokens=5)
    summary = summarize([a_result(case, usage=usage)] * 3, [FAITHFULNESS])
    assert (summary.evidence_quoted, summary.evidence_verified) == (6, 3)
    assert (summary.dangling, summary.invented_claims) == (6, 3)
    assert summary.usage == Usage(calls=6, prompt_tokens=90, completion_tokens=15)


def test_metrics_keep_their_order_and_their_direction():
    chosen = metrics_of(["contradiction_rate", "faithfulness"])
    summary = summarize([], chosen)
    assert [(m.metric, m.lower_is_better) for m in summary.metrics] == [
        ("contradiction_rate", True),
        ("faithfulness", False),
    ]
    assert isinstance(summary["faithfulness"], MetricSummary)


def test_an_off_topic_answer_is_no_perfect_row():
    """No claim in the answer: faithfulness has no value, and an ask that was ignored makes relevance 0."""
    case = a_case(rated=ratings("ask", {"k1": "ignored"}), asks=(Ask(id="k1", text="?"),))
    metrics = (FAITHFULNESS, AnswerRelevance(), CitationSupport())
    scores = score_case(case, metrics)
    assert [(score.value, score.reason) for score in scores] == [
        (None, Reason.NO_CLAIMS),
        (0.0, None),
        (None, Reason.NO_CLAIMS),
    ]
