"""The judge as its users see it: one object, one or two parts, a store, and nothing opened before it is asked."""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from misbehaving import Request, Server, chat

from judgekit.errors import InputError, JudgeDrift, ServerFailed
from judgekit.judge import Judge
from judgekit.judge.asking import Asked
from judgekit.judge.cassette import read
from judgekit.judge.scripted import Scripted
from judgekit.judge.store import Store
from judgekit.wire import Answer, Choice, JudgeReply, JudgeRequest, Option, Question, Texts, YesNo

LABELS = tuple(Option(value=value) for value in ("supported", "unsupported"))
CHECK = Choice(id="c1", ask="Which?", options=LABELS, quote_from=("1",))
SPLIT = Texts(id="s1", ask="Which claims?")


def request(*questions: Question, text: str = "It rains.") -> JudgeRequest:
    return JudgeRequest(task="t", role="r", input=json.dumps(text), questions=questions or (CHECK,))


def ask(judge: Judge, asked: JudgeRequest | None = None, *, repeat: int = 0) -> dict[str, Answer]:
    async def it() -> Asked:
        async with judge:
            return await judge.ask(asked or request(), repeat=repeat)

    return asyncio.run(it()).answers


def splitting(sent: Request) -> Any:
    return chat('{"s1": ["It rains.", "It pours."]}')


# --- two parts -------------------------------------------------------------------------------


def test_extractions_go_to_the_model_and_typed_questions_to_the_decider(tmp_path: Path) -> None:
    decider = Scripted(lambda _one: {"c1": {"supported": 0.8, "unsupported": 0.2}}, model="decider-1")
    with Server(splitting) as server:
        judge = Judge("m", base_url=server.url, decider=decider, cache=tmp_path)
        assert ask(judge, request(SPLIT))["s1"].texts == ("It rains.", "It pours.")
        answer = ask(judge)["c1"]
        assert (len(server.requests), decider.asked) == (1, 1)
        assert ask(judge) == {"c1": answer}
        assert (len(server.requests), decider.asked) == (1, 1)
    assert (answer.label, answer.probabilities, answer.quote) == (
        "supported",
        {"supported": 0.8, "unsupported": 0.2},
        None,
    )
    assert {part: spec.resolved for part, spec in judge.specs.items()} == {"extractor": "m", "decider": "decider-1"}
    assert {part: meter.sent for part, meter in judge.meters.items()} == {"extractor": 1, "decider": 1}
    assert repr(judge) == "<Judge extractor=m, decider=decider-1>"


def test_one_part_does_both() -> None:
    script = Scripted(lambda one: {"c1": "supported", "s1": ["a"]})
    for judge in (Judge(script), Judge(script, decider=script)):
        assert list(judge.specs) == ["extractor"]
        assert ask(judge)["c1"].label == "supported"
        assert ask(judge, request(SPLIT))["s1"].texts == ("a",)


# --- typed answers ---------------------------------------------------------------------------

TYPED = request(CHECK, YesNo(id="y1", ask="Is it?"), SPLIT)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"c1": "supported", "y1": True, "s1": ["a"]}, ("supported", "yes", ("a",))),
        ({"c1": "Supported.", "y1": "no", "s1": []}, ("supported", "no", ())),
        ({"c1": {"supported": 0.4, "unsupported": 0.6}, "y1": {"yes": 1}, "s1": "a"}, ("unsupported", "yes", ("a",))),
        ({"c1": Answer(id="c1", label="supported"), "y1": None, "s1": [1]}, ("supported", "missing", "invalid_list")),
        ({"c1": "dunno", "y1": 1, "s1": 3}, ("invalid_label", "invalid_label", "invalid_list")),
        # probabilities of nothing that was offered decide nothing
        ({"c1": {"bogus": 0.9}, "y1": {}, "s1": {}}, ("invalid_label", "invalid_label", "invalid_list")),
        ({"c1": {"supported": "high"}, "y1": {"yes": 7}}, ("invalid_label", "invalid_label", "missing")),
        ({"c1": {"supported": float("nan"), "unsupported": 0.1}}, ("invalid_label", "missing", "missing")),
        ({}, ("missing", "missing", "missing")),
        ({"c9": "supported"}, ("missing", "missing", "missing")),
        ('{"c1": "supported", "y1": "yes", "s1": ["a"]}', ("supported", "yes", ("a",))),
        (JudgeReply(text="Yes.", finish="stop"), ("no_json", "no_json", "no_json")),
        (JudgeReply(text="", finish="content_filter"), ("content_filter", "content_filter", "content_filter")),
    ],
)
def test_what_a_script_says_is_an_answer_or_a_cause(said: Any, expected: tuple[Any, ...]) -> None:
    answers = ask(Judge(Scripted(lambda _one: said)), TYPED)
    assert (
        tuple(answer.texts if answer.texts is not None else answer.label or answer.cause for answer in answers.values())
        == expected
    )


def test_a_script_may_wait_and_may_fail() -> None:
    async def slow(one: JudgeRequest) -> Mapping[str, Any]:
        await asyncio.sleep(0)
        if "fail" in one.input:
            raise ServerFailed("planned")
        return {"c1": "supported"}

    judge = Judge(Scripted(slow))
    assert ask(judge)["c1"].label == "supported"
    failed = ask(judge, request(text="fail"))["c1"]
    assert (failed.label, failed.cause, failed.raw) == (None, "server_error", "planned")
    assert judge.meters["extractor"].failures == {"server_error": 1}


def test_an_error_that_nobody_planned_is_raised_and_leaves_nothing() -> None:
    def broken(_one: JudgeRequest) -> str:
        raise ZeroDivisionError("of the script")

    judge = Judge(Scripted(broken))
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            ask(judge)


# --- what it is made of ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "is_meant"),
    [
        ({}, "needs the endpoint that serves it"),
        ({"base_url": ""}, "must look like https://host/v1"),
        ({"base_url": "127.0.0.1:8080/v1"}, "must look like https://host/v1"),
        ({"base_url": "http://h/v1", "prompts": "/nowhere/at/all"}, "no such folder of prompts"),
        ({"base_url": "http://h/v1", "params": {"model": "n"}}, "params cannot set model"),
    ],
)
def test_what_cannot_work_is_refused_at_once(options: dict[str, Any], is_meant: str) -> None:
    with pytest.raises(InputError, match=is_meant):
        Judge("m", **options)


def test_making_a_judge_opens_nothing(tmp_path: Path) -> None:
    Judge("m", base_url="http://127.0.0.1:9/v1", cache=tmp_path / "cache")
    assert list(tmp_path.iterdir()) == []


def test_prompts_of_ones_own_are_part_of_what_is_asked(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "chat.j2").write_text("{% block system %}S{% endblock %}{% block user %}{{ input }}{% endblock %}")
    with Server(chat('{"c1": "supported"}')) as server:
        for prompts in (None, own):
            ask(Judge("m", base_url=server.url, prompts=prompts, cache=tmp_path / "cache"))
    assert [sent.body["messages"][0]["content"] == "S" for sent in server.requests] == [False, True]


def test_a_store_chosen_later_keeps_what_was_paid_before(tmp_path: Path) -> None:
    with Server(chat('{"c1": "supported"}')) as server:
        judge = Judge("m", base_url=server.url)
        first = ask(judge)
        judge.use_store(tmp_path / "run")
        judge.use_store(tmp_path / "run")
        assert ask(judge) == first
        assert ask(Judge("m", base_url=server.url, cache=tmp_path / "run")) == first
        assert len(server.requests) == 1
        judge.use_store(tmp_path / "other")
        own = Judge("m", base_url=server.url, cache=tmp_path / "own")
        own.use_store(tmp_path / "unused")
        ask(own)
        assert len(server.requests) == 2
    assert not (tmp_path / "unused").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["own", "run"]


def test_a_store_that_another_model_filled_is_a_drift(tmp_path: Path) -> None:
    with Server(lambda sent: chat('{"c1": "supported"}', model=models[0])) as server:
        models = ["m-1"]
        ask(Judge("m", base_url=server.url, cache=tmp_path))
        models[0] = "m-2"
        later = Judge("m", base_url=server.url, cache=tmp_path)
        assert ask(later)["c1"].label == "supported"
        with pytest.raises(JudgeDrift):
            ask(later, request(text="new"))


def test_a_judge_that_is_used_and_left_open_leaves_no_warning(tmp_path: Path) -> None:
    async def it(judge: Judge) -> None:
        await judge.ask(request())

    with Server(chat('{"c1": "supported"}')) as server, warnings.catch_warnings():
        warnings.simplefilter("error")
        judge = Judge("m", base_url=server.url, cache=tmp_path)
        asyncio.run(it(judge))
        asyncio.run(it(judge))
        assert len(server.requests) == 1


def test_recorded_rows_are_served_and_kept_nowhere(tmp_path: Path) -> None:
    with Server(chat('{"c1": "supported"}')) as server:
        judge = Judge("m", base_url=server.url)
        judge.record()
        first = ask(judge)
        judge.write_cassette(tmp_path / "tape")
        other = Judge("m", base_url=server.url, cache=tmp_path / "cache")
        other.pin(judge.specs)
        other.load(read(tmp_path / "tape").rows)
        other.use_store(tmp_path / "run")
        assert ask(other) == first
        assert len(server.requests) == 1
    assert [path.name for path in tmp_path.iterdir() if path.name != "cache"] == ["tape"]
    assert not (tmp_path / "cache" / "cache.db").exists() or not list(Store(tmp_path / "cache").keys())
