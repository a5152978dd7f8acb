"""Cases for the tests of metrics: built by hand, and judged by a plain function instead of a model."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from judgekit.metrics import Metric
from judgekit.records import (
    ANSWER,
    REFERENCE,
    Case,
    Check,
    Claim,
    Context,
    Label,
    Rating,
    RatingKind,
    Sample,
    Segment,
    SegmentKind,
    Side,
    Verdict,
)

S, P, U, C = Label.SUPPORTED, Label.PARTIALLY_SUPPORTED, Label.UNSUPPORTED, Label.CONTRADICTED
MISSING = None
Truth = Callable[[Check], Label | None]

VECTORS = Path(__file__).parent / "vectors"


def vectors(name: str, *kinds: str) -> list[dict]:
    rows = [json.loads(line) for line in (VECTORS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["kind"] in kinds]


def a_claim(claim_id: str, cites: Iterable[str] = (), dangling: Iterable[str] = (), *, side: Side = ANSWER) -> Claim:
    return Claim(
        id=claim_id,
        side=side,
        text=f"claim {claim_id}",
        segment_ids=("s1",),
        start=0,
        end=1,
        citations=tuple(cites),
        dangling=tuple(dangling),
    )


def claims(count: int, *, side: Side = ANSWER) -> list[Claim]:
    return [a_claim(f"{side[0]}{number}", side=side) for number in range(1, count + 1)]


def a_sample(
    texts: Sequence[str] = ("one", "two", "three"),
    *,
    question: str = "What?",
    answer: str = "An answer.",
    reference: str | None = None,
) -> Sample:
    """Contexts are named "1", "2", ... in rank order."""
    contexts = tuple(Context(id=str(rank), text=text) for rank, text in enumerate(texts, start=1))
    return Sample(id="q", question=question, answer=answer, contexts=contexts, reference=reference)


def a_segment(kind: SegmentKind) -> Segment:
    return Segment(id="s", start=0, end=1, text="x", bare="x", kind=kind)


def ratings(kind: RatingKind, labels: Mapping[str, str | None]) -> list[Rating]:
    return [Rating(kind=kind, subject=subject, label=label) for subject, label in labels.items()]


def a_case(
    sample: Sample | None = None, *, made: Iterable[Claim] = (), rated: Iterable[Rating] = (), **known: object
) -> Case:
    return Case(sample=sample or a_sample(), claims=tuple(made), ratings=tuple(rated), **known)


def judged(case: Case, metrics: Metric | Iterable[Metric], truth: Truth) -> Case:
    """The case with a verdict for every check that the metrics ask for, round after round; None leaves one out."""
    wanted = (metrics,) if isinstance(metrics, Metric) else tuple(metrics)
    asked: set[Check] = set()
    while fresh := {check: None for metric in wanted for check in metric.checks(case) if check not in asked}:
        asked.update(fresh)
        verdicts = [Verdict(check=check, label=label) for check in fresh if (label := truth(check)) is not None]
        case = case.having(verdicts=(*case.verdicts, *verdicts))
    return case


def by_claim(labels: Mapping[str, Label | None]) -> Truth:
    """Each claim has one label, whatever it is held against."""
    return lambda check: labels[check.claim_id]


def labelled(
    labels: Sequence[Label | None], metric: Metric, *, side: Side = ANSWER, sample: Sample | None = None
) -> Case:
    """A case with one claim a label, judged so."""
    made = claims(len(labels), side=side)
    given = sample or a_sample(reference="A reference." if side == REFERENCE else None)
    return judged(
        a_case(given, made=made), metric, by_claim(dict(zip((claim.id for claim in made), labels, strict=True)))
    )
