"""Commands that read what is there: report, prompts."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import click

from judgekit.batch import Rescored
from judgekit.errors import InputError
from judgekit.estimate import Estimate
from judgekit.prompts import Prompts, prompts_of
from judgekit.rundir import Run


def show_report(run: Run | Rescored, *, as_json: bool = False, worst: int = 3, cluster_by: str | None = None) -> None:
    """Print a run's numbers, and the rows worth reading first."""
    from rich.console import Console  # noqa: PLC0415 - loads only when something is printed

    from judgekit import report as reports  # noqa: PLC0415 - it needs rich

    summary = run.summary(cluster_by=cluster_by)
    if as_json:
        click.echo(json.dumps(reports.as_json(summary, run.manifest), ensure_ascii=False, indent=2))
        return
    reports.render(summary, run.manifest, reports.worst_rows(run, run.metrics, worst), console=Console())


def show_estimate(found: Estimate, *, as_json: bool, priced: bool) -> None:
    """Print what a run would take."""
    from rich.console import Console  # noqa: PLC0415 - loads only when something is printed

    from judgekit.report.spent import spent_table  # noqa: PLC0415 - it needs rich

    if as_json:
        click.echo(found.model_dump_json(indent=2))
        return
    metrics = ((name, one.usage, one.own) for name, one in found.metrics.items())
    title = f"Estimate for {found.rows:,} row{'s' * (found.rows != 1)}; nothing was sent"
    spent_table(Console(), title, metrics, found.together, priced=priced)
    click.echo(f"  {found.kept:,} more calls are answered already, and free")
    click.echo("  assumed: a claim for every twelve words of a sentence begun; no thinking, no second asking")


@click.command()
@click.argument("folder", metavar="RUN", type=click.Path(path_type=Path))
@click.option("--row", "row_id", metavar="ID", help="One row in full: claims, verdicts, evidence, scores.")
@click.option("--worst", type=click.IntRange(0), default=3, show_default=True, help="How many rows to show at the end.")
@click.option(
    "--cluster-by", metavar="KEY", help="Intervals take rows with the same value of this metadata key as one unit."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead.")
def report(folder: Path, row_id: str | None, worst: int, cluster_by: str | None, as_json: bool) -> None:
    """Print a run's metrics and the rows worth reading first.

    Every metric has its counts and its interval.
    """
    from rich.console import Console  # noqa: PLC0415 - loads only when something is printed

    from judgekit import report as reports  # noqa: PLC0415 - it needs rich

    run = Run(folder)
    if row_id is None:
        show_report(run, as_json=as_json, worst=worst, cluster_by=cluster_by)
        return
    try:
        result = run[row_id]
    except KeyError:
        some = ", ".join(found.id for found in islice(run, 8))
        raise InputError(f"{folder}: no row {row_id!r}; its rows are: {some}, ...") from None
    if as_json:
        click.echo(result.model_dump_json(indent=2, exclude_defaults=True))
    else:
        reports.render_row(result, console=Console(), prices=run.manifest.prices_by_part)


@click.group()
def prompts() -> None:
    """Look at the prompts that are sent."""


_folder_option = click.option(
    "--prompts", "folder", type=click.Path(path_type=Path), help="Folder of your own prompts."
)


@prompts.command("list")
@_folder_option
def list_prompts(folder: Path | None) -> None:
    """Every prompt with its fingerprint and what it asks."""
    found: Prompts = prompts_of(folder)
    for name in found.names():
        first = found.source(name).split("\n", 1)[0].removeprefix("{#").removesuffix("#}").strip()
        click.echo(f"{name:<20} {found.fingerprint(name)[:12]}  {first}")


@prompts.command()
@click.argument("name")
@_folder_option
def show(name: str, folder: Path | None) -> None:
    """The text of a prompt."""
    click.echo(prompts_of(folder).source(name))
