"""docs/limits.md: what it shows is what the commands print, and every option of these is in it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from judgekit.cli import cli

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"^```console\n\$ judgekit (.*?)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
OPTIONS = ("concurrency", "rpm", "tpm", "timeout", "max-calls", "max-tokens", "max-cost")


@pytest.mark.parametrize(("command", "expected"), SHOWN, ids=lambda text: text.split(" -", maxsplit=1)[0][:40])
def test_what_is_shown_is_what_is_printed(command: str, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    done = CliRunner().invoke(cli, command.split(), terminal_width=100)
    assert done.exit_code == 0, done.output
    assert expected.strip() == "\n".join(line.rstrip() for line in done.stdout.splitlines()).strip()


@pytest.mark.parametrize("option", [*OPTIONS, "price-in", "price-out", "prices", "estimate"])
def test_every_option_is_explained(option: str) -> None:
    assert f"--{option}" in {name for one in cli.commands["run"].params for name in one.opts}
    assert f"`--{option}" in PAGE
