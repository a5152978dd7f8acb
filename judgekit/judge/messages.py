"""Where a judge's messages to its user go: what takes long, what was put right, what is doubtful."""

from __future__ import annotations

import warnings
from collections.abc import Callable

#: Hears one message, a sentence without a full stop.
Say = Callable[[str], None]


def say_nothing(_message: str) -> None:
    """For those who want to hear nothing."""


def warn(message: str) -> None:
    """A RuntimeWarning, for those who gave nobody to tell."""
    warnings.warn(message, RuntimeWarning, stacklevel=2)
