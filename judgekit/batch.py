"""Judging a log into a run's folder, row by row, so that it can be stopped and taken up again at any time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from judgekit.errors import NotARun
from judgekit.formats import native
from judgekit.judge import Judge
from judgekit.metrics import Metric
from judgekit.pins import pins_of, templates_of
from judgekit.records import Label, Manifest, MetricPin, Options, Result, Sample, Session, Summary
from judgekit.run import judge_samples
from judgekit.rundir import CACHE, Results, Run, has_run, write_manifest, write_run
from judgekit.scoring import score_case, summarize
from judgekit.wire import JudgeSpec

_LIBRARIES = ("openai", "httpx2", "tenacity", "pydantic", "diskcache", "jinja2", "sentencex")


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a run has come: rows done of all, and how many of these an earlier session had finished."""

    done: int
    total: int
    kept: int


@dataclass(frozen=True, kw_only=True)
class Job:
    """What is to be judged, how, and where it goes."""

    logs: Sequence[Path]
    out: Path
    judge: Judge
    metrics: Sequence[Metric]
    options: Options = field(default_factory=Options)
    mapping: Mapping[str, str] | None = None
    skip_bad_rows: bool = False


async def judge_log(job: Job, on_progress: Callable[[Progress], None] = lambda _: None) -> Run:
    """Judge every row of the logs into the run's folder; rows that an earlier session finished are kept.

    Raises LogError for a log with bad rows before anything is asked, NotARun when the folder belongs to another
    judge, and JudgeStop when the judge cannot go on; finished rows and paid replies are then on disk.
    """
    checked = native.check(job.logs, mapping=job.mapping, skip_bad=job.skip_bad_rows)
    earlier = Run(job.out).manifest if has_run(job.out) else None
    _take_up(job, earlier)
    session = Session(started=_now())

    def note(stopped_by: str | None, ended: str | None = None) -> None:
        now = _paid(session, job.judge).having(ended=ended, stopped_by=stopped_by)
        write_manifest(job.out, _manifest(job, checked, earlier, now))

    total = sum(file.rows for file in checked.files)
    stopped_by: str | None = "killed"
    note(stopped_by)
    results = Results(job.out)
    try:
        await _judge_rows(job, results, earlier, total=total, note=lambda: note(stopped_by), on_progress=on_progress)
        stopped_by = None
    except BaseException as stop:
        stopped_by = type(stop).__name__
        raise
    finally:
        results.close()
        note(stopped_by, ended=_now())
    return Run(job.out)


async def _judge_rows(
    job: Job,
    results: Results,
    earlier: Manifest | None,
    *,
    total: int,
    note: Callable[[], None],
    on_progress: Callable[[Progress], None],
) -> None:
    """Judge the rows that are not finished yet, append each as it is done, and put all in the log's order."""
    same = earlier is not None and earlier.options == job.options and earlier.metrics == _pins(job)
    ids: list[str] = []
    kept = judged = 0

    def unfinished() -> Iterator[Sample]:
        nonlocal kept
        for sample in native.read(job.logs, mapping=job.mapping):
            ids.append(sample.id)
            old = results.get(sample.id) if same else None
            if old is not None and old.case.sample == sample and is_finished(old):
                kept += 1
            else:
                yield sample

    async for result in judge_samples(unfinished(), judge=job.judge, metrics=job.metrics, options=job.options):
        results.append(result)
        judged += 1
        if judged == 1:
            note()  # by now it is known who answers
        on_progress(Progress(done=kept + judged, total=total, kept=kept))
    results.settle(ids)
    on_progress(Progress(done=kept + judged, total=total, kept=kept))


def is_finished(result: Result) -> bool:
    """False when something about a row failed, so that asking again may mend it."""
    case = result.case
    unjudged = any(verdict.label is Label.UNJUDGED for verdict in case.verdicts)
    return not (result.faults or case.unsplit or unjudged or any(rating.label is None for rating in case.ratings))


def _take_up(job: Job, earlier: Manifest | None) -> None:
    """Make the folder ready, and let the judge answer only as the one that this run began with."""
    if earlier is not None:
        begun = {part: JudgeSpec.model_validate(spec) for part, spec in earlier.judge.items()}
        asked = {part: spec.model_copy(update={"resolved": None}) for part, spec in job.judge.specs.items()}
        if {part: spec.model_copy(update={"resolved": None}) for part, spec in begun.items()} != asked:
            was = ", ".join(f"{spec.model} at {spec.base_url}" for spec in begun.values())
            raise NotARun(
                f"{job.out}: this run was begun with another judge ({was}, with its own parameters); go on "
                "with that one, or give another folder"
            )
    job.out.mkdir(parents=True, exist_ok=True)
    job.judge.use_store(job.out / CACHE)
    if earlier is not None:
        job.judge.pin(begun)


def _manifest(job: Job, checked: native.Checked, earlier: Manifest | None, session: Session) -> Manifest:
    return Manifest(
        judgekit=version("judgekit"),
        logs=checked.files,
        judge={part: spec.model_dump(mode="json") for part, spec in job.judge.specs.items()},
        dialect=dict(job.judge.dialects),
        fingerprints=_fingerprints(job.judge, earlier),
        templates=templates_of(job.judge.prompts),
        metrics=_pins(job),
        options=job.options,
        skipped_rows=checked.skipped,
        libraries={name: version(name) for name in _LIBRARIES},
        sessions=(*(earlier.sessions if earlier else ()), session),
    )


def _pins(job: Job) -> dict[str, MetricPin]:
    return pins_of(
        job.metrics,
        job.options,
        specs=job.judge.specs,
        dialects=job.judge.dialects,
        templates=templates_of(job.judge.prompts),
    )


def _fingerprints(judge: Judge, earlier: Manifest | None) -> tuple[str, ...]:
    seen = {found for meter in judge.meters.values() for found in meter.fingerprints}
    return tuple(sorted(seen.union(earlier.fingerprints if earlier else ())))


def _paid(session: Session, judge: Judge) -> Session:
    meters = judge.meters.values()
    return session.having(
        sent=sum(meter.sent for meter in meters),
        reused=sum(meter.reused for meter in meters),
        prompt_tokens=sum(meter.prompt_tokens for meter in meters),
        completion_tokens=sum(meter.completion_tokens for meter in meters),
    )


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
        for result in self.run:
            yield result.having(scores=score_case(result.case, self.metrics))

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

    def summary(self) -> Summary:
        """The rescored run in numbers."""
        return summarize(self, self.metrics)

    def write(self, out: Path) -> Run:
        """Write it as a run of its own into an empty folder."""
        return write_run(out, self, self.manifest)
