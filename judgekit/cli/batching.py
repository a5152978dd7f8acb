"""Commands around batches: by hand (export, import), and those of a run (status, cancel)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import click

from judgekit.cli.choosing import judge_of, judge_options
from judgekit.cli.judging import job_of, judged, run
from judgekit.cli.posting import posting_of
from judgekit.cli.sections import Sectioned
from judgekit.cli.spending import spending_options
from judgekit.errors import BatchUnderWay, InputError
from judgekit.judge.batches import Batches
from judgekit.rundir import Run, alone_in, has_run
from judgekit.waves import BATCHES, Parcel, Parcels, bring_in

#: Options of `run` that an export has no use for, and those that `spending_options` gives.
_ABOUT_RESULTS = {"max_unjudged", "recheck", "only_estimate", "as_json", "record", "cassette"}
_NOT_FOR_EXPORT = frozenset({*_ABOUT_RESULTS, "by_batches", "batch_least", "batch_wait"})
_SPENDING = frozenset({"max_calls", "max_tokens", "max_cost", "price_in", "price_out", "prices"})


@click.group()
def batch() -> None:
    """Batches by hand, and what became of the batches of a run."""


@batch.command(
    name="export",
    cls=Sectioned,
    params=[one for one in run.params if one.name not in _NOT_FOR_EXPORT | _SPENDING],
)
@click.option(
    "--offline", is_flag=True, help="Ask nothing live: hold the model for the one named, and JSON schemas for granted."
)
@spending_options
def export_(batch_size: int, offline: bool, **chosen: Any) -> None:
    """Write the requests of the next wave as batch files.

    They are to be answered elsewhere. Takes the arguments of `run`. The paths of the files go to stdout. Import the
    results, then export again, until nothing is left.
    """
    posting = posting_of(size=batch_size, by_hand=True, for_granted=offline)
    job = job_of(record=False, cassette=None, posting=posting, **chosen)
    try:
        judged(job)
    except BatchUnderWay:
        parcels = Parcels(job.out / BATCHES)
        for parcel in parcels.open:
            click.echo(parcels.file_of(parcel))
        click.echo(f"judgekit: have them answered, then: judgekit batch import {job.out} RESULTS...", err=True)
        return
    click.echo(f"judgekit: nothing is left to ask: the run is complete; judgekit report {job.out} prints it", err=True)


@batch.command(name="import")
@click.argument("folder", metavar="RUN", type=click.Path(path_type=Path))
@click.argument("files", metavar="RESULTS...", nargs=-1, required=True, type=click.Path(path_type=Path))
def import_(folder: Path, files: tuple[Path, ...]) -> None:
    """Take in results of exported batch files.

    Output files and error files, in any order.
    """
    parcels = _parcels_of(folder)
    if not any(parcel.by_hand for parcel in parcels.open):
        raise InputError(f"{folder}: nothing that was exported waits for results; export first")
    with alone_in(folder):
        for told in bring_in(parcels, files):
            click.echo(f"judgekit: {told}", err=True)
    click.echo("judgekit: now export again, with the same arguments as before", err=True)


@batch.command()
@click.argument("folder", metavar="RUN", type=click.Path(path_type=Path))
def status(folder: Path) -> None:
    """List a run's batches as it last saw them; asks nobody."""
    for parcel in _parcels_of(folder).all:
        state = "read" if parcel.is_read else parcel.status
        click.echo(f"wave {parcel.wave}  {parcel.batch_id or parcel.file}  {parcel.requests} requests  {state}")


@batch.command(cls=Sectioned)
@click.argument("folder", metavar="RUN", type=click.Path(path_type=Path))
@judge_options
def cancel(folder: Path, **given: Any) -> None:
    """Cancel the batches of a run that are under way.

    Give the same judge. The next `run --batch` keeps what they answered until then.
    """
    parcels = _parcels_of(folder)
    under_way = [parcel for parcel in parcels.open if parcel.batch_id is not None]
    if not under_way:
        raise InputError(f"{folder}: none of its batches is under way")
    endpoint = next(iter(judge_of(**given).postables.values())).endpoint
    there = {str(spec.get("base_url")) for spec in Run(folder).manifest.judge.values() if isinstance(spec, dict)}
    if endpoint is None or endpoint.public_url not in there:  # the key goes only where its owner says
        raise InputError(f"{folder}: its batches are at {', '.join(sorted(there))}; give that with --base-url")

    async def work() -> list[tuple[Parcel, str]]:
        api = Batches(endpoint)
        try:
            return [(parcel, (await api.cancel(parcel.batch_id or "")).status) for parcel in under_way]
        finally:
            await endpoint.close()

    for parcel, now in asyncio.run(work()):
        click.echo(f"{parcel.batch_id}  {now}")


def _parcels_of(folder: Path) -> Parcels:
    if not has_run(folder) or not (folder / BATCHES).exists():
        raise InputError(f"{folder}: has no batches; they are made by judgekit run --batch and judgekit batch export")
    return Parcels(folder / BATCHES)
