"""Judged populations for tests: rows of claims with a known truth, a judge that errs at known rates, and humans who
label what the real draw chooses."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence

from judgekit.humans import NOT_SUPPORTED, Checked
from judgekit.metrics import Metric
from judgekit.records import ANSWER, Case, Check, Claim, Context, Label, Result, Sample, Verdict
from judgekit.scoring import score_case

SUPPORTED = frozenset({Label.SUPPORTED})
SAYS = {True: SUPPORTED, False: NOT_SUPPORTED}


def a_row(name: str, judged: Sequence[Label], metrics: Iterable[Metric] = (), **verdict: object) -> Result:
    """A row with one answer claim a label, each held against the row's only context."""
    made = tuple(
        Claim(id=f"c{at}", side=ANSWER, text=f"{name} claims {at}.", segment_ids=("s1",), start=0, end=1)
        for at in range(len(judged))
    )
    verdicts = tuple(
        Verdict(check=Check.of(claim, ("d1",)), label=label, **verdict)
        for claim, label in zip(made, judged, strict=True)
    )
    sample = Sample(
        id=name, question=f"What of {name}?", answer="An answer.", contexts=(Context(id="d1", text=f"Text of {name}."),)
    )
    case = Case(sample=sample, claims=made, verdicts=verdicts)
    return Result(case=case, scores=score_case(case, metrics))


def truths(rng: random.Random, *, rows: int, rate: float) -> list[list[bool]]:
    """What is true of the claims of so many answers of 1 to 9; long answers are less often right than short ones."""
    sizes = [1 + int(rng.random() * 9) for _ in range(rows)]
    return [[rng.random() < rate + 0.03 * (5 - size) for _ in range(size)] for size in sizes]


def judged_with_errors(rng: random.Random, truth: bool, *, sens: float, spec: float) -> Label:
    """What a judge says that is right about a share `sens` of what is supported and `spec` of what is not."""
    supported = (rng.random() < sens) if truth else (rng.random() >= spec)
    return Label.SUPPORTED if supported else Label.UNSUPPORTED


def checked(
    result: Result,
    stratum: Callable[[Verdict], str],
    human: Callable[[Verdict], frozenset[Label] | None] = lambda _: None,
) -> list[Checked]:
    """The checks of a row, with a stratum and a human's label for each."""
    return [
        Checked(
            unit_id=f"u-{result.id}-{verdict.check.claim_id}",
            sample_id=result.id,
            stratum=stratum(verdict),
            judge=verdict.label,
            human=human(verdict),
            support=(verdict.probabilities or {}).get(Label.SUPPORTED),
        )
        for verdict in result.verdicts
    ]


def by_name(rows: Iterable[Result], units: Iterable[Checked]) -> dict[tuple[str, str, tuple[str, ...]], Checked]:
    """The units as `shares_of` wants them."""
    named = [(row.id, v.check.claim_id, v.check.sources) for row in rows for v in row.verdicts]
    return dict(zip(named, units, strict=True))
