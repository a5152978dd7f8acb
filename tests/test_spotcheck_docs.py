"""docs/spotcheck-report.md: its example prints what it shows, and it names what the report can say."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from test_docs import run_python

from judgekit.cli import cli
from judgekit.humans import is_share
from judgekit.metrics import METRICS

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "spotcheck-report.md").read_text(encoding="utf-8")


def test_the_example_prints_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "examples" / "spotcheck_labels.csv", tmp_path)
    (shown,) = re.findall(r"^```console\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    commands = re.findall(r"^\$ judgekit (.*)$", shown, re.MULTILINE)
    expected = shown.split("\n", len(commands))[-1]
    for command in commands:
        done = CliRunner().invoke(cli, command.split(), catch_exceptions=False)
        assert done.exit_code == 0, done.output
    assert expected in done.stdout
    (example,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    (tmp_path / "example.py").write_text(example, encoding="utf-8")
    printed = run_python(tmp_path / "example.py", tmp_path).split()
    assert f"{float(printed[1]):.3f} [{float(printed[2]):.2f}, {float(printed[3]):.2f}]" in expected


def test_every_metric_that_can_be_corrected_is_named() -> None:
    for name, metric in METRICS.items():
        assert not is_share(metric) or f"`{name}`" in PAGE


def test_every_option_of_the_command_is_named() -> None:
    options = [option for param in cli.commands["spotcheck"].commands["report"].params for option in param.opts]
    missing = {option for option in options if option.startswith("--") and option not in PAGE}
    assert missing <= {"--seed"}
