"""From cases to scores, and from results to the numbers of a run. Pure: no network, no clock, no files."""

from judgekit.scoring.summary import score_case, summarize

__all__ = ["score_case", "summarize"]
