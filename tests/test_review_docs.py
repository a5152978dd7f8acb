"""docs/spotcheck.md: every command in it prints what is shown, in the order of the page, and no option goes unsaid."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from judgekit.cli import cli
from judgekit.cli.spotcheck import spotcheck
from judgekit.review.records import ClaimCheck, HumanVerdict
from judgekit.review.sheets import FORMATS
from judgekit.review.sheets.reading import NAMES

PAGE = (Path(__file__).parent.parent / "docs" / "spotcheck.md").read_text(encoding="utf-8")
_BLOCK = re.compile(
    r"(?:`(?P<file>[\w.]+)`:\n\n)?^```(?P<kind>csv|console)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE
)


def told(text):
    """Text without the names of exports, which change with whatever the run rests on."""
    return re.sub(r"\bx[0-9a-f]{10}\b", "EXPORT", text)


def test_every_command_prints_what_is_shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(cli, ["demo"]).exit_code == 0
    commands = 0
    for block in _BLOCK.finditer(PAGE):
        if block["kind"] == "csv":
            Path(block["file"]).write_text(block["text"], encoding="utf-8")
            continue
        command, _, expected = block["text"].partition("\n")
        done = CliRunner().invoke(cli, command.removeprefix("$ judgekit ").split(), catch_exceptions=False)
        assert told(done.stdout) == told(expected)
        commands += 1
    assert commands >= 5


@pytest.mark.parametrize("name", ["draw", "import"])  # the report has a page of its own
def test_every_option_is_explained(name):
    options = [parameter.opts for parameter in spotcheck.commands[name].params if parameter.opts[0].startswith("-")]
    assert [ways for ways in options if not any(f"`{way}" in PAGE or f" {way} " in PAGE for way in ways)] == []


def test_every_format_column_and_label_is_explained():
    words = {*FORMATS, *NAMES, *HumanVerdict, *ClaimCheck}
    assert {word for word in words if f"`{word}`" not in PAGE} == set()
