"""How sure a model was of a label it wrote as JSON: at the label's tokens and nowhere else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from math import log
from pathlib import Path
from typing import Any

import pytest
from misbehaving import Reply, Request, Server, chat, error

from judgekit.errors import InputError
from judgekit.judge import Judge
from judgekit.judge.asking import Asked
from judgekit.wire import Choice, JudgeRequest, Option, YesNo

LABELS = ("contradicted", "unsupported", "partially_supported", "supported")
OPTIONS = tuple(Option(value=value) for value in LABELS)


def request(*ids: str, options: Sequence[Option] = OPTIONS, quote: bool = False) -> JudgeRequest:
    named = ("1",) if quote else ()
    questions = tuple(Choice(id=i, ask="Which?", options=tuple(options), quote_from=named) for i in ids or ("a1",))
    return JudgeRequest(task="t", role="You check.", input='"x"', questions=questions)


def tokens(*written: str | dict[str, float]) -> dict[str, Any]:
    """Logprobs of tokens: a text that was certain, or alternatives, the first of which was written."""
    content = []
    for one in written:
        options = {one: 1.0} if isinstance(one, str) else one
        top = [{"token": piece, "logprob": log(p), "bytes": [*piece.encode()]} for piece, p in options.items()]
        content.append({**top[0], "top_logprobs": top})
    return {"content": content}


def reply(*written: str | dict[str, float], text: str | None = None, finish: str = "stop") -> Reply:
    said = "".join(one if isinstance(one, str) else next(iter(one)) for one in written)
    return chat(said if text is None else text, logprobs=tokens(*written), finish=finish)


def judge_at(server: Server, **options: Any) -> Judge:
    settings = {"confidence": "logprobs", "timeout": 10.0, "max_attempts": 1, **options}
    return Judge("m", base_url=server.url, **settings)


def ask(judge: Judge, *requests: JudgeRequest) -> list[Asked]:
    async def all_of_them() -> list[Asked]:
        async with judge:
            return list(await asyncio.gather(*(judge.ask(one) for one in requests or [request()])))

    return asyncio.run(all_of_them())


def answers(said: Reply, asked: JudgeRequest | None = None) -> dict[str, Any]:
    with Server(said) as server:
        (found,) = ask(judge_at(server), asked or request())
    return found.answers


def shares(**seen: float) -> Any:
    """Over all four labels; a label not given was not listed, and certain tokens leave it nothing."""
    return pytest.approx({label: seen.get(label, 0.0) for label in LABELS}, abs=1e-5)


# --- at the label ------------------------------------------------------------------------------------


def test_the_alternatives_at_the_first_token_that_tells_share_one() -> None:
    first = {"supp": 0.6, "uns": 0.3, "part": 0.05, "contr": 0.05}
    found = answers(reply('{"', "a1", '": "', first, "orted", '"}'))["a1"]
    assert (found.label, found.cause) == ("supported", None)
    assert found.probabilities == shares(supported=0.6, unsupported=0.3, partially_supported=0.05, contradicted=0.05)


def test_a_token_may_begin_before_the_label_and_end_after_it() -> None:
    found = answers(reply('{"a1":', {' "supported"}': 0.7, ' "uns': 0.3}))["a1"]
    assert found.probabilities == shares(supported=0.7, unsupported=0.3)


def test_alternatives_that_begin_otherwise_are_nobodys() -> None:
    # after the colon a line break was likelier than not to be written, which is no label
    found = answers(reply('{"a1":', {' "sup': 0.5, "\n": 0.3, ' "uns': 0.1, ' "': 0.1}, 'ported"}'))["a1"]
    whole = 0.6 + 2 * 0.0  # all was listed: the two that were not can have had nothing
    assert found.probabilities == shares(supported=0.5 / whole, unsupported=0.1 / whole)


def test_labels_that_begin_alike_are_told_apart_further_on() -> None:
    options = [Option(value=value) for value in ("support", "supported", "none")]
    found = answers(
        reply('{"a1": "', {"support": 0.8, "no": 0.2}, {"ed": 0.75, '"': 0.25}, '"}'), request(options=options)
    )["a1"]
    assert found.label == "supported"
    assert found.probabilities == pytest.approx({"support": 0.2, "supported": 0.6, "none": 0.2}, abs=1e-5)


def test_each_label_has_its_own_tokens_and_a_quote_has_none() -> None:
    quoted = '": {"source": "1", "quote": "supported unsupported", "label": "'
    said = reply(
        '{"a1', quoted, {"un": 0.9, "supp": 0.1}, 'supported"}, "a2', quoted, {"supp": 0.8, "contr": 0.2}, 'orted"}}'
    )
    found = answers(said, request("a1", "a2", quote=True))
    assert found["a1"].probabilities == shares(unsupported=0.9, supported=0.1)
    assert found["a2"].probabilities == shares(supported=0.8, contradicted=0.2)
    assert found["a1"].quote is not None


def test_only_the_json_that_was_read_counts_not_one_thought_of_before() -> None:
    echoed, said = '{"a1": "contradicted"}', ['{"a1": "', {"supp": 0.9, "uns": 0.1}, 'orted"}']
    found = answers(reply("<think>", echoed, "</think>", *said))["a1"]
    assert found.probabilities == shares(supported=0.9, unsupported=0.1)


def test_tokens_that_the_text_lacks_do_not_shift_the_place() -> None:
    said = ['{"a1": "', {"supp": 0.9, "uns": 0.1}, 'orted"}']
    found = answers(reply("```", "json\n", *said, "\n```", text='{"a1": "supported"}'))["a1"]
    assert found.probabilities == shares(supported=0.9, unsupported=0.1)


def test_letters_of_several_bytes_in_front_do_not_shift_the_place() -> None:
    said = ['{"quote": "Zoë — 水", "a1": "', {"supp": 0.9, "uns": 0.1}, 'orted"}']
    assert answers(reply(*said))["a1"].probabilities == shares(supported=0.9, unsupported=0.1)


# --- otherwise none ----------------------------------------------------------------------------------

NONE = {
    "the JSON stands twice": reply('{"a1": "supported"}', " or ", '{"a1": "supported"}'),
    "the tokens are not those of the text": chat('{"a1": "supported"}', logprobs=tokens('{"a1": "yes"}')),
    "a list of items": reply('[{"id": "a1", "label": "', {"supp": 0.9, "uns": 0.1}, 'orted"}]'),
    "half of the probability was meant for something else": reply('{"a1": "', {"supp": 0.4, "\\": 0.6}, 'orted"}'),
    "mended JSON": reply('{"a1": "', {"supp": 0.9, "uns": 0.1}, 'orted",}'),
    "no logprobs in the reply": chat('{"a1": "supported"}'),
}


@pytest.mark.parametrize("said", NONE.values(), ids=NONE)
def test_where_the_tokens_do_not_tell_there_is_none(said: Reply) -> None:
    found = answers(said)["a1"]
    assert (found.label, found.probabilities) == ("supported", None)


def test_what_is_no_label_has_none() -> None:
    found = answers(reply('{"a1": "', {"supp": 0.9, "uns": 0.1}, 'osed"}'))["a1"]
    assert (found.cause, found.probabilities) == ("invalid_label", None)


def test_yes_said_as_true_has_none() -> None:
    asked = JudgeRequest(task="t", role="r", input="i", questions=(YesNo(id="a1", ask="?"),))
    found = answers(reply('{"a1": ', {"true": 0.9, "false": 0.1}, "}"), asked)["a1"]
    assert (found.label, found.probabilities) == ("yes", None)


def test_an_endpoint_that_refuses_is_asked_without_and_that_is_recorded() -> None:
    def handle(one: Request) -> Reply:
        return (
            error(400, "no logprobs here", param="logprobs") if "logprobs" in one.body else chat('{"a1": "supported"}')
        )

    with Server(handle) as server:
        judge = judge_at(server)
        (found,) = ask(judge)
        assert [sorted({"logprobs", "top_logprobs"} & one.body.keys()) for one in server.requests] == [
            ["logprobs", "top_logprobs"],
            [],
        ]
        assert judge.dialects["extractor"]["dropped"] == ["logprobs", "top_logprobs"]
    assert (found.answers["a1"].label, found.answers["a1"].probabilities) == ("supported", None)


# --- asked for, kept, pinned ---------------------------------------------------------------------------


def test_it_is_off_by_default_and_part_of_who_answers() -> None:
    with Server(chat('{"a1": "supported"}')) as server:
        ask(judge_at(server, confidence=None))
        assert not {"logprobs", "top_logprobs"} & server.requests[0].body.keys()
        plain, sure = (judge_at(server, confidence=c).specs["extractor"] for c in (None, "logprobs"))
    assert (sure.params["logprobs"], sure.params["top_logprobs"]) == (True, 20)
    assert plain.judge_id != sure.judge_id


def test_what_cannot_be_asked_for_is_refused() -> None:
    with pytest.raises(InputError, match="it can be 'logprobs'"):
        Judge("m", base_url="http://127.0.0.1:9/v1", confidence="words")  # type: ignore[arg-type]


def test_probabilities_are_kept_and_replayed(tmp_path: Path) -> None:
    with Server(reply('{"a1": "', {"supp": 0.9, "uns": 0.1}, 'orted"}')) as server:
        judge = judge_at(server, cache=tmp_path / "kept")
        judge.record()
        first = ask(judge)[0].answers
        judge.write_cassette(tmp_path / "tape.jsonl")
        assert ask(judge_at(server, cache=tmp_path / "kept"))[0].answers == first
        assert len(server.requests) == 1
    assert ask(Judge.replay(tmp_path / "tape.jsonl"))[0].answers == first
    (row,) = (json.loads(line) for line in (tmp_path / "tape.jsonl").read_text("utf-8").splitlines()[1:])
    assert list(row["reply"]["probabilities"]) == ["a1"]
