"""What tokens cost. No price ships with judgekit: prices change, and a wrong one is worse than none."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from judgekit.errors import InputError

_MILLION = 1_000_000
_FORM = 'write {"MODEL": {"in": 0.4, "out": 1.6}}, money per million tokens'


class Price(NamedTuple):
    """Money per million prompt tokens and per million completion tokens, in a currency of the user's own."""

    prompt: float
    completion: float

    def of(self, prompt_tokens: float, completion_tokens: float) -> float:
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / _MILLION


def price_of(given: object, *, where: str) -> Price:
    """A price from a pair or a mapping with `in` and `out`. Raises InputError for anything else."""
    if isinstance(given, Mapping) and given.keys() == {"in", "out"}:
        given = (given["in"], given["out"])
    numbers = [*given] if isinstance(given, tuple | list) else []
    if len(numbers) != len(Price._fields) or not all(_is_price(number) for number in numbers):
        raise InputError(f"{where}: {given!r} is no price; {_FORM}")
    return Price(*map(float, numbers))


def _is_price(number: object) -> bool:
    return isinstance(number, int | float) and not isinstance(number, bool) and 0 <= number < float("inf")


def read_prices(path: Path) -> dict[str, Price]:
    """The prices in a JSON file, by model. Raises InputError naming the file, the model and the form."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}; give a file of prices that can be read") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: no JSON ({error}); {_FORM}") from None
    if not isinstance(found, dict):
        raise InputError(f"{path}: holds no object; {_FORM}")
    return {model: price_of(given, where=f"{path}: {model}") for model, given in found.items()}


def money(value: float | None) -> str:
    """A sum in the currency of its prices, to the hundredth, or finer below 1; `unknown` where it is not known."""
    if value is None:
        return "unknown"
    return f"{value:,.2f}" if value >= 1 or value == 0 else f"{value:.4f}"
