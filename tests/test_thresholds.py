"""Thresholds on probabilities: what a metric counts when a label needs a least probability."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from decision_server import MODEL, decision_server
from metric_cases import a_case, a_claim, a_sample
from misbehaving import Server
from scripts import Truth, lines, row

import judgekit as jk
from judgekit.cli import cli
from judgekit.errors import InputError
from judgekit.metrics import METRICS
from judgekit.metrics.base import VerdictMetric
from judgekit.records import REFERENCE, THE_ANSWER, THE_REFERENCE, Case, Check, Label, Verdict

COUNTING = {name: metric for name, metric in METRICS.items() if isinstance(metric, VerdictMetric)}
BY_LABEL = {
    "faithfulness", "contradiction_rate", "citation_support", "citation_support_weighted", "citation_recall",
    "citation_precision", "citation_precision_graded", "context_recall", "answer_correctness", "answer_precision",
    "answer_recall", "chunk_attribution", "context_utilisation", "noise_sensitivity_relevant",
    "noise_sensitivity_irrelevant", "hallucination", "self_knowledge", "matrix_faithfulness", "claim_recall",
}  # fmt: skip


def chances(supported: float, contradicted: float = 0.0) -> dict[str, float]:
    rest = 1 - supported - contradicted
    return {"contradicted": contradicted, "unsupported": rest, "partially_supported": 0.0, "supported": supported}


def verdict(label: str, probabilities: dict[str, float] | None) -> Verdict:
    return Verdict(check=Check(claim_id="c1", sources=("1",)), label=Label(label), probabilities=probabilities)


@pytest.mark.parametrize(
    ("label", "probabilities", "least", "becomes"),
    [
        ("supported", chances(0.9), 0.8, "supported"),
        ("supported", chances(0.8), 0.8, "supported"),  # from it on
        ("supported", chances(0.7), 0.8, "unsupported"),
        ("supported", chances(0.6, 0.3), 0.8, "contradicted"),  # the likeliest of the others
        ("unsupported", chances(0.4), 0.3, "supported"),  # also where another is likelier
        ("unsupported", chances(0.4), 0.5, "unsupported"),
        ("unsupported", chances(0.0), 0.0, "supported"),
        ("supported", None, 0.8, "unjudged"),
        ("unsupported", None, 0.8, "unjudged"),
        ("supported", {"supported": 0.7}, 0.8, "unjudged"),  # nobody knows what else it might be
        ("unjudged", None, 0.8, "unjudged"),
    ],
)
def test_a_verdict_is_supported_exactly_when_that_is_likely_enough(
    label: str, probabilities: dict[str, float] | None, least: float, becomes: str
) -> None:
    held = verdict(label, probabilities).held_to(Label.SUPPORTED, least)
    assert held.label == becomes
    assert held.held_to(Label.SUPPORTED, least) == held
    assert held.cause == ("no_probabilities" if becomes == "unjudged" and label != "unjudged" else None)
    if held.label != label and probabilities and len(probabilities) > 1:
        assert f"P(supported) = {probabilities['supported']:g}" in (held.reason or "")


def test_all_metrics_that_count_verdicts_have_a_threshold() -> None:
    assert set(COUNTING) == BY_LABEL


def a_case_of(supported: float, label: str) -> Case:
    """One claim a side, cited, and every verdict of it with the same probability."""
    claims = [a_claim("c1", ["1"]), a_claim("r1", side=REFERENCE)]
    held = [("c1", ("1",)), ("c1", THE_REFERENCE), ("r1", ("1",)), ("r1", THE_ANSWER)]
    verdicts = [
        Verdict(check=Check(claim_id=c, sources=s), label=Label(label), probabilities=chances(supported))
        for c, s in held
    ]
    sample = a_sample(["One."], answer="It is one.", reference="That is two.")
    return a_case(sample, made=claims, verdicts=tuple(verdicts))


@pytest.mark.parametrize("name", sorted(COUNTING))
def test_a_metric_under_a_threshold_scores_as_if_the_labels_were_those_that_reach_it(name: str) -> None:
    metric = COUNTING[name]
    is_about_support = metric.counts is Label.SUPPORTED
    strict = type(metric)(min_probability=0.8)
    unsure, sure = a_case_of(0.7, "supported"), a_case_of(0.9, "supported")
    assert strict.score(sure) == metric.score(sure)
    as_unsupported = a_case_of(0.7, "unsupported")
    assert strict.score(unsure) == metric.score(as_unsupported if is_about_support else unsure)
    lax = type(metric)(min_probability=0.6)
    assert lax.score(as_unsupported) == metric.score(unsure if is_about_support else as_unsupported)
    bare = unsure.having(verdicts=tuple(one.having(probabilities=None) for one in unsure.verdicts))
    assert strict.score(bare).reason == "unjudged"


def test_a_case_that_was_looked_at_before_is_held_all_the_same() -> None:
    """What a record remembers of itself must not come along into the changed one."""
    case = a_case_of(0.7, "supported")
    assert case.label(case.verdicts[0].check) is Label.SUPPORTED
    assert case.held_to(Label.SUPPORTED, 0.8).label(case.verdicts[0].check) is Label.UNSUPPORTED
    assert case.held_to(Label.SUPPORTED, None) is case


def test_contradiction_is_held_to_its_own_probability() -> None:
    verdicts = (verdict("contradicted", chances(0.3, 0.7)),)
    case = a_case(a_sample(["One."]), made=[a_claim("c1")], verdicts=verdicts)
    found = [type(METRICS["contradiction_rate"])(min_probability=p).score(case).value for p in (0.6, 0.7, 0.8)]
    assert found == [1.0, 1.0, 0.0]


@pytest.mark.parametrize("name", sorted(COUNTING))
def test_a_threshold_is_an_option_only_where_it_is_set(name: str) -> None:
    metric = COUNTING[name]
    assert "min_probability" not in metric.options
    assert type(metric)(min_probability=0.5).options == {**metric.options, "min_probability": 0.5}
    with pytest.raises(InputError, match=r"min_probability=1\.5 is not a share"):
        type(metric)(min_probability=1.5)


def command(*arguments: object) -> str:
    done = CliRunner().invoke(cli, [str(argument) for argument in arguments], env={"OPENAI_API_KEY": ""})
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_run_is_rescored_under_another_threshold_without_a_judge(tmp_path: Path) -> None:
    log, out = tmp_path / "log.jsonl", tmp_path / "run"
    log.write_text(lines([row(1), row(2)]), encoding="utf-8")
    alone = ("--decider", MODEL, "--split", "segments", "--metrics", "faithfulness")
    with Server(decision_server(Truth(), chance=0.75)) as server:
        judged = ("run", log, "-o", out, "--decider-url", server.url, *alone)
        shown = command(*judged, "--set", "faithfulness.min_probability=0.8")
        assert "Thresholds  faithfulness from a probability of 0.8" in shown
        paid = len(server.requests)
        command(*judged, "--set", "faithfulness.min_probability=0.7")
        assert len(server.requests) == paid, "another threshold asks nothing, also where the run goes on"
    run = jk.load_run(out)
    assert {verdict.label for result in run for verdict in result.verdicts} == {"supported"}, "as the judge said"
    found = {}
    for least in ("0.7", "0.75", "0.8", "null"):
        told = json.loads(command("rescore", out, "--json", "--set", f"faithfulness.min_probability={least}"))
        found[least] = told["metrics"]["faithfulness"]
    assert {least: one["macro"] for least, one in found.items()} == {"0.7": 1.0, "0.75": 1.0, "0.8": 0.0, "null": 1.0}
    assert len({one["pin"] for one in found.values()}) == 4
    assert found["0.8"]["options"] == {"partial": 0.0, "min_probability": 0.8}
    assert found["null"]["options"] == {"partial": 0.0}
