"""How a chat endpoint wants to be asked: found out from its own 400 replies, once, and remembered."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import misbehaving as bad
import pytest
from misbehaving import Reply, Request, Server, chat, error

from judgekit.errors import InputError, JudgeStop
from judgekit.judge import Judge
from judgekit.judge.asking import Asked
from judgekit.wire import JudgeRequest, YesNo

YES = '{"q1": "yes"}'


def request(text: str = "It rains.") -> JudgeRequest:
    return JudgeRequest(task="t", role="You check.", input=f'"{text}"', questions=(YesNo(id="q1", ask="Is it so?"),))


def judge_at(server: Server, **options: Any) -> Judge:
    return Judge("m", base_url=server.url, **{"timeout": 10.0, "max_attempts": 1, **options})


def ask(judge: Judge, *requests: JudgeRequest) -> list[Asked]:
    """What the judge answers to requests made at the same time."""

    async def all_of_them() -> list[Asked]:
        async with judge:
            return list(await asyncio.gather(*(judge.ask(one) for one in requests or [request()])))

    return asyncio.run(all_of_them())


def outcome(judge: Judge) -> str | None:
    """The label of the one question, or the cause of its lack."""
    (asked,) = ask(judge)
    return asked.answers["q1"].label or asked.answers["q1"].cause


def formats(server: Server) -> list[str]:
    return [one.body.get("response_format", {"type": "text"})["type"] for one in server.requests]


def refusing(*rules: tuple[Callable[[dict[str, Any]], bool], Reply]) -> Callable[[Request], Reply]:
    """A server that answers yes to a body that breaks none of its rules, and the first broken rule's error else."""
    return lambda one: next((reply for breaks, reply in rules if breaks(one.body)), chat(YES))


def has(name: str) -> Callable[[dict[str, Any]], bool]:
    return lambda body: name in body


def has_format(name: str) -> Callable[[dict[str, Any]], bool]:
    return lambda body: body.get("response_format", {}).get("type") == name


NO_SCHEMA = (has_format("json_schema"), error(400, "'response_format.type' must be 'json_object'"))
NO_OBJECT = (has_format("json_object"), error(400, "Invalid value", param="response_format"))
NO_TEMPERATURE = (
    has("temperature"),
    error(400, "Unsupported value: 'temperature' does not support 0 with this model.", param="temperature"),
)
NO_SEED = (has("seed"), error(422, "[{'type': 'extra_forbidden', 'loc': ('body', 'seed'), 'input': 7}]"))
NO_TOP_P = (has("top_p"), error(400, "`temperature` and `top_p` cannot both be given", param="top_p"))
NEW_MAX = (
    has("max_tokens"),
    error(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", param="max_tokens"),
)


# --- what is sent ----------------------------------------------------------------------------


def test_temperature_seed_and_length_are_fixed_unless_told_otherwise() -> None:
    with Server(chat(YES)) as server:
        assert outcome(judge_at(server)) == "yes"
        assert outcome(judge_at(server, params={"seed": None, "temperature": 0.7, "top_p": 1, "stop": ["x"]})) == "yes"
        assert outcome(judge_at(server, params={"max_completion_tokens": 9})) == "yes"
    usual, own, renamed = (
        {k: v for k, v in r.body.items() if k not in ("messages", "response_format")} for r in server.requests
    )
    assert usual == {"model": "m", "temperature": 0, "seed": 7, "max_tokens": 2048}
    assert own == {"model": "m", "temperature": 0.7, "max_tokens": 2048, "top_p": 1, "stop": ["x"]}
    assert renamed == {"model": "m", "temperature": 0, "seed": 7, "max_completion_tokens": 9}


@pytest.mark.parametrize("name", ["model", "messages", "response_format", "stream", "n"])
def test_a_parameter_cannot_ask_something_else_than_the_pin_says(name: str) -> None:
    with pytest.raises(InputError, match=f"params cannot set {name}"):
        Judge("m", base_url="http://127.0.0.1:9/v1", params={name: "other"})


def test_the_schema_is_strict_and_of_the_questions_asked() -> None:
    with Server(chat(YES)) as server:
        ask(judge_at(server))
    sent = server.requests[0].body["response_format"]["json_schema"]
    assert (sent["strict"], sent["schema"]["required"]) == (True, ["q1"])


# --- the ladder of formats, and parameters ---------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "calls", "dialect"),
    [
        ((), 1, {}),
        ((NO_SCHEMA,), 2, {"format": "json_object"}),
        ((NO_SCHEMA, NO_OBJECT), 3, {"format": "text"}),
        ((NO_TEMPERATURE,), 2, {"dropped": ["temperature"]}),
        ((NO_SEED,), 2, {"dropped": ["seed"]}),
        ((NEW_MAX,), 2, {"renamed": {"max_tokens": "max_completion_tokens"}}),
        (
            (NEW_MAX, (has("max_completion_tokens"), error(400, "unknown field max_completion_tokens"))),
            3,
            {"dropped": ["max_tokens"], "renamed": {"max_tokens": "max_completion_tokens"}},
        ),
        (
            (NEW_MAX, NO_TEMPERATURE, NO_SEED, NO_TOP_P, NO_SCHEMA, NO_OBJECT),
            7,
            {
                "format": "text",
                "dropped": ["seed", "temperature", "top_p"],
                "renamed": {"max_tokens": "max_completion_tokens"},
            },
        ),
        # of several names that a message holds, the first is at fault
        (
            ((has("response_format"), error(400, "response_format is unknown; known: temperature, seed, max_tokens")),),
            3,
            {"format": "text"},
        ),
        (
            ((has("seed"), error(400, "seed is unknown; known: temperature, max_tokens, response_format")),),
            2,
            {"dropped": ["seed"]},
        ),
        # a 400 without any reason: the format is what most endpoints do not know
        (((has_format("json_schema"), error(400, "Bad Request")),), 2, {"format": "json_object"}),
    ],
)
def test_a_400_is_adapted_to_once_and_remembered(
    tmp_path: Path, rules: tuple[Any, ...], calls: int, dialect: dict[str, Any]
) -> None:
    expected = {"format": "json_schema", "dropped": [], "renamed": {}, **dialect}
    options: dict[str, Any] = {"cache": tmp_path / "cache", "params": {"top_p": 1}}
    with Server(refusing(*rules)) as server:
        first = judge_at(server, **options)
        assert outcome(first) == "yes"
        assert len(server.requests) == calls
        assert first.dialects == {"extractor": expected}
        ask(first, *(request(f"other {number}") for number in range(5)))
        assert len(server.requests) == calls + 5
        second = judge_at(server, **options)
        assert ask(second, request("new"))[0].answers["q1"].label == "yes"
        assert len(server.requests) == calls + 6
        assert second.dialects == {"extractor": expected}
        assert outcome(judge_at(server, **options)) == "yes"
        assert len(server.requests) == calls + 6, "what was stored is found again in the adapted form"


def test_first_calls_made_at_once_adapt_once() -> None:
    with Server(refusing(NO_SCHEMA, NO_TEMPERATURE, NEW_MAX)) as server:
        asked = ask(judge_at(server), *(request(f"text {number}") for number in range(8)))
    assert all(one.answers["q1"].label == "yes" for one in asked)
    assert len(server.requests) == 8 + 3


def test_an_endpoint_that_wants_to_be_asked_anew_is_asked_anew(tmp_path: Path) -> None:
    """What an earlier run remembers may be out of date; calls made at once must not spoil each other's form."""
    with Server(chat(YES)) as server:
        assert outcome(judge_at(server, cache=tmp_path)) == "yes"
        server._handler = refusing(NEW_MAX, NO_TEMPERATURE)
        later = judge_at(server, cache=tmp_path)
        asked = ask(later, *(request(f"text {number}") for number in range(4)))
        assert all(one.answers["q1"].label == "yes" for one in asked)
        assert later.dialects["extractor"] == {
            "format": "json_schema",
            "dropped": ["temperature"],
            "renamed": {"max_tokens": "max_completion_tokens"},
        }
        sent = len(server.requests)
        ask(later, request("one more"))
        assert len(server.requests) == sent + 1


def test_what_another_store_remembers_is_not_proven(tmp_path: Path) -> None:
    with Server(refusing(NO_SEED)) as server:
        judge = judge_at(server)
        ask(judge, request("a"))
        judge._extractor.backend.learn({"format": "json_schema", "dropped": []})
        ask(judge, request("b"), request("c"))
        assert judge.dialects["extractor"]["dropped"] == ["seed"]


@pytest.mark.parametrize(
    "refusal",
    [
        error(
            400, "Invalid 'messages[1].content': the temperature of the seed, max_tokens", param="messages[1].content"
        ),
        error(400, "the text 'temperature, seed, max_tokens, json_schema' cannot be read"),
        error(422, "Unprocessable"),
        error(418, "temperature"),
    ],
)
def test_a_400_about_one_text_changes_nothing_for_the_others(tmp_path: Path, refusal: Reply) -> None:
    with Server(lambda one: refusal if "odd" in json.dumps(one.body["messages"]) else chat(YES)) as server:
        for order in (["odd", "plain"], ["plain", "odd", "plainer"]):
            judge = judge_at(server)
            for text in order:
                (asked,) = ask(judge, request(text))
                answer = asked.answers["q1"]
                assert (answer.label, answer.cause) == (
                    (None, "refused_by_endpoint") if text == "odd" else ("yes", None)
                )
            assert judge.dialects["extractor"] == {"format": "json_schema", "dropped": [], "renamed": {}}
            assert server.requests[-1].body["temperature"] == 0


def test_a_schema_too_large_for_the_endpoint_is_the_affair_of_its_request(tmp_path: Path) -> None:
    """Such a request is asked in another form and found again; all others keep the strict form, and their replies."""
    too_large = (
        lambda body: "large" in json.dumps(body["messages"]) and has_format("json_schema")(body),
        error(400, "schema"),
    )
    with Server(refusing(too_large)) as server:
        judge = judge_at(server, cache=tmp_path)
        judge.record()
        for text in ("plain", "large", "other"):
            assert ask(judge, request(text))[0].answers["q1"].label == "yes"
        assert formats(server) == ["json_schema", "json_schema", "json_object", "json_schema"]
        again = judge_at(server, cache=tmp_path)
        for text in ("plain", "large", "other"):
            assert ask(again, request(text))[0].answers["q1"].label == "yes"
        assert len(server.requests) == 4
        judge.write_cassette(tmp_path / "tape.jsonl")
    replayed = ask(Judge.replay(tmp_path / "tape.jsonl"), *(request(text) for text in ("plain", "large", "other")))
    assert [one.answers["q1"].label for one in replayed] == ["yes"] * 3


def test_the_name_of_a_host_is_no_reason() -> None:
    """The message of an error holds the URL."""
    judge = Judge("m", base_url="http://seed.localhost:9/v1")
    from judgekit.errors import RequestRefused  # noqa: PLC0415

    backend: Any = judge._extractor.backend
    told = RequestRefused("http://seed.localhost:9/v1/chat/completions answered HTTP 400: no reason given", status=400)
    assert backend._speaker.adapted(backend._speaker.dialect, told).dropped == frozenset()


@pytest.mark.parametrize("status", [401, 403, 404])
def test_what_concerns_all_calls_is_not_adapted_to(status: int) -> None:
    with Server(error(status, "temperature, response_format")) as server, pytest.raises(JudgeStop):
        ask(judge_at(server))
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "dialect",
    [
        {"format": "yaml", "dropped": "temperature", "renamed": ["seed"]},
        {"dropped": ["model", "messages", {}], "renamed": {"temperature": "model", "max_tokens": "messages"}},
        {},
    ],
)
def test_a_planted_dialect_cannot_change_what_is_asked(dialect: dict[str, Any]) -> None:
    with Server(chat(YES)) as server:
        judge = judge_at(server)
        judge._extractor.backend.learn(dialect)
        ask(judge)
    body = server.requests[0].body
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("m", 0, 2048)
    assert [message["role"] for message in body["messages"]] == ["system", "user"]


# --- what comes back -------------------------------------------------------------------------


def completion(message: Any, **fields: Any) -> Reply:
    value = {"model": "m", "choices": [{"message": message, "finish_reason": "stop"}], **fields}
    return bad.answer(value)


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        (completion({"content": [{"type": "text", "text": '{"q1":'}, {"type": "text", "text": '"yes"}'}]}), "yes"),
        (completion({"content": [{"text": YES}]}), "yes"),
        (
            completion(
                {"content": [{"type": "reasoning", "text": '{"q1": "no"}'}, "x", {"type": "output_text", "text": YES}]}
            ),
            "yes",
        ),
        (completion({"content": [{"type": "thinking", "thinking": YES}]}), "empty_reply"),
        (completion({"content": [{"type": "text", "text": 7}]}), "empty_reply"),
        (completion({"content": None}), "empty_reply"),
        (completion({"content": None, "reasoning_content": YES}), "empty_reply"),
        (completion({"content": {"q1": "yes"}}), "empty_reply"),
        (completion({"content": YES, "refusal": ""}), "yes"),
        (completion({"content": YES, "refusal": "I cannot"}), "content_filter"),
        (completion({}), "empty_reply"),
        (completion({"content": YES}, usage=[], system_fingerprint=7, model=["m"]), "yes"),
        (completion({"content": YES}, usage={"prompt_tokens": "9", "completion_tokens": -1}), "yes"),
        (completion({"content": YES}, usage=None), "yes"),
        (completion({"content": '{"q1": "yes", "x": "\ud83d"}'}), "yes"),
        (bad.answer({"choices": [{"message": {"content": YES}, "finish_reason": 7}]}), "yes"),
        (completion(None), "server_error"),
        (completion("yes"), "server_error"),
        (bad.answer({"model": "m", "choices": []}), "server_error"),
        (bad.answer({"model": "m", "choices": None}), "server_error"),
        (bad.answer({"model": "m", "choices": ["yes"]}), "server_error"),
        (bad.answer({"model": "m"}), "server_error"),
        (bad.answer({"model": "m", "choices": {"message": {"content": YES}}}), "server_error"),
    ],
)
def test_whatever_comes_back_is_an_answer_or_a_cause(reply: Reply, label: str) -> None:
    with Server(reply) as server:
        judge = judge_at(server)
        assert outcome(judge) == label
        assert judge.meters["extractor"].prompt_tokens == 0
        assert judge.meters["extractor"].completion_tokens == 0


def test_a_finish_that_is_no_word_does_not_pass_for_one() -> None:
    with Server(chat('{"q1": "ye', finish="length")) as server:
        assert outcome(judge_at(server)) == "cut_off"
    with Server(chat(None, finish="length", reasoning="hm")) as server:
        assert outcome(judge_at(server)) == "thinking_used_up"
        assert len(server.requests) == 1, "the same again would use up the same"


def test_tokens_are_counted() -> None:
    with Server(chat(YES, usage=(11, 3), fingerprint="fp_1")) as server:
        judge = judge_at(server)
        (asked,) = ask(judge)
    (call,) = asked.calls
    meter = judge.meters["extractor"]
    assert (call.prompt_tokens, call.completion_tokens) == (11, 3)
    assert (meter.sent, meter.prompt_tokens, meter.completion_tokens, meter.fingerprints) == (1, 11, 3, {"fp_1"})


def test_a_key_in_a_body_that_is_no_completion_is_not_shown() -> None:
    with Server(bad.answer({"echo": "planted-secret-key"})) as server:
        (asked,) = ask(judge_at(server, api_key="planted-secret-key"))
    assert "answered without choices" in str(asked.answers["q1"].raw)
    assert "planted-secret" not in repr(asked)
