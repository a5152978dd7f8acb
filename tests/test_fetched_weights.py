"""Weights from a hub: fetched once, resumed, held against their hash. A hub here stands in for a real one."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest
from misbehaving import Reply, Request, Server, broken_off

from judgekit import InputError, JudgeStop
from judgekit.judge.fetched import fetch

CONTENT = b"GGUF" + bytes(range(256)) * 40
SHA = hashlib.sha256(CONTENT).hexdigest()
NAME = "hf:owner/repo/q4/tiny.gguf"


def hub(content: bytes = CONTENT, *, promised: str | None = SHA) -> Callable[[Request], Reply]:
    """A hub that answers with a redirect to the bytes, and honours ranges."""
    headers = {"x-linked-etag": f'"{promised}"'} if promised else {}

    def handle(request: Request) -> Reply:
        if "/resolve/" in request.path:
            return Reply(302, headers={"location": "/bytes", **headers})
        start = int(request.headers.get("range", "bytes=0-").removeprefix("bytes=").removesuffix("-"))
        if start >= len(content):
            return Reply(416, headers={"content-range": f"bytes */{len(content)}"})
        return Reply(206 if start else 200, content[start:])

    return handle


def fetched(folder: Path, handler: Callable[[Request], Reply] | Reply, name: str = NAME) -> tuple[Path, list[Request]]:
    with Server(handler) as server:
        return fetch(name, folder, hub=server.url.removesuffix("/v1")), server.requests


def test_a_file_is_fetched_once(tmp_path: Path) -> None:
    path, requests = fetched(tmp_path, hub())
    assert path.read_bytes() == CONTENT
    assert [request.path for request in requests] == ["/owner/repo/resolve/main/q4/tiny.gguf", "/bytes"]
    again, none = fetched(tmp_path, hub())
    assert (again, none) == (path, [])


def test_a_revision_is_asked_for_and_kept_apart(tmp_path: Path) -> None:
    path, requests = fetched(tmp_path, hub(), f"{NAME}@3f2a9c1")
    assert requests[0].path == "/owner/repo/resolve/3f2a9c1/q4/tiny.gguf"
    assert fetched(tmp_path, hub())[0] != path


def test_a_download_that_broke_off_goes_on_where_it_stopped(tmp_path: Path) -> None:
    def breaks(request: Request) -> Reply:
        reply = hub()(request)
        return broken_off(reply, 3000) if reply.status == 200 else reply

    with pytest.raises(JudgeStop, match="goes on from here"):
        fetched(tmp_path, breaks)
    (partial,) = tmp_path.rglob("*.partial")
    have = partial.stat().st_size
    assert 0 < have <= 3000
    path, requests = fetched(tmp_path, hub())
    assert path.read_bytes() == CONTENT
    assert requests[-1].headers["range"] == f"bytes={have}-"


def test_a_hub_that_knows_no_ranges_sends_all_again(tmp_path: Path) -> None:
    partial_of(tmp_path).write_bytes(CONTENT[:100])
    path, _ = fetched(tmp_path, Reply(200, CONTENT))
    assert path.read_bytes() == CONTENT


def partial_of(folder: Path) -> Path:
    path = folder / "owner" / "repo" / "main" / "q4" / "tiny.gguf.partial"
    path.parent.mkdir(parents=True)
    return path


def test_what_was_complete_but_not_yet_named_so_is_taken(tmp_path: Path) -> None:
    partial_of(tmp_path).write_bytes(CONTENT)
    assert fetched(tmp_path, hub())[0].read_bytes() == CONTENT


@pytest.mark.parametrize("promised", [SHA, None])
def test_what_is_longer_than_the_file_is_thrown_away(tmp_path: Path, promised: str | None) -> None:
    partial_of(tmp_path).write_bytes(CONTENT + b"more")
    with pytest.raises(JudgeStop, match="not what the hub promised"):
        fetched(tmp_path, hub(promised=promised))
    assert not list(tmp_path.rglob("*.gguf*"))


def test_another_content_than_promised_is_not_kept(tmp_path: Path) -> None:
    with pytest.raises(JudgeStop, match="not what the hub promised"):
        fetched(tmp_path, hub(promised="0" * 64))
    assert not list(tmp_path.rglob("*.gguf*"))


def test_without_a_hash_the_length_alone_is_held_against_it(tmp_path: Path) -> None:
    assert fetched(tmp_path, hub(promised=None))[0].read_bytes() == CONTENT


@pytest.mark.parametrize("status", [401, 404, 500])
def test_a_hub_that_does_not_give_it_is_said(tmp_path: Path, status: int) -> None:
    with pytest.raises(JudgeStop, match=f"HTTP {status}; check owner"):
        fetched(tmp_path, Reply(status, b"no"))


def test_without_a_network_the_message_tells_the_other_way(tmp_path: Path) -> None:
    with pytest.raises(JudgeStop, match=r"local:FILE\.gguf"):
        fetch(NAME, tmp_path, hub="http://127.0.0.1:9")


@pytest.mark.parametrize(
    "name", ["hf:tiny.gguf", "hf:owner/tiny.gguf", "hf:owner/repo/tiny.bin", "hf:o/r/../../x.gguf", "hf:o/r/x.gguf@a/b"]
)
def test_a_name_of_another_form_is_refused_before_anything_is_asked(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="hf:OWNER/REPO/FILE"):
        fetch(name, tmp_path, hub="http://127.0.0.1:9")
