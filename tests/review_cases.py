"""Runs to review: results made by hand, with every kind of source and label."""

from judgekit.metrics import METRICS
from judgekit.records import (
    ANSWER,
    REFERENCE,
    THE_ANSWER,
    THE_REFERENCE,
    Case,
    Check,
    Citation,
    Claim,
    Context,
    Evidence,
    Label,
    Manifest,
    MetricPin,
    Result,
    Sample,
    Segment,
    Verdict,
)
from judgekit.rundir import write_run

D1 = Context(id="d1", text="First text.", title="Terms", doc_id="d", version="2026-03")
D2 = Context(id="d2", text="Second\ntext.")
SUPPORTED, UNSUPPORTED = Label.SUPPORTED, Label.UNSUPPORTED


def a_verdict(claim_id, *sources, label=SUPPORTED, **more):
    told = {"calls": ("k1",), "evidence": (Evidence(context_id="d1", quote="SECRET-QUOTE", verified=True),), **more}
    return Verdict(check=Check(claim_id=claim_id, sources=sources), label=label, **told)


def a_result(
    row_id, *, answer="An answer [2].", claim="A claim.", label=SUPPORTED, contexts=(D1, D2), verdicts=None, **sample
):
    """A row with one claim of the answer, which cites d2, and one of the reference; five verdicts by default."""
    cited = contexts[-1].id
    texts = {"question": "What?", "reference": "The gold.", **sample}
    if verdicts is None:
        ids = tuple(context.id for context in contexts)
        verdicts = (
            a_verdict("a1", *ids, label=label),
            a_verdict("a1", cited, label=label),
            a_verdict("r1", *ids, label=label),
            a_verdict("a1", *THE_REFERENCE, label=label),
            a_verdict("r1", *THE_ANSWER, label=label),
        )
    marker = answer.find("[2]")
    citations = (Citation(start=marker, end=marker + 3, label="2", context_id=cited),) if marker >= 0 else ()
    case = Case(
        sample=Sample(id=row_id, answer=answer, contexts=contexts, **texts),
        segments=(Segment(id="s1", start=0, end=len(answer), text=answer, bare=answer, citations=citations),),
        claims=(
            Claim(id="a1", side=ANSWER, text=claim, segment_ids=("s1",), start=0, end=len(answer), citations=(cited,)),
            Claim(id="r1", side=REFERENCE, text="Gold claim.", segment_ids=("t1",), start=0, end=9),
        ),
        verdicts=verdicts,
    )
    return Result(case=case)


def a_run(folder, *results, metrics=("faithfulness", "citation_support", "context_recall", "answer_correctness")):
    pins = {
        name: MetricPin(pin=f"pin of {name}", version=1, lower_is_better=False, options=METRICS[name].options)
        for name in metrics
    }
    return write_run(folder, results, Manifest(judgekit="0.1.0", logs=(), judge={}, metrics=pins))
