"""What replies carry beside their answers, in whatever form: which model answered, and what it took.

It is foreign text like the answers: nothing is taken for granted, and lone surrogates, which no record can hold, are
replaced.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

_SURROGATE = re.compile(r"[\ud800-\udfff]")
_PROMPT = ("prompt_tokens", "input_tokens")
_COMPLETION = ("completion_tokens", "output_tokens")


class Used(NamedTuple):
    """Tokens as an endpoint counts them; 0 where it does not say."""

    prompt_tokens: int
    completion_tokens: int


def used(data: Mapping[str, Any]) -> Used:
    """The tokens of a reply, under the names that endpoints give them."""
    usage = data.get("usage")
    said = usage if isinstance(usage, dict) else {}
    asked, written = (
        next((n for n in (count(said.get(name)) for name in names) if n), 0) for names in (_PROMPT, _COMPLETION)
    )
    return Used(asked, written)


def model(data: Mapping[str, Any]) -> str | None:
    """The name of the model that answered; None where the reply names none."""
    return text(data.get("model")) or None


def first_choice(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The first choice of a chat completion; empty where there is none."""
    choices = data.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else {}


def text(value: object) -> str | None:
    """A text that a record can hold; None for what is none."""
    return _SURROGATE.sub("\ufffd", value) if isinstance(value, str) else None


def count(value: object) -> int:
    """A number of things; 0 for what is none."""
    return value if type(value) is int and value > 0 else 0
