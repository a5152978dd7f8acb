"""The review page as a format: one HTML file goes out, and the file of its Download button comes back."""

from __future__ import annotations

from pathlib import Path

from judgekit.review.page import read, write
from judgekit.review.sheets.layout import EXPORT_ID, UNIT_ID
from judgekit.review.sheets.tasks import first_object

__all__ = ["read", "recognises", "write"]

_PAGE = b"<!doctype html"


def recognises(path: Path) -> bool:
    """Whether a file is what a review page hands back; or the page itself, so that `read` can say what is meant."""
    with path.open("rb") as file:
        if file.read(len(_PAGE)).lower() == _PAGE:
            return True
    return {UNIT_ID, EXPORT_ID, "status"} <= first_object(path).keys()
