"""A run's numbers for a terminal, and for a pipe: the same words without colours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from pydantic import JsonValue
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from judgekit.confidence import PERCENT, bracketed
from judgekit.records import Interval, Label, Manifest, MetricSummary, Result, Summary, Verdict
from judgekit.report.plain import counted, number, one_line, shortened, words
from judgekit.report.row import claim_rows, counts_of, fault_cells, grid, head, put
from judgekit.report.spent import paid, spent
from judgekit.report.worst import is_failed

_QUESTION_CHARS = 300
_FAULT_CHARS = 200
_RATING_CHARS = 200
_CLAIM_CHARS = 300
_CLAIMS_A_ROW = 5
_UNJUDGED = "unjudged"
_SMALL = "*"
_REFUSALS = (("answered", "answered_sufficient", "answered_insufficient"), ("declined", "over_refusal", "due_refusal"))


def render(summary: Summary, run_info: Manifest, worst: Sequence[Result], *, console: Console) -> None:
    """Print a run: who judged what, every metric with its counts, what failed, and the rows worth reading first.

    `worst` are rows as `worst_rows` returns them: failed ones are listed apart. Fit for 80 columns; nothing is
    coloured unless the console is a terminal.
    """
    lower = {metric.metric for metric in summary.metrics if metric.lower_is_better}
    _header(console, summary, run_info)
    _metrics(console, summary)
    for metric in summary.metrics:
        if metric.labels:
            _labels(console, metric)
    head(console, "What the numbers rest on")
    put(console, grid((Text(name), Text(said)) for name, said in _facts(summary)), indent=2)
    spent(console, summary, run_info)
    read, failed = [row for row in worst if not is_failed(row)], [row for row in worst if is_failed(row)]
    if read:
        head(console, "Worth reading first")
        for result in read:
            _worst(console, result, lower)
    if failed:
        head(console, "Failed rows")
        for result in failed:
            _failed(console, result)


def _header(console: Console, summary: Summary, run: Manifest) -> None:
    logged = sum(log.rows for log in run.logs)
    rows = f"{summary.rows:,}" + (f" of {logged:,}: the run is not finished" if summary.rows < logged else "")
    if run.skipped_rows:
        rows += f"; bad rows of the log that were skipped: {len(run.skipped_rows):,}"
    usage = summary.usage
    tokens = f"{usage.prompt_tokens:,} prompt and {usage.completion_tokens:,} completion tokens"
    facts = [
        *((_part(part, run), _judge(spec)) for part, spec in run.judge.items()),
        ("Log", ", ".join(one_line(log.name) for log in run.logs)),
        ("Rows", rows),
        ("Rests on", f"{usage.calls:,} calls, {tokens}"),
        *((("Paid", paid(run)),) if run.sessions else ()),
        *((("Identity", said),) if (said := _identity(run)) else ()),
        *((("Left out", said),) if (said := _left_out(run)) else ()),
        *((("Thresholds", said),) if (said := _thresholds(run)) else ()),
    ]
    put(console, Text(f"judgekit {one_line(run.judgekit)}", style="bold"))
    put(console, grid((Text(name), Text(said)) for name, said in facts), indent=2)


def _identity(run: Manifest) -> str:
    """What is not known of who answered; empty when every reply named one snapshot, and no other fingerprint came."""
    sent, unnamed = (sum(session.sent for session in run.sessions), sum(session.unnamed for session in run.sessions))
    said = [f"unverifiable: {unnamed:,} of {sent:,} replies name no snapshot of the model"] if unnamed else []
    if len(run.fingerprints) > 1:
        said.append(f"{len(run.fingerprints)} fingerprints seen, so that the endpoint changed in some way")
    return "; ".join(said)


def _left_out(run: Manifest) -> str:
    """Request parameters that were set and that an endpoint refused."""
    found = [dialect.get("dropped") for dialect in run.dialect.values() if isinstance(dialect, Mapping)]
    names = sorted({str(name) for dropped in found if isinstance(dropped, list) for name in dropped})
    return one_line(f"{', '.join(names)}: the endpoint refuses what is set there") if names else ""


def _thresholds(run: Manifest) -> str:
    """The probability that a label needs to count, for every metric that has such a threshold."""
    least = {name: pin.options.get("min_probability") for name, pin in run.metrics.items()}
    return one_line(", ".join(f"{name} from a probability of {p}" for name, p in least.items() if p is not None))


def _part(part: str, run: Manifest) -> str:
    """What a part of the judge is called; a judge of one part does both and is just the judge."""
    return words(part).capitalize() if len(run.judge) > 1 else "Judge"


def _judge(spec: JsonValue) -> str:
    """Who answered, where, and how often each time it was asked; the name asked for too, when the endpoint resolved it
    to another."""
    if not isinstance(spec, Mapping):
        return one_line(str(spec))
    asked, answered = str(spec.get("model") or ""), str(spec.get("resolved") or spec.get("model") or "")
    alias = f" (asked for as {asked})" if asked != answered else ""
    settings = spec.get("settings")
    votes = settings.get("votes") if isinstance(settings, Mapping) else None
    times = f", {votes} votes" if votes else ""
    return one_line(f"{answered} @ {spec.get('base_url') or 'no endpoint'}{alias}{times}")


# --- metrics -----------------------------------------------------------------------------------


def _metrics(console: Console, summary: Summary) -> None:
    """One line a metric: its name is never cut, and a mean never stands without its counts and its interval.

    Where the console is too narrow, a long name and the reasons take lines of their own.
    """
    metrics = summary.metrics
    falling = " (<)" if console.options.ascii_only else " \u2193"
    names = [one_line(metric.metric) + (falling if metric.lower_is_better else "") for metric in metrics]
    titles = (f"mean [{PERCENT}]", f"pooled [{PERCENT}]", "scored", _UNJUDGED)
    cells = [_numbers(metric) for metric in metrics]
    widths = [max(map(len, column)) for column in zip(titles, *cells, strict=True)]
    room = console.width - 2 - sum(2 + width for width in widths)
    name_width = max((cell_len(name) for name in ("metric", *names) if cell_len(name) <= room), default=0)
    reasons = [counted({reason: n for reason, n in m.undefined.items() if reason != _UNJUDGED}) for m in metrics]
    beside = max(map(len, ("undefined", *reasons))) <= room - name_width - 2
    head(console, "Metrics")
    put(console, Text(_line("metric", name_width, titles, widths, "undefined" if beside else ""), "bold"), indent=2)
    for name, numbers, said in zip(names, cells, reasons, strict=True):
        if cell_len(name) > name_width:
            put(console, Text(name), indent=2)
        shown = "" if cell_len(name) > name_width else name
        put(console, Text(_line(shown, name_width, numbers, widths, said if beside else "")), indent=2)
        if said and not beside:
            put(console, Text(f"undefined: {said}", "dim"), indent=4 + name_width)
    for line in _legend(summary, falling.strip()):
        put(console, Text(line, style="dim"), indent=2)


def _line(name: str, name_width: int, cells: Sequence[str], widths: Sequence[int], said: str) -> str:
    """Name and means to the left of their columns, counts to the right, and at the end what may be long."""
    mean, pooled, *counts = zip(cells, widths, strict=True)
    aligned = [f"{cell:<{width}}" for cell, width in (mean, pooled)]
    aligned += [f"{cell:>{width}}" for cell, width in counts]
    return "  ".join((name + " " * (name_width - cell_len(name)), *aligned, said)).rstrip()


def _numbers(metric: MetricSummary) -> tuple[str, str, str, str]:
    scored = f"{metric.scored:,}{_SMALL if metric.scored and metric.macro_interval.small else ''}"
    return (
        _mean(metric.macro, metric.macro_interval),
        _mean(metric.micro, metric.micro_interval),
        scored,
        f"{metric.undefined.get(_UNJUDGED, 0):,}",
    )


def _mean(value: float | None, interval: Interval) -> str:
    return number(value) if value is None else f"{number(value)} {bracketed(interval)}"


def _legend(summary: Summary, falling: str) -> Iterator[str]:
    """What the columns and signs mean, and what the intervals rest on; a sign that does not occur is left out."""
    yield "mean: over the scored rows; pooled: all their counts together"
    yield f"[ ]: {PERCENT} interval, given this pinned judge; its own errors are not in it"
    if summary.cluster_by is not None:
        lone = f", {summary.ungrouped:,} of them rows without it" if summary.ungrouped else ""
        yield f"[ ]: rows of one {one_line(summary.cluster_by)} count as one: {summary.clusters:,} in all{lone}"
    unit = "rows" if summary.cluster_by is None else f"values of {one_line(summary.cluster_by)}"
    found = [metric for metric in summary.metrics if metric.scored]
    if any(metric.macro_interval.small for metric in found):
        yield f"{_SMALL} small sample: fewer than 20 {unit}"
    if any(metric.macro_interval.reason for metric in found):
        yield f"[-]: no interval from fewer than 2 {unit}"
    if any(metric.lower_is_better for metric in summary.metrics):
        yield f"{falling} lower is better"


def _labels(console: Console, metric: MetricSummary) -> None:
    """How many rows got each label; what an answer did against what its contexts allowed, where that is known."""
    head(console, f"{words(metric.metric).capitalize()} by label ({metric.scored:,} rows scored)")
    crossed = {label for _, *labels in _REFUSALS for label in labels}
    if not crossed.issuperset(metric.labels):
        put(console, Text(counted(metric.labels)), indent=2)
        return
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="")
    for name in ("", "contexts suffice", "contexts do not"):
        table.add_column(name, justify="right" if name else "left")
    for did, *labels in _REFUSALS:
        table.add_row(did, *(f"{metric.labels.get(label, 0):,}" for label in labels))
    put(console, table, indent=2)


def _facts(summary: Summary) -> Iterator[tuple[str, str]]:
    """Name and sentence of every count that is no metric's own; what did not happen is said only where it matters."""
    verdicts = {label.value: summary.verdicts[label] for label in Label if label in summary.verdicts}
    yield "Verdicts", f"{sum(verdicts.values()):,}: {_in_order(verdicts)}" if verdicts else "none"
    asked = summary.judged + summary.unjudged
    if asked:
        causes = f": {counted(summary.causes)}" if summary.causes else ""
        share = f" ({summary.unjudged / asked:.1%})"
        yield "Unjudged", f"{summary.unjudged:,} of {asked:,} verdicts and ratings{share}{causes}"
    if summary.evidence_quoted:
        yield "Evidence", f"{summary.evidence_verified:,} of {summary.evidence_quoted:,} quotes found in the sources"
    if summary.dangling:
        yield "Citations", f"{summary.dangling:,} dangling: they point to nothing that was retrieved"
    if summary.invented_claims:
        yield "Claims", f"{summary.invented_claims:,} invented by the split and dropped"
    if summary.faults:
        yield "Faults", f"{sum(summary.faults.values()):,}: {counted(summary.faults)}"


def _in_order(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n:,} {words(name)}" for name, n in counts.items())


# --- rows --------------------------------------------------------------------------------------


def _worst(console: Console, result: Result, lower: set[str]) -> None:
    """A row's flawed scores, and the verdicts they come from: each claim that is not supported, with its evidence.

    Texts are shortened; the row's own view shows them whole.
    """
    _row_head(console, result, lower)
    case = result.case
    flawed = [(claim, found) for claim in case.claims if (found := _not_supported(result, claim.id))]
    if flawed:
        shown = (claim_rows(case.sample, *one, most=_CLAIM_CHARS) for one in flawed[:_CLAIMS_A_ROW])
        put(console, grid(row for rows in shown for row in rows), indent=4)
    if len(flawed) > _CLAIMS_A_ROW:
        put(console, Text(f"more claims like these: {len(flawed) - _CLAIMS_A_ROW}", style="dim"), indent=4)
    for kind, rated in groupby(case.ratings, key=lambda rating: rating.kind):
        labels = ", ".join(f"{one_line(one.subject)} {words(one.label or _UNJUDGED)}" for one in rated)
        put(console, Text(f"{words(kind)}: {shortened(labels, most=_RATING_CHARS)}", style="dim"), indent=4)


def _not_supported(result: Result, claim_id: str) -> list[Verdict]:
    """A claim's verdicts that are not `supported`, those with most sources first."""
    found = [v for v in result.verdicts if v.check.claim_id == claim_id and v.label is not Label.SUPPORTED]
    return sorted(found, key=lambda verdict: -len(verdict.check.sources))


def _failed(console: Console, result: Result) -> None:
    _row_head(console, result, set())
    case = result.case
    causes = Counter(verdict.cause or "unknown" for verdict in case.verdicts if verdict.label is Label.UNJUDGED)
    causes.update(rating.cause or "unknown" for rating in case.ratings if rating.label is None)
    if causes:
        put(console, Text(f"unjudged: {counted(causes)}"), indent=4)
    if result.faults:
        put(console, grid(fault_cells(fault, most=_FAULT_CHARS) for fault in result.faults), indent=4)


def _row_head(console: Console, result: Result, lower: set[str]) -> None:
    shown = [
        f"{one_line(score.metric)} {number(score.value)} ({counts_of(score) or 'nothing counted'})"
        for score in result.scores
        if score.value is not None and score.label is None and score.value != (0 if score.metric in lower else 1)
    ]
    title = Text.assemble((one_line(result.id), "bold"), "  ", ", ".join(shown))
    put(console, title, indent=2)
    put(console, Text(shortened(result.case.sample.question, most=_QUESTION_CHARS), style="italic"), indent=4)
