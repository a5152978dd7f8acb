"""What was logged: samples and what they hold."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from pydantic import JsonValue

from judgekit.records.base import Record


class Context(Record):
    """One retrieved chunk. `id` is what citations and evidence point to; `text` may be empty (id only)."""

    id: str
    text: str = ""
    title: str | None = None
    url: str | None = None
    doc_id: str | None = None
    version: str | None = None
    metadata: dict[str, JsonValue] = {}

    @property
    def is_blank(self) -> bool:
        """True when there is no text to hold a claim against: missing, empty or white space."""
        return not self.text.strip()


class CitedSpan(Record):
    """A citation given beside the answer: `answer[start:end]` (characters, end exclusive) rests on `context_ids`.

    `dangling` are labels, as logged, of what is known to point nowhere: an index out of range, even where it reads
    like the id of a context.
    """

    start: int
    end: int
    context_ids: tuple[str, ...]
    dangling: tuple[str, ...] = ()


class Fact(Record):
    """One fact that a complete answer needs, and the contexts that supply it."""

    id: str
    text: str = ""
    context_ids: tuple[str, ...] = ()


class Retrieval(Record):
    """One retrieval call of an agentic answer."""

    query: str = ""
    contexts: tuple[Context, ...] = ()


class Sample(Record):
    """One logged row. `contexts` are in rank order; `citations` is None when the answer carries only markers."""

    id: str
    question: str = ""
    answer: str = ""
    contexts: tuple[Context, ...] = ()
    reference: str | None = None
    citations: tuple[CitedSpan, ...] | None = None
    relevance: dict[str, float] | None = None
    facts: tuple[Fact, ...] = ()
    retrievals: tuple[Retrieval, ...] = ()
    metadata: dict[str, JsonValue] = {}

    @cached_property
    def first_of_text(self) -> Mapping[str, str]:
        """Context id -> id of the first context with the same text: duplicates are judged once."""
        seen: dict[str, str] = {}
        return {c.id: seen.setdefault(c.text.strip(), c.id) for c in self.contexts}

    @cached_property
    def source_ids(self) -> tuple[str, ...]:
        """Ids of the contexts a claim can be held against: in rank order, blanks and repeats left out."""
        return tuple(c.id for c in self.contexts if not c.is_blank and self.first_of_text[c.id] == c.id)

    def context(self, context_id: str) -> Context:
        """The context of that id; KeyError when there is none."""
        for context in self.contexts:
            if context.id == context_id:
                return context
        raise KeyError(context_id)
