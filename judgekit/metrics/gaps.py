"""What a metric says when there is nothing to count: one order of reasons for all of them."""

from __future__ import annotations

from collections.abc import Iterable

from judgekit.records import ANSWER, Case, Reason, Sample, Score, Segment, Side


def text_gap(sample: Sample, side: Side) -> Reason | None:
    """`no_answer` or `no_reference` when that text is missing or blank, else None."""
    text = sample.answer if side == ANSWER else sample.reference
    if text and text.strip():
        return None
    return Reason.NO_ANSWER if side == ANSWER else Reason.NO_REFERENCE


def claims_gap(case: Case, side: Side) -> Reason | None:
    """Why the claims of a side cannot be counted: no text, then a failed split, then no claim in it; else None."""
    if missing := text_gap(case.sample, side):
        return missing
    if side in case.unsplit:
        return Reason.UNSPLIT
    return None if case.claims_of(side) else Reason.NO_CLAIMS


def nothing_supported(metric: str, segments: Iterable[Segment]) -> Score:
    """0.0 without a judge: there is no context with text, and nothing supports nothing.

    Claims are not known here, so the denominator is the number of segments that state something, at least 1.
    It does not look at claims even if another metric had them made: no metric may move another's score.
    """
    stating = sum(segment.may_state for segment in segments)
    note = "no_contexts: no context has text, so nothing is supported; decided without a judge"
    return Score.share(metric, [0.0] * max(1, stating), note=note)
