"""docs/retrieval.md: complete, and every example in it does what it shows."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from judgekit.cli import cli
from judgekit.retrieval import MEASURES

PAGE = (Path(__file__).parent.parent / "docs" / "retrieval.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^### `([a-z_0-9]+).*?`\n(.*?)(?=^##|\Z)", PAGE, re.DOTALL | re.MULTILINE))
ON_SAMPLES = ("fact_coverage", "stale_facts", "chunk_containment", "duplicate_contexts")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("key", MEASURES)
def test_every_measure_has_its_formula_range_gaps_source_and_an_example(key: str) -> None:
    assert re.search(r"^Range .+\. Undefined: .+\. Source: .+\.$", SECTIONS[key], re.MULTILINE)
    assert re.search(rf'^>>> value\("{key}[@\[\"].*\n[0-9.]+$', SECTIONS[key], re.MULTILINE)


def test_nothing_is_described_that_does_not_exist() -> None:
    assert set(SECTIONS) == {*MEASURES, *ON_SAMPLES}
    assert all(">>> " in SECTIONS[name] for name in ON_SAMPLES)


def test_every_python_example_gives_what_it_shows() -> None:
    examples = blocks("pycon")
    test = doctest.DocTestParser().get_doctest("\n".join(examples), {}, "retrieval.md", None, 0)
    report: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert result.failed == 0, "".join(report)
    assert result.attempted > len(MEASURES)


def test_every_command_prints_what_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in zip(("qrels.txt", "first.txt", "second.txt"), blocks("text"), strict=True):
        Path(name).write_text(text, encoding="utf-8")
    (log,) = blocks("jsonl")
    Path("log.jsonl").write_text(log, encoding="utf-8")
    shown = blocks("console")
    assert len(shown) == 2
    for block in shown:
        command, _, expected = block.partition("\n")
        done = CliRunner().invoke(cli, command.removeprefix("$ judgekit ").split(), catch_exceptions=False)
        assert done.stdout == expected
