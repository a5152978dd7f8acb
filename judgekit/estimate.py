"""What judging a log would take, before anything is sent: the run itself, with a judge that answers on paper."""

from __future__ import annotations

from judgekit.batch import Job
from judgekit.formats import native
from judgekit.judge import Judge
from judgekit.records import Record, Usage
from judgekit.run import judge_samples
from judgekit.rundir import CACHE
from judgekit.scoring.spending import Spending


class MetricEstimate(Record):
    """What a metric would take alone, and the part of it that no other metric of the run shares."""

    usage: Usage
    own: Usage


class Estimate(Record):
    """What is left to pay for a log: together, by metric and by task. `kept` calls are answered already, and free."""

    rows: int
    together: Usage
    metrics: dict[str, MetricEstimate]
    by_task: dict[str, Usage]
    kept: int


async def estimate(job: Job) -> Estimate:
    """What judging the logs would take now; nothing is sent and nothing written.

    It cannot know what the judge will write: how many claims a text holds (one for every twelve words of a sentence
    begun is assumed), how long replies are, what a model thinks first, what has to be asked twice. Raises LogError for
    a log with bad rows.
    """
    checked = native.check(job.logs, mapping=job.mapping, skip_bad=job.skip_bad_rows)
    judge, placeholders = job.judge.rehearsal(job.out / CACHE)
    spending, kept = Spending(job.metrics, _prices(judge)), 0
    samples = native.read(job.logs, mapping=job.mapping)
    async for result in judge_samples(samples, judge=judge, metrics=job.metrics, options=job.options):
        new = {call.key for call in result.calls if call.key in placeholders}
        spending.add(result, only=new)
        kept += result.usage.calls - len(new)
    return Estimate(
        rows=sum(file.rows for file in checked.files),
        together=spending.together,
        metrics={
            metric.name: MetricEstimate(usage=spending.of(metric.name), own=spending.own_of(metric.name))
            for metric in job.metrics
        },
        by_task=spending.by_task,
        kept=kept,
    )


def _prices(judge: Judge) -> dict[str, tuple[float, float]]:
    """Part of the judge -> its price, where that is known."""
    prices = {part: judge.budget.prices.get(spec.model) for part, spec in judge.specs.items()}
    return {part: (price.prompt, price.completion) for part, price in prices.items() if price is not None}
