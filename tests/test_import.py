"""What importing judgekit and judging with it touches: nothing that was not asked for. In processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from misbehaving import Server
from scripts import Truth, lines, over_http, row

ROOT = Path(__file__).parents[1]

WATCH = """
import json, os, sys
seen = []
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC
def watch(event, arguments):
    if event == "open":
        path, mode, flags = arguments
        if (flags or 0) & WRITING or set(mode or "") & set("wax+"):
            seen.append(["write", str(path)])
    elif event.startswith(("socket.connect", "socket.bind", "socket.getaddrinfo", "socket.sendto")):
        seen.append([event, str(arguments[-1 if "connect" in event else 0])])
    elif event in ("subprocess.Popen", "os.mkdir", "os.putenv", "os.system", "sqlite3.connect", "os.rename"):
        seen.append([event, str(arguments[0])])
class Watched(dict):
    # tells when judgekit's own code reads the environment
    def note(self, name):
        if os.sep + "judgekit" + os.sep in sys._getframe(2).f_code.co_filename:
            seen.append(["environment", name])
    def __getitem__(self, name):
        self.note(name)
        return dict.__getitem__(self, name)
    def get(self, name, default=None):
        self.note(name)
        return dict.get(self, name, default)
"""


def in_process(body: str, *arguments: object, cwd: Path, env: dict[str, str] | None = None) -> Any:
    script = f"{WATCH}\nsys.dont_write_bytecode = True\nsys.path[:0] = sys.argv[1:2]\n{textwrap.dedent(body)}"
    done = subprocess.run(
        [sys.executable, "-I", "-c", script, str(ROOT), *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=env,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_importing_opens_nothing_reads_no_environment_and_loads_nothing_heavy(tmp_path: Path) -> None:
    found = in_process(
        """
        import asyncio, pydantic, jinja2, sentencex  # what others do on import is theirs
        real = os.environ
        os.environ = Watched(real)
        sys.addaudithook(watch)
        import judgekit
        for name in judgekit.__all__:  # they load when they are first used
            getattr(judgekit, name)
        os.environ = real
        threads = len(__import__("threading").enumerate())
        heavy = ["openai", "httpx2", "diskcache", "rich", "click", "tenacity", "pandas", "polars"]
        print(json.dumps({"seen": seen, "heavy": [name for name in heavy if name in sys.modules], "threads": threads}))
        """,
        cwd=tmp_path,
    )
    assert found == {"seen": [], "heavy": [], "threads": 1}


def test_making_a_judge_opens_nothing(tmp_path: Path) -> None:
    found = in_process(
        """
        import judgekit
        sys.addaudithook(watch)
        judge = judgekit.Judge("m", base_url="http://127.0.0.1:9/v1", api_key="secret", cache="kept")
        print(json.dumps({"seen": seen, "sdk": "openai" in sys.modules}))
        """,
        cwd=tmp_path,
    )
    assert found == {"seen": [], "sdk": False}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("home", [None, "elsewhere"])
def test_a_run_talks_to_its_judge_and_writes_into_its_folder_and_nowhere_else(tmp_path: Path, home: str | None) -> None:
    work, out, log = tmp_path / "work", tmp_path / "run", tmp_path / "log.jsonl"
    work.mkdir()
    work.chmod(0o500)
    log.write_text(lines([row(1), row(2)]), encoding="utf-8")
    environment = {"PATH": os.environ.get("PATH", ""), **({"HOME": str(tmp_path / home)} if home else {})}
    with Server(over_http(Truth())) as server:
        seen = in_process(
            """
            import judgekit
            sys.addaudithook(watch)
            judge = judgekit.Judge("m", base_url=sys.argv[2], embedding_model="e")
            run = judgekit.judge_log(sys.argv[3], out=sys.argv[4], judge=judge, metrics=list(judgekit.METRICS))
            run.summary()
            assert not any(result.faults for result in run)
            print(json.dumps(seen))
            """,
            server.url,
            log,
            out,
            cwd=work,
            env=environment,
        )
    address = str(("127.0.0.1", server.port))
    assert {place for event, place in seen if event == "socket.connect"} == {address}
    looked_up = {place for event, place in seen if event == "socket.getaddrinfo"}
    assert looked_up <= {"127.0.0.1"}
    written = {place for event, place in seen if event in ("write", "os.mkdir", "sqlite3.connect", "os.rename")}
    assert written
    assert [place for place in written if not place.startswith((str(out), "/dev/null"))] == []
    assert not [event for event, _ in seen if event in ("os.system", "os.putenv", "socket.bind")]
    # the openai SDK asks the platform's name, and Python asks `uname`
    assert {place for event, place in seen if event == "subprocess.Popen"} <= {"uname"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log.jsonl", "run", "work"]
    assert list(work.iterdir()) == []


def test_the_environment_is_not_read_by_a_run_from_python(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(lines([row(1)]), encoding="utf-8")
    planted = {
        "OPENAI_API_KEY": "planted-key",
        "OPENAI_BASE_URL": "http://127.0.0.1:1/v1",
        "OPENAI_ORG_ID": "planted-org",
        "OPENAI_PROJECT_ID": "planted-project",
        "JUDGEKIT_BASE_URL": "http://127.0.0.1:1/v1",
        "JUDGEKIT_JUDGE": "planted",
        "HTTP_PROXY": "http://127.0.0.1:1",
        "http_proxy": "http://127.0.0.1:1",
        "ALL_PROXY": "http://127.0.0.1:1",
    }
    with Server(over_http(Truth())) as server:
        in_process(
            """
            import judgekit
            judge = judgekit.Judge("m", base_url=sys.argv[2])
            judgekit.judge_log(sys.argv[3], out=sys.argv[4], judge=judge, metrics="faithfulness")
            print("1")
            """,
            server.url,
            log,
            tmp_path / "run",
            cwd=tmp_path,
            env={**os.environ, **planted},
        )
        sent = b"".join(request.raw for request in server.requests).decode()
        headers = json.dumps([request.headers for request in server.requests])
    assert server.requests
    assert "planted" not in sent + headers
    kept = b"".join(path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file())
    assert b"planted" not in kept
