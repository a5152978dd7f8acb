"""The contract of every kind of judge behind an endpoint: the same questions, the same answers, the same failures.

A new kind joins by a line in `KINDS`: how its endpoint answers, and how a judge of it is made.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from math import log
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from decision_server import decision_server
from misbehaving import Handler, Reply, Request, Server, answer, chat, error, html, no_answer

from judgekit.errors import CassetteMiss, JudgeDrift, JudgeUnusable, RequestTooLong
from judgekit.judge import Judge
from judgekit.judge.asking import Asked
from judgekit.wire import Choice, Grade, JudgeRequest, Option, Pair, YesNo, canonical

KEY = "sk-secret-and-long"
MODEL = "m-2026-01-01"
TRUTH = {"a1": "supported", "a2": "no", "a3": "helps", "a4": "contradicted"}


def options(*values: str) -> tuple[Option, ...]:
    return tuple(Option(value=value, description=f"it is {value}") for value in values)


LABELS = options("contradicted", "unsupported", "partially_supported", "supported")
REQUEST = JudgeRequest(
    task="check",
    role="You check statements.",
    input='[1] "It rains."',
    questions=(
        Choice(id="a1", ask="Which label?", text='"item a1"', options=LABELS),
        YesNo(id="a2", ask="Does it?", text='"item a2"', options=options("yes", "no")),
        Grade(
            id="a3", ask="Which grade?", text='"item a3"', options=options("irrelevant", "mentions", "helps", "answers")
        ),
        Choice(id="a4", ask="Which label?", text='"item a4"', options=LABELS),
    ),
)


#: The questions that are pairs of texts: all that a classifier can be asked.
PAIRS = JudgeRequest(
    task="check",
    role="You check statements.",
    input='[1] "It rains."',
    premise="It rains.",
    questions=tuple(
        Choice(
            id=i,
            ask="Which label?",
            text=f'"item {i}"',
            options=LABELS,
            pair=Pair(
                hypothesis=f"item {i}", entailment="supported", neutral="unsupported", contradiction="contradicted"
            ),
        )
        for i in ("a1", "a4")
    ),
)


# --- the kinds -----------------------------------------------------------------------------------------


def writes(model: str) -> Handler:
    """A chat model: JSON with a label for every id in the schema."""

    def handle(request: Request) -> Reply:
        asked = request.body["response_format"]["json_schema"]["schema"]["required"]
        return chat(json.dumps({i: TRUTH[i] for i in asked}), model=model)

    return handle


def reads_out(model: str) -> Handler:
    """A chat model that is asked for one token: the letter, or the word, of the one option that is meant."""

    def handle(request: Request) -> Reply:
        system, user = (message["content"] for message in request.body["messages"])
        (asked,) = re.findall(r"item (a\d)", user)
        letters = {value: letter for letter, value in re.findall(r"^([A-Z]): (\w+)", system, re.MULTILINE)}
        said = letters.get(TRUTH[asked], TRUTH[asked])
        top = {"token": said, "logprob": log(0.9), "bytes": None}
        return chat(said, model=model, logprobs={"content": [{**top, "top_logprobs": [top]}]})

    return handle


class _Known:
    """A truth by the ids of the questions, for the server of decisions."""

    def answer(self, request: JudgeRequest) -> dict[str, str]:
        return {i: TRUTH[i] for i in request.ids}


def decides(form: str) -> Callable[[str], Handler]:
    return lambda model: decision_server(_Known(), form=form, model=model)


RELATIONS = {"supported": "entailment", "unsupported": "neutral", "contradicted": "contradiction"}


def predicts(_model: str) -> Handler:
    """Text Embeddings Inference: the classes of each pair by name. It never says which model it serves."""

    def handle(request: Request) -> Reply:
        rows = []
        for _premise, hypothesis in request.body["inputs"]:
            true = RELATIONS[TRUTH[hypothesis.removeprefix("item ")]]
            rows.append([{"label": name, "score": 0.9 if name == true else 0.05} for name in RELATIONS.values()])
        return answer(rows)

    return handle


def classifies(model: str) -> Handler:
    """vLLM: the classes of each text by number."""

    def handle(request: Request) -> Reply:
        rows = []
        for n, text in enumerate(request.body["input"]):
            true = TRUTH[text.partition("|item ")[2]]
            rows.append({"index": n, "probs": [0.9 if label == true else 0.05 for label in RELATIONS]})
        return answer({"model": model, "data": rows})

    return handle


class Kind(NamedTuple):
    """How an endpoint of this kind answers as a model of that name, what a judge of it is made with, what it is asked,
    and whether its replies name the model."""

    answering: Callable[[str], Handler]
    judge: Callable[[str], Mapping[str, Any]]
    request: JudgeRequest = REQUEST
    names_model: bool = True


def _model(url: str) -> dict[str, Any]:
    return {"model": MODEL, "base_url": url}


def _decider(url: str) -> dict[str, Any]:
    return {"decider": MODEL, "decider_url": url}


KINDS = {
    "chat": Kind(writes, _model),
    "readout": Kind(reads_out, lambda url: {**_model(url), "readout": True}),
    "decisions": Kind(decides("decisions"), _decider),
    "systemone": Kind(decides("systemone"), _decider),
    "chat with logprobs": Kind(writes, lambda url: {**_model(url), "confidence": "logprobs"}),
    "a panel": Kind(writes, lambda url: {**_model(url), "panel": ["n-2026-01-01", "o-2026-01-01"]}),
    "votes": Kind(writes, lambda url: {**_model(url), "votes": 3, "params": {"temperature": 0.7}}),
    "tei-predict": Kind(predicts, lambda url: {**_decider(url), "decider_form": "tei-predict"}, PAIRS, False),
    "vllm-classify": Kind(
        classifies,
        lambda url: {
            **_decider(url),
            "decider_form": "vllm-classify",
            "decider_labels": {str(n): relation for n, relation in enumerate(RELATIONS.values())},
            "decider_pair": "{premise}|{hypothesis}",
        },
        PAIRS,
    ),
    "systemone, given": Kind(decides("systemone"), lambda url: {**_decider(url), "decider_form": "systemone"}),
}


@pytest.fixture(params=KINDS.values(), ids=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    found: Kind = request.param
    return found


def judge_at(kind: Kind, server: Server, **more: Any) -> Judge:
    return Judge(**{**kind.judge(server.url), "api_key": KEY, "timeout": 10.0, "max_attempts": 1, **more})


def ask(judge: Judge, *requests: JudgeRequest) -> list[Asked]:
    async def in_turn() -> list[Asked]:
        async with judge:
            return [await judge.ask(one) for one in requests]

    return asyncio.run(in_turn())


def labels(asked: Asked) -> dict[str, str | None]:
    return {i: answer.label for i, answer in asked.answers.items()}


def truth(kind: Kind) -> dict[str, str]:
    return {i: TRUTH[i] for i in kind.request.ids}


def stored(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


# --- the contract --------------------------------------------------------------------------------------


def test_the_same_questions_have_the_same_answers(kind: Kind) -> None:
    with Server(kind.answering(MODEL)) as server:
        (asked,) = ask(judge_at(kind, server), kind.request)
    assert labels(asked) == truth(kind)
    for question in kind.request.questions:
        chances = asked.answers[question.id].probabilities
        if chances is not None:
            assert set(chances) == {option.value for option in question.options}
            assert sum(chances.values()) == pytest.approx(1, abs=0.01)
            assert max(chances, key=lambda value: chances[value]) == TRUTH[question.id]
    assert all(answer.calls for answer in asked.answers.values())


def test_what_was_answered_is_paid_once(kind: Kind, tmp_path: Path) -> None:
    with Server(kind.answering(MODEL)) as server:
        first, second = ask(judge_at(kind, server, cache=tmp_path / "cache"), kind.request, kind.request)
        paid = len(server.requests)
        (third,) = ask(judge_at(kind, server, cache=tmp_path / "cache"), kind.request)
        assert len(server.requests) == paid
    assert first.answers == second.answers == third.answers


@pytest.mark.parametrize(
    ("reply", "cause"),
    [
        (error(500, "out of order"), "server_error"),
        (error(429, "slow down"), "rate_limited"),
        (html(200, "Welcome"), "server_error"),
        (no_answer(), "connection"),
        (error(400, "flagged by our content policy", code="content_filter"), "content_filter"),
    ],
)
def test_a_failed_call_is_no_answer_and_is_asked_anew(kind: Kind, reply: Reply, cause: str, tmp_path: Path) -> None:
    with Server(kind.answering(MODEL)) as server:
        ask(
            judge_at(kind, server, cache=tmp_path / "cache"), kind.request.only(["a4"])
        )  # by now it is known who answers
        right, server._handler = server._handler, lambda _: reply
        (failed,) = ask(judge_at(kind, server, cache=tmp_path / "cache", api_key=KEY), kind.request)
        assert labels(failed) == dict.fromkeys(truth(kind))
        assert {answer.cause for answer in failed.answers.values()} == {cause}
        server._handler = right
        (asked,) = ask(judge_at(kind, server, cache=tmp_path / "cache"), kind.request)
    assert labels(asked) == truth(kind)


def test_an_input_that_is_too_long_is_said_so(kind: Kind) -> None:
    reply = error(400, "This model's maximum context length is 10 tokens", code="context_length_exceeded")
    with Server(reply) as server, pytest.raises(RequestTooLong):
        ask(judge_at(kind, server), kind.request)


def test_a_wrong_key_stops_and_the_key_is_shown_nowhere(kind: Kind) -> None:
    with Server(error(401, f"Incorrect API key provided: {KEY}")) as server:
        with pytest.raises(JudgeUnusable, match="API key") as stopped:
            ask(judge_at(kind, server), kind.request)
        assert KEY not in str(stopped.value)
        assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {KEY}"}


def test_another_model_stops(kind: Kind) -> None:
    if not kind.names_model:
        pytest.skip("its replies do not say which model answered")
    with Server(kind.answering(MODEL)) as server:

        async def turn() -> None:
            async with judge_at(kind, server) as judge:
                await judge.ask(kind.request.only(["a1"]))
                server._handler = kind.answering("m-2026-02-02")
                await judge.ask(kind.request)

        with pytest.raises(JudgeDrift, match="'m-2026-02-02'"):
            asyncio.run(turn())


def test_half_a_surrogate_pair_in_the_name_of_the_model_breaks_no_answer(kind: Kind, tmp_path: Path) -> None:
    with Server(kind.answering("m-2026-01-01\ud800")) as server:
        judge = judge_at(kind, server, cache=tmp_path / "cache")
        (asked,) = ask(judge, kind.request)
    assert labels(asked) == truth(kind)
    assert all(spec.model_dump_json() for spec in judge.specs.values())


def test_a_recording_says_the_same_and_holds_no_secret(kind: Kind, tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    with Server(kind.answering(MODEL)) as server:
        judge = judge_at(kind, server, cache=tmp_path / "cache")
        judge.record()
        (live,) = ask(judge, kind.request)
        judge.write_cassette(tape)
    (replayed,) = ask(Judge.replay(tape), kind.request)
    assert replayed == live
    assert KEY.encode() not in stored(tmp_path)
    with pytest.raises(CassetteMiss, match="check with a1"):
        ask(Judge.replay(tape), kind.request.model_copy(update={"input": "It snows.", "premise": "It snows."}))


def test_the_same_request_is_the_same_bytes_and_another_is_not(kind: Kind) -> None:
    with Server(kind.answering(MODEL)) as server:
        backend = judge_at(kind, server).decides
    single = kind.request.only(["a1"])
    (question,) = single.questions
    assert isinstance(question, Choice)
    shown = {"options": LABELS[::-1]}  # a classifier is shown no options
    other = {"pair": question.pair.model_copy(update={"hypothesis": "item a2"})} if question.pair else shown
    turned = single.model_copy(update={"questions": (question.model_copy(update=other),)})
    assert canonical(backend.prepare(single)) == canonical(backend.prepare(single))
    assert canonical(backend.prepare(single)) != canonical(backend.prepare(turned))
