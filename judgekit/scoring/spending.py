"""Which judge calls a metric rests on, and what they take.

A call that several metrics share is paid once. So what each metric would take alone adds up to more than what all take
together, and what would be saved by leaving one out is only what no other rests on.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from math import fsum
from typing import Final

from judgekit.metrics import Metric
from judgekit.records import ROW, JudgeCall, Need, Result, Usage

#: What is asked, as its calls are listed, because of a need. Verdicts and criteria name their own calls.
TASKS: Final[Mapping[Need, tuple[str, ...]]] = {
    Need.ANSWER_CLAIMS: ("split answer",),
    Need.REFERENCE_CLAIMS: ("split reference",),
    Need.RELEVANCE: ("relevance",),
    Need.RELEVANCE_BY_ANSWER: ("relevance_by_answer",),
    Need.BEARING: ("asks", "bearing"),
    Need.REFUSAL: ("refusal",),
    Need.SUFFICIENCY: ("sufficiency",),
    Need.ENTITIES: ("entities",),
    Need.RUBRIC: (),
    Need.REVERSE_QUESTIONS: ("reverse", "likeness"),
}


def keys_of(metric: Metric, result: Result) -> set[str]:
    """The keys of the calls that a row's score in a metric rests on: all that the metric would need alone.

    A call whose question failed is not among them, nor is any of a row that failed as a whole.
    """
    case = result.case
    tasks = {task for need in metric.needs_for(case.sample) for task in TASKS[need]}
    keys = {call.key for call in result.calls if call.task in tasks}
    verdicts = (case.verdict(check) for check in metric.checks(case))
    keys.update(key for verdict in verdicts if verdict is not None for key in verdict.calls)
    criteria = {criterion.key for criterion in metric.criteria(case.sample)}
    keys.update(key for rating in case.ratings if rating.subject in criteria for key in rating.calls)
    return keys


class _Sum:
    """A running sum of calls, their tokens and their cost; exact, so that any order gives the same."""

    def __init__(self) -> None:
        self._calls = 0
        self._unknown = False
        self._tokens: dict[tuple[float, float] | None, list[int]] = {}

    def add(self, call: JudgeCall, price: tuple[float, float] | None) -> None:
        tokens = self._tokens.setdefault(price, [0, 0])
        tokens[0] += call.prompt_tokens
        tokens[1] += call.completion_tokens
        self._calls += 1
        self._unknown |= price is None or not (call.prompt_tokens or call.completion_tokens)

    @property
    def usage(self) -> Usage:
        prompt, completion = (sum(tokens[n] for tokens in self._tokens.values()) for n in (0, 1))
        costs = (p * price[0] + c * price[1] for price, (p, c) in self._tokens.items() if price is not None)
        cost = None if self._unknown else fsum(costs) / 1_000_000
        return Usage(calls=self._calls, prompt_tokens=prompt, completion_tokens=completion, cost=cost)


class Spending:
    """What the calls of many rows take: together, by task, by metric, and of each metric's own.

    `prices`: part of the judge -> money per million prompt and completion tokens. Where a row does not list its calls,
    as older ones do not, no cost is known.
    """

    def __init__(self, metrics: Sequence[Metric], prices: Mapping[str, tuple[float, float]]) -> None:
        self._metrics = metrics
        self._prices = prices
        self._is_listed = True
        self._together = _Sum()
        self._tasks: dict[str, _Sum] = {}
        self._by_metric = {metric.name: _Sum() for metric in metrics}
        self._own = {metric.name: _Sum() for metric in metrics}

    def add(self, result: Result, *, only: Container[str] | None = None) -> None:
        """Count the calls of a row, or of these those whose keys are in `only`."""
        self._is_listed &= len(result.calls) == result.usage.calls
        users: dict[str, list[str]] = {}
        if not any(fault.stage == ROW for fault in result.faults):
            for metric in self._metrics:
                for key in keys_of(metric, result):
                    users.setdefault(key, []).append(metric.name)
        for call in result.calls:
            if only is not None and call.key not in only:
                continue
            names = users.get(call.key, ())
            sums = [self._together, self._tasks.setdefault(call.task, _Sum()), *(self._by_metric[n] for n in names)]
            if len(names) == 1:
                sums.append(self._own[names[0]])
            for one in sums:
                one.add(call, self._prices.get(call.part))

    @property
    def together(self) -> Usage:
        return self._told(self._together)

    @property
    def by_task(self) -> dict[str, Usage]:
        """In the order of the names of the tasks."""
        return {task: self._told(self._tasks[task]) for task in sorted(self._tasks)}

    def of(self, metric: str) -> Usage:
        """What a metric would take alone."""
        return self._told(self._by_metric[metric])

    def own_of(self, metric: str) -> Usage:
        """What no other metric rests on."""
        return self._told(self._own[metric])

    def _told(self, one: _Sum) -> Usage:
        return one.usage if self._is_listed else one.usage.having(cost=None)
