"""Commands of the spot check: draw verdicts for people to judge, and read back what they say."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judgekit.errors import InputError
from judgekit.rundir import Run

if TYPE_CHECKING:
    from judgekit.review.records import Kind, Only

_WORST = "worst"
_WORST_ROWS = 3


@click.group()
def spotcheck() -> None:
    """Have people check the judge on a sample of its verdicts."""


@spotcheck.command()
@click.argument("folder", metavar="RUN", type=click.Path(path_type=Path))
@click.option("-n", "number", type=click.IntRange(1), default=100, show_default=True, help="How many units to draw.")
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True, help="Sheet to write.")
@click.option("--seed", type=int, default=7, show_default=True, help="The same seed draws the same units.")
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="Draw the claims of this metric; repeatable.")
@click.option(
    "--unit",
    "kind",
    type=click.Choice(["verdict", "sample"]),
    default="verdict",
    show_default=True,
    help="Single verdicts, or whole answers, which show what claims are missing.",
)
@click.option("--format", "form", metavar="NAME", help="Format of the sheet.  [default: by the name of the file]")
@click.option("--visible", is_flag=True, help="Show what the judge said; the labels then count as assisted.")
@click.option(
    "--inspect",
    "inspect",
    multiple=True,
    metavar="ID",
    help="Add a row or unit to look at, or `worst`; kept out of every estimate.",
)
@click.option("--reviewers", type=click.IntRange(1), default=1, show_default=True, help="How many sheets to deal.")
@click.option(
    "--overlap", type=float, metavar="SHARE", help="Share that two reviewers get.  [default: 0.2, at least 20]"
)
@click.option(
    "--only",
    type=click.Choice(["new", "disputed"]),
    help="Put into the sheet only what has no label yet, or what reviewers disagree on.",
)
@click.option(
    "--uncertain-below",
    type=float,
    metavar="CONFIDENCE",
    help="Call a verdict uncertain, and draw it more often, below this probability of the judge's own side; more than "
    "0.5.  [default: two labels less than 0.5 apart]",
)
def draw(
    folder: Path,
    number: int,
    out: Path,
    seed: int,
    metrics: tuple[str, ...],
    kind: Kind,
    form: str | None,
    visible: bool,
    inspect: tuple[str, ...],
    reviewers: int,
    overlap: float | None,
    only: Only | None,
    uncertain_below: float | None,
) -> None:
    """Draw verdicts into a blind sheet for people to label.

    What the judge said stays beside the run, in RUN/spotcheck.
    """
    from judgekit.review import Order, draw_review  # noqa: PLC0415 - only this command needs it
    from judgekit.review.sheets import format_for  # noqa: PLC0415

    run = Run(folder)
    order = Order(
        n=number,
        seed=seed,
        kind=kind,
        metrics=metrics,
        visible=visible,
        inspect=_named(run, inspect, metrics=metrics, kind=kind),
        reviewers=reviewers,
        overlap=overlap,
        only=only,
        uncertain_below=uncertain_below,
    )
    export = draw_review(run, order, sheet=out, form=format_for(out, form), at=_now())
    more = f" (more than {number}: every stratum gives some)" if export.drawn > number else ""
    click.echo(f"export {export.export_id}: {export.drawn} of {export.population} units drawn{more}")
    for name, count in export.apart.items():
        if count:
            click.echo(f"  {count} {name}, which cannot be drawn")
    if export.inspected:
        click.echo(f"  {export.inspected} more to inspect, in no estimate")
    if export.overlap:
        click.echo(f"  {export.overlap} of them for two reviewers")
    sheets = list(zip(export.files, export.holding, strict=True))[-(1 if only == "disputed" else reviewers) :]
    for name, units in sheets:
        click.echo(f"  {'visible' if visible else 'blind'} sheet of {units}: {name}")


def _named(run: Run, inspect: tuple[str, ...], *, metrics: tuple[str, ...], kind: Kind) -> tuple[str, ...]:
    """The ids to inspect; `worst` are the rows that the report shows first, of those that hold something to label."""
    if _WORST not in inspect:
        return inspect
    from judgekit.report import worst_rows  # noqa: PLC0415 - it needs rich
    from judgekit.sampling import answers_of, checks_of  # noqa: PLC0415 - only this option needs it

    chosen = [metric for metric in run.metrics if metric.name in metrics or not metrics]
    population = answers_of(run, run.metrics) if kind == "sample" else checks_of(run, chosen)
    rows = {candidate.unit.sample_id for candidate in population.candidates}
    worst = worst_rows((result for result in run if result.id in rows), chosen, _WORST_ROWS)
    return (*(one for one in inspect if one != _WORST), *(result.id for result in worst))


@spotcheck.command("import")
@click.argument("folder", metavar="RUN", type=click.Path(path_type=Path))
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--reviewer", metavar="NAME", help="Who filled in the rows that name nobody.")
@click.option("--adjudicated", is_flag=True, help="These labels settle disagreements: they outweigh all others.")
def import_(folder: Path, files: tuple[Path, ...], reviewer: str | None, adjudicated: bool) -> None:
    """Read filled-in sheets; keep their labels beside the run.

    Sheets of any format, as any program saved them. If anything is wrong in one, none of its labels are kept.
    """
    from judgekit.report.plain import one_line  # noqa: PLC0415 - only this command needs it
    from judgekit.review import import_sheets  # noqa: PLC0415

    if reviewer is not None and not reviewer.strip():
        raise InputError("--reviewer: empty; give the name of who filled in the sheet")
    done = import_sheets(Run(folder), files, at=_now(), reviewer=reviewer, adjudicated=adjudicated)
    by = f" by {one_line(', '.join(done.reviewers))}" if done.reviewers else ""
    click.echo(f"labels{by}: {done.new} new, {done.changed} changed, {done.unchanged} as before")
    if done.deferred or done.blank:
        click.echo(f"  {done.deferred} put off, {done.blank} blank")
    if done.outdated:
        click.echo(f"  {done.outdated} for texts that the run no longer holds: in no estimate; draw again")
    if done.disputed:
        click.echo(
            f"  {len(done.disputed)} disputed, which count as not reviewed until somebody settles them "
            f"(--adjudicated): {', '.join(done.disputed)}"
        )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
