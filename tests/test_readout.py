"""A chat model read out: one question a call, one token a reply, the probability of every option."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from math import exp, log
from pathlib import Path
from typing import Any

import pytest
from misbehaving import Reply, Request, Server, chat, error

import judgekit as jk
from judgekit.errors import InputError, JudgeUnusable
from judgekit.judge import Judge
from judgekit.judge.asking import Asked
from judgekit.judge.logprobs import shares, tokens_of
from judgekit.judge.readout import readout_spec
from judgekit.judge.scripted import Scripted
from judgekit.metrics import metrics_of
from judgekit.pins import pins_of, templates_of
from judgekit.prompts import prompts_of
from judgekit.records import Options
from judgekit.wire import Choice, Grade, JudgeRequest, JudgeSpec, Option, YesNo

LABELS = ("contradicted", "unsupported", "partially_supported", "supported")
OPTIONS = tuple(Option(value=value, description=f"means {value}") for value in LABELS)


def request(*ids: str, source: str = "It rains.") -> JudgeRequest:
    questions = tuple(Choice(id=i, ask="Which?", text=f'"claim {i}"', options=OPTIONS) for i in ids or ("a1",))
    return JudgeRequest(task="t", role="You check.", input=json.dumps(source), questions=questions)


def logprobs(tokens: Mapping[str, float]) -> dict[str, Any]:
    """As an endpoint gives them for one token, which is the first of these."""
    top = [{"token": token, "logprob": log(p), "bytes": [*token.encode()]} for token, p in tokens.items()]
    return {"content": [{**top[0], "top_logprobs": top}]}


def told(tokens: Mapping[str, float], **fields: Any) -> Reply:
    return chat(next(iter(tokens)), finish="length", logprobs=logprobs(tokens), **fields)


def judge_at(server: Server, **options: Any) -> Judge:
    return Judge("m", base_url=server.url, readout=True, **{"timeout": 10.0, "max_attempts": 1, **options})


def ask(judge: Judge, *requests: JudgeRequest) -> list[Asked]:
    async def all_of_them() -> list[Asked]:
        async with judge:
            return list(await asyncio.gather(*(judge.ask(one) for one in requests or [request()])))

    return asyncio.run(all_of_them())


def answer(reply: Reply) -> Any:
    with Server(reply) as server:
        (asked,) = ask(judge_at(server))
        return asked.answers["a1"]


# --- what is asked -----------------------------------------------------------------------------------


def test_every_question_is_a_call_of_one_token_and_what_they_share_comes_first() -> None:
    with Server(told({"supported": 0.7, "uns": 0.2})) as server:
        (asked,) = ask(judge_at(server, params={"stop": ["x"]}), request("a1", "a2", "a3"))
    assert {a.label for a in asked.answers.values()} == {"supported"}
    assert len({call.key for call in asked.calls}) == len(server.requests) == 3
    bodies = sorted((one.body for one in server.requests), key=json.dumps)
    for body in bodies:
        assert (body["max_tokens"], body["logprobs"], body["top_logprobs"]) == (1, True, 20)
        assert (body["temperature"], body["seed"], body["stop"]) == (0, 7, ["x"])
        assert "response_format" not in body
    users = [body["messages"][1]["content"] for body in bodies]
    assert len({body["messages"][0]["content"] for body in bodies}) == 1
    assert all(user.startswith('"It rains."') for user in users)
    assert [user.index("claim") for user in users] == [users[0].index("claim a1")] * 3
    assert users[0].endswith("before or after it: contradicted, unsupported, partially_supported, supported")
    assert "contradicted: means contradicted\nunsupported: means unsupported" in bodies[0]["messages"][0]["content"]


def test_options_that_begin_alike_are_given_letters_the_highest_grade_first_as_in_every_prompt() -> None:
    options = (Option(value="2"), Option(value="3", description="good"), Option(value="30"))
    grade = Grade(id="c1", ask="Which grade?", options=options)
    asked = JudgeRequest(task="t", role="r", input="i", questions=(grade,))
    with Server(told({"B": 0.6, "A": 0.4})) as server:
        (found,) = ask(judge_at(server), asked)
    (system, user) = (message["content"] for message in server.requests[0].body["messages"])
    assert system.endswith("A: 30\nB: 3 (good)\nC: 2")
    assert user.endswith("Reply with one of these alone, nothing before or after it: A, B, C")
    assert found.answers["c1"].label == "3"
    assert found.answers["c1"].probabilities == {"30": 0.4, "3": 0.6, "2": 0.0}


def test_yes_and_no_are_asked_for_as_such() -> None:
    asked = JudgeRequest(task="t", role="r", input="i", questions=(YesNo(id="c2", ask="Is it?"),))
    with Server(told({" Yes": 0.5, "no": 0.3, "YES": 0.1, "not": 0.1})) as server:
        (found,) = ask(judge_at(server), asked)
    assert server.requests[0].body["messages"][1]["content"].endswith(": yes, no")
    assert found.answers["c2"].probabilities == pytest.approx({"yes": 0.6 / 0.9, "no": 0.3 / 0.9}, abs=1e-5)


def test_texts_are_still_written_as_json_by_the_same_endpoint() -> None:
    def handle(one: Request) -> Reply:
        return told({"supported": 0.8}) if "logprobs" in one.body else chat('{"s1": ["The mill has six sails."]}')

    with Server(handle) as server, judge_at(server) as judge:
        result = jk.score(
            question="?", answer="The mill has six sails.", contexts=["x"], judge=judge, metrics="faithfulness"
        )
        assert [verdict.label for verdict in result.verdicts] == ["supported"]
        assert result.verdicts[0].probabilities is not None
        assert ["logprobs" in one.body for one in server.requests] == [False, True]
        assert server.requests[0].connection == server.requests[1].connection
        assert {part: spec.form for part, spec in judge.specs.items()} == {"extractor": "chat", "decider": "readout"}


def test_it_reads_out_models_behind_an_endpoint_only() -> None:
    with pytest.raises(InputError, match="give it a model and its base_url"):
        Judge(Scripted(dict), readout=True)
    with pytest.raises(InputError, match="and no decider"):
        Judge("m", base_url="http://127.0.0.1:9/v1", readout=True, decider=Scripted(dict))


def test_more_options_than_an_endpoint_lists_are_refused() -> None:
    many = Choice(id="q", ask="?", options=tuple(Option(value=f"v{n}") for n in range(21)))
    judge = Judge("m", base_url="http://127.0.0.1:9/v1", readout=True)
    with pytest.raises(InputError, match="20 options apart, q has 21"):
        ask(judge, JudgeRequest(task="t", role="r", input="i", questions=(many,)))


# --- what is read ------------------------------------------------------------------------------------


def test_the_options_share_one_and_spellings_and_beginnings_count_together() -> None:
    # supported: .3 + .2 + .1, contradicted .2; the other two were not listed: at most .05, the least that was, and at
    # most .15, the rest
    found = answer(told({"supported": 0.3, "contr": 0.2, " Supp": 0.2, "su": 0.1, "the": 0.05}))
    whole = 0.6 + 0.2 + 2 * 0.05
    assert found.label == "supported"
    assert found.probabilities == pytest.approx(
        {
            "contradicted": 0.2 / whole,
            "unsupported": 0.05 / whole,
            "partially_supported": 0.05 / whole,
            "supported": 0.6 / whole,
        },
        abs=1e-5,
    )


@pytest.mark.parametrize("other", ["s", "supports", "a", "", "\n", '"'])
def test_what_begins_no_option_is_nobodys(other: str) -> None:
    found = answer(told({other: 0.6, "supported": 0.4}))
    assert (found.label, found.cause) == (None, "no_label_mass")


def test_a_lower_case_letter_is_an_article_and_no_option() -> None:
    options = (Option(value="one"), Option(value="only"))
    asked = JudgeRequest(task="t", role="r", input="i", questions=(Choice(id="q", ask="?", options=options),))
    with Server(told({"a": 0.6, " A.": 0.3})) as server:
        (found,) = ask(judge_at(server), asked)
    assert found.answers["q"].cause == "no_label_mass"


@pytest.mark.parametrize(
    ("tokens", "cause"),
    [
        ({"Based": 0.9, "supp": 0.05}, "no_label_mass"),
        ({"<think>": 1.0}, "no_label_mass"),
        ({"supp": 0.49, "The": 0.48}, "no_label_mass"),
        ({"supp": 0.51, "The": 0.48}, None),
    ],
)
def test_what_meant_to_say_something_else_is_no_answer(tokens: dict[str, float], cause: str | None) -> None:
    found = answer(told(tokens))
    assert found.cause == cause
    assert (found.label is None) == (found.probabilities is None) == (cause is not None)
    if cause:
        assert json.loads(found.raw)[0][0] == next(iter(tokens))


def test_of_equals_the_one_that_is_offered_first_is_taken() -> None:
    found = answer(told({"supp": 0.4, "part": 0.4}))
    assert found.label == "partially_supported"


@pytest.mark.parametrize("finish", ["content_filter", "stop"])
def test_a_refusal_is_no_answer(finish: str) -> None:
    found = answer(chat(None, finish=finish, refusal=None if finish == "content_filter" else "I will not"))
    assert (found.label, found.cause) == (None, "content_filter")


def test_the_older_form_of_logprobs_is_read() -> None:
    older = {"tokens": ["supp"], "token_logprobs": [log(0.75)], "top_logprobs": [{"supp": log(0.75), "un": log(0.25)}]}
    found = answer(chat("D", logprobs=older))
    assert found.probabilities == {
        "contradicted": 0.0,
        "unsupported": 0.25,
        "partially_supported": 0.0,
        "supported": 0.75,
    }


def test_only_the_token_itself_listed_leaves_the_others_all_that_they_can_have_had() -> None:
    alone = {"content": [{"token": "supp", "logprob": log(0.9), "top_logprobs": []}]}
    found = answer(chat("D", logprobs=alone))
    assert found.probabilities == pytest.approx(
        dict(zip(LABELS, [0.1 / 1.2, 0.1 / 1.2, 0.1 / 1.2, 0.9 / 1.2], strict=True)), abs=1e-5
    )


def test_shares_never_make_what_was_seen_surer_than_it_was() -> None:
    found = shares("ab", {"a": 0.8}, least=0.05, unlisted=0.2)
    assert found is not None
    assert (found.by_option["a"], found.mass) == (pytest.approx(0.8 / 0.85, abs=1e-6), 0.8)
    assert shares("ab", {}, least=0.1, unlisted=0.9) is None


@pytest.mark.parametrize(
    "given",
    [
        None,
        {"content": None},
        {"content": [None, {"token": 7, "logprob": -1}, {"token": "A", "logprob": "x"}, {"token": "A"}]},
        {"tokens": ["A"]},
        {"tokens": [None], "token_logprobs": [None]},
        "x",
    ],
)
def test_what_is_no_logprobs_is_none(given: object) -> None:
    assert tokens_of({"choices": [{"logprobs": given}]}) == []
    assert tokens_of({"choices": given}) == []


def test_bytes_tell_what_a_token_is_where_its_text_cannot() -> None:
    entry = {"token": "\ufffd", "logprob": 0.0, "bytes": [0xE2, 0x96], "top_logprobs": []}
    (token,) = tokens_of({"choices": [{"logprobs": {"content": [entry]}}]})
    assert (token.piece, token.probability) == (b"\xe2\x96", exp(0.0))


# --- endpoints that cannot, and those that want it otherwise --------------------------------------------


@pytest.mark.parametrize(
    "reply",
    [
        chat("D"),
        error(400, "logprobs are not supported with this model", param="logprobs"),
        error(400, "This model does not support 'logprobs'."),
    ],
    ids=["none in the reply", "refused by name", "refused in words"],
)
def test_an_endpoint_without_logprobs_cannot_be_read_out(reply: Reply) -> None:
    with Server(reply) as server, pytest.raises(JudgeUnusable, match="leave out --readout"):
        ask(judge_at(server))


def test_one_reply_without_logprobs_after_others_had_them_is_a_failed_call() -> None:
    with Server([told({"supp": 1.0}), chat("D")]) as server:
        judge = judge_at(server)
        first, second = ask(judge, request("a1"))[0], ask(judge, request("a2"))[0]
    assert (first.answers["a1"].label, second.answers["a2"].cause) == ("supported", "server_error")


@pytest.mark.parametrize(
    ("message", "param"),
    [
        ("Invalid 'top_logprobs': integer above maximum value. Expected a value <= 5, but got 20.", "top_logprobs"),
        ("Requested sample logprobs of 20, which is greater than max allowed: 5", None),
    ],
)
def test_an_endpoint_that_lists_fewer_alternatives_is_asked_for_fewer(message: str, param: str | None) -> None:
    def handle(one: Request) -> Reply:
        return error(400, message, param=param) if one.body["top_logprobs"] > 5 else told({"supp": 0.9})

    with Server(handle) as server:
        judge = judge_at(server)
        ask(judge, request("a1", "a2"))
        assert [one.body["top_logprobs"] for one in server.requests] == [20, 5, 5]
        assert judge.dialects["decider"] == {"dropped": [], "renamed": {}, "top_logprobs": 5}


def test_parameters_that_it_refuses_are_left_out_or_renamed() -> None:
    def handle(one: Request) -> Reply:
        if "max_tokens" in one.body:
            return error(400, "Use 'max_completion_tokens' instead.", param="max_tokens")
        return error(400, "no seed", param="seed") if "seed" in one.body else told({"supp": 0.9})

    with Server(handle) as server:
        assert ask(judge_at(server))[0].answers["a1"].label == "supported"
        assert server.requests[-1].body["max_completion_tokens"] == 1


# --- kept and replayed ---------------------------------------------------------------------------------


def test_each_question_is_stored_apart_found_again_and_replayed(tmp_path: Path) -> None:
    with Server(lambda one: told({"supp" if "claim a1" in one.raw.decode() else "uns": 0.9, "the": 0.1})) as server:
        judge = judge_at(server, cache=tmp_path / "kept")
        judge.record()
        (first,) = ask(judge, request("a1", "a2"))
        judge.write_cassette(tmp_path / "tape.jsonl")
        (again,) = ask(judge_at(server, cache=tmp_path / "kept"), request("a2", "a1"))
        assert len(server.requests) == 2
    (replayed,) = ask(Judge.replay(tmp_path / "tape.jsonl"), request("a1", "a2"))
    assert first.answers == replayed.answers == {i: again.answers[i] for i in ("a1", "a2")}
    assert {i: a.label for i, a in first.answers.items()} == {"a1": "supported", "a2": "unsupported"}


# --- pinned --------------------------------------------------------------------------------------------


def pins(judge: Judge, templates: Mapping[str, str]) -> dict[str, str]:
    metrics = metrics_of(["faithfulness", "context_relevance"])
    made = pins_of(metrics, Options(), specs=judge.specs, dialects=judge.dialects, templates=templates)
    return {name: pin.pin for name, pin in made.items()}


def test_the_wording_of_a_readout_is_part_of_its_pins_and_of_no_others() -> None:
    templates = templates_of(prompts_of())
    reworded = {**templates, "readout": "reworded"}
    written, read_out = (Judge("m", base_url="http://127.0.0.1:9/v1", readout=is_so) for is_so in (False, True))
    assert pins(written, templates) == pins(written, reworded)
    before, after = pins(read_out, templates), pins(read_out, reworded)
    assert all(before[name] != after[name] for name in before)
    assert all(before[name] != pins(written, templates)[name] for name in before)


def test_how_a_reply_is_read_is_part_of_the_pin_and_asks_nothing_anew() -> None:
    spec = readout_spec(JudgeSpec(model="m", base_url="http://h/v1"))
    stricter = spec.model_copy(update={"settings": {"least_mass": 0.9}})
    assert spec.judge_id == stricter.judge_id
    metrics = metrics_of(["faithfulness"])
    made = [
        pins_of(metrics, Options(), specs={"decider": one}, dialects={}, templates={})["faithfulness"].pin
        for one in (spec, stricter)
    ]
    assert made[0] != made[1]
