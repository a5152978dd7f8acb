"""Options that say what a command may spend, and what tokens cost."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from judgekit.cli.sections import under
from judgekit.errors import InputError
from judgekit.judge import Budget
from judgekit.judge.prices import read_prices

_spending = under("Spending")


def spending_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Caps and prices, handed to the command as its `budget`."""

    @wraps(command)
    def capped(
        *args: Any,
        max_calls: int | None,
        max_tokens: int | None,
        max_cost: float | None,
        price_in: float | None,
        price_out: float | None,
        prices: Path | None,
        **kwargs: Any,
    ) -> Any:
        if (price_in is None) != (price_out is None):
            raise InputError("--price-in and --price-out belong together: give both, or neither")
        budget = Budget(
            max_calls=max_calls,
            max_tokens=max_tokens,
            max_cost=max_cost,
            price=None if price_in is None or price_out is None else (price_in, price_out),
            prices=read_prices(prices) if prices else None,
        )
        return command(*args, budget=budget, **kwargs)

    above_0 = click.FloatRange(0, min_open=True)
    for option in (
        _spending("--prices", type=click.Path(path_type=Path), help="JSON file with the prices of models."),
        _spending("--price-out", type=click.FloatRange(0), help="Money per million completion tokens."),
        _spending("--price-in", type=click.FloatRange(0), help="Money per million prompt tokens of the judge."),
        _spending("--max-cost", type=above_0, help="Stop before this command costs more money."),
        _spending("--max-tokens", type=click.IntRange(1), help="Stop before this command takes more tokens."),
        _spending("--max-calls", type=click.IntRange(1), help="Stop after so many paid calls of this command."),
    ):
        capped = option(capped)
    return capped
