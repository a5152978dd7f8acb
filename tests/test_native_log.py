"""Logs: what is read from a row, and what is said about one that cannot be read, before anything is asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scripts import forbidden, judge_that, lines, row

import judgekit as jk
from judgekit.errors import InputError, LogError
from judgekit.formats import native
from judgekit.records import Context, Fact, Retrieval

GOOD = {"question": "What is it?", "answer": "A tank.", "contexts": ["A tank."]}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log.jsonl"


def problems(log: Path, *written: bytes | dict[str, Any]) -> list[str]:
    """What is said about these lines, which follow one good row."""
    body = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in ({**GOOD, "id": "ok"}, *written)]
    log.write_bytes(b"\n".join(body) + b"\n")
    with pytest.raises(LogError) as error:
        native.check([log])
    assert error.value.exit_code == 2
    return list(error.value.problems)


# --- bad rows: file, line, field, remedy -----------------------------------------------------------------

BAD: dict[str, tuple[bytes | dict[str, Any], str, str]] = {
    "not JSON": (b"{question: 1}", "not JSON", "one JSON object a line"),
    "broken off": (b'{"question": "What', "not JSON", "one JSON object a line"),
    "no object": (b'["a", "b"]', "a list where an object is expected", "one JSON object a line"),
    "not UTF-8": (b'{"question": "\xe9t\xe9"}', "not UTF-8 at byte 14", "save the log as UTF-8"),
    "NaN": (b'{"question": "q", "answer": "a", "contexts": [], "x": NaN}', "NaN is not JSON", "write null"),
    "infinity": (b'{"question": "q", "answer": "a", "contexts": [], "x": -Infinity}', "Infinity is not", "write null"),
    "a number beyond numbers": (b'{"question": "q", "answer": "a", "contexts": [], "x": 1e999}', "1e999", "as a text"),
    "nested too deep": (b'{"x": ' + b"[" * 100_000, "not JSON", "one JSON object a line"),
    "a field missing": ({"question": "q", "contexts": []}, "answer: missing; the row has: contexts", "--map answer="),
    "a field null": ({**GOOD, "contexts": None}, "contexts: null", "--map contexts=COLUMN"),
    "contexts a text": ({**GOOD, "contexts": "A tank."}, "contexts: a str where a list", "put it in [ ]"),
    "contexts an object": ({**GOOD, "contexts": {"1": "x"}}, "contexts: a dict where a list", "put it in [ ]"),
    "a context a number": ({**GOOD, "contexts": ["x", 7]}, "contexts[1]: an int", "an object with id and text"),
    "a context's text a list": (
        {**GOOD, "contexts": [{"text": ["x"]}]},
        "contexts[0].text: a list",
        "one text in quotes",
    ),
    "a context's id a boolean": ({**GOOD, "contexts": [{"id": True}]}, "contexts[0].id: True is not", "in quotes"),
    "a context's id empty": (
        {**GOOD, "contexts": ["x", {"id": ""}]},
        "contexts[1].id: '' is not",
        "leave it out to have it called '2'",
    ),
    "two contexts of one id": (
        {**GOOD, "contexts": [{"id": "d", "text": "x"}, {"id": "d", "text": "y"}]},
        "contexts: the id 'd' occurs twice",
        "an id of its own",
    ),
    "two contexts of one id as text": (
        {**GOOD, "contexts": [{"id": 2, "text": "x"}, "y"]},
        "contexts: the id '2' occurs twice",
        "an id of its own",
    ),
    "a context named like the reference": (
        {**GOOD, "contexts": [{"id": "@reference", "text": "x"}]},
        "contexts: the id '@reference'",
        "another id",
    ),
    "a question a number": ({**GOOD, "question": 7}, "question: an int where a text", "one text in quotes"),
    "an answer of no known kind": ({**GOOD, "answer": 7}, "answer: ", "accepted: a text"),
    "a reference a list": ({**GOOD, "reference": ["x"]}, "reference: a list where a text", "one text in quotes"),
    "citations outside the answer": (
        {**GOOD, "citations": [{"start": 0, "end": 99, "context_ids": ["1"]}]},
        "citations: [0]",
        "accepted: 0 <= start",
    ),
    "an id a boolean": ({**GOOD, "id": True}, "id: True is not a text or a whole", "or leave it out"),
    "an id empty": ({**GOOD, "id": ""}, "id: '' is not a text or a whole", "or leave it out"),
    "an id a fraction": ({**GOOD, "id": 1.5}, "id: 1.5 is not a text or a whole", "or leave it out"),
    "an id given before": ({**GOOD, "id": "ok"}, "id: 'ok' stands already at", "an id of its own"),
    "a grade a text": ({**GOOD, "relevance": {"d": "high"}}, "relevance.d: 'high'", "a number is expected"),
    "a grade a boolean": ({**GOOD, "relevance": {"d": True}}, "relevance.d: True", "a number is expected"),
    "relevance a text": ({**GOOD, "relevance": "d"}, "relevance: a str", "or a list of the relevant ids"),
    "a relevant id a boolean": ({**GOOD, "relevance": ["d", True]}, "relevance[1]: True is not", "in quotes"),
    "a fact a text": ({**GOOD, "facts": ["x"]}, "facts[0]: a str", "an object with id, text"),
    "a fact's id a fraction": ({**GOOD, "facts": [{"id": 1.5}]}, "facts[0].id: 1.5 is not", "called 'f1'"),
    "a fact's context null": (
        {**GOOD, "facts": [{"context_ids": ["d", None]}]},
        "facts[0].context_ids[1]: None is not",
        "write the id in quotes",
    ),
    "a retrieved context's id a list": (
        {**GOOD, "retrievals": [{"contexts": [{"id": []}]}]},
        "retrievals[0].contexts[0].id: [] is not",
        "in quotes",
    ),
    "a retrieval a text": ({**GOOD, "retrievals": ["x"]}, "retrievals[0]: ", "an object with query"),
    "metadata a text": ({**GOOD, "metadata": "x"}, "metadata: a str where an object", "put it in { }"),
    "half an emoji": (b'{"question": "q", "answer": "Nice \\ud83d", "contexts": []}', "answer: holds half", "cut it"),
    "half an emoji in a context": (
        b'{"question": "q", "answer": "a", "contexts": ["x \\udc00"]}',
        "contexts: holds half",
        "cut it",
    ),
}


@pytest.mark.parametrize(("line", "what", "remedy"), BAD.values(), ids=BAD)
def test_a_bad_row_is_named_by_file_line_field_and_remedy(
    log: Path, line: bytes | dict[str, Any], what: str, remedy: str
) -> None:
    (said,) = problems(log, line)
    place, _, problem = said.partition(f"{log}:2: ")
    assert (place, what in problem[: len(what) + 20], remedy in problem) == ("", True, True), said


def test_every_problem_of_a_log_is_told_at_once(log: Path) -> None:
    said = problems(log, b"x", {"question": "q"}, {**GOOD, "id": "ok"}, {**GOOD, "id": 5}, {**GOOD, "id": "5"})
    assert [one.split(":")[1] for one in said] == ["2", "3", "4", "6"]
    many = LogError([f"log:{n}: bad" for n in range(25)])
    assert str(many).count("\n") == 10
    assert "and 15 more" in str(many)


def test_nothing_is_asked_about_a_log_with_a_bad_row(log: Path, tmp_path: Path) -> None:
    log.write_text(lines([row(1), {"question": "q"}]), encoding="utf-8")
    with pytest.raises(LogError):
        jk.judge_log(log, out=tmp_path / "run", judge=forbidden().judge)
    assert not (tmp_path / "run").exists()


def test_bad_rows_can_be_left_out_and_are_listed(log: Path, tmp_path: Path) -> None:
    log.write_text(lines([row(1), {"question": "q"}, row(2), {**row(3), "id": "r1"}]), encoding="utf-8")
    run = jk.judge_log(log, out=tmp_path / "run", judge=judge_that().judge, metrics="faithfulness", skip_bad_rows=True)
    assert [result.id for result in run] == ["r1", "r2"]
    assert run.manifest.logs[0].rows == 2
    assert [text.split(": ")[0].rpartition(":")[2] for text in run.manifest.skipped_rows] == ["2", "4"]


@pytest.mark.parametrize("body", [b"", b"\n\n", b" \n"])
def test_a_log_without_rows_is_refused(log: Path, tmp_path: Path, body: bytes) -> None:
    log.write_bytes(body)
    with pytest.raises(InputError, match="no rows to judge"):
        jk.judge_log(log, out=tmp_path / "run", judge=forbidden().judge)
    log.write_bytes(b"{}\n")
    with pytest.raises(InputError, match="no rows to judge"):
        jk.judge_log(log, out=tmp_path / "run", judge=forbidden().judge, skip_bad_rows=True)


def test_a_log_that_is_not_there_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "nothing.jsonl", tmp_path):
        with pytest.raises(InputError, match=str(path)):
            native.check([path])


# --- good rows -----------------------------------------------------------------------------------------------


def read(log: Path, text: str | bytes, **options: Any) -> list[jk.Sample]:
    log.write_bytes(text if isinstance(text, bytes) else text.encode())
    native.check([log], **options)
    return list(native.read([log], **options))


def test_a_full_row_is_read_as_it_stands(log: Path) -> None:
    full = {
        "id": 7,
        "question": "What is it?",
        "answer": "A tank.",
        "contexts": [
            "A tank.",
            {"id": "d7#3", "text": "x", "title": "T", "doc_id": "d7", "version": 3, "page": 2},
            None,
        ],
        "reference": "A tank.",
        "citations": [{"start": 0, "end": 7, "context_ids": ["d7#3"]}],
        "relevance": {"d7#3": 3},
        "facts": [{"text": "f", "context_ids": ["d7#3"]}],
        "retrievals": [{"query": "q", "contexts": ["y"]}],
        "latency": 0.5,
        "metadata": {"model": "m"},
    }
    (sample,) = read(log, lines([full]))
    assert sample.id == "7"
    assert sample.contexts == (
        Context(id="1", text="A tank."),
        Context(id="d7#3", text="x", title="T", doc_id="d7", version="3", metadata={"page": 2}),
        Context(id="3"),
    )
    assert sample.citations is not None
    assert sample.citations[0].context_ids == ("d7#3",)
    assert sample.relevance == {"d7#3": 3.0}
    assert sample.facts == (Fact(id="f1", text="f", context_ids=("d7#3",)),)
    assert sample.retrievals == (Retrieval(query="q", contexts=(Context(id="1", text="y"),)),)
    assert sample.metadata == {"latency": 0.5, "model": "m"}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, None),
        ({}, {}),
        ([], {}),
        (["d", 7, "d"], {"d": 1.0, "7": 1.0}),
        ({"d": 2, "e": 0.5}, {"d": 2.0, "e": 0.5}),
    ],
)
def test_relevance_is_grades_by_id_or_a_list_of_ids(log: Path, given: Any, expected: dict[str, float] | None) -> None:
    (sample,) = read(log, lines([{**GOOD, "relevance": given}]))
    assert sample.relevance == expected


def test_a_row_without_an_id_is_called_by_its_line(log: Path) -> None:
    found = read(log, lines([GOOD]) + "\n" + lines([GOOD]))
    assert [sample.id for sample in found] == ["1", "3"]


@pytest.mark.parametrize("body", [b"\xef\xbb\xbf%s\n", b"%s\r\n", b"%s", b"\n\n%s\n\n"])
def test_byte_order_marks_line_ends_and_blank_lines_do_not_matter(log: Path, body: bytes) -> None:
    (sample,) = read(log, body % json.dumps(GOOD).encode())
    assert sample.answer == "A tank."


def test_columns_can_be_mapped(log: Path) -> None:
    other = {"user_input": "What is it?", "response": "A tank.", "docs": ["A tank."], "question": "kept apart"}
    mapping = {"question": "user_input", "answer": "response", "contexts": "docs"}
    (sample,) = read(log, lines([other]), mapping=mapping)
    assert (sample.question, sample.answer, sample.contexts[0].text) == ("What is it?", "A tank.", "A tank.")
    assert sample.metadata == {}


def test_a_mapping_names_fields_and_columns_that_exist(log: Path) -> None:
    with pytest.raises(InputError, match=r"--map context=.*no such field; the fields are: id, question"):
        read(log, lines([GOOD]), mapping={"context": "docs"})
    with pytest.raises(InputError, match="--map answer=response: no row has a column 'response'; there are: answer"):
        read(log, lines([GOOD]), mapping={"answer": "response"})
    with pytest.raises(InputError, match="--map reference=gold: no row has a column 'gold'"):
        read(log, lines([GOOD]), mapping={"reference": "gold"})


def test_a_mapped_column_that_only_some_rows_have_is_an_optional_field_or_a_bad_row(log: Path) -> None:
    rows = [{**GOOD, "id": "1", "gold": "r", "said": "a"}, {**GOOD, "id": "2", "said": "a"}]
    first, second = read(log, lines(rows), mapping={"reference": "gold", "answer": "said"})
    assert (first.reference, second.reference) == ("r", None)
    with pytest.raises(LogError, match=":2: answer: no column 'said'"):
        read(log, lines([rows[0], {**GOOD, "id": "2"}]), mapping={"answer": "said"})


def test_rows_are_read_one_at_a_time(log: Path) -> None:
    log.write_text(lines([row(n) for n in range(1, 4)]), encoding="utf-8")
    rows: Iterator[jk.Sample] = native.read([log])
    assert next(rows).id == "r1"
    log.write_text("", encoding="utf-8")
    assert len(list(rows)) <= 2
