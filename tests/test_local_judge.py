"""A judge without an endpoint: the child that serves it comes when it is asked and goes in every case."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from judgekit import InputError, Judge, JudgeStop
from judgekit.judge.local import Child, LocalEndpoint, Weights, local_endpoint

ROOT = Path(__file__).parent.parent
SERVER = (sys.executable, "-P", Path(__file__).with_name("gguf_server.py"))
BODY = {"model": "m", "messages": []}


def weights(folder: Path, how: str = "", name: str = "tiny.gguf") -> Weights:
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(b"GGUF" + how.encode())
    return Weights(folder / name, cache=folder / "cache")


def child_of(folder: Path, how: str = "", **options) -> Child:
    return Child(weights(folder, how), command=SERVER, **options)


def told(reply: dict) -> dict:
    return json.loads(reply["choices"][0]["message"]["content"])


def is_alive(process_id: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(process_id, 0)
        return True
    return False


async def posted(endpoint: LocalEndpoint, times: int = 1) -> list[dict]:
    try:
        return [told(await endpoint.post("/chat/completions", BODY)) for _ in range(times)]
    finally:
        await endpoint.close()


# --- the weights ----------------------------------------------------------------------------------


def test_a_model_is_named_by_its_file_and_its_hash(tmp_path: Path) -> None:
    found = weights(tmp_path, "abc")
    assert found.sha256 == hashlib.sha256(b"GGUFabc").hexdigest()
    assert found.name == f"tiny.gguf@sha256:{found.sha256[:16]}"


def test_a_hash_is_kept_until_the_file_changes(tmp_path: Path) -> None:
    first = weights(tmp_path, "abc")
    kept = tmp_path / "cache" / "sha256.json"
    (key,) = json.loads(kept.read_text())
    kept.write_text(json.dumps({key: "f" * 64}))
    assert Weights(first.path, cache=tmp_path / "cache").sha256 == "f" * 64  # not read again
    assert weights(tmp_path, "abcd").sha256 == hashlib.sha256(b"GGUFabcd").hexdigest()


def test_a_cache_that_cannot_be_read_or_written_is_done_without(tmp_path: Path) -> None:
    first = weights(tmp_path, "abc")
    (tmp_path / "cache" / "sha256.json").write_text("[1")
    assert Weights(first.path, cache=tmp_path / "cache").sha256 == first.sha256
    assert Weights(first.path, cache=first.path / "no-folder").sha256 == first.sha256


def test_a_model_in_parts_is_hashed_whole(tmp_path: Path) -> None:
    second = tmp_path / "m-00002-of-00002.gguf"
    second.write_bytes(b"GGUFb")
    found = weights(tmp_path, "a", name="m-00001-of-00002.gguf")
    assert found.sha256 == hashlib.sha256(b"GGUFaGGUFb").hexdigest()
    second.unlink()
    with pytest.raises(InputError, match="m-00002-of-00002"):
        Weights(found.path, cache=tmp_path / "cache")


@pytest.mark.parametrize(("content", "why"), [(None, "No such file"), (b"PK..", "no GGUF file"), (b"", "no GGUF file")])
def test_what_is_no_model_is_said_at_once(tmp_path: Path, content: bytes | None, why: str) -> None:
    path = tmp_path / "m.gguf"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=why):
        Judge(f"local:{path}")


def test_without_the_extra_the_message_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = weights(tmp_path)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"judgekit\[local\]"):
        Child(found)


def test_a_local_model_takes_no_address(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="leave out base_url"):
        Judge(f"local:{weights(tmp_path).path}", base_url="http://127.0.0.1:1/v1")


# --- the child ------------------------------------------------------------------------------------


def test_nothing_runs_before_it_is_asked_and_nothing_after_it_is_closed(tmp_path: Path) -> None:
    said: list[str] = []
    child = child_of(tmp_path, context_size=1234, on_message=said.append)
    endpoint = LocalEndpoint(child, on_message=said.append)
    assert child.process_id is None
    first, second = asyncio.run(posted(endpoint, 2))
    assert first["pid"] == second["pid"]
    assert first["context_size"] == 1234
    assert child.process_id is None
    assert not is_alive(first["pid"])
    assert said[0].startswith("loading tiny.gguf")
    assert "is loaded after" in said[1]
    assert said[2:] == ["tiny.gguf: 2 calls, 20.0 tokens read a second, 5.0 tokens written a second"]


def test_another_call_begins_another_child(tmp_path: Path) -> None:
    endpoint = LocalEndpoint(child_of(tmp_path))
    (first,), (second,) = asyncio.run(posted(endpoint)), asyncio.run(posted(endpoint))
    assert first["pid"] != second["pid"]


def test_the_last_loop_to_close_ends_the_child(tmp_path: Path) -> None:
    endpoint = LocalEndpoint(child := child_of(tmp_path))
    is_open, may_close = threading.Event(), threading.Event()

    async def other() -> None:
        await endpoint.post("/chat/completions", BODY)
        is_open.set()
        await asyncio.to_thread(may_close.wait, 10)
        await endpoint.post("/chat/completions", BODY)
        await endpoint.close()

    thread = threading.Thread(target=lambda: asyncio.run(other()))
    thread.start()
    assert is_open.wait(10)
    asyncio.run(posted(endpoint))
    assert child.process_id is not None  # the other loop is not done with it
    may_close.set()
    thread.join(10)
    assert child.process_id is None


def test_calls_at_the_same_time_begin_one_child(tmp_path: Path) -> None:
    endpoint = LocalEndpoint(child_of(tmp_path))

    async def several() -> list[dict]:
        replies = await asyncio.gather(*(endpoint.post("/chat/completions", BODY) for _ in range(5)))
        await endpoint.close()
        return [told(reply) for reply in replies]

    assert len({reply["pid"] for reply in asyncio.run(several())}) == 1


@pytest.mark.parametrize(
    ("how", "why"),
    [("fail", "RuntimeError: no model in it"), ("die", r"ended before it was loaded \(the file is broken\)")],
)
def test_a_model_that_cannot_be_loaded_says_why_and_leaves_nothing_behind(tmp_path: Path, how: str, why: str) -> None:
    child = child_of(tmp_path, how)
    with pytest.raises(JudgeStop, match=why):
        asyncio.run(posted(LocalEndpoint(child)))
    assert child.process_id is None


def test_a_child_that_dies_stops_the_run_with_its_last_words_but_not_with_the_key(tmp_path: Path) -> None:
    child = child_of(tmp_path, "vanish")
    with pytest.raises(JudgeStop, match=r"is gone \(out of memory, and the key was \*\*\*\)"):
        asyncio.run(posted(LocalEndpoint(child, max_attempts=1)))
    assert child.process_id is None


def test_cancelling_while_it_loads_ends_it(tmp_path: Path) -> None:
    loading = threading.Event()
    child = child_of(tmp_path, "slow", on_message=lambda _: loading.set())

    async def work() -> None:
        task = asyncio.ensure_future(LocalEndpoint(child).post("/chat/completions", BODY))
        await asyncio.to_thread(loading.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(work())
    assert child.process_id is None


def test_the_key_is_new_every_time_and_in_no_argument(tmp_path: Path) -> None:
    first, second = child_of(tmp_path), child_of(tmp_path)
    assert first.key != second.key
    first.start()
    try:
        shown = Path(f"/proc/{first.process_id}/cmdline")
        assert not shown.exists() or first.key not in shown.read_text()
    finally:
        first.stop()


PARENT = """
import asyncio, sys
sys.path.insert(0, {tests!r})
from pathlib import Path
from test_local_judge import BODY, LocalEndpoint, child_of

async def work():
    child = child_of(Path({folder!r}))
    await LocalEndpoint(child).post("/chat/completions", BODY)
    print(child.process_id, flush=True)
    {then}

asyncio.run(work())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize(
    ("then", "sign"),
    [
        ("pass", None),
        ("raise ZeroDivisionError", None),
        ("import os; os._exit(1)", None),
        ("await asyncio.sleep(60)", signal.SIGINT),
        ("await asyncio.sleep(60)", signal.SIGTERM),
        ("await asyncio.sleep(60)", signal.SIGKILL),
    ],
)
def test_the_child_goes_with_its_parent_however_that_ends(
    tmp_path: Path, then: str, sign: signal.Signals | None
) -> None:
    code = PARENT.format(tests=str(ROOT / "tests"), folder=str(tmp_path), then=then)
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=ROOT
    ) as parent:
        assert parent.stdout is not None
        process_id = int(parent.stdout.readline())
        if sign is not None:
            assert is_alive(process_id)
            parent.send_signal(sign)
        parent.wait(20)
    assert gone(process_id)


def gone(process_id: int) -> bool:
    """True as soon as a process that is not ours has ended; it holds nothing that could be waited on."""
    done = threading.Event()
    for _ in range(500):
        if not is_alive(process_id) or is_zombie(process_id):
            return True
        done.wait(0.02)
    return False


def is_zombie(process_id: int) -> bool:
    try:
        return Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return False


# --- as a judge -----------------------------------------------------------------------------------


def test_a_local_judge_is_pinned_to_its_file_and_not_to_its_port(tmp_path: Path) -> None:
    found = weights(tmp_path, "abc")
    pytest.importorskip("xllamacpp")
    judge = Judge(f"local:{found.path}", params={"top_p": 0.5}, strict_pin=True)
    (spec,) = judge.specs.values()
    assert (spec.model, spec.base_url) == (found.name, "local:")
    assert spec.params["top_p"] == 0.5
    assert judge.aliases == []


@pytest.mark.skipif(not os.environ.get("JUDGEKIT_TEST_GGUF"), reason="needs a chat model: JUDGEKIT_TEST_GGUF=FILE.gguf")
def test_a_real_model_is_served_and_stopped() -> None:
    pytest.importorskip("xllamacpp")
    endpoint = local_endpoint(f"local:{os.environ['JUDGEKIT_TEST_GGUF']}", context_size=2048)
    message = {"role": "user", "content": "Answer with the one word yes."}

    async def work() -> dict:
        try:
            return await endpoint.post(
                "/chat/completions", {"model": endpoint.model, "messages": [message], "max_tokens": 4}
            )
        finally:
            await endpoint.close()

    reply = asyncio.run(work())
    assert reply["model"] == endpoint.model
    assert reply["choices"][0]["message"]["content"]
    assert endpoint._child.process_id is None
