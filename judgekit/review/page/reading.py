"""What a review page hands back: a JSONL file with ids and what was filled in, and no text of the log."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from judgekit.errors import InputError, LogError
from judgekit.review.records import Filled

_REMEDY = "give the file as the page's Download button wrote it"


def read(path: Path) -> list[Filled]:
    """The units of a download of a review page, in the order of its lines; empty for an empty file.

    LogError: what cannot be read, a line for each problem with its place.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8 text; {_REMEDY}") from None
    if text.lstrip().lower().startswith("<!doctype html"):
        raise InputError(f"{path}: is the page itself; open it, press Download, and give the file that it writes")
    problems: list[str] = []
    lines = ((f"{path}:{number}", line) for number, line in enumerate(text.split("\n"), 1) if line.strip())
    found = [one for where, line in lines if (one := _filled(line, where, problems)) is not None]
    if problems:
        raise LogError(problems)
    return found


def _filled(line: str, where: str, problems: list[str]) -> Filled | None:
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        problems.append(f"{where}: is not a filled unit; {_REMEDY}")
        return None
    said.pop("blind", None)  # the key tells it, whatever the page says
    evidence = said.pop("evidence_id", None)
    try:
        filled = Filled.model_validate({**said, "evidence": evidence, "where": where})
    except ValidationError as error:
        problems += [f"{where}: {_place(fault)}: {fault['msg']}; {_REMEDY}" for fault in error.errors()]
        return None
    # whatever stands there without a verdict shows that the reviewer has been here and went on
    return filled.having(status="deferred") if filled.status == "blank" else filled


def _place(fault: ErrorDetails) -> str:
    return ".".join(map(str, fault["loc"]))
