"""What is made of the text a model wrote: valid answers whatever stands around them, and never a guess."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.judge import reading
from judgekit.judge.reading import label_of, read
from judgekit.wire import Choice, Grade, JudgeReply, JudgeRequest, Option, Question, Quote, Texts, YesNo, canonical

LABELS = ("supported", "partially_supported", "unsupported", "contradicted")
GRADES = ("0", "1", "2", "3", "4")


def choice(question_id: str, *sources: str) -> Choice:
    options = tuple(Option(value=value) for value in LABELS)
    return Choice(id=question_id, ask="Which?", options=options, quote_from=sources)


def request(*questions: Question) -> JudgeRequest:
    return JudgeRequest(task="verify", role="role", input="input", questions=questions)


CLAIMS = request(choice("c1"), choice("c2"))
ONE = request(choice("c1"))
YES_NO = request(YesNo(id="c1", ask="Is it?"))
QUOTED = request(choice("c1", "1", "2"))
GRADED = request(Grade(id="c1", ask="How good?", options=tuple(Option(value=value) for value in GRADES)))
LISTED = request(Texts(id="s1", ask="Which claims?"), Texts(id="s2", ask="Which claims?"))


def labels(text: str | None, asked: JudgeRequest = CLAIMS, **fields: str) -> dict[str, str | None]:
    """What was read, by id: the label, or the cause of its lack in angle brackets."""
    answers = read(asked, JudgeReply(text=text, **{"finish": "stop", **fields}))
    assert tuple(answers) == asked.ids
    assert all(
        (answer.label is None and answer.texts is None) == (answer.cause is not None) for answer in answers.values()
    )
    return {i: answer.label or f"<{answer.cause}>" for i, answer in answers.items()}


BOTH = '{"c1": "supported", "c2": "contradicted"}'
ECHO = '{"c1": "supported", "c2": "supported"}'
READ = {"c1": "supported", "c2": "contradicted"}


@pytest.mark.parametrize(
    "text",
    [
        BOTH,
        f"```json\n{BOTH}\n```",
        f"```\n{BOTH}```",
        f"Here you are:\n\n{BOTH}\nI hope that this helps.",
        f"Note [see below] and {{the claim}} {{ }} [1] [] first.\n{BOTH}",
        f"It's [an unclosed \"bracket {BOTH}",
        f"Sizes [1, 2 and {{so on {BOTH}",
        f"<think>Let me check {{the claim}} [1] first.</think>{BOTH}",
        f'<think>maybe {{"c1": "unsupported", "c2": "unsupported"}}?</think>\n{BOTH}',
        f'maybe {{"c1": "unsupported"}}?\n</think>{BOTH}',
        f"<think>a <think>b</think> c</think>{BOTH}",
        f"<THINKING>a</THINKING> {BOTH} <reasoning>b</reasoning>",
        f'[THINK]{{"c1": "unsupported"}}[/THINK]{BOTH}',
        f'\u25c1think\u25b7{{"c1": "unsupported"}}\u25c1/think\u25b7{BOTH}',
        f'{BOTH}<think>or is it {{"c1": "unsupported"}}',
        f"[{BOTH}]",
        f"{{{BOTH}}}",
        '{"c2": "contradicted", "c1": "supported", "c3": "supported"}',
        '{"c1": "supported",\n "c2": "contradicted",\n}',
        '[{"id": "c2", "label": "contradicted"}, {"id": "c1", "label": "supported"}, {"id": "x", "label": "?"},]',
        '[{"claim_id": "c1", "verdict": "supported"}, {"claim_id": "c2", "verdict": "contradicted"}]',
        '[{"c1": "supported"}, {"c2": "contradicted"}]',
        f'{{"verdicts": {BOTH}}}',
        f'{{"output": {{"results": {BOTH}}}}}',
        '{"answers": [{"id": "c1", "label": "supported"}, {"id": "c2", "label": "contradicted"}]}',
        '{"c1": {"label": "supported", "quote": "q", "source": "1"}, "c2": {"answer": "contradicted"}}',
        '{"c1": {"label": "supported", "reason": "line one\nline\ttwo"}, "c2": "contradicted"}',
        '{"c1": {"label": "supported", "reason": "line one\nline two",}, "c2": "contradicted",}',
        '{"c1": "supported", "c1": "supported", "c2": "contradicted"}',
        '[{"id": "c1", "label": "supported"}, {"id": "c1", "label": "supported"}, {"c2": "contradicted"}]',
        '{"c1": "unsupported", "c2": "unsupported"}\nNo, wait.\n' + BOTH,
        'The answer says {"c1": "unsupported", "c2": "supported"}, so:\n' + BOTH,
        BOTH + ' The form was {"id": label}.',
        BOTH + "\n{}",
        BOTH + " as in [1] and {this",
        '{"c1": "supported", "c2": "contradicted"',
        '{"c1": {"label": "supported", "quote": "use </think> here"}, "c2": "contradicted"}',
        '```json\n{"c1": {"label": "supported", "quote": "a <think> tag"}, "c2": "contradicted"}\n```',
        "[1] " * 3000 + BOTH,
        "[see below] " * 3000 + BOTH,
    ],
)
def test_valid_answers_are_found_whatever_stands_around_them(text: str) -> None:
    assert labels(text) == READ


@pytest.mark.parametrize(
    ("said", "asked", "label"),
    [
        ('"Yes."', YES_NO, "yes"),
        ('"no,"', YES_NO, "no"),
        ('"**YES**"', YES_NO, "yes"),
        ("true", YES_NO, "yes"),
        ("false", YES_NO, "no"),
        ('"false"', YES_NO, "no"),
        ("1", YES_NO, None),
        ("0", YES_NO, None),
        ('"partially"', YES_NO, None),
        ('"yes and no"', YES_NO, None),
        ('"ja"', YES_NO, None),
        ('"Partially Supported"', ONE, "partially_supported"),
        ('"partially-supported"', ONE, "partially_supported"),
        ('"SUPPORTED"', ONE, "supported"),
        ('{"verdict": "`supported`"}', ONE, "supported"),
        ('"belegt"', ONE, None),
        ('"not supported"', ONE, None),
        ('"supported or contradicted"', ONE, None),
        ('["supported"]', ONE, None),
        ('""', ONE, None),
        ("null", ONE, None),
        ("true", ONE, None),
        ("{}", ONE, None),
        ("-1", ONE, None),
        ("1", ONE, None),
        ("4", GRADED, "4"),
        ("4.0", GRADED, "4"),
        ('"4.0"', GRADED, "4"),
        ('"(4)"', GRADED, "4"),
        ("-1", GRADED, None),
        ('"-1"', GRADED, None),
        ("5", GRADED, None),
        ("2.5", GRADED, None),
        ("40", GRADED, None),
        ('"4 of 4"', GRADED, None),
        ("true", GRADED, None),
        ("NaN", GRADED, None),
        ("-Infinity", GRADED, None),
        ("1e300", GRADED, None),
        ("1e999", GRADED, None),
        ("9" * 400, GRADED, None),
        ("[" * 900 + "]" * 900, GRADED, None),
    ],
)
def test_a_label_is_what_was_offered_or_nothing(said: str, asked: JudgeRequest, label: str | None) -> None:
    assert labels(f'{{"c1": {said}}}', asked) == {"c1": label or "<invalid_label>"}


def test_options_of_any_spelling_can_be_answered() -> None:
    allowed = ("Not relevant", "n/a", "A.", "a", "true")
    assert {value: label_of(value, allowed) for value in allowed} == {value: value for value in allowed}
    assert [label_of(value, allowed) for value in ("not_relevant", "N/A", "B")] == ["Not relevant", "n/a", None]
    assert label_of("(A)", allowed) is None, "two options are spelled so"
    assert label_of(True, allowed) == "true"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"c1": "supported", "c1": "contradicted", "c2": "supported"}', ("<contradictory_repeats>", "supported")),
        ('{"c1": true, "c1": 1, "c2": "supported"}', ("<contradictory_repeats>", "supported")),
        (
            '[{"id": "c1", "label": "supported"}, {"id": "c1", "label": "no"}, {"id": "c1", "label": "supported"}]',
            ("<contradictory_repeats>", "<missing>"),
        ),
        ('{"c1": {"label": "supported", "label": "contradicted"}}', ("<invalid_label>", "<missing>")),
        ('{"c1": "supported", "c1": "contradicted", "c2": "supp', ("<contradictory_repeats>", "<missing>")),
        ('{"c1": "supported"}', ("supported", "<missing>")),
        ('{"C1": "supported", "claim c2": "supported"}', ("<wrong_ids>", "<wrong_ids>")),
        ('{"c9": "supported"}', ("<wrong_ids>", "<wrong_ids>")),
        ('["supported", "contradicted"]', ("<wrong_ids>", "<wrong_ids>")),
        ('The verdicts:\n```json\n[{"id": "c9", "label": "supported"}]\n```', ("<wrong_ids>", "<wrong_ids>")),
        ("{}", ("<wrong_ids>", "<wrong_ids>")),
        ("Both are supported.", ("<no_json>", "<no_json>")),
        ("Both are supported by [1] and [2].", ("<no_json>", "<no_json>")),
        ('{"c9": "supported"}\n{"c1": "supp', ("<no_json>", "<no_json>")),
        ('"supported"', ("<no_json>", "<no_json>")),
        ('{"c1": "supported"}\n{"c2": "contradicted"}', ("<missing>", "contradicted")),
        ('{"c1": "supported"}\n{"c1": "dunno"}', ("supported", "<missing>")),
        ('{"c1": "dunno"}\n{"c2": "dunno"}', ("<missing>", "<invalid_label>")),
        (ECHO + "</think>I cannot decide.", ("<no_json>", "<no_json>")),
        (ECHO + "<think>a</think> b</think>I cannot decide.", ("<no_json>", "<no_json>")),
        ("<think>" + ECHO + "</think>I cannot decide.", ("<no_json>", "<no_json>")),
        ("<think>They are supported.", ("<empty_reply>", "<empty_reply>")),
        ("", ("<empty_reply>", "<empty_reply>")),
        ("  \n", ("<empty_reply>", "<empty_reply>")),
        (None, ("<empty_reply>", "<empty_reply>")),
    ],
)
def test_what_is_not_answered_carries_the_cause(text: str | None, expected: tuple[str, str]) -> None:
    assert labels(text) == dict(zip(("c1", "c2"), expected, strict=True))


@pytest.mark.parametrize(
    ("text", "finish"),
    [
        # the verdict itself is broken: what it quotes, or what stood before it, must not take its place
        ('{"c1": {"label": "contradicted", "quote": "the text says {"c1": "supported"} x"}}', "stop"),
        ("{'c1': 'contradicted', 'quote': '" + ECHO + "'}", "stop"),
        ("{c1: 'contradicted', quote: " + ECHO + "", "stop"),
        ('[{"id": "c1", "label": "contradicted", "quote": "says {"c1": "supported"} x"}]', "stop"),
        (f'It says {ECHO}. My verdict:\n{{"c1": {{"label": "contr', "stop"),
        (f'It says {ECHO}. My verdict:\n{{"c1": {{"label": "contr', "length"),
        (f'It says {ECHO}. My verdict:\n{{"c1": "contradicted "really"", "c2": 1}}', "stop"),
        (f'It says {ECHO}. My verdict:\n[{{"id": "c1", "label": "contr', "stop"),
        (f"It says {ECHO}. My verdict:\n{{", "length"),
        (f'It says {ECHO}. My verdict:\n{{"verdicts": [', "length"),
        (f"It says {ECHO}, which is an attempt to", "length"),
    ],
)
def test_an_echo_of_the_judged_text_never_grades_itself(text: str, finish: str) -> None:
    assert "supported" not in labels(text, finish=finish).values()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"c1": "supported", "c2": "contrad', ("supported", "<cut_off>")),
        ('{"c1": "supported", "c2": {"label": "contradicted", "quote": "abc', ("supported", "<cut_off>")),
        ('{"c1": "supported", "c2": {"label": "contradicted", "quote": "abc"', ("supported", "<cut_off>")),
        ('{"c1": "supported", "c2": {"label": "contradicted", "quote": "abc"}', ("supported", "contradicted")),
        ('{"c1": "supported", "c2"', ("supported", "<cut_off>")),
        ('{"c1": "supported",', ("supported", "<cut_off>")),
        ('{"c1": {"label": "supported", "quote": "a\nb",}, "c', ("supported", "<cut_off>")),
        ('```json\n{"verdicts": [{"id": "c1", "label": "supported"}, {"id": "c2", "lab', ("supported", "<cut_off>")),
        ('{"c1": "suppor', ("<cut_off>", "<cut_off>")),
        ("First I look at", ("<cut_off>", "<cut_off>")),
        (f"{BOTH}\n```\n\n\n", ("supported", "contradicted")),
        ("<think>First I look at", ("<thinking_used_up>", "<thinking_used_up>")),
        (None, ("<thinking_used_up>", "<thinking_used_up>")),
    ],
)
def test_of_a_reply_cut_off_by_length_the_whole_items_are_kept(text: str | None, expected: tuple[str, str]) -> None:
    assert labels(text, finish="length") == dict(zip(("c1", "c2"), expected, strict=True))


def test_a_number_or_a_list_that_breaks_off_is_not_taken_for_whole() -> None:
    assert labels('{"c1": 4', GRADED, finish="length") == {"c1": "<cut_off>"}
    answers = read(LISTED, JudgeReply(text='{"s1": ["a"], "s2": ["b", "c', finish="length"))
    assert (answers["s1"].texts, answers["s2"].texts, answers["s2"].cause) == (("a",), None, "cut_off")


def test_what_is_whole_in_a_cut_reply_is_what_the_whole_reply_says() -> None:
    whole = json.dumps({"c1": {"label": "supported", "quote": 'a "b" \\'}, "c2": "contradicted", "x": [1, {"c1": 2}]})
    for end in range(1, len(whole)):
        for question_id, label in labels(whole[:end], finish="length").items():
            assert label in (READ[question_id], "<cut_off>"), whole[:end]


@pytest.mark.parametrize(
    "reply",
    [
        JudgeReply(text=None, refusal="I cannot help with that.", finish="stop"),
        JudgeReply(text=BOTH, refusal="I cannot help with that.", finish="stop"),
        JudgeReply(text=BOTH, finish="content_filter"),
        JudgeReply(text="", finish="content_filter"),
    ],
)
def test_a_refusal_or_a_filter_is_a_failure_whatever_else_is_said(reply: JudgeReply) -> None:
    answers = read(CLAIMS, reply)
    assert {answer.cause for answer in answers.values()} == {"content_filter"}
    assert answers["c1"].raw == (reply.refusal or reply.text)


def test_thinking_is_no_answer_but_is_kept_to_look_at() -> None:
    answers = read(ONE, JudgeReply(text=None, reasoning='{"c1": "supported"}', finish="stop"))
    assert (answers["c1"].label, answers["c1"].cause) == (None, "empty_reply")
    assert answers["c1"].raw == '{"c1": "supported"}'


@pytest.mark.parametrize(
    ("said", "quote"),
    [
        ('{"label": "supported", "source": "2", "quote": "words"}', Quote(source="2", text="words")),
        ('{"label": "supported", "source": 2, "quote": "words"}', Quote(source="2", text="words")),
        ('{"label": "supported", "source": "[2]", "quote": "words"}', Quote(source="2", text="words")),
        ('{"label": "supported", "source": "9", "quote": "words"}', Quote(source="none", text="words")),
        ('{"label": "supported", "source": ["2"], "quote": "words"}', Quote(source="none", text="words")),
        ('{"label": "supported", "quote": "words"}', Quote(source="none", text="words")),
        ('{"label": "supported", "source": "2", "quote": null}', Quote(source="none", text="")),
        ('{"label": "supported"}', Quote(source="none", text="")),
        ('"supported"', None),
    ],
)
def test_a_quote_comes_with_a_source_that_was_shown(said: str, quote: Quote | None) -> None:
    answer = read(QUOTED, JudgeReply(text=f'{{"c1": {said}}}'))["c1"]
    assert (answer.label, answer.quote) == ("supported", quote)


def test_no_quote_is_made_where_none_was_asked() -> None:
    assert (
        read(ONE, JudgeReply(text='{"c1": {"label": "supported", "quote": "words", "source": "1"}}'))["c1"].quote
        is None
    )


@pytest.mark.parametrize(
    ("said", "texts"),
    [
        ('["a", "b"]', ("a", "b")),
        ("[]", ()),
        ('"a"', ("a",)),
        ('""', ()),
        ('{"claims": ["a"]}', ("a",)),
        ('[{"claim": "a"}, {"id": 7, "text": "b"}]', ("a", "b")),
        ('[{"id": "7", "why": "b"}]', None),
        ('["a", 3]', None),
        ('["a", null]', None),
        ('["a", ["b"]]', None),
        ("null", None),
        ("7", None),
        ("{}", None),
    ],
)
def test_texts_are_a_list_of_texts_or_nothing(said: str, texts: tuple[str, ...] | None) -> None:
    answer = read(request(LISTED.questions[0]), JudgeReply(text=f'{{"s1": {said}}}'))["s1"]
    assert (answer.texts, answer.cause) == (texts, None if texts is not None else "invalid_list")


def test_lone_surrogates_never_reach_a_record() -> None:
    both = request(choice("c1", "1"), *LISTED.questions)
    text = '{"c1": {"label": "supported", "source": "1", "quote": "\\ud83d!"}, "s1": ["\\ude00"], "s2": ["\\ud83d", 1]}'
    for answer in read(both, JudgeReply(text=text)).values():
        assert answer.model_dump_json()
    assert read(ONE, JudgeReply(text="\ud83d"))["c1"].model_dump_json()


def test_the_raw_reply_is_kept_and_the_same_every_time() -> None:
    text = '{"c1": {"label": "belegt", "x": 1, "x": 2}}' + " " * 9000
    first, second = (read(CLAIMS, JudgeReply(text=text)) for _ in range(2))
    assert first == second
    assert first["c1"].raw == '{"label": "belegt", "x": contradictory repeats}'.replace(
        "contradictory repeats", '"contradictory repeats"'
    )
    assert first["c2"].raw is not None
    assert len(first["c2"].raw) < 4100
    assert " object at 0x" not in repr(first)


@pytest.mark.parametrize(
    "piece",
    [
        *("[", "{", "[]", "{}", "[a]", "{a:}", '{"', '[{"', '{"c1":', "[1,", '{"c1":"x"}', '{"c1":"supported"', "{ "),
        *("<think>", "<think></think>", "</think>{", "[\\", '["\\', "{'c1':", "[THINK]", "{\n", '"[', "[,", "[[1,2],"),
    ],
)
def test_hostile_text_costs_bounded_work(piece: str) -> None:
    text = (piece * 200_000)[:200_000]
    began = time.process_time()
    answers = labels(text)
    assert time.process_time() - began < 2
    assert "contradicted" not in answers.values()


def test_a_verdict_behind_too_many_brackets_is_not_guessed_at() -> None:
    assert labels(f"{ECHO}{'[ ' * 200_000}{BOTH}") == {"c1": "<no_json>", "c2": "<no_json>"}


def test_deep_nesting_is_survived() -> None:
    for depth in (500, 5_000, 100_000):
        nested = '{"a":' * depth + "1" + "}" * depth
        assert labels(f"{nested}\n{BOTH}") in (READ, {"c1": "<no_json>", "c2": "<no_json>"})


def test_a_value_too_deep_to_be_written_down_is_no_answer() -> None:
    said: list[Any] = []
    for _ in range(100_000):
        said = [said]
    assert reading.answer(ONE.questions[0], said).cause == "invalid_label"


JSONISH = st.text(st.sampled_from('{}[]",:\\ \n`c12supported<>/think.'), max_size=60)


@given(JSONISH, st.sampled_from(["stop", "length", None]))
def test_any_text_gives_an_answer_or_a_cause_for_every_question(text: str, finish: str | None) -> None:
    answers = read(CLAIMS, JudgeReply(text=text, finish=finish))
    assert tuple(answers) == CLAIMS.ids
    for answer in answers.values():
        assert (answer.label in LABELS) != (answer.cause is not None)


@given(st.dictionaries(st.sampled_from(["c1", "c2"]), st.sampled_from(LABELS), min_size=1), st.text(max_size=30))
def test_prose_without_brackets_changes_nothing(said: dict[str, str], prose: str) -> None:
    prose = "".join(sign for sign in prose if sign not in "[]{}<>\u25c1")
    text = f"{prose}\n{canonical(said)}\n{prose}"
    assert {i: label for i, label in labels(text).items() if label in LABELS} == said


@pytest.mark.parametrize(
    ("said", "label"),
    [
        ("helps", "helps"),
        ("Helps.", "helps"),
        (2, "helps"),
        ("2", "helps"),
        (0, "irrelevant"),
        (4, None),
        (-1, None),
        (True, None),
    ],
)
def test_a_level_may_be_named_by_its_number_counted_from_the_lowest(said: object, label: str | None) -> None:
    levels = tuple(Option(value=value) for value in ("irrelevant", "mentions", "helps", "answers"))
    asked = request(Grade(id="c1", ask="How relevant?", options=levels))
    found = reading.read(asked, JudgeReply(text=json.dumps({"c1": said}), finish="stop"))["c1"]
    assert found.label == label
