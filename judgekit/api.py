"""judgekit from Python: score one answer, many, or a whole log.

The synchronous functions run their own event loop in a private thread, so they work in scripts, in notebooks and
inside a running event loop alike.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import threading
from collections.abc import AsyncIterable, AsyncIterator, Coroutine, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from judgekit import batch
from judgekit.errors import InputError
from judgekit.formats.native import Bad, sample_of
from judgekit.judge import Judge
from judgekit.metrics import REFERENCE_FREE, Metric, metrics_of
from judgekit.records import Context, Options, Result, Sample
from judgekit.run import judge_sample, judge_samples
from judgekit.rundir import Run

T = TypeVar("T")
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


def score(
    *,
    question: str,
    answer: str,
    contexts: Sequence[str | Mapping[str, Any] | Context],
    judge: Judge,
    reference: str | None = None,
    metrics: Chosen = REFERENCE_FREE,
    options: Options = Options(),  # noqa: B008  a frozen record
) -> Result:
    """`ascore` for synchronous code."""
    return _wait(
        ascore(
            question=question,
            answer=answer,
            contexts=contexts,
            judge=judge,
            reference=reference,
            metrics=metrics,
            options=options,
        )
    )


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

    return _wait(collect())


async def ajudge_log(
    log: str | Path | Sequence[str | Path],
    *,
    out: str | Path,
    judge: Judge,
    metrics: Chosen = REFERENCE_FREE,
    options: Options = Options(),  # noqa: B008  a frozen record
    mapping: Mapping[str, str] | None = None,
    skip_bad_rows: bool = False,
) -> Run:
    """Judge a log, or several, into a run's folder. The same call goes on where an earlier one stopped.

    mapping: field -> column, where a log names its columns otherwise. Raises as `judgekit.batch.judge_log`.
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
    return await batch.judge_log(job)


def judge_log(
    log: str | Path | Sequence[str | Path],
    *,
    out: str | Path,
    judge: Judge,
    metrics: Chosen = REFERENCE_FREE,
    options: Options = Options(),  # noqa: B008  a frozen record
    mapping: Mapping[str, str] | None = None,
    skip_bad_rows: bool = False,
) -> Run:
    """`ajudge_log` for synchronous code."""
    return _wait(
        ajudge_log(
            log,
            out=out,
            judge=judge,
            metrics=metrics,
            options=options,
            mapping=mapping,
            skip_bad_rows=skip_bad_rows,
        )
    )


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


# --- a loop of our own -------------------------------------------------------------------------


_starting = threading.Lock()
#: How long an interrupt waits for a run to write down where it stopped.
_LONGEST_FAREWELL = 10.0


@lru_cache(maxsize=1)
def _loop_of(process: int) -> asyncio.AbstractEventLoop:
    """The private event loop of the synchronous functions, in a thread that ends with the process.

    A forked process inherits the loop but not the thread that runs it, so each process has its own.
    """
    del process
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="judgekit", daemon=True).start()
    atexit.register(_leave, loop, os.getpid())
    return loop


def _leave(loop: asyncio.AbstractEventLoop, process: int) -> None:
    """Close the connections that judges hold open in the private loop, when the process ends."""
    if process == os.getpid() and loop.is_running():
        closing = asyncio.run_coroutine_threadsafe(loop.shutdown_asyncgens(), loop)
        with contextlib.suppress(Exception):  # the process is leaving anyway
            closing.result(_LONGEST_FAREWELL)


def _is_running(loop: asyncio.AbstractEventLoop) -> bool:
    """True inside that loop, where waiting for it would wait for ever."""
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False


def _wait(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine; an interrupt cancels it, and waits until it has cleaned up."""
    with _starting:
        loop = _loop_of(os.getpid())
    if _is_running(loop):
        work.close()
        raise InputError("a script or metric that judgekit runs cannot call its synchronous functions; await ascore")
    done = threading.Event()

    async def watched() -> T:
        try:
            return await work
        finally:
            done.set()

    future = asyncio.run_coroutine_threadsafe(watched(), loop)
    try:
        return future.result()
    except BaseException:
        if future.cancel():
            done.wait(_LONGEST_FAREWELL)
        raise
