"""Facts of a sample: which are supplied by what was retrieved, and which only by an outdated version."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from judgekit.confidence import interval_of_values
from judgekit.records import Context, Fact, Interval, Sample
from judgekit.retrieval.inputs import UnusableValue, check_cut


@dataclass(frozen=True)
class FactCoverage:
    """Covered facts / facts, in [0, 1]; None without facts. `covered` and `missing` hold their ids, in order."""

    value: float | None
    covered: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True)
class PassRate:
    """Share of samples whose coverage reaches the threshold: `passed` / `n`; None when no sample has facts."""

    value: float | None
    passed: int
    n: int
    undefined: int
    interval: Interval


@dataclass(frozen=True)
class StaleFact:
    """A fact for which only an outdated version of a supplying document was retrieved.

    `retrieved` holds the versions that were, `current` the one that should have been.
    """

    fact_id: str
    doc_id: str
    retrieved: tuple[str, ...]
    current: str


def fact_coverage(sample: Sample, *, k: int | None = None) -> FactCoverage:
    """Facts with at least one supplying context among the first `k` contexts (all, if None) / facts.

    A fact that names no context can never be covered, and is missing. UnusableValue: k below 1.
    """
    found = {context.id for context in _top(sample, k)}
    covered = tuple(fact.id for fact in sample.facts if not found.isdisjoint(fact.context_ids))
    missing = tuple(fact.id for fact in sample.facts if found.isdisjoint(fact.context_ids))
    return FactCoverage(len(covered) / len(sample.facts) if sample.facts else None, covered, missing)


def coverage_pass_rate(coverages: Iterable[FactCoverage], *, threshold: float = 0.9) -> PassRate:
    """How many samples reach the threshold (>=): another number than the mean coverage, and often called the same.

    Samples without facts are left out and counted. UnusableValue: a threshold outside (0, 1].
    """
    if not 0 < threshold <= 1:
        raise UnusableValue(f"threshold={threshold!r} is passed by all or by none; give a number above 0, up to 1")
    values = [coverage.value for coverage in coverages]
    defined = [value for value in values if value is not None]
    passes = [float(value >= threshold) for value in defined]
    passed, n = int(sum(passes)), len(passes)
    return PassRate(passed / n if n else None, passed, n, len(values) - n, interval_of_values(passes))


def stale_facts(
    sample: Sample, *, current: Mapping[str, str] | None = None, k: int | None = None
) -> tuple[StaleFact, ...]:
    """The facts whose supplying documents were retrieved in outdated versions only, in the order of the facts.

    A document supplies a fact when one of its chunks is named by the fact: the document of an id is the `doc_id` logged
    with it, or else what stands before its last `#`. Its current version is the one in `current` (document -> version);
    else the newest seen anywhere in the sample (numbers in a version are compared as numbers). A context without a
    version counts as current; a document of which no current version is known, or no chunk retrieved, is no stale one.
    """
    everywhere = (*sample.contexts, *(context for call in sample.retrievals for context in call.contexts))
    newest = {**_newest(everywhere), **(current or {})}
    doc_of = {context.id: context.doc_id for context in everywhere if context.doc_id is not None}
    top = _top(sample, k)
    found = (_stale(fact, top, doc_of, newest) for fact in sample.facts)
    return tuple(stale for stale in found if stale is not None)


def _stale(
    fact: Fact, top: Iterable[Context], doc_of: Mapping[str, str], newest: Mapping[str, str]
) -> StaleFact | None:
    documents = {doc_of.get(one) or one.rpartition("#")[0] for one in fact.context_ids} - {""}
    outdated: dict[str, list[str]] = {}
    for context in top:
        supplies, doc_id = context.id in fact.context_ids, context.doc_id
        if not (supplies or doc_id in documents):
            continue
        if doc_id is None or context.version is None or context.version == newest.get(doc_id, context.version):
            return None  # what is current is at worst the wrong chunk: missing, not stale
        outdated.setdefault(doc_id, []).append(context.version)
    for doc_id, versions in outdated.items():
        return StaleFact(fact.id, doc_id, tuple(dict.fromkeys(versions)), newest[doc_id])
    return None


def _newest(contexts: Iterable[Context]) -> dict[str, str]:
    newest: dict[str, str] = {}
    for context in contexts:
        if context.doc_id is not None and context.version is not None:
            versions = (newest.get(context.doc_id, context.version), context.version)
            newest[context.doc_id] = max(versions, key=_age)
    return newest


def _age(version: str) -> list[tuple[int, str]]:
    """A key by which 2025-12 comes before 2026-01, and v9 before v10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.findall(r"\d+|\D+", version)]


def _top(sample: Sample, k: int | None) -> tuple[Context, ...]:
    check_cut(k, "facts")
    return sample.contexts[:k]
