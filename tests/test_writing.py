"""A file is replaced whole or left as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgekit.writing import write_whole


def test_a_file_is_put_in_place_byte_for_byte(tmp_path: Path) -> None:
    write_whole(tmp_path / "a.json", "old")
    write_whole(tmp_path / "a.json", "né\r\n\n")
    assert (tmp_path / "a.json").read_bytes() == "né\r\n\n".encode()
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_what_cannot_be_written_leaves_the_old_file(tmp_path: Path) -> None:
    write_whole(tmp_path / "a.json", "old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(tmp_path / "a.json", "half \ud800")
    assert (tmp_path / "a.json").read_text() == "old"
