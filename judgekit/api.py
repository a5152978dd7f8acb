"""judgekit from Python: score one answer, many, or a whole log.

The synchronous functions run their own event loop in a private thread, so they work in scripts, in notebooks and
inside a running event loop alike.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from judgekit import batch
from judgekit.errors import InputError
from judgekit.estimate import Estimate, estimate
from judgekit.formats.native import Bad, sample_of
from judgekit.judge import Judge
from judgekit.loop import synchronous, wait
from judgekit.metrics import REFERENCE_FREE, Metric, metrics_of
from judgekit.records import Context, Options, Result, Sample
from judgekit.run import judge_sample, judge_samples
from judgekit.rundir import Run
from judgekit.waves import Posting

Chosen = str | Metric | Iterable[str | Metric]


async def ascore(
    *,
    question: str,
    answer: str,
    contexts: Sequence[str | Mapping[str, Any] | Context],
    judge: Judge,
    reference: str | None = None,
    metrics: Chosen = REFERENCE_FREE,
    options: Options = Options(),  # noqa: B008  a frozen record
) -> Result:
    """The scores of one answer, with the claims and verdicts they come from.

    question, answer, reference: texts. contexts: retrieved chunks in rank order, each a text, a mapping with `id` and
    `text`, or a Context. metrics: names or Metric objects; by default those that need no reference.
    Raises InputError for input that cannot be used and JudgeStop when the judge cannot be asked; a call that fails
    leaves `unjudged` verdicts in the result instead.
    """
    listed: Any = contexts  # what is no list is left for the reader to name
    if isinstance(contexts, Sequence) and not isinstance(contexts, str):
        listed = [item.model_dump(exclude_none=True) if isinstance(item, Context) else item for item in contexts]
    sample = as_sample({"question": question, "answer": answer, "contexts": listed, "reference": reference})
    return await judge_sample(sample, judge=judge, metrics=metrics_of(metrics), options=options)


score = synchronous(ascore)


def ascore_all(
    samples: Iterable[Sample | Mapping[str, Any]] | AsyncIterable[Sample],
    *,
    judge: Judge,
    metrics: Chosen = REFERENCE_FREE,
    options: Options = Options(),  # noqa: B008  a frozen record
    in_flight: int | None = None,
) -> AsyncIterator[Result]:
    """Results of many samples, in input order, as they become ready; memory does not grow with their number.

    samples: Sample records or rows as in a log. in_flight: samples begun and not yet handed out, at most; by default
    as many as the judge has calls in flight.
    """
    rows = samples if isinstance(samples, AsyncIterable) else map(_numbered, enumerate(samples, start=1))
    return judge_samples(rows, judge=judge, metrics=metrics_of(metrics), options=options, in_flight=in_flight)


def score_all(
    samples: Iterable[Sample | Mapping[str, Any]],
    *,
    judge: Judge,
    metrics: Chosen = REFERENCE_FREE,
    options: Options = Options(),  # noqa: B008  a frozen record
    in_flight: int | None = None,
) -> list[Result]:
    """`ascore_all` for synchronous code: all results, in input order. A row that cannot be read is an InputError before
    anything is asked."""
    read = [_numbered(numbered) for numbered in enumerate(samples, start=1)]

    async def collect() -> list[Result]:
        found = ascore_all(read, judge=judge, metrics=metrics, options=options, in_flight=in_flight)
        return [result async for result in found]

    return wait(collect())


async def ajudge_log(
    log: str | Path | Sequence[str | Path],
    *,
    out: str | Path,
    judge: Judge,
    metrics: Chosen = REFERENCE_FREE,
    options: Options = Options(),  # noqa: B008  a frozen record
    mapping: Mapping[str, str] | None = None,
    skip_bad_rows: bool = False,
    posting: Posting | None = None,
) -> Run:
    """Judge a log, or several, into a run's folder. The same call goes on where an earlier one stopped.

    mapping: field -> column, where a log names its columns otherwise. posting: judge by batches, and how
    (`judgekit.waves.Posting`); None: live. Raises as `judgekit.batch.judge_log`.
    """
    logs = [log] if isinstance(log, str | Path) else list(log)
    job = batch.Job(
        logs=[Path(path) for path in logs],
        out=Path(out),
        judge=judge,
        metrics=metrics_of(metrics),
        options=options,
        mapping=mapping,
        skip_bad_rows=skip_bad_rows,
        posting=posting,
    )
    return await batch.judge_log(job)


judge_log = synchronous(ajudge_log)


async def aestimate_log(
    log: str | Path | Sequence[str | Path],
    *,
    out: str | Path,
    judge: Judge,
    metrics: Chosen = REFERENCE_FREE,
    options: Options = Options(),  # noqa: B008  a frozen record
    mapping: Mapping[str, str] | None = None,
    skip_bad_rows: bool = False,
) -> Estimate:
    """What the same call of `ajudge_log` would take: calls, tokens and money, by metric and together.

    Nothing is sent or written; what is kept in the cache of `out`, or of the judge, is free. Raises LogError for a log
    with bad rows.
    """
    logs = [log] if isinstance(log, str | Path) else list(log)
    job = batch.Job(
        logs=[Path(path) for path in logs],
        out=Path(out),
        judge=judge,
        metrics=metrics_of(metrics),
        options=options,
        mapping=mapping,
        skip_bad_rows=skip_bad_rows,
    )
    return await estimate(job)


estimate_log = synchronous(aestimate_log)


def load_run(folder: str | Path) -> Run:
    """A run from its folder. Raises NotARun when it holds none."""
    return Run(folder)


def as_sample(row: Mapping[str, Any], *, default_id: str = "1") -> Sample:
    """A row as in a log, as a Sample. Raises InputError naming the field."""
    try:
        return sample_of(row, default_id=default_id)
    except Bad as bad:
        raise InputError(f"{bad.field}: {bad}") from None


def _numbered(numbered: tuple[int, Sample | Mapping[str, Any]]) -> Sample:
    number, row = numbered
    if isinstance(row, Sample):
        return row
    try:
        return as_sample(row, default_id=str(number))
    except InputError as error:
        raise InputError(f"row {number}: {error}") from None
