"""TREC files: what is read, and what is said about lines that cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgekit.errors import InputError, LogError
from judgekit.formats import trec


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "file.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_judgements_are_grades_by_query_and_document(tmp_path: Path) -> None:
    path = written(tmp_path, "\ufeffq1 0 a 2\nq1\t0\tb  -1\n\nq2 0 a 0.5\nq1 0 a 2\n")
    assert trec.read_qrels(path) == {"q1": {"a": 2, "b": -1}, "q2": {"a": 0.5}}


def test_a_run_is_ordered_by_score_and_equal_scores_by_the_file_or_by_the_larger_id(tmp_path: Path) -> None:
    path = written(tmp_path, "q1 Q0 a 1 0.5 t\nq1 Q0 b 2 0.5 t\nq1 Q0 c 3 -2e3 t\nq1 Q0 d 9 7 t\nq1 Q0 a 1 0.1 t\n")
    assert trec.read_run(path) == {"q1": ["d", "a", "b", "a", "c"]}
    assert trec.read_run(path, larger_id_first=True) == {"q1": ["d", "b", "a", "a", "c"]}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("q1 0 a", "grade: 3 fields; write query iteration document grade"),
        ("q1 0 a 1 x", "line: 5 fields; write query iteration document grade"),
        ("q1 0 a one", "grade: 'one' is no grade; write a number, such as 0 or 1"),
        ("q1 0 a nan", "grade: 'nan' is no grade; write a number, such as 0 or 1"),
        ("q0 0 z 2", "grade: 'z' has grade 1 already; keep one of the two"),
        (b"q1 0 \xff 1", "not UTF-8 at byte 5; save the file as UTF-8"),
    ],
)
def test_every_bad_judgement_is_named_with_file_line_field_and_remedy(
    tmp_path: Path, line: str | bytes, problem: str
) -> None:
    bad = line if isinstance(line, bytes) else line.encode()
    path = written(tmp_path, b"q0 0 z 1\n" + bad + b"\n" + bad + b"\n")
    with pytest.raises(LogError) as raised:
        trec.read_qrels(path)
    assert raised.value.problems == (f"{path}:2: {problem}", f"{path}:3: {problem}")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("q1 Q0 a 1 0.5", "tag: 5 fields; write query Q0 document rank score tag"),
        ("q1 Q0 a 1 nan t", "score: 'nan' is no score; write a number"),
        ("q1 Q0 a 1 high t", "score: 'high' is no score; write a number"),
    ],
)
def test_every_bad_line_of_a_run_is_named(tmp_path: Path, line: str, problem: str) -> None:
    path = written(tmp_path, line)
    with pytest.raises(LogError) as raised:
        trec.read_run(path)
    assert raised.value.problems == (f"{path}:1: {problem}",)


def test_an_empty_or_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no lines; one `query 0 document grade` a line is expected"):
        trec.read_qrels(written(tmp_path, "\n\n"))
    with pytest.raises(InputError, match="give the path of a TREC file"):
        trec.read_run(tmp_path / "missing")
