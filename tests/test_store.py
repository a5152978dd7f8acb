"""What was paid for stays: across processes, kills and corrupt files, and without trusting what is in the folder."""

from __future__ import annotations

import os
import pickle
import sqlite3
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from judgekit.errors import InputError
from judgekit.judge.store import Store

ROOT = Path(__file__).parents[1]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture(params=["disk", "memory"])
def store(request: pytest.FixtureRequest, folder: Path) -> Iterator[Store]:
    kept = Store(folder if request.param == "disk" else None)
    yield kept
    kept.close()


def in_process(script: str, *args: object) -> subprocess.Popen[str]:
    script = "import sys; sys.path.insert(0, sys.argv[1])\n" + textwrap.dedent(script)
    return subprocess.Popen(
        [sys.executable, "-c", script, str(ROOT), *map(str, args)], stdout=subprocess.PIPE, text=True
    )


def sql(folder: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(folder / "cache.db")) as database, database:
        database.execute(statement, values)


def filled(folder: Path, count: int = 1) -> None:
    store = Store(folder)
    for number in range(count):
        store.put(f"key{number}", f"row{number}")
    store.close()


# --- rows ------------------------------------------------------------------------------------


def test_a_row_comes_back_as_it_was_put(store: Store) -> None:
    rows = {"a": "", "b": '{"x": "é 𝄞 \\u0000"}', "c": "nul \0 byte", "d": "x" * 3_000_000}
    for key, row in rows.items():
        store.put(key, row)
    assert {key: store.get(key) for key in rows} == rows
    assert store.get("e") is None
    store.put("a", "later")
    assert store.get("a") == "later"
    assert len(store) == 4


def test_keys_are_sorted_by_code_point(store: Store) -> None:
    keys = ["b", "a", "é", "\U0001d11e", "\uffee", "B", "10", "9"]
    for key in keys:
        store.put(key, "row")
    assert list(store.keys()) == sorted(keys)


def test_a_lone_surrogate_is_kept_as_its_json_escape(store: Store) -> None:
    store.put("key", '{"text": "cut \ud83d"}')
    assert store.get("key") == '{"text": "cut \\ud83d"}'


def test_rows_outlive_the_store_and_lie_in_one_database(folder: Path) -> None:
    store = Store(folder)
    store.put("key", "x" * 3_000_000)
    store.close()
    assert [path.name for path in folder.iterdir()] == ["cache.db"]
    store.put("other", "row")  # a closed store opens again
    assert len(store) == 2
    store.close()


def test_nothing_is_opened_before_the_first_use(folder: Path) -> None:
    Store(folder).close()
    assert not folder.exists()
    script = "from judgekit.judge.store import Store; Store(None).put('a', 'b'); print('diskcache' in sys.modules)"
    assert in_process(script).communicate(timeout=30) == ("False\n", None)


def test_nothing_is_ever_evicted(folder: Path) -> None:
    filled(folder, 50)
    sql(folder, "UPDATE Settings SET value = 1 WHERE key IN ('size_limit', 'cull_limit')")
    sql(folder, "UPDATE Settings SET value = 'least-recently-stored' WHERE key = 'eviction_policy'")
    filled(folder, 60)
    store = Store(folder)
    assert len(store) == 60
    store.close()


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_the_folder_is_private_also_when_it_was_not(folder: Path) -> None:
    folder.mkdir(mode=0o755)
    (folder / "cache.db").touch(mode=0o644)
    store = Store(folder)
    store.put("key", "row")
    modes = {path.name: path.stat().st_mode & 0o777 for path in [folder, *folder.iterdir()]}
    store.close()
    assert modes == {"store": 0o700, "cache.db": 0o600, "cache.db-wal": 0o600, "cache.db-shm": 0o600}


def test_a_folder_that_cannot_be_is_bad_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("PLACE", "elsewhere")
    for path in (tmp_path / "file" / "store", tmp_path / "file", tmp_path / "$PLACE"):
        with pytest.raises(InputError, match="the store"):
            Store(path).get("key")


# --- what someone else put there -------------------------------------------------------------


class Trap:
    """Unpickling it makes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Path.touch, (self.path,)


def test_a_planted_row_is_a_miss_and_never_unpickled(folder: Path, tmp_path: Path) -> None:
    filled(folder)
    sprung = tmp_path / "sprung"
    trap = pickle.dumps(Trap(sprung))
    (folder / "trap.val").write_bytes(trap)
    (tmp_path / "text").write_text("not for you")
    planted = {
        "pickle": (4, None, trap),
        "pickle file": (4, "trap.val", None),
        "text file": (3, "../text", None),
        "binary file": (2, "../text", None),
        "text with a file": (1, "../text", "text"),
        "bytes": (1, None, b"bytes"),
        "number": (1, None, 7),
        "nothing": (1, None, None),
        "other mode": (9, None, "text"),
    }
    insert = "INSERT INTO Cache(key, raw, store_time, mode, filename, value) VALUES (?, ?, 0, ?, ?, ?)"
    for key, row in planted.items():
        sql(folder, insert, key, 1, *row)
    sql(folder, insert, trap, 0, 1, None, "a pickled key")
    sql(folder, insert, b"bytes", 1, 1, None, "a key of bytes")
    sql(folder, "INSERT INTO Cache(key, raw, mode, value) VALUES ('no utf-8', 1, 1, CAST(X'ff' AS TEXT))")
    store = Store(folder)
    assert [key for key in [*planted, "no utf-8"] if store.get(key) is not None] == []
    assert (list(store.keys()), len(store)) == (["key0"], 1)
    for key in planted:  # a planted file name may point anywhere: nothing is deleted
        store.put(key, "ours")
    assert [store.get(key) for key in planted] == ["ours"] * len(planted)
    store.close()
    assert not sprung.exists()
    assert (tmp_path / "text").read_text() == "not for you"


def test_planted_settings_have_no_effect(folder: Path, tmp_path: Path) -> None:
    filled(folder)
    trap = pickle.dumps(Trap(tmp_path / "sprung"))
    planted: dict[str, object] = {
        "_directory": str(tmp_path / "elsewhere"),
        "_timeout": 0,
        "_disk": trap,
        "disk": trap,
        "disk_fetch": "text",
        "disk__directory": str(tmp_path),
        "disk_min_file_size": 0,
        "disk_unknown": 1,
        "get": "text",
        "set": trap,
        "statistics": 1,
        "tag_index": 1,
        "sqlite_user_version": 77,
        "sqlite_journal_mode": "delete",
        "eviction_policy": "no such policy",
        "count": "many",
    }
    for key, value in planted.items():
        sql(folder, "INSERT OR REPLACE INTO Settings VALUES (?, ?)", key, value)
    store = Store(folder)
    assert store.get("key0") == "row0"
    store.put("big", "x" * 100_000)
    assert len(store) == 2
    store.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["store"]
    assert [path.name for path in folder.iterdir()] == ["cache.db"]
    with closing(sqlite3.connect(folder / "cache.db")) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (0,)


# --- corruption ------------------------------------------------------------------------------


def garbage(path: Path) -> None:
    path.write_bytes(b"no database at all" * 1000)


def stump(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:700])


def half(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 8192 * 4096])


def scribble(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:4096] + b"\xa5" * (len(data) - 4096))


def other_tables(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE Cache (id)")


def other_settings(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE Settings (key, value)")
        database.execute("INSERT INTO Settings VALUES (7, 7)")


@pytest.mark.parametrize("damage", [garbage, stump, half, scribble, other_tables, other_settings])
def test_a_corrupt_database_is_set_aside_and_told(folder: Path, damage: object) -> None:
    for turn in (1, 2):
        filled(folder, 500)
        assert callable(damage)
        damage(folder / "cache.db")
        bytes_left = (folder / "cache.db").read_bytes()
        messages: list[str] = []
        store = Store(folder, on_message=messages.append)
        for number in range(500):
            store.get(f"key{number}")
        assert len(store) == 0
        store.put("key", "row")
        assert store.get("key") == "row"
        store.close()
        assert len(messages) == 1
        assert f"cache.db.corrupt-{turn}" in messages[0]
        if damage in {garbage, stump}:
            assert (folder / f"cache.db.corrupt-{turn}").read_bytes() == bytes_left


def test_a_key_that_is_no_text_is_the_callers_fault_and_not_the_files(folder: Path) -> None:
    filled(folder)
    store = Store(folder)
    with pytest.raises(TypeError):
        store.put("key", 7)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        store.get(7)  # type: ignore[arg-type]
    assert list(store.keys()) == ["key0"]
    store.close()


# --- several writers, and their end ----------------------------------------------------------

WRITER = """
    from pathlib import Path
    from judgekit.judge.store import Store
    store, name, count = Store(Path(sys.argv[2])), sys.argv[3], int(sys.argv[4])
    for number in range(count):
        store.put(f"{name}-{number:05}", f"row {number} of {name}")
        print(number, flush=True)
"""


def test_processes_share_a_folder_from_its_first_moment(folder: Path) -> None:
    writers = [in_process(WRITER, folder, name, 200) for name in "abcd"]
    for writer in writers:
        writer.communicate(timeout=60)
        assert writer.returncode == 0
    store = Store(folder)
    assert len(store) == 800
    assert store.get("c-00199") == "row 199 of c"
    store.close()


def test_threads_share_a_store(folder: Path) -> None:
    store = Store(folder)

    def write(name: str) -> None:
        for number in range(50):
            store.put(f"{name}{number}", "row")
        store.close()

    threads = [threading.Thread(target=write, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store) == 100
    store.close()


def test_a_killed_writer_loses_nothing_that_it_had_put(folder: Path) -> None:
    writer = in_process(WRITER, folder, "a", 1_000_000)
    assert writer.stdout is not None
    for line in writer.stdout:
        if int(line) == 300:
            writer.kill()  # SIGKILL, in the midst of the next put
            break
    told = 300 + len(writer.stdout.read().split("\n")) - 1
    writer.stdout.close()
    writer.wait(10)
    store = Store(folder)
    assert [store.get(f"a-{number:05}") for number in range(told)] == [f"row {n} of a" for n in range(told)]
    store.close()
