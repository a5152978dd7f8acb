"""A judge for tests: what it says follows from plain functions, and everything it is asked can be counted.

    judge = judge_that(split={"A and B.": ["A.", "B."]}, labels={"A.": "supported"}, grades=[1, 0, 1])
    jk.score(question=..., answer=..., contexts=[...], judge=judge.judge)
    judge.count("verify")                       # calls by task; judge.asked holds every request

One `Truth` answers in any of the ways that judges have: `form="text"` writes a chat model's JSON with quotes,
`form="typed"` gives labels, `form="probabilities"` gives a probability per option. `over_http(truth)` is the same judge
behind a local HTTP server (see misbehaving.py).
"""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from misbehaving import Reply, Request, chat, embeddings

from judgekit import Judge, Scripted
from judgekit.wire import Choice, JudgeRequest, Texts, Vector

Form = Literal["text", "typed", "probabilities"]
Labels = Mapping[str, str] | Callable[[str, Sequence[str]], str]

_SOURCE = re.compile(r'^\[(\d+)\] (?:"(?:[^"\\]|\\.)*": )?("(?:[^"\\]|\\.)*")$', re.MULTILINE)
#: The words that a judge grades a context with, by grade.
GRADES = ("irrelevant", "mentions", "helps", "answers")
_ITEM = re.compile(r'^([a-z]+\d*): ("(?:[^"\\]|\\.)*")$', re.MULTILINE)


@dataclass
class Truth:
    """What is true in a test. `split` maps a sentence to its claims (itself, if it is not there); `labels` a claim, or
    a claim and the sources' texts, to a label; `grades` a context's text to its grade (a list: in rank order)."""

    split: Mapping[str, Sequence[str]] | Callable[[str], Sequence[str]] = field(default_factory=dict)
    labels: Labels = field(default_factory=dict)
    grades: Mapping[str, int] | Sequence[int] = field(default_factory=dict)
    asks: Mapping[str, Sequence[str]] = field(default_factory=dict)
    addressed: Mapping[str, str] = field(default_factory=dict)
    bears: Callable[[str], bool] = lambda _claim: True
    sufficient: str = "yes"
    meets: Mapping[str, str] = field(default_factory=dict)
    reversed: Callable[[str], Sequence[str]] = lambda answer: [f"What of {answer}?", "What else?"]
    names: Callable[[str], Sequence[str]] = lambda text: re.findall(r"\d+|[A-Z]\w+", text)
    refuses: bool = False

    def claims(self, sentence: str) -> list[str]:
        return list(self.split(sentence) if callable(self.split) else self.split.get(sentence, [sentence]))

    def label(self, claim: str, sources: Sequence[str]) -> str:
        return self.labels(claim, sources) if callable(self.labels) else self.labels.get(claim, "supported")

    def grade(self, number: int, text: str) -> str:
        return str(self.grades.get(text, 3) if isinstance(self.grades, Mapping) else self.grades[number - 1])

    def answer(self, request: JudgeRequest) -> dict[str, Any]:
        """The label, or the texts, of every question asked."""
        sources = {int(number): json.loads(text) for number, text in _SOURCE.findall(request.input)}
        return {q.id: self._one(request.task, q.id, spoken(q.text), sources, request) for q in request.questions}

    def _one(  # noqa: C901, PLR0911 - one kind of question, one answer
        self, task: str, name: str, text: str, sources: Mapping[int, str], request: JudgeRequest
    ) -> Any:
        match task:
            case "reverse":
                return list(self.reversed(json.loads(request.input.partition(": ")[2])))
            case "likeness":
                return vector_of(text)
            case "split":
                return self.claims(text)
            case "verify":
                return self.label(text, list(sources.values()))
            case "relevance" | "relevance_by_answer":
                return GRADES[int(self.grade(int(name[1:]), text))]
            case "asks":
                question = json.loads(request.input.partition(": ")[2])
                return list(self.asks.get(question, [question]))
            case "bearing" if name.startswith("q"):
                return self.addressed.get(text, "answered")
            case "bearing":
                return "yes" if self.bears(text) else "no"
            case "refusal":
                return "no" if self.refuses else "yes"  # asked as whether the answer replies
            case "sufficiency":
                return self.sufficient
            case "rubric":
                (question,) = request.questions
                return self.meets.get(json.loads(question.ask[question.ask.index('"') :]), question.options[0].value)
            case "entities":
                return list(self.names(json.loads(request.input.partition(": ")[2])))
        raise AssertionError(f"nobody taught this judge to answer {task!r}")


def vector_of(text: str) -> list[float]:
    """An embedding that says which letters are in the text."""
    return [1.0 + text.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"]


def spoken(text: str) -> str:
    """The text inside the quotes of a question; a label such as `[1]` as it is."""
    return json.loads(text) if text.startswith('"') else text


def as_text(request: JudgeRequest, said: Mapping[str, Any]) -> str:
    """Typed answers as a chat model writes them: JSON with, for a check, the source and a quote from it, and a reason
    where one is asked for."""
    sources = dict(_SOURCE.findall(request.input))
    written = dict(said)
    for question in request.questions:
        if isinstance(question, Choice) and question.quote_from and question.id in said:
            number, text = next(iter(sources.items()))
            label = said[question.id]
            quote = " ".join(json.loads(text).split()[:6]) if label != "unsupported" else ""
            written[question.id] = {"label": label, "source": number if quote else "none", "quote": quote}
        elif not isinstance(question, Texts | Vector) and question.explain and question.id in said:
            written[question.id] = {"reason": f"It is {said[question.id]}.", "label": said[question.id]}
    return json.dumps(written, ensure_ascii=False)


def as_probabilities(request: JudgeRequest, said: Mapping[str, Any]) -> dict[str, Any]:
    """Typed answers with a probability for each option: 0.9 for the one that is meant, the rest shared out."""
    found = dict(said)
    for question in request.questions:
        if isinstance(question, Texts | Vector) or question.id not in said:
            continue
        others = [option.value for option in question.options if option.value != said[question.id]]
        found[question.id] = {said[question.id]: 0.9, **{value: 0.1 / len(others) for value in others}}
    return found


class ScriptedJudge:
    """A Judge over a script, with everything it was asked. `spoil(request, said)` may change or replace what is said;
    what it raises is the failure of that call. `latency` seeds random pauses that shuffle the order of replies."""

    def __init__(
        self,
        truth: Truth,
        *,
        form: Form = "typed",
        spoil: Callable[[JudgeRequest, dict[str, Any]], Any] | None = None,
        latency: int | None = None,
        concurrency: int = 16,
        model: str = "scripted",
        **judge: Any,
    ) -> None:
        self.truth = truth
        self.asked: list[JudgeRequest] = []
        self._form = form
        self._spoil = spoil
        self._random = random.Random(latency)
        self._pauses = latency is not None
        self.judge = Judge(Scripted(self._say, model=model), concurrency=concurrency, **judge)

    async def _say(self, request: JudgeRequest) -> Any:
        self.asked.append(request)
        if self._pauses:
            await asyncio.sleep(self._random.random() / 200)
        said: Any = self.truth.answer(request)
        if self._spoil is not None:
            said = self._spoil(request, said)
        if not isinstance(said, dict) or self._form == "typed":
            return said
        return as_text(request, said) if self._form == "text" else as_probabilities(request, said)

    def count(self, task: str | None = None) -> int:
        """Calls so far, of one task or of all."""
        return sum(task in (None, request.task) for request in self.asked)

    @property
    def contents(self) -> Counter[str]:
        """How often each request was made, by its whole content."""
        return Counter(request.model_dump_json() for request in self.asked)


def judge_that(
    *,
    form: Form = "typed",
    spoil: Callable[[JudgeRequest, dict[str, Any]], Any] | None = None,
    latency: int | None = None,
    concurrency: int = 16,
    **truth: Any,
) -> ScriptedJudge:
    """A scripted judge; the keywords of Truth say what it finds."""
    return ScriptedJudge(Truth(**truth), form=form, spoil=spoil, latency=latency, concurrency=concurrency)


def forbidden() -> ScriptedJudge:
    """A judge that must not be asked: any call fails the test."""

    def refuse(request: JudgeRequest, _said: object) -> object:
        raise AssertionError(f"this judge must not be asked, but was: {request.task}")

    return ScriptedJudge(Truth(), spoil=refuse)


# --- the same judge over HTTP --------------------------------------------------------------------


def request_of(body: Mapping[str, Any]) -> JudgeRequest:
    """The typed request that a chat completion asks, as far as a Truth needs it: read back from prompt and schema."""
    if "input" in body:
        names = ["asked", *(f"other{n}" for n in range(1, len(body["input"])))]
        texts = [{"kind": "vector", "id": i, "ask": "", "text": t} for i, t in zip(names, body["input"], strict=True)]
        return JudgeRequest.model_validate({"task": "likeness", "role": "", "input": "", "questions": texts})
    user = body["messages"][1]["content"]
    items = dict(_ITEM.findall(user))
    questions: list[dict[str, Any]] = []
    for name, shape in body["response_format"]["json_schema"]["schema"]["properties"].items():
        one: dict[str, Any] = {"id": name, "ask": "", "text": items.get(name, "")}
        if shape["type"] == "array":
            one |= {"kind": "texts"}
        else:
            label = shape["properties"]["label"] if shape["type"] == "object" else shape
            one |= {"kind": "choice", "options": [{"value": value} for value in label["enum"]]}
            if shape["type"] == "object":
                one["quote_from"] = [value for value in shape["properties"]["source"]["enum"] if value != "none"]
        questions.append(one)
    task = _task(questions, user)
    shown = user if task not in ("asks", "entities", "reverse") else user.partition("\n")[0]
    return JudgeRequest.model_validate({"task": task, "role": "", "input": shown, "questions": questions})


def _task(questions: Sequence[Mapping[str, Any]], user: str) -> str:
    first = questions[0]
    if first["kind"] == "texts":
        return {"q": "asks", "names": "entities", "questions": "reverse"}.get(first["id"], "split")
    if "quote_from" in first:
        return "verify"
    if re.fullmatch(r"c\d+", first["id"]):
        return "relevance_by_answer" if "\nAnswer that was given: " in user else "relevance"
    return {"answer": "refusal", "contexts": "sufficiency"}.get(first["id"], "bearing")


def over_http(truth: Truth, **reply: Any) -> Callable[[Request], Reply]:
    """A handler for `misbehaving.Server`: a chat model that knows the truth. `reply` goes to `misbehaving.chat`."""

    def handle(request: Request) -> Reply:
        asked = request_of(request.body)
        if asked.task == "likeness":
            return embeddings(list(truth.answer(asked).values()), model=request.body["model"])
        return chat(as_text(asked, truth.answer(asked)), **{"model": request.body["model"], **reply})

    return handle


# --- logs ------------------------------------------------------------------------------------------


def row(number: int, **changes: Any) -> dict[str, Any]:
    """A row of a log that every metric can judge, different for every number."""
    return {
        "id": f"r{number}",
        "question": f"What does tank {number} hold?",
        "answer": f"Tank {number} holds {number} litres [1]. It is painted blue [2].",
        "contexts": [f"Tank {number} has a volume of {number} litres.", f"Tank {number} is blue."],
        "reference": f"Tank {number} holds {number} litres.",
        **changes,
    }


def lines(rows: Iterable[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in rows)
