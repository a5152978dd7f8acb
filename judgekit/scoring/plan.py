"""From the checks that metrics want to the groups that are asked in one call.

A group's make-up depends on the case alone, never on which metrics happen to be computed: a metric that wants one
claim held against some sources gets the whole group that belongs to these sources. So adding a metric changes no
call of another, asks nothing twice, and moves no score.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from judgekit.metrics.sources import cited_sources
from judgekit.records import THE_ANSWER, THE_REFERENCE, Case, Check, Claim, Side


class Group(NamedTuple):
    """Claims held against the same sources."""

    sources: tuple[str, ...]
    claims: tuple[Claim, ...]


def plan(case: Case, checks: Iterable[Check]) -> list[Group]:
    """The groups that answer these checks, without what has a verdict already; in the order of the checks."""
    claims = {claim.id: claim for claim in case.claims}
    sides: dict[Side, _Side] = {}
    groups: dict[tuple[str, ...], tuple[Claim, ...]] = {}
    for check in checks:
        if not check.sources or case.verdict(check) is not None:
            continue
        claim = claims[check.claim_id]
        if claim.side not in sides:
            sides[claim.side] = _Side(case, claim.side)
        name, family = sides[claim.side].family(claim, check.sources)
        key = (name, *check.sources)
        if key not in groups:
            unasked = (one for one in family if case.verdict(Check.of(one, check.sources)) is None)
            groups[key] = tuple(dict.fromkeys(unasked))
    return [Group(key[1:], found) for key, found in groups.items()]


class _Side:
    """The claims of one side, by what they cite: looked through once, however many checks there are."""

    def __init__(self, case: Case, side: Side) -> None:
        self._side = side
        self._claims = case.claims_of(side)
        self._whole_texts = (case.sample.source_ids, THE_REFERENCE, THE_ANSWER)
        self._cited = {claim.id: cited_sources(case, claim) for claim in self._claims}
        self._citing: dict[tuple[str, ...], list[Claim]] = defaultdict(list)  # one source, or just these several
        self._others: dict[tuple[str, ...], list[Claim]] = {}
        for claim in self._claims:
            cited = self._cited[claim.id]
            for sources in {*((source,) for source in cited), cited}:
                self._citing[sources].append(claim)

    def family(self, claim: Claim, sources: tuple[str, ...]) -> tuple[str, Sequence[Claim]]:
        """The claims that are held against these sources together with this one, and a name for why.

        Against all contexts, the reference or the answer: all claims of its side. Against a single context: all claims
        that cite it, or all that do not. Against several: all claims that cite just these, or else this one alone.
        """
        if sources in self._whole_texts:
            return f"all of {self._side}", self._claims
        cited = self._cited[claim.id]
        is_single = len(sources) == 1
        if sources[0] in cited if is_single else sources == cited:
            return f"citing of {self._side}", self._citing[sources]
        if is_single:
            if sources not in self._others:
                self._others[sources] = [one for one in self._claims if sources[0] not in self._cited[one.id]]
            return f"others of {self._side}", self._others[sources]
        return f"only {claim.id}", [claim]
