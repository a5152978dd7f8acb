"""What lies beside a run about its review: exports, their keys, and the human labels. See `RUN/spotcheck`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple, TypeVar

from pydantic import ValidationError

from judgekit.errors import InputError
from judgekit.records import Record
from judgekit.review.records import Export, HumanLabel, HumanVerdict, KeyLine
from judgekit.rundir import Run
from judgekit.writing import write_whole

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
    latest: dict[str, Export] = {}
    for line in _read(folder_of(run) / _EXPORTS, Export):
        latest.pop(line.export_id, None)
        latest[line.export_id] = line
    return list(latest.values())


def note_export(run: Run, export: Export) -> Export:
    """Add a line about a draw, and return it."""
    _append(folder_of(run) / _EXPORTS, [export])
    return export


def write_key(path: Path, lines: Sequence[KeyLine]) -> None:
    """Write the key of an export, once. InputError: there is one already, and it says something else."""
    written = "".join(f"{line.model_dump_json()}\n" for line in lines)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        if path.read_text(encoding="utf-8") != written:
            raise InputError(
                f"{path}: these units were drawn before, and the judge has said something else of them since; "
                "draw with another --seed"
            )
        return
    write_whole(path, written)


def key_of(run: Run, export_id: str) -> list[KeyLine]:
    """The key lines of an export, in the order of its rows. InputError: this run has no such export."""
    path = key_path(run, export_id)
    if not path.exists():
        exports = [export.export_id for export in exports_of(run)]
        if export_id in exports:
            raise InputError(f"{path}: not there, and nothing else tells what {export_id} drew; put it back")
        known = ", ".join(exports) or "none"
        raise InputError(f"{run.folder}: no export {export_id!r} was drawn from this run; its exports are: {known}")
    return _read(path, KeyLine)


def history_of(run: Run) -> list[HumanLabel]:
    """All label lines in the order of their import, superseded ones too; empty when nothing was imported."""
    return _read(labels_path(run), HumanLabel)


def add_labels(run: Run, labels: Iterable[HumanLabel]) -> None:
    """Add lines to the labels of a run: all of them, or none when the file cannot be written."""
    _append(labels_path(run), labels)


def labels_of(run: Run, texts: Mapping[str, str] | None = None) -> list[HumanLabel]:
    """The labels in force: the last line of each reviewer about each unit, if it says anything; in order of import.

    For a claim that is a verdict; for a whole answer a verdict, or how many claims are missing. With `texts`, unit ids
    with the content that each has now, a label that was given for another content is none.

    Several reviewers of one unit are several labels, an adjudicator's among them: `settled` makes one of them.
    """
    told = [label for label in last_lines(run).values() if label.verdict is not None or label.missed is not None]
    return told if texts is None else [label for label in told if is_about(label, texts)]


def is_about(label: HumanLabel, texts: Mapping[str, str]) -> bool:
    """Whether a label was given for the content that its unit has among these; one that does not know is."""
    return label.content is None or label.content == texts.get(label.unit_id)


def last_lines(run: Run) -> dict[Line, HumanLabel]:
    """The last line of each reviewer about each unit, and each content of it, in order of import.

    Who settles a disagreement may have been one of its parties: what they said first stays in force beside it.
    """
    last: dict[Line, HumanLabel] = {}
    for label in history_of(run):
        key = line_of(label)
        last.pop(key, None)
        last[key] = label
    return last


class Line(NamedTuple):
    """What makes a label take the place of an earlier one."""

    unit_id: str
    reviewer: str
    adjudicated: bool
    content: str | None


def line_of(label: HumanLabel) -> Line:
    return Line(label.unit_id, label.reviewer, label.adjudicated, label.content)


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


def _append(path: Path, records: Iterable[Record]) -> None:
    """Add lines in one write, when no other process does. A torn last line, left by a kill, is cut off first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = "".join(f"{record.model_dump_json(exclude_defaults=True)}\n" for record in records)
    with path.open("ab+") as file:
        _wait_for(file)
        whole = _whole_length(file)
        file.truncate(whole)
        file.write(lines.encode())


def _wait_for(file: IO[bytes]) -> None:
    """Have a file for oneself until it is closed; where there are no locks it is not waited for."""
    try:
        import fcntl  # noqa: PLC0415 - not on Windows
    except ImportError:
        return
    with suppress(OSError):  # a file system without locks
        fcntl.flock(file, fcntl.LOCK_EX)


def _whole_length(file: IO[bytes]) -> int:
    """How many bytes of a file are whole lines."""
    file.seek(0)
    return file.read().rfind(b"\n") + 1


def _read(path: Path, record: type[R]) -> list[R]:
    """The lines of a file of records; none when there is no file, and a torn last line is none."""
    if not path.exists():
        return []
    found: list[R] = []
    for number, line in enumerate(path.read_bytes().split(b"\n")[:-1], 1):  # a kill may tear a character too
        try:
            found.append(record.model_validate_json(line))
        except ValidationError as error:
            raise InputError(
                f"{path}:{number}: not a line of judgekit ({error.error_count()} faults); "
                "put the file back as it was, or delete what was changed"
            ) from None
    return found
