"""How far a run has come, on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from judgekit import batch
from judgekit.judge import Judge
from judgekit.judge.prices import money


@contextmanager
def progress(judge: Judge) -> Iterator[Callable[[batch.Progress], None]]:
    """A progress bar where stderr is a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415  only where there is a terminal
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    columns = (
        TextColumn("judging"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("rows, ETA"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[calls]}"),
    )
    begun = time.monotonic()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("rows", total=None, calls="")

        def on_progress(now: batch.Progress) -> None:
            bar.update(task, completed=now.done, total=now.total, calls=spent_line(judge, time.monotonic() - begun))

        yield on_progress


def spent_line(judge: Judge, seconds: float) -> str:
    """Calls, their rate, tokens, and money where its prices are known, in one short line."""
    meters = judge.meters.values()
    sent, reused = sum(m.sent for m in meters), sum(m.reused for m in meters)
    rate = f" ({sent / seconds * 60:,.0f}/min)" if sent and seconds > 0 else ""
    tokens = sum(m.prompt_tokens + m.completion_tokens for m in meters)
    paid = f", cost {money(judge.cost)}" if judge.cost is not None and judge.budget.prices else ""
    return f"{sent:,} calls{rate}, {reused:,} from cache, {tokens:,} tokens{paid}"
