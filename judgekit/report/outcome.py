"""What people found when they checked the judge, for a terminal: the corrected scores first, then why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console
from rich.text import Text

from judgekit.confidence import PERCENT, bracketed
from judgekit.humans import (
    Agreement,
    Bin,
    Calibration,
    CorrectedScore,
    Disagreement,
    Estimate,
    Measure,
    Outcome,
    Splitting,
)
from judgekit.report.plain import counted, number, one_line, shortened, words
from judgekit.report.row import grid, head, put

_CLAIM_CHARS = 300
_BAR = 20
_NAMED = 2
_NAMES: Mapping[str, str] = {
    "tpr": "TPR: of the defects, flagged",
    "tnr": "TNR: of the sound, passed",
    "precision": "precision: of the flagged, defects",
    "f1": "F1",
    "balanced_accuracy": "balanced accuracy",
    "mcc": "MCC",
    "accuracy": "accuracy",
    "kappa": "Cohen's kappa",
    "ac1": "Gwet's AC1",
}


def render_outcome(outcome: Outcome, *, console: Console, worst: int = 5) -> None:
    """Print what a review came to: corrected scores beside the raw ones, what the judge gets wrong, and where.

    At most `worst` disagreements are shown. Fit for 80 columns; text of logs and people is printed as plain text.
    """
    put(console, Text(f"Spot check of {one_line(outcome.run)}", style="bold"))
    put(console, grid((Text(name), Text(said)) for name, said in _facts(outcome)), indent=2)
    if outcome.reason:
        put(console, Text(f"\n{one_line(outcome.reason)}", style="bold"))
    if outcome.scores and any(score.labels for score in outcome.scores):
        _scores(console, outcome)
    if outcome.transferred:
        _transferred(console, outcome)
    if outcome.agreement:
        _agreement(console, outcome, outcome.agreement)
    if outcome.splitting:
        _splitting(console, outcome.splitting)
    if outcome.labels:
        _calibration(console, outcome.calibration)
    if outcome.disagreements:
        head(console, f"Worth reading first ({min(worst, len(outcome.disagreements))} of {len(outcome.disagreements)})")
        for found in outcome.disagreements[:worst]:
            _disagreement(console, found)


def _facts(outcome: Outcome) -> Iterator[tuple[str, str]]:
    if outcome.export_id and not outcome.labels_from:
        yield "Draw", f"{one_line(outcome.export_id)}: {outcome.drawn:,} of {outcome.checks:,} checks"
    if outcome.labels_from:
        matched = outcome.matched or 0
        yield (
            "Labels",
            f"of {one_line(outcome.labels_from)}, where {matched:,} of {outcome.checks:,} checks are the same",
        )
    by = f" by {', '.join(one_line(name) for name in outcome.reviewers)}" if outcome.reviewers else ""
    yield "Labelled", f"{outcome.labels:,}{by}"
    if outcome.unanswered:
        yield "No label", counted(outcome.unanswered)
    if outcome.unjudged:
        yield "Unjudged", f"{outcome.unjudged:,} checks without a verdict: they could not be drawn"
    if outcome.aside:
        yield (
            "Set aside",
            f"{outcome.aside:,} labelled checks, picked by hand, of another draw or of other texts: in no estimate",
        )
    if outcome.assisted:
        yield "Assisted", f"{outcome.assisted:,} labels were given with the verdict in view: all of this is optimistic"


# --- scores ------------------------------------------------------------------------------------


def _scores(console: Console, outcome: Outcome) -> None:
    """Two lines a metric, then what they rest on; one line for all metrics that have none."""
    head(console, "Scores, as the judge gives them and corrected")
    width = max(len(one_line(score.metric)) for score in outcome.scores)
    put(console, Text(_line("metric", "", f"raw [{PERCENT}]", f"corrected [{PERCENT}]", width), "bold"), indent=2)
    for score in outcome.scores:
        put(console, Text(_line(one_line(score.metric), "mean", *_numbers(score.macro), width)), indent=2)
        put(console, Text(_line("", "pooled", *_numbers(score.micro), width)), indent=2)
        for note in _notes(score):
            put(console, Text(note, style="dim"), indent=4)
    put(console, Text("corrected: what people would have found, had they labelled every check", "dim"), indent=2)
    for reason, names in _by_reason(outcome.not_corrected):
        put(console, Text(f"not corrected, {one_line(reason)}: {', '.join(names)}", "dim"), indent=2)


def _line(name: str, which: str, raw: str, corrected: str, width: int) -> str:
    return f"{name:<{width}}  {which:<6}  {raw:<18}  {corrected}".rstrip()


def _numbers(mean: Estimate) -> tuple[str, str]:
    return _raw(mean), _with_interval(mean.value, mean.low, mean.high)


def _raw(mean: Estimate) -> str:
    return "-" if mean.raw is None else f"{number(mean.raw)} {bracketed(mean.raw_interval)}"


def _with_interval(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return "-"
    return number(value) if low is None or high is None else f"{number(value)} [{low:.2f}, {high:.2f}]"


def _notes(score: CorrectedScore) -> Iterator[str]:
    if score.complete:
        yield f"all {score.checks:,} checks are labelled: nothing is estimated"
    else:
        more = score.macro.more
        halved = "" if more is None else f"; {more:,} more would halve the mean's interval"
        yield f"from {score.labels:,} labels of {score.checks:,} checks{halved}"
    if score.macro.wide_low is not None and score.macro.wide_high is not None:
        yield f"for more rows like these the mean lies in [{score.macro.wide_low:.2f}, {score.macro.wide_high:.2f}]"
    if score.unlabelled:
        yield f"no label in {_some([f'{one_line(name)} ({size:,})' for name, size in score.unlabelled.items()])}"
    if score.unanswered:
        ends = [number(end) for end in (score.macro.lowest, score.macro.highest) if end is not None]
        between = f"; with them the mean is from {ends[0]} to {ends[1]}" if len(ends) > 1 else ""
        yield f"without: {counted(score.unanswered)}{between}"
    if score.assisted:
        yield f"{score.assisted:,} of the labels are assisted: optimistic"
    if score.left_out:
        yield f"{score.left_out:,} rows have a missing verdict and are in neither"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"


def _by_reason(reasons: Mapping[str, str]) -> list[tuple[str, list[str]]]:
    grouped: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        grouped.setdefault(reason, []).append(one_line(name))
    return list(grouped.items())


def _transferred(console: Console, outcome: Outcome) -> None:
    head(console, f"Carried over from {one_line(outcome.labels_from or 'another run')}, by the judge's errors there")
    for one in outcome.transferred:
        if one.value is None:
            said = f"refused: {one_line(one.reason or 'unknown')}"
        else:
            rates = f"sensitivity {number(one.sensitivity)}, specificity {number(one.specificity)}"
            labels = f"{one.positives + one.negatives:,} labels"
            value = _with_interval(one.value, one.low, one.high)
            said = f"pooled {number(one.raw)} raw, {value} corrected ({rates}, from {labels})"
        put(console, Text(f"{one_line(one.metric)}: {said}"), indent=2)
    warning = "right only if the judge errs here as it did there; labels of this run's own need no such faith"
    put(console, Text(warning, "dim"), indent=2)


# --- agreement ---------------------------------------------------------------------------------


def _agreement(console: Console, outcome: Outcome, found: Agreement) -> None:
    head(console, f"Judge against humans ({found.labels:,} labels, weighted to the {found.checks:,} checks)")
    rows = [(Text("", "bold"), Text("human: defect", "bold"), Text("human: sound", "bold"), Text("of the run", "bold"))]
    rows += [
        _margin("judge: defect", found.tp, found.fp, found.judge_share),
        _margin("judge: sound", found.fn, found.tn, _rest(found.judge_share)),
        (Text("of the run"), _percent(found.human_share), _percent(_rest(found.human_share)), Text("")),
    ]
    put(console, grid(rows), indent=2)
    measures = ((Text(_NAMES[name]), Text(_of(measure))) for name, measure in found.measures.items())
    put(console, grid(measures, widest=40), indent=2)
    if outcome.by_metric:
        put(console, Text("by metric", style="bold"), indent=2)
        shown = (
            (Text(one_line(name)), *(Text(f"{m.upper()} {_of(one.measures[m])}") for m in ("tpr", "tnr")))
            for name, one in outcome.by_metric.items()
        )
        put(console, grid(shown), indent=4)
    put(console, Text("defect: a verdict other than supported; read kappa and AC1 beside TPR and TNR", "dim"), indent=2)
    _ceiling(console, outcome)


def _margin(name: str, defect: int, sound: int, share: float | None) -> tuple[Text, Text, Text, Text]:
    return Text(name), Text(f"{defect:,}"), Text(f"{sound:,}"), _percent(share)


def _percent(share: float | None) -> Text:
    return Text("-" if share is None else f"{share:.1%}")


def _rest(share: float | None) -> float | None:
    return None if share is None else 1 - share


def _of(measure: Measure) -> str:
    return _with_interval(measure.value, measure.low, measure.high)


def _ceiling(console: Console, outcome: Outcome) -> None:
    found = outcome.ceiling
    head(console, "Humans against humans")
    if found is None:
        said = "no check was labelled by two people; `spotcheck draw --reviewers 2` draws an overlap"
        put(console, Text(said), indent=2)
        return
    named = ", ".join(one_line(name) for name in found.reviewers)
    numbers = {"agreement": found.agreement, "kappa": found.kappa, "AC1": found.ac1, "alpha": found.alpha}
    parts = [
        f"{found.checks:,} checks labelled by more than one of {named}",
        ", ".join(f"{name} {number(value)}" for name, value in numbers.items()),
    ]
    if found.disputed or found.settled:
        parts.append(f"{found.settled:,} adjudicated; {found.disputed:,} in dispute, which count as unlabelled")
    for part in parts:
        put(console, Text(part), indent=2)


def _splitting(console: Console, found: Splitting) -> None:
    head(console, "Claims, as the answers were split")
    if found.said:
        put(console, Text(f"of the labelled claims: {counted(found.said)}"), indent=2)
    if found.answers:
        share = _with_interval(found.found, found.low, found.high)
        parts = f"{found.claims:,} claims, {found.missed:g} statements missed"
        put(console, Text(f"{found.answers:,} answers read whole: {parts}; found {share}"), indent=2)


# --- calibration -------------------------------------------------------------------------------


def _calibration(console: Console, found: Calibration | None) -> None:
    head(console, "Confidence against labels")
    if found is None:
        put(console, Text("none: the judge gave no probabilities for the labelled checks"), indent=2)
        return
    put(console, Text(f"confidence   labels  mean   right [{PERCENT}]", style="bold"), indent=2)
    for one in found.bins:
        put(console, Text(_bin(one)), indent=2)
    auc = "-" if found.auc is None else number(found.auc)
    put(console, Text(f"ECE {number(found.ece)}, Brier {number(found.brier)}, AUC {auc}"), indent=2)
    put(console, Text("#: share right; |: where the mean confidence would have it", "dim"), indent=2)
    if found.threshold is not None and found.saves is not None:
        saved = f"a draw so split needs {found.saves:.0%} fewer labels"
        said = f"call a verdict uncertain below {found.threshold:.2f} (draw --uncertain-below): {saved}"
    else:
        said = "no threshold would make a draw need a tenth fewer labels"
    put(console, Text(said), indent=2)


def _bin(one: Bin) -> str:
    bar = ["#" if at < round(one.right * _BAR) else "." for at in range(_BAR + 1)]
    bar[round(one.confidence * _BAR)] = "|"
    right = f"{one.right:.2f} [{one.right_low:.2f}, {one.right_high:.2f}]"
    return f"{one.low:.2f}-{one.high:.2f}  {one.labels:>7,}  {one.confidence:.2f}  {right}  {''.join(bar)}"


# --- disagreements -----------------------------------------------------------------------------


def _disagreement(console: Console, found: Disagreement) -> None:
    title = f"{one_line(found.sample_id)} {one_line(found.check.claim_id)}"
    stands = f"stands for {found.stands_for:.1f} checks"
    put(console, Text.assemble((title, "bold"), f"  {shortened(found.claim, most=_CLAIM_CHARS)}"), indent=2)
    sure = "" if found.support is None else f" (probability of support {found.support:.2f})"
    put(console, Text(f"judge: {words(found.judge)}{sure}; human: {words(found.human)}; {stands}"), indent=4)
    sources = ", ".join(one_line(source) for source in found.check.sources)
    put(console, Text(f"held against {sources}", "dim"), indent=4)
    for evidence in found.evidence:
        put(
            console,
            Text(f'{one_line(evidence.context_id)}: "{shortened(evidence.quote, most=_CLAIM_CHARS)}"'),
            indent=4,
        )
    for note in found.notes:
        put(console, Text(f"note: {shortened(note, most=_CLAIM_CHARS)}"), indent=4)
