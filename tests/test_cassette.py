"""Recorded replies in a file: the same bytes for the same replies, and a replay that equals the run."""

from __future__ import annotations

import asyncio
import json
import re
import socket
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from misbehaving import Request, Server, chat, error

from judgekit.errors import CassetteMiss, InputError, RequestTooLong
from judgekit.judge import Judge
from judgekit.judge.asking import Asked
from judgekit.judge.cassette import Cassette, Voice, read, write
from judgekit.wire import JudgeRequest, JudgeSpec, Texts, YesNo, canonical

LINE_ENDS = "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\rh\ni"


def request(text: str, *ids: str) -> JudgeRequest:
    questions = tuple(YesNo(id=question_id, ask="Is it so?") for question_id in ids or ("q1", "q2"))
    return JudgeRequest(task="verify", role="You check.", input=json.dumps(text), questions=questions)


EXTRACTION = JudgeRequest(task="split", role="r", input="i", questions=(Texts(id="s1", ask="Which?"),))
TOO_LONG = error(400, "maximum context length", code="context_length_exceeded")


def moody(sent: Request) -> Any:
    """A server that wants no seed, leaves ids out, refuses, fails, and writes odd line ends."""
    if "seed" in sent.body:
        return error(400, "unknown", param="seed")
    asked = sent.body["messages"][1]["content"]
    if "s1" in asked:
        return chat(json.dumps({"s1": [LINE_ENDS, "\ud83d"]}, ensure_ascii=False).replace("\ud83d", "\\ud83d"))
    replies = {
        "half": chat('{"q1": "yes"}'),
        "never": chat("no JSON"),
        "refused": chat(None, refusal="I cannot."),
        "filtered": error(400, "blocked", code="content_filter"),
        "odd": error(400, "odd", param="messages"),
        "broken": error(500),
        "long": TOO_LONG,
    }
    return next((reply for word, reply in replies.items() if word in asked), chat('{"q1": "yes", "q2": "no"}'))


WORDS = ["plain", "half", "never", "refused", "filtered", "odd", "broken", "long", "plain too"]


def outcomes(judge: Judge, words: list[str] = WORDS) -> list[Any]:
    async def all_of_them() -> list[Any]:
        async with judge:
            first = [await judge.ask(request("first")), await judge.ask(EXTRACTION)]
            asks = (judge.ask(request(word), repeat=repeat) for word in words for repeat in (0, 1))
            return [*first, *await asyncio.gather(*asks, return_exceptions=True)]

    found = asyncio.run(all_of_them())
    return [str(one) if isinstance(one, RequestTooLong) else one for one in found]


def record(path: Path, words: list[str] = WORDS, **options: Any) -> list[Any]:
    with Server(moody) as server:
        judge = Judge("m", base_url=server.url, max_attempts=1, **options)
        judge.record()
        found = outcomes(judge, words)
        judge.write_cassette(path)
    return found


def test_a_replay_equals_the_run_and_needs_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tape = tmp_path / "deep" / "tape.jsonl"
    found = record(tape)
    assert sum(isinstance(one, Asked) for one in found) == len(found) - 2, "the input that was too long"

    def no_network(*_args: object) -> None:
        raise AssertionError("a replay opened a connection")

    monkeypatch.setattr(socket.socket, "connect", no_network)
    replay = Judge.replay(tape)
    assert replay.is_replay
    assert outcomes(replay) == found
    assert replay.meters["extractor"].sent == 0
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path != tape]


def test_a_replay_of_a_replay_has_the_same_bytes(tmp_path: Path) -> None:
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    record(first)
    replay = Judge.replay(first)
    replay.record()
    outcomes(replay)
    replay.write_cassette(second)
    assert second.read_bytes() == first.read_bytes()


def test_what_was_paid_earlier_is_recorded_as_well(tmp_path: Path) -> None:
    words = ["plain", "long"]
    with Server(moody) as server:
        for name in ("first", "second"):
            judge = Judge("m", base_url=server.url, cache=tmp_path / "cache")
            judge.record()
            outcomes(judge, words)
            judge.write_cassette(tmp_path / name)
        sent = len(server.requests)
        outcomes(Judge("m", base_url=server.url, cache=tmp_path / "cache"), words)
        assert len(server.requests) == sent
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


def test_only_what_was_used_is_recorded(tmp_path: Path) -> None:
    with Server(moody) as server:
        judge = Judge("m", base_url=server.url)
        outcomes(judge, ["plain"])
        judge.record()
        outcomes(judge, [])
        judge.record()
        judge.write_cassette(tmp_path / "tape")
    assert len(read(tmp_path / "tape").rows) == 2


def test_a_miss_names_what_was_asked(tmp_path: Path) -> None:
    record(tmp_path / "tape", ["plain"])
    replay = Judge.replay(tmp_path / "tape")
    for asked, named in (
        (request("new", "q7", "q8"), "verify with q7, q8"),
        (request("plain", "q2"), "verify with q2"),
    ):
        with pytest.raises(CassetteMiss, match=f"holds no reply to: {named}; .*record"):
            asyncio.run(replay.ask(asked))
    with pytest.raises(CassetteMiss, match="verify"):
        asyncio.run(replay.ask(request("plain"), repeat=2))


def test_a_cassette_holds_no_key_and_says_who_answered(tmp_path: Path) -> None:
    with Server(moody) as server:
        url = server.url.replace("http://", "http://user:planted-secret@") + "?key=planted-secret"
        judge = Judge("m", base_url=url, api_key="planted-secret", headers={"X-A": "planted-secret"})
        judge.record()
        outcomes(judge, [])
        judge.write_cassette(tmp_path / "tape")
        base_url = server.url
    text = (tmp_path / "tape").read_text(encoding="utf-8")
    assert "planted" not in text
    assert "user" not in json.loads(text.split("\n")[0])["voices"]["extractor"]["judge"]["base_url"]
    (voice,) = read(tmp_path / "tape").voices.values()
    assert voice.spec == JudgeSpec(
        model="m", base_url=base_url, params={"temperature": 0, "seed": 7, "max_tokens": 2048}, resolved="m"
    )
    assert voice.dialect == {"format": "json_schema", "dropped": ["seed"], "renamed": {}}


# --- the file --------------------------------------------------------------------------------

SPEC = JudgeSpec(model="m", base_url="http://h/v1", resolved="m-1")
VOICES = {"extractor": Voice(SPEC, {"format": "text", "dropped": [], "renamed": {}})}


def row(text: str | None = "x", **fields: Any) -> str:
    return canonical({"task": "t", "request": {"a": 1}, "reply": {"text": text}, "ok": True, **fields})


KEYS = st.text("0123456789abcdef", min_size=1, max_size=32)


@given(st.dictionaries(KEYS, st.text() | st.text(st.sampled_from(LINE_ENDS + '\ud83d"\\')), max_size=8), st.randoms())
def test_the_same_replies_give_the_same_bytes_whatever_their_order(
    tmp_path_factory: pytest.TempPathFactory, texts: dict[str, str], random: Any
) -> None:
    rows = {key: row(text) for key, text in texts.items()}
    shuffled = list(rows.items())
    random.shuffle(shuffled)
    folder = tmp_path_factory.mktemp("tapes")
    write(folder / "one", Cassette(VOICES, rows))
    write(folder / "two", Cassette(VOICES, dict(shuffled)))
    assert (folder / "one").read_bytes() == (folder / "two").read_bytes()
    assert (folder / "one").read_bytes().count(b"\n") == len(rows) + 1
    again = read(folder / "one")
    assert again.voices == VOICES
    assert {key: json.loads(found) for key, found in again.rows.items()} == {k: json.loads(v) for k, v in rows.items()}
    assert [path.name for path in sorted(folder.iterdir())] == ["one", "two"]


def lines(tmp_path: Path) -> tuple[Path, list[str]]:
    path = tmp_path / "tape.jsonl"
    write(path, Cassette(VOICES, {"k1": row(), "k2": row()}))
    return path, path.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize(
    "header",
    [
        "",
        "{}",
        "[]",
        "null",
        "not json",
        "[" * 100_000,
        '{"judgekit_cassette": 1}',
        '{"judgekit_cassette": 1, "voices": []}',
        '{"judgekit_cassette": 1, "voices": {}}',
        '{"judgekit_cassette": 1, "voices": {"extractor": {}}}',
        '{"judgekit_cassette": 1, "voices": {"extractor": {"judge": {"model": "m"}, "dialect": {}}}}',
        '{"judgekit_cassette": 1, "voices": {"decider": {"judge": {"model": "m", "base_url": "u"}, "dialect": {}}}}',
        '{"judgekit_cassette": 1, "voices": {"extractor": {"judge": {"model": "m", "base_url": "u"}, "dialect": 7}}}',
    ],
)
def test_a_damaged_header_is_named(tmp_path: Path, header: str) -> None:
    path, good = lines(tmp_path)
    path.write_text("\n".join([header, *good[1:]]) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(f"{path}:1: not the header of a cassette; record it again")):
        Judge.replay(path)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "{}",
        "[]",
        "null",
        "not json",
        "[" * 100_000,
        '{"key": "k"}',
        '{"key": 7, "reply": {"text": "x"}}',
        '{"key": ["k"], "reply": {"text": "x"}}',
        '{"reply": {"text": "x"}}',
        '{"key": "k", "reply": {"text": 7}}',
        '{"key": "k", "reply": null}',
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, line: str) -> None:
    path, good = lines(tmp_path)
    path.write_text("\n".join([*good[:2], line, good[2]]) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(f"{path}:3: not a recorded reply; record the cassette again")):
        Judge.replay(path)


def test_a_file_that_is_no_cassette_is_named(tmp_path: Path) -> None:
    path, good = lines(tmp_path)
    with pytest.raises(InputError, match="absent: No such file"):
        Judge.replay(tmp_path / "absent")
    with pytest.raises(InputError, match=re.escape(str(tmp_path))):
        Judge.replay(tmp_path)
    path.write_text(good[0].replace('"judgekit_cassette":1', '"judgekit_cassette":2'), encoding="utf-8")
    with pytest.raises(InputError, match="format 2 is not known here; update judgekit"):
        Judge.replay(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not UTF-8"):
        Judge.replay(path)
    path.write_text("", encoding="utf-8")
    with pytest.raises(InputError, match=":1: not the header"):
        Judge.replay(path)


def test_a_form_that_nobody_here_speaks_cannot_be_replayed_and_says_so(tmp_path: Path) -> None:
    voice = Voice(SPEC.model_copy(update={"form": "morse"}), {})
    write(tmp_path / "tape", Cassette({**VOICES, "decider": voice}, {}))
    with pytest.raises(InputError, match=r"its decider: .* speaks 'morse', which cannot be replayed"):
        Judge.replay(tmp_path / "tape")


def test_a_file_with_windows_line_ends_is_read(tmp_path: Path) -> None:
    path, good = lines(tmp_path)
    path.write_bytes("\r\n".join([*good, ""]).encode())
    assert list(read(path).rows) == ["k1", "k2"]
