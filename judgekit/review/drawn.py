"""A run's draws joined with what came back: every check that could have been drawn, and what humans said of some."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from judgekit.errors import InputError
from judgekit.humans import NOT_SUPPORTED, Checked, is_supported
from judgekit.metrics import METRICS, Metric
from judgekit.records import Label
from judgekit.review.contents import contents_of
from judgekit.review.labels import Settled, exports_of, history_of, is_about, key_of, labels_of, settled
from judgekit.review.records import HumanLabel, HumanVerdict, KeyLine, unit_of
from judgekit.rundir import Run
from judgekit.sampling import Candidate, Population, checks_of

#: What each answer of a human leaves possible.
MEANS: Mapping[HumanVerdict, frozenset[Label]] = {
    HumanVerdict.SUPPORTED: frozenset({Label.SUPPORTED}),
    HumanVerdict.NOT_SUPPORTED: NOT_SUPPORTED,
    HumanVerdict.PARTIALLY_SUPPORTED: frozenset({Label.PARTIALLY_SUPPORTED}),
    HumanVerdict.UNSUPPORTED: frozenset({Label.UNSUPPORTED}),
    HumanVerdict.CONTRADICTED: frozenset({Label.CONTRADICTED}),
}


class Draw(NamedTuple):
    """One draw of a run: the key lines of its estimate, and all checks it could have drawn, both by unit id.

    `unjudged` checks have no verdict, and could not be drawn.
    """

    export_id: str
    key: Mapping[str, KeyLine]
    checks: Mapping[str, Checked]
    candidates: Mapping[str, Candidate]
    unjudged: int = 0

    @property
    def labels(self) -> int:
        """How many of its checks have a label."""
        return sum(is_supported(check) is not None for check in self.checks.values())

    def by_name(self) -> dict[tuple[str, str, tuple[str, ...]], Checked]:
        """The checks by row, claim and sources."""
        units = [(candidate.unit, self.checks[unit_id]) for unit_id, candidate in self.candidates.items()]
        return {(unit.sample_id, unit.claim_id or "", unit.sources): check for unit, check in units}


class Labels(NamedTuple):
    """The labels beside a run: what they amount to, unit by unit, and the units that a reviewer put off.

    `texts`: the content that each drawn unit has now. `outdated` units have labels only for texts that they had once.
    """

    settled: Mapping[str, Settled]
    deferred: frozenset[str]
    texts: Mapping[str, str]
    outdated: int = 0

    @classmethod
    def of(cls, run: Run) -> Labels:
        drawn = {line.unit_id: unit_of(line) for export in exports_of(run) for line in key_of(run, export.export_id)}
        texts = contents_of(run, drawn.values())
        found = settled(labels_of(run, texts))
        lines = [line for line in history_of(run) if line.verdict is None and is_about(line, texts)]
        put_off = frozenset(line.unit_id for line in lines)
        given = {label.unit_id for label in labels_of(run)}
        return cls(found, put_off - found.keys(), texts, len(given - found.keys()))


class Reviewed(NamedTuple):
    """A run's labels, and the draw of it that has most of them; None when there is no draw."""

    labels: Labels
    draw: Draw | None


def draws_of(run: Run, labels: Labels) -> list[Draw]:
    """The draws of single checks from a run, the one with most labels first; of equals the smaller, so that a draw that
    was made larger counts once labels of it have come. One from before the run was changed is left out.

    InputError: there are only such.
    """
    found: list[Draw] = []
    stale = ""
    known: dict[tuple[tuple[str, ...], float | None], Population] = {}
    for export in exports_of(run):
        if export.kind != "verdict":
            continue
        how = (export.metrics, export.uncertain_below)
        if how not in known:
            metrics = _metrics(run, export.metrics)
            known[how] = checks_of(run, metrics, uncertain_below=export.uncertain_below)
        population = known[how]
        key = {line.unit_id: line for line in key_of(run, export.export_id) if line.purpose == "estimate"}
        if changed := _change(population, key.values(), labels.texts):
            stale = (
                f"{run.folder}: the run is not what it was when {export.export_id} was drawn: {changed}; draw again, "
            )
            continue
        found.append(_draw(export.export_id, key, population, labels))
    if stale and not found:
        raise InputError(f"{stale}labels of the same checks are kept")
    return sorted(found, key=lambda draw: (-draw.labels, len(draw.key)))


def candidates_of(run: Run, metrics: Iterable[Metric]) -> dict[str, Candidate]:
    """Every judged check of these metrics, by unit id."""
    return {candidate.unit.unit_id: candidate for candidate in checks_of(run, metrics).candidates}


def _metrics(run: Run, names: Iterable[str]) -> list[Metric]:
    there = {**METRICS, **{metric.name: metric for metric in run.metrics}}
    return [there[name] for name in names if name in there]


def _change(population: Population, key: Iterable[KeyLine], texts: Mapping[str, str]) -> str:
    """What the run holds otherwise than a key says; empty when nothing."""
    sizes = Counter(candidate.stratum for candidate in population.candidates)
    strata = {candidate.unit.unit_id: candidate.stratum for candidate in population.candidates}
    for line in key:
        if strata.get(line.unit_id) != line.stratum:
            return f"{line.unit_id} of {line.sample_id!r:.80} is no longer of the stratum {line.stratum!r}"
        if line.content is not None and texts.get(line.unit_id) != line.content:
            return f"{line.unit_id} of {line.sample_id!r:.80} has other texts"
        if sizes[line.stratum] != line.stratum_size:
            return f"its stratum {line.stratum!r} held {line.stratum_size} checks and holds {sizes[line.stratum]}"
    return ""


def _draw(export_id: str, key: Mapping[str, KeyLine], population: Population, labels: Labels) -> Draw:
    candidates = {candidate.unit.unit_id: candidate for candidate in population.candidates}
    checks = {
        unit_id: with_label(unlabelled(candidate), labels) if unit_id in key else unlabelled(candidate)
        for unit_id, candidate in candidates.items()
    }
    return Draw(export_id, key, checks, candidates, population.apart.get(Label.UNJUDGED, 0))


def unlabelled(candidate: Candidate) -> Checked:
    """A judged check that nobody labelled."""
    if candidate.label is None:
        raise ValueError(f"{candidate.unit.unit_id} is no check")
    support = None if candidate.probabilities is None else candidate.probabilities.get(Label.SUPPORTED, 0.0)
    return Checked(
        unit_id=candidate.unit.unit_id,
        sample_id=candidate.unit.sample_id,
        stratum=candidate.stratum,
        judge=candidate.label,
        support=support,
    )


def with_label(check: Checked, labels: Labels) -> Checked:
    """A check that was drawn, with its label, or why it has none."""
    found = labels.settled.get(check.unit_id)
    if found is None:
        return replace(check, unanswered="deferred" if check.unit_id in labels.deferred else "blank")
    if found.is_supported is None:
        return replace(check, unanswered="disputed" if found.is_disputed else "cannot_tell")
    return replace(check, human=_meant(found), assisted=found.assisted)


def _meant(found: Settled) -> frozenset[Label]:
    """The labels that all who count leave possible; where they differ in fineness only, what any of them does."""
    meant = [
        MEANS[label.verdict] for label in outcome_labels(found) if label.verdict is not None and label.verdict in MEANS
    ]
    return frozenset.intersection(*meant) or frozenset.union(*meant)


def outcome_labels(found: Settled) -> list[HumanLabel]:
    """The labels that an outcome rests on: the last adjudicated one, else all."""
    return [label for label in found.labels if label.adjudicated][-1:] or list(found.labels)


# --- the same checks in another run ----------------------------------------------------------------


class Carried(NamedTuple):
    """A run's checks with another's labels: the two draws in one, what the labels amount to, and how many checks are
    the same in both runs."""

    draw: Draw
    labels: Labels
    matched: int


def carried(run: Run, own: Reviewed, other: Run, theirs: Reviewed, *, metrics: Iterable[Metric]) -> Carried:
    """The checks of a run with another run's labels where they are the very same.

    The same: question, text the claim was taken from, claim, and sources, whatever the judge said. Such a check stands
    in the stratum it was drawn from there, for that draw's chances are known; any other in its own, with its own label
    where the run's own draw has one.
    """
    candidates = candidates_of(run, metrics)
    there: dict[str, list[str]] = {}
    if theirs.draw:
        for unit_id, content in _contents(other, theirs.draw.candidates).items():
            there.setdefault(content, []).append(unit_id)
    same = {
        unit_id: found.pop(0)
        for unit_id, content in _contents(run, candidates).items()
        if (found := there.get(content))
    }
    checks: dict[str, Checked] = {}
    key: dict[str, KeyLine] = {}
    meant: dict[str, Settled] = {}
    for unit_id, candidate in candidates.items():
        source, name = (theirs, same[unit_id]) if unit_id in same else (own, unit_id)
        checks[unit_id] = unlabelled(candidate)
        drawn = source.draw.checks.get(name) if source.draw else None
        if drawn:
            checks[unit_id] = replace(
                checks[unit_id],
                stratum=f"{other.folder.name}: {drawn.stratum}" if source is theirs else drawn.stratum,
                human=drawn.human,
                unanswered=drawn.unanswered,
                assisted=drawn.assisted,
            )
        if source.draw and name in source.draw.key:
            key[unit_id] = source.draw.key[name]
        if name in source.labels.settled:
            meant[unit_id] = source.labels.settled[name]
    export_id = next((one.draw.export_id for one in (own, theirs) if one.draw), "")
    return Carried(Draw(export_id, key, checks, candidates), Labels(meant, frozenset(), {}), len(same))


def _contents(run: Run, candidates: Mapping[str, Candidate]) -> dict[str, str]:
    """Unit id -> content of the checks, in the order of the run."""
    return contents_of(run, (candidate.unit for candidate in candidates.values()))
