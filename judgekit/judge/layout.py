"""Typed questions as a prompt and a JSON schema, for judges that write text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from string import ascii_uppercase
from typing import NamedTuple

from pydantic import JsonValue

from judgekit.prompts import Prompts, Quoted
from judgekit.wire import Choice, Grade, JudgeRequest, Option, Question, Texts, Vector

TEMPLATE = "chat"
#: The template of a judge that answers with one token.
READOUT = "readout"
#: Raised when the same request is laid out otherwise: part of every metric's pin, as the templates are.
VERSION = 1
#: Named as the source of a quote when there is nothing to quote.
NOWHERE = "none"


class _Item(NamedTuple):
    id: Quoted
    text: Quoted


class _Group(NamedTuple):
    """Questions that ask the same with the same options: both are printed once."""

    ask: Quoted
    meanings: tuple[dict[str, Quoted], ...]
    items: tuple[_Item, ...]


def messages(prompts: Prompts, request: JudgeRequest) -> list[JsonValue]:
    """System and user message of a request; the constant part comes first, the questions last."""
    groups = [_group(list(same)) for _, same in groupby(request.questions, key=_kind)]
    system = prompts.render(TEMPLATE, "system", role=Quoted(request.role), groups=groups)
    user = prompts.render(
        TEMPLATE, "user", input=Quoted(request.input), groups=groups, again=int(request.again), form=_form(request)
    )
    return [{"role": "system", "content": str(system)}, {"role": "user", "content": str(user)}]


def readout(prompts: Prompts, request: JudgeRequest) -> list[JsonValue]:
    """System and user message of a request with one question, to be answered by one of its `marks`."""
    (question,) = request.questions
    meaning = {option.value: option.description for option in offered(question)}
    options = [
        {
            "letter": Quoted("" if mark == value else mark),
            "value": Quoted(value),
            "description": Quoted(meaning[value]),
        }
        for mark, value in marks(question).items()
    ]
    shown = {"input": Quoted(request.input), "ask": Quoted(question.ask), "text": Quoted(question.text)}
    system = prompts.render(READOUT, "system", role=Quoted(request.role), options=options)
    user = prompts.render(READOUT, "user", **shown, options=options, again=int(request.again))
    return [{"role": "system", "content": str(system)}, {"role": "user", "content": str(user)}]


def marks(question: Question) -> dict[str, str]:
    """What stands for each option where one token is the whole reply, in the order in which they are offered.

    It is the option itself where no two begin with the same letter, so that the first token of any tells it from all
    others: small models know what they said better than which letter it was given. Otherwise it is a letter.
    """
    values = [option.value for option in offered(question)]
    if len({value[:1].casefold() for value in values}) == len(values) and all(len(value) > 1 for value in values):
        return {value: value for value in values}
    return dict(zip(ascii_uppercase, values, strict=False))


def _kind(question: Question) -> tuple[str, str, tuple[Option, ...], tuple[str, ...]]:
    options = () if isinstance(question, Texts | Vector) else question.options
    return (question.kind, question.ask, options, tuple(_written(question)))


def _group(questions: Sequence[Question]) -> _Group:
    first = questions[0]
    listed = [option for option in offered(first) if option.description]
    meanings = tuple({"value": Quoted(o.value), "description": Quoted(o.description)} for o in listed)
    return _Group(Quoted(first.ask), meanings, tuple(_Item(Quoted(q.id), Quoted(q.text)) for q in questions))


def offered(question: Question) -> tuple[Option, ...]:
    """The options in the order in which they are shown: a grade's highest level first, for a model that hesitates
    takes what it reads first, and a context should not be thrown away by that."""
    if isinstance(question, Texts | Vector):
        return ()
    return question.options[::-1] if isinstance(question, Grade) else question.options


def _form(request: JudgeRequest) -> Quoted:
    """The shape of the reply in words: the first id of each group spelled out, the rest by name."""
    parts: list[str] = []
    for _, same in groupby(request.questions, key=_kind):
        first, *others = same
        parts.append(f'"{first.id}": {_shape(first)}')
        parts.extend(f'"{other.id}": ...' for other in others)
    return Quoted("{" + ", ".join(parts) + "}")


def _shape(question: Question) -> str:
    if isinstance(question, Texts | Vector):
        return '["...", ...]'
    label = "|".join(option.value for option in offered(question))
    written = _written(question)
    if written:
        fields = (f'"{name}": "{meaning}"' for name, meaning in {**written, "label": label}.items())
        return "{" + ", ".join(fields) + "}"
    return f'"{label}"'


def _written(question: Question) -> dict[str, str]:
    """What is to be written before a label, and what it means. It stands before, so that a model has looked at its
    source, and has said why, when it decides."""
    written: dict[str, str] = {}
    if isinstance(question, Choice) and question.quote_from:
        written["source"] = f"number of the source, or {NOWHERE}"
        written["quote"] = "words copied from that source"
    if not isinstance(question, Texts | Vector) and question.explain:
        written["reason"] = "why, in one sentence"
    return written


def schema(request: JudgeRequest) -> dict[str, JsonValue]:
    """The strict JSON schema of the reply: an object with one required property for every question id."""
    return _object({question.id: _property(question) for question in request.questions})


def _property(question: Question) -> JsonValue:
    if isinstance(question, Texts | Vector):
        return {"type": "array", "items": {"type": "string"}}
    label: JsonValue = {"type": "string", "enum": [option.value for option in offered(question)]}
    written: dict[str, JsonValue] = {name: {"type": "string"} for name in _written(question)}
    if not written:
        return label
    if isinstance(question, Choice) and question.quote_from:
        written["source"] = {"type": "string", "enum": [*question.quote_from, NOWHERE]}
    return _object({**written, "label": label})


def _object(properties: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }
