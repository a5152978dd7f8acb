"""Reading what a model wrote: from text to typed answers, without ever guessing.

Think blocks are dropped, fences and prose tolerated, small JSON mistakes mended (raw line breaks in strings, trailing
commas). Of several JSON values the last one that answers something counts, so a value echoed from the judged text
cannot grade itself; nor can one that stands before a verdict that broke off or cannot be parsed. Labels outside the
options, ids never asked for and contradictory repeats are rejected. The work is bounded, whatever the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from math import isfinite
from typing import Any, Final, NamedTuple

from judgekit.judge.layout import NOWHERE
from judgekit.wire import Answer, Choice, Grade, JudgeReply, JudgeRequest, Question, Quote, Texts, Vector

_THINK_TAG = re.compile(r"<(/?)(?i:think|thinking|thought|reasoning)>|\[(/?)THINK\]|\u25c1(/?)think\u25b7")
_ENVELOPES = ("answers", "verdicts", "results", "labels", "items", "output", "response")
_ID_KEYS = ("id", "claim_id", "question_id", "name")
LABEL_KEYS = ("label", "verdict", "answer", "grade", "value", "choice", "score")
_TEXTS_KEYS = ("texts", "claims", "items", "list", "answer")
_TEXT_KEYS = ("text", "claim", "statement", "value")
#: A hostile reply full of brackets must not cost more letters than this, each failed attempt at least so many.
_MOST_MENDED: Final = 1_000_000
_LEAST_MENDED: Final = 50
_MOST_RAW: Final = 4000
_SURROGATE = re.compile(r"[\ud800-\udfff]")


class _Clash:
    """Stands for the values of a key that a JSON object holds twice with different values."""

    def __repr__(self) -> str:
        return "contradictory repeats"


CLASH: Final = _Clash()


def read(request: JudgeRequest, reply: JudgeReply) -> dict[str, Answer]:
    """One answer for every question asked; those that the reply does not answer validly carry the cause."""
    is_cut = reply.finish == "length"
    if reply.refusal or reply.finish == "content_filter":
        return _all_failed(request, "content_filter", reply.refusal or reply.text)
    text = _spoken(reply.text or "")
    if not text.strip():
        return _all_failed(request, "thinking_used_up" if is_cut else "empty_reply", reply.reasoning or reply.text)
    best = _last_that_answers(request, text, is_cut=is_cut)
    if best is None:
        return _all_failed(request, "cut_off" if is_cut else _why_unread(text), reply.text)
    missing = "cut_off" if is_cut else "missing"
    answers = (best.answers.get(question_id) or Answer(id=question_id, cause=missing) for question_id in request.ids)
    raw = _short(reply.text)
    return {a.id: a if a.is_answered or a.raw is not None else a.model_copy(update={"raw": raw}) for a in answers}


def where(request: JudgeRequest, reply: JudgeReply) -> str | None:
    """The JSON value that `read` takes its answers from, as it stands in the reply; None when there is none, or it is
    no sound JSON."""
    best = _last_that_answers(request, _spoken(reply.text or ""), is_cut=reply.finish == "length")
    return best.written if best is not None else None


def _all_failed(request: JudgeRequest, cause: str, raw: str | None) -> dict[str, Answer]:
    return {question_id: Answer(id=question_id, cause=cause, raw=_short(raw)) for question_id in request.ids}


def _short(raw: str | None) -> str | None:
    return raw if raw is None else _sound(raw if len(raw) <= _MOST_RAW else raw[:_MOST_RAW] + " [...]")


def _sound(text: str) -> str:
    """The text without lone surrogates, which no file and no record can hold."""
    return _SURROGATE.sub("\ufffd", text)


def _spoken(text: str) -> str:
    """The reply without its thinking: whole blocks, all before a closing tag that stands alone, all after an opening
    one. In a reply that is JSON from end to end a tag is only quoted."""
    tags = list(_THINK_TAG.finditer(text))
    if not tags or _is_json(text):
        return text
    kept: list[str] = []
    at, is_thinking = 0, False
    for tag in tags:
        if any(tag.groups()):
            if not is_thinking:
                kept.clear()
            is_thinking, at = False, tag.end()
        elif not is_thinking:
            kept.append(text[at : tag.start()])
            is_thinking = True
    return " ".join(kept if is_thinking else [*kept, text[at:]])


def _is_json(text: str) -> bool:
    inside = text.strip().removeprefix("```json").removeprefix("```").removesuffix("```")
    try:
        _DECODER.decode(inside.strip())
    except (ValueError, RecursionError):
        return False
    return True


class _Best(NamedTuple):
    """The answers of one JSON value, and that value as it was written, where it is sound JSON."""

    answers: dict[str, Answer]
    written: str | None


def _last_that_answers(request: JudgeRequest, text: str, *, is_cut: bool) -> _Best | None:
    """Answers of the last JSON value that validly answers a question; of the last that names one, where none does.

    A last value that breaks off, or that is no sound JSON, counts for what is whole in it, and none before it counts.
    """
    best: _Best | None = None
    ids, end = set(request.ids), 0
    for found in _json_values(text):
        end = found.end
        said = _by_id(found.value, ids)
        if not said and not found.is_whole and (is_cut or not ids.isdisjoint(found.words)):
            best = None
        elif said:
            # `is`: of two equal things the one that breaks off is meant
            whole = {i: value for i, value in said.items() if not any(value is part for part in found.broken)}
            answers = {q.id: answer(q, whole[q.id]) for q in request.questions if q.id in whole}
            if not found.is_whole or best is None or _any_answered(answers) or not _any_answered(best.answers):
                best = _Best(answers, None if found.start is None else text[found.start : found.end])
    is_open = is_cut and text[end:].strip(" \r\n\t`") != ""  # it was still writing: what it meant to say is not known
    return None if is_open else best


def _why_unread(text: str) -> str:
    """`wrong_ids` for sound JSON, since no id in it was asked for; `no_json` for all else, brackets in prose too."""
    values = _json_values(text)
    if not values or not all(found.is_whole for found in values):
        return "no_json"
    has_object = any(isinstance(part, dict) for found in values for part in (found.value, *found.value))
    return "wrong_ids" if has_object or _is_json(text) else "no_json"


def _any_answered(answers: Mapping[str, Answer]) -> bool:
    return any(answer.is_answered for answer in answers.values())


# --- finding JSON in text ----------------------------------------------------------------------


class _Found(NamedTuple):
    """A JSON value in a text, from `start` where it is sound JSON. One that breaks off, or is none, is not whole:
    `broken` are then the containers that were still open, and `words` those in it, by which it is known what it is
    about."""

    value: Any
    end: int
    is_whole: bool = True
    start: int | None = None
    broken: tuple[Any, ...] = ()
    words: frozenset[str] = frozenset()


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        found[key] = value if key not in found or _is_same(found[key], value) else CLASH
    return found


def _is_same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)  # 1 is not True


_OPENING = re.compile(r"[{\[]")
_KEYED = re.compile(r"\{\s*[\"'\u201c]?[\w.-]+[\"'\u201d]?\s*:")
_WORD = re.compile(r"[\w.-]+")
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*("?)', re.DOTALL)
_GAP = re.compile(r"\s+|[^\s{}\[\],:\"]+")
_ESCAPED_OR_CONTROL = re.compile(r"\\.|[\x00-\x1f]", re.DOTALL)
_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, strict=False)


def _json_values(text: str) -> list[_Found]:
    """The outermost JSON values of a text in order, none when it takes too much work to say which is the last."""
    values: list[_Found] = []
    at, spent = 0, 0
    while (opened := _OPENING.search(text, at)) is not None:
        start = opened.start()
        try:
            value, at = _DECODER.raw_decode(text, start)
            values.append(_Found(value, at, start=start))
        except (ValueError, RecursionError):
            found, end = _mended(text, start)
            spent += end - start + _LEAST_MENDED
            if spent > _MOST_MENDED:
                return []
            if found is not None:
                values.append(found)
            at = start + 1 if found is None else end
    return values


def _mended(text: str, start: int) -> tuple[_Found | None, int]:
    """A value with raw line breaks or trailing commas, or what is whole of one that breaks off; and where it ends.

    None where it is prose. What looks like an object and is none is found as well, so that nothing inside it, where
    it may quote the judged text, is taken for a value.
    """
    clean, end, open_count = _tidied(text, start)
    try:
        value = json.loads(clean, object_pairs_hook=_pairs)
        return _Found(value, end, open_count == 0, broken=_last_ones(value, open_count)), end
    except (ValueError, RecursionError):
        if _KEYED.match(text, start, end) is None:
            return None, end
        return _Found(None, end, is_whole=False, words=frozenset(_WORD.findall(text, start, end))), end


def _last_ones(value: Any, count: int) -> tuple[Any, ...]:
    """The value, its last element, the last element of that, and so on: `count` containers."""
    chain: list[Any] = []
    while len(chain) < count and isinstance(value, dict | list):
        chain.append(value)
        value = next(reversed(value.values() if isinstance(value, dict) else value), None)
    return tuple(chain)


def _tidied(text: str, start: int) -> tuple[str, int, int]:
    """The bracketed stretch that begins at `start`, its trailing commas dropped and control characters escaped.

    Where it breaks off it is closed after the last whole element; the number says how many containers were open there.
    """
    kept: list[str] = []
    closers: list[str] = []
    whole, depth = 0, 0  # how much was kept, and how many containers were open, at the end of the last whole element
    last_sign, at = "", start
    while at < len(text):
        part = _STRING.match(text, at) or _GAP.match(text, at)
        piece = part[0] if part else text[at]
        at += len(piece)
        if piece[0] == '"':
            kept.append(_ESCAPED_OR_CONTROL.sub(_escaped, piece))
            if part and part[1] and (last_sign == ":" or closers[-1] == "]"):
                whole, depth = len(kept), len(closers)
            continue
        if piece in "{[":
            closers.append("}" if piece == "{" else "]")
        elif piece in "}]":
            _drop_comma(kept)
            closers.pop()
        elif piece == ",":
            whole, depth = len(kept), len(closers)
        kept.append(piece)
        last_sign = piece if piece in "{[}],:" else last_sign
        if piece in "}]":
            whole, depth = len(kept), len(closers)
            if not closers:
                return "".join(kept), at, 0
    return "".join(kept[:whole] + closers[:depth][::-1]), len(text), depth


def _drop_comma(kept: list[str]) -> None:
    while kept and kept[-1].isspace():
        kept.pop()
    if kept and kept[-1] == ",":
        kept.pop()


def _escaped(found: re.Match[str]) -> str:
    return found[0] if found[0][0] == "\\" else json.dumps(found[0])[1:-1]


# --- from a JSON value to answers ----------------------------------------------------------------


def _by_id(value: Any, ids: set[str], depth: int = 0) -> dict[str, Any]:
    """Question id -> what was said of it: from an object keyed by id, a list of items with ids, or one wrapped."""
    if isinstance(value, list):
        if len(value) == 1 and isinstance(value[0], dict) and _item_id(value[0]) not in ids:
            return _by_id(value[0], ids, depth + 1)
        return _pairs([pair for item in value if isinstance(item, dict) for pair in _named(item, ids)])
    if not isinstance(value, dict):
        return {}
    found = dict(_named(value, ids))
    if not found and depth < 2:  # noqa: PLR2004  an envelope in an envelope is the most that models write
        for key in _ENVELOPES:
            if found := _by_id(value.get(key), ids, depth + 1):
                break
    return found


def _named(value: Mapping[str, Any], ids: set[str]) -> list[tuple[str, Any]]:
    """What one object says of which question: it is keyed by ids, or is itself an item with an id."""
    keyed = [(key, value[key]) for key in value if key in ids]
    name = _item_id(value)
    return keyed or ([(name, value)] if name is not None and name in ids else [])


def _item_id(item: Mapping[str, Any]) -> str | None:
    return next((str(item[key]) for key in _ID_KEYS if isinstance(item.get(key), str | int)), None)


def answer(question: Question, said: Any) -> Answer:
    """The typed answer that a JSON value is; with the cause where it is none."""
    if said is CLASH:
        return Answer(id=question.id, cause="contradictory_repeats")
    if isinstance(question, Texts):
        return _texts(question, said)
    if isinstance(question, Vector):
        return _vector(question, said)
    value = next((said[key] for key in LABEL_KEYS if key in said), None) if isinstance(said, dict) else said
    allowed = tuple(option.value for option in question.options)
    label = label_of(value, allowed)
    # a level may be named by its number, 0 the lowest, but not where the levels are numbers themselves
    if label is None and isinstance(question, Grade) and not any(value.isdecimal() for value in allowed):
        number = label_of(value, tuple(str(n) for n in range(len(allowed))))
        label = allowed[int(number)] if number else None
    if label is None:
        return Answer(id=question.id, cause="invalid_label", raw=_written(said))
    return Answer(id=question.id, label=label, quote=_quote(question, said), reason=_reason(question, said))


def _texts(question: Texts, said: Any) -> Answer:
    if isinstance(said, dict):
        said = next((said[key] for key in _TEXTS_KEYS if key in said), None)
    if isinstance(said, str):
        said = [said] if said.strip() else []
    items = [_text(item) for item in said] if isinstance(said, list) else [None]
    texts = tuple(_sound(item) for item in items if isinstance(item, str))
    if len(texts) < len(items):
        return Answer(id=question.id, cause="invalid_list", raw=_written(said))
    return Answer(id=question.id, texts=texts)


def _vector(question: Vector, said: Any) -> Answer:
    numbers = said if isinstance(said, list | tuple) else []
    is_sound = all(isinstance(n, int | float) and not isinstance(n, bool) and isfinite(n) for n in numbers)
    if not is_sound or not any(numbers):  # nothing is like the vector of zeros, and nothing unlike
        return Answer(id=question.id, cause="invalid_vector", raw=_written(said))
    return Answer(id=question.id, vector=tuple(map(float, numbers)))


def _text(item: Any) -> Any:
    """An item of a list of texts: the text itself, the only value of an object, or the one under a usual name."""
    if not isinstance(item, dict):
        return item
    return next(iter(item.values())) if len(item) == 1 else next((item[k] for k in _TEXT_KEYS if k in item), None)


def _written(said: Any) -> str | None:
    try:
        return _short(json.dumps(said, ensure_ascii=False, default=repr))
    except RecursionError:
        return None


def label_of(value: Any, allowed: tuple[str, ...]) -> str | None:
    """The option that a value spells: case, surrounding punctuation and spaces for underscores do not matter, `4.0`
    is `4`, true and false are yes and no. Anything else is None: never guessed."""
    if isinstance(value, bool):
        value = "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, str | int | float):
        return None
    if str(value) in allowed:
        return str(value)
    text = _spelled(str(value))
    if "yes" in allowed and text in ("true", "false"):
        text = "yes" if text == "true" else "no"
    meant = [option for option in allowed if _spelled(option) == text]
    return meant[0] if len(meant) == 1 else None


def _spelled(text: str) -> str:
    text = text.strip().strip("\"'`\u201c\u201d\u2018\u2019*.,;:!()[] ").casefold()
    text = re.sub(r"[\s\-]+", "_", text)
    return re.sub(r"^(\d+)\.0+$", r"\1", text)


def _reason(question: Question, said: Any) -> str | None:
    if isinstance(question, Texts | Vector) or not question.explain or not isinstance(said, dict):
        return None
    reason = said.get("reason")
    return (_short(" ".join(reason.split())) or None) if isinstance(reason, str) else None


def _quote(question: Question, said: Any) -> Quote | None:
    if not (isinstance(question, Choice) and question.quote_from and isinstance(said, dict)):
        return None
    quote, source = said.get("quote"), str(said.get("source")).strip("[] ")
    if not isinstance(quote, str):
        return Quote(source=NOWHERE, text="")
    return Quote(source=source if source in question.quote_from else NOWHERE, text=_sound(quote))
