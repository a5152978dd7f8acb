"""Decision models behind HTTP, in both forms that are in use, and misbehaving as they are told.

    with Server(decision_server(truth)) as server:            # OpenAI's form, at /v1/decisions
    with Server(decision_server(truth, form="systemone")):    # the System One form, at /v1/systemone
    decision_server(truth, form="systemone", path="/v1/decisions")    # as gateways serve it
    decision_server(truth, spoil=lambda reply, asked: {...})  # any other reply: what a function makes of the true one
    decision_server(truth, window=200)                        # an input of more characters is cut, with a notice

It answers from a `Truth` (scripts.py), the option that is true with `chance`, and refuses what the form does not allow
with the status and body that servers of that form give: 404 at another path, 422 or 400 for a wrong body or too many
questions, options or levels. Run as a script it serves until it is stopped, for suites that test conformance.
"""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

from misbehaving import Handler, Reply, Request, Server, answer
from scripts import Truth

from judgekit.wire import JudgeRequest, Question

MODEL = "jev-1.13.0"
Spoil = Callable[[dict[str, Any], JudgeRequest], Any]

_TYPES = {"decisions": ("predicate", "choice", "score"), "systemone": ("noul", "choice", "score")}
_TEXT = re.compile(r"Here it is asked of this one alone: (.*)")


class Invalid(Exception):
    """A body that the form does not allow."""


def decision_server(
    truth: Truth,
    *,
    form: str = "decisions",
    path: str | None = None,
    model: str = MODEL,
    spoil: Spoil | None = None,
    window: int | None = None,
    most_questions: int = 400,
    chance: float = 0.9,
) -> Handler:
    """A handler for `misbehaving.Server`. `spoil(reply, asked)` may return a changed body, or a Reply."""
    served = path or f"/v1/{form}"

    def handle(request: Request) -> Reply:
        if request.path == "/v1/models":
            return answer({"data": [{"id": model}], "models": [{"name": "jev-latest"}]})
        if request.path != served:
            return answer({"detail": "Not Found"}, status=404)
        try:
            asked = request_of(request.body, form, most_questions)
        except Invalid as reason:
            return answer(_invalid(form, str(reason)), status=422 if form == "systemone" else 400)
        reply = _reply(truth, asked, form, model, chance)
        if window is not None and len(asked.input) > window:
            reply["usage"] |= {"truncated": True, "state_tokens_dropped": len(asked.input) - window}
        spoilt = reply if spoil is None else spoil(reply, asked)
        return spoilt if isinstance(spoilt, Reply) else answer(spoilt)

    return handle


def _invalid(form: str, reason: str) -> dict[str, Any]:
    if form == "systemone":
        return {"detail": [{"loc": ["body", *reason.split()[:1]], "msg": reason, "type": "value_error"}]}
    return {"error": {"message": reason, "type": "invalid_request_error", "param": None, "code": None}}


# --- what is asked ---------------------------------------------------------------------------------


def request_of(body: Any, form: str, most_questions: int = 400) -> JudgeRequest:
    """The typed request behind a body. Raises Invalid for one that the form does not allow."""
    shared = "input" if form == "decisions" else "state"
    if not isinstance(body, dict) or not isinstance(body.get("model"), str):
        raise Invalid("model: field required")
    if not isinstance(body.get(shared), str | list) and not (
        form == "systemone" and isinstance(body.get(shared), dict)
    ):
        raise Invalid(f"{shared}: field required")
    listed = body.get("questions")
    if not isinstance(listed, list if form == "decisions" else dict):
        raise Invalid("questions: wrong type")
    if not 1 <= len(listed) <= most_questions:
        raise Invalid(f"questions: between 1 and {most_questions} are allowed, not {len(listed)}")
    pairs = listed.items() if isinstance(listed, dict) else [(_name(q, n), q) for n, q in enumerate(listed)]
    questions = [_question(name, question, form) for name, question in pairs]
    text = body[shared] if isinstance(body[shared], str) else json.dumps(body[shared])
    task = _task([q["id"] for q in questions], questions, text)
    return JudgeRequest.model_validate({"task": task, "role": "", "input": text, "questions": questions})


def _name(question: Any, number: int) -> str:
    return str(question.get("name") or f"#{number}") if isinstance(question, dict) else ""


def _question(name: str, asked: Any, form: str) -> dict[str, Any]:
    if not isinstance(asked, dict) or asked.get("type") not in _TYPES[form]:
        raise Invalid(f"questions.{name}: type must be one of {_TYPES[form]}")
    kind, instructions = asked["type"], asked.get("instructions")
    if instructions is not None and not isinstance(instructions, str | list | dict):
        raise Invalid(f"questions.{name}.instructions: must be text")
    told = instructions if isinstance(instructions, str) else json.dumps(instructions)
    found = _TEXT.search(told)
    one = {"id": name, "ask": told.partition("\n")[0], "text": found[1] if found else ""}
    if kind in ("predicate", "noul"):
        means = asked.get("criteria")
        if means is not None and not (isinstance(means, dict) and set(means) <= {"true", "false"}):
            raise Invalid(f"questions.{name}.criteria: must say what true and false mean")
        return {**one, "kind": "yes_no"}
    options = _options(name, asked, kind, form)
    return {**one, "kind": "grade" if kind == "score" else "choice", "options": [{"value": value} for value in options]}


def _options(name: str, asked: Mapping[str, Any], kind: str, form: str) -> list[str]:
    field = "criteria" if form == "systemone" else "levels" if kind == "score" else "choices"
    given = asked.get(field)
    wanted = dict if (kind, form) == ("choice", "systemone") else list
    most = 10 if kind == "score" else 255
    if not isinstance(given, wanted) or not 1 <= len(given) <= most:
        raise Invalid(f"questions.{name}.{field}: between 1 and {most} are allowed")
    if form == "decisions":
        return [str(one["label" if kind == "score" else "value"]) for one in given]
    if not all(isinstance(one, str | dict | list | None) for one in (given.values() if kind == "choice" else given)):
        raise Invalid(f"questions.{name}.{field}: must be text")
    return [str(one) for one in given]


def _task(names: list[str], questions: list[dict[str, Any]], text: str) -> str:
    first = questions[0]
    if first["kind"] == "grade":
        return "relevance_by_answer" if "\nAnswer that was given: " in text else "relevance"
    if first["kind"] == "choice" and [o["value"] for o in first["options"]][-1:] == ["supported"]:
        return "verify"
    return {"answer": "refusal", "contexts": "sufficiency", "criterion": "rubric"}.get(names[0], "bearing")


# --- what is answered ------------------------------------------------------------------------------


def _reply(truth: Truth, asked: JudgeRequest, form: str, model: str, chance: float) -> dict[str, Any]:
    try:
        said = truth.answer(asked)
    except (AssertionError, ValueError, KeyError, LookupError):  # a suite asks what no test is about
        said = {}
    answers = {}
    for question in asked.questions:
        values = [option.value for option in getattr(question, "options", ())]
        meant = said.get(question.id)  # a level of the System One form is a name and what it means, in one text
        chosen = next((n for n, value in enumerate(values) if meant in (value, value.partition(": ")[0])), 0)
        count = len(values)
        chances = [chance if n == chosen else (1 - chance) / (count - 1) for n in range(count)] if count > 1 else [1.0]
        answers[question.id] = _answered(question, dict(zip(values, chances, strict=True)), form)
    tokens = len(asked.model_dump_json()) // 4
    usage = {"input_tokens": tokens, "output_tokens": 0}
    if form == "decisions":
        details = {"input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0}}
        usage |= {"total_tokens": tokens, **details, "output_tokens_details": {"reasoning_tokens": 0}}
        return {"model": model, "answers": list(answers.values()), "usage": usage}
    return {"model": model, "answers": answers, "usage": usage}


def _answered(question: Question, chances: dict[str, float], form: str) -> dict[str, Any]:
    """One answer in the words of the form, from the probability of every option."""
    named = {"name": None if question.id.startswith("#") else question.id} if form == "decisions" else {}
    if question.kind == "yes_no":
        yes = chances["yes"]
        return {"type": "predicate", **named, "probability": yes} if named else {"type": "noul", "noul": yes}
    count = len(chances)
    confidence = (max(chances.values()) - 1 / count) / (1 - 1 / count) if count > 1 else 1.0
    if question.kind == "choice":
        best = max(chances, key=lambda value: chances[value])
        listed: Any = [{"value": value, "probability": p} for value, p in chances.items()] if named else chances
        return {"type": "choice", **named, "choice": best, "probabilities": listed, "confidence": confidence}
    score = sum(n * p for n, p in enumerate(chances.values()))
    rated: dict[str, Any] = {"type": "score", **named, "score": score, "confidence": confidence}
    rows = [{"value": n, "label": label, "probability": p} for n, (label, p) in enumerate(chances.items())]
    if named:
        return {**rated, "probabilities": rows}
    legend = {str(one["value"]): one["label"] for one in rows}
    return {**rated, "legend": legend, "probabilities": {str(one["value"]): one["probability"] for one in rows}}


if __name__ == "__main__":
    with Server(decision_server(Truth(), form=(sys.argv[1:] or ["systemone"])[0])) as running:
        sys.stdout.write(f"{running.url}\n")
        sys.stdout.flush()
        threading.Event().wait()
