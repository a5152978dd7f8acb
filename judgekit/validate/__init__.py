"""A judge held against human labels: is it fit to judge, and are other prompts better?"""

from judgekit.validate.judged import CUTS, Judged, judge_row, judge_rows
from judgekit.validate.labelled import TASKS, Labelled, LabelledFile, read
from judgekit.validate.measure import Compared, Measured, Rate, Tuned, best_threshold, compare, measure, worst

__all__ = [
    "CUTS",
    "TASKS",
    "Compared",
    "Judged",
    "Labelled",
    "LabelledFile",
    "Measured",
    "Rate",
    "Tuned",
    "best_threshold",
    "compare",
    "judge_row",
    "judge_rows",
    "measure",
    "read",
    "worst",
]
