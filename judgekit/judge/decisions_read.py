"""Reading what a decision model answered: probabilities into typed answers, without ever guessing.

An answer counts when it is of the type that was asked for, and gives each option once, with probabilities that sum to
one but for rounding. A refused question, an abstention, and a question that the model saw only a part of have no
answer, with the cause.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from typing import Final, NamedTuple

from pydantic import JsonValue

from judgekit.judge.decisions_asked import level
from judgekit.judge.store import escaped
from judgekit.wire import Answer, Grade, JudgeReply, JudgeRequest, Option, Question, YesNo, canonical

#: Fields by which gateways say that something was cut; they stand in the usage or beside the answers.
NOTICES: Final = ("truncated", "truncated_questions", "state_tokens_dropped", "abstention")
#: How far a sum of probabilities may be off: they may be rounded to two decimals.
_SUM_OFF: Final = 0.05
_ROUNDED_BY: Final = 0.005
_SLACK: Final = 1e-9
_MOST_RAW: Final = 4000
_TYPES: Final = {"yes_no": ("predicate", "noul"), "choice": ("choice",), "grade": ("score",)}
#: What an answer's `abstention` says when it did not abstain.
_NOT_ABSTAINED: Final = (None, False, "", "passed", "none")


class _Bad(Exception):
    """Ends the reading of one answer that is none; its text is the cause."""


def kept(data: Mapping[str, JsonValue]) -> str:
    """What of a reply anything can depend on, as JSON text: the answers, and notices that something was cut."""
    usage = data.get("usage")
    said = {**usage, **data} if isinstance(usage, dict) else data
    return escaped(
        canonical({"answers": data.get("answers"), **{name: said[name] for name in NOTICES if name in said}})
    )


def is_cut(data: Mapping[str, JsonValue], names: Iterable[str]) -> bool:
    """Whether the model saw a part of the shared input only. A notice that names some of the questions speaks of these
    alone, unless it also counts what was dropped; one that names none of them, or all, speaks of the whole."""
    said = json.loads(kept(data))
    dropped, asked = said.get("state_tokens_dropped"), set(names)
    named = _named(said.get("truncated_questions"), asked)
    if isinstance(dropped, int | float):
        return dropped > 0 or (bool(said.get("truncated")) and not named)
    return named >= asked or (bool(said.get("truncated")) and not named)


def read(request: JudgeRequest, reply: JudgeReply) -> dict[str, Answer]:
    """One answer for every question asked; those without a valid one carry the cause."""
    try:
        said = json.loads(reply.text or "")
        answers = said["answers"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return {i: Answer(id=i, cause="no_json", raw=_raw(reply.text)) for i in request.ids}
    ids = set(request.ids)
    unsaid = dict.fromkeys(_named(said.get("abstention"), ids), "abstained")
    unsaid |= dict.fromkeys(_named(said.get("truncated_questions"), ids), "truncated")
    found = {}
    for question, given in _matched(request.questions, answers):
        try:
            found[question.id] = _answer(question, given, unsaid=unsaid.get(question.id))
        except _Bad as bad:
            raw = None if given is None else _raw(answers if isinstance(given, _Bad) else given)
            found[question.id] = Answer(id=question.id, cause=str(bad), raw=raw)
    return found


def _matched(questions: Sequence[Question], answers: object) -> list[tuple[Question, object]]:
    """Each question with what was answered to it: by name in a map, by place in a list, where a name that is given must
    be the question's own. A list of another length could mean anything."""
    if isinstance(answers, dict):
        return [(question, answers.get(question.id)) for question in questions]
    listed = answers if isinstance(answers, list) else []
    if len(listed) != len(questions):
        return [(question, _Bad("wrong_count")) for question in questions]
    pairs: list[tuple[Question, object]] = []
    for question, given in zip(questions, listed, strict=True):
        name = given.get("name") if isinstance(given, dict) else None
        pairs.append((question, given if name in (None, question.id) else _Bad("wrong_ids")))
    return pairs


def _answer(question: Question, given: object, *, unsaid: str | None) -> Answer:
    """The answer that was given. `unsaid`: why it does not count, by what the reply says of the question elsewhere."""
    if isinstance(given, _Bad):
        raise given
    if unsaid is not None or given is None:
        raise _Bad(unsaid or "missing")
    kind = given.get("type") if isinstance(given, dict) else None
    if not isinstance(given, dict) or kind == "refusal":
        raise _Bad("refused" if kind == "refusal" else "wrong_type")
    if kind not in _TYPES.get(question.kind, ()):
        raise _Bad("wrong_type")
    if given.get("abstention") not in _NOT_ABSTAINED:
        raise _Bad("abstained")
    chances = _chances(question, given)
    # of equally likely options the first in the order in which they were offered; the probabilities show the tie
    label = max(chances, key=lambda value: chances[value])
    stated = given.get("choice")
    if stated is not None and (not isinstance(stated, str) or stated not in chances):
        raise _Bad("invalid_label")
    if stated is not None and chances[stated] < chances[label] - 2 * _ROUNDED_BY - _SLACK:
        raise _Bad("contradictory_answer")
    return Answer(id=question.id, label=label, probabilities=chances)


def _chances(question: Question, given: Mapping[str, object]) -> dict[str, float]:
    """The probability of every option, in the order of the options."""
    options: tuple[Option, ...] = getattr(question, "options", ())
    if isinstance(question, YesNo):
        chance = _probability(given.get("probability", given.get("noul")))
        both = {"yes": chance, "no": round(1 - chance, 12)}
        return {option.value: both[option.value] for option in options}
    pairs = _pairs(given.get("probabilities"))
    places = _places(options, [name for name, _ in pairs], is_score=isinstance(question, Grade))
    chances = {options[place].value: _probability(value) for place, (_, value) in zip(places, pairs, strict=True)}
    if abs(fsum(chances.values()) - 1) > max(_SUM_OFF, _ROUNDED_BY * len(options)) + _SLACK:
        raise _Bad("bad_probabilities")
    return {option.value: chances[option.value] for option in options}


class _Row(NamedTuple):
    name: object
    chance: object


def _pairs(said: object) -> list[_Row]:
    """(option, probability) pairs of a map, or of a list of objects, where a level is named by its label."""
    if isinstance(said, dict):
        return [_Row(name, chance) for name, chance in said.items()]
    if isinstance(said, list) and all(isinstance(one, dict) for one in said):
        return [_Row(one.get("label", one.get("value")), one.get("probability")) for one in said]
    raise _Bad("no_probabilities")


def _places(options: Sequence[Option], names: Sequence[object], *, is_score: bool) -> list[int]:
    """The place of the option that each name means, in one of the spellings in use; levels are also named by their
    number, 0 the lowest, or by the text they were given as. Each option must be named once."""
    spellings = [[option.value for option in options]]
    if is_score:
        spellings += [[str(number) for number in range(len(options))], [level(option) for option in options]]
    for spelling in spellings:
        if len(names) == len(spelling) and all(name in spelling for name in names) and len({*names}) == len(names):
            return [spelling.index(str(name)) for name in names]
    raise _Bad("wrong_options")


def _probability(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:  # nor is NaN
        raise _Bad("no_probabilities" if value is None else "bad_probabilities")
    return float(value)


def _named(said: object, ids: set[str]) -> set[str]:
    """The questions that a notice names: a list of names, a map from names, or true for all of them. A list with a name
    that was never asked, or is none, could mean any."""
    if isinstance(said, dict):
        said = [name for name, what in said.items() if what not in _NOT_ABSTAINED]
    if isinstance(said, list):
        names = {name for name in said if isinstance(name, str)}
        return names if len(names) == len(said) and names <= ids else ids
    return set() if said in _NOT_ABSTAINED else ids


def _raw(said: object) -> str:
    """What was said as ASCII text, which every file can hold."""
    text = json.dumps(said, default=repr)
    return text if len(text) <= _MOST_RAW else text[:_MOST_RAW] + " [...]"
