"""A judge's grades in the place of labels: what a run found relevant, ready for the same measures."""

from __future__ import annotations

from judgekit.records import Case, Context, Sample

#: From this grade of 0..3 on a judge calls a context relevant: strong evidence, or the answer itself.
RELEVANT_FROM = 2
#: What grades cannot tell, to be said beside the means.
NOTE = "the judge saw only what was retrieved: nothing that was missed lowers recall, ap or the ideal of ndcg"


def judged_sample(case: Case) -> Sample:
    """The sample with the judge's grades of its contexts (0..3) as `relevance`, and without its own retrieval calls.

    `relevance` is None when a grade is missing, so that no failed call is taken for an irrelevant context. A blank
    context has grade 0, and a repeated text the grade of its first copy, as in `context_precision`.
    """
    grades = {context.id: _grade(case, context) for context in case.sample.contexts}
    return case.sample.having(relevance=None if None in grades.values() else grades, retrievals=())


def _grade(case: Case, context: Context) -> float | None:
    if context.is_blank:
        return 0.0
    rating = case.rated("relevance").get(case.sample.first_of_text[context.id])
    return float(rating.label) if rating and rating.label is not None else None
