"""Judging a log into a run's folder, row by row, so that it can be stopped and taken up again at any time."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from judgekit.errors import InputError, NotARun
from judgekit.formats import native
from judgekit.judge import Judge
from judgekit.metrics import Metric
from judgekit.pins import EMBEDDER, pins_of, templates_of
from judgekit.recall import Recall
from judgekit.records import (
    ANSWER,
    REFERENCE,
    ROW,
    Manifest,
    MetricPin,
    Need,
    Options,
    Reason,
    Result,
    Sample,
    Score,
    Session,
    Side,
    Summary,
)
from judgekit.run import judge_samples
from judgekit.rundir import (
    CACHE,
    Results,
    Run,
    alone_in,
    drop_aside,
    has_run,
    row_ids,
    set_aside,
    write_manifest,
    write_run,
)
from judgekit.scoring import score_case, summarize
from judgekit.waves import BATCHES, Office, Posting, judge_in_waves, judge_the_rest
from judgekit.wire import JudgeSpec, digest

#: Finished rows that may wait for an earlier one, for each request in flight: as many as pass while a slow one answers.
_ROWS_WAITING = 4
_LIBRARIES = ("openai", "httpx2", "tenacity", "pydantic", "diskcache", "jinja2", "sentencex")


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a run has come: rows done of all, and how many of these an earlier session had finished."""

    done: int
    total: int
    kept: int


@dataclass(frozen=True, kw_only=True)
class Job:
    """What is to be judged, how, and where it goes. `posting`: by batches, and how; None: live. When it is stopped,
    calls in flight get `grace` seconds to land."""

    logs: Sequence[Path]
    out: Path
    judge: Judge
    metrics: Sequence[Metric]
    options: Options = field(default_factory=Options)
    mapping: Mapping[str, str] | None = None
    skip_bad_rows: bool = False
    posting: Posting | None = None
    grace: float = 0.0


async def judge_log(job: Job, on_progress: Callable[[Progress], None] = lambda _: None) -> Run:
    """Judge every row of the logs into the run's folder; rows that an earlier session finished are kept.

    Raises LogError for a log with bad rows before anything is asked, NotARun when the folder belongs to another
    judge or log, or is being judged into, InputError when it cannot be written, and JudgeStop when the judge cannot
    go on; finished rows and paid replies are then on disk.
    """
    checked = native.check(job.logs, mapping=job.mapping, skip_bad=job.skip_bad_rows)
    try:
        job.out.mkdir(mode=0o700, parents=True, exist_ok=True)  # it holds questions and answers
        with alone_in(job.out):
            return await _judge_log(job, checked, on_progress)
    except OSError as error:
        raise InputError(
            f"{error.filename or job.out}: {error.strerror or error}; the run is kept in {job.out} as far as it came: "
            "mend it and go on with the same command, or give another folder"
        ) from error


async def _judge_log(job: Job, checked: native.Checked, on_progress: Callable[[Progress], None]) -> Run:
    earlier = Run(job.out).manifest if has_run(job.out) else None
    if (there := row_ids(job.out)) and there.isdisjoint(checked.ids):
        raise NotARun(f"{job.out}: holds results of another log, no row of which is in this one; give another folder")
    _take_up(job, earlier)
    session, before = Session(started=_now()), (_paid(job.judge), job.judge.cost)

    def note(stopped_by: str | None, ended: str | None = None) -> None:
        now = _since(before, job.judge, session.having(ended=ended, stopped_by=stopped_by))
        write_manifest(job.out, _manifest(job, checked, earlier, now))

    total = sum(file.rows for file in checked.files)
    stopped_by: str | None = "killed"
    note(stopped_by)
    results = Results(job.out)
    try:
        await _judge_rows(job, results, total=total, note=lambda: note(stopped_by), on_progress=on_progress)
        stopped_by = None
    except BaseException as stop:
        stopped_by = type(stop).__name__
        if job.grace:
            await job.judge.land(job.grace)
        raise
    finally:
        results.close()
        note(stopped_by, ended=_now())
    return Run(job.out)


async def _judge_rows(
    job: Job,
    results: Results,
    *,
    total: int,
    note: Callable[[], None],
    on_progress: Callable[[Progress], None],
) -> None:
    """Judge the rows that are not finished yet, append each as it is done, and put all in the log's order."""
    ids: list[str] = []
    kept = judged = 0

    def unfinished() -> Iterator[Sample]:
        nonlocal kept
        for sample in native.read(job.logs, mapping=job.mapping):
            ids.append(sample.id)
            old = results.get(sample.id)
            if old is not None and old.case.sample == sample and old.is_finished:
                kept += 1
            else:
                yield sample

    async with aclosing(_judged(job, unfinished())) as found:
        async for result in found:
            results.append(result)
            judged += 1
            if judged == 1:
                note()  # by now it is known who answers
            on_progress(Progress(done=kept + judged, total=total, kept=kept))
    results.settle(ids)
    drop_aside(job.out)
    on_progress(Progress(done=kept + judged, total=total, kept=kept))


async def _judged(job: Job, samples: Iterator[Sample]) -> AsyncGenerator[Result]:
    """The results of samples, live or by batches; a live session first uses what the batches of another brought."""
    judge, metrics, options, folder = job.judge, job.metrics, job.options, job.out / BATCHES
    if job.posting is None and (judge.is_replay or not folder.exists()):
        waiting, by = _ROWS_WAITING * judge.concurrency, Recall(judge, metrics, options).judge
        live = judge_samples(samples, judge=judge, metrics=metrics, options=options, waiting=waiting, by=by)
        async for result in live:
            yield result
        return

    def again(ids: Collection[str]) -> Iterator[Sample]:
        return (sample for sample in native.read(job.logs, mapping=job.mapping) if sample.id in ids)

    office = Office(folder, judge, job.posting or Posting())
    is_complete = False
    try:
        if job.posting is None:
            found = judge_the_rest(samples, judge=judge, metrics=metrics, options=options, office=office)
        else:
            found = judge_in_waves(samples, again=again, judge=judge, metrics=metrics, options=options, office=office)
        async for result in found:
            yield result
        is_complete = True
    finally:
        office.close(is_complete=is_complete)


def _take_up(job: Job, earlier: Manifest | None) -> None:
    """Make the folder ready, and let the judge answer only as the one that this run began with."""
    begun = {part: JudgeSpec.model_validate(spec) for part, spec in earlier.judge.items()} if earlier else {}
    if all(spec.resolved is None for spec in begun.values()) and not row_ids(job.out):
        earlier = None  # nobody has answered yet, so that a wrong URL or model name can be put right
    if earlier is not None and _configured(begun, beside=job.judge.specs) != _configured(job.judge.specs, beside=begun):
        was = ", ".join(f"{spec.model} at {spec.base_url}" for spec in begun.values())
        raise NotARun(
            f"{job.out}: this run was begun with another judge ({was}, with its own parameters); go on "
            "with that one, or give another folder"
        )
    job.judge.use_store(job.out / CACHE)
    if earlier is None:
        job.judge.doubt()
    else:
        job.judge.pin(begun)
        # how the endpoint wants to be asked may have to be found out anew; that alone makes no row unfinished
        dialects = {part: found for part, found in earlier.dialect.items() if isinstance(found, dict)}
        set_aside(
            job.out,
            was=_settings(earlier.metrics, earlier.options),
            now=_settings(_pins(job, dialects), job.options),
        )


def _configured(specs: Mapping[str, JudgeSpec], *, beside: Mapping[str, JudgeSpec]) -> dict[str, JudgeSpec]:
    """The parts of a judge as they were asked for. An embedder counts only when the other judge has one too: what
    compares no embeddings does not rest on it, and what does says so in its pin."""
    kept = {part: spec for part, spec in specs.items() if part != EMBEDDER or part in beside}
    return {part: spec.model_copy(update={"resolved": None}) for part, spec in kept.items()}


def _settings(metrics: Mapping[str, MetricPin], options: Options) -> str:
    """A short name for what all rows of a run have in common: metrics, their pins, options."""
    pins = {name: pin.model_dump(mode="json") for name, pin in metrics.items()}
    return digest([list(pins), pins, options.model_dump(mode="json")])[:12]


def _manifest(job: Job, checked: native.Checked, earlier: Manifest | None, session: Session) -> Manifest:
    return Manifest(
        judgekit=_version("judgekit"),
        logs=checked.files,
        judge={part: spec.model_dump(mode="json") for part, spec in job.judge.specs.items()},
        dialect=dict(job.judge.dialects),
        fingerprints=_fingerprints(job.judge, earlier),
        templates=templates_of(job.judge.prompts),
        metrics=_pins(job),
        options=job.options,
        skipped_rows=checked.skipped,
        prices={**(earlier.prices if earlier else {}), **_prices(job.judge)},
        libraries={name: _version(name) for name in _LIBRARIES},
        sessions=(*(earlier.sessions if earlier else ()), session),
    )


def _pins(job: Job, dialects: Mapping[str, Mapping[str, JsonValue]] | None = None) -> dict[str, MetricPin]:
    return pins_of(
        job.metrics,
        job.options,
        specs=job.judge.specs,
        dialects=job.judge.dialects if dialects is None else dialects,
        templates=templates_of(job.judge.prompts),
    )


def _fingerprints(judge: Judge, earlier: Manifest | None) -> tuple[str, ...]:
    seen = {found for meter in judge.meters.values() for found in meter.fingerprints}
    return tuple(sorted(seen.union(earlier.fingerprints if earlier else ())))


def _prices(judge: Judge) -> dict[str, dict[str, float]]:
    """The known prices of the judge's models."""
    models = [spec.model for spec in judge.specs.values()]
    known = {model: price for model, price in judge.budget.prices.items() if model in models}
    return {model: {"in": price.prompt, "out": price.completion} for model, price in known.items()}


class _Paid(NamedTuple):
    sent: int
    reused: int
    prompt_tokens: int
    completion_tokens: int
    unnamed: int


def _paid(judge: Judge) -> _Paid:
    meters = [(m.sent, m.reused, m.prompt_tokens, m.completion_tokens, m.unnamed) for m in judge.meters.values()]
    return _Paid(*map(sum, zip(*meters, strict=True)))


def _since(before: tuple[_Paid, float | None], judge: Judge, session: Session) -> Session:
    """The session with what was paid in it: a judge may have done other work before."""
    (paid, cost), cost_now = before, judge.cost
    now = zip(_Paid._fields, _paid(judge), paid, strict=True)
    counts = {name: total - earlier for name, total, earlier in now}
    return session.having(**counts, cost=None if cost is None or cost_now is None else cost_now - cost)


@cache  # it is looked up in files
def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # run from a source tree, or vendored
        return "unknown"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True, kw_only=True)
class Rescored:
    """A run with other metrics or options over the same verdicts; nothing is asked.

    What a metric needs and the run never asked counts as unjudged.
    """

    run: Run
    metrics: tuple[Metric, ...]

    def __iter__(self) -> Iterator[Result]:
        asked = self.run.metrics
        for result in self.run:
            gaps = [_never_asked(result, metric, asked) for metric in self.metrics]
            scores = score_case(result.case, [m for m, gap in zip(self.metrics, gaps, strict=True) if gap is None])
            known = {score.metric: score for score in scores}
            yield result.having(
                scores=tuple(
                    known[metric.name] if gap is None else Score.undefined(metric.name, Reason.UNJUDGED, note=gap)
                    for metric, gap in zip(self.metrics, gaps, strict=True)
                )
            )

    @property
    def manifest(self) -> Manifest:
        """The run's manifest with the pins of these metrics."""
        was = self.run.manifest
        pins = pins_of(
            self.metrics,
            was.options,
            specs={part: JudgeSpec.model_validate(spec) for part, spec in was.judge.items()},
            dialects={part: found if isinstance(found, dict) else {} for part, found in was.dialect.items()},
            templates=was.templates,
        )
        return was.having(metrics=pins)

    def summary(self, *, cluster_by: str | None = None) -> Summary:
        """The rescored run in numbers; `cluster_by` as for a run."""
        return summarize(self, self.metrics, cluster_by=cluster_by, prices=self.run.manifest.prices_by_part)

    def write(self, out: Path) -> Run:
        """Write it as a run of its own into an empty folder."""
        return write_run(out, self, self.manifest)


_SIDES: tuple[tuple[Need, Side], ...] = ((Need.ANSWER_CLAIMS, ANSWER), (Need.REFERENCE_CLAIMS, REFERENCE))


def _never_asked(result: Result, metric: Metric, asked: Sequence[Metric]) -> str | None:
    """Why a row cannot be rescored in a metric: it failed, or nobody split the text whose claims are to be counted.
    Missing verdicts and ratings are left to the metric, which knows what it makes of them."""
    sample = result.case.sample
    if failed := next((fault for fault in result.faults if fault.stage == ROW), None):
        return failed.message
    needed = metric.needs_for(sample)
    known = frozenset[Need]().union(*(other.needs_for(sample) for other in asked))
    for need, side in _SIDES:
        if need in needed - known and not result.case.claims_of(side) and side not in result.case.unsplit:
            return f"this run never split the {side} into claims; judge the log with {metric.name} too"
    return None
