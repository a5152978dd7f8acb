"""The canaries: a frozen set of checks whose right answers are known, shipped with judgekit.

`canaries.jsonl` holds a set of sources a line, with the claims that are held against them. Half of the canaries are
clear, half are borderline (a person has to think, and would still decide so); half are supported. Their texts are made
up, so that no model can know them.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

from judgekit.records import Claim, Context, Label
from judgekit.records.base import Record
from judgekit.wire import digest

_FILE = Path(__file__).with_name("canaries.jsonl")


class Canary(Record):
    """One claim with its known label. What is scored is whether the sources support it, and nothing finer."""

    id: str
    kind: str
    is_clear: bool
    label: Label
    claim: str

    @property
    def is_supported(self) -> bool:
        return self.label is Label.SUPPORTED


class Flock(Record):
    """Canaries that are held against the same sources, in one call."""

    id: str
    sources: tuple[str, ...]
    canaries: tuple[Canary, ...]

    @property
    def contexts(self) -> tuple[Context, ...]:
        return tuple(Context(id=f"{self.id}#{n}", text=text) for n, text in enumerate(self.sources, start=1))

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The canaries as claims of an answer; their ids are short ones, as in a run."""
        return tuple(
            Claim(id=f"a{n}", side="answer", text=one.claim, segment_ids=(), start=0, end=0)
            for n, one in enumerate(self.canaries, start=1)
        )


@lru_cache(maxsize=1)
def canaries() -> tuple[Flock, ...]:
    """The shipped canaries, always in the same order."""
    return tuple(map(Flock.model_validate_json, _FILE.read_text(encoding="utf-8").splitlines()))


def digest_of(flocks: tuple[Flock, ...]) -> str:
    """What tells one set of canaries from another: verdicts on different sets cannot be compared."""
    return digest([json.loads(flock.model_dump_json()) for flock in flocks])
