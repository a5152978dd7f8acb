"""judgekit judges RAG answers claim by claim, with one pinned judge model, and computes metrics from the verdicts."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judgekit.api import (
        aestimate_log,
        ajudge_log,
        ascore,
        ascore_all,
        estimate_log,
        judge_log,
        load_run,
        score,
        score_all,
    )
    from judgekit.errors import InputError, JudgeDrift, JudgeError, JudgekitError, JudgeStop
    from judgekit.judge import Budget, Judge
    from judgekit.judge.scripted import Scripted
    from judgekit.metrics import METRICS, Metric, Rubric
    from judgekit.records import Case, Check, Claim, Context, Label, Options, Result, Sample, Score, Summary, Verdict
    from judgekit.rundir import Run

__all__ = [
    "METRICS",
    "Budget",
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
    "Rubric",
    "Run",
    "Sample",
    "Score",
    "Scripted",
    "Summary",
    "Verdict",
    "aestimate_log",
    "ajudge_log",
    "ascore",
    "ascore_all",
    "estimate_log",
    "judge_log",
    "load_run",
    "score",
    "score_all",
]

# Where each public name lives; loaded when it is first used, so that importing judgekit costs next to nothing.
_HOMES = {
    "api": (
        "aestimate_log",
        "ajudge_log",
        "ascore",
        "ascore_all",
        "estimate_log",
        "judge_log",
        "load_run",
        "score",
        "score_all",
    ),
    "errors": ("InputError", "JudgeDrift", "JudgeError", "JudgeStop", "JudgekitError"),
    "judge": ("Budget", "Judge"),
    "judge.scripted": ("Scripted",),
    "metrics": ("METRICS", "Metric", "Rubric"),
    "records": (
        "Case",
        "Check",
        "Claim",
        "Context",
        "Label",
        "Options",
        "Result",
        "Sample",
        "Score",
        "Summary",
        "Verdict",
    ),
    "rundir": ("Run",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'judgekit' has no attribute {name!r}")
    found = getattr(import_module(f"judgekit.{_HOME_OF[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
