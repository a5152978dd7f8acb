"""Typed questions laid out for a chat model: what is printed, and the schema of the reply."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from judgekit.judge import layout
from judgekit.judge.reading import read
from judgekit.prompts import prompts_of, quote
from judgekit.wire import Choice, Grade, JudgeReply, JudgeRequest, Option, Question, Texts, YesNo

LABELS = (Option(value="supported", description="they say it"), Option(value="unsupported", description="they do not"))
GRADES = tuple(Option(value=str(grade), description=f"grade {grade}") for grade in range(3))


def choice(question_id: str, text: str = "It rains.", *, sources: tuple[str, ...] = ("1", "2")) -> Choice:
    return Choice(id=question_id, ask="Which label?", text=quote(text), options=LABELS, quote_from=sources)


def request(*questions: Question, again: bool = False, shown: str = "It rains.") -> JudgeRequest:
    return JudgeRequest(task="verify", role="You check.", input=f"[1] {quote(shown)}", questions=questions, again=again)


MIXED = request(
    choice("c1"),
    choice("c2"),
    choice("c3", sources=()),
    Grade(id="g1", ask="How good?", options=GRADES),
    Grade(id="g2", ask="How good?", options=GRADES),
    YesNo(id="y1", ask="Is it?"),
    Texts(id="s1", ask="Which claims?"),
)


def prompt(asked: JudgeRequest) -> tuple[str, str]:
    system, user = layout.messages(prompts_of(), asked)
    assert isinstance(system, dict)
    assert isinstance(user, dict)
    assert (system["role"], user["role"]) == ("system", "user")
    return str(system["content"]), str(user["content"])


def test_options_and_asks_are_printed_once_a_group() -> None:
    system, user = prompt(request(choice("c1"), choice("c2", "It snows."), *MIXED.questions[3:]))
    assert [system.count(text) for text in ("supported: they say it", "grade 1", "You check.")] == [1, 1, 1]
    assert [user.count(text) for text in ("Which label?", "How good?", "Is it?", "Which claims?")] == [1, 1, 1, 1]
    assert 'c1: "It rains."\nc2: "It snows."\n' in user
    assert user.index("[1]") < user.index("Which label?") < user.index("c1:") < user.index("How good?")


def test_the_shape_of_the_reply_is_spelled_out_once_a_group() -> None:
    _, user = prompt(MIXED)
    form = user.splitlines()[-1]
    quoted, plain = "supported|unsupported", '"supported|unsupported"'
    assert form.count(f'"label": "{quoted}"') == 1
    assert f'"c2": ..., "c3": {plain}, "g1": "2|1|0", "g2": ..., "y1": "yes|no", "s1": ["...", ...]}}' in form


def test_only_a_second_asking_says_that_it_is_one() -> None:
    first, second = prompt(MIXED), prompt(MIXED.only(["c2", "y1"]))
    assert "asked before" not in first[1]
    assert "asked before" in second[1]
    assert MIXED.only(["y1", "c2", "invented"]).ids == ("c2", "y1")


def test_the_constant_part_comes_first() -> None:
    """Two calls over the same sources share all but the questions: servers reuse such a prefix."""
    (system, one), (same, other) = (
        prompt(request(choice("c1", "It rains."))),
        prompt(request(choice("c9", "It hails."))),
    )
    assert system == same
    start = one.index("c1:")
    assert one[:start] == other[:start]


def test_the_schema_requires_one_property_for_every_id() -> None:
    schema: Any = layout.schema(MIXED)
    properties = schema["properties"]
    assert list(properties) == schema["required"] == list(MIXED.ids)
    assert schema["additionalProperties"] is False
    assert properties["c1"]["required"] == ["source", "quote", "label"], "what decides comes before the decision"
    assert properties["c1"]["additionalProperties"] is False
    assert properties["c1"]["properties"]["source"]["enum"] == ["1", "2", "none"]
    assert properties["c3"] == {"type": "string", "enum": ["supported", "unsupported"]}
    assert properties["g1"] == {"type": "string", "enum": ["2", "1", "0"]}, "the highest grade is read first"
    assert properties["y1"] == {"type": "string", "enum": ["yes", "no"]}
    assert properties["s1"] == {"type": "array", "items": {"type": "string"}}


@st.composite
def instance(draw: st.DrawFn) -> dict[str, Any]:
    """A value that fits the schema of MIXED."""
    schema: Any = layout.schema(MIXED)

    def of(part: Any) -> Any:
        if part["type"] == "object":
            return {name: of(inner) for name, inner in part["properties"].items()}
        if part["type"] == "array":
            return draw(st.lists(st.text(max_size=5), max_size=3))
        return draw(st.sampled_from(part["enum"]) if "enum" in part else st.text(max_size=5))

    value: dict[str, Any] = of(schema)
    return value


@given(instance())
def test_whatever_fits_the_schema_is_read_as_it_says(value: dict[str, Any]) -> None:
    answers = read(MIXED, JudgeReply(text=json.dumps(value), finish="stop"))
    assert all(answer.is_answered for answer in answers.values())
    assert answers["c1"].label == value["c1"]["label"]
    assert answers["g2"].label == value["g2"]
    assert answers["s1"].texts == tuple(value["s1"])
    assert answers["c1"].quote is not None
    assert answers["c1"].quote.text == value["c1"]["quote"]


@given(st.text(), st.text())
def test_hostile_text_adds_no_line_to_a_prompt(source: str, claim: str) -> None:
    plain, hostile = prompt(request(choice("c1"))), prompt(request(choice("c1", claim), shown=source))
    assert hostile[0] == plain[0]
    assert len(hostile[1].splitlines()) == len(plain[1].splitlines())
    assert hostile[1].splitlines()[-1] == plain[1].splitlines()[-1]
    for line, mark, text in ((0, "[1] ", source), (plain[1].splitlines().index('c1: "It rains."'), "c1: ", claim)):
        said = hostile[1].splitlines()[line].removeprefix(mark)
        assert json.loads(said) == text.encode("utf-8", "replace").decode("utf-8")
