"""Reading what a model wrote: from text to typed answers, without ever guessing.

Think blocks are dropped, fences and prose tolerated, small JSON mistakes mended (raw line breaks in strings, trailing
commas). Of several JSON values the last one that answers something counts, so a value echoed from the judged text
cannot grade itself. Labels outside the options, ids never asked for and contradictory repeats are rejected.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pydantic_core

from judgekit.judge.layout import NOWHERE
from judgekit.wire import Answer, Choice, JudgeReply, JudgeRequest, Question, Quote, Texts

_THINK_BLOCK = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_THINK_END = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)
_THINK_OPEN = re.compile(r"<(?:think|thinking|reasoning)>", re.IGNORECASE)
_ENVELOPES = ("answers", "verdicts", "results", "labels", "items", "output", "response")
_ID_KEYS = ("id", "claim_id", "question_id", "name")
_LABEL_KEYS = ("label", "verdict", "answer", "grade", "value", "choice", "score")
_TEXTS_KEYS = ("texts", "claims", "items", "list", "answer")
#: A hostile reply full of brackets must not cost more than this many attempts to parse, or letters to mend.
_MOST_ATTEMPTS: Final = 400
_MOST_MENDED: Final = 1_000_000
_MOST_RAW: Final = 4000


class _Clash:
    """Stands for the values of a key that a JSON object holds twice with different values."""


CLASH: Final = _Clash()


def read(request: JudgeRequest, reply: JudgeReply) -> dict[str, Answer]:
    """One answer for every question asked; those that the reply does not answer validly carry the cause."""
    if reply.refusal or reply.finish == "content_filter":
        return _all_failed(request, "content_filter", reply.refusal or reply.text)
    text = _spoken(reply.text or "")
    if not text.strip():
        cause = "thinking_used_up" if reply.finish == "length" else "empty_reply"
        return _all_failed(request, cause, reply.reasoning or reply.text)
    best = _last_that_answers(request, text)
    missing = "cut_off" if reply.finish == "length" else "missing"
    if best is None:
        return _all_failed(request, missing if missing == "cut_off" else "no_json", reply.text)
    return {
        question.id: best.get(question.id) or Answer(id=question.id, cause=missing, raw=_short(reply.text))
        for question in request.questions
    }


def _all_failed(request: JudgeRequest, cause: str, raw: str | None) -> dict[str, Answer]:
    return {question_id: Answer(id=question_id, cause=cause, raw=_short(raw)) for question_id in request.ids}


def _short(raw: str | None) -> str | None:
    return raw if raw is None or len(raw) <= _MOST_RAW else raw[:_MOST_RAW] + " [...]"


def _spoken(text: str) -> str:
    """The reply without its thinking: whole blocks, and all before a closing tag that stands alone."""
    text = _THINK_BLOCK.sub(" ", text)
    closed = list(_THINK_END.finditer(text))
    if closed:
        text = text[closed[-1].end() :]
    opened = _THINK_OPEN.search(text)
    return text[: opened.start()] if opened else text


def _last_that_answers(request: JudgeRequest, text: str) -> dict[str, Answer] | None:
    """Answers of the last JSON value that validly answers a question; of the last that names one, where none does."""
    best: dict[str, Answer] | None = None
    for value in _json_values(text):
        answers = _answers(request, value)
        if answers and (best is None or any(a.is_answered for a in answers.values()) or not _any_answered(best)):
            best = answers
    return best


def _any_answered(answers: Mapping[str, Answer]) -> bool:
    return any(answer.is_answered for answer in answers.values())


# --- finding JSON in text ----------------------------------------------------------------------


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        found[key] = value if key not in found or found[key] == value else CLASH
    return found


_OPENING = re.compile(r"[{\[]")
_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, strict=False)


def _json_values(text: str) -> Iterator[Any]:
    """The outermost JSON values of a text in order; a last one that breaks off yields what is complete of it."""
    at, attempts, scanned = 0, 0, 0
    while attempts < _MOST_ATTEMPTS and scanned < _MOST_MENDED:
        opened = _OPENING.search(text, at)
        if opened is None:
            return
        attempts += 1
        try:
            value, at = _DECODER.raw_decode(text, opened.start())
        except (ValueError, RecursionError):
            scanned += len(text) - opened.start()
            mended = _mended(text, opened.start())
            if mended is None:
                at = opened.start() + 1
                continue
            value, at = mended
        yield value


def _mended(text: str, start: int) -> tuple[Any, int] | None:
    """A value whose strings hold raw line breaks, that has trailing commas, or that breaks off; None if it is none."""
    clean, end, complete = _tidied(text, start)
    try:
        if complete:
            return json.loads(clean, object_pairs_hook=_pairs), end
        return pydantic_core.from_json(clean, allow_partial=True), end
    except (ValueError, RecursionError):
        return None


def _tidied(text: str, start: int) -> tuple[str, int, bool]:
    """The bracketed stretch that begins at `start`, its trailing commas dropped and control characters escaped."""
    kept: list[str] = []
    depth, in_string, at = 0, False, start
    while at < len(text):
        sign = text[at]
        if in_string:
            if sign == "\\":
                kept.append(text[at : at + 2])
                at += 2
                continue
            in_string = sign != '"'
            kept.append(sign if sign >= " " else json.dumps(sign)[1:-1])
        elif sign in "{[":
            depth += 1
            kept.append(sign)
        elif sign in "}]":
            while kept and kept[-1].isspace():
                kept.pop()
            if kept and kept[-1] == ",":
                kept.pop()
            depth -= 1
            kept.append(sign)
            if depth == 0:
                return "".join(kept), at + 1, True
        else:
            in_string = sign == '"'
            kept.append(sign)
        at += 1
    return "".join(kept), at, False


# --- from a JSON value to answers ----------------------------------------------------------------


def _answers(request: JudgeRequest, value: Any) -> dict[str, Answer]:
    """Answers that a JSON value gives to the questions asked; empty when it names none of them."""
    by_id = _by_id(value, set(request.ids))
    return {q.id: _answer(q, by_id[q.id]) for q in request.questions if q.id in by_id}


def _by_id(value: Any, ids: set[str], depth: int = 0) -> dict[str, Any]:
    """Question id -> what was said of it: from an object keyed by id, a list of items with ids, or one wrapped."""
    if isinstance(value, list):
        if len(value) == 1 and isinstance(value[0], dict) and not _item_id(value[0]):
            return _by_id(value[0], ids, depth + 1)
        listed = [(_item_id(item), item) for item in value if isinstance(item, dict)]
        return _pairs([(name, item) for name, item in listed if name in ids])
    if not isinstance(value, dict):
        return {}
    found = {key: value[key] for key in value if key in ids}
    if not found and depth < 2:  # noqa: PLR2004  an envelope in an envelope is the most that models write
        if (name := _item_id(value)) in ids:
            return {str(name): value}
        for key in _ENVELOPES:
            if found := _by_id(value.get(key), ids, depth + 1):
                break
    return found


def _item_id(item: Mapping[str, Any]) -> str | None:
    return next((str(item[key]) for key in _ID_KEYS if isinstance(item.get(key), str | int)), None)


def _answer(question: Question, said: Any) -> Answer:
    if said is CLASH:
        return Answer(id=question.id, cause="contradictory_repeats")
    if isinstance(question, Texts):
        return _texts(question, said)
    value = next((said[key] for key in _LABEL_KEYS if key in said), None) if isinstance(said, dict) else said
    label = label_of(value, tuple(option.value for option in question.options))
    if label is None:
        return Answer(id=question.id, cause="invalid_label", raw=_short(json.dumps(said, default=str)))
    return Answer(id=question.id, label=label, quote=_quote(question, said))


def _texts(question: Texts, said: Any) -> Answer:
    if isinstance(said, dict):
        said = next((said[key] for key in _TEXTS_KEYS if key in said), None)
    if isinstance(said, str):
        said = [said] if said.strip() else []
    if not isinstance(said, list):
        return Answer(id=question.id, cause="invalid_list")
    items = [next(iter(item.values()), None) if isinstance(item, dict) else item for item in said]
    if not all(isinstance(item, str) for item in items):
        return Answer(id=question.id, cause="invalid_list", raw=_short(json.dumps(said, default=str)))
    return Answer(id=question.id, texts=tuple(items))


def label_of(value: Any, allowed: tuple[str, ...]) -> str | None:
    """The option that a value spells: case, surrounding punctuation and spaces for underscores do not matter, `4.0`
    is `4`, true and false are yes and no. Anything else is None: never guessed."""
    if value is CLASH or value is None:
        return None
    if isinstance(value, bool):
        value = "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, str | int | float):
        return None
    text = str(value).strip().strip("\"'`*.,;:!()[] ").casefold()
    text = re.sub(r"[\s\-]+", "_", text)
    text = re.sub(r"^(\d+)\.0+$", r"\1", text)
    if "yes" in allowed and text in ("true", "false"):
        text = "yes" if text == "true" else "no"
    return next((option for option in allowed if option.casefold() == text), None)


def _quote(question: Question, said: Any) -> Quote | None:
    if not (isinstance(question, Choice) and question.quote_from and isinstance(said, dict)):
        return None
    quote, source = said.get("quote"), str(said.get("source", NOWHERE))
    return Quote(source=source, text=quote) if isinstance(quote, str) else Quote(source=NOWHERE, text="")
