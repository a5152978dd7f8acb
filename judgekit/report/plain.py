"""Text from logs and models, made fit for a terminal: it can neither steer it nor hide in it."""

from __future__ import annotations

import re
from collections.abc import Mapping

# Colours and cursor moves; what is not a whole sequence loses its control characters below and shows the rest.
_SEQUENCE = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]")
# Controls but tab and line feed, separators that break lines, signs that turn the reading order, halves of pairs.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def plain(text: str) -> str:
    """The text without escape sequences, its line ends as line feeds, each other control character as a space."""
    return _CONTROL.sub(" ", _SEQUENCE.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))


def one_line(text: str) -> str:
    """The plain text with each run of white space as one space."""
    return " ".join(plain(text).split())


def shortened(text: str, *, most: int) -> str:
    """One line of at most `most` characters of the text; a longer text says how long it is."""
    line = one_line(text)
    return line if len(line) <= most else f"{line[:most].rstrip()}... ({len(line):,} characters)"


def words(name: str) -> str:
    """A code of the records as words: `no_contexts` -> `no contexts`."""
    return one_line(name).replace("_", " ")


def counted(counts: Mapping[str, int]) -> str:
    """Counts in words, the largest first: `3 refused, 1 no contexts`."""
    return ", ".join(f"{n:,} {words(name)}" for name, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def number(value: float | None) -> str:
    """Three decimals, or `-` where there is no value."""
    return "-" if value is None else f"{value:.3f}"
