"""`judgekit validate`: the judge against human labels."""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import click

from judgekit import validate as held
from judgekit.cli.choosing import evidence_option, judge_of, judge_options, source_option, split_option
from judgekit.cli.sections import Sectioned
from judgekit.cli.spending import spending_options
from judgekit.errors import InputError
from judgekit.judge import Budget, Judge
from judgekit.pins import templates_of
from judgekit.records import Options
from judgekit.stats import hash_rank

_INVALID = 3
_JUDGED = "judged.jsonl"

#: The judged rows of each file and task.
Found: TypeAlias = dict[tuple[str, str], list[held.Judged]]


@click.command(cls=Sectioned)
@click.argument("files", metavar="LABELLED...", nargs=-1, required=True, type=click.Path(path_type=Path))
@judge_options
@spending_options
@click.option("-o", "--out", type=click.Path(path_type=Path), help="Folder for the judged rows and the paid replies.")
@click.option(
    "--limit", type=click.IntRange(1), help="Judge only so many rows of each file, drawn by a hash of seed and id."
)
@click.option("--group-by", metavar="KEY", help="Rows with the same value here are not independent (`extra.qid`).")
@click.option("--raters", metavar="KEY", help="Where a row keeps what its single raters gave, a list of numbers.")
@click.option("--seed", type=int, default=7, show_default=True, help="Of the draw, the dev part and the intervals.")
@split_option
@evidence_option
@source_option
@click.option(
    "--compare-prompts",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Judge the same rows with the prompts of this folder too, and print the paired difference.",
)
@click.option("--worst", type=click.IntRange(0), default=3, show_default=True, help="Disagreements to show.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead.")
def validate(
    files: tuple[Path, ...],
    out: Path | None,
    limit: int | None,
    group_by: str | None,
    raters: str | None,
    seed: int,
    split: str,
    evidence: str,
    source_chars: int,
    compare_prompts: Path | None,
    worst: int,
    as_json: bool,
    budget: Budget,
    **chosen: Any,
) -> int:
    """Hold a judge against human labels.

    Prints balanced accuracy, AUC and correlation, beside what word overlap alone gets.

    A row needs id, task, `claim` or `answer`, contexts, and `label_binary` (1 good, 0 bad) or a number as `label`.
    Tasks: claim_support, citation_support, answer_faithfulness, relevance, answer_relevance; rows of others are passed
    over and counted. Intervals are clustered by question or contexts; thresholds are tuned on half of the groups and
    measured on the other half. Exit code 3 when nothing could be scored.
    """
    read = _read(files, group_by=group_by, raters=raters)
    options = Options.model_validate({"split": split, "evidence": evidence, "source_chars_per_call": source_chars})
    judges = [judge_of(**chosen)]
    if compare_prompts is not None:
        judges.append(judge_of(**{**chosen, "prompts": compare_prompts}))
        if templates_of(judges[0].prompts) == templates_of(judges[1].prompts):
            raise InputError(f"{compare_prompts}: no prompt in it differs; see `judgekit prompts` for their names")
    found: list[Found] = []
    if out is not None:
        _make(out)
    for judge in judges:
        judge.use_budget(budget)  # one for both: the caps are those of the command
        if out is not None:
            judge.use_store(out / "cache")
        found.append(asyncio.run(_judged(judge, read, options, limit=limit, seed=seed)))
    if chosen["record"]:
        judges[0].write_cassette(chosen["cassette"])
    if out is not None:
        _write(out, [one for rows in found[0].values() for one in rows])
    measured = [held.measure(name, task, rows, seed=seed) for (name, task), rows in found[0].items()]
    compared = (
        [held.compare(name, task, rows, found[1][name, task], seed=seed) for (name, task), rows in found[0].items()]
        if len(found) > 1
        else []
    )
    passed = {file.name: dict(file.passed_over) for file in read if file.passed_over}
    if as_json:
        shown = {
            "judge": {part: spec.model_dump(mode="json") for part, spec in judges[0].specs.items()},
            "measured": [one.model_dump(mode="json") for one in measured],
            "compared": [one.model_dump(mode="json") for one in compared],
            "passed_over": passed,
        }
        click.echo(json.dumps(shown, ensure_ascii=False, indent=2))
    else:
        _print(found[0], measured, compared, passed, worst=worst)
    return 0 if any(one.balanced_accuracy.n or one.spearman.n for one in measured) else _INVALID


def _read(files: Sequence[Path], *, group_by: str | None, raters: str | None) -> list[held.LabelledFile]:
    """The labelled rows of all files, each under a name of its own. InputError: a file twice, a key that no row has."""
    names = Counter(path.name for path in files)
    for path, times in Counter(path.resolve() for path in files).items():
        if times > 1:
            raise InputError(f"{path}: given twice, and its rows would count twice; give it once")
    read = [
        file if names[path.name] == 1 else file._replace(name=str(path))
        for path in files
        for file in [held.read(path, group_by=group_by, raters=raters)]
    ]
    if group_by is not None and not any(file.is_grouped for file in read):
        raise InputError(f"--group-by {group_by}: no row has it; a key that lies deeper is written extra.key")
    if raters is not None and not any(row.raters for file in read for row in file.rows):
        raise InputError(f"--raters {raters}: no row has it; a key that lies deeper is written extra.key")
    return read


async def _judged(
    judge: Judge, files: Sequence[held.LabelledFile], options: Options, *, limit: int | None, seed: int
) -> Found:
    """The judged rows by file and task, with a line of progress for each file on stderr."""
    found: Found = {}
    async with judge:
        for file in files:
            rows = sorted(file.rows, key=lambda row: hash_rank(row.id, seed=str(seed)))[:limit] if limit else file.rows
            async for one in held.judge_rows(rows, judge=judge, options=options):
                found.setdefault((file.name, one.row.task), []).append(one)
            click.echo(f"judgekit: {file.name}: {len(rows)} rows judged", err=True)
    return found


def _make(out: Path) -> None:
    try:
        out.mkdir(mode=0o700, parents=True, exist_ok=True)  # it holds questions and answers
    except OSError as error:
        raise _unwritable(out, error) from None


def _write(out: Path, rows: Sequence[held.Judged]) -> None:
    try:
        with open(out / _JUDGED, "w", encoding="utf-8", newline="\n", opener=_private) as file:
            file.writelines(f"{one.model_dump_json()}\n" for one in rows)
    except OSError as error:
        raise _unwritable(out, error) from None


def _unwritable(out: Path, error: OSError) -> InputError:
    return InputError(f"{error.filename or out}: {error.strerror or error}; give a folder that can be written")


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _print(
    found: Found,
    measured: Sequence[held.Measured],
    compared: Sequence[held.Compared],
    passed: Mapping[str, Mapping[str, int]],
    *,
    worst: int,
) -> None:
    from judgekit.validate import shown  # noqa: PLC0415 - it needs rich

    for numbers in measured:
        for line in shown.lines_of(numbers):
            click.echo(line)
        rows = held.worst(found[numbers.name, numbers.task], worst)
        if rows:
            click.echo("  farthest from the people:")
        for line in shown.worst_lines(rows):
            click.echo(line)
        click.echo()
    for pair in compared:
        for line in shown.compared_lines(pair):
            click.echo(line)
    for name, tasks in passed.items():
        listed = ", ".join(f"{count} {task}" for task, count in sorted(tasks.items()))
        click.echo(f"judgekit: {name}: rows of tasks that are not judged here: {listed}", err=True)
