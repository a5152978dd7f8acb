"""Several deciders, or one several times: the majority of all votes asked for, each stored under its own identity."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from misbehaving import Reply, Request, Server, chat, error

import judgekit as jk
from judgekit.cli import cli
from judgekit.errors import InputError, JudgeUnusable, NotARun, RequestTooLong, ServerFailed
from judgekit.judge import Judge
from judgekit.judge.asking import Asked
from judgekit.judge.panel import counted
from judgekit.judge.scripted import Scripted
from judgekit.records import Label
from judgekit.wire import Answer, Choice, JudgeRequest, Option, Quote

LABELS = ("contradicted", "unsupported", "partially_supported", "supported")
QUESTION = Choice(id="a1", ask="Which?", options=tuple(Option(value=value) for value in LABELS), quote_from=("1",))
S, U, P, C = "supported", "unsupported", "partially_supported", "contradicted"
MISSING = "timeout"


def request(*ids: str) -> JudgeRequest:
    questions = tuple(QUESTION.model_copy(update={"id": i}) for i in ids or ("a1",))
    return JudgeRequest(task="t", role="r", input="i", questions=questions)


def votes(*said: str) -> Answer:
    """What votes amount to; anything that is no label is the cause of a missing one."""
    cast = {
        ("decider", n): Answer(id="a1", label=one) if one in LABELS else Answer(id="a1", cause=one, raw=f"raw {n}")
        for n, one in enumerate(said)
    }
    return counted(QUESTION, cast)


def ask(judge: Judge, *requests: JudgeRequest, repeat: int = 0) -> list[Asked]:
    async def all_of_them() -> list[Asked]:
        async with judge:
            return list(await asyncio.gather(*(judge.ask(one, repeat=repeat) for one in requests or [request()])))

    return asyncio.run(all_of_them())


def saying(label: str, name: str) -> Scripted:
    return Scripted(lambda one: dict.fromkeys(one.ids, label), model=name)


# --- counting ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cast", "outcome"),
    [
        ([S, U, "no_json"], "tie"),
        ([S, S, "no_json"], S),
        ([S, U], "tie"),
        ([S, S, U], S),
        ([S, "no_json", "timeout"], "missing_votes"),
        ([S, S, U, "no_json"], "missing_votes"),
        ([S, S, U, P, C], "no_majority"),
        ([S, S, U, P], "no_majority"),
        ([S, S, U, U, P], "tie"),
        (["timeout", "no_json", "timeout"], "missing_votes"),
        (["timeout", "timeout"], "timeout"),
        ([S, S, S, U, "no_json"], S),
        ([S, S, S, U, "no_json", "timeout"], "missing_votes"),
    ],
)
def test_more_than_half_of_all_votes_asked_for_decide(cast: Sequence[str], outcome: str) -> None:
    found = votes(*cast)
    assert (found.label or found.cause) == outcome
    assert [vote.label or vote.cause for vote in found.votes] == cast
    assert (found.probabilities is None) == (found.label is None)


def test_the_shares_are_of_all_votes_asked_for() -> None:
    assert votes(S, S, "no_json").probabilities == {C: 0.0, U: 0.0, P: 0.0, S: 2 / 3}


@given(st.lists(st.sampled_from([*LABELS, MISSING]), min_size=1, max_size=9), st.randoms(use_true_random=False))
def test_no_missing_vote_can_have_turned_a_majority_and_no_order_matters(cast: list[str], rng: Any) -> None:
    found = votes(*cast)
    shuffled = [*cast]
    rng.shuffle(shuffled)
    assert (votes(*shuffled).label, votes(*shuffled).cause) == (found.label, found.cause)
    if found.label is not None:
        for other in LABELS:
            assert votes(*(other if one == MISSING else one for one in cast)).label == found.label


def test_the_answer_is_the_first_of_the_winning_ones_that_says_more_than_its_label() -> None:
    quote = Quote(source="1", text="so it is")
    cast = {
        ("decider", 0): Answer(id="a1", label=U, quote=Quote(source="1", text="of the loser")),
        ("decider 2", 0): Answer(id="a1", label=S, calls=("k2",)),
        ("decider 3", 0): Answer(id="a1", label=S, quote=quote, calls=("k3",)),
    }
    found = counted(QUESTION, cast)
    assert (found.label, found.quote, found.calls) == (S, quote, ("k2", "k3"))
    assert [(vote.by, vote.label) for vote in found.votes] == [("decider", U), ("decider 2", S), ("decider 3", S)]


# --- repeated votes ------------------------------------------------------------------------------------


def test_votes_are_repeats_stored_apart_and_a_larger_number_asks_only_for_the_rest(tmp_path: Path) -> None:
    turns = iter([S, U, S, U, S])
    asked: list[str] = []

    def script(one: JudgeRequest) -> dict[str, str]:
        asked.append(one.task)
        return dict.fromkeys(one.ids, next(turns))

    def session(count: int) -> Answer:
        asked.clear()
        judge = Judge(Scripted(script), votes=count, cache=tmp_path / "kept")
        return ask(judge)[0].answers["a1"]

    three = session(3)
    assert (three.label, len(three.calls), len(asked)) == (S, 3, 3)
    assert sorted((vote.repeat, vote.label) for vote in three.votes) == [(0, S), (1, U), (2, S)]
    assert (session(3), len(asked)) == (three, 0)
    assert session(5).label == S
    assert len(asked) == 2
    assert (session(1).label, session(1).votes, len(asked)) == (S, (), 0)


def test_repeats_of_a_voting_judge_share_no_vote() -> None:
    judge = Judge(saying(S, "m"), votes=3)
    keys = {call.key for repeat in (0, 1) for call in ask(judge, repeat=repeat)[0].calls}
    assert len(keys) == 6


def test_texts_are_split_once_however_many_vote() -> None:
    tasks: list[str] = []

    def script(one: JudgeRequest) -> dict[str, Any]:
        tasks.append(one.task)
        return {q.id: ["The mill has six sails."] if q.kind == "texts" else S for q in one.questions}

    result = jk.score(
        question="?",
        answer="The mill has six sails.",
        contexts=["x"],
        judge=Judge(Scripted(script), votes=3),
        metrics="faithfulness",
    )
    assert sorted(tasks) == ["split", "verify", "verify", "verify"]
    (verdict,) = result.verdicts
    assert (verdict.label, len(verdict.votes), len(verdict.calls)) == (Label.SUPPORTED, 3, 3)
    assert [(vote.by, vote.label) for vote in verdict.votes] == [("extractor", S)] * 3


def test_votes_that_cannot_differ_are_warned_about() -> None:
    url = "http://127.0.0.1:9/v1"
    with pytest.warns(RuntimeWarning, match="set a temperature above 0"):
        Judge("m", base_url=url, votes=3)
    with pytest.warns(RuntimeWarning, match="set a temperature above 0"):
        Judge("m", base_url=url, votes=3, readout=True, params={"temperature": 1})
    Judge("m", base_url=url, votes=3, params={"temperature": 0.7})


@pytest.mark.parametrize("count", [0, -1])
def test_a_vote_at_least_is_needed(count: int) -> None:
    with pytest.raises(InputError, match="give 1 or more"):
        Judge(saying(S, "m"), votes=count)


# --- panels --------------------------------------------------------------------------------------------


def test_the_majority_of_a_panel_and_who_voted_what() -> None:
    judge = Judge(saying(S, "a"), panel=[saying(U, "b"), Judge(saying(S, "c"))])
    found = ask(judge)[0].answers["a1"]
    assert (found.label, found.probabilities) == (S, {C: 0.0, U: 1 / 3, P: 0.0, S: 2 / 3})
    assert [(v.by, v.label) for v in found.votes] == [("extractor", S), ("decider 2", U), ("decider 3", S)]
    assert {part: spec.model for part, spec in judge.specs.items()} == {
        "extractor": "a",
        "decider 2": "b",
        "decider 3": "c",
    }


def test_a_decider_leads_its_panel_and_the_writer_does_not_vote() -> None:
    judge = Judge(saying(C, "writer"), decider=saying(S, "a"), panel=[saying(S, "b")])
    (asked,) = ask(judge)
    assert [(v.by, v.label) for v in asked.answers["a1"].votes] == [("decider", S), ("decider 2", S)]
    assert [call.part for call in asked.calls] == ["decider", "decider 2"]


def test_one_more_member_asks_nobody_else_again(tmp_path: Path) -> None:
    one, two, three = (saying(S, name) for name in "abc")
    ask(Judge(one, panel=[two], cache=tmp_path / "kept"))
    found = ask(Judge(one, panel=[two, three], cache=tmp_path / "kept"))[0].answers["a1"]
    assert ([one.asked, two.asked, three.asked], len(found.votes)) == ([1, 1, 1], 3)


def test_a_member_that_fails_is_a_missing_vote_with_its_cause_and_not_stored() -> None:
    def broken(_one: JudgeRequest) -> Any:
        raise ServerFailed("HTTP 502")

    two = Judge(saying(S, "a"), panel=[Scripted(broken, model="b")])
    found = ask(two)[0].answers["a1"]
    assert (found.label, found.cause, found.raw) == (None, "missing_votes", "HTTP 502")
    assert [(v.label, v.cause) for v in found.votes] == [(S, None), (None, "server_error")]
    three = Judge(saying(S, "a"), panel=[Scripted(broken, model="b"), saying(S, "c")])
    assert ask(three)[0].answers["a1"].label == S


def test_what_is_too_long_for_one_is_asked_of_all_in_parts() -> None:
    def small(one: JudgeRequest) -> Any:
        if len(one.input) > 700:
            raise RequestTooLong("too long")
        return dict.fromkeys(one.ids, S)

    judge = Judge(saying(S, "a"), panel=[Scripted(small, model="b")])
    contexts = ["The mill has six sails. " * 20, "The mill is red. " * 20]
    result = jk.score(
        question="?",
        answer="The mill has six sails.",
        contexts=contexts,
        judge=judge,
        metrics="faithfulness",
        options=jk.Options(split="segments"),
    )
    (verdict,) = result.verdicts
    assert (verdict.label, verdict.in_parts, len(verdict.votes)) == (Label.SUPPORTED, True, 2)


def test_a_member_that_cannot_be_used_stops_the_run() -> None:
    def denied(_one: JudgeRequest) -> Any:
        raise JudgeUnusable("wrong key")

    with pytest.raises(JudgeUnusable, match="wrong key"):
        ask(Judge(saying(S, "a"), panel=[Scripted(denied, model="b")]))


def test_a_member_is_in_it_once() -> None:
    with pytest.raises(InputError, match="b at scripted: is in it twice; votes=2 asks it twice"):
        Judge(saying(S, "a"), panel=[saying(S, "b"), saying(U, "b")])
    with pytest.raises(InputError, match="needs the endpoint that serves it"):
        Judge(saying(S, "a"), panel=["b"])


def test_a_name_is_another_model_at_the_same_endpoint_asked_the_same_way() -> None:
    def handle(one: Request) -> Reply:
        label = U if one.body["model"] == "b" else S
        ids = one.body["response_format"]["json_schema"]["schema"]["required"]
        said = {i: {"label": label, "source": "none", "quote": ""} for i in ids}
        return chat(json.dumps(said), model=one.body["model"])

    with Server(handle) as server:
        judge = Judge("a", base_url=server.url, api_key="sk-of-this-endpoint", panel=["b"], params={"seed": 3})
        found = ask(judge)[0].answers["a1"]
        assert {one.headers["authorization"] for one in server.requests} == {"Bearer sk-of-this-endpoint"}
        assert [one.body["seed"] for one in server.requests] == [3, 3]
    assert (found.cause, [v.label for v in found.votes]) == ("tie", [S, U])


# --- kept, replayed, pinned ------------------------------------------------------------------------------


def over_http(labels: Mapping[str, Sequence[str]]) -> Any:
    """Models that answer in turn, each with its own labels."""
    left = {model: list(said) for model, said in labels.items()}

    def handle(one: Request) -> Reply:
        model = one.body["model"]
        return error(500) if not left[model] else chat(json.dumps({"a1": left[model].pop(0)}), model=model)

    return handle


def test_a_panel_of_several_votes_is_replayed_as_it_was(tmp_path: Path) -> None:
    with Server(over_http({"a": [S, U, S], "b": [S, S, U]})) as server:
        judge = Judge("a", base_url=server.url, panel=["b"], votes=3, params={"temperature": 1})
        judge.record()
        first = ask(judge)[0].answers
        judge.write_cassette(tmp_path / "tape.jsonl")
    assert (first["a1"].label, len(first["a1"].votes)) == (S, 6)
    replayed = Judge.replay(tmp_path / "tape.jsonl")
    assert ask(replayed)[0].answers == first
    assert replayed.specs == judge.specs
    assert {part: spec.settings for part, spec in judge.specs.items()} == {
        "extractor": {"votes": 3},
        "decider 2": {"votes": 3},
    }


def test_a_run_is_pinned_to_its_members_and_votes_and_goes_on_only_with_them(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps({"id": "1", "question": "?", "answer": "It is.", "contexts": ["x"]}) + "\n", "utf-8")

    def run(out: str, judge: Judge) -> jk.Run:
        return jk.judge_log(
            log, out=tmp_path / out, judge=judge, metrics=["faithfulness"], options=jk.Options(split="segments")
        )

    def panel(*names: str, votes: int = 1) -> Judge:
        first, *others = (saying(S, name) for name in names)
        return Judge(first, panel=others, votes=votes)

    whole = run("whole", panel("a", "b", votes=3))
    assert list(whole.manifest.judge) == ["extractor", "decider 2"]
    pins = {
        out: run(out, judge).manifest.metrics["faithfulness"].pin
        for out, judge in {"one": panel("a"), "two": panel("a", "b"), "three": panel("a", "b", "c")}.items()
    }
    assert len({whole.manifest.metrics["faithfulness"].pin, *pins.values()}) == 4
    assert len(run("whole", panel("a", "b", votes=3))) == 1
    shown = CliRunner().invoke(cli, ["report", str(tmp_path / "whole")], terminal_width=120).stdout
    assert "a @ scripted:, 3 votes" in shown
    for other in (panel("a", "b"), panel("a", "b", "c", votes=3)):
        with pytest.raises(NotARun):
            run("whole", other)


def test_a_panel_from_the_command_line_sends_each_key_to_its_own_endpoint_and_shows_its_votes(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    row = {"id": "1", "question": "?", "answer": "The mill has six sails.", "contexts": ["The mill has six sails."]}
    log.write_text(json.dumps(row) + "\n", "utf-8")

    def saying_over_http(labels: Mapping[str, str]) -> Any:
        return lambda one: chat(
            json.dumps({"a1": {"label": labels[one.body["model"]], "source": "none", "quote": ""}}),
            model=one.body["model"],
        )

    with Server(saying_over_http({"a-1.0": S, "b-1.0": U})) as mine, Server(saying_over_http({"c-1.0": S})) as other:
        given = f"run {log} -o {tmp_path / 'run'} --judge a-1.0 --base-url {mine.url} --panel b-1.0"
        given += f" --panel c-1.0@{other.url}#OTHER_KEY --metrics faithfulness --split segments"
        env = {"OPENAI_API_KEY": "sk-mine-mine", "OTHER_KEY": "sk-other-other"}
        done = CliRunner().invoke(cli, given.split(), env=env)
        assert done.exit_code == 0, done.output
        assert {one.headers["authorization"] for one in mine.requests} == {"Bearer sk-mine-mine"}
        assert {one.headers["authorization"] for one in other.requests} == {"Bearer sk-other-other"}
        report = CliRunner().invoke(cli, ["report", str(tmp_path / "run")], terminal_width=160).stdout
        assert all(f"{model} @ http://127.0.0.1" in report for model in ("a-1.0", "b-1.0", "c-1.0"))
        row_shown = CliRunner().invoke(cli, ["report", str(tmp_path / "run"), "--row", "1"], terminal_width=160).stdout
        shown = " ".join(row_shown.split())
        assert "votes: extractor: supported, decider 2: unsupported, decider 3: supported" in shown
        kept = b"".join(path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file())
        assert not any(key.encode() in kept for key in env.values())
        missing = CliRunner().invoke(cli, given.split(), env={"OTHER_KEY": ""})
    assert isinstance(missing.exception, InputError)
    assert "the environment variable OTHER_KEY is not set" in str(missing.exception)
