"""How often the intervals of `judgekit spotcheck report` hold the truth, on runs whose truth is known.

    python benchmarks/corrected.py

Simulated: answers of 1 to 9 claims, a judge that finds `sens` of what is supported and `spec` of what is not, a draw as
`spotcheck draw` makes it, and people who are right. Each line is 300 runs, of the rates 100, and the intervals are
meant to hold 95 %.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from math import fsum
from typing import NamedTuple

from judgekit.humans import NOT_SUPPORTED, Checked, Pair, Share, agreement_of, corrected_score, pairs_of
from judgekit.humans.checked import Fixed, Item
from judgekit.metrics import METRICS
from judgekit.records import Interval, Label, MetricSummary
from judgekit.stats import Bootstrap, bootstrap, cluster_ratio, judge_vs_human, macro_mean, neyman_allocation

RUNS = 300
RESAMPLES = 300
SUPPORTED = frozenset({Label.SUPPORTED})
RATES = {"tpr": "recall", "tnr": "specificity"}
WORLDS = (
    # rows, claims supported, sens, spec, labels
    (80, 0.90, 0.95, 0.70, 60),
    (80, 0.95, 0.98, 0.60, 60),
    (120, 0.85, 0.90, 0.80, 100),
    (400, 0.95, 0.97, 0.60, 200),
    (120, 0.70, 0.97, 0.50, 100),
)


class Simulated(NamedTuple):
    """A judged run with its draw labelled; what the judge alone says; and what a review of everything would give."""

    share: Share
    raw: MetricSummary
    truth: dict[str, bool]
    macro: float
    micro: float


def simulated(seed: int, *, rows: int, rate: float, sens: float, spec: float, labels: int) -> Simulated:
    rng = random.Random(seed)
    sizes = [rng.randint(1, 9) for _ in range(rows)]
    facts = [[rng.random() < rate + 0.03 * (5 - size) for _ in range(size)] for size in sizes]
    said = [[rng.random() < sens if fact else rng.random() >= spec for fact in row] for row in facts]
    names = {(row, at): f"u{row}.{at}" for row, size in enumerate(sizes) for at in range(size)}
    strata = {verdict: [one for one in names if said[one[0]][one[1]] is verdict] for verdict in (True, False)}
    drawn: set[tuple[int, int]] = set()
    allocation = neyman_allocation(
        budget=labels, sizes=[len(strata[True]), len(strata[False])], sd_guess=[0.218, 0.458]
    )
    for verdict, n in zip((True, False), allocation, strict=True):
        drawn.update(rng.sample(strata[verdict], n))
    items = tuple(
        Item(_checked(names[one], facts[one[0]][one[1]], said[one[0]][one[1]], one in drawn), 1, sizes[one[0]])
        for one in names
    )
    share = Share(
        metric="faithfulness",
        worth=METRICS["faithfulness"].worth,
        lower_is_better=False,
        items=items,
        fixed=tuple(Fixed(0.0, 0.0, size) for size in sizes),
        rows=rows,
        whole=float(sum(sizes)),
        left_out=0,
        outside=0,
    )
    return Simulated(
        share=share,
        raw=_raw(said),
        truth={names[row, at]: fact for row, at in names for fact in [facts[row][at]]},
        macro=fsum(sum(row) / len(row) for row in facts) / rows,
        micro=sum(map(sum, facts)) / sum(sizes),
    )


def _checked(name: str, fact: bool, said: bool, is_drawn: bool) -> Checked:
    return Checked(
        unit_id=name,
        sample_id=name,
        stratum="supported" if said else "unsupported",
        judge=Label.SUPPORTED if said else Label.UNSUPPORTED,
        human=(SUPPORTED if fact else NOT_SUPPORTED) if is_drawn else None,
    )


def _raw(said: list[list[bool]]) -> MetricSummary:
    macro = macro_mean([sum(row) / len(row) for row in said])
    micro = cluster_ratio(y=[sum(row) for row in said], m=[len(row) for row in said])
    ends = [Interval(low=m.lo, high=m.hi, clusters=m.clusters, confidence=0.95, small=False) for m in (macro, micro)]
    return MetricSummary(
        metric="faithfulness",
        macro=macro.estimate,
        micro=micro.estimate,
        scored=len(said),
        undefined={},
        macro_interval=ends[0],
        micro_interval=ends[1],
    )


def scores() -> Iterator[str]:
    """Coverage of the corrected mean and pooled score, beside that of the judge's own interval."""
    yield "rows  true  sens  spec  labels   mean  pooled   raw mean  raw pooled"
    for world in WORLDS:
        rows, rate, sens, spec, labels = world
        held: Counter[str] = Counter()
        for seed in range(RUNS):
            run = simulated(seed, rows=rows, rate=rate, sens=sens, spec=spec, labels=labels)
            found = corrected_score(run.share, run.raw)
            for name, mean, true in (("mean", found.macro, run.macro), ("pooled", found.micro, run.micro)):
                held[name] += mean.low <= true <= mean.high
                held[f"raw {name}"] += mean.raw_interval.low <= true <= mean.raw_interval.high
        shown = [held[name] / RUNS for name in ("mean", "pooled", "raw mean", "raw pooled")]
        yield _line(world, "{:.2f}    {:.2f}       {:.2f}        {:.2f}".format(*shown))


def rates() -> Iterator[str]:
    """Coverage of TPR and TNR, as reported from plausible totals, and from a stratified bootstrap."""
    yield "rows  true  sens  spec  labels    TPR   TNR   bootstrap TPR   TNR"
    for world in WORLDS:
        rows, rate, sens, spec, labels = world
        held: Counter[str] = Counter()
        defined = 0
        for seed in range(RUNS // 3):
            run = simulated(seed, rows=rows, rate=rate, sens=sens, spec=spec, labels=labels)
            pairs = pairs_of((item.unit for item in run.share.items), run.share)
            defects = [not run.truth[item.unit.unit_id] for item in run.share.items]
            true = judge_vs_human(human=defects, judge=[pair.judge for pair in pairs], positive=True)
            found = agreement_of(pairs, seed=seed)
            if found is None or found.measures["tpr"].low is None:
                continue
            defined += 1
            for name, of in RATES.items():
                value, told = getattr(true, of), found.measures[name]
                held[name] += told.low <= value <= told.high
                again = _bootstrapped(pairs, of, seed=seed)
                held[f"bootstrap {name}"] += again.lo is not None and again.lo <= value <= again.hi
        shown = [held[name] / defined for name in ("tpr", "tnr", "bootstrap tpr", "bootstrap tnr")]
        yield _line(world, "{:.2f}  {:.2f}            {:.2f}  {:.2f}".format(*shown))


def _bootstrapped(pairs: list[Pair], of: str, *, seed: int) -> Bootstrap:
    labelled = [pair for pair in pairs if pair.human is not None]
    every, known = (Counter(pair.stratum for pair in some) for some in (pairs, labelled))

    def rate(drawn: Sequence[Pair]) -> float | None:
        table = judge_vs_human(
            human=[pair.human for pair in drawn],
            judge=[pair.judge for pair in drawn],
            sample_weight=[every[pair.stratum] / known[pair.stratum] for pair in drawn],
            positive=True,
        )
        value: float | None = getattr(table, of)
        return value

    return bootstrap(labelled, rate, seed=seed, replicates=RESAMPLES, strata=[pair.stratum for pair in labelled])


def _line(world: tuple[int, float, float, float, int], shown: str) -> str:
    rows, rate, sens, spec, labels = world
    return f"{rows:4}  {rate:.2f}  {sens:.2f}  {spec:.2f}  {labels:6}   {shown}"


if __name__ == "__main__":
    for line in (*scores(), "", *rates()):
        print(line)
