"""What lies beside a run about its review: exports, their keys, and the human labels. See `RUN/spotcheck`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, TypeVar

from pydantic import ValidationError

from judgekit.errors import InputError
from judgekit.records import Record
from judgekit.review.records import Export, HumanLabel, HumanVerdict, KeyLine
from judgekit.rundir import Run

R = TypeVar("R", bound=Record)

_LABELS = "labels.jsonl"
_EXPORTS = "exports.jsonl"
_KEY = ".key.jsonl"


def folder_of(run: Run) -> Path:
    """Where everything about a run's review lies."""
    return run.folder / "spotcheck"


def labels_path(run: Run) -> Path:
    """The file of all labels that were ever imported."""
    return folder_of(run) / _LABELS


def key_path(run: Run, export_id: str) -> Path:
    """The key of an export; the reviewer must not see it."""
    return folder_of(run) / f"{export_id}{_KEY}"


def exports_of(run: Run) -> list[Export]:
    """Every draw from this run, the latest last, each once; empty when nothing was drawn.

    With the same seed and metrics a later, larger draw holds all units of an earlier one, so that labels given for the
    earlier one count for it too.
    """
    lines = {line.export_id: line for line in _read(folder_of(run) / _EXPORTS, Export)}
    return list(lines.values())


def key_of(run: Run, export_id: str) -> list[KeyLine]:
    """The key lines of an export, in the order of its rows. InputError: this run has no such export."""
    path = key_path(run, export_id)
    if not path.exists():
        known = ", ".join(export.export_id for export in exports_of(run)) or "none"
        raise InputError(f"{run.folder}: no export {export_id!r} was drawn from this run; its exports are: {known}")
    return _read(path, KeyLine)


def history_of(run: Run) -> list[HumanLabel]:
    """All label lines in the order of their import, superseded ones too; empty when nothing was imported."""
    return _read(labels_path(run), HumanLabel)


def labels_of(run: Run) -> list[HumanLabel]:
    """The labels in force: the last line of each reviewer about each unit, if it has a verdict; in order of import.

    Several reviewers of one unit are several labels, an adjudicator's among them: `settled` makes one of them.
    """
    current: dict[tuple[str, str], HumanLabel] = {}
    for label in history_of(run):
        current.pop((label.unit_id, label.reviewer), None)
        current[label.unit_id, label.reviewer] = label
    return [label for label in current.values() if label.verdict is not None]


class Settled(NamedTuple):
    """What the reviewers together say of one unit.

    `is_supported` is None when none of them could tell, or when they disagree (`is_disputed`) and nobody adjudicated:
    such a unit has no label, and counts as non-response in an estimate. `assisted`: one of the labels it rests on was
    given with the judge's verdict in view.
    """

    unit_id: str
    is_supported: bool | None
    is_disputed: bool
    is_adjudicated: bool
    assisted: bool
    labels: tuple[HumanLabel, ...]


def settled(labels: Iterable[HumanLabel]) -> dict[str, Settled]:
    """Unit id -> what its labels in force amount to.

    An adjudicated label (the last one, if several) is the outcome. Otherwise reviewers who could not tell abstain, and
    the others must agree on supported or not; finer labels of the same side are no disagreement.
    """
    by_unit: dict[str, list[HumanLabel]] = {}
    for label in labels:
        by_unit.setdefault(label.unit_id, []).append(label)
    return {unit_id: _settled(unit_id, tuple(given)) for unit_id, given in by_unit.items()}


def _settled(unit_id: str, given: tuple[HumanLabel, ...]) -> Settled:
    decisive = [label for label in given if label.adjudicated][-1:] or list(given)
    votes = {_side(label.verdict) for label in decisive} - {None}
    return Settled(
        unit_id=unit_id,
        is_supported=votes.pop() if len(votes) == 1 else None,
        is_disputed=len(votes) > 1,
        is_adjudicated=any(label.adjudicated for label in decisive),
        assisted=any(label.assisted for label in decisive),
        labels=given,
    )


def _side(verdict: HumanVerdict | None) -> bool | None:
    return None if verdict is None else verdict.is_supported


def _read(path: Path, record: type[R]) -> list[R]:
    """The lines of a file of records; none when there is no file, and a torn last line is none."""
    if not path.exists():
        return []
    found: list[R] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n")[:-1], 1):
        try:
            found.append(record.model_validate_json(line))
        except ValidationError as error:
            raise InputError(
                f"{path}:{number}: not a line of judgekit ({error.error_count()} faults); "
                "put the file back as it was, or delete what was changed"
            ) from None
    return found
