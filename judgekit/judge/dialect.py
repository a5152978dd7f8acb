"""How an endpoint wants to be asked: found out from its own 400 replies, once, and remembered.

It is the reply format (the next one of a ladder where one is refused), the parameters that it refuses or wants
renamed, and how many alternatives to a token it will list. Once a call has succeeded, a 400 speaks only of its own
request: it is adapted for that request, and all others go on as before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from pydantic import JsonValue

from judgekit.errors import RequestRefused, ServerFailed
from judgekit.judge.backend import Body
from judgekit.judge.endpoint import Endpoint

#: Asks for the probabilities of the tokens written, and for so many alternatives to each.
LOGPROBS: Final = "logprobs"
TOP_LOGPROBS: Final = "top_logprobs"
#: As many alternatives to a token as endpoints list at most.
ALTERNATIVES: Final = 20
#: More adaptations than this in one call means that they do not help.
_MOST_ADAPTATIONS = 12
_RENAMES: Final = {"max_tokens": "max_completion_tokens"}
_ABOUT_FORMAT = re.compile(r"response_format|json_schema|json_object|schema|structured|grammar|guided", re.IGNORECASE)
_NUMBER = re.compile(r"\d+")


class Dialect(NamedTuple):
    """How an endpoint wants to be asked. `format` is None where no reply format is asked for."""

    format: str | None
    dropped: frozenset[str] = frozenset()
    renamed: frozenset[str] = frozenset()
    top_logprobs: int | None = None

    def spoken(self, params: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        """The parameters as this endpoint takes them."""
        body = {_RENAMES[n] if n in self.renamed else n: v for n, v in params.items() if n not in self.dropped}
        if self.top_logprobs is not None and TOP_LOGPROBS in body:
            body[TOP_LOGPROBS] = self.top_logprobs
        return body


class Speaker:
    """The dialect that an endpoint turns out to want, and asking in it.

    `params` are the request's parameters as configured; `formats` the reply formats to try, the strictest first, none
    where none is asked for.
    """

    def __init__(self, params: Mapping[str, JsonValue], formats: tuple[str, ...] = ()) -> None:
        self._params = params
        self._formats = formats
        self.dialect = Dialect(formats[0] if formats else None)
        self._is_proven = False

    @property
    def told(self) -> dict[str, JsonValue]:
        """The dialect as it is remembered and recorded."""
        found = self.dialect
        told: dict[str, JsonValue] = {"format": found.format} if self._formats else {}
        told["dropped"] = [*sorted(found.dropped)]
        told["renamed"] = {name: _RENAMES[name] for name in sorted(found.renamed)}
        return told if found.top_logprobs is None else {**told, TOP_LOGPROBS: found.top_logprobs}

    def learn(self, told: Mapping[str, JsonValue]) -> None:
        """Take over what an earlier run found out."""
        found, dropped, renamed, top = (told.get(name) for name in ("format", "dropped", "renamed", TOP_LOGPROBS))
        names = dropped if isinstance(dropped, list) else []
        learned = renamed if isinstance(renamed, dict) else {}
        # only what could have been found out: a row that someone else wrote must not set other fields of the body
        self.dialect = Dialect(
            found if isinstance(found, str) and found in self._formats else next(iter(self._formats), None),
            frozenset(name for name in self._params if name in names),
            frozenset(name for name, new in _RENAMES.items() if learned.get(name) == new),
            top if type(top) is int and 0 < top < ALTERNATIVES else None,
        )
        self._is_proven = False

    async def post(
        self,
        endpoint: Endpoint,
        path: str,
        build: Callable[[Dialect], Body],
        lacks: Callable[[Mapping[str, Any]], str | None],
    ) -> tuple[Body, Mapping[str, Any]]:
        """The body as it was sent in the end, and the reply. Raises what `Endpoint.post` does."""
        dialect = self.dialect
        for _ in range(_MOST_ADAPTATIONS):
            body = build(dialect)
            try:
                reply = await endpoint.post(path, body, lacks=lacks)
            except RequestRefused as refusal:
                adapted = self.adapted(dialect, refusal)
                if adapted is None:
                    raise
                dialect = adapted
                continue
            if not self._is_proven:
                self.dialect, self._is_proven = dialect, True
            return body, reply
        raise ServerFailed(f"{body.get('model')}: the endpoint refuses every form of request that was tried")

    def adapted(self, dialect: Dialect, refusal: RequestRefused) -> Dialect | None:
        """The dialect changed by what a 400 says; None when it says nothing about how the request was made."""
        if refusal.status not in (400, 422):
            return None
        words = str(refusal).partition(f"HTTP {refusal.status}")[2] or str(refusal)  # without the URL
        said = refusal.param or words  # what it names is meant; words may quote anything
        named: dict[int, str] = {}
        for name in self._params:
            sent_as = _RENAMES[name] if name in dialect.renamed else name
            found = re.search(rf"\b{re.escape(sent_as)}\b", said) if name not in dialect.dropped else None
            if found is not None:
                named[found.start()] = name
        looser = self._looser(dialect)
        about_format = _ABOUT_FORMAT.search(said) if looser is not None else None
        if named and not (about_format and about_format.start() < min(named)):
            return self._without(dialect, named[min(named)], words)
        if looser is not None and (about_format or not refusal.param or _ABOUT_FORMAT.search(words)):
            return looser
        return None

    def _looser(self, dialect: Dialect) -> Dialect | None:
        """The dialect with the next reply format; None when there is none left."""
        if dialect.format is None or dialect.format == self._formats[-1]:
            return None
        return dialect._replace(format=self._formats[self._formats.index(dialect.format) + 1])

    def _without(self, dialect: Dialect, name: str, words: str) -> Dialect:
        """The dialect that renames a parameter, or lowers it, where the endpoint says so, and drops it otherwise."""
        new = _RENAMES.get(name)
        if new is not None and new in words and name not in dialect.renamed:
            return dialect._replace(renamed=dialect.renamed | {name})
        if name in (LOGPROBS, TOP_LOGPROBS) and (most := self._most_alternatives(dialect, words)) is not None:
            return dialect._replace(top_logprobs=most)
        # alternatives are never taken without the probabilities of the tokens themselves
        gone = {name, TOP_LOGPROBS} & self._params.keys() if name == LOGPROBS else {name}
        return dialect._replace(dropped=dialect.dropped | gone)

    def _most_alternatives(self, dialect: Dialect, words: str) -> int | None:
        """The largest number that a refusal names and that is below what was asked for."""
        asked = dialect.top_logprobs or self._params.get(TOP_LOGPROBS)
        named = [int(found[0]) for found in _NUMBER.finditer(words) if len(found[0]) < len("1000")]
        return max((n for n in named if isinstance(asked, int) and 0 < n < asked), default=None)
