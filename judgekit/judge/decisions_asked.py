"""Typed questions as the two bodies that decision models take.

`decisions`, OpenAI's form: an input and a list of predicates, choices and scores, answered in order. `systemone`, the
form of System One models: a state and a map of nouls, choices and scores, answered by name. What is shared by all
questions is one text, which every server of either form takes; the options stand in the order of the question.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, TypeAlias, get_args

from pydantic import JsonValue

from judgekit.errors import InputError
from judgekit.prompts import Prompts, Quoted
from judgekit.wire import Choice, Grade, JudgeRequest, Option, Question, Texts, Vector, YesNo

Form: TypeAlias = Literal["decisions", "systemone"]
FORMS: Final[tuple[Form, ...]] = get_args(Form)
#: Template of the layout.
TEMPLATE = "decide"
#: Limits of both forms: questions in a request, options of a choice, levels of a score.
MOST_QUESTIONS: Final = 400
MOST_OPTIONS: Final = 255
MOST_LEVELS: Final = 10

Body: TypeAlias = dict[str, JsonValue]


def body(prompts: Prompts, request: JudgeRequest, *, model: str, form: Form) -> Body:
    """The body of a request. Raises InputError for what no decision model can answer: a question for text or for a
    vector, or more options than the form can hold."""
    shared = str(prompts.render(TEMPLATE, "state", role=Quoted(request.role), input=Quoted(request.input)))
    if form == "decisions":
        return {"model": model, "input": shared, "questions": [_listed(prompts, request, q) for q in request.questions]}
    return {
        "model": model,
        "state": shared,
        "questions": {q.id: _mapped(prompts, request, q) for q in request.questions},
    }


def in_order(value: JsonValue) -> JsonValue:
    """The same with its maps as lists of pairs. A fingerprint sorts the keys of a map, but the order in which options
    are offered can move an answer, and so belongs to what was asked."""
    if isinstance(value, dict):
        return [[key, in_order(inner)] for key, inner in value.items()]
    return [in_order(inner) for inner in value] if isinstance(value, list) else value


def _listed(prompts: Prompts, request: JudgeRequest, question: Question) -> Body:
    """A question of the `decisions` form. Its predicates have no place for what yes and no mean, so it is told."""
    options = _checked(request, question)
    told = options if isinstance(question, YesNo) else ()
    asked: Body = {"name": question.id, "instructions": _instructions(prompts, question, told)}
    if isinstance(question, YesNo):
        return {"type": "predicate", **asked}
    if isinstance(question, Grade):
        return {"type": "score", **asked, "levels": [_described("label", option) for option in options]}
    return {"type": "choice", **asked, "choices": [_described("value", option) for option in options]}


def _mapped(prompts: Prompts, request: JudgeRequest, question: Question) -> Body:
    """A question of the `systemone` form."""
    options = _checked(request, question)
    asked: Body = {"instructions": _instructions(prompts, question)}
    if isinstance(question, YesNo):
        means: Body = {_TRUTH[option.value]: option.description for option in options if option.description}
        return {"type": "noul", **asked, **({"criteria": means} if means else {})}
    if isinstance(question, Grade):
        return {"type": "score", **asked, "criteria": [level(option) for option in options]}
    return {"type": "choice", **asked, "criteria": {option.value: option.description or None for option in options}}


_TRUTH: Final = {"yes": "true", "no": "false"}


def level(option: Option) -> str:
    """A level of a score as the `systemone` form words it: its name and what it means in one text."""
    return f"{option.value}: {option.description}" if option.description else option.value


def _described(name: str, option: Option) -> Body:
    described: Body = {name: option.value}
    return {**described, "description": option.description} if option.description else described


def _instructions(prompts: Prompts, question: Question, told: Iterable[Option] = ()) -> str:
    meanings = [{"value": Quoted(o.value), "description": Quoted(o.description)} for o in told if o.description]
    return str(
        prompts.render(
            TEMPLATE, "instructions", ask=Quoted(question.ask), text=Quoted(question.text), meanings=meanings
        )
    )


def _checked(request: JudgeRequest, question: Question) -> tuple[Option, ...]:
    """The options of a question that a decision model can answer."""
    if isinstance(question, Texts | Vector):
        raise InputError(f"{request.task} asks for text, and a decision model writes none: give a model that does")
    values = {option.value for option in question.options}
    most = MOST_LEVELS if isinstance(question, Grade) else MOST_OPTIONS
    of = "levels" if isinstance(question, Grade) else "options"
    if not len(values) == len(question.options) <= most:
        raise InputError(
            f"{request.task} offers {len(question.options)} {of}; a decision model takes {most} at most, all different"
        )
    if isinstance(question, YesNo) and values != _TRUTH.keys():
        raise InputError(f"{request.task} asks yes or no and offers {', '.join(sorted(values))}; offer yes and no")
    if isinstance(question, Choice) and len(values) < 2:  # noqa: PLR2004  no choice
        raise InputError(f"{request.task} offers one option only; a choice has two at least")
    return question.options
