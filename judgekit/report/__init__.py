"""A run for reading: in a terminal, row by row, and as JSON."""

from judgekit.report.asjson import as_json
from judgekit.report.outcome import render_outcome
from judgekit.report.row import render_row
from judgekit.report.terminal import render
from judgekit.report.worst import is_failed, worst_rows

__all__ = ["as_json", "is_failed", "render", "render_outcome", "render_row", "worst_rows"]
