"""Options of judging by batches, and what they amount to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from judgekit.batch import Job
from judgekit.cli.sections import under
from judgekit.judge.batchfile import MOST_REQUESTS
from judgekit.waves import BATCHES, Parcels, Posting

F = TypeVar("F", bound=Callable[..., Any])

_batch = under("Batches")


def batch_options(command: F) -> F:
    """The options of `run` that have it judge by batches."""
    options = [
        _batch("--batch", "by_batches", is_flag=True, help="Ask through the endpoint's Batch API, wave by wave."),
        _batch(
            "--batch-size",
            type=click.IntRange(1, MOST_REQUESTS),
            default=MOST_REQUESTS,
            show_default=True,
            help="Requests in a batch at most.",
        ),
        _batch(
            "--batch-least",
            type=click.IntRange(1),
            default=1,
            show_default=True,
            help="A wave of fewer requests is asked live.",
        ),
        _batch(
            "--batch-wait",
            type=click.FloatRange(0),
            metavar="SECONDS",
            help="Leave a batch to itself after so long.  [default: never]",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def posting_of(**how: Any) -> Posting:
    """How to judge by batches, telling on stderr what happens."""
    return Posting(say=lambda message: click.echo(f"judgekit: {message}", err=True), **how)


@contextmanager
def when_interrupted(job: Job) -> Iterator[None]:
    """Say what becomes of batches that are under way when the command is interrupted."""
    try:
        yield
    except KeyboardInterrupt:
        names = [parcel.batch_id for parcel in Parcels(job.out / BATCHES).open if parcel.batch_id]
        if names:
            click.echo(
                f"judgekit: {', '.join(names)}: goes on at the endpoint; the same command takes it up again, "
                f"judgekit batch cancel {job.out} ends it",
                err=True,
            )
        raise
