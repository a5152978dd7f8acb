"""The files of requests that a run sends as batches, and what became of each: kept on disk, so that nothing is sent
twice and a batch that is under way is taken up again. No key, header or address is written here."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO, Final

from pydantic import TypeAdapter, ValidationError

from judgekit.errors import InputError
from judgekit.judge.backend import Body
from judgekit.judge.batchfile import MOST_BYTES, request_line
from judgekit.records import Record
from judgekit.writing import write_whole

#: Folder of a run that holds all of this while batches are under way.
BATCHES: Final = "batches"
#: In it, the store of what came back.
INBOX: Final = "inbox"
_LIST: Final = "batches.json"
_UNFINISHED: Final = ".partial"


class Parcel(Record):
    """One file of requests to one part of the judge, and how far it has come."""

    number: int
    wave: int
    file: str
    requests: int
    part: str
    path: str
    model: str
    resolved: str
    by_hand: bool = False
    file_id: str | None = None
    batch_id: str | None = None
    status: str = "written"
    is_read: bool = False


_PARCELS = TypeAdapter(list[Parcel])


class Parcels:
    """All parcels of a run, in the order of their numbers. Every change is on disk before it counts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._all: dict[int, Parcel] = {parcel.number: parcel for parcel in self._read()}

    @property
    def all(self) -> list[Parcel]:
        return list(self._all.values())

    @property
    def open(self) -> list[Parcel]:
        """Those whose results have not been read."""
        return [parcel for parcel in self._all.values() if not parcel.is_read]

    @property
    def next_number(self) -> int:
        return max(self._all, default=0) + 1

    @property
    def next_wave(self) -> int:
        return max((parcel.wave for parcel in self._all.values()), default=0) + 1

    def file_of(self, parcel: Parcel) -> Path:
        return self.folder / parcel.file

    def keep(self, *parcels: Parcel) -> None:
        """Add parcels, or put them in place of those with their numbers."""
        self._all.update((parcel.number, parcel) for parcel in parcels)
        listed = _PARCELS.dump_json(self.all, indent=1, exclude_defaults=True).decode()
        write_whole(self.folder / _LIST, f"{listed}\n")

    def begin(self) -> None:
        """Make the folder, for its owner alone, and drop what a killed session left half written."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        for left in self.folder.glob(f"*{_UNFINISHED}"):
            left.unlink()

    def _read(self) -> list[Parcel]:
        path = self.folder / _LIST
        try:
            return _PARCELS.validate_json(path.read_bytes())
        except FileNotFoundError:
            return []
        except (OSError, ValidationError) as error:
            what = f"{error.error_count()} faults" if isinstance(error, ValidationError) else error.strerror
            raise InputError(
                f"{path}: cannot be read ({what}); delete {self.folder} to send its requests anew"
            ) from None


class Outbox:
    """Requests to one part of a judge, written into as many files as the limits of a batch make necessary.

    A request that is wanted again goes into the same file once. Nothing counts before `close`.
    """

    def __init__(self, folder: Path, name: str, *, path: str, size: int) -> None:
        self._folder = folder
        self._name = name
        self._path = path
        self._size = size
        self._keys: set[str] = set()
        self._bytes = 0
        self._file: BinaryIO | None = None
        self.written: list[tuple[Path, int]] = []

    @property
    def requests(self) -> int:
        return sum(count for _, count in self.written) + len(self._keys)

    def holds(self, key: str) -> bool:
        """True for a request that the file in work holds already."""
        return key in self._keys

    def want(self, key: str, body: Body) -> None:
        """Note a request down that it does not hold."""
        line = request_line(key, self._path, body)
        if len(self._keys) >= self._size or self._bytes + len(line) > MOST_BYTES:
            self.close()
        if self._file is None:
            self._file = (self._folder / f"{self._name}-{len(self.written) + 1}{_UNFINISHED}").open("wb")
        self._file.write(line)
        self._keys.add(key)
        self._bytes += len(line)

    def close(self) -> None:
        """End the file that is being written."""
        if self._file is not None:
            self._file.close()
            self.written.append((Path(self._file.name), len(self._keys)))
        self._file, self._bytes = None, 0
        self._keys = set()
