"""Rows that another run judged already, found again whole, where runs share a cache.

Every call of such a row is kept, so that nothing would be sent for it; but to find the calls each prompt has to be laid
out and hashed. A kept row is its case and the calls behind it, under all that they came from: the sample as it is
logged, who answers, and the pins of the metrics that were asked for. Scores are computed anew.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import ValidationError

from judgekit.judge import Judge
from judgekit.metrics import Metric
from judgekit.pins import pins_of, templates_of
from judgekit.records import Options, Result, Sample
from judgekit.run import judge_sample, scored
from judgekit.wire import digest


class Recall:
    """Judges samples as `judge_sample` does, and keeps and finds whole rows where the judge has a cache of its own."""

    def __init__(self, judge: Judge, metrics: Sequence[Metric], options: Options) -> None:
        self._judge = judge
        self._metrics = metrics
        self._options = options
        self._base: str | None = None

    async def judge(self, sample: Sample) -> Result:
        """The result of a sample. A row in which anything failed is not kept, so that it is asked for again."""
        key = self._key(sample)
        if key is not None and (found := self._found(key, sample)) is not None:
            return found
        result = await judge_sample(sample, judge=self._judge, metrics=self._metrics, options=self._options)
        key = self._key(sample)  # who answers may be known only now
        if key is not None and result.is_finished:
            self._judge.remember(key, result.having(scores=()).model_dump_json(exclude_defaults=True))
        return result

    def _key(self, sample: Sample) -> str | None:
        """Where the row of a sample is kept; None where rows are not kept, or it is not known yet who answers."""
        if not self._judge.is_settled:
            return None
        if self._base is None:
            pins = pins_of(
                self._metrics,
                self._options,
                specs=self._judge.specs,
                dialects=self._judge.dialects,
                templates=templates_of(self._judge.prompts),
            )
            told = {name: pin.model_dump(mode="json") for name, pin in pins.items()}
            self._base = digest([told, self._options.model_dump(mode="json")])
        return "row:" + digest([self._base, sample.model_dump_json()])

    def _found(self, key: str, sample: Sample) -> Result | None:
        """The row that is kept, scored by the metrics as they are; None where it does not hold all that they want."""
        text = self._judge.recall(key)
        if text is None:
            return None
        try:
            kept = Result.model_validate_json(text)
        except ValidationError:
            return None  # a row that cannot be read is a miss
        case = kept.case
        known = {verdict.check for verdict in case.verdicts}
        if case.sample != sample or not all(known.issuperset(metric.checks(case)) for metric in self._metrics):
            return None
        scores, faults = scored(case, self._metrics)
        self._judge.reuse(call.part for call in kept.calls)
        return kept.having(scores=scores, faults=faults)
