"""A draw from a run: the sheets that go to the reviewers, and the key that stays behind.

Everything about the judge stays beside the run, in `RUN/spotcheck`; the sheets hold nothing of it, and their rows are
in the order of a hash. The same draw again, in another format, is the same export.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from judgekit.errors import InputError
from judgekit.metrics import Metric
from judgekit.review.contents import contents_of
from judgekit.review.labels import exports_of, key_path, labels_of, note_export, settled, write_key
from judgekit.review.records import Export, KeyLine, Kind, Only, ReviewUnit, unit_of
from judgekit.review.sheets import Format
from judgekit.review.units import shown
from judgekit.rundir import Run
from judgekit.sampling import (
    LEAST_CONFIDENCE,
    OVERLAP,
    Candidate,
    Drawn,
    Population,
    answers_of,
    checks_of,
    draw,
    row_order,
)

_DIGITS = 10


@dataclass(frozen=True, kw_only=True)
class Order:
    """What is to be drawn from a run.

    n: how many units, at least (see `judgekit.sampling.draw`). metrics: names of those whose checks are drawn; none for
    all of the run that count checks. inspect: ids of rows, or of units, to look at beside the draw. overlap: the share
    that two reviewers get; None for 20 %, at least 20 units. only: put into the sheets only what has no label yet
    (`new`), or what reviewers disagree on (`disputed`, for one person to settle, so all in one sheet). uncertain_below:
    the confidence of the judge under which a verdict is uncertain, as a report recommends it (see `judgekit.sampling`).
    """

    n: int
    seed: int
    kind: Kind = "verdict"
    metrics: Sequence[str] = ()
    visible: bool = False
    inspect: Sequence[str] = ()
    reviewers: int = 1
    overlap: float | None = None
    only: Only | None = None
    uncertain_below: float | None = None


def draw_review(run: Run, order: Order, *, sheet: Path, form: Format, at: str) -> Export:
    """Draw, and write the sheets and the key. One reviewer: `sheet` itself; several: `sheet.1.csv`, `sheet.2.csv`, ...

    `at` is the time of the draw, ISO 8601. InputError: a sheet of that name, which would be overwritten; nothing to
    draw from, or for one of the reviewers; an id that the run does not hold; a metric without checks; options that
    whole answers do not have; an earlier key of another content.
    """
    hands_out = 1 if order.only == "disputed" else order.reviewers
    paths = _paths(sheet, hands_out)
    metrics = _metrics(run, order)
    population = _population(run, order, metrics)
    if not population.candidates:
        raise InputError(f"{run.folder}: no claim was judged, so there is nothing to review; see `judgekit report`")
    drawn = draw(population.candidates, order.n, seed=order.seed, overlap=_overlap(order))
    picked = _picked(run, population.candidates, drawn, order.inspect)
    export_id = _export_id(run, order, metrics, drawn, picked)
    key = _with_contents(run, _key(drawn, picked, order, export_id))
    hands = _hands(run, key, order, hands_out)
    earlier = next((export for export in exports_of(run) if export.export_id == export_id), None)
    write_key(key_path(run, export_id), key)
    for path, units in zip(paths, hands, strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        form.write(units, path)
    return note_export(
        run,
        Export(
            export_id=export_id,
            kind=order.kind,
            metrics=tuple(metric.name for metric in metrics),
            seed=order.seed,
            blind=not order.visible,
            population=len(population.candidates),
            drawn=len(drawn),
            inspected=len(picked),
            overlap=sum(line.is_overlap for line in key),
            reviewers=order.reviewers,
            uncertain_below=order.uncertain_below,
            apart=population.apart,
            files=(*earlier.files, *(path.name for path in paths)) if earlier else tuple(path.name for path in paths),
            holding=(*earlier.holding, *map(len, hands)) if earlier else tuple(map(len, hands)),
            at=at,
        ),
    )


def _paths(sheet: Path, reviewers: int) -> list[Path]:
    """Where the sheets go. InputError: something is there already."""
    numbered = [sheet.with_name(f"{sheet.stem}.{number}{sheet.suffix}") for number in range(1, reviewers + 1)]
    paths = [sheet] if reviewers == 1 else numbered
    for path in paths:
        if path.exists():
            raise InputError(f"{path}: exists already and may belong to a filled-in sheet; give another name")
    return paths


def _population(run: Run, order: Order, metrics: Sequence[Metric]) -> Population:
    """All that can be drawn. InputError: a confidence is asked for, and the judge gave none."""
    if order.kind == "sample":
        return answers_of(run, run.metrics)
    below = order.uncertain_below
    if below is not None and not LEAST_CONFIDENCE < below <= 1:
        raise InputError(
            f"--uncertain-below {below:g}: a judge gives its own side from 0.5 to 1; give more than 0.5, at most 1"
        )
    population = checks_of(run, metrics, uncertain_below=below)
    if below is not None and population.candidates and not any(one.probabilities for one in population.candidates):
        raise InputError(f"{run.folder}: its judge gave no probabilities; leave out --uncertain-below")
    return population


def _metrics(run: Run, order: Order) -> list[Metric]:
    """The metrics drawn for, by name. InputError: one that the run does not have, or that counts no checks."""
    if order.kind == "sample":
        if order.metrics or order.visible:
            raise InputError(
                "whole answers belong to no metric, and no verdict is of them: leave out --metric and --visible"
            )
        if order.uncertain_below is not None:
            raise InputError("no verdict is of whole answers, so none is uncertain: leave out --uncertain-below")
        return []
    counting = {metric.name: metric for metric in run.metrics if type(metric).checks is not Metric.checks}
    for name in order.metrics:
        if name not in counting:
            there = ", ".join(counting) or "none"
            raise InputError(f"{name}: not a metric of this run that rests on claims; those are: {there}")
    return [counting[name] for name in sorted(set(order.metrics) or counting)]


def _overlap(order: Order) -> float | None:
    if order.reviewers == 1:
        if order.overlap:
            raise InputError("an overlap needs a second reviewer: --reviewers 2")
        return None
    return OVERLAP if order.overlap is None else order.overlap


def _picked(
    run: Run, candidates: Iterable[Candidate], drawn: Sequence[Drawn], inspect: Sequence[str]
) -> list[Candidate]:
    """What is to be looked at beside the draw, and was not drawn anyway."""
    if not inspect:
        return []
    wanted, found = set(inspect), set[str]()
    have = {one.candidate.unit.unit_id for one in drawn}
    picked = []
    for candidate in candidates:
        named = wanted & {candidate.unit.sample_id, candidate.unit.unit_id}
        found |= named
        if named and candidate.unit.unit_id not in have:
            picked.append(candidate)
    if missing := sorted(wanted - found):
        raise InputError(
            f"{run.folder}: no row or unit {missing[0]!r} with a judged claim of these metrics; "
            "`judgekit report` names rows"
        )
    return picked


def _export_id(
    run: Run, order: Order, metrics: Sequence[Metric], drawn: Sequence[Drawn], picked: Sequence[Candidate]
) -> str:
    """A hash over what makes this draw: the run's logs and judge, what was drawn for, and which units. Nothing of what
    the judge said goes into it."""
    made_of = [
        [file.sha256 for file in run.manifest.logs],
        run.manifest.judge,
        [[metric.name, run.manifest.metrics[metric.name].pin] for metric in metrics],
        [order.kind, order.seed, order.visible, order.reviewers, *filter(None, [order.uncertain_below])],
        sorted((one.candidate.unit.unit_id, one.is_overlap) for one in drawn),
        sorted(one.unit.unit_id for one in picked),
    ]
    return f"x{sha256(json.dumps(made_of, sort_keys=True).encode()).hexdigest()[:_DIGITS]}"


def _key(drawn: Sequence[Drawn], picked: Sequence[Candidate], order: Order, export_id: str) -> list[KeyLine]:
    """One line a unit, in the order of the rows."""
    lines = {
        one.candidate.unit: _line(one.candidate, order, export_id).having(
            stratum_size=one.stratum_size,
            stratum_drawn=one.stratum_drawn,
            inclusion=one.inclusion,
            is_overlap=one.is_overlap,
        )
        for one in drawn
    }
    lines |= {one.unit: _line(one, order, export_id).having(purpose="inspect") for one in picked}
    return [lines[unit] for unit in row_order(list(lines), seed=order.seed)]


def _with_contents(run: Run, key: Iterable[KeyLine]) -> list[KeyLine]:
    lines = list(key)
    contents = contents_of(run, map(unit_of, lines))
    return [line.having(content=contents.get(line.unit_id)) for line in lines]


def _line(candidate: Candidate, order: Order, export_id: str) -> KeyLine:
    return KeyLine(
        unit_id=candidate.unit.unit_id,
        export_id=export_id,
        kind=order.kind,
        sample_id=candidate.unit.sample_id,
        claim_id=candidate.unit.claim_id,
        sources=candidate.unit.sources,
        metrics=candidate.metrics,
        label=candidate.label,
        probabilities=candidate.probabilities,
        bin=candidate.bin,
        stratum=candidate.stratum,
        seed=order.seed,
        blind=not order.visible,
    )


def _hands(run: Run, key: Sequence[KeyLine], order: Order, reviewers: int) -> list[list[ReviewUnit]]:
    """The units of each reviewer: each unit to whoever has fewest so far, those of the overlap to two, so that nobody
    can tell which of their units somebody else has. InputError: a hand would be empty."""
    dealt = _wanted(run, key, order.only)
    if len(dealt) < reviewers:
        which = {"new": "without a label", "disputed": "in dispute", None: "drawn"}[order.only]
        raise InputError(
            f"{run.folder}: {len(dealt)} units {which} for {reviewers} reviewers, so there is nothing to do"
        )
    hands: list[list[ReviewUnit]] = [[] for _ in range(reviewers)]
    for line, unit in zip(dealt, _units(run, dealt, visible=order.visible), strict=True):
        for hand in sorted(hands, key=len)[: 2 if line.is_overlap else 1]:
            hand.append(unit)
    return hands


def _wanted(run: Run, key: Sequence[KeyLine], only: Only | None) -> list[KeyLine]:
    """The lines of the units that are to be in a sheet."""
    if only is None:
        return list(key)
    found = settled(labels_of(run, {line.unit_id: line.content for line in key if line.content is not None}))
    if only == "new":
        return [line for line in key if line.unit_id not in found]
    return [line for line in key if line.unit_id in found and found[line.unit_id].is_disputed]


def _units(run: Run, lines: Sequence[KeyLine], *, visible: bool) -> list[ReviewUnit]:
    """What is shown of these units, in their order; one pass over the run."""
    wanted: dict[str, list[KeyLine]] = {}
    for line in lines:
        wanted.setdefault(line.sample_id, []).append(line)
    found: dict[str, ReviewUnit] = {}
    for result in run:
        for line in wanted.get(result.id, ()):
            found[line.unit_id] = shown(result, unit_of(line), export_id=line.export_id, visible=visible)
    return [found[line.unit_id] for line in lines]
