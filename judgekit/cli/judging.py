"""Commands that make a run: demo, run, rescore."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from judgekit import batch
from judgekit.cli.choosing import (
    evidence_option,
    judge_of,
    judge_options,
    mapping_of,
    metrics_chosen,
    source_option,
    split_option,
)
from judgekit.cli.posting import batch_options, posting_of, when_interrupted
from judgekit.cli.progress import progress
from judgekit.cli.reading import show_estimate, show_report
from judgekit.cli.sections import Sectioned, under
from judgekit.cli.spending import spending_options
from judgekit.estimate import estimate
from judgekit.judge import Budget, Judge
from judgekit.judge.prices import money
from judgekit.metrics import REFERENCE_FREE
from judgekit.records import Options
from judgekit.rundir import Foreign, Run, has_run
from judgekit.shipped import shipped
from judgekit.waves import Posting

if TYPE_CHECKING:
    from judgekit.doctor.comparing import Comparison

Recheck = Literal["auto", "always", "never"]

_INVALID = 3
#: Seconds that calls in flight get to land when a run is stopped.
_GRACE = 5.0
_metrics = under("Metrics")
_log = under("Log")
_DEMO_METRICS = (
    "faithfulness",
    "citation_support",
    "citation_recall",
    "citation_precision",
    "uncited_claim_rate",
    "context_recall",
    "context_precision",
    "context_relevance",
    "answer_relevance",
    "answer_correctness",
    "refusal",
)

metrics_option = _metrics(
    "--metrics",
    "listed",
    multiple=True,
    metavar="A,B",
    help=f"Metrics, `attribution` for that family, or `all`.  [default: {', '.join(REFERENCE_FREE)}]",
)
rubric_option = _metrics(
    "--rubric",
    "rubrics",
    multiple=True,
    metavar="NAME=CRITERION",
    help="Judge a criterion of your own too, yes or no; --set NAME.levels='[...]' grades it.",
)
set_option = _metrics("--set", "settings", multiple=True, metavar="METRIC.OPTION=VALUE", help="Set a metric's option.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")


@click.command()
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), default=Path("runs/demo"), show_default=True, help="Run folder."
)
@json_option
def demo(out: Path, as_json: bool) -> None:
    """Judge the shipped example log, offline, from its recording."""
    job = batch.Job(
        logs=[shipped("examples", "answers.jsonl")],
        out=out,
        judge=Judge.replay(shipped("cassettes", "demo.jsonl")),
        metrics=metrics_chosen((), (), default=_DEMO_METRICS),
    )
    show_report(judged(job), as_json=as_json)
    click.echo(
        f"judgekit: the run is in {out}; look at one row with: judgekit report {out} --row canada-2023", err=True
    )


@click.command(cls=Sectioned)
@click.argument("logs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), required=True, help="Run folder; an interrupted run goes on."
)
@metrics_option
@rubric_option
@set_option
@_log("--map", "pairs", multiple=True, metavar="FIELD=COLUMN", help="Where the log names a field otherwise.")
@_log("--skip-bad-rows", is_flag=True, help="Leave out rows that cannot be read, and list them in the manifest.")
@judge_options
@spending_options
@split_option
@_log(
    "--citation-base",
    type=click.Choice(["auto", "0", "1"]),
    default="auto",
    show_default=True,
    help="Number of the first context in citation markers.",
)
@evidence_option
@source_option
@click.option(
    "--max-unjudged",
    type=click.FloatRange(0, 1),
    default=0.2,
    show_default=True,
    help="Exit with 3 when a larger share of splits, verdicts and ratings is missing.",
)
@click.option(
    "--recheck",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Ask some of the run's checks once more at its end, to see whether it still is one judge: `auto` when a run "
    "that is taken up meets a fingerprint that it had not seen.",
)
@click.option("--estimate", "only_estimate", is_flag=True, help="Print what the run would take, and send nothing.")
@batch_options
@json_option
def run(
    max_unjudged: float,
    recheck: Recheck,
    only_estimate: bool,
    as_json: bool,
    record: bool,
    cassette: Path | None,
    by_batches: bool,
    batch_size: int,
    batch_least: int,
    batch_wait: float | None,
    **chosen: Any,
) -> int:
    """Judge logs into a run folder.

    A log is JSON Lines: a row needs question, answer and contexts; with a reference, ask for context_recall or
    answer_correctness as well. The same command goes on where an earlier one stopped; replies that had come in are not
    paid for again.
    """
    posting = posting_of(size=batch_size, least=batch_least, longest_wait=batch_wait) if by_batches else None
    job = job_of(record=record, cassette=cassette, posting=posting, **chosen)
    if only_estimate:
        show_estimate(asyncio.run(estimate(job)), as_json=as_json, priced=bool(job.judge.budget.prices))
        return 0
    seen = set(Run(job.out).manifest.fingerprints) if has_run(job.out) else set[str]()
    try:
        with when_interrupted(job):
            finished = judged(job)
    finally:
        if record and cassette:
            job.judge.write_cassette(cassette)
    show_report(finished, as_json=as_json)
    is_new = bool(seen) and not seen.issuperset(finished.manifest.fingerprints)
    is_one = recheck == "never" or not (is_new or recheck == "always") or _is_one_judge(finished, job)
    return _verdict_on(finished, max_unjudged) if is_one else _INVALID


def _is_one_judge(finished: Run, job: batch.Job) -> bool:
    """Whether the judge answers some of the run's own checks as it did, asked past all that is kept."""
    from judgekit.doctor.drift import against, baseline_of  # noqa: PLC0415 - seldom needed

    async def work() -> Comparison:
        async with job.judge.anew() as judge:
            return await against(baseline_of(finished.folder), judge)

    found = asyncio.run(work())
    reasons = f": {'; '.join(found.reasons)}" if found.reasons else ""
    click.echo(f"judgekit: asked some checks of the run again: {found.outcome}{reasons}", err=True)
    return found.outcome == "same"


def job_of(
    *,
    budget: Budget,
    logs: tuple[Path, ...],
    out: Path,
    listed: tuple[str, ...],
    rubrics: tuple[str, ...],
    settings: tuple[str, ...],
    pairs: tuple[str, ...],
    skip_bad_rows: bool,
    split: str,
    citation_base: str,
    evidence: str,
    source_chars: int,
    posting: Posting | None,
    **judge: Any,
) -> batch.Job:
    """What the options of `run` ask for."""
    metrics = metrics_chosen(listed, settings, default=REFERENCE_FREE, rubrics=rubrics)
    options = Options.model_validate(
        {
            "split": split,
            "citation_base": citation_base if citation_base == "auto" else int(citation_base),
            "evidence": evidence,
            "source_chars_per_call": source_chars,
        }
    )
    job = batch.Job(
        logs=logs,
        out=out,
        judge=judge_of(**judge),
        metrics=metrics,
        options=options,
        mapping=mapping_of(pairs),
        skip_bad_rows=skip_bad_rows,
        posting=posting,
        grace=_GRACE,
    )
    job.judge.use_budget(budget)
    return job


def _verdict_on(finished: Run, max_unjudged: float) -> int:
    summary = finished.summary()
    missing = summary.unjudged + sum(summary.faults.values())
    asked = summary.judged + missing
    if asked and missing / asked > max_unjudged:
        click.echo(
            f"judgekit: {missing} of {asked} splits, verdicts and ratings are missing; the numbers are not valid. "
            "The report lists the causes; the same command asks again for what is missing",
            err=True,
        )
        return _INVALID
    return 0


@click.command()
@click.argument("folder", metavar="RUN", type=click.Path(path_type=Path))
@click.option("-o", "--out", type=click.Path(path_type=Path), help="Write the rescored run here; else only print it.")
@metrics_option
@set_option
@json_option
def rescore(folder: Path, out: Path | None, listed: tuple[str, ...], settings: tuple[str, ...], as_json: bool) -> None:
    """Compute metrics anew from a run's verdicts; no judge is asked.

    Other metrics, or the same with other options, as far as the run's stored verdicts and ratings reach.
    """
    source = Run(folder)
    metrics = metrics_chosen(listed, settings, default=[one for one in source.metrics if not isinstance(one, Foreign)])
    rescored = batch.Rescored(run=source, metrics=metrics)
    show_report(rescored.write(out) if out else rescored, as_json=as_json)


def judged(job: batch.Job) -> Run:
    """Judge with a progress bar on stderr."""

    async def work(on_progress: Callable[[batch.Progress], None]) -> Run:
        async with job.judge:
            return await batch.judge_log(job, on_progress)

    with progress(job.judge) as on_progress:
        finished = asyncio.run(work(on_progress))
    meters = job.judge.meters.values()
    sent, reused = sum(m.sent for m in meters), sum(m.reused for m in meters)
    paid = f" (cost {money(job.judge.cost)})" if job.judge.budget.prices else ""
    click.echo(
        f"judgekit: {len(finished)} row{'s' * (len(finished) != 1)}; {sent} judge calls sent{paid}, "
        f"{reused} answered from what was kept",
        err=True,
    )
    return finished
