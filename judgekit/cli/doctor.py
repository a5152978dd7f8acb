"""The command that looks at the judge itself."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgekit.cli.choosing import judge_of, judge_options
from judgekit.errors import InputError
from judgekit.judge import Judge

if TYPE_CHECKING:
    from judgekit.doctor import Findings

_INVALID = 3


@click.command()
@judge_options
@click.option(
    "--repeat", "rounds", type=click.IntRange(1), default=3, show_default=True, help="How often each canary is asked."
)
@click.option("--no-oversized", is_flag=True, help="Do not send the one request that is too long on purpose.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def doctor(
    rounds: int,
    no_oversized: bool,
    as_json: bool,
    record: bool,
    cassette: Path | None,
    cache: Path | None,
    **judge: Any,
) -> int:
    """Look at a judge: what its endpoint can do, who answers, and whether it is fit.

    Asks a shipped set of canaries, checks with known answers, several times. Exit code 3 when the judge is not fit.
    """
    if cache is not None:
        raise InputError("doctor asks anew each time, that is its point; leave out --cache")
    asked = judge_of(record=record, cassette=cassette, cache=None, **judge)
    try:
        found = _examined(asked, rounds=rounds, oversized=not no_oversized)
    finally:
        if record and cassette:
            asked.write_cassette(cassette)
    _show(found, as_json=as_json)
    return _INVALID if found.fitness == "not fit" else 0


def _show(found: Findings, *, as_json: bool) -> None:
    from rich.console import Console  # noqa: PLC0415 - loads only when something is printed

    from judgekit.doctor.show import show  # noqa: PLC0415

    if as_json:
        click.echo(found.model_dump_json(indent=2))
    else:
        show(found, console=Console())


def _examined(judge: Judge, *, rounds: int, oversized: bool) -> Findings:
    from judgekit.doctor import canaries, examine  # noqa: PLC0415 - only this command needs it

    async def work(on_call: Callable[[], None]) -> Findings:
        async with judge:
            return await examine(judge, rounds=rounds, oversized=oversized, on_call=on_call)

    with _progress(len(canaries()) * rounds) as on_call:
        return asyncio.run(work(on_call))


@contextmanager
def _progress(total: int) -> Iterator[Callable[[], None]]:
    """A progress bar where stderr is a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console  # noqa: PLC0415 - only where there is a terminal
    from rich.progress import Progress  # noqa: PLC0415

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("asking canaries", total=total)
        yield lambda: bar.advance(task)
