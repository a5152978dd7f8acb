"""Spot checks: verdicts drawn from a run for people to judge, sheets to fill in, and the labels that come back."""

from judgekit.review.draw import Order, draw_review
from judgekit.review.importing import Imported, import_sheets
from judgekit.review.labels import Settled, exports_of, history_of, key_of, labels_of, settled
from judgekit.review.outcome import outcome_of
from judgekit.review.records import (
    ClaimCheck,
    Export,
    Filled,
    HumanLabel,
    HumanVerdict,
    KeyLine,
    Passage,
    ReviewUnit,
)

__all__ = [
    "ClaimCheck",
    "Export",
    "Filled",
    "HumanLabel",
    "HumanVerdict",
    "Imported",
    "KeyLine",
    "Order",
    "Passage",
    "ReviewUnit",
    "Settled",
    "draw_review",
    "exports_of",
    "history_of",
    "import_sheets",
    "key_of",
    "labels_of",
    "outcome_of",
    "settled",
]
