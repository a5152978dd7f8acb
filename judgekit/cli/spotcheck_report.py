"""The command that says what people found: `judgekit spotcheck report`."""

from __future__ import annotations

from pathlib import Path

import click

from judgekit.rundir import Run

_INVALID = 3


@click.command("report")
@click.argument("folder", metavar="RUN", type=click.Path(path_type=Path))
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="Only this metric; repeatable.")
@click.option(
    "--labels-from",
    "other",
    type=click.Path(path_type=Path),
    metavar="RUN",
    help="Count another run's labels for the same checks, and carry the judge's errors there over to the rest.",
)
@click.option("--worst", type=click.IntRange(0), default=5, show_default=True, help="How many disagreements to show.")
@click.option("--seed", type=int, default=7, show_default=True, help="Seed of the intervals of agreement.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead, with every disagreement.")
def spotcheck_report(
    folder: Path, metrics: tuple[str, ...], other: Path | None, worst: int, seed: int, as_json: bool
) -> int:
    """Correct each score by what people found.

    With its interval, how often the judge is wrong, and where. Exit code 3 when nothing can be estimated: nothing
    drawn, no label, or a part of the run without one.
    """
    from judgekit.review import outcome_of  # noqa: PLC0415 - only this command needs it

    found = outcome_of(Run(folder), metrics=metrics, labels_from=None if other is None else Run(other), seed=seed)
    if as_json:
        click.echo(found.model_dump_json(indent=2))
    else:
        from rich.console import Console  # noqa: PLC0415 - loads only when something is printed

        from judgekit.report import render_outcome  # noqa: PLC0415 - it needs rich

        render_outcome(found, console=Console(), worst=worst)
    return _INVALID if found.reason else 0
