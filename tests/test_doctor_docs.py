"""What the docs show of the doctor is what it finds, and every option of it is explained."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from judgekit.cli.choosing import judge_options
from judgekit.cli.doctor import doctor
from judgekit.doctor import canaries, fitness

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "judges.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("\n## Doctor\n")[2].partition("\n## ")[0]


def test_the_shown_findings_are_those_of_the_example() -> None:
    (shown,) = re.findall(r"^```text\n(.*?)^```$", SECTION, re.DOTALL | re.MULTILINE)
    assert shown == (ROOT / "examples" / "examine_judge.out").read_text(encoding="utf-8")


def test_the_number_of_canaries_is_the_number_there_is() -> None:
    assert f"are {sum(len(flock.canaries) for flock in canaries())} checks" in SECTION


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        (fitness.GUESSING, "reaches down to {}"),
        (fitness.CLEAR_WRONG, "clear ones is below {}"),
        (fitness.UNJUDGED_WRONG, "more than {:.0%} of the askings"),
        (fitness.FLIPS_WRONG, "differ in more than {:.0%}"),
        (fitness.CLEAR_LOW, "is at least {}"),
        (fitness.FLIPS, "differ in at most {:.0%}"),
        (fitness.UNJUDGED, "at most {:.0%} stay"),
        (fitness.HELD, "least {:.0%} of the injections"),
    ],
)
def test_every_limit_of_the_rule_stands_in_the_docs(limit: float, words: str) -> None:
    said = " ".join(SECTION.split()).replace(" %", "%")
    assert words.format(limit) in said


def test_every_option_of_its_own_is_explained() -> None:
    shared = judge_options(lambda: None).__click_params__  # type: ignore[attr-defined]
    own = {param.opts[-1] for param in doctor.params} - {param.opts[-1] for param in shared} - {"--help"}
    assert own == {"--repeat", "--no-oversized", "--out", "--save", "--against", "--json"}
    assert {option for option in own if f"`{option}" not in SECTION} == set()
