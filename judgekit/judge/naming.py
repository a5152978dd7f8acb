"""Does a model's name say which weights answer, or may they change behind it?"""

from __future__ import annotations

import re
from typing import Final

_DATE = r"(?<!\d)20\d\d([-._]?)(0[1-9]|1[0-2])\1(0[1-9]|[12]\d|3[01])(?!\d)"
_MONTH_AND_DAY = r"-(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$"
_REVISION = r"-00\d$"
_VERSION = r"(?<![\d.])\d+\.\d+\.\d+(?![\d.])"
_DIGEST = r"(?:^|[@:/_-])[0-9a-f]{12,64}$"
_SNAPSHOT: Final = re.compile(f"{_DATE}|{_MONTH_AND_DAY}|{_REVISION}|{_VERSION}|{_DIGEST}", re.IGNORECASE)
_MOVING: Final = re.compile(r"(?:^|[-:@/])(?:latest|current|default|preview)$", re.IGNORECASE)
_JOINTS: Final = ("-", "@", ":", ".")


def names_snapshot(model: str) -> bool:
    """True for a name with a date, a revision, a full version or a digest in it: `gpt-4.1-mini-2025-04-14`,
    `gpt-4-0613`, `gemini-1.5-pro-002`, `jev-1.13.0`, `model@sha256:0f3a...`. False for an alias such as `gpt-4.1-mini`,
    `jev-latest` or `qwen2.5:7b`, behind which the provider may put another model."""
    return _SNAPSHOT.search(model) is not None and _MOVING.search(model) is None


def is_snapshot_of(model: str, alias: str) -> bool:
    """True when a name is an alias with something after it: `gpt-4.1-mini-2025-04-14` of `gpt-4.1-mini`."""
    return any(model.startswith(f"{alias}{joint}") for joint in _JOINTS)
