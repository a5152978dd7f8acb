"""Rubric: a criterion of the user's own."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pydantic import JsonValue

from judgekit.errors import InputError
from judgekit.metrics.base import NOTHING, Metric
from judgekit.metrics.gaps import text_gap
from judgekit.metrics.means import as_one_item
from judgekit.records import ANSWER, REFERENCE, SEEN, Case, Criterion, Need, Reason, Sample, Score, Seen

_NAME = re.compile(r"[^\W\d]\w*(?:[.@-]\w+)*")
_LEVELS = range(2, 11)


@dataclass(frozen=True, kw_only=True)
class Rubric(Metric):
    """Whether a criterion is met, 1.0 or 0.0; with `levels`, how far: (level - 1) / (number of levels - 1).

        Rubric(name="polite", criterion="The answer is polite.")
        Rubric(name="clarity", criterion="How clear is it?", levels=("muddled", "can be followed", "plain"))

    levels: 2 to 10 descriptions, the lowest first. sees: what the judge is shown, of `question`, `answer`, `contexts`,
    `reference`. explain: ask a judge that writes text for its reason, which comes before the label and is kept in the
    score's note and in the rating. The label is `yes` or `no`, or the number of the level, from 1.
    The sample counts as one item: numerator = value, denominator = 1. Range [0, 1].
    None: `no_answer`, `no_reference`, `no_contexts` (none with text) where it should see what is not there, `unjudged`.
    Raises InputError for a name that is none, an empty criterion, and levels or things to see that do not exist.
    """

    name: str
    criterion: str
    levels: tuple[str, ...] | None = None
    sees: tuple[Seen, ...] = ("question", "answer")
    explain: bool = True

    needs = frozenset({Need.RUBRIC})

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise InputError(f"rubric {self.name!r}: give a name of letters, digits and _, for instance 'polite'")
        if not self.criterion.strip():
            raise InputError(f"rubric {self.name!r}: the criterion is empty; say in a sentence what is to be judged")
        if isinstance(self.levels, str) or isinstance(self.sees, str):
            raise InputError(f"rubric {self.name!r}: levels and sees are lists of texts, not one text")
        if self.levels is not None and (len(self.levels) not in _LEVELS or not all(map(str.strip, self.levels))):
            raise InputError(f"rubric {self.name!r}: give 2 to 10 levels, each described in words, the lowest first")
        if not self.sees or not set(self.sees) <= set(SEEN):
            raise InputError(f"rubric {self.name!r}: it can see {', '.join(SEEN)}, and must see one; not {self.sees!r}")
        # lists are as good as tuples, and order or repetition makes no other rubric
        object.__setattr__(self, "levels", None if self.levels is None else tuple(self.levels))
        object.__setattr__(self, "sees", tuple(one for one in SEEN if one in self.sees))

    @property
    def options(self) -> dict[str, JsonValue]:
        return {
            "criterion": self.criterion,
            "levels": None if self.levels is None else list(self.levels),
            "sees": list(self.sees),
            "explain": self.explain,
        }

    def needs_for(self, sample: Sample) -> frozenset[Need]:
        return NOTHING if self._gap(sample) else self.needs

    def criteria(self, sample: Sample) -> tuple[Criterion, ...]:
        return () if self._gap(sample) else (self._criterion,)

    def score(self, case: Case) -> Score:
        if gap := self._gap(case.sample):
            return Score.undefined(self.name, gap)
        key = self._criterion.key
        rating = case.rated("rubric").get(key)
        value = self._value(rating.label) if rating and rating.label else None
        if rating is None or value is None:
            return as_one_item(self.name, low=0.0, high=1.0, judged=False, basis=[key])
        score = as_one_item(self.name, low=value, high=value, judged=True, note=rating.reason, basis=[key])
        return score.having(label=rating.label)

    def _value(self, label: str) -> float:
        if self.levels is None:
            return float(label == "yes")
        return (int(label) - 1) / (len(self.levels) - 1)

    @property
    def _criterion(self) -> Criterion:
        return Criterion(
            name=self.name, text=self.criterion, levels=self.levels or (), sees=self.sees, explain=self.explain
        )

    def _gap(self, sample: Sample) -> Reason | None:
        gaps = {
            "answer": text_gap(sample, ANSWER),
            "reference": text_gap(sample, REFERENCE),
            "contexts": None if sample.source_ids else Reason.NO_CONTEXTS,
        }
        return next((gap for name, gap in gaps.items() if gap and name in self.sees), None)
