"""The corrected score: what a metric would be, had humans labelled every check of the run.

It assumes that the reviewed checks were drawn as recorded and that the human is right; nothing about the judge. The
macro score has weights of its own (a claim of a long answer counts less), so it takes the difference estimator; the
micro score takes the stratified one, unless a check counts twice. See `judgekit.stats.corrected`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from math import fsum

from judgekit.confidence import CONFIDENCE
from judgekit.humans.checked import TOO_COARSE, Checked, Item, Share
from judgekit.humans.planning import Spread, labels_to_halve
from judgekit.records import Interval, MetricSummary, Record
from judgekit.stats import Corrected, Stratum, WeightedUnit, stratified_difference, stratified_rate, t_ppf
from judgekit.stats import Interval as Ends
from judgekit.stats.inputs import FEWEST
from judgekit.stats.intervals import wilson

#: The stratum of what no verdict moves: known, so it adds nothing to the variance.
_FIXED = "\x1ffixed"

Answer = Callable[[Checked], float | None]
Weigh = Callable[[Share, float], float]


class Estimate(Record):
    """A corrected mean in [0, 1] with its interval, beside the `raw` one that the judge alone gives.

    [low, high] is about this run: what a full review of it would have found. [wide_low, wide_high] is about more rows
    like these, as `raw_interval` is: it holds how much rows differ, and what a part of the checks leaves open.
    `lowest` and `highest` bound the value over all that the drawn checks without a label could have got; None without
    any such check. `value` is None, with a reason, when a stratum has no label at all. `more` is how many more labels
    would about halve the interval; None when it has no width, or no value.
    """

    raw: float | None
    raw_interval: Interval
    value: float | None
    low: float | None = None
    high: float | None = None
    se: float | None = None
    n_eff: float | None = None
    wide_low: float | None = None
    wide_high: float | None = None
    lowest: float | None = None
    highest: float | None = None
    more: int | None = None
    reason: str | None = None


class CorrectedScore(Record):
    """A metric's corrected score and what it rests on.

    `checks` of `rows` samples count in it, `labels` of them have a human label, `assisted` of these were given with the
    judge's verdict in view: then it is optimistic. `unanswered` counts, by reason, checks that were drawn and have no
    label for this metric. `unlabelled` names each stratum without one, with its size. `left_out` samples have a missing
    verdict and are in neither score. `complete`: humans labelled every check, so there is nothing left to estimate.
    """

    metric: str
    lower_is_better: bool
    rows: int
    checks: int
    labels: int
    assisted: int
    unanswered: dict[str, int]
    unlabelled: dict[str, int]
    left_out: int
    complete: bool
    macro: Estimate
    micro: Estimate


def corrected_score(share: Share, raw: MetricSummary, *, conf: float = CONFIDENCE) -> CorrectedScore:
    """The corrected macro and micro score of a metric. `raw` is what the run's summary says of it."""
    units = [item.unit for item in share.items]
    labelled = [unit for unit in units if share.human(unit) is not None]
    unanswered = Counter(unit.unanswered or TOO_COARSE for unit in units if unit.is_drawn and share.human(unit) is None)
    sizes = Counter(unit.stratum for unit in units)
    without = sizes.keys() - {unit.stratum for unit in labelled}
    macro = _estimate(share, _macro, (raw.macro, raw.macro_interval), unanswered=bool(unanswered), conf=conf)
    micro = _estimate(share, _micro, (raw.micro, raw.micro_interval), unanswered=bool(unanswered), conf=conf)
    return CorrectedScore(
        metric=share.metric,
        lower_is_better=share.lower_is_better,
        rows=share.rows,
        checks=len(units),
        labels=len(labelled),
        assisted=sum(unit.assisted for unit in labelled),
        unanswered=dict(sorted(unanswered.items())),
        unlabelled={stratum: sizes[stratum] for stratum in sorted(without)},
        left_out=share.left_out,
        complete=bool(units) and len(labelled) == len(units),
        macro=macro,
        micro=micro,
    )


def _macro(share: Share, whole: float) -> float:
    """What one count weighs in the mean over samples, in a sample that divides by `whole`."""
    return 1 / (share.rows * whole)


def _micro(share: Share, whole: float) -> float:
    """What one count weighs in the pooled mean."""
    del whole
    return 1 / share.whole


def _estimate(
    share: Share, weigh: Weigh, raw: tuple[float | None, Interval], *, unanswered: bool, conf: float
) -> Estimate:
    found = _total(share, weigh, share.human, conf=conf)
    ends = (0.0, 1.0) if unanswered else ()
    bounds = [_total(share, weigh, _answered(share, end), conf=conf).estimate for end in ends]
    clipped = [_clipped(bound) for bound in bounds if bound is not None]
    wide = _wide(found, raw[1], conf=conf)
    return Estimate(
        raw=raw[0],
        raw_interval=raw[1],
        value=None if found.estimate is None else _clipped(found.estimate),
        low=found.lo,
        high=found.hi,
        se=found.se_smoothed,
        n_eff=found.n_eff,
        wide_low=wide.lo if wide else None,
        wide_high=wide.hi if wide else None,
        lowest=min(clipped, default=None),
        highest=max(clipped, default=None),
        more=None if found.estimate is None else labels_to_halve(_spreads(share, weigh)),
        reason=found.reason,
    )


def _wide(found: Corrected, raw: Interval, *, conf: float) -> Ends | None:
    """The interval for more rows like these: two stages of sampling, rows and then checks, whose variances add up.

    Rows are taken to spread as the judge's verdicts do, by the effective sample size of the raw score.
    """
    if found.estimate is None or not raw.n_eff or raw.clusters < FEWEST:
        return None
    checks = 1 / found.n_eff if found.se_smoothed and found.n_eff else 0.0
    critical = t_ppf((1 + conf) / 2, df=raw.clusters - 1)
    return wilson(_clipped(found.estimate), n=1 / (1 / raw.n_eff + checks), critical=critical)


def _answered(share: Share, value: float) -> Answer:
    """The humans' answers, with `value` wherever a drawn check has none."""

    def answer(unit: Checked) -> float | None:
        found = share.human(unit)
        return value if found is None and unit.is_drawn else found

    return answer


def _total(share: Share, weigh: Weigh, answer: Answer, *, conf: float) -> Corrected:
    if weigh is _micro and all(item.times == 1 for item in share.items):
        return stratified_rate([*_strata(share, answer)], conf=conf)
    fixed = [
        WeightedUnit(one.rest * weigh(share, one.whole), one.part / one.rest, one.part / one.rest, _FIXED)
        for one in share.fixed
        if one.rest
    ]
    units = [
        WeightedUnit(
            item.times * weigh(share, item.whole), share.judge(item.unit), answer(item.unit), item.unit.stratum
        )
        for item in share.items
    ]
    return stratified_difference([*units, *fixed], conf=conf)


def _strata(share: Share, answer: Answer) -> Iterable[Stratum]:
    rest = round(fsum(one.rest for one in share.fixed))
    yield Stratum(rest, rest, fsum(one.part for one in share.fixed))
    for items in by_stratum(share.items):
        known = [value for item in items if (value := answer(item.unit)) is not None]
        yield Stratum(len(items), len(known), fsum(known))


def by_stratum(items: Iterable[Item]) -> list[list[Item]]:
    """The items of each stratum, in the order of its first."""
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(item.unit.stratum, []).append(item)
    return list(groups.values())


def _spreads(share: Share, weigh: Weigh) -> list[Spread]:
    """How far the judge's errors, as they weigh in the score, spread inside each stratum."""
    spreads = []
    for items in by_stratum(share.items):
        known = [(item, value) for item in items if (value := share.human(item.unit)) is not None]
        wrong = sum(value != share.judge(item.unit) for item, value in known)
        rate = (wrong + 0.5) / (len(known) + 1)
        square = fsum((item.times * weigh(share, item.whole)) ** 2 for item in items) / len(items)
        spreads.append(Spread(len(items), len(known), (square * rate * (1 - rate)) ** 0.5))
    return spreads


def _clipped(value: float) -> float:
    return min(1.0, max(0.0, value))
