"""All that a review of a run comes to: corrected scores, agreement, ceiling, calibration, and what to read first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from judgekit.humans.agreement import Agreement, Ceiling, agreement_of, pairs_of
from judgekit.humans.calibration import Calibration, Guess, calibration_of
from judgekit.humans.checked import Checked, Share
from judgekit.humans.corrected import CorrectedScore
from judgekit.humans.splitting import Splitting
from judgekit.humans.transferred import Transferred
from judgekit.records import Check, Evidence, Label, Record


class Disagreement(Record):
    """A check on which judge and human are of different sides. `stands_for` is 1 / the chance of its draw: how many
    checks of the run it speaks for. `human` is what was said, `notes` what the reviewers wrote beside it."""

    unit_id: str
    sample_id: str
    check: Check
    claim: str
    judge: Label
    human: str
    stands_for: float
    support: float | None = None
    probabilities: dict[str, float] | None = None
    evidence: tuple[Evidence, ...] = ()
    notes: tuple[str, ...] = ()


class Outcome(Record):
    """What the review of a run says. `reason` tells why nothing can be estimated, where nothing can.

    `export_id` is the draw it rests on: `drawn` of `checks` were drawn, `labels` have a usable label, `unanswered`
    counts the others by why, and `unjudged` ones could not be drawn. `assisted` labels were given with the judge's
    verdict in view. `aside` checks have a label that enters no estimate: picked by hand, of another draw, or given for
    texts that the run no longer holds. With `labels_from`, another run, `matched` checks are the same there, and its
    labels count for them. `not_corrected` says of each other metric why. `agreement` is over all checks, `by_metric`
    over those of one metric.
    """

    run: str
    export_id: str | None = None
    reviewers: tuple[str, ...] = ()
    checks: int = 0
    drawn: int = 0
    labels: int = 0
    assisted: int = 0
    unjudged: int = 0
    unanswered: dict[str, int] = {}
    aside: int = 0
    labels_from: str | None = None
    matched: int | None = None
    scores: tuple[CorrectedScore, ...] = ()
    not_corrected: dict[str, str] = {}
    agreement: Agreement | None = None
    by_metric: dict[str, Agreement] = {}
    ceiling: Ceiling | None = None
    splitting: Splitting | None = None
    disagreements: tuple[Disagreement, ...] = ()
    calibration: Calibration | None = None
    transferred: tuple[Transferred, ...] = ()
    reason: str | None = None

    @property
    def is_empty(self) -> bool:
        """True when no score could be estimated, neither from labels of this run nor from another's errors."""
        found = [mean.value for score in self.scores for mean in (score.macro, score.micro)]
        return all(value is None for value in (*found, *(one.value for one in self.transferred)))


def is_supported(unit: Checked) -> bool | None:
    """Which side the human is on; None without a usable label."""
    if not unit.human:
        return None
    return None if Label.SUPPORTED in unit.human and len(unit.human) > 1 else Label.SUPPORTED in unit.human


def weights_of(units: Iterable[Checked]) -> dict[str, float]:
    """Stratum -> how many of its checks each labelled one stands for; strata without a label are left out."""
    listed = list(units)
    sizes = Counter(unit.stratum for unit in listed)
    labels = Counter(unit.stratum for unit in listed if is_supported(unit) is not None)
    return {stratum: sizes[stratum] / n for stratum, n in labels.items()}


def at_odds(units: Sequence[Checked]) -> list[Checked]:
    """The checks on which judge and human are of different sides, those that stand for most first.

    Among equals, the one that the judge was surest of comes first.
    """
    weights = weights_of(units)

    def rank(unit: Checked) -> tuple[float, float, str]:
        sure = 0.5 if unit.support is None else max(unit.support, 1 - unit.support)
        return -weights[unit.stratum], -sure, unit.unit_id

    found = [unit for unit in units if is_supported(unit) not in (None, unit.judge is Label.SUPPORTED)]
    return sorted(found, key=rank)


def calibration(units: Sequence[Checked]) -> Calibration | None:
    """The judge's probabilities against the labels; None when it gave none."""
    weights = weights_of(units)
    return calibration_of(
        [
            Guess(unit.support, side, weights[unit.stratum])
            for unit in units
            if unit.support is not None and (side := is_supported(unit)) is not None
        ]
    )


def agreements(
    units: Sequence[Checked], shares: Iterable[Share], *, seed: int
) -> tuple[Agreement | None, Mapping[str, Agreement]]:
    """Judge against humans: over all checks, and metric by metric."""
    found = {
        share.metric: agreement_of(pairs_of((item.unit for item in share.items), share), seed=seed) for share in shares
    }
    overall = agreement_of(pairs_of(units), seed=seed)
    return overall, {metric: agreement for metric, agreement in found.items() if agreement is not None}
