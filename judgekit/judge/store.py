"""What was paid for, kept: text rows by key, in a folder that several processes may share."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import sqlite3
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from judgekit.errors import InputError
from judgekit.judge.messages import Say, say_nothing

if TYPE_CHECKING:
    from judgekit.judge.textcache import TextCache

DATABASE: Final = "cache.db"
BUSY_SECONDS: Final = 60.0
SURROGATE: Final = re.compile(r"[\ud800-\udfff]")
T = TypeVar("T")


def escaped(text: str) -> str:
    """JSON text with its lone surrogates, which neither a database nor a file takes, as JSON escapes."""
    return SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class Store:
    """Rows of text by key: written once, never evicted, never expiring, never unpickled.

    A row is JSON text: a lone surrogate in it, which no database takes, is kept as its JSON escape. `folder` None
    keeps rows in memory. Nothing is opened before the first use. The folder is private to its owner (0700, files
    0600). A database that is corrupt is renamed to `cache.db.corrupt-<n>`, told to `on_message`, and begun afresh.
    A row that `put` has returned from survives the death of this process. Raises InputError where the folder cannot
    be used. Each thread has its own connection, and `close` closes that of the calling thread.
    """

    def __init__(self, folder: Path | None, *, on_message: Say = say_nothing) -> None:
        self.folder = folder
        self._say = on_message
        self._memory: dict[str, str] = {}
        self._cache: TextCache | None = None
        self._opened: int | None = None
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"Store({str(self.folder) if self.folder else None!r})"

    def get(self, key: str) -> str | None:
        """The row under `key`; None where there is none, or where what is there is not text."""
        if self.folder is None:
            return self._memory.get(key)
        return self._use(self.folder, lambda cache: _read(cache, key))

    def put(self, key: str, row: str) -> None:
        """Keep `row` under `key`, in place of an earlier one."""
        row = escaped(row)
        if self.folder is None:
            self._memory[key] = row
        else:
            self._use(self.folder, lambda cache: cache.set(key, row))

    def keys(self) -> Iterator[str]:
        """Every key that `get` has a row for, sorted by code point."""
        if self.folder is None:
            yield from sorted(self._memory)
        else:
            # all of them first: a corrupt page must not surface half-way through somebody's loop
            yield from self._use(self.folder, _keys_of)

    def __len__(self) -> int:
        return sum(1 for _ in self.keys())

    def close(self) -> None:
        """Close the calling thread's connection; the next use opens again."""
        if self._cache is not None:
            self._cache.close()

    def _use(self, folder: Path, work: Callable[[TextCache], T]) -> T:
        """Do `work`; where the database turns out to be corrupt, set it aside and do it on a fresh one."""
        from diskcache import Timeout  # noqa: PLC0415 - diskcache is imported by the first use

        for last_try in (False, True):
            try:
                return work(self._open(folder))
            except Timeout:
                raise InputError(
                    f"the store {folder} stayed locked for {BUSY_SECONDS:g} s; close what holds it"
                ) from None
            except OSError as error:
                raise InputError(f"the store {folder} cannot be used: {error}; choose another folder") from error
            except sqlite3.Error as error:
                if last_try or not _is_corrupt(error):
                    raise InputError(f"the store {folder} cannot be used: {error}; choose another folder") from error
                self._set_aside(folder, error)
        raise AssertionError("unreachable")

    def _open(self, folder: Path) -> TextCache:
        from judgekit.judge.textcache import TextCache  # noqa: PLC0415 - it imports diskcache

        with self._lock:
            if self._cache is None:
                if os.path.expandvars(folder) != str(folder):
                    raise InputError(f"the store {folder} has a variable in its path, which diskcache would expand")
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                database = folder / DATABASE
                # made here, because sqlite would make it readable to others; its side files take its mode
                os.close(os.open(database, os.O_CREAT | os.O_RDWR, 0o600))
                _tighten(folder, 0o700)
                for path in folder.glob(f"{DATABASE}*"):
                    _tighten(path, 0o600)
                self._opened = database.stat().st_ino
                self._cache = TextCache(str(folder.absolute()), timeout=BUSY_SECONDS)
            return self._cache

    def _set_aside(self, folder: Path, error: sqlite3.Error) -> None:
        self.close()
        self._cache = None
        with contextlib.suppress(FileNotFoundError):
            if (folder / DATABASE).stat().st_ino != self._opened:
                return  # another process has done it, and what is there now is fresh
            number = next(n for n in itertools.count(1) if not (folder / f"{DATABASE}.corrupt-{n}").exists())
            kept = folder / f"{DATABASE}.corrupt-{number}"
            (folder / DATABASE).rename(kept)
            for side in ("-wal", "-shm"):
                with contextlib.suppress(FileNotFoundError):
                    (folder / f"{DATABASE}{side}").rename(f"{kept}{side}")
            self._say(
                f"the store {folder} was corrupt ({error}): it is kept as {kept.name}, from which "
                "`sqlite3 <file> .recover` may still read rows, and a fresh one begins"
            )


def _read(cache: TextCache, key: object) -> str | None:
    try:
        row = cache.get(key)
    except sqlite3.OperationalError as error:
        if "decode" in str(error):  # a planted row that is no UTF-8
            return None
        raise
    return row if isinstance(row, str) else None


def _keys_of(cache: TextCache) -> list[str]:
    return [key for key in cache.iterkeys() if isinstance(key, str) and _read(cache, key) is not None]


def _is_corrupt(error: sqlite3.Error) -> bool:
    """Whether this comes from what is in the file, and not from locks, rights or a full disk."""
    code = getattr(error, "sqlite_errorcode", 0)
    # our statements are fixed, so that a plain SQL error means tables that are not ours
    return code & 0xFF in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}


def _tighten(path: Path, mode: int) -> None:
    """Take the rights of others away, where the file is ours to change."""
    with contextlib.suppress(FileNotFoundError):
        found = path.stat()
        if os.name == "posix" and found.st_uid == os.geteuid() and stat.S_IMODE(found.st_mode) & ~mode:
            path.chmod(mode)
