"""From a run and the labels that came back to what they say: the shell around `judgekit.humans`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from judgekit.errors import InputError
from judgekit.humans import (
    Ceiling,
    Checked,
    Disagreement,
    Outcome,
    Rated,
    Share,
    Splitting,
    Transferred,
    WholeAnswer,
    agreements,
    at_odds,
    calibration,
    ceiling_of,
    corrected_score,
    is_share,
    is_supported,
    shares_of,
    splitting_of,
    transferred,
    weights_of,
)
from judgekit.metrics import Metric
from judgekit.records import ANSWER, Result, Summary
from judgekit.review.drawn import Draw, Labels, Reviewed, carried, draws_of, outcome_labels
from judgekit.review.labels import exports_of, key_of
from judgekit.review.records import Export, HumanLabel
from judgekit.rundir import Foreign, Run

_SEED = 7
_NO_CLAIMS = "they rest on no verdict of a claim"
_NOT_A_SUM = "several verdicts decide together"
_NOT_DRAWN = "not drawn for"
_FOREIGN = "their code is not here"


class _Part(NamedTuple):
    """A metric's share of the run, in the draw that has most labels for it."""

    share: Share
    draw: Draw


def outcome_of(
    run: Run, *, metrics: Sequence[str | Metric] = (), labels_from: Run | None = None, seed: int = _SEED
) -> Outcome:
    """What people found in a run; see `Outcome`. `metrics` are those wanted, by default all of the run: names, or the
    objects of metrics of one's own, whose code the run does not hold.

    `labels_from` is another run: its labels count for the very same checks here, and the judge's errors there are
    carried over for metrics that cannot be corrected so. `seed` is that of the intervals of agreement. InputError: a
    metric that the run does not have; a run that is not what it was when it was drawn from.
    """
    wanted = _metrics(run, metrics)
    labels = Labels.of(run)
    draws = draws_of(run, labels)
    told = Outcome(run=str(run.folder), labels_from=None if labels_from is None else str(labels_from.folder))
    theirs: Draw | None = None
    if labels_from is not None:
        other = Labels.of(labels_from)
        theirs = next((draw for draw in draws_of(labels_from, other) if draw.labels), None)
        if theirs is None:
            return told.having(reason=f"{labels_from.folder}: has no labels; import them there first")
        own = Reviewed(labels, draws[0] if draws else None)
        shared = [metric for metric in wanted if is_share(metric)]
        found = carried(run, own, labels_from, Reviewed(other, theirs), metrics=shared)
        draws, labels, told = [found.draw], found.labels, told.having(matched=found.matched)
    if not draws:
        if splitting := _splitting(run, None, labels):
            return told.having(splitting=splitting)
        return told.having(reason=f"nothing was drawn yet: judgekit spotcheck draw {run.folder} -o sheet.csv")
    summary = run.summary()
    parts = _parts(run, wanted, draws)
    scores = {name: corrected_score(part.share, summary[name]) for name, part in parts.items()}
    refused = {metric.name: _why_not(metric) for metric in wanted if metric.name not in parts}
    told = _with_facts(told, draws[0], labels, [draws[0], *(part.draw for part in parts.values())])
    told = told.having(scores=tuple(scores.values()), not_corrected=refused)
    told = _with_reading(told, run, draws[0], parts, labels, seed=seed)
    if labels_from is not None and theirs is not None:
        bare = [name for name, score in scores.items() if score.macro.value is None and score.micro.value is None]
        told = told.having(transferred=_transferred(run, summary, parts, bare, other=labels_from, theirs=theirs))
    return told.having(reason=_reason(told)) if told.is_empty else told


def _metrics(run: Run, wanted: Sequence[str | Metric]) -> list[Metric]:
    there = {metric.name: metric for metric in run.metrics}
    given = {one if isinstance(one, str) else one.name: one for one in wanted or there}
    for name in given:
        if name not in there:
            raise InputError(f"{run.folder}: has no metric {name!r}; its metrics are: {', '.join(there)}")
    return [there[name] if isinstance(one, str) else one for name, one in given.items()]


def _parts(run: Run, wanted: Iterable[Metric], draws: Sequence[Draw]) -> dict[str, _Part]:
    """Metric -> its share in the draw that covers it with most labels. A metric that no draw covers has none."""
    shared = [metric for metric in wanted if is_share(metric)]
    found: dict[str, list[_Part]] = {metric.name: [] for metric in shared}
    for draw in draws:
        for share in shares_of(shared, (result.case for result in run), draw.by_name()):
            if share.items and not share.outside:
                found[share.metric].append(_Part(share, draw))
    return {name: max(parts, key=lambda part: _labelled(part.share)) for name, parts in found.items() if parts}


def _why_not(metric: Metric) -> str:
    """Why labels of single checks do not correct a metric."""
    if is_share(metric):
        return _NOT_DRAWN
    if isinstance(metric, Foreign):
        return _FOREIGN
    return _NO_CLAIMS if type(metric).checks is Metric.checks else _NOT_A_SUM


def _labelled(share: Share) -> int:
    return sum(share.human(item.unit) is not None for item in share.items)


def _reason(told: Outcome) -> str:
    """Why there is no number, and what to do."""
    if not told.labels:
        return f"no label has come back yet: judgekit spotcheck import {told.run} SHEET"
    bare = [stratum for score in told.scores for stratum in score.unlabelled]
    if bare:
        return f"a part of the run has no label, so nothing can be said of the whole: {bare[0]}"
    return "none of the metrics is a sum of the verdicts that were labelled"


def _with_facts(told: Outcome, main: Draw, labels: Labels, used: Iterable[Draw]) -> Outcome:
    checks = list(main.checks.values())
    labelled = [check for check in checks if is_supported(check) is not None]
    in_use = {unit_id for draw in used for unit_id, check in draw.checks.items() if is_supported(check) is not None}
    names = {label.reviewer for check in labelled for label in _labels(labels, check)}
    own = {unit_id for unit_id, found in labels.settled.items() if found.is_supported is not None}
    return told.having(
        export_id=main.export_id,
        reviewers=tuple(sorted(names)),
        checks=len(checks),
        drawn=sum(check.is_drawn for check in checks),
        labels=len(labelled),
        assisted=sum(check.assisted for check in labelled),
        unjudged=main.unjudged,
        unanswered=dict(sorted(Counter(check.unanswered for check in checks if check.unanswered).items())),
        aside=len(own - in_use) + labels.outdated if told.labels_from is None else 0,
    )


def _labels(labels: Labels, check: Checked) -> Iterable[HumanLabel]:
    found = labels.settled.get(check.unit_id)
    return outcome_labels(found) if found else ()


def _with_reading(
    told: Outcome, run: Run, main: Draw, parts: Mapping[str, _Part], labels: Labels, *, seed: int
) -> Outcome:
    checks = sorted(main.checks.values(), key=lambda check: check.unit_id)
    overall, by_metric = agreements(checks, [part.share for part in parts.values()], seed=seed)
    return told.having(
        agreement=overall,
        by_metric=by_metric,
        ceiling=_ceiling(main, labels),
        splitting=_splitting(run, main, labels),
        calibration=calibration(checks),
        disagreements=_disagreements(run, main, checks, labels),
    )


def _ceiling(main: Draw, labels: Labels) -> Ceiling | None:
    """Humans against humans on the drawn checks; whoever adjudicated had seen what the others said."""
    rated = []
    found = [(line, labels.settled[unit_id]) for unit_id, line in main.key.items() if unit_id in labels.settled]
    for line, outcome in found:
        sides = {
            label.reviewer: label.verdict.is_supported
            for label in outcome.labels
            if not label.adjudicated and label.verdict is not None
        }
        known = {name: side for name, side in sides.items() if side is not None}
        rated.append(Rated(1 / (line.inclusion or 1.0), known))
    return ceiling_of(
        rated,
        disputed=sum(outcome.is_disputed for _, outcome in found),
        settled=sum(outcome.is_adjudicated for _, outcome in found),
    )


def _splitting(run: Run, main: Draw | None, labels: Labels) -> Splitting | None:
    """What was said of the claims of the draw, and of whole answers, in that draw of them of which most came back."""
    drawn = [labels.settled[unit_id] for unit_id in (main.key if main else ()) if unit_id in labels.settled]
    said = Counter(
        label.claim_ok.value for found in drawn for label in outcome_labels(found)[:1] if label.claim_ok is not None
    )
    missed = max(
        (_missed(run, export, labels) for export in exports_of(run) if export.kind == "sample"), key=len, default={}
    )
    sizes = {result.id: len(result.case.claims_of(ANSWER)) for result in run if result.id in missed} if missed else {}
    return splitting_of(dict(sorted(said.items())), [WholeAnswer(sizes[row], missed[row]) for row in sorted(sizes)])


def _missed(run: Run, export: Export, labels: Labels) -> dict[str, float]:
    """Row -> how many statements its claims miss, over the reviewers of it; rows that were drawn and read."""
    found: dict[str, float] = {}
    for line in key_of(run, export.export_id):
        if line.purpose == "estimate" and line.unit_id in labels.settled:
            counts = [one.missed for one in outcome_labels(labels.settled[line.unit_id]) if one.missed is not None]
            if counts:
                found[line.sample_id] = sum(counts) / len(counts)
    return found


def _disagreements(run: Run, main: Draw, checks: Sequence[Checked], labels: Labels) -> tuple[Disagreement, ...]:
    odd, weights = at_odds(checks), weights_of(checks)
    rows = {check.sample_id for check in odd}
    results = {result.id: result for result in run if result.id in rows}
    return tuple(_disagreement(results[check.sample_id], main, check, labels, weights) for check in odd)


def _disagreement(
    result: Result, main: Draw, check: Checked, labels: Labels, weights: Mapping[str, float]
) -> Disagreement:
    asked = main.candidates[check.unit_id].unit.check
    verdict = result.case.verdict(asked)
    said = list(_labels(labels, check))
    words = {label.verdict.value: None for label in said if label.verdict is not None}
    return Disagreement(
        unit_id=check.unit_id,
        sample_id=check.sample_id,
        check=asked,
        claim=next(claim.text for claim in result.claims if claim.id == asked.claim_id),
        judge=check.judge,
        human=" and ".join(words) or ("supported" if is_supported(check) else "not_supported"),
        stands_for=weights[check.stratum],
        support=check.support,
        probabilities=verdict.probabilities if verdict else None,
        evidence=verdict.evidence if verdict else (),
        notes=tuple(label.note for label in said if label.note),
    )


def _transferred(
    run: Run, summary: Summary, parts: Mapping[str, _Part], names: Sequence[str], *, other: Run, theirs: Draw
) -> tuple[Transferred, ...]:
    """The metrics of these names, corrected by the judge's errors in the other run, or refused."""
    there = {metric.name: metric for metric in other.metrics}
    shared = [there[name] for name in names if name in there]
    cases = (result.case for result in other)
    shares = {share.metric: share for share in shares_of(shared, cases, theirs.by_name())}
    pins, their_pins = run.manifest.metrics, other.manifest.metrics
    return tuple(
        transferred(parts[name].share, summary[name], shares[name], pins=(pins[name], their_pins[name]))
        if name in shares
        else Transferred(metric=name, raw=summary[name].micro, reason="the other run does not have it")
        for name in names
    )
