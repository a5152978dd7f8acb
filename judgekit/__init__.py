"""judgekit judges RAG answers claim by claim, with one pinned judge model, and computes metrics from the verdicts."""

from judgekit.api import ajudge_log, ascore, ascore_all, judge_log, load_run, score, score_all
from judgekit.errors import InputError, JudgeDrift, JudgeError, JudgekitError, JudgeStop
from judgekit.judge import Judge
from judgekit.judge.scripted import Scripted
from judgekit.metrics import METRICS, Metric
from judgekit.records import Case, Check, Claim, Context, Label, Options, Result, Sample, Score, Summary, Verdict
from judgekit.rundir import Run

__all__ = [
    "METRICS",
    "Case",
    "Check",
    "Claim",
    "Context",
    "InputError",
    "Judge",
    "JudgeDrift",
    "JudgeError",
    "JudgeStop",
    "JudgekitError",
    "Label",
    "Metric",
    "Options",
    "Result",
    "Run",
    "Sample",
    "Score",
    "Scripted",
    "Summary",
    "Verdict",
    "ajudge_log",
    "ascore",
    "ascore_all",
    "judge_log",
    "load_run",
    "score",
    "score_all",
]
