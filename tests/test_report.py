"""The report: every number with its counts, every bad row with its reasons, and no text that steers a terminal."""

import io
import json
import random
import re

import pytest
from rich.console import Console

from judgekit.metrics import METRICS, metrics_of
from judgekit.records import (
    ANSWER,
    Ask,
    Case,
    Check,
    Claim,
    Context,
    Evidence,
    Fault,
    Interval,
    Label,
    LogFile,
    Manifest,
    MetricPin,
    MetricSummary,
    Rating,
    Reason,
    Result,
    Sample,
    Score,
    Segment,
    Summary,
    Usage,
    Verdict,
)
from judgekit.report import as_json, render, render_row, worst_rows
from judgekit.scoring import summarize

HOSTILE_QUESTION = "Who \x1b[31mowns\x1b[0m [red]this[/red] [/] :smile: \x9b2J\x07\u202eknaB?\r\nNext"
HOSTILE_ID = "d1\nRow 99\x1b]0;title\x07 [bold]"
METRICS_OF_RUN = ("faithfulness", "contradiction_rate", "citation_support", "context_precision_by_answer", "refusal")

MANIFEST = Manifest(
    judgekit="0.1.0",
    logs=(LogFile(name="answers.jsonl", sha256="ab" * 32, rows=3),),
    judge={"judge": {"model": "gpt-4.1-mini", "resolved": "gpt-4.1-mini-2025-04-14", "base_url": "http://host/v1"}},
    metrics={name: MetricPin(pin=f"pin-{name}", version=1, lower_is_better=False) for name in METRICS_OF_RUN},
)


def printed(draw, *, width=80, **options):
    """What `draw` prints into a pipe of that width."""
    file = io.StringIO()
    draw(Console(file=file, width=width, **options))
    return file.getvalue()


def a_row(row_id, question="What is the notice period?", *, scores, faults=()):
    return Result(case=Case(sample=Sample(id=row_id, question=question)), scores=tuple(scores), faults=tuple(faults))


def valued(metric="faithfulness", value=1.0, **more):
    return Score(metric=metric, value=value, **more)


def lease(question="What is the notice period, and who may end the lease?", first_id="lease#4") -> Result:
    """A row as a run would hold it: two contexts, three claims, verdicts of all kinds."""
    answer = "The notice period is three months [1]. Both sides may end it [2][7]. The deposit is 900 euros [1]."
    spans = ((0, 38), (38, 69), (69, len(answer)))
    contexts = (
        Context(id=first_id, title="Lease", text="The notice period is three months. The deposit is two rents. " * 9),
        Context(id="lease#9", text="Either the tenant or the landlord may end this lease in writing."),
        Context(id="blank", text=" "),
    )
    segments = tuple(
        Segment(id=f"s{at}", start=start, end=end, text=answer[start:end], bare=answer[start:end])
        for at, (start, end) in enumerate(spans, 1)
    )
    claims = (
        Claim(
            id="c1",
            side=ANSWER,
            text="The notice period is three months.",
            segment_ids=("s1",),
            start=0,
            end=38,
            citations=(first_id,),
        ),
        Claim(
            id="c2",
            side=ANSWER,
            text="Both sides may end the lease.",
            segment_ids=("s2",),
            start=38,
            end=69,
            citations=("lease#9",),
            dangling=("7",),
        ),
        Claim(
            id="c3",
            side=ANSWER,
            text="The deposit is 900 euros.",
            segment_ids=("s3",),
            start=69,
            end=len(answer),
            citations=(first_id,),
        ),
    )
    together = (first_id, "lease#9")
    verdicts = (
        Verdict(
            check=Check.of(claims[0], together),
            label=Label.SUPPORTED,
            evidence=(Evidence(context_id=first_id, quote="The notice period is three months.", verified=True),),
        ),
        Verdict(
            check=Check.of(claims[1], together),
            label=Label.PARTIALLY_SUPPORTED,
            in_parts=True,
            evidence=(
                Evidence(context_id="lease#9", quote="may end this lease in writing", verified=True, aligned=True),
            ),
        ),
        Verdict(
            check=Check.of(claims[2], together),
            label=Label.CONTRADICTED,
            evidence=(Evidence(context_id=first_id, quote="The deposit is two months' rent", verified=False),),
        ),
        Verdict(
            check=Check.of(claims[2], (first_id,)), label=Label.UNJUDGED, cause="invalid_label", raw='{"c3": "maybe"}'
        ),
    )
    return Result(
        case=Case(
            sample=Sample(id="q7", question=question, answer=answer, contexts=contexts),
            segments=segments,
            claims=claims,
            verdicts=verdicts,
            invented_claims=("The lease began in 2019.",),
            asks=(Ask(id="q1", text="What is the notice period?"),),
            ratings=(
                Rating(kind="relevance", subject=first_id, label="3"),
                Rating(kind="relevance", subject="lease#9", label=None, cause="timeout"),
                Rating(kind="ask", subject="q1", label="answered"),
                Rating(kind="bearing", subject="c1", label="yes"),
                Rating(kind="refusal", subject="answer", label="no"),
            ),
        ),
        scores=(
            Score.share("faithfulness", [1, 0, 0], basis=["c1", "c2", "c3"]),
            Score.share("contradiction_rate", [0, 0, 1]),
            Score.share("citation_support", [1, 1, 0, None], note="1 dangling"),
            Score.undefined("context_precision_by_answer", Reason.NO_CONTEXTS),
            valued("refusal", 0.0, numerator=0, denominator=1, label="answered_sufficient"),
        ),
        usage=Usage(calls=4, prompt_tokens=5120, completion_tokens=311),
    )


# --- which rows are worth reading --------------------------------------------------------------


def ids(results):
    return [result.id for result in results]


def test_the_lowest_faithfulness_comes_first_then_the_lowest_of_the_others_then_the_mean():
    rows = [
        a_row("faithful", scores=[valued(value=1.0), valued("citation_support", 0.1)]),
        a_row("half", scores=[valued(value=0.5), valued("citation_support", 0.9)]),
        a_row("half-and-uncited", scores=[valued(value=0.5), valued("citation_support", 0.2)]),
        a_row("half-and-all-low", scores=[valued(value=0.5), valued("citation_support", 0.5)]),
        a_row("no-faithfulness", scores=[valued("citation_support", 0.0)]),
    ]
    metrics = metrics_of(["faithfulness", "citation_support"])
    in_order = ["half-and-uncited", "half-and-all-low", "half", "no-faithfulness", "faithful"]
    for seed in range(5):
        random.Random(seed).shuffle(rows)
        assert ids(worst_rows(rows, metrics, 9)) == in_order
        assert ids(worst_rows(rows, metrics, 3)) == in_order[:3]


def test_where_lower_is_better_a_high_value_is_the_bad_one():
    rows = [
        a_row("clean", scores=[valued("contradiction_rate", 0.0)]),
        a_row("contradicted", scores=[valued("contradiction_rate", 0.75)]),
        a_row("a-little", scores=[valued("contradiction_rate", 0.25)]),
    ]
    assert ids(worst_rows(rows, metrics_of("contradiction_rate"), 5)) == ["contradicted", "a-little"]


def test_a_score_that_sorts_and_a_row_without_a_flaw_are_not_worth_reading():
    answered = valued("refusal", 0.0, label="answered_sufficient")
    rows = [a_row("perfect", scores=[valued(), answered]), a_row("nothing", scores=[])]
    assert worst_rows(rows, metrics_of(["faithfulness", "refusal"]), 5) == []


def test_of_rows_that_are_equally_bad_the_first_of_the_log_are_taken():
    rows = [a_row(f"q{at}", scores=[valued(value=0.0)]) for at in range(20)]
    assert ids(worst_rows(iter(rows), metrics_of("faithfulness"), 3)) == ["q0", "q1", "q2"]
    assert worst_rows(rows, metrics_of("faithfulness"), 0) == []


def test_failed_rows_stand_after_the_worst_ones_and_do_not_take_their_places():
    fault = Fault(stage="row", cause="KeyError", message="'d9'")
    unjudged = Score.undefined("faithfulness", Reason.UNJUDGED)
    rows = [
        a_row("broken", scores=[valued(value=0.0)], faults=[fault]),
        a_row("silent", scores=[unjudged]),
        a_row("refused", scores=[Score.undefined("faithfulness", Reason.REFUSED)]),
        a_row("half-judged", scores=[unjudged, valued("citation_support", 0.4)]),
        a_row("low", scores=[valued(value=0.3)]),
        a_row("broken-too", scores=[], faults=[fault]),
    ]
    assert ids(worst_rows(rows, METRICS.values(), 2)) == ["low", "half-judged", "broken", "silent"]


# --- the report --------------------------------------------------------------------------------


def report(rows, *, width=80, manifest=MANIFEST, **options):
    metrics = metrics_of(METRICS_OF_RUN)
    summary, worst = summarize(rows, metrics), worst_rows(rows, metrics, 3)
    return printed(lambda console: render(summary, manifest, worst, console=console), width=width, **options)


FAILED = a_row(
    "q9",
    scores=[Score.undefined(name, Reason.UNJUDGED) for name in METRICS_OF_RUN],
    faults=[Fault(stage="split answer", cause="missing", message="The deposit [1].", raw="I cannot")],
)
REFUSED = a_row("q8", scores=[Score.undefined(name, Reason.REFUSED) for name in METRICS_OF_RUN])


def table(rows, **options):
    shown = report(rows, **options)
    return [line.split() for line in shown[shown.index("\nMetrics\n") : shown.index("  mean: ")].splitlines()[2:]]


def test_each_metric_stands_with_its_interval_and_its_counts_on_one_line():
    lines = {line[0]: line[1:] for line in table([lease(), lease(), FAILED, REFUSED], width=120)}
    # every row is 1/3, so that G = 2 rows are worth 2: Wilson(1/3, n = 2) at t(1) = 12.706
    assert lines["faithfulness"] == [*["0.333", "[0.00,", "0.99]"] * 2, "2*", "1", "1", "refused"]
    assert lines["contradiction_rate"] == ["↓", *["0.333", "[0.00,", "0.99]"] * 2, "2*", "1", "1", "refused"]
    assert lines["citation_support"] == ["-", "-", "0", "3", "1", "refused"]


def test_a_narrow_table_gives_long_names_and_reasons_lines_of_their_own():
    lines = table([lease(), lease(), FAILED, REFUSED], width=80)
    reason = ["undefined:", "1", "refused"]
    assert lines[:3] == [
        ["metric", "mean", "[95", "%]", "pooled", "[95", "%]", "scored", "unjudged"],
        ["faithfulness", *["0.333", "[0.00,", "0.99]"] * 2, "2*", "1"],
        reason,
    ]
    at = lines.index(["context_precision_by_answer"])
    assert lines[at + 1 : at + 3] == [["-", "-", "0", "1"], ["undefined:", "2", "no", "contexts,", "1", "refused"]]


def test_what_an_interval_rests_on_is_said_under_the_table():
    few = report([lease(), FAILED]).splitlines()
    assert "  [ ]: 95 % interval, given this pinned judge; its own errors are not in it" in few
    assert "  * small sample: fewer than 20 rows" in few
    assert "  [-]: no interval from fewer than 2 rows" in few
    many = report([lease()] * 20)
    assert "small sample" not in many
    assert "[-]" not in many


def test_a_user_sees_who_judged_what_and_what_the_numbers_rest_on():
    shown = report([lease(), FAILED, REFUSED])
    for line in (
        "judgekit 0.1.0",
        "  Judge     gpt-4.1-mini-2025-04-14 @ http://host/v1 (asked for as gpt-4.1-mini)",
        "  Rows      3",
        "  Rests on  4 calls, 5,120 prompt and 311 completion tokens",
        "  answered                 1                0",
        "  Verdicts   4: 1 supported, 1 partially supported, 1 contradicted, 1 unjudged",
        "  Unjudged   2 of 9 verdicts and ratings (22.2%): 1 invalid label, 1 timeout",
        "  Citations  1 dangling: they point to nothing that was retrieved",
        "  Claims     1 invented by the split and dropped",
        "  Faults     1: 1 split answer: missing",
    ):
        assert line in shown.splitlines()


def test_an_unfinished_run_and_skipped_rows_are_said():
    manifest = MANIFEST.having(skipped_rows=("answers.jsonl:4",))
    assert "  Rows      1 of 3: the run is not finished; bad rows of the log that were skipped: 1" in report(
        [lease()], manifest=manifest, width=120
    )


def test_a_bad_row_shows_its_claims_verdicts_and_evidence_and_a_good_claim_not():
    shown = report([lease(), FAILED])
    worst = shown[shown.index("Worth reading first") : shown.index("Failed rows")].splitlines()
    assert worst[1:10] == [
        "  q7  faithfulness 0.333 (1/3), contradiction_rate 0.333 (1/3)",
        "    What is the notice period, and who may end the lease?",
        "    c2  Both sides may end the lease.",
        "        cites lease#9 and 7, which was not retrieved",
        "        partially supported against both contexts (asked in parts)",
        '          lease#9: "may end this lease in writing" [aligned]',
        "    c3  The deposit is 900 euros.",
        "        cites lease#4",
        "        contradicted against both contexts",
    ]
    assert "    c1" not in "\n".join(worst)


def test_long_claims_and_quotes_are_shortened_in_the_overview_and_whole_in_the_row():
    claim, quote, reason = (f"{word} " + "so " * 300 + "end" for word in ("Claim", "Quote", "Reason"))
    case = lease().case
    (first, second, third), wrong = case.claims, case.verdicts[2]
    found = wrong.evidence[0].having(quote=quote)
    long = lease().having(
        case=case.having(
            claims=(first, second, third.having(text=claim)),
            verdicts=(*case.verdicts[:2], wrong.having(evidence=(found,), reason=reason)),
        )
    )
    overview, whole = report([long], width=5000), row(long, width=5000)
    for text in (claim, quote, reason):
        assert text in whole
        assert f"{text[:300].rstrip()}... ({len(text)} characters)" in overview
        assert text[:320] not in overview


def test_a_failed_row_shows_its_fault_and_what_the_judge_wrote():
    shown = report([FAILED])
    assert "Worth reading first" not in shown
    assert shown.splitlines()[-3:] == [
        "  q9",
        "    What is the notice period?",
        "    split answer: missing  The deposit [1].; the judge wrote: I cannot",
    ]


def test_a_row_that_only_missing_verdicts_kept_from_a_score_says_what_was_missing():
    checks = [Check(claim_id="c1", sources=("d1",)), Check(claim_id="c2", sources=("d1",))]
    verdicts = tuple(Verdict(check=check, label=Label.UNJUDGED, cause="timeout") for check in checks)
    silent = FAILED.having(case=FAILED.case.having(verdicts=verdicts), faults=())
    assert "Failed rows\n  q9\n    What is the notice period?\n    unjudged: 2 timeout\n" in report([silent])


@pytest.mark.parametrize("width", [80, 120])
def test_in_a_pipe_the_report_is_plain_and_no_line_is_too_long_or_ends_in_spaces(width):
    shown = report([lease(), FAILED, REFUSED], width=width)
    assert "\x1b" not in shown
    assert "…" not in shown
    assert all(len(line) <= width and line == line.rstrip() for line in shown.splitlines())
    assert all(any(line.startswith(f"  {name}") for line in shown.splitlines()) for name in METRICS_OF_RUN)


def interval(low, high, clusters=40):
    return Interval(low=low, high=high, n_eff=30.0, clusters=clusters, confidence=0.95, small=clusters < 20)


def test_long_names_and_many_reasons_lose_no_character():
    metric = MetricSummary(
        metric="share_of_claims_that_our_own_house_rules_ask_for",
        macro=0.5,
        micro=0.25,
        scored=1_234_567,
        undefined={"no_contexts": 100_000, "no_reference": 2, "unjudged": 7},
        macro_interval=interval(0.4994, 0.506),
        micro_interval=interval(0.2, 0.3),
    )
    summary = Summary(rows=1_334_576, metrics=(metric,), verdicts={}, unjudged=0, judged=0, causes={}, faults={})
    shown = printed(lambda console: render(summary, MANIFEST, [], console=console))
    lines = shown[shown.index("  metric") : shown.index("  mean:")].splitlines()[1:]
    assert [" ".join(line.split()) for line in lines] == [
        metric.metric,
        "0.500 [0.50, 0.51] 0.250 [0.20, 0.30] 1,234,567 7",
        "undefined: 100,000 no contexts, 2 no reference",
    ]


def test_a_console_without_unicode_gets_no_arrow():
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding="ascii")
    metrics = metrics_of(METRICS_OF_RUN)
    summary = summarize([REFUSED], metrics)
    render(summary, MANIFEST, [], console=Console(file=file, width=80))
    file.flush()
    assert b"contradiction_rate (<)" in raw.getvalue()


def test_labels_other_than_those_of_refusal_are_counted_in_words():
    metric = MetricSummary(
        metric="tone",
        macro=0.5,
        micro=None,
        scored=3,
        undefined={},
        labels={"curt": 1, "too_kind": 2},
        macro_interval=interval(0.1, 0.9, clusters=3),
        micro_interval=interval(None, None, clusters=0),
    )
    summary = Summary(rows=3, metrics=(metric,), verdicts={}, unjudged=0, judged=0, causes={}, faults={})
    shown = printed(lambda console: render(summary, MANIFEST, [], console=console))
    assert "Tone by label (3 rows scored)\n  2 too kind, 1 curt\n" in shown


# --- one row -----------------------------------------------------------------------------------


def row(result, **options):
    return printed(lambda console: render_row(result, console), **options)


def test_a_row_shows_each_claim_with_span_citations_and_every_verdict():
    shown = row(lease())
    assert shown[shown.index("Claims of the answer") : shown.index("Invented by")].splitlines() == [
        "Claims of the answer",
        "  c1  The notice period is three months.",
        "      characters 0-38, s1; cites lease#4",
        "      supported against both contexts",
        '        lease#4: "The notice period is three months." [verified]',
        "  c2  Both sides may end the lease.",
        "      characters 38-69, s2; cites lease#9 and 7, which was not retrieved",
        "      partially supported against both contexts (asked in parts)",
        '        lease#9: "may end this lease in writing" [aligned]',
        "  c3  The deposit is 900 euros.",
        "      characters 69-98, s3; cites lease#4",
        "      contradicted against both contexts",
        '        lease#4: "The deposit is two months\' rent" [NOT FOUND in the sources]',
        "      unjudged against lease#4 alone (invalid label)",
        '        the judge wrote: {"c3": "maybe"}',
        "",
    ]


def test_a_row_shows_its_texts_ratings_and_scores_with_what_was_counted():
    lines = row(lease(), width=120).splitlines()
    for line in (
        "  s2  Both sides may end it [2][7].",
        "  lease#9  Either the tenant or the landlord may end this lease in writing.",
        "  blank    (no text)",
        "  -  The lease began in 2019.",
        "  relevance  lease#9  unjudged (timeout)",
        "  ask        q1       answered  What is the notice period?",
        "  faithfulness                 0.333  1/3",
        "  citation_support             -      2/4  unjudged; 3 of 4 judged; between 0.500 and 0.750; 1 dangling",
        "  context_precision_by_answer  -           no contexts",
        "  refusal                      0.000  0/1  answered sufficient",
        "Rests on 4 calls, 5,120 prompt and 311 completion tokens",
    ):
        assert line in lines
    assert "... (548 characters)" in " ".join(" ".join(lines).split())


def test_a_row_that_failed_shows_that_too():
    assert "Faults\n  split answer: missing  The deposit [1].; the judge wrote: I cannot\n" in row(FAILED)


# --- text that would like to be more -----------------------------------------------------------


@pytest.mark.parametrize("terminal", [False, True])
def test_text_from_the_log_neither_steers_the_terminal_nor_is_taken_for_markup(terminal):
    result = lease(HOSTILE_QUESTION, HOSTILE_ID)
    summary = summarize([result], metrics_of(METRICS_OF_RUN))

    def both(console):
        render(summary, MANIFEST, [result], console=console)
        render_row(result, console)

    shown = printed(both, width=120, force_terminal=terminal, color_system="standard" if terminal else None)
    ours = re.sub(r"\x1b\[[\d;]*m", "", shown) if terminal else shown  # the report's own colours
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", ours)
    assert "Who owns [red]this[/red] [/] :smile:" in ours
    assert "Row 99 ]0;title [bold]" in ours
    assert not any(line.startswith("Row 99") for line in ours.splitlines())
    red = "\x1b[31m"
    assert f"{red}owns" not in shown


def test_every_text_of_a_row_is_cleaned():
    """One escape in each text of a row, wherever it stands: none of them comes out."""
    dirty = json.loads(lease().model_dump_json())

    def soil(value, key=""):
        if isinstance(value, dict):
            return {name: soil(inner, name) for name, inner in value.items()}
        if isinstance(value, list):
            return [soil(inner, key) for inner in value]
        fixed = {"side", "kind", "metric", "answer"} | ({"label", "reason"} if value is not None else set())
        return f"{value}\x1b[2J\x9b31m\x00" if isinstance(value, str) and key not in fixed else value

    result = Result.model_validate(soil(dirty))
    assert "\x1b[2J" in result.case.claims[0].text
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", row(result))
    summary = summarize([result], metrics_of(METRICS_OF_RUN))
    shown = printed(lambda console: render(summary, MANIFEST, [result], console=console))
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", shown)


NO_INTERVAL = {
    "low": None,
    "high": None,
    "n_eff": None,
    "clusters": 1,
    "confidence": 0.95,
    "small": True,
    "reason": "needs >= 2 samples",
}


# --- json --------------------------------------------------------------------------------------


def test_the_json_holds_every_number_with_its_counts_and_its_pin():
    summary = summarize([lease(), FAILED, REFUSED], metrics_of(METRICS_OF_RUN))
    found = json.loads(json.dumps(as_json(summary, MANIFEST)))
    assert found["metrics"]["contradiction_rate"] == {
        "macro": pytest.approx(1 / 3),
        "micro": pytest.approx(1 / 3),
        "scored": 1,
        "undefined": {"refused": 1},
        "unjudged": 1,
        "lower_is_better": True,
        "labels": {},
        "macro_interval": NO_INTERVAL,
        "micro_interval": NO_INTERVAL,
        "pin": "pin-contradiction_rate",
        "version": 1,
        "options": {},
        "usage": {"calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost": None},
        "own": {"calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost": None},
    }
    assert list(found["metrics"]) == list(METRICS_OF_RUN)
    assert found["judge"]["judge"]["resolved"] == "gpt-4.1-mini-2025-04-14"
    assert (found["rows"], found["unjudged"], found["judged"]) == (3, 2, 7)
    assert found["usage"] == {"calls": 4, "prompt_tokens": 5120, "completion_tokens": 311, "cost": None}
