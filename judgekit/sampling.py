"""Which verdicts a human looks at: units of review, and a seeded draw that the order of the results cannot move."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from hashlib import sha256
from heapq import nsmallest
from typing import NamedTuple

from judgekit.errors import InputError
from judgekit.records import Check, Result
from judgekit.stats import hash_rank

_ID_DIGITS = 12


class Unit(NamedTuple):
    """One claim held against one set of sources, for a human to label. It belongs to no metric and tells no verdict.

    `unit_id` is `u` and 12 hexadecimal digits of a hash over the rest: the same in every session of a run, silent about
    sample and sources, and led by a letter, so that no spreadsheet takes it for a number (`12e345678901`).
    """

    unit_id: str
    sample_id: str
    claim_id: str
    sources: tuple[str, ...]

    @classmethod
    def of(cls, sample_id: str, check: Check) -> Unit:
        named = json.dumps([sample_id, check.claim_id, check.sources])
        return cls(f"u{sha256(named.encode()).hexdigest()[:_ID_DIGITS]}", sample_id, check.claim_id, check.sources)

    @property
    def check(self) -> Check:
        return Check(claim_id=self.claim_id, sources=self.sources)


def units_of(results: Iterable[Result]) -> Iterator[Unit]:
    """Every check that the judge was asked about, in the order of the results.

    An `unjudged` verdict is a unit too: a human can label what the judge could not. So is a label that was turned down
    for lack of evidence. Only a label that needed no judge (a `reason`, and no calls) is none.
    """
    for result in results:
        claims = {claim.id for claim in result.claims}
        for verdict in result.verdicts:
            if (verdict.reason is None or verdict.calls) and verdict.check.claim_id in claims:
                yield Unit.of(result.id, verdict.check)


def draw(units: Iterable[Unit], n: int, *, seed: int) -> list[Unit]:
    """A simple random draw without replacement: the n units of lowest rank, in rank order; all, if there are fewer.

    The order of the units does not matter, memory grows with n alone, and a larger n keeps what a smaller one drew and
    adds at its end. InputError: n below 1.
    """
    if n < 1:
        raise InputError(f"a draw of {n} units shows nothing; give 1 or more")
    return nsmallest(n, units, key=lambda unit: hash_rank(unit.unit_id, seed=str(seed)))
