"""The waves: every sample goes as far as its answers reach; what all of them ask next goes out together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Sequence

from judgekit.errors import InputError, Postponed
from judgekit.judge import Judge
from judgekit.metrics import Metric
from judgekit.records import Options, Result, Sample
from judgekit.run import judge_sample, judge_samples
from judgekit.waves.office import Office


async def judge_in_waves(
    samples: Iterable[Sample],
    *,
    again: Callable[[Collection[str]], Iterator[Sample]],
    judge: Judge,
    metrics: Sequence[Metric],
    options: Options,
    office: Office,
) -> AsyncIterator[Result]:
    """Results in the order in which they become complete; `again` reads the samples of these ids once more.

    A sample that waits is not held: the next wave judges it from its beginning, over what is stored by then. Raises
    BatchUnderWay when the rest has to wait for somebody, and otherwise as `judge_samples`.
    """
    await office.courier.settle()
    waited = 0
    while True:
        waiting: set[str] = set()
        met = 0
        with office.collecting():
            for sample in samples:
                met += 1
                try:
                    yield await judge_sample(sample, judge=judge, metrics=metrics, options=options)
                except Postponed:
                    waiting.add(sample.id)
        if met < waited:
            raise InputError("rows went from the log while it was judged; the same command takes it as it is now")
        if not waiting:
            return
        samples, waited = again(waiting), len(waiting)
        if office.has_few():
            async for result in judge_the_rest(samples, judge=judge, metrics=metrics, options=options, office=office):
                yield result
            return
        office.post()
        await office.courier.settle()


async def judge_the_rest(
    samples: Iterable[Sample], *, judge: Judge, metrics: Sequence[Metric], options: Options, office: Office
) -> AsyncIterator[Result]:
    """Results as of `judge_samples`: live, but for what the batches of an earlier session brought. Raises InputError
    while one of them is under way."""
    office.courier.check_nothing_is_open()
    with office.at_once():
        async for result in judge_samples(samples, judge=judge, metrics=metrics, options=options):
            yield result
