"""A run on disk: a folder with `manifest.json` and one result a line in `results.jsonl`.

Rows are appended as they finish, so a run that is killed loses none; a torn last line is ignored and cut off by the
next session. When a row was judged again its last line counts, until `settle` writes the file in the log's order.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from judgekit.errors import InputError, NotARun
from judgekit.metrics import METRICS, Metric, Rubric
from judgekit.records import Case, Manifest, MetricPin, Result, Score, Summary
from judgekit.scoring import summarize
from judgekit.writing import write_whole

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

MANIFEST = "manifest.json"
RESULTS = "results.jsonl"
CACHE = "cache"
LOCK = ".lock"


class Run:
    """A run's folder, for reading. Raises NotARun when there is no manifest that this version can read."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.manifest = _manifest(self.folder)

    def __repr__(self) -> str:
        return f"<Run {self.folder}>"

    def __iter__(self) -> Iterator[Result]:
        """All results, one at a time, in the order of the log as far as the run has come."""
        path = self.folder / RESULTS
        for start, length in _lines_by_id(path).values():
            yield _result(path, start, length)

    def __len__(self) -> int:
        return len(_lines_by_id(self.folder / RESULTS))

    def __getitem__(self, row_id: str) -> Result:
        """The result of a row. KeyError when the run has none of that id."""
        path = self.folder / RESULTS
        return _result(path, *_lines_by_id(path)[row_id])

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics of the run with their options; a user's own is known by name and direction, and cannot score."""
        return tuple(_metric(name, pin) for name, pin in self.manifest.metrics.items())

    def summary(self, *, cluster_by: str | None = None) -> Summary:
        """The run in numbers. cluster_by: a metadata key; rows with the same value of it are one unit of an interval.

        Raises InputError when no row has that key.
        """
        return summarize(self, self.metrics, cluster_by=cluster_by, prices=self.manifest.prices_by_part)

    def rows(self) -> list[dict[str, Any]]:
        """One flat dict a row: id, question, answer, and a value a metric (None where undefined), for data frames."""
        return [
            {
                "id": result.id,
                "question": result.case.sample.question,
                "answer": result.case.sample.answer,
                **{score.metric: score.value for score in result.scores},
            }
            for result in self
        ]

    def to_pandas(self) -> pd.DataFrame:
        """The rows as a pandas data frame; needs pandas (`pip install judgekit[pandas]`)."""
        import pandas as pd  # noqa: PLC0415 - an extra, imported only when used

        return pd.DataFrame(self.rows())

    def to_polars(self) -> pl.DataFrame:
        """The rows as a polars data frame; needs polars (`pip install judgekit[polars]`)."""
        import polars as pl  # noqa: PLC0415 - an extra, imported only when used

        return pl.DataFrame(self.rows())


class Foreign(Metric):
    """A metric that does not ship with judgekit, as far as a manifest tells: for reading its scores."""

    def __init__(self, name: str, pin: MetricPin) -> None:
        self.name = name
        self.version = pin.version
        self.lower_is_better = pin.lower_is_better

    def score(self, case: Case) -> Score:
        """Raises InputError: the code of the metric is not here."""
        raise InputError(
            f"metric {self.name!r} does not ship with judgekit; pass its object to score {case.sample.id!r}"
        )


def _metric(name: str, pin: MetricPin) -> Metric:
    known = METRICS.get(name)
    if known is None and pin.options.keys() == Rubric(name="r", criterion="?").options.keys():
        return TypeAdapter(Rubric).validate_python({"name": name, **pin.options})
    if known is None or not known.options.keys() <= pin.options.keys() <= _fields_of(known):
        return Foreign(name, pin)
    changed: Metric = replace(known, **pin.options)  # type: ignore[type-var]  # shipped metrics are dataclasses
    return changed


def _fields_of(metric: Metric) -> set[str]:
    return {field.name for field in fields(metric)} if is_dataclass(metric) else set()


class Results:
    """The results file of a run that is being made: what is there, and appending to it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / RESULTS
        self._index = _lines_by_id(self.path)
        self._order = list(self._index)
        whole = max((start + length for start, length in self._index.values()), default=0)
        self._file = _private(self.path).open("ab")
        self._file.truncate(whole)
        self._file.seek(0, 2)

    def get(self, row_id: str) -> Result | None:
        """What an earlier session made of a row; None when it is not there."""
        found = self._index.get(row_id)
        return _result(self.path, *found) if found else None

    def append(self, result: Result) -> None:
        """Write a row and hand it to the operating system, so that a killed process loses nothing."""
        line = (result.model_dump_json(exclude_defaults=True) + "\n").encode("utf-8")
        start = self._file.seek(0, 2)
        self._file.write(line)
        self._file.flush()
        self._index[result.id] = (start, len(line))
        self._order.append(result.id)

    def settle(self, ids: list[str]) -> None:
        """Write the file as these rows in this order, each once: what an uninterrupted run would have written."""
        if self._order == ids and self._file.tell() == sum(length for _, length in self._index.values()):
            return
        partial = self.path.with_name(RESULTS + ".partial")
        with self.path.open("rb") as old, _private(partial).open("wb") as new:
            for row_id in ids:
                start, length = self._index[row_id]
                old.seek(start)
                new.write(old.read(length))
        partial.replace(self.path)

    def close(self) -> None:
        self._file.close()


def _private(path: Path) -> Path:
    """The file, made so that others cannot read it if it is not there: it will hold questions and answers."""
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    return path


def row_ids(folder: Path) -> set[str]:
    """Ids of the rows that a run has results of so far."""
    return set(_lines_by_id(folder / RESULTS))


def _lines_by_id(path: Path) -> dict[str, tuple[int, int]]:
    """Row id -> (offset, length) of its last whole line."""
    index: dict[str, tuple[int, int]] = {}
    if not path.exists():
        return index
    at = 0
    with path.open("rb") as lines:
        for line in lines:
            if not line.endswith(b"\n"):
                break  # torn by a kill
            try:
                row_id = json.loads(line)["case"]["sample"]["id"]
            except (ValueError, KeyError, TypeError):
                raise NotARun(
                    f"{path}: the line at byte {at} is not a result; the file was changed by something else"
                ) from None
            index[row_id] = (at, len(line))
            at += len(line)
    return index


def _result(path: Path, start: int, length: int) -> Result:
    with path.open("rb") as lines:
        lines.seek(start)
        try:
            return Result.model_validate_json(lines.read(length))
        except ValidationError as error:
            raise NotARun(
                f"{path}: the result at byte {start} cannot be read ({error.error_count()} faults); it was "
                "written by another version of judgekit; judge the log again"
            ) from None


def _manifest(folder: Path) -> Manifest:
    path = folder / MANIFEST
    try:
        return Manifest.model_validate_json(path.read_bytes())
    except OSError:
        raise NotARun(
            f"{folder}: not a run (it has no {MANIFEST}); give a folder that `judgekit run -o` wrote"
        ) from None
    except ValidationError as error:
        raise NotARun(
            f"{path}: cannot be read ({error.error_count()} faults); it was written by another version of "
            "judgekit; judge the log again into an empty folder"
        ) from None


def set_aside(folder: Path, was: str, now: str) -> None:
    """Put away the results made under the settings `was`, and take up those that an earlier session made under `now`.

    Rows under other metrics, options or prompts must not stand beside each other in one run; nor may they be lost
    before the new ones are there.
    """
    if was == now:
        return
    results, kept = folder / RESULTS, folder / f"results.{now}.jsonl"
    if results.exists():
        results.replace(folder / f"results.{was}.jsonl")
    if kept.exists():
        kept.replace(results)


def drop_aside(folder: Path) -> None:
    """Delete what was put away: the run is complete without it."""
    for path in folder.glob("results.*.jsonl"):
        path.unlink()


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Hold a run's folder for this session. Raises NotARun when another process is judging into it.

    Where the platform or the file system has no locks, nothing is held.
    """
    try:
        import fcntl  # noqa: PLC0415 - not on Windows
    except ImportError:
        yield
        return
    with (folder / LOCK).open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise NotARun(f"{folder}: another process is judging into this folder; wait for it, or stop it") from None
        except OSError:
            pass
        yield


def has_run(folder: Path) -> bool:
    """True when a run was begun in this folder."""
    return (folder / MANIFEST).exists()


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest, whole or not at all."""
    write_whole(folder / MANIFEST, manifest.model_dump_json(indent=2) + "\n")


def write_run(folder: Path, results: Iterable[Result], manifest: Manifest) -> Run:
    """Write a whole run into an empty folder. Raises NotARun when the folder holds one already."""
    if has_run(folder):
        raise NotARun(f"{folder}: holds a run already; give an empty folder")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    written = Results(folder)
    try:
        for result in results:
            written.append(result)
    finally:
        written.close()
    write_manifest(folder, manifest)
    return Run(folder)
