"""Files that ship with judgekit: prompts, and the log and cassette of the demo.

In a wheel they lie inside the package; in a checkout they are the top-level folders of the same names.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parent
_ROOTS = (_PACKAGE / "shipped", _PACKAGE.parent)


def shipped(*parts: str) -> Path:
    """Path of a shipped file or folder, for instance `shipped("prompts")`. FileNotFoundError when it is not there."""
    for root in _ROOTS:
        path = root.joinpath(*parts)
        if path.exists():
            return path
    raise FileNotFoundError(f"{'/'.join(parts)} is missing from this installation of judgekit; install it again")
