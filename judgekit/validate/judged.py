"""Labelled rows as the judge sees them: a score in [0, 1] a row, and what it says as yes or no.

| task | what is asked | score | good, as it stands |
|---|---|---|---|
| claim_support, citation_support | the claim, held whole against all contexts of the row together | the probability of `supported` where the judge gives one; else 1 supported, .5 partially supported, 0 otherwise | supported |
| answer_faithfulness (and the others, for an `answer`) | faithfulness | its value | 1: every claim is supported |
| relevance | the best grade of the row's contexts | grade / 3, by expectation where there are probabilities | grade 2 or 3 |
| answer_relevance | answer_relevance | its value | .5 and above |
"""  # noqa: E501 - a table

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Final

from judgekit.desk import Desk
from judgekit.judge import Judge
from judgekit.metrics import METRICS
from judgekit.records import ANSWER, Claim, Label, Options, Rating, Reason, Record, Result, Usage, Verdict
from judgekit.run import judge_sample
from judgekit.segment.words import content_words, share_of
from judgekit.together import in_order
from judgekit.validate.labelled import Labelled

_SCORES: Final = {Label.SUPPORTED: 1.0, Label.PARTIALLY_SUPPORTED: 0.5, Label.UNSUPPORTED: 0.0, Label.CONTRADICTED: 0.0}
_TOP_GRADE: Final = 3
_METRICS: Final = {
    "claim_support": "faithfulness",
    "citation_support": "faithfulness",
    "answer_faithfulness": "faithfulness",
    "relevance": "context_relevance",
    "answer_relevance": "answer_relevance",
}
#: The score from which a row counts as good, by task, before any threshold is tuned.
CUTS: Final = {
    "claim_support": 0.75,
    "citation_support": 0.75,
    "answer_faithfulness": 1.0,
    "relevance": 0.5,
    "answer_relevance": 0.5,
}


class Judged(Record):
    """What the judge made of one labelled row, and what word overlap alone would have made of it.

    `score` is None where the judge failed (`cause`) or the metric has no value (`reason`). `overlap` is the share of
    the text's content words (of the question's, for relevance) that the contexts hold. `said` is the judge's own word.
    """

    row: Labelled
    score: float | None = None
    is_good: bool | None = None
    has_probability: bool = False
    said: str | None = None
    cause: str | None = None
    reason: str | None = None
    overlap: float
    usage: Usage = Usage()


async def judge_rows(rows: Sequence[Labelled], *, judge: Judge, options: Options) -> AsyncIterator[Judged]:
    """The judged rows in the order of the rows. Raises JudgeStop when the judge cannot go on."""
    async for judged in in_order(
        rows, lambda row: judge_row(row, judge=judge, options=options), most=judge.concurrency
    ):
        yield judged


async def judge_row(row: Labelled, *, judge: Judge, options: Options) -> Judged:
    """One row, judged as its task asks."""
    if row.is_claim and row.task != "answer_relevance":
        return await _claim(row, Desk(judge, options))
    metric = METRICS[_METRICS[row.task]]
    result = await judge_sample(row.sample, judge=judge, metrics=[metric], options=options)
    return _graded(row, result) if row.task == "relevance" else _scored(row, result, metric.name)


async def _claim(row: Labelled, desk: Desk) -> Judged:
    text = row.sample.answer
    claim = Claim(id="a1", side=ANSWER, text=text, segment_ids=(), start=0, end=len(text), is_whole=True)
    ids = tuple(context.id for context in row.sample.contexts)
    (verdict,) = await desk.verdicts(row.sample, ids, [claim])
    if verdict.label is Label.UNJUDGED:
        return _judged(row, cause=verdict.cause or "missing", usage=Usage.of(desk.calls))
    chance = _chance(verdict)
    return _judged(
        row,
        score=_SCORES[verdict.label] if chance is None else chance,
        is_good=verdict.label is Label.SUPPORTED,
        has_probability=chance is not None,
        said=verdict.label.value,
        usage=Usage.of(desk.calls),
    )


def _chance(verdict: Verdict) -> float | None:
    return None if verdict.probabilities is None else verdict.probabilities.get(Label.SUPPORTED.value)


def _graded(row: Labelled, result: Result) -> Judged:
    ratings = result.case.rated("relevance").values()
    failed = next((rating for rating in ratings if rating.label is None), None)
    if failed is not None or not ratings:
        return _judged(row, cause=failed.cause if failed and failed.cause else "missing", usage=result.usage)
    score, best = max((_grade(rating), rating.label or "") for rating in ratings)
    return _judged(
        row,
        score=score,
        is_good=int(best) / _TOP_GRADE >= CUTS["relevance"],
        has_probability=any(rating.probabilities for rating in ratings),
        said=best,
        usage=result.usage,
    )


def _grade(rating: Rating) -> float:
    """The grade as a share of the highest, by expectation where the judge gives probabilities."""
    if rating.probabilities:
        return sum(int(grade) * chance for grade, chance in rating.probabilities.items()) / _TOP_GRADE
    return int(rating.label or 0) / _TOP_GRADE


def _scored(row: Labelled, result: Result, metric: str) -> Judged:
    score = result[metric]
    if score.value is None:
        causes = [v.cause for v in result.verdicts if v.cause] + [fault.cause for fault in result.faults]
        if score.reason in (Reason.UNJUDGED, Reason.UNSPLIT):
            return _judged(row, cause=causes[0] if causes else score.reason.value, usage=result.usage)
        return _judged(row, reason=score.reason.value if score.reason else "undefined", usage=result.usage)
    said = (
        f"{score.numerator:g} of {score.denominator:g}" if score.denominator and score.numerator is not None else None
    )
    is_good = score.value >= CUTS[row.task]
    return _judged(row, score=score.value, is_good=is_good, said=said, usage=result.usage)


def _judged(row: Labelled, **found: object) -> Judged:
    return Judged.model_validate({"row": row, "overlap": _overlap(row), **found})


def _overlap(row: Labelled) -> float:
    sample = row.sample
    asked = sample.question if row.task in ("relevance", "answer_relevance") else sample.answer
    there = [context.text for context in sample.contexts] if row.task != "answer_relevance" else [sample.answer]
    return share_of(content_words(asked), found_in=content_words("\n".join(there)))
