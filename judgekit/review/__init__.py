"""Spot checks: a blind sheet of verdicts for a human, drawn from a run."""

from judgekit.review.cells import guard, unguard
from judgekit.review.sheet import VERDICT_COLUMN, DrawnSheet, KeyLine, draw_sheet, key_path, write_sheet

__all__ = [
    "VERDICT_COLUMN",
    "DrawnSheet",
    "KeyLine",
    "draw_sheet",
    "guard",
    "key_path",
    "unguard",
    "write_sheet",
]
