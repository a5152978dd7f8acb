"""Which verdicts, or which whole answers, people look at: a seeded draw that the order of the results cannot move.

A draw is stratified: units that are alike in what they are used for, what the judge said and how sure it was form a
stratum, and each stratum is sampled at random. So the chance of every unit is known exactly, none has no chance, and a
score can be corrected by what the reviewers say. Sources: Cochran 1977, chapter 5; Neyman 1934.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from math import ceil
from typing import Literal, NamedTuple

from judgekit.errors import InputError
from judgekit.metrics import Metric
from judgekit.records import ANSWER, Check, Label, Need, Result, Verdict
from judgekit.stats import hash_rank, neyman_allocation

Bin = Literal["clear", "uncertain"]

#: A verdict whose first and second label are closer than this is uncertain.
CLEAR_MARGIN = 0.5
#: The probability that a judge gives its own side, supported or not, is never lower.
LEAST_CONFIDENCE = 0.5
#: Each stratum gives at least this many units, or all it has.
LEAST_PER_STRATUM = 5
#: A second reviewer gets at least this many units, or all there are.
LEAST_OVERLAP = 20
OVERLAP = 0.2

# The spread that a stratum is guessed to have: the judge errs in 5 % of the clear `supported`, in 30 % of the other
# clear verdicts, and an uncertain one may be anything.
_CLEAR_SUPPORTED, _CLEAR_OTHER, _UNCERTAIN = 0.218, 0.458, 0.5
_ID_DIGITS = 12
_ANSWERS = "answers"
_DOUBLED = "overlap"


class Unit(NamedTuple):
    """What a human labels: one claim held against one set of sources, or one whole answer (then `claim_id` is None).

    `unit_id` is a letter and 12 hexadecimal digits of a hash over the rest: the same in every session of a run, silent
    about sample and sources, and led by a letter, so that no spreadsheet takes it for a number (`12e345678901`).
    """

    unit_id: str
    sample_id: str
    claim_id: str | None = None
    sources: tuple[str, ...] = ()

    @classmethod
    def of(cls, sample_id: str, check: Check) -> Unit:
        unit_id = _unit_id("u", [sample_id, check.claim_id, check.sources])
        return cls(unit_id, sample_id, check.claim_id, check.sources)

    @classmethod
    def whole(cls, sample_id: str) -> Unit:
        return cls(_unit_id("s", [sample_id]), sample_id)

    @property
    def check(self) -> Check:
        if self.claim_id is None:
            raise ValueError(f"{self.unit_id} is a whole answer, not a check")
        return Check(claim_id=self.claim_id, sources=self.sources)


def _unit_id(letter: str, named: object) -> str:
    return f"{letter}{sha256(json.dumps(named).encode()).hexdigest()[:_ID_DIGITS]}"


class Candidate(NamedTuple):
    """A unit that may be drawn, and the stratum it belongs to. A whole answer has neither metrics, label nor bin."""

    unit: Unit
    stratum: str
    metrics: tuple[str, ...] = ()
    label: Label | None = None
    bin: Bin | None = None
    probabilities: dict[str, float] | None = None


class Population(NamedTuple):
    """All units that can be drawn, and how many cannot, by why."""

    candidates: list[Candidate]
    apart: dict[str, int]


def bin_of(verdict: Verdict, *, below: float | None = None) -> Bin:
    """`uncertain` when anything the judge left says so, else `clear`.

    That is: its two likeliest labels are less than 0.5 apart (repeated votes count as probabilities), or, with `below`,
    the judge gave its side, supported or not, a lower probability than that; the sources were
    asked in parts; a quote it gave does not stand in the sources, or it gave none for a label that needs one; or its
    label was turned down for lack of a quote.
    """
    if verdict.evidence:
        unproven = any(not evidence.verified for evidence in verdict.evidence)
    else:
        unproven = verdict.label is not Label.UNSUPPORTED
    is_close = _is_close(verdict.probabilities, below)
    return "uncertain" if is_close or verdict.in_parts or unproven or verdict.reason else "clear"


def _is_close(probabilities: Mapping[str, float] | None, below: float | None) -> bool:
    if not probabilities:
        return False
    if below is not None:
        support = probabilities.get(Label.SUPPORTED, 0.0)
        return max(support, 1 - support) < below
    likeliest = sorted(probabilities.values(), reverse=True)[:2]
    return len(likeliest) > 1 and likeliest[0] - likeliest[1] < CLEAR_MARGIN


def checks_of(
    results: Iterable[Result], metrics: Iterable[Metric], *, uncertain_below: float | None = None
) -> Population:
    """Every check that these metrics count and the judge gave a label to. Apart: `unjudged` checks.

    A check may serve several metrics. It is one unit, in the stratum of all of them together: strata are a partition by
    (the metrics of the check, the label, the bin), so they are exact for each metric alone. A label that needed no
    judge is no unit. `uncertain_below`: see `bin_of`.
    """
    chosen = sorted(metrics, key=lambda metric: metric.name)
    candidates: list[Candidate] = []
    unjudged = 0
    for result in results:
        claims = {claim.id for claim in result.claims}
        users: dict[Check, list[str]] = {}
        for metric in chosen:
            for check in dict.fromkeys(metric.checks(result.case)):
                users.setdefault(check, []).append(metric.name)
        for check, names in users.items():
            verdict = result.case.verdict(check)
            if verdict is None or verdict.label is Label.UNJUDGED or check.claim_id not in claims:
                unjudged += 1
            elif verdict.reason is None or verdict.calls:
                sure = bin_of(verdict, below=uncertain_below)
                candidates.append(_candidate(Unit.of(result.id, check), tuple(names), verdict, sure))
    return Population(candidates, {"unjudged": unjudged})


def _candidate(unit: Unit, metrics: tuple[str, ...], verdict: Verdict, sure: Bin) -> Candidate:
    stratum = f"{'+'.join(metrics)} | {verdict.label} | {sure}"
    return Candidate(unit, stratum, metrics, verdict.label, sure, verdict.probabilities)


def answers_of(results: Iterable[Result], metrics: Iterable[Metric]) -> Population:
    """Every answer whose claims are known, whole. Apart: `unsplit` answers; one without text is not counted at all.

    `metrics` are those of the run. InputError: none of them split answers into claims.
    """
    if not any(Need.ANSWER_CLAIMS in metric.needs for metric in metrics):
        raise InputError("this run split no answer into claims, so none can be missing; judge it with faithfulness too")
    candidates: list[Candidate] = []
    unsplit = 0
    for result in results:
        if not result.case.sample.answer.strip():
            continue
        if ANSWER in result.case.unsplit or not result.case.segments:
            unsplit += 1
        else:
            candidates.append(Candidate(Unit.whole(result.id), _ANSWERS))
    return Population(candidates, {"unsplit": unsplit})


class Drawn(NamedTuple):
    """A unit that was drawn: `stratum_drawn` of `stratum_size` were, each with the same chance."""

    candidate: Candidate
    stratum_size: int
    stratum_drawn: int
    is_overlap: bool

    @property
    def inclusion(self) -> float:
        return self.stratum_drawn / self.stratum_size


def draw(candidates: Iterable[Candidate], n: int, *, seed: int, overlap: float | None = None) -> list[Drawn]:
    """About n units, drawn from all strata; in an order that tells nothing of strata.

    How many of each stratum: Neyman's allocation, but at least 5 (all of a smaller one), so it may be more than n.
    Which ones: those of lowest hash rank. The order of the candidates does not matter, and a larger n keeps all that a
    smaller one drew. `overlap` is the share that a second reviewer gets, chosen by the same hash; at least 20 units.
    InputError: n below 1, an overlap outside [0, 1].
    """
    if n < 1:
        raise InputError(f"a draw of {n} units shows nothing; give 1 or more")
    if overlap is not None and not 0 <= overlap <= 1:
        raise InputError(f"an overlap of {overlap} is not a share; give a number from 0 to 1")
    strata: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        strata.setdefault(candidate.stratum, []).append(candidate)
    members = [strata[key] for key in sorted(strata)]
    allocation = neyman_allocation(
        budget=n,
        sizes=[len(units) for units in members],
        sd_guess=[_spread(units[0]) for units in members],
        min_per_stratum=LEAST_PER_STRATUM,
    )
    drawn = [
        Drawn(candidate, len(units), count, is_overlap=False)
        for units, count in zip(members, allocation, strict=True)
        for candidate in sorted(units, key=lambda one: _rank(one.unit, seed, one.stratum))[:count]
    ]
    doubled = _doubled(drawn, overlap, seed=seed)
    in_order = sorted(drawn, key=lambda one: _rank(one.candidate.unit, seed))
    return [one._replace(is_overlap=one.candidate.unit.unit_id in doubled) for one in in_order]


def row_order(units: Sequence[Unit], *, seed: int) -> list[Unit]:
    """Units in the order of their rows: by hash, so that it tells nothing of them."""
    return sorted(units, key=lambda unit: _rank(unit, seed))


def _doubled(drawn: Sequence[Drawn], overlap: float | None, *, seed: int) -> set[str]:
    if not overlap:
        return set()
    count = max(LEAST_OVERLAP, ceil(overlap * len(drawn)))
    ranked = sorted((one.candidate.unit for one in drawn), key=lambda unit: _rank(unit, seed, _DOUBLED))
    return {unit.unit_id for unit in ranked[:count]}


def _rank(unit: Unit, seed: int, stratum: str = "") -> str:
    return hash_rank(unit.unit_id, seed=str(seed), stratum=stratum)


def _spread(one: Candidate) -> float:
    if one.bin == "uncertain" or one.label is None:
        return _UNCERTAIN
    return _CLEAR_SUPPORTED if one.label is Label.SUPPORTED else _CLEAR_OTHER
