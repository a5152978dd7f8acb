"""Entailment classifiers as deciders: two texts out, a probability for each class back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from misbehaving import Reply, Request, Server, answer, error

import judgekit as jk
from judgekit.cli import cli
from judgekit.errors import InputError, JudgeUnusable
from judgekit.judge import Judge
from judgekit.judge.asking import Asked
from judgekit.records import Label
from judgekit.wire import Choice, JudgeRequest, Option, Pair, YesNo

S, U, C, P = "supported", "unsupported", "contradicted", "partially_supported"
PREMISE = "The mill has six sails."
OPTIONS = {"entailment": S, "neutral": U, "contradiction": C}
NUMBERED = {"0": "contradiction", "1": "neutral", "2": "entailment"}
JOINED = "{premise}</s></s>{hypothesis}"


def request(*claims: str) -> JudgeRequest:
    questions = tuple(
        Choice(
            id=f"a{n}",
            ask="Which?",
            options=tuple(Option(value=value) for value in (C, U, P, S)),
            pair=Pair(hypothesis=claim, **OPTIONS),
        )
        for n, claim in enumerate(claims or ("It has six sails.",), start=1)
    )
    return JudgeRequest(task="t", role="r", input="[1] ...", premise=PREMISE, questions=questions)


def tei(*rows: Mapping[str, float]) -> Reply:
    """As Text Embeddings Inference answers a batch: the classes of each pair, the likeliest first."""
    ordered = (sorted(row.items(), key=lambda one: -one[1]) for row in rows)
    return answer([[{"label": label, "score": score} for label, score in row] for row in ordered])


def vllm(*rows: Sequence[float], **fields: Any) -> Reply:
    entries = [{"index": n, "label": "x", "probs": [*row], "num_classes": len(row)} for n, row in enumerate(rows)]
    usage = {"prompt_tokens": 9, "total_tokens": 9, "completion_tokens": 0}
    return answer({"id": "c", "object": "list", "model": "nli", "data": entries, "usage": usage, **fields})


def judge_at(server: Server, form: str = "tei-predict", **options: Any) -> Judge:
    shape = {"decider_labels": NUMBERED, "decider_pair": JOINED} if form == "vllm-classify" else {}
    return Judge(
        decider="nli",
        decider_url=server.url,
        decider_form=form,
        **{"max_attempts": 1, "timeout": 10.0, **shape, **options},
    )


def scored(judge: Judge, **sample: Any) -> jk.Result:
    """An answer scored by its sentences, faithfulness unless told otherwise; nothing is left open."""
    with judge:
        given = {"question": "?", "metrics": "faithfulness", **sample}
        return jk.score(**given, judge=judge, options=jk.Options(split="segments"))


def ask(judge: Judge, *requests: JudgeRequest) -> list[Asked]:
    async def all_of_them() -> list[Asked]:
        async with judge:
            return list(await asyncio.gather(*(judge.ask(one) for one in requests or [request()])))

    return asyncio.run(all_of_them())


def told(reply: Reply, **options: Any) -> Any:
    with Server(reply) as server:
        return ask(judge_at(server, **options))[0].answers["a1"]


# --- what is sent --------------------------------------------------------------------------------------


def test_tei_is_sent_pairs_and_asked_not_to_cut_them() -> None:
    both = tei({"entailment": 0.9, "neutral": 0.1}, {"contradiction": 0.7, "neutral": 0.3})
    with Server(both) as server:
        (asked,) = ask(judge_at(server), request("It has six.", "It has two."))
        (sent,) = server.requests
    assert sent.path == "/v1/predict"
    assert sent.body == {
        "inputs": [[PREMISE, "It has six."], [PREMISE, "It has two."]],
        "truncate": False,
        "raw_scores": False,
    }
    assert [a.label for a in asked.answers.values()] == [S, C]


def test_vllm_is_sent_one_text_for_each_pair_in_the_shape_that_was_given() -> None:
    with Server(vllm([0.1, 0.2, 0.7])) as server:
        (asked,) = ask(judge_at(server, "vllm-classify"), request("a {premise} in {hypothesis}"))
        (sent,) = server.requests
    assert sent.path == "/v1/classify"
    assert sent.body == {"model": "nli", "input": [f"{PREMISE}</s></s>a {{premise}} in {{hypothesis}}"]}
    assert asked.answers["a1"].probabilities == {S: 0.7, U: 0.2, C: 0.1, P: 0.0}
    assert asked.calls[0].prompt_tokens == 9


def test_more_pairs_than_a_server_takes_go_out_in_several_calls() -> None:
    def handle(one: Request) -> Reply:
        return tei(*[{"entailment": 1.0}] * len(one.body["inputs"]))

    with Server(handle) as server:
        ask(judge_at(server), request(*(f"claim {n}" for n in range(70))))
        assert sorted(len(one.body["inputs"]) for one in server.requests) == [6, 32, 32]


# --- what is read --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "probabilities"),
    [
        ({"entailment": 0.7, "neutral": 0.2, "contradiction": 0.1}, {S: 0.7, U: 0.2, C: 0.1}),
        ({"ENTAILMENT": 0.2, "Neutral": 0.3, "CONTRADICTION": 0.5}, {S: 0.2, U: 0.3, C: 0.5}),
        ({"entailment": 0.4, "not_entailment": 0.6}, {S: 0.4, U: 0.6, C: 0.0}),
        ({"SUPPORTS": 0.1, "REFUTES": 0.2, "NOT ENOUGH INFO": 0.7}, {S: 0.1, U: 0.7, C: 0.2}),
        ({"consistent": 0.9, "hallucinated": 0.1}, {S: 0.9, U: 0.1, C: 0.0}),
    ],
)
def test_classes_are_known_by_their_names(row: dict[str, float], probabilities: dict[str, float]) -> None:
    found = told(tei(row))
    assert found.probabilities == {**probabilities, P: 0.0}
    assert found.label == max(probabilities, key=lambda label: probabilities[label])


def test_what_classes_mean_can_be_said_and_then_counts_alone() -> None:
    row = {"LABEL_0": 0.3, "LABEL_1": 0.7}
    assert told(tei(row), decider_labels={"LABEL_0": "neutral", "LABEL_1": "entailment"}).probabilities == {
        S: 0.7,
        U: 0.3,
        C: 0.0,
        P: 0.0,
    }
    with pytest.raises(JudgeUnusable, match="it is not known what neutral mean"):
        told(tei({"entailment": 0.5, "neutral": 0.5}), decider_labels={"entailment": "entailment"})


@pytest.mark.parametrize("score", [0.8, 0.2])
def test_a_checker_with_one_class_tells_the_rest_by_it(score: float) -> None:
    found = told(tei({"LABEL_0": score}), decider_labels={"LABEL_0": "entailment"})
    assert (found.label, found.probabilities) == (
        S if score > 0.5 else U,
        {S: score, U: round(1 - score, 6), C: 0.0, P: 0.0},
    )


def test_nameless_classes_are_refused_until_somebody_says_what_they_mean() -> None:
    with pytest.raises(JudgeUnusable, match=r"LABEL_0, LABEL_1 mean; say so for every class.*--decider-label LABEL_0="):
        told(tei({"LABEL_0": 0.3, "LABEL_1": 0.7}))


def test_replies_of_vllm_are_put_in_order_by_their_index() -> None:
    entries = [{"index": 1, "probs": [0, 0, 1]}, {"index": 0, "probs": [1, 0, 0]}]
    with Server(answer({"data": entries, "model": "nli"})) as server:
        (asked,) = ask(judge_at(server, "vllm-classify"), request("one", "two"))
    assert [a.label for a in asked.answers.values()] == [C, S]


BROKEN: dict[str, Callable[[], Reply]] = {
    "too few rows": tei,
    "no list": lambda: answer({"error_type": "?"}),
    "a flat list": lambda: answer([{"label": "entailment", "score": 0.5}]),
    "no number": lambda: answer([[{"label": "entailment", "score": "high"}]]),
    "logits": lambda: answer([[{"label": "entailment", "score": 3.2}]]),
    "an error": lambda: error(500),
}


@pytest.mark.parametrize("reply", BROKEN.values(), ids=BROKEN)
def test_a_reply_that_is_none_is_a_failed_call(reply: Callable[[], Reply]) -> None:
    found = told(reply())
    assert (found.label, found.cause) == (None, "server_error")


# --- what cannot be asked ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"decider_form": "vllm-classify"}, "by the number of a class"),
        ({"decider_form": "vllm-classify", "decider_labels": NUMBERED}, "--decider-pair '{premise}"),
        (
            {"decider_form": "vllm-classify", "decider_labels": NUMBERED, "decider_pair": "{premise}"},
            "--decider-pair '{premise}",
        ),
        ({"decider_form": "tei-predict", "decider_labels": {"0": "true"}}, "cannot mean true"),
        ({"decider_form": "tei-predict", "decider_labels": {"0": "neutral"}}, "it could support nothing"),
        (
            {"decider_labels": {"0": "entailment"}},
            "are for classifiers: give decider_form tei-predict or vllm-classify",
        ),
    ],
)
def test_what_a_form_cannot_do_without_is_said_at_once(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Judge(decider="nli", decider_url="http://127.0.0.1:9/v1", **options)


def test_what_is_no_pair_is_refused_before_anything_is_sent() -> None:
    asked = JudgeRequest(task="refusal", role="r", input="i", questions=(YesNo(id="a1", ask="?"),))
    with Server(tei()) as server, pytest.raises(InputError, match="refusal asks something else"):
        ask(judge_at(server), asked)
    assert server.requests == []


@pytest.mark.parametrize("metric", ["context_relevance", "answer_relevance", "refusal", "context_sufficiency"])
def test_a_metric_that_asks_anything_else_is_refused_before_anything_is_sent(metric: str) -> None:
    with Server(tei()) as server, pytest.raises(InputError, match=f"leave out {metric}"):
        scored(judge_at(server), answer="It is.", contexts=["x"], metrics=["faithfulness", metric])
    assert server.requests == []


# --- as a judge ----------------------------------------------------------------------------------------


def truthful(one: Request) -> Reply:
    rows = []
    for premise, hypothesis in one.body["inputs"]:
        known = hypothesis in premise
        rows.append({"entailment": 0.9 if known else 0.1, "neutral": 0.1 if known else 0.9})
    return tei(*rows)


def test_a_classifier_alone_judges_sentences_against_the_raw_sources_and_evidence_is_aligned() -> None:
    with Server(truthful) as server:
        contexts = ["The mill has six sails.", {"id": "x", "text": 'It was "built" in 1800.', "title": "Mills"}]
        result = scored(judge_at(server), answer="The mill has six sails. It is red.", contexts=contexts)
        sent = server.requests[0].body["inputs"][0][0]
    assert sent == 'The mill has six sails.\n\nMills\nIt was "built" in 1800.'
    assert [verdict.label for verdict in result.verdicts] == [Label.SUPPORTED, Label.UNSUPPORTED]
    assert result["faithfulness"].value == 0.5
    assert result.verdicts[0].evidence[0].aligned


def test_sources_that_are_too_long_are_asked_in_parts() -> None:
    def handle(one: Request) -> Reply:
        if any(len(premise) > 600 for premise, _ in one.body["inputs"]):
            message = "Input validation error: `inputs` must have less than 512 tokens. Given: 700"
            return answer({"error": message, "error_type": "Validation"}, status=413)
        return truthful(one)

    with Server(handle) as server:
        contexts = ["The mill has six sails. " * 20, "It is red. " * 20]
        result = scored(judge_at(server), answer="The mill has six sails.", contexts=contexts)
    (verdict,) = result.verdicts
    assert (verdict.label, verdict.in_parts) == (Label.SUPPORTED, True)


def test_from_the_command_line_with_its_pin_and_its_replay(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    row = {"id": "1", "question": "?", "answer": "The mill has six sails.", "contexts": ["The mill has six sails."]}
    log.write_text(json.dumps(row) + "\n", "utf-8")
    common = f"--metrics faithfulness --split segments --cassette {tmp_path / 'tape.jsonl'}"
    with Server(vllm([0.1, 0.2, 0.7])) as server:
        given = f"run {log} -o {tmp_path / 'run'} --decider nli-1.0 --decider-url {server.url} --record {common}"
        given += " --decider-form vllm-classify --decider-label 0=contradiction --decider-label 1=neutral"
        given += " --decider-label 2=entailment --decider-pair {premise}|{hypothesis}"
        done = CliRunner().invoke(cli, given.split())
        assert done.exit_code == 0, done.output
        assert server.requests[0].body["input"] == ["The mill has six sails.|The mill has six sails."]
    again = CliRunner().invoke(cli, f"run {log} -o {tmp_path / 'again'} {common}".split())
    assert again.exit_code == 0, again.output
    first, second = (jk.load_run(tmp_path / name) for name in ("run", "again"))
    assert [r.verdicts for r in first] == [r.verdicts for r in second]
    assert first.manifest.metrics == second.manifest.metrics
    assert first.manifest.judge["decider"]["settings"] == {  # type: ignore[index,call-overload]
        "labels": NUMBERED,
        "pair": "{premise}|{hypothesis}",
    }
    bad = CliRunner().invoke(cli, [*given.split(), "--decider-label", "entailment"])
    assert isinstance(bad.exception, InputError)


def test_what_the_classes_mean_is_part_of_the_pin_and_asks_nothing_anew(tmp_path: Path) -> None:
    row = {"LABEL_0": 0.3, "LABEL_1": 0.7}
    with Server(tei(row)) as server:
        for meant in ("entailment", "contradiction"):
            labels = {"LABEL_0": "entailment" if meant != "entailment" else "neutral", "LABEL_1": meant}
            judge = judge_at(server, decider_labels=labels, cache=tmp_path / "kept")
            found = ask(judge)[0].answers["a1"]
            assert found.label == OPTIONS[meant]
        assert len(server.requests) == 1
