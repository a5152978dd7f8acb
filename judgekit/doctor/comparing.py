"""Is it still the same judge? What it says today against what it said then, by one rule. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from judgekit.records.base import Record
from judgekit.stats import flip_alarm, mcnemar
from judgekit.wire import JudgeSpec

Outcome = Literal["same", "drifted", "could not check"]
Basis = Literal["canaries", "checks"]

#: A judge that never flipped in a few score of askings may still have a flip rate of this size.
LEAST_RATE = 0.02
#: Fewer units than these would let a judge of quite another mind pass.
FEWEST = 20
#: More of them unjudged than this share, and today's judge was not seen.
MOST_UNJUDGED = 0.2
ALPHA = 0.01


class Then(Record):
    """What a unit was found to be then, and today: supported or not, each time that it was asked."""

    unit: str
    then: tuple[bool, ...]
    now: tuple[bool, ...]


class Comparison(Record):
    """Whether today's judge is the one of then, and what that rests on.

    `units` were compared, `flipped` of them have another label; from `alarm` on so many are too rare at a flip rate of
    `rate`. `lost` went from supported to not supported, `gained` the other way.
    """

    outcome: Outcome
    reasons: tuple[str, ...] = ()
    was: dict[str, JudgeSpec] = {}
    now: dict[str, JudgeSpec] = {}
    fingerprints_then: tuple[str, ...] = ()
    fingerprints_now: tuple[str, ...] = ()
    basis: Basis | None = None
    units: int = 0
    unjudged: int = 0
    rate: float | None = None
    alarm: int | None = None
    lost: int = 0
    gained: int = 0
    flipped: tuple[str, ...] = ()


def differences(was: Mapping[str, JudgeSpec], now: Mapping[str, JudgeSpec], *, resolved: bool = False) -> list[str]:
    """What is not the same in two judges, as sentences; `resolved`: the models that answered, instead of what was asked
    for. An embedder is left out: it judges nothing."""
    parts = sorted((was.keys() | now.keys()) - {"embedder"})
    told = []
    for part in parts:
        old, new = was.get(part), now.get(part)
        if old is None or new is None:
            told += [] if resolved else [f"{part}: there is {'none' if new is None else 'one'} today"]
        elif resolved:
            if old.resolved and new.resolved and old.resolved != new.resolved:
                told.append(f"{part}: {old.resolved} answered then, {new.resolved} does today")
        else:
            fields = ("model", "base_url", "form", "params", "settings")
            changed = [name for name in fields if getattr(old, name) != getattr(new, name)]
            told += [f"{part}: {name} was {getattr(old, name)!r}, is {getattr(new, name)!r}" for name in changed]
    return told


def compared(units: Sequence[Then], *, rate: float | None, basis: Basis) -> Comparison:
    """The rule: drifted when more labels changed than a judge with this flip rate changes once in a hundred times, or
    when they changed in one direction (McNemar's mid-p below 0.01).

    The label of then is that of most askings (a draw is left out), the label of today that of the first asking.
    `rate` is how often two askings of this judge differ, as measured; it is never taken to be below 2 %.
    """
    kept = [(one.unit, _most(one.then), one.now[0]) for one in units if one.now and _most(one.then) is not None]
    unjudged = sum(not one.now for one in units)
    taken = max(LEAST_RATE, rate or 0.0)
    alarm = flip_alarm(n=len(kept), rate=taken, alpha=ALPHA)
    lost = [unit for unit, then, now in kept if then and not now]
    gained = [unit for unit, then, now in kept if now and not then]
    found = Comparison(
        outcome="same",
        basis=basis,
        units=len(kept),
        unjudged=unjudged,
        rate=taken,
        alarm=alarm,
        lost=len(lost),
        gained=len(gained),
        flipped=tuple(sorted((*lost, *gained))),
    )
    if len(kept) < FEWEST:
        return found.having(
            outcome="could not check",
            reasons=(f"{len(kept)} units were compared, fewer than {FEWEST}: too few to tell",),
        )
    if unjudged > MOST_UNJUDGED * len(units):
        return found.having(outcome="could not check", reasons=(f"{unjudged} of {len(units)} units stayed unjudged",))
    reasons = []
    if len(found.flipped) >= alarm:
        reasons.append(f"{len(found.flipped)} of {len(kept)} labels changed, {alarm} or more are too many")
    if mcnemar(b=len(lost), c=len(gained)).p_mid < ALPHA:
        reasons.append(f"labels changed in one direction: {len(lost)} lost support, {len(gained)} gained it")
    return found.having(outcome="drifted" if reasons else "same", reasons=tuple(reasons))


def _most(labels: Sequence[bool]) -> bool | None:
    yes, no = labels.count(True), labels.count(False)
    return None if yes == no else yes > no
