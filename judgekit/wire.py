"""What travels between the core and a judge: typed questions out, typed answers back.

Nothing here knows a word of the domain (no claims, no metrics), so any kind of judge can stand behind it:
a chat model that writes text, a decision model that returns probabilities, a classifier.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, SerializerFunctionWrapHandler, model_serializer


class Wire(BaseModel):
    """Base of all wire records: frozen, and strict about unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def canonical(value: object) -> str:
    """The one JSON text of a value: sorted keys, no spaces, text as it is. Hashes are taken of this."""
    return _CANONICAL.encode(value)


def digest(value: object) -> str:
    """First 32 hex digits of the SHA-256 of the canonical JSON."""
    return hashlib.sha256(canonical(value).encode("utf-8", "surrogatepass")).hexdigest()[:32]


# --- questions -------------------------------------------------------------------------------


class Option(Wire):
    """One possible answer and what it means."""

    value: str
    description: str = ""


class _Question(Wire):
    """What all questions have: an id, a sentence that asks (`ask`), and the item it is asked of (`text`)."""

    id: str
    ask: str
    text: str = ""


class _Labelled(_Question):
    """A question that is answered by a label. `explain`: a judge that writes text is also asked for its reason."""

    explain: bool = False

    @model_serializer(mode="wrap")
    def _as_it_was(self, dumped: SerializerFunctionWrapHandler) -> dict[str, JsonValue]:
        """Without `explain` unless it is set, so that a question which does not ask for it keeps its bytes."""
        fields: dict[str, JsonValue] = dumped(self)
        return fields if self.explain else {name: value for name, value in fields.items() if name != "explain"}


#: How a text may stand to another: it follows from it, or not, or cannot be true beside it.
Relation = Literal["entailment", "neutral", "contradiction"]


class Pair(Wire):
    """A question as a judge reads it that only compares two texts: the request's `premise` and this hypothesis. The
    other fields name the option that each relation amounts to."""

    hypothesis: str
    entailment: str
    neutral: str
    contradiction: str

    @property
    def options(self) -> dict[Relation, str]:
        return {"entailment": self.entailment, "neutral": self.neutral, "contradiction": self.contradiction}


class Choice(_Labelled):
    """One of several named labels. A judge that writes text is also asked for a verbatim quote from one of the
    passages named in `quote_from`. `pair` is the same question for judges that compare two texts."""

    kind: Literal["choice"] = "choice"
    options: tuple[Option, ...]
    quote_from: tuple[str, ...] = ()
    pair: Pair | None = None


class Grade(_Labelled):
    """One of several ordered levels, lowest first."""

    kind: Literal["grade"] = "grade"
    options: tuple[Option, ...]


class YesNo(_Labelled):
    """Yes or no. `options` say what each means, in the order in which they are offered."""

    kind: Literal["yes_no"] = "yes_no"
    options: tuple[Option, ...] = (Option(value="yes"), Option(value="no"))


class Texts(_Question):
    """An extraction: a list of short texts, possibly empty. Only a judge that writes text can answer it."""

    kind: Literal["texts"] = "texts"


class Vector(_Question):
    """An embedding of `text`. Only an embeddings model, or a script, can answer it."""

    kind: Literal["vector"] = "vector"


Question = Annotated[Choice | Grade | YesNo | Texts | Vector, Field(discriminator="kind")]


class JudgeRequest(Wire):
    """One call: a role, one shared input, and typed questions about it, each with its own id.

    `task` names the kind of call in messages and records. `premise` is the shared input as plain text, for judges that
    compare two texts. `again`: these questions were asked before and not
    answered; a judge that writes text is then told what a valid answer is.
    """

    task: str
    role: str
    input: str
    questions: tuple[Question, ...]
    premise: str = ""
    again: bool = False

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(question.id for question in self.questions)

    def only(self, ids: Collection[str]) -> JudgeRequest:
        """The same request with some of its questions, to be asked again."""
        kept = tuple(question for question in self.questions if question.id in ids)
        return self.model_copy(update={"questions": kept, "again": True})


# --- answers ---------------------------------------------------------------------------------


class Quote(Wire):
    """A quote as the judge gave it, not yet checked against anything."""

    source: str
    text: str


class Vote(Wire):
    """What one judge of several said, or one that was asked several times: its label, or the cause of its lack."""

    by: str
    repeat: int = 0
    label: str | None = None
    cause: str | None = None


class Answer(Wire):
    """The answer to one question: a label (`yes`/`no` for yes/no questions), the texts of an extraction, or a vector.

    `reason` is what the judge wrote for a label, where the question asked for it.
    Where the judge failed all are None and `cause` says why; `raw` then keeps what it wrote. `votes` are those that the
    answer was counted from, where there were several.
    """

    id: str
    label: str | None = None
    texts: tuple[str, ...] | None = None
    vector: tuple[float, ...] | None = None
    probabilities: dict[str, float] | None = None
    quote: Quote | None = None
    reason: str | None = None
    cause: str | None = None
    raw: str | None = None
    calls: tuple[str, ...] = ()
    votes: tuple[Vote, ...] = ()

    @property
    def is_answered(self) -> bool:
        return self.label is not None or self.texts is not None or self.vector is not None


#: The `finish` of a reply that rests on a part of the input only: it counts as no reply to the whole.
INPUT_CUT = "input_cut"


class JudgeReply(Wire):
    """What an endpoint sent back for one call, as far as anything depends on it. `text` is what is read;
    `probabilities`, by question id and option, are those of the labels in it, where the endpoint gave them."""

    text: str | None
    finish: str | None = None
    refusal: str | None = None
    reasoning: str | None = None
    model: str | None = None
    fingerprint: str | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    probabilities: dict[str, dict[str, float]] | None = None

    @model_serializer(mode="wrap")
    def _as_it_was(self, dumped: SerializerFunctionWrapHandler) -> dict[str, JsonValue]:
        """Without `probabilities` where there are none, so that a reply without them keeps its bytes."""
        fields: dict[str, JsonValue] = dumped(self)
        return {name: value for name, value in fields.items() if name != "probabilities" or value is not None}


# --- who answers -----------------------------------------------------------------------------


class JudgeSpec(Wire):
    """Who answers, and how it is asked. `resolved` is the model that the endpoint says it is; `settings` say how its
    replies are read, and are part of a pin, not of who answers."""

    model: str
    base_url: str
    form: str = "chat"
    params: dict[str, JsonValue] = {}
    resolved: str | None = None
    settings: dict[str, JsonValue] = {}

    @property
    def judge_id(self) -> str:
        """Identity of the answerer: part of every cache key and of every metric's pin."""
        return digest(self.model_dump(mode="json", exclude={"settings"}))
