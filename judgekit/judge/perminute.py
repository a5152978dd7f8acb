"""An allowance of so much a minute: exact over any 60 seconds, whatever was sent when."""

from __future__ import annotations

from collections import deque
from typing import Final

MINUTE: Final = 60.0
#: Sums of times are off by so much at most.
INSTANT: Final = 1e-6


class PerMinute:
    """An amount of which at most `most` fits into any 60 seconds. What alone is more waits until nothing else is in."""

    def __init__(self, most: float) -> None:
        self._most = most
        self._taken: deque[Taken] = deque()
        self._sum = 0.0

    def pause(self, amount: float, now: float) -> float:
        """Seconds until `amount` fits; 0 when it does now."""
        taken = self._taken
        while taken and taken[0].at + MINUTE <= now + INSTANT:
            old = taken.popleft()
            old.is_over = True
            self._sum -= old.amount
        over = self._sum + amount - self._most
        if over <= 0 or not taken:
            return 0.0
        for one in taken:
            over -= one.amount
            if over <= 0:
                return one.at + MINUTE - now
        return taken[-1].at + MINUTE - now

    def take(self, amount: float, now: float) -> Taken:
        """Count `amount` from now on."""
        one = Taken(amount, now)
        self._taken.append(one)
        self._sum += amount
        return one

    def correct(self, one: Taken, amount: float) -> None:
        """Count what it really was."""
        if not one.is_over:
            self._sum += amount - one.amount
            one.amount = amount


class Taken:
    """What was taken of an allowance, and when."""

    __slots__ = ("amount", "at", "is_over")

    def __init__(self, amount: float, at: float) -> None:
        self.amount = amount
        self.at = at
        self.is_over = False
