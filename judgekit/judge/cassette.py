"""Recorded judge replies in a readable file, replayed without a network.

Line 1 is a header that says who answered; then one stored reply a line, sorted by key. Keys, headers and addresses
with credentials never reach it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from judgekit.errors import InputError
from judgekit.judge.chat import FORM as CHAT
from judgekit.judge.store import escaped
from judgekit.wire import JudgeReply, JudgeSpec, canonical
from judgekit.writing import write_whole

FORMAT = 1


class Voice(NamedTuple):
    """One part of a judge as recorded: who it was, and how its endpoint wanted to be asked."""

    spec: JudgeSpec
    dialect: Mapping[str, JsonValue]


class Cassette(NamedTuple):
    """`voices` by part (`extractor`, `decider`, `embedder`; one entry when one judge does all), and the stored rows by
    key."""

    voices: Mapping[str, Voice]
    rows: Mapping[str, str]


def read(path: Path) -> Cassette:
    """A recorded cassette. Raises InputError naming the file, the line and the remedy."""
    try:
        lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")  # a reply may hold other line ends
    except OSError as error:
        raise InputError(
            f"{path}: {error.strerror or error}; give a cassette that `judgekit run --record` wrote"
        ) from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 ({error.reason}); record it again with --record") from None
    try:
        header = json.loads(lines[0])
        if header["judgekit_cassette"] != FORMAT:
            raise InputError(
                f"{path}: cassette format {header['judgekit_cassette']!r} is not known here; update judgekit"
            )
        voices = {
            part: Voice(JudgeSpec.model_validate(v["judge"]), dict(v["dialect"]))
            for part, v in header["voices"].items()
        }
        # a part of its own only decides where something else writes, or it cannot write itself
        voices["decider" if "extractor" not in voices and voices["decider"].spec.form != CHAT else "extractor"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError(f"{path}:1: not the header of a cassette; record it again with --record") from None
    rows: dict[str, str] = {}
    for number, line in enumerate(lines[1:], start=2):
        try:
            row = json.loads(line)
            if row.get("failed") is None:
                JudgeReply.model_validate(row["reply"])
            key = _text(row.pop("key"))
            rows[key] = canonical(row)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise InputError(
                f"{path}:{number}: not a recorded reply; record the cassette again with --record"
            ) from None
    return Cassette(voices, rows)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("a key is text")
    return value


def write(path: Path, cassette: Cassette) -> None:
    """Write a cassette; the same replies give the same bytes."""
    voices = {
        part: {"judge": voice.spec.model_dump(mode="json"), "dialect": dict(voice.dialect)}
        for part, voice in cassette.voices.items()
    }
    lines = [canonical({"judgekit_cassette": FORMAT, "voices": voices})]
    lines += [canonical({"key": key, **json.loads(row)}) for key, row in sorted(cassette.rows.items())]
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, escaped("\n".join(lines) + "\n"))
