"""The one translator between the domain and the wire. One module = one kind of question = `request()` and `read()`.

Both are pure. `request` renders the blocks of the task's template into typed questions; `read` turns typed answers
into records. `TEMPLATES` names the templates that a task's answers rest on, for the pin of the metrics that use it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple, TypeVar

from judgekit.prompts import Prompts, Quoted
from judgekit.records import Context, Rating, RatingKind, Vote
from judgekit.wire import Answer, Option

T = TypeVar("T")


class Source(NamedTuple):
    """A text as it is shown to the judge, under a short id of its own: context ids may be long, odd or hostile."""

    id: Quoted
    context_id: str
    text: str
    title: str = ""
    offset: int = 0

    @property
    def halves(self) -> tuple[Source, Source] | None:
        """The source cut in two near its middle, at white space or else after a stop; scripts that have neither there
        are cut between two letters. None when it is too short to be worth it."""
        if len(self.text) < SHORTEST_CUT:
            return None
        middle = len(self.text) // 2
        places = [found.end() for found in _PLACES_TO_CUT.finditer(self.text, middle // 2, middle)]
        cut = places[-1] if places else middle
        second = self._replace(text=self.text[cut:], offset=self.offset + cut)
        return self._replace(text=self.text[:cut]), second


SHORTEST_CUT = 400
_PLACES_TO_CUT = re.compile(r"\s+|[\u3001\u3002\uff01\uff0c\uff1b\uff1f]")


def sources_of(contexts: Iterable[Context]) -> list[Source]:
    """Contexts as sources 1, 2, ... in the order given."""
    return [
        Source(Quoted(number), context.id, context.text, context.title or "")
        for number, context in enumerate(contexts, start=1)
    ]


@lru_cache(maxsize=256)  # by the templates themselves, which are loaded once
def options(prompts: Prompts, template: str, block: str = "labels") -> tuple[Option, ...]:
    """The options that a template's block lists, a line each: `value: meaning`."""
    lines = [line.partition(":") for line in prompts.render(template, block).splitlines() if line.strip()]
    return tuple(Option(value=value.strip(), description=meaning.strip()) for value, _, meaning in lines)


def rating(kind: RatingKind, subject: str, answer: Answer | None) -> Rating:
    """The rating that an answer amounts to; without one, an unjudged rating."""
    if answer is None or answer.label is None:
        cause = answer.cause if answer and answer.cause else "missing"
        raw, calls = (answer.raw, answer.calls) if answer else (None, ())
        votes = votes_of(answer)
        return Rating(kind=kind, subject=subject, label=None, cause=cause, raw=raw, calls=calls, votes=votes)
    return Rating(
        kind=kind,
        subject=subject,
        label=answer.label,
        probabilities=answer.probabilities,
        calls=answer.calls,
        votes=votes_of(answer),
    )


def votes_of(answer: Answer | None) -> tuple[Vote, ...]:
    """The votes of an answer as records."""
    cast = answer.votes if answer is not None else ()
    return tuple(Vote(by=vote.by, repeat=vote.repeat, label=vote.label, cause=vote.cause) for vote in cast)


def in_groups(items: Sequence[T], size: int) -> list[Sequence[T]]:
    """Items in groups of at most `size`, as even as possible, in order."""
    count = -(-len(items) // size)
    bounds = [len(items) * i // count for i in range(count + 1)] if count else [0]
    return [items[a:b] for a, b in pairwise(bounds)]
