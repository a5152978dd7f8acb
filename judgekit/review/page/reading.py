"""What a review page hands back: a JSONL file with ids and what was filled in, and no text of the log."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ValidationError

from judgekit.errors import InputError
from judgekit.review.records import Filled

_REMEDY = "give the file as the page's Download button wrote it"


def read(path: Path) -> list[Filled]:
    """The units of a download of a review page, in the order of its lines; empty for an empty file.

    InputError names the line and the field of the first line that no page writes.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8 text; {_REMEDY}") from None
    lines = enumerate(text.split("\n"), 1)
    return [_filled(line, f"{path}:{number}") for number, line in lines if line.strip()]


def _filled(line: str, where: str) -> Filled:
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        raise InputError(f"{where}: is not JSON; {_REMEDY}") from None
    if not isinstance(said, dict):
        raise InputError(f"{where}: is not a filled unit; {_REMEDY}")
    said.pop("blind", None)  # the key tells it, whatever the page says
    if "evidence_id" in said:
        said["evidence"] = said.pop("evidence_id")
    try:
        return Filled.model_validate({**said, "where": where})
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        field = ".".join(map(str, fault["loc"]))
        raise InputError(f"{where}: {field}: {fault['msg']}; {_REMEDY}") from None
