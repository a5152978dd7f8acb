"""The records that travel between the pure core and the shell.

Each is frozen and is also its JSON line. Nothing here knows that a language model exists: records
speak of samples, claims, checks, verdicts and scores. The glossary is in the README.
"""

from judgekit.records.base import Record
from judgekit.records.counted import Interval, JudgeCall, MetricSummary, Reason, Result, Score, Summary, Usage
from judgekit.records.judged import (
    ROW,
    SEEN,
    THE_ANSWER,
    THE_REFERENCE,
    Case,
    Check,
    Criterion,
    Evidence,
    Fault,
    Label,
    Likeness,
    Need,
    Rating,
    RatingKind,
    Seen,
    Verdict,
    Vote,
)
from judgekit.records.logged import CitedSpan, Context, Fact, Retrieval, Sample
from judgekit.records.runs import LogFile, Manifest, MetricPin, Options, Session
from judgekit.records.taken_apart import ANSWER, REFERENCE, Ask, Citation, Claim, Segment, SegmentKind, Side

__all__ = [
    "ANSWER",
    "REFERENCE",
    "ROW",
    "SEEN",
    "THE_ANSWER",
    "THE_REFERENCE",
    "Ask",
    "Case",
    "Check",
    "Citation",
    "CitedSpan",
    "Claim",
    "Context",
    "Criterion",
    "Evidence",
    "Fact",
    "Fault",
    "Interval",
    "JudgeCall",
    "Label",
    "Likeness",
    "LogFile",
    "Manifest",
    "MetricPin",
    "MetricSummary",
    "Need",
    "Options",
    "Rating",
    "RatingKind",
    "Reason",
    "Record",
    "Result",
    "Retrieval",
    "Sample",
    "Score",
    "Seen",
    "Segment",
    "SegmentKind",
    "Session",
    "Side",
    "Summary",
    "Usage",
    "Verdict",
    "Vote",
]
