"""From the checks that metrics want to the groups that are asked in one call.

A group's make-up depends on the case alone, never on which metrics happen to be computed: a metric that wants one
claim held against some sources gets the whole group that belongs to these sources. So adding a metric changes no
call of another, asks nothing twice, and moves no score.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from judgekit.metrics.sources import cited_sources
from judgekit.records import THE_ANSWER, THE_REFERENCE, Case, Check, Claim


class Group(NamedTuple):
    """Claims held against the same sources."""

    sources: tuple[str, ...]
    claims: tuple[Claim, ...]


def plan(case: Case, checks: Iterable[Check]) -> list[Group]:
    """The groups that answer these checks, without what has a verdict already; in the order of the checks."""
    claims = {claim.id: claim for claim in case.claims}
    groups: dict[tuple[str, ...], dict[Claim, None]] = {}
    for check in checks:
        if check.sources and case.verdict(check) is None:
            name, family = _family(case, claims[check.claim_id], check.sources)
            unasked = (claim for claim in family if case.verdict(Check.of(claim, check.sources)) is None)
            groups.setdefault((name, *check.sources), {}).update(dict.fromkeys(unasked))
    return [Group(key[1:], tuple(found)) for key, found in groups.items()]


def _family(case: Case, claim: Claim, sources: tuple[str, ...]) -> tuple[str, list[Claim]]:
    """The claims that are held against these sources together with this one, and a name for why.

    Against all contexts, the reference or the answer: all claims of its side. Against a single context: all claims
    that cite it, or all that do not. Against several: all claims that cite just these, or else this one alone.
    """
    side = case.claims_of(claim.side)
    if sources in (case.sample.source_ids, THE_REFERENCE, THE_ANSWER):
        return f"all of {claim.side}", side
    single = len(sources) == 1
    cited = {one: cited_sources(case, one) for one in side}
    citing = [one for one in side if (sources[0] in cited[one] if single else cited[one] == sources)]
    if claim in citing:
        return f"citing of {claim.side}", citing
    if single:
        return f"others of {claim.side}", [one for one in side if one not in citing]
    return f"only {claim.id}", [claim]
