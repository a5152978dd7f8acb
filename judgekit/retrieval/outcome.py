"""All that one command found, of a log or of TREC files, and how it is shown: as JSON values, or as lines of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from judgekit.confidence import PERCENT, bracketed
from judgekit.records import Interval, Sample
from judgekit.retrieval.evaluate import Conventions, Evaluation, Mean, Scores, mean_of_values, notes_on
from judgekit.retrieval.facts import PassRate, coverage_pass_rate
from judgekit.retrieval.inputs import Labels
from judgekit.retrieval.judged import NOTE
from judgekit.retrieval.logged import RowScores, means_of, score_sample, worst_first
from judgekit.retrieval.measure import Gap, Measure
from judgekit.retrieval.rerank import Reranking

_JUDGED = "judged"
_LEVEL = f"[{PERCENT}]"
#: How wide a mean with its interval is: `0.5970 [0.32, 0.83]`.
_CELL = 19


@dataclass(frozen=True)
class Outcome:
    """`queries`: the scores of each ranking, by id, in order; `rows`: what else the rows of a log hold.

    `is_judged`: relevance is what a judge said, not what labels say.
    """

    measures: tuple[Measure, ...]
    conventions: Conventions
    queries: Mapping[str, Scores]
    rows: Sequence[RowScores] = ()
    missing: tuple[str, ...] = ()
    unlabelled: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    pass_at: float = 0.9
    is_judged: bool = False

    @property
    def means(self) -> dict[str, Mean]:
        return means_of(self.measures, list(self.queries.values()))

    @property
    def calls(self) -> dict[str, Mean]:
        """Means over all retrieval calls of all rows; empty when there are none."""
        calls = [(scores, row.id) for row in self.rows for scores in row.calls]
        # calls of one row serve one question, so that the row is the unit
        return means_of(self.measures, [one for one, _ in calls], clusters=[row for _, row in calls]) if calls else {}

    @property
    def unions(self) -> dict[str, Mean]:
        """Means over the unions of each row's calls; empty when there are none."""
        unions = [row.union for row in self.rows if row.union is not None]
        return means_of(self.measures, unions) if unions else {}

    @property
    def coverage(self) -> dict[str, tuple[Mean, PassRate]]:
        """Mean fact coverage and pass rate of each cut-off; empty when no row has facts."""
        found = {}
        for name in self.rows[0].coverage if self.rows else ():
            values = [row.coverage[name] for row in self.rows]
            rate = coverage_pass_rate(values, threshold=self.pass_at)
            if rate.n:
                reasoned = [(one.value, "no_facts") for one in values]
                found[name] = (mean_of_values(reasoned, measure=name, name=name), rate)
        return found


def outcome_of_log(
    samples: Iterable[Sample],
    measures: tuple[Measure, ...],
    *,
    conventions: Conventions,
    fact_cuts: Sequence[int | None],
    pass_at: float,
    is_judged: bool = False,
) -> Outcome:
    """Every sample scored, each once. `current_versions` in a row's metadata: document -> version.

    `is_judged`: the samples come from `judged_sample`.
    """
    rows = []
    met = labelled = False
    gap = Gap.UNJUDGED if is_judged else Gap.NO_LABELS
    nonrelevant = 0
    for sample in samples:
        current = sample.metadata.get("current_versions")
        known = {name: str(version) for name, version in current.items()} if isinstance(current, dict) else None
        scored = score_sample(
            sample, measures, conventions=conventions, fact_cuts=fact_cuts, current=known, unlabelled=gap
        )
        rows.append(scored)
        labelled |= bool(sample.relevance)
        nonrelevant += Labels(sample.relevance or (), level=conventions.relevance_level).nonrelevant
        met |= any(context.id in (sample.relevance or ()) for context in sample.contexts)
    notes = notes_on(measures, nonrelevant=nonrelevant)
    if labelled and not met:
        notes += ("no labelled id was retrieved in any row; do relevance and contexts name things alike?",)
    if is_judged:
        notes += (NOTE,)
    return Outcome(
        measures,
        conventions,
        {row.id: row.contexts for row in rows},
        rows=rows,
        notes=notes,
        pass_at=pass_at,
        is_judged=is_judged,
    )


def outcome_of_runs(evaluation: Evaluation, measures: tuple[Measure, ...], *, conventions: Conventions) -> Outcome:
    return Outcome(
        measures,
        conventions,
        evaluation.queries,
        missing=evaluation.missing,
        unlabelled=evaluation.unlabelled,
        notes=evaluation.notes,
    )


def summary(outcome: Outcome, *, worst: int) -> dict[str, Any]:
    """The means with their counts, and the worst queries, as JSON values."""
    found: dict[str, Any] = {
        "queries": len(outcome.queries),
        "relevance": _JUDGED if outcome.is_judged else "labels",
        "conventions": asdict(outcome.conventions),
        "measures": _means(outcome.means),
        "missing": list(outcome.missing),
        "unlabelled": list(outcome.unlabelled),
        "repeated": sum(scores.repeated for scores in outcome.queries.values()),
        "notes": list(outcome.notes),
        "worst": [{"id": one, "scores": outcome.queries[one].values} for one in worst_first(outcome.queries)[:worst]],
    }
    if outcome.calls:
        found |= {"calls": _means(outcome.calls), "union": _means(outcome.unions)}
    if outcome.coverage:
        found["facts"] = {
            name: {
                **_mean(mean),
                "pass_rate": rate.value,
                "pass_rate_interval": rate.interval.model_dump(),
                "passed": rate.passed,
                "threshold": outcome.pass_at,
            }
            for name, (mean, rate) in outcome.coverage.items()
        }
        found["stale_facts"] = {row.id: [fact.fact_id for fact in row.stale] for row in outcome.rows if row.stale}
    if outcome.rows:
        found["duplicate_contexts"] = _duplicates(outcome)
    return found


def rows(outcome: Outcome) -> Iterator[dict[str, Any]]:
    """Every query as one JSON object: its id and scores, and of a log's row what else was found."""
    logged = {row.id: row for row in outcome.rows}
    with_facts = bool(outcome.coverage)
    for one, scores in outcome.queries.items():
        shown: dict[str, Any] = {"id": one, "scores": dict(scores.values)}
        row = logged.get(one)
        if row and with_facts:
            shown["scores"] |= {name: coverage.value for name, coverage in row.coverage.items()}
            shown["missing_facts"] = {name: list(coverage.missing) for name, coverage in row.coverage.items()}
            shown["stale_facts"] = [asdict(fact) for fact in row.stale]
        if scores.gaps:
            shown["undefined"] = dict(scores.gaps)
        if scores.repeated:
            shown["repeated"] = scores.repeated
        if row and row.union is not None:
            shown["calls"] = [dict(call.values) for call in row.calls]
            shown["union"] = dict(row.union.values)
        yield shown


def lines(outcome: Outcome, *, worst: int) -> Iterator[str]:
    """The summary for a reader."""
    mark = f" {_JUDGED}" if outcome.is_judged else ""
    yield f"{len(outcome.queries)} queries; relevant from{mark} grade {outcome.conventions.relevance_level:g}"
    yield from _table(f"mean{f', {_JUDGED}' if outcome.is_judged else ''}", outcome.means)
    if outcome.calls:
        yield from ("", *_table("mean over all retrieval calls", outcome.calls))
        yield from ("", *_table("mean over the union of each row's calls", outcome.unions))
    for name, (mean, rate) in outcome.coverage.items():
        gaps = f" ({counted})" if (counted := _counted(mean.undefined)) else ""
        passed = f"{rate.passed} of {rate.n} reach {outcome.pass_at:g} {bracketed(rate.interval)}"
        yield f"{name}: mean {_number(mean.value)} {bracketed(mean.interval)} of {rate.n}{gaps}; {passed}"
    means = [*outcome.means.values(), *outcome.calls.values(), *(mean for mean, _ in outcome.coverage.values())]
    yield from _legend([(mean.n, mean.interval) for mean in means], is_judged=outcome.is_judged)
    if stale := [f"{row.id} ({', '.join(fact.fact_id for fact in row.stale)})" for row in outcome.rows if row.stale]:
        yield f"facts found only in outdated versions: {_few(stale)}"
    if outcome.rows and (found := _duplicates(outcome))["rows"]:
        yield f"duplicate contexts in {found['rows']} rows: {found['exact']} exact, {found['near']} near"
    if outcome.missing:
        yield f"no result, counted as 0: {_few(outcome.missing)}"
    if outcome.unlabelled:
        yield f"no labels, left out: {_few(outcome.unlabelled)}"
    yield from (f"note: {note}" for note in outcome.notes)
    if shown := worst_first(outcome.queries)[:worst]:
        yield ""
        yield "lowest queries"
        for one in shown:
            yield f"  {one}: {_values(outcome.queries[one].values)}"


def row_line(row: Mapping[str, Any]) -> str:
    """A query's object as one line of text."""
    if "scores" in row:
        return f"{row['id']}: {_values(row['scores'])}"
    said = {True: "", False: " (cannot move)", None: " (other candidates)"}
    moves = [
        f"{name} {_number(move['before'])} -> {_number(move['after'])}{said[move['can_move']]}"
        for name, move in row["measures"].items()
    ]
    return f"{row['id']}: {'  '.join(moves)}"


def _values(values: Mapping[str, float | None]) -> str:
    return "  ".join(f"{name} {_number(value)}" for name, value in values.items())


def moves_summary(found: Reranking) -> dict[str, Any]:
    """What could move and what did, as JSON values."""
    return {
        "queries": len(found.queries),
        "measures": {
            name: {key: one.model_dump() if isinstance(one, Interval) else one for key, one in vars(mean).items()}
            for name, mean in found.means.items()
        },
        "other_candidates": list(found.other_candidates),
        "unlabelled": list(dict.fromkeys(found.before.unlabelled + found.after.unlabelled)),
        "missing": {"before": list(found.before.missing), "after": list(found.after.missing)},
    }


def moves_rows(found: Reranking) -> Iterator[dict[str, Any]]:
    """Every query as one JSON object: its id and the move of each measure."""
    for one, moves in found.queries.items():
        yield {"id": one, "measures": {name: asdict(move) for name, move in moves.items()}}


def moves_lines(found: Reranking) -> Iterator[str]:
    """The means before and after, and in how many queries each could move."""
    means = found.means.values()
    width = max(len(mean.name) for mean in means)
    yield f"{'mean':<{width}}  {f'before {_LEVEL}':<{_CELL}}  {f'after {_LEVEL}':<{_CELL}}      n  undefined"
    for mean in means:
        before, after = _cell(mean.before, mean.before_interval), _cell(mean.after, mean.after_interval)
        counts = _counts(mean.n, mean.undefined, mean.before_interval)
        yield f"{mean.name:<{width}}  {before:<{_CELL}}  {after:<{_CELL}}  {counts}"
    yield from ("", f"{'mean':<{width}}  {f'best order {_LEVEL}':<{_CELL}}  rose  fell  can move in")
    for mean in means:
        pinned = "cannot move" if not (mean.can_move or mean.open) else f"{mean.can_move} of {mean.n}"
        best = _cell(mean.best, mean.best_interval)
        yield f"{mean.name:<{width}}  {best:<{_CELL}}  {mean.rose:>4}  {mean.fell:>4}  {pinned}"
    yield from _legend([(mean.n, mean.before_interval) for mean in means])
    for when, evaluation in (("before", found.before), ("after", found.after)):
        if evaluation.missing:
            yield f"no result {when}, counted as 0: {_few(evaluation.missing)}"
    if unlabelled := tuple(dict.fromkeys(found.before.unlabelled + found.after.unlabelled)):
        yield f"no labels, left out: {_few(unlabelled)}"
    if found.other_candidates:
        yield f"other candidates after than before, so that anything could move: {_few(found.other_candidates)}"


def _table(title: str, means: Mapping[str, Mean]) -> Iterator[str]:
    width = max([len(title), *(len(mean.name) for mean in means.values())])
    yield f"{title:<{width}}  {f'value {_LEVEL}':<{_CELL}}      n  undefined"
    for mean in means.values():
        counts = _counts(mean.n, mean.undefined, mean.interval)
        yield f"{mean.name:<{width}}  {_cell(mean.value, mean.interval):<{_CELL}}  {counts}"


def _cell(value: float | None, interval: Interval) -> str:
    return _number(value) if value is None else f"{_number(value)} {bracketed(interval)}"


def _counts(n: int, undefined: Mapping[str, int], interval: Interval) -> str:
    """How many have a value, marked when they are few, and how many have none."""
    return f"{f'{n}*' if n and interval.small else f'{n} ':>6}  {_counted(undefined) or '-'}"


def _counted(undefined: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {reason.replace('_', ' ')}" for reason, count in undefined.items())


def _legend(found: Iterable[tuple[int, Interval]], *, is_judged: bool = False) -> Iterator[str]:
    """What the signs beside these means say; those of no query say nothing."""
    intervals = [interval for n, interval in found if n]
    if not intervals:
        return
    given = ", given this pinned judge; its own errors are not in it" if is_judged else " for more queries like these"
    yield f"[ ]: interval{given}"
    if any(interval.small for interval in intervals):
        yield "* small sample: fewer than 20 queries"
    if any(interval.reason for interval in intervals):
        yield "[-]: no interval from fewer than 2 queries"


def _means(means: Mapping[str, Mean]) -> dict[str, Any]:
    return {name: _mean(mean) for name, mean in means.items()}


def _mean(mean: Mean) -> dict[str, Any]:
    return {
        "name": mean.name,
        "mean": mean.value,
        "n": mean.n,
        "undefined": dict(mean.undefined),
        "interval": mean.interval.model_dump(),
    }


def _duplicates(outcome: Outcome) -> dict[str, int]:
    found = [row.duplicates for row in outcome.rows]
    return {
        "rows": sum(bool(one.exact or one.near) for one in found),
        "exact": sum(len(group) - 1 for one in found for group in one.exact),
        "near": sum(len(one.near) for one in found),
    }


def _number(value: float | None) -> str:
    return f"{'-':>6}" if value is None else f"{value:.4f}"


def _few(names: Sequence[str]) -> str:
    return f"{', '.join(names[:5])}{f', ... ({len(names)} in all)' if len(names) > 5 else ''}"  # noqa: PLR2004
