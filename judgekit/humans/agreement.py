"""Where judge and humans agree: seen from the defect, weighted by the design, with the humans' own ceiling beside it.

The class of interest is the defect: a verdict worth less than all (where lower is better: more than nothing). A draw
takes more of the rare verdicts than there are, so every number is that of the whole run, not of the sheet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from types import MappingProxyType
from typing import NamedTuple

from judgekit.confidence import CONFIDENCE
from judgekit.humans.checked import NOT_SUPPORTED, Checked, Share
from judgekit.records import Label, Record
from judgekit.stats import (
    Confusion,
    Stratum,
    cohen_kappa,
    cross_table,
    gwet_ac1,
    interval_of_draws,
    krippendorff_alpha,
    plausible_totals,
    wilson_interval,
)

#: Name -> what it is called on the confusion table. Rates of the defect come first.
MEASURES: Mapping[str, str] = MappingProxyType(
    {
        "tpr": "recall",
        "tnr": "specificity",
        "precision": "precision",
        "f1": "f1",
        "balanced_accuracy": "balanced_accuracy",
        "mcc": "mcc",
        "accuracy": "accuracy",
        "kappa": "kappa",
        "ac1": "ac1",
    }
)


class Measure(Record):
    """A number with its interval; None where it is undefined, or no interval can be had."""

    value: float | None
    low: float | None = None
    high: float | None = None


class Agreement(Record):
    """The judge against humans. `tp` to `tn` are counts of labelled checks, `shares` the same four over the run.

    "Positive" is the defect: tpr is the share of true defects that the judge flagged. `judge_share` and `human_share`
    are the margins, how much of the run each of them flags. `measures` have the names of `MEASURES`; undefined is None.
    `checks` of the run are covered: those of strata without any label are not.
    """

    labels: int
    checks: int
    tp: int
    fp: int
    fn: int
    tn: int
    shares: dict[str, float]
    judge_share: float | None
    human_share: float | None
    measures: dict[str, Measure]


class Pair(NamedTuple):
    """One judged unit: whether the judge flags it, and whether the human does (None: no label)."""

    stratum: str
    judge: bool
    human: bool | None


def pairs_of(units: Iterable[Checked], share: Share | None = None) -> list[Pair]:
    """The pairs of a metric's checks, or of any checks: then a defect is what is not `supported`."""
    if share is None:
        return [Pair(unit.stratum, unit.judge in NOT_SUPPORTED, _is_defect(unit.human)) for unit in units]

    def flagged(worth: float | None) -> bool | None:
        return None if worth is None else worth > 0 if share.lower_is_better else worth < 1

    return [Pair(unit.stratum, bool(flagged(share.judge(unit))), flagged(share.human(unit))) for unit in units]


def _is_defect(human: frozenset[Label] | None) -> bool | None:
    if not human:
        return None
    return None if Label.SUPPORTED in human and len(human) > 1 else Label.SUPPORTED not in human


def agreement_of(pairs: Iterable[Pair], *, seed: int, conf: float = CONFIDENCE) -> Agreement | None:
    """Judge against humans over strata that are simple random samples; None without any label.

    Intervals of units that all weigh the same: Wilson for TPR and TNR. All others are those of `plausible_totals`:
    a stratified bootstrap takes a defect that no reviewed unit showed for impossible, and misses a TPR of .6 or .7
    more often than not when few units are labelled.
    """
    cells: dict[tuple[str, bool], list[bool | None]] = {}
    for pair in pairs:
        cells.setdefault((pair.stratum, pair.judge), []).append(pair.human)
    known = {key: humans for key, humans in sorted(cells.items()) if any(human is not None for human in humans)}
    if not known:
        return None
    flags = [flagged for _, flagged in known]
    strata = [_stratum(humans) for humans in known.values()]
    totals = _confusion(flags, strata, [size * x / n for size, n, x in strata])
    draws = [_confusion(flags, strata, drawn) for drawn in plausible_totals(strata, seed=seed)]
    counts = _confusion(flags, [Stratum(n, n, x) for _, n, x in strata], [x for _, _, x in strata])
    measures = {
        name: _measure(getattr(totals, of), (getattr(d, of) for d in draws), conf) for name, of in MEASURES.items()
    }
    if len({size / n for size, n, _ in strata}) == 1:
        measures["tpr"] = _rate(counts.tp, counts.tp + counts.fn, conf)
        measures["tnr"] = _rate(counts.tn, counts.tn + counts.fp, conf)
    whole = fsum(size for size, _, _ in strata)
    return Agreement(
        labels=sum(n for _, n, _ in strata),
        checks=round(whole),
        tp=round(counts.tp),
        fp=round(counts.fp),
        fn=round(counts.fn),
        tn=round(counts.tn),
        shares={name: getattr(totals, name) / whole for name in ("tp", "fp", "fn", "tn")},
        judge_share=(totals.tp + totals.fp) / whole,
        human_share=(totals.tp + totals.fn) / whole,
        measures=measures,
    )


def _stratum(humans: Sequence[bool | None]) -> Stratum:
    labelled = [human for human in humans if human is not None]
    return Stratum(len(humans), len(labelled), sum(labelled))


def _confusion(flags: Sequence[bool], strata: Sequence[Stratum], defects: Sequence[float]) -> Confusion:
    """The table of all units, when so many of each stratum are defects; a stratum holds one verdict of the judge."""
    rows = list(zip(flags, strata, defects, strict=True))
    return Confusion(
        tp=fsum(x for flagged, _, x in rows if flagged),
        fp=fsum(stratum.N - x for flagged, stratum, x in rows if flagged),
        fn=fsum(x for flagged, _, x in rows if not flagged),
        tn=fsum(stratum.N - x for flagged, stratum, x in rows if not flagged),
    )


def _measure(value: float | None, draws: Iterable[float | None], conf: float) -> Measure:
    ends = None if value is None else interval_of_draws(list(draws), estimate=value, conf=conf)
    return Measure(value=value, low=ends.lo if ends else None, high=ends.hi if ends else None)


def _rate(part: float, whole: float, conf: float) -> Measure:
    ends = wilson_interval(x=part, n=whole, conf=conf)
    return Measure(value=None) if ends is None else Measure(value=part / whole, low=ends.lo, high=ends.hi)


# --- humans against humans -----------------------------------------------------------------------


class Ceiling(Record):
    """Humans against humans, on the checks that more than one of them labelled: the judge can hardly agree better.

    `agreement` is the share of pairs of labels that agree, kappa and AC1 are over these pairs, weighted by the design;
    `alpha` is Krippendorff's, over all labels alike. None where undefined: with one label in use kappa and alpha are.
    `settled` checks were adjudicated, `disputed` ones have no outcome.
    """

    checks: int
    reviewers: tuple[str, ...]
    agreement: float | None
    kappa: float | None
    ac1: float | None
    alpha: float | None
    disputed: int = 0
    settled: int = 0


class Rated(NamedTuple):
    """A check that several humans labelled: reviewer -> whether it is supported; `weight` is 1 / its chance."""

    weight: float
    labels: Mapping[str, bool]


def ceiling_of(rated: Sequence[Rated], *, disputed: int = 0, settled: int = 0) -> Ceiling | None:
    """Humans against humans; None when no check has two labels."""
    shared = [one for one in rated if len(one.labels) > 1]
    if not shared:
        return None
    pairs = [pair for one in shared for pair in _couples(one)]
    first, second, weights = ([pair[at] for pair in pairs] for at in range(3))
    table = cross_table(a=first, b=second, sample_weight=weights, categories=(False, True))
    names = sorted({name for one in shared for name in one.labels})
    ratings = [[None if (label := one.labels.get(name)) is None else float(label) for name in names] for one in shared]
    ac1 = gwet_ac1(table)
    return Ceiling(
        checks=len(shared),
        reviewers=tuple(names),
        agreement=ac1.pa,
        kappa=cohen_kappa(table).kappa,
        ac1=ac1.ac1,
        alpha=krippendorff_alpha(ratings, level="nominal").alpha,
        disputed=disputed,
        settled=settled,
    )


def _couples(one: Rated) -> list[tuple[bool, bool, float]]:
    """Every two labels of a check, in the order of their reviewers' names; together they weigh what the check does."""
    labels = [one.labels[name] for name in sorted(one.labels)]
    couples = [(labels[i], labels[j]) for i in range(len(labels)) for j in range(i + 1, len(labels))]
    return [(first, second, one.weight / len(couples)) for first, second in couples]
