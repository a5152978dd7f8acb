"""What goes to and comes from an endpoint. Files are streamed, never whole in memory, and bounded in size and time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

#: Bytes that are read at once.
PIECE: Final = 1 << 18
#: Bytes a second below which a transfer is given up, once its first `timeout` seconds are over.
SLOWEST: Final = 50_000


@dataclass(frozen=True, slots=True)
class Received:
    """An HTTP response, read to its end."""

    status: int
    headers: Mapping[str, str]
    content: bytes


@dataclass(frozen=True, slots=True)
class Upload:
    """A file to be sent as a form with its purpose, as `/files` takes it."""

    file: Path
    purpose: str

    @property
    def size(self) -> int:
        return self.file.stat().st_size


@dataclass(frozen=True, slots=True)
class Download:
    """A stored file, where it goes, and how many bytes of it at most."""

    file_id: str
    into: Path
    most: int
