"""What calls take, metric by metric: of a run, and of a run that is only estimated."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from judgekit.judge.prices import money
from judgekit.records import Manifest, Summary, Usage
from judgekit.report.plain import one_line
from judgekit.report.row import head, put


def spent_table(
    console: Console, title: str, metrics: Iterable[tuple[str, Usage, Usage]], together: Usage, *, priced: bool
) -> None:
    """One line a metric (its name, what it would take alone, and what no other metric rests on), and one for all."""
    listed = list(metrics)
    names = ["metric", "calls", "prompt", "completion", *(["cost"] if priced else []), "own calls"]
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name in names:
        table.add_column(name, justify="left" if name == "metric" else "right", no_wrap=name != "metric")
    for metric, usage, own in listed:
        table.add_row(one_line(metric), *_cells(usage, priced=priced), f"{own.calls:,}")
    table.add_row("together", *_cells(together, priced=priced), "", style="bold")
    head(console, title)
    put(console, table, indent=2)
    put(
        console,
        Text("a line is what its metric would take alone; shared calls are paid once", "dim"),
        indent=2,
    )
    put(console, Text("own calls: saved by leaving the metric out; prompt, completion: tokens", "dim"), indent=2)


def _cells(usage: Usage, *, priced: bool) -> tuple[str, ...]:
    cost = (money(usage.cost),) if priced else ()
    return (f"{usage.calls:,}", f"{usage.prompt_tokens:,}", f"{usage.completion_tokens:,}", *cost)


def spent(console: Console, summary: Summary, run: Manifest) -> None:
    """What a run rests on, by metric; nothing where its results do not tell."""
    if not summary.usage_by_task:
        return
    metrics = ((found.metric, found.usage, found.own) for found in summary.metrics)
    spent_table(console, "What it took", metrics, summary.usage, priced=bool(run.prices))


def paid(run: Manifest) -> str:
    """What the sessions of a run paid, and what they took from what was kept."""
    sent, reused = sum(one.sent for one in run.sessions), sum(one.reused for one in run.sessions)
    costs = [one.cost for one in run.sessions]
    known = [cost for cost in costs if cost is not None]
    total = money(sum(known)) if len(known) == len(costs) else "unknown"
    cost = f", cost {total}" if run.prices else ""
    return f"{sent:,} calls{cost}; {reused:,} kept replies were free"
