"""A judge without an endpoint: a GGUF file, served by a child process for as long as it is asked.

The child listens on a free port of the loopback, wants a key that is made up for it, and holds a pipe of this process:
when the pipe closes it ends, whether this process left in order, was interrupted or was killed.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import importlib.util
import io
import json
import math
import re
import secrets
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Final

from pydantic import JsonValue

from judgekit.errors import ConnectionFailed, InputError, JudgeUnreachable, JudgeUnusable
from judgekit.judge import fetched
from judgekit.judge.endpoint import Call, Endpoint
from judgekit.judge.faults import shown
from judgekit.judge.messages import Say, say_nothing

#: Where all kept hashes and fetched models lie.
CACHE: Final = Path.home() / ".cache" / "judgekit"
#: What a local model's name begins with, and all of the base URL in its pin: the port is another each time.
SCHEME: Final = "local:"
CONTEXT_SIZE: Final = 8192
_SCRIPT: Final = Path(__file__).with_name("serve_gguf.py")
_PART = re.compile(r"-00001-of-(\d{5})\.gguf$")
_LONGEST_LOAD: Final = 900.0
_TAIL: Final = 2000


class Weights:
    """The file of a model. `name` is its name with the SHA-256 of its bytes: what a run is pinned to.

    Reads the whole file, once for its path, size and time of change. Raises InputError when it is no GGUF file.
    """

    def __init__(self, path: str | Path, *, cache: Path = CACHE) -> None:
        self.path = Path(path).expanduser()
        try:
            with self.path.open("rb") as file:
                magic = file.read(4)
            if magic != b"GGUF":
                raise InputError(f"{self.path} is no GGUF file; give the weights of a model in that format")
            files = self._files()
            self.size = sum(file.stat().st_size for file in files)
            self.sha256 = _sha256(files, cache / "sha256.json")
        except OSError as error:
            raise InputError(f"{error.filename or self.path}: {error.strerror or error}; give a GGUF file") from None
        self.name = f"{self.path.name}@sha256:{self.sha256[:16]}"

    def _files(self) -> list[Path]:
        """The file, or all parts of a model in several files, of which the first is given."""
        found = _PART.search(self.path.name)
        if found is None:
            return [self.path]
        stem = self.path.name[: found.start()]
        return [self.path.with_name(f"{stem}-{n:05}-of-{found[1]}.gguf") for n in range(1, int(found[1]) + 1)]


def _sha256(files: Sequence[Path], kept: Path) -> str:
    """The hash of the bytes of all files together, as far as possible from what was kept of an earlier reading."""
    stats = [(str(file.resolve()), file.stat()) for file in files]
    key = json.dumps([[path, stat.st_size, stat.st_mtime_ns] for path, stat in stats])
    known: dict[str, str] = {}
    with contextlib.suppress(OSError, ValueError):
        read = json.loads(kept.read_text(encoding="utf-8"))
        known = read if isinstance(read, dict) else {}
    if isinstance(known.get(key), str):
        return known[key]
    whole = hashlib.sha256()
    for file in files:
        with file.open("rb") as source:
            while piece := source.read(1 << 22):
                whole.update(piece)
    with contextlib.suppress(OSError):  # without it the file is read again next time
        kept.parent.mkdir(parents=True, exist_ok=True)
        partial = kept.with_name(f"{kept.name}.{secrets.token_hex(4)}")
        partial.write_text(json.dumps({**known, key: whole.hexdigest()}), encoding="utf-8")
        partial.replace(kept)
    return whole.hexdigest()


class Child:
    """The process that serves a model: begun by `start`, ended by `stop` or by the end of this object or process.

    `command` is what is run instead of `serve_gguf`; it speaks the same protocol. `on_message` is told of the loading,
    which takes long.
    """

    def __init__(
        self,
        weights: Weights,
        *,
        context_size: int = CONTEXT_SIZE,
        command: Sequence[str | Path] = (),
        on_message: Say = say_nothing,
    ) -> None:
        if not command and importlib.util.find_spec("xllamacpp") is None:
            raise InputError("a local: judge needs an extra: pip install 'judgekit[local]'")
        self.weights = weights
        self.key = secrets.token_urlsafe(24)
        self._asked = {"path": str(weights.path), "name": weights.name, "context_size": context_size}
        # -P: the folder of the script is no place to import from
        self._command = [str(part) for part in command or (sys.executable, "-P", _SCRIPT)]
        self._tell = on_message
        self._starting = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._stderr: IO[bytes] = io.BytesIO()
        self._end: Callable[[], object] = _nothing
        self._url: str | None = None
        self._stops = 0

    @property
    def process_id(self) -> int | None:
        """The child's process id, while it runs."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def is_gone(self, *, within: float) -> bool:
        """True when no process runs, or the one that does ends within so many seconds."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            if self._process is not None:
                self._process.wait(within)
        return self.process_id is None

    @property
    def url(self) -> str | None:
        """Where the model is served, once it is loaded and while it runs."""
        return self._url if self.process_id is not None else None

    def start(self) -> str:
        """Where the model is served; begins the process, if none runs, and returns when it is loaded.

        Raises JudgeUnusable with what the child said when it cannot be loaded.
        """
        stops = self._stops
        with self._starting:
            if self.url is None:
                self._end()
                name, began = self.weights.path.name, time.monotonic()
                self._tell(f"loading {name} ({self.weights.size / 1e9:.1f} GB)")
                process = self._begin()
                if self._stops > stops:  # asked to stop before there was anything to end
                    self._end()
                self._url = self._begun(process)
                self._tell(f"{name} is loaded after {time.monotonic() - began:.1f} s")
            return str(self._url)

    def stop(self) -> None:
        """End the process, if one runs, also while it is loading, and return when it is gone."""
        self._stops += 1
        self._end()

    def _begin(self) -> subprocess.Popen[bytes]:
        self._url = None
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        process = subprocess.Popen(  # noqa: S603 - our own script, or what the caller gave for it
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            start_new_session=True,  # an interrupt from the terminal is for the parent to act upon
        )
        self._process = process
        self._end = weakref.finalize(self, _ended, process, self._stderr)
        with contextlib.suppress(OSError):  # it may be gone already; then it says nothing either
            # not as an argument, which all on this machine can see
            _pipe(process.stdin).write((json.dumps({**self._asked, "api_key": self.key}) + "\n").encode())
            _pipe(process.stdin).flush()
        return process

    def _begun(self, process: subprocess.Popen[bytes]) -> str:
        """The URL that the child names when it has loaded."""
        too_long = threading.Timer(_LONGEST_LOAD, process.kill)
        too_long.daemon = True
        too_long.start()
        try:
            said = json.loads(_pipe(process.stdout).readline())
            if isinstance(url := said.get("url"), str):
                return url
            reason = str(said["error"])
        except (ValueError, KeyError, AttributeError):  # nothing was said, or there is no pipe any more
            reason = "its process ended before it was loaded"
        finally:
            too_long.cancel()
        told = self.last_words
        self._end()
        raise JudgeUnusable(f"{self.weights.path} cannot be served: {reason}{told}; is it a chat model, and whole?")

    @property
    def last_words(self) -> str:
        """The last that the child wrote to its standard error, in brackets."""
        if self._stderr.closed:
            return ""
        self._stderr.seek(max(0, self._stderr.seek(0, 2) - _TAIL))
        words = shown(" ".join(self._stderr.read().decode("utf-8", "replace").split()), (self.key,))
        return f" ({words})" if words else ""


def _nothing() -> None:
    pass


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise RuntimeError("a child without its pipes")
    return stream


def _ended(process: subprocess.Popen[bytes], stderr: IO[bytes]) -> None:
    """End a process and let go of all that belongs to it."""
    with contextlib.suppress(OSError):
        _pipe(process.stdin).close()
    process.kill()  # it leaves nothing behind, and an orderly end would wait for a call that is under way
    process.wait()
    _pipe(process.stdout).close()
    stderr.close()


class LocalEndpoint(Endpoint):
    """An endpoint whose server is a child of this process: begun by the first call, ended by the last loop to close.

    One call at a time; `timeout` bounds each. `model` is the name that it answers under. `on_message` is told at the
    end how fast the model was.
    """

    def __init__(
        self,
        child: Child,
        *,
        timeout: float = 120.0,
        max_attempts: int = 6,
        on_message: Say = say_nothing,
    ) -> None:
        super().__init__(
            "http://127.0.0.1/v1", api_key=child.key, timeout=timeout, max_attempts=max_attempts, concurrency=1
        )
        self.public_url = SCHEME
        self.model = child.weights.name
        self._child = child
        self._tell = on_message
        self._spent: Counter[str] = Counter()

    async def _call(self, call: Call) -> dict[str, JsonValue]:
        """As at any endpoint; JudgeUnreachable when the child has died."""
        await self._loaded()
        try:
            reply = await super()._call(call)
        except (ConnectionFailed, JudgeUnreachable):
            if not await asyncio.to_thread(self._child.is_gone, within=1.0):
                raise
            raise JudgeUnreachable(
                f"the process that served {self._child.weights.path} is gone{self._child.last_words}; is there memory "
                "enough? What was answered is kept, the same command goes on from here"
            ) from None
        self._note(reply)
        return reply

    async def close(self) -> None:
        """Close what the running loop holds. The last loop to do so ends the child; another call begins it again."""
        await super().close()
        if self._child.process_id is not None and all(loop.is_closed() for loop in self._lines):
            await asyncio.to_thread(self._child.stop)
            if self._spent:
                self._tell(self._speed())
                self._spent.clear()

    async def _loaded(self) -> None:
        """Return when the child serves; what belongs to an earlier child of this endpoint is let go."""
        url = self._child.url
        if url is None:
            try:
                url = await asyncio.to_thread(self._child.start)
            except asyncio.CancelledError:
                self._child.stop()
                raise
        if url != self._url:
            await super().close()
            self._url, self._dead, self._failed_in_row = url, "", 0

    def _note(self, reply: Mapping[str, JsonValue]) -> None:
        timings = reply.get("timings")
        self._spent["calls"] += 1
        for name in ("prompt_n", "prompt_ms", "predicted_n", "predicted_ms"):
            value = timings.get(name) if isinstance(timings, dict) else None
            self._spent[name] += round(value) if isinstance(value, int | float) and math.isfinite(value) else 0

    def _speed(self) -> str:
        spent = self._spent
        told = f"{self._child.weights.path.name}: {spent['calls']:,} calls"
        for count, took, what in (("prompt_n", "prompt_ms", "read"), ("predicted_n", "predicted_ms", "written")):
            if spent[took]:
                told += f", {1000 * spent[count] / spent[took]:.1f} tokens {what} a second"
        return told


def local_endpoint(
    model: str,
    *,
    context_size: int | None = None,
    timeout: float = 120.0,
    max_attempts: int = 6,
    on_message: Say = say_nothing,
) -> LocalEndpoint:
    """The endpoint of `local:FILE.gguf`, or of `hf:OWNER/REPO/FILE.gguf`, which is fetched first unless it is there.

    Reads the whole file, once. Raises InputError where there is no such file or the extra is not installed.
    """
    if model.startswith(fetched.SCHEME):
        path = fetched.fetch(model, CACHE / "models", on_message=on_message)
    else:
        path = Path(model.removeprefix(SCHEME))
    child = Child(Weights(path), context_size=context_size or CONTEXT_SIZE, on_message=on_message)
    return LocalEndpoint(child, timeout=timeout, max_attempts=max_attempts, on_message=on_message)
