"""diskcache holding text and nothing else, safe to open on a folder that someone else has written to.

diskcache 5.6.3 by itself unpickles what it finds (CVE-2025-69872), deletes files that a row names, and sets
attributes on itself from the Settings table. Importing this module imports diskcache.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from diskcache import Cache, Disk
from diskcache.core import ENOVAL, METADATA, MODE_RAW

# All of diskcache's settings, so that the ones in a file are never the ones in force.
SETTINGS: Final[dict[str, int | str]] = {
    "statistics": 0,
    "tag_index": 0,
    "eviction_policy": "none",
    "size_limit": 2**62,
    "cull_limit": 0,
    "sqlite_auto_vacuum": 1,
    # pages: keys are random, so that more would only grow with the log and find nothing sooner
    "sqlite_cache_size": 2**11,
    "sqlite_journal_mode": "wal",
    # memory-mapped, a file that another process cuts off kills this one instead of raising
    "sqlite_mmap_size": 0,
    # with WAL: a killed process loses nothing, a power cut perhaps the last rows
    "sqlite_synchronous": 1,
    "disk_min_file_size": 2**62,
    "disk_pickle_protocol": 0,
}


class TextDisk(Disk):  # type: ignore[misc]
    """Keys and values are str, kept as TEXT in the database; there are no files and no pickles."""

    def __init__(self, directory: str, **_found: object) -> None:
        super().__init__(directory)

    def put(self, key: object) -> tuple[str, bool]:
        if type(key) is not str:
            raise TypeError(f"a key is text, not {type(key).__name__}")
        return key, True

    def get(self, key: object, raw: object) -> str | None:
        return key if raw and type(key) is str else None

    def store(self, value: object, read: object, key: object = None) -> tuple[int, int, None, str]:  # noqa: ARG002
        if read or type(value) is not str:
            raise TypeError(f"a row is text, not {type(value).__name__}")
        return 0, MODE_RAW, None, value

    def fetch(self, mode: object, filename: object, value: object, read: object) -> str | None:
        is_ours = mode == MODE_RAW and filename is None and not read
        return value if is_ours and type(value) is str else None

    def remove(self, file_path: object) -> None:
        """Remove nothing: no row of ours has a file, and a path in a planted row may point anywhere."""


class TextCache(Cache):  # type: ignore[misc]
    """A cache under fixed settings, whatever the database says about them."""

    def __init__(self, directory: str, *, timeout: float) -> None:
        try:
            super().__init__(directory, timeout=timeout, disk=TextDisk, **SETTINGS)
        except sqlite3.Error:
            self.close()
            raise
        except (AttributeError, KeyError, TypeError, ValueError) as cause:  # a Settings table that is not diskcache's
            self.close()
            error = sqlite3.DatabaseError(f"no settings as diskcache writes them: {cause}")
            error.sqlite_errorcode = sqlite3.SQLITE_NOTADB
            raise error from cause

    def reset(self, key: str, value: object = ENOVAL, update: bool = True) -> object:
        # diskcache calls this for every row of the Settings table; an unknown one could replace any attribute
        if key in SETTINGS:
            return super().reset(key, SETTINGS[key], update)
        return super().reset(key, value, update) if key in METADATA else value

    def close(self) -> None:
        try:
            super().close()
        except sqlite3.DatabaseError:  # closing a corrupt file tries to write to it
            self._local.con = None
