"""What a judge may spend: caps on calls, tokens and money, over all its parts, loops and threads.

What a call is expected to take is set apart before it is sent, so that the caps hold however many calls are in flight.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from pydantic import JsonValue

from judgekit.errors import BudgetSpent, InputError
from judgekit.judge.limiter import Waiter
from judgekit.judge.prices import Price, price_of
from judgekit.judge.tokens import FIRST_REPLY, tokens_of


@dataclass(slots=True)
class Sum:
    """Calls, tokens and money together."""

    calls: int = 0
    tokens: int = 0
    cost: float = 0.0

    def add(self, other: Sum, sign: int = 1) -> None:
        self.calls += sign * other.calls
        self.tokens += sign * other.tokens
        self.cost += sign * other.cost


@dataclass(slots=True)
class _Seen:
    """What a model's calls took so far, beside what was estimated for their prompts."""

    calls: int = 0
    estimated: int = 0
    prompt: int = 0
    completion: int = 0

    def add(self, estimated: int, used: tuple[int, int]) -> None:
        self.calls += 1
        self.estimated += estimated
        self.prompt += used[0]
        self.completion += used[1]

    def expected(self, estimated: int) -> tuple[int, int]:
        """Prompt and completion tokens that a call with this estimate will take, rounded up."""
        if not self.calls or not self.estimated:
            return estimated, FIRST_REPLY
        return -(-estimated * self.prompt // self.estimated), -(-self.completion // self.calls)


class Bill:
    """One call: what was set apart for it, and what it took in the end."""

    def __init__(self, model: str, expected: tuple[int, int]) -> None:
        self.model = model
        self.expected = expected
        self.used: tuple[int, int] | None = None

    def pay(self, prompt_tokens: int, completion_tokens: int) -> None:
        """It was answered. An endpoint that does not say what it used is taken to have used what was expected."""
        self.used = (prompt_tokens, completion_tokens) if prompt_tokens or completion_tokens else self.expected


class Budget:
    """Caps on what a judge spends from now on, None for none, and what its tokens cost.

    prices: by model, each a Price, a pair, or a mapping with `in` and `out`: money per million prompt and completion
    tokens, in a currency of your own. price: that of the judge's own models which `prices` does not name.
    A cap is never passed by more than what the calls in flight turn out to take above what they were expected to take.
    A call that failed costs nothing, as far as anyone knows. Raises InputError for a cap that allows nothing, and when
    a judge takes it and does not know a price that `max_cost` needs.
    """

    def __init__(
        self,
        *,
        max_calls: int | None = None,
        max_tokens: int | None = None,
        max_cost: float | None = None,
        price: Price | tuple[float, float] | None = None,
        prices: Mapping[str, Price | tuple[float, float] | Mapping[str, float]] | None = None,
    ) -> None:
        self._caps = {"calls": max_calls, "tokens": max_tokens, "cost": max_cost}
        for name, cap in self._caps.items():
            if cap is not None and not cap > 0:
                raise InputError(f"max_{name}={cap}: a cap is more than 0; leave it out to set none")
        self.prices = {model: price_of(given, where=f"price of {model}") for model, given in (prices or {}).items()}
        self._price = None if price is None else price_of(price, where="price")
        self._spent, self._held = Sum(), Sum()
        self._seen: dict[str, _Seen] = {}
        self._line: deque[Waiter] = deque()
        self._lock = threading.Lock()

    @property
    def is_bounded(self) -> bool:
        return any(cap is not None for cap in self._caps.values())

    def learn(self, models: Mapping[str, str], *, own: Collection[str]) -> None:
        """Hear who is asked: part -> model. `own` are the parts that `price` is meant for.

        Raises InputError when money is capped and a part's model has no price.
        """
        if self._price is not None:
            self.prices = {**{models[part]: self._price for part in own if part in models}, **self.prices}
        unknown = [f"{model} ({part})" for part, model in models.items() if model not in self.prices]
        if self._caps["cost"] is not None and unknown:
            raise InputError(
                f"max_cost needs the price of {', '.join(unknown)}: give --price-in and --price-out, or --prices FILE "
                "(price= or prices= from Python)"
            )

    @asynccontextmanager
    async def one_call(self, model: str, body: Mapping[str, JsonValue]) -> AsyncIterator[Bill]:
        """Room for one call, set apart until the block ends. While calls in flight may leave enough, it is waited for.

        Raises BudgetSpent when the call does not fit and nothing is in flight any more.
        """
        estimated = tokens_of(body)
        bill = Bill(model, self._seen.get(model, _Seen()).expected(estimated))
        held = self._sum(bill.model, bill.expected)
        await self._hold(held)
        try:
            yield bill
        finally:
            with self._lock:
                self._held.add(held, -1)
                if bill.used is not None:
                    self._spent.add(self._sum(bill.model, bill.used))
                    self._seen.setdefault(model, _Seen()).add(estimated, bill.used)
                self._call_next()

    def take(self, model: str, body: Mapping[str, JsonValue]) -> None:
        """Count a call that goes out with a batch as spent, by what it is expected to take.

        Raises BudgetSpent when it does not fit.
        """
        wanted = self._sum(model, self._seen.get(model, _Seen()).expected(tokens_of(body)))
        with self._lock:
            if lacking := self._lacking(wanted):
                raise BudgetSpent(self._message(lacking))
            self._spent.add(wanted)

    def _sum(self, model: str, tokens: tuple[int, int]) -> Sum:
        price = self.prices.get(model)
        return Sum(1, sum(tokens), price.of(*tokens) if price else 0.0)

    async def _hold(self, wanted: Sum) -> None:
        with self._lock:
            if not self._line and not self._lacking(wanted):
                self._held.add(wanted)
                return
            waiter = Waiter()
            self._line.append(waiter)
        try:
            while True:
                with self._lock:
                    if waiter is self._first():
                        lacking = self._lacking(wanted)
                        if not lacking:
                            self._held.add(wanted)
                            return
                        if not self._held.calls:
                            raise BudgetSpent(self._message(lacking))
                await waiter.woken()
        finally:
            with self._lock:
                self._line.remove(waiter)
                self._call_next()

    def _lacking(self, wanted: Sum) -> str:
        """The name of the cap that does not allow this beside what is spent and held; "" where all do."""
        for name, cap in self._caps.items():
            taken = getattr(self._spent, name) + getattr(self._held, name)
            if cap is not None and taken + getattr(wanted, name) > cap:
                return name
        return ""

    def _first(self) -> Waiter | None:
        while self._line and self._line[0].is_gone:
            self._line.popleft()
        return self._line[0] if self._line else None

    def _call_next(self) -> None:
        if (first := self._first()) is not None:
            first.wake()

    def _message(self, name: str) -> str:
        spent, cap = getattr(self._spent, name), self._caps[name]
        said = f"{spent:,.4f} of {cap:,.4f}" if name == "cost" else f"{spent:,} of {cap:,} {name}"
        return (
            f"stopped by --max-{name}: {said} spent in this session, and the next call does not fit; finished rows and "
            "paid replies are kept. The same command goes on from here and may spend as much again"
        )
