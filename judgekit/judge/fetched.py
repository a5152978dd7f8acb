"""Weights from a model hub, fetched once into a folder and found there ever after."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from judgekit.errors import InputError, JudgeUnreachable, JudgeUnusable
from judgekit.judge.messages import Say, say_nothing

if TYPE_CHECKING:
    import httpx2

SCHEME: Final = "hf:"
HUB: Final = "https://huggingface.co"
_NAME = re.compile(
    r"hf:(?P<owner>[\w.-]+)/(?P<repo>[\w.-]+)/(?P<file>(?:[\w.-]+/)*[\w.-]+\.gguf)(?:@(?P<revision>[\w.-]+))?"
)
_SHA256 = re.compile(r'"?([0-9a-f]{64})"?')
_OK, _PARTIAL, _NOT_SATISFIABLE = 200, 206, 416
#: How much comes in between two messages.
_TOLD_EACH: Final = 100_000_000


def fetch(name: str, folder: Path, *, hub: str = HUB, on_message: Say = say_nothing) -> Path:
    """The path of the weights that `hf:owner/repo/file.gguf[@revision]` names, fetched unless they are there.

    An interrupted download goes on where it stopped; what came is held against the hash that the hub gives. Raises
    InputError for a name of another form, JudgeUnusable when the hub has no such file, JudgeUnreachable when it cannot
    be reached or breaks off.
    """
    found = _NAME.fullmatch(name)
    if found is None or ".." in name:
        raise InputError(f"{name!r} names no weights; write hf:OWNER/REPO/FILE.gguf, with @REVISION for a fixed state")
    revision = found["revision"] or "main"
    path = folder / found["owner"] / found["repo"] / revision / found["file"]
    if path.exists():
        return path
    url = f"{hub.rstrip('/')}/{found['owner']}/{found['repo']}/resolve/{revision}/{found['file']}"
    partial = path.with_name(path.name + ".partial")
    try:
        partial.parent.mkdir(parents=True, exist_ok=True)
        _download(url, partial, on_message)
        partial.replace(path)
    except OSError as error:
        raise InputError(f"{error.filename or path}: {error.strerror or error}; make room for the weights") from None
    return path


def _download(url: str, partial: Path, on_message: Say) -> None:
    import httpx2  # noqa: PLC0415 - only where something is fetched

    have = partial.stat().st_size if partial.exists() else 0
    headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={have}-"} if have else {})}
    try:
        with (
            httpx2.Client(follow_redirects=True, timeout=60.0) as client,
            client.stream("GET", url, headers=headers) as response,
        ):
            if response.status_code == _NOT_SATISFIABLE:  # nothing is left to come, or it is of another file
                whole = response.headers.get("content-range", "").rpartition("/")[2] == str(have)
                wanted = _wanted(response)
            else:
                whole, wanted = True, _received(response, url, partial, on_message)
    except httpx2.HTTPError as error:
        raise JudgeUnreachable(
            f"{url} cannot be fetched ({type(error).__name__}: {error}); the same command goes on from here, or fetch "
            "the file by other means and give it as local:FILE.gguf"
        ) from None
    if not whole or (wanted is not None and _sha256(partial) != wanted):
        partial.unlink()
        raise JudgeUnreachable(f"what came from {url} is not what the hub promised; fetch it again")


def _received(response: httpx2.Response, url: str, partial: Path, on_message: Say) -> str | None:
    """Write what comes; returns the hash that it is to have, if the hub tells."""
    if response.status_code not in (_OK, _PARTIAL):
        raise JudgeUnusable(
            f"{url} answered HTTP {response.status_code}; check owner, repo and file, and that it needs no login"
        )
    goes_on = response.status_code == _PARTIAL
    come = partial.stat().st_size if goes_on else 0
    total = come + int(response.headers.get("content-length") or 0)
    told = come
    on_message(f"fetching {url} ({total / 1e9:.1f} GB)")
    with partial.open("ab" if goes_on else "wb") as file:
        for piece in response.iter_bytes():  # as it comes, so that nothing is lost when it breaks off
            file.write(piece)
            come += len(piece)
            if come - told >= _TOLD_EACH:
                told = come
                on_message(f"{come / 1e9:.1f} of {total / 1e9:.1f} GB")
    return _wanted(response)


def _wanted(response: httpx2.Response) -> str | None:
    """The SHA-256 in the headers of the answer, or of the redirects that led to it."""
    for answer in (*response.history, response):
        for header in ("x-linked-etag", "x-sha256", "etag"):
            if found := _SHA256.fullmatch(answer.headers.get(header, "")):
                return found[1]
    return None


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
