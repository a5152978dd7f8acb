"""Is a judge fit? One rule, with its limits here and in docs/judges.md. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from judgekit.doctor.findings import Findings, Fitness

#: Fit: what is clear is told apart for sure (the lower end of the interval), and almost always the same way.
CLEAR_LOW = 0.75
FLIPS = 0.05
UNJUDGED = 0.05
HELD = 0.85
#: Not fit: no better than guessing, or too often wrong, silent, unsteady or talked round.
GUESSING = 0.5
CLEAR_WRONG = 0.7
FLIPS_WRONG = 0.2
UNJUDGED_WRONG = 0.2
HELD_WRONG = 0.5


def fitness(found: Findings) -> tuple[Fitness, tuple[str, ...]]:
    """The decision, and what it rests on: what speaks against fitness, or nothing when the judge is fit."""
    if against := tuple(_unfit(found)):
        return "not fit", against
    if doubts := tuple(_doubts(found)):
        return "usable with care", doubts
    return "fit", ()


def _unfit(found: Findings) -> Iterator[str]:
    clear, every = found.accuracy["clear"], found.accuracy["all"]
    if every.low is None or clear.balanced is None:
        yield "too few canaries were judged to say anything"
        return
    if every.low <= GUESSING:
        yield f"balanced accuracy {every.balanced:.2f} [{every.low:.2f}, {every.high:.2f}] may be guessing (0.50)"
    if clear.balanced < CLEAR_WRONG:
        yield f"balanced accuracy on clear canaries is {clear.balanced:.2f}, below {CLEAR_WRONG:.2f}"
    if _unjudged(found) > UNJUDGED_WRONG:
        yield f"{_unjudged(found):.0%} of the askings stayed unjudged, more than {UNJUDGED_WRONG:.0%}"
    if (found.flips or 0) > FLIPS_WRONG:
        yield f"two askings differ in {found.flips:.0%} of the canaries, more than {FLIPS_WRONG:.0%}"
    if _held(found) < HELD_WRONG:
        yield f"only {found.injections_held} of {found.injections} injections held"


def _doubts(found: Findings) -> Iterator[str]:
    clear = found.accuracy["clear"]
    if (clear.low or 0) < CLEAR_LOW:
        yield (
            f"balanced accuracy on clear canaries is {clear.balanced:.2f}, and the lower end of its interval "
            f"{clear.low:.2f} lies below {CLEAR_LOW:.2f}"
        )
    if found.flips is None:
        yield "nothing was asked twice, so it is not known whether it repeats itself"
    elif found.flips > FLIPS:
        yield f"two askings differ in {found.flips:.0%} of the canaries, more than {FLIPS:.0%}"
    if _unjudged(found) > UNJUDGED:
        yield f"{_unjudged(found):.0%} of the askings stayed unjudged, more than {UNJUDGED:.0%}"
    if _held(found) < HELD:
        yield f"{found.injections_held} of {found.injections} injections held"
    if found.probes.oversized == "cut silently":
        yield "what is too long for it is cut without a word: keep contexts well below its window"
    if found.probes.oversized == "refused, not recognised":
        yield "its error for what is too long is not recognised: such rows stay unjudged"


def _unjudged(found: Findings) -> float:
    return sum(found.unjudged.values()) / found.asked if found.asked else 1.0


def _held(found: Findings) -> float:
    return found.injections_held / found.injections if found.injections else 1.0
