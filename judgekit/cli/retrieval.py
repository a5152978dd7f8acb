"""The command that scores retrieval from labels, with no judge."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from judgekit.cli.choosing import mapping_of
from judgekit.errors import InputError
from judgekit.formats import ranked, trec
from judgekit.records import Need, Sample
from judgekit.retrieval import Conventions, Measure, compare_rankings, evaluate, judged_sample, measures_of
from judgekit.retrieval.judged import RELEVANT_FROM
from judgekit.retrieval.names import split_names, with_cut
from judgekit.retrieval.outcome import (
    lines,
    moves_lines,
    moves_rows,
    moves_summary,
    outcome_of_log,
    outcome_of_runs,
    row_line,
    rows,
    summary,
)
from judgekit.rundir import Run

_DEFAULT = ("precision", "recall", "hit", "rr", "ap", "ndcg")
_CUTS = "5,10"
_FACTS = re.compile(r"fact_coverage(?:@([1-9][0-9]{0,8}))?")
_path = click.Path(path_type=Path)


@click.command()
@click.argument("logs", nargs=-1, metavar="[LOG]...", type=_path)
@click.option("--qrels", "qrels_file", type=_path, help="TREC judgements, instead of a log's `relevance`.")
@click.option("--run", "run_file", type=_path, help="TREC run to score against --qrels.")
@click.option("--before", type=_path, help="Log, or with --qrels a run: the candidates as they came.")
@click.option("--after", type=_path, help="The same after a reranker: what can move, and what did?")
@click.option("--measures", "listed", multiple=True, metavar="A,B", help="Such as ndcg@10[exp2,judged], mrr, bpref.")
@click.option("--k", "cuts", metavar="5,10", help="Cut-offs for names without @k.  [default: 5,10, if no --measures]")
@click.option("--judged", is_flag=True, help="LOG is a run's folder: its judge's grades (0..3) are the labels.")
@click.option("--relevant-from", type=float, help="Lowest relevant grade.  [default: 1; with --judged 2]")
@click.option(
    "--duplicates",
    type=click.Choice(["slot", "drop", "error"]),
    default="slot",
    show_default=True,
    help="A repeated id wastes its slot, is left out, or is an error; it is credited once in any case.",
)
@click.option("--ties", type=click.Choice(["stable", "trec"]), default="stable", show_default=True, help="In a run.")
@click.option("--zero-undefined", is_flag=True, help="0 where a value is undefined, as trec_eval has it.")
@click.option("--ignore-unlabelled", is_flag=True, help="Leave out queries of a run that have no labels.")
@click.option(
    "--pass-at",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.9,
    show_default=True,
    metavar="SHARE",
    help="Fact coverage that passes.",
)
@click.option("--map", "pairs", multiple=True, metavar="FIELD=COLUMN", help="Where the log names a field otherwise.")
@click.option("--worst", type=click.IntRange(0), default=3, show_default=True, help="How many queries to show.")
@click.option("--per-row", is_flag=True, help="Print the scores of every query.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead.")
def retrieval(
    logs: tuple[Path, ...],
    qrels_file: Path | None,
    run_file: Path | None,
    before: Path | None,
    after: Path | None,
    listed: tuple[str, ...],
    cuts: str | None,
    judged: bool,
    relevant_from: float | None,
    duplicates: Any,
    ties: Any,
    zero_undefined: bool,
    ignore_unlabelled: bool,
    pass_at: float,
    pairs: tuple[str, ...],
    worst: int,
    per_row: bool,
    as_json: bool,
) -> None:
    """Score rankings against labels; no judge is asked.

    A log's row needs contexts (in rank order, with ids) and relevance (id -> grade, or a list of ids); facts add
    fact coverage. Instead of a log: --qrels and --run, in TREC's formats; or a run's folder with --judged.
    """
    _require_one_way(logs, qrels_file, run_file, before, after)
    if judged and (len(logs) != 1 or pairs):
        raise InputError("--judged takes one run's folder and no --map; give the folder that `judgekit run -o` wrote")
    measures, fact_cuts = _chosen(listed, cuts)
    level = relevant_from if relevant_from is not None else RELEVANT_FROM if judged else 1
    conventions = Conventions(relevance_level=level, duplicates=duplicates, ties=ties, zero_undefined=zero_undefined)
    if before and after:
        qrels, (first, second) = _read_pair(qrels_file, before, after, conventions, mapping_of(pairs))
        left_out = ignore_unlabelled or not qrels_file  # rows of a log may lack labels
        moved = compare_rankings(first, second, qrels, measures, conventions=conventions, ignore_unlabelled=left_out)
        _print(moves_summary(moved), moves_rows(moved), moves_lines(moved), per_row=per_row, as_json=as_json)
        return
    if qrels_file and run_file:
        evaluation = evaluate(
            trec.read_run(run_file, larger_id_first=ties == "trec"),
            trec.read_qrels(qrels_file),
            measures,
            conventions=conventions,
            ignore_unlabelled=ignore_unlabelled,
        )
        outcome = outcome_of_runs(evaluation, measures, conventions=conventions)
    else:
        samples = _judged_samples(logs[0]) if judged else ranked.read(logs, mapping_of(pairs))
        outcome = outcome_of_log(
            samples, measures, conventions=conventions, fact_cuts=fact_cuts, pass_at=pass_at, is_judged=judged
        )
    _print(summary(outcome, worst=worst), rows(outcome), lines(outcome, worst=worst), per_row=per_row, as_json=as_json)


def _judged_samples(folder: Path) -> list[Sample]:
    """The samples of a run with its judge's grades as labels."""
    run = Run(folder)
    was_asked = any(Need.RELEVANCE in metric.needs for metric in run.metrics)
    samples = []
    for result in run:
        was_asked |= bool(result.case.rated("relevance"))  # for a metric of one's own, too
        samples.append(judged_sample(result.case))
    if not was_asked:
        raise InputError(
            f"{folder}: this run never asked how relevant the contexts are; judge the log with context_precision too"
        )
    return samples


def _require_one_way(
    logs: Sequence[Path], qrels: Path | None, run: Path | None, before: Path | None, after: Path | None
) -> None:
    """Exactly one of: logs; --qrels with --run; --before with --after, with or without --qrels."""
    given = (bool(logs), bool(qrels), bool(run), bool(before), bool(after))
    if given not in (
        (True, False, False, False, False),
        (False, True, True, False, False),
        (False, False, False, True, True),
        (False, True, False, True, True),
    ):
        raise InputError(
            "give a LOG, or --qrels Q --run R, or --before A --after B (two logs, or with --qrels two runs)"
        )


def _chosen(listed: Iterable[str], cuts: str | None) -> tuple[tuple[Measure, ...], list[int | None]]:
    """The measures, and the cut-offs of fact coverage. Names without @k get every --k there is."""
    names = [name for text in listed for name in split_names(text)]
    given: list[int | None] = [_cut(text) for text in (cuts or ("" if names else _CUTS)).split(",") if text.strip()]
    facts = [match for name in names if (match := _FACTS.fullmatch(name))]
    names = [name for name in names if not _FACTS.fullmatch(name)]
    if names or not facts:
        names = [with_cut(name, k) if k else name for name in names or _DEFAULT for k in given or [None]]
    fact_cuts: list[int | None] = [int(match[1]) for match in facts if match[1]]
    if len(fact_cuts) < len(facts) or not facts:
        fact_cuts += given or [None]
    return measures_of(names) if names else (), list(dict.fromkeys(fact_cuts))


def _cut(text: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,8}", text.strip()):
        raise InputError(f"--k {text.strip()}: write whole numbers from 1 on, such as --k 5,10")
    return int(text)


def _read_pair(
    qrels: Path | None, before: Path, after: Path, conventions: Conventions, mapping: Mapping[str, str]
) -> tuple[Mapping[str, Mapping[str, float]], tuple[Mapping[str, Sequence[str]], Mapping[str, Sequence[str]]]]:
    """Labels, and the rankings before and after: of two runs, or of two logs whose labels agree."""
    if qrels:
        trec_ties = conventions.ties == "trec"
        first, second = (trec.read_run(path, larger_id_first=trec_ties) for path in (before, after))
        return trec.read_qrels(qrels), (first, second)
    labels: dict[str, Mapping[str, float]] = {}
    rankings: list[dict[str, list[str]]] = []
    for path in (before, after):
        samples = ranked.read([path], mapping)
        rankings.append({sample.id: [context.id for context in sample.contexts] for sample in samples})
        for sample in samples:
            if sample.relevance is not None and labels.setdefault(sample.id, sample.relevance) != sample.relevance:
                raise InputError(
                    f"{path}: row {sample.id!r}: relevance differs from {before}; give both the same labels"
                )
    return labels, (rankings[0], rankings[1])


def _print(
    whole: Mapping[str, Any],
    each: Iterable[Mapping[str, Any]],
    text: Iterable[str],
    *,
    per_row: bool,
    as_json: bool,
) -> None:
    from judgekit.report.plain import one_line, plain  # noqa: PLC0415 - it loads what draws tables

    if as_json and per_row:
        for row in each:
            click.echo(json.dumps(row, ensure_ascii=False))
    elif as_json:
        click.echo(json.dumps(whole, ensure_ascii=False, indent=2))
    elif per_row:
        for row in each:
            click.echo(one_line(row_line(row)))
    else:
        for line in text:
            click.echo(plain(line))
