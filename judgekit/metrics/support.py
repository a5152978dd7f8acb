"""Claims held against sources: the checks to ask, and the marks their verdicts earn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from judgekit.records import Case, Check, Claim, Label, Score, Side


def claims_against(case: Case, side: Side, sources: Sequence[str]) -> list[Check]:
    """One check a claim of that side, each against the same sources; none when there are no sources."""
    return [Check.of(claim, sources) for claim in case.claims_of(side)] if sources else []


def support_mark(label: Label, *, partial: float = 0.0) -> float | None:
    """1 for supported, `partial` for partially supported, 0 for the rest, None for unjudged."""
    if label is Label.UNJUDGED:
        return None
    return {Label.SUPPORTED: 1.0, Label.PARTIALLY_SUPPORTED: partial}.get(label, 0.0)


def share_supported(metric: str, case: Case, checks: Sequence[Check], *, partial: float = 0.0) -> Score:
    """Supported checks / checks; ValueError when there are none."""
    marks = [support_mark(case.label(check), partial=partial) for check in checks]
    return Score.share(metric, marks, basis=names(checks))


def label_for(case: Case, claim: Claim, sources: Sequence[str]) -> Label:
    """The label of a claim against sources. No sources: unsupported, which is never asked."""
    return case.label(Check.of(claim, sources)) if sources else Label.UNSUPPORTED


def supports(case: Case, claim: Claim, sources: Sequence[str]) -> bool | None:
    """Whether these sources fully support the claim; None when unjudged."""
    label = label_for(case, claim, sources)
    return None if label is Label.UNJUDGED else label is Label.SUPPORTED


def names(checks: Iterable[Check]) -> list[str]:
    """How a score's basis names checks: `c1@d1,d4` is claim c1 held against d1 and d4 together."""
    return [f"{check.claim_id}@{','.join(check.sources)}" for check in checks]
