"""A file is there whole or not at all, whenever the process ends."""

from __future__ import annotations

from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Put a file in place in one step, in UTF-8 with line feeds as they are. Raises OSError where it cannot be."""
    partial = path.with_name(f"{path.name}.partial")
    partial.write_text(text, encoding="utf-8", newline="\n")
    partial.replace(path)
