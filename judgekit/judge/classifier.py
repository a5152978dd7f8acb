"""Entailment classifiers: does a premise entail a hypothesis? Two texts out, a probability for each class back.

Two servers' forms are spoken: `tei-predict` (Text Embeddings Inference, pairs of texts, classes by name) and
`vllm-classify` (vLLM and SGLang, one text, classes by number). A question is answered when it says how it reads as a
pair (`Choice.pair`); nothing else can be.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import JsonValue

from judgekit.errors import InputError, JudgeUnusable
from judgekit.judge import envelope
from judgekit.judge.backend import Body
from judgekit.judge.endpoint import Endpoint
from judgekit.judge.served import Served
from judgekit.prompts import Prompts
from judgekit.wire import (
    Answer,
    Choice,
    JudgeReply,
    JudgeRequest,
    JudgeSpec,
    Pair,
    Question,
    Relation,
    Texts,
    Vector,
    canonical,
)

RELATIONS: Final[tuple[Relation, ...]] = ("entailment", "neutral", "contradiction")

TEI = "tei-predict"
VLLM = "vllm-classify"
FORMS: Final = (TEI, VLLM)
_PATHS: Final = {TEI: "/predict", VLLM: "/classify"}
#: As many texts as a TEI server takes at once unless told otherwise.
_MOST_PAIRS: Final = 32
_PLACES: Final = ("{premise}", "{hypothesis}")

#: Names that classifiers give their classes, without case and signs. Of two classes the other one entails nothing.
_SPELLINGS: Final[Mapping[str, Relation]] = {
    **dict.fromkeys(("entailment", "entails", "entailed", "entail", "e"), "entailment"),
    **dict.fromkeys(("supported", "supports", "support", "consistent", "factual", "faithful"), "entailment"),
    **dict.fromkeys(("neutral", "n", "notentailment", "notentailed", "nonentailment"), "neutral"),
    **dict.fromkeys(("unsupported", "notsupported", "inconsistent", "hallucinated", "hallucination"), "neutral"),
    **dict.fromkeys(("notenoughinfo", "nei"), "neutral"),
    **dict.fromkeys(("contradiction", "contradicts", "contradicted", "contradictory", "c"), "contradiction"),
    **dict.fromkeys(("refutes", "refuted"), "contradiction"),
}


def classifier_spec(
    model: str, base_url: str, *, form: str, labels: Mapping[str, str] | None = None, pair: str | None = None
) -> JudgeSpec:
    """The spec of a classifier. `labels` map its classes, by name or number, to relations; `pair` puts premise and
    hypothesis into the one text that `vllm-classify` takes.

    Raises InputError for a relation that is none, and for what a form cannot do without.
    """
    if form not in FORMS:
        raise InputError(f"no classifier is asked as {form!r}; the forms are {' and '.join(FORMS)}")
    given = {str(name): relation for name, relation in (labels or {}).items()}
    if wrong := sorted(set(given.values()) - set(RELATIONS)):
        raise InputError(f"the classes of {model} cannot mean {', '.join(wrong)}; they mean {', '.join(RELATIONS)}")
    if given and "entailment" not in given.values():
        raise InputError(f"no class of {model} means entailment, so that it could support nothing")
    if form == VLLM and not given:
        raise InputError(
            f"{VLLM} gives probabilities by the number of a class: say what the classes of {model} mean, for instance "
            "--decider-label 0=contradiction --decider-label 1=neutral --decider-label 2=entailment"
        )
    if form == VLLM and (pair is None or any(place not in pair for place in _PLACES)):
        raise InputError(
            f"{VLLM} takes one text: say how {model} wants premise and hypothesis in it, for instance "
            "--decider-pair '{premise}</s></s>{hypothesis}'"
        )
    settings: dict[str, JsonValue] = {"labels": {**given}}
    return JudgeSpec(
        model=model, base_url=base_url, form=form, settings=settings if pair is None else {**settings, "pair": pair}
    )


class ClassifierBackend(Served):
    """An entailment classifier behind an endpoint. Without one it replays."""

    most_questions = _MOST_PAIRS

    def __init__(self, spec: JudgeSpec, endpoint: Endpoint | None, _prompts: Prompts) -> None:
        super().__init__(spec, endpoint)
        labels, pair = spec.settings.get("labels"), spec.settings.get("pair")
        self._labels = {name: str(meant) for name, meant in labels.items()} if isinstance(labels, dict) else {}
        self._pair = pair if isinstance(pair, str) else ""

    def prepare(self, request: JudgeRequest) -> Body:
        pairs = [(request.premise, pair.hypothesis) for pair in _pairs(request)]
        if self._spec.form == TEI:
            # asked not to cut: what is too long is refused, and asked in parts
            return {"inputs": [[*pair] for pair in pairs], "truncate": False, "raw_scores": False}
        return {"model": self._spec.model, "input": [self._text(*pair) for pair in pairs]}

    def _text(self, premise: str, hypothesis: str) -> str:
        filled = {"{premise}": premise, "{hypothesis}": hypothesis}
        return re.sub("|".join(map(re.escape, _PLACES)), lambda place: filled[place[0]], self._pair)

    async def send(self, request: JudgeRequest) -> tuple[Body, JudgeReply]:
        endpoint = self._asks(request)
        body = self.prepare(request)
        lacks = _lacking(self._spec.form, len(request.questions))
        data: Mapping[str, Any] = await endpoint.post(_PATHS[self._spec.form], body, lacks=lacks, listed=True)
        rows = _rows(self._spec.form, data.get("data")) or []
        if unknown := sorted({name for row in rows for name in row if self._means(name) is None}):
            raise JudgeUnusable(
                f"{self._spec.model}: it is not known what {', '.join(unknown)} mean; say so for every class, for "
                f"instance --decider-label {unknown[0]}=entailment (neutral, contradiction)"
            )
        return body, JudgeReply(
            text=canonical(rows),
            finish="stop",
            model=envelope.model(data),
            prompt_tokens=envelope.used(data).prompt_tokens,
        )

    def _means(self, name: str) -> Relation | None:
        """What a class means: what was said of it, or else what its name says."""
        if self._labels:
            return next((known for known in RELATIONS if known == self._labels.get(name)), None)
        return _SPELLINGS.get(re.sub(r"[\W_]+", "", name).casefold())

    def read(self, request: JudgeRequest, reply: JudgeReply) -> dict[str, Answer]:
        rows: list[dict[str, float]] = json.loads(reply.text or "[]")
        asked = zip(request.questions, _pairs(request), rows, strict=False)
        return {question.id: self._answer(question, pair, row) for question, pair, row in asked}

    def _answer(self, question: Question, pair: Pair, row: Mapping[str, float]) -> Answer:
        chances = dict.fromkeys(RELATIONS, 0.0)
        for name, chance in row.items():
            if (relation := self._means(name)) is not None:
                chances[relation] += chance
        if len(row) == 1:  # one class only: what is not it is nothing that could be told
            chances["neutral" if chances["entailment"] else "entailment"] += 1 - sum(chances.values())
        likeliest = max(RELATIONS, key=lambda relation: chances[relation])
        options = () if isinstance(question, Texts | Vector) else question.options
        told = dict.fromkeys((option.value for option in options), 0.0)
        told |= {pair.options[relation]: round(chances[relation], 6) for relation in RELATIONS}
        return Answer(id=question.id, label=pair.options[likeliest], probabilities=told)


def _pairs(request: JudgeRequest) -> list[Pair]:
    """The pairs that the questions read as. Raises InputError for one that is no pair."""
    pairs = [question.pair if isinstance(question, Choice) else None for question in request.questions]
    found = [pair for pair in pairs if pair is not None]
    if len(found) < len(pairs):
        raise InputError(
            f"{request.task} asks something else than whether one text follows from another, and an entailment "
            "classifier answers nothing else; give a judge that does, or leave out what asks it"
        )
    return found


def _lacking(form: str, count: int) -> Any:
    """What a reply without probabilities for every pair lacks."""

    def lacks(data: Mapping[str, Any]) -> str | None:
        rows = _rows(form, data.get("data"))
        return None if rows is not None and len(rows) == count else "the probabilities of every pair"

    return lacks


def _rows(form: str, data: object) -> list[dict[str, float]] | None:
    """Class -> probability for each pair, in their order; None where the reply is of another form."""
    if not isinstance(data, list):
        return None
    if form == VLLM:
        found = [_numbered(entry.get("probs")) for entry in _in_order(data)]
    else:
        found = [_named(entries) for entries in data]
    rows = [row for row in found if row]
    return rows if len(rows) == len(data) else None


def _in_order(data: Sequence[object]) -> list[dict[str, Any]]:
    entries = [entry for entry in data if isinstance(entry, dict)]
    return sorted(entries, key=lambda entry: index if isinstance(index := entry.get("index"), int) else 0)


def _numbered(probs: object) -> dict[str, float] | None:
    listed = probs if isinstance(probs, list) else []
    return {str(n): float(p) for n, p in enumerate(listed)} if listed and all(map(_is_chance, listed)) else None


def _named(entries: object) -> dict[str, float] | None:
    listed = [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    sound = all(isinstance(entry.get("label"), str) and _is_chance(entry.get("score")) for entry in listed)
    return {entry["label"]: float(entry["score"]) for entry in listed} if listed and sound else None


def _is_chance(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
