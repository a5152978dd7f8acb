"""No key is ever written or shown: planted ones are looked for in everything that a command leaves behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from misbehaving import Reply, Request, Server, answer, error, html
from scripts import Truth, lines, over_http, row

KEY, HEADER, USER, QUERY = "sk-planted-key-0123456789", "planted-header-value", "planted-password", "planted-token"
SECRETS = (KEY, HEADER, USER, QUERY)


def told(request: Request) -> str:
    """What a careless server repeats in its messages."""
    return f"you sent {json.dumps(request.headers)} to {request.path} with {KEY} and {HEADER}, {USER}, {QUERY}"


CARELESS: dict[str, Any] = {
    "well": over_http(Truth()),
    "a wrong key": lambda request: error(401, f"Incorrect API key provided: {told(request)}"),
    "a 400": lambda request: error(400, told(request), param="messages", code=KEY),
    # it says when to come back, so that nobody waits for the test
    "a page": lambda request: replace(html(503, told(request)), headers={"retry-after": "0"}),
    "a body that is no completion": lambda request: answer({"echo": told(request)}),
    "a redirect": lambda request: Reply(302, headers={"location": f"https://elsewhere.example/?k={KEY}"}),
    "headers that repeat it": lambda request: error(429, "slow", headers={"x-echo": KEY, "retry-after": "0"}),
}


def command(*arguments: object, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    code = "import sys; from judgekit.cli import main; main()"
    given = [str(argument) for argument in arguments]
    environment = {**os.environ, **variables}
    return subprocess.run(
        [sys.executable, "-X", "dev", "-W", "ignore", "-c", code, *given],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize(("name", "user"), [*((name, "") for name in CARELESS), ("a page", f"user:{USER}@")])
def test_nothing_that_a_run_leaves_or_shows_holds_a_secret(tmp_path: Path, name: str, user: str) -> None:
    log, run = tmp_path / "log.jsonl", tmp_path / "run"
    log.write_text(lines([row(1)]), encoding="utf-8")
    with Server(CARELESS[name]) as server:
        url = server.url.replace("http://", f"http://{user}") + f"?token={QUERY}"
        variables = {"JUDGEKIT_BASE_URL": url, "OPENAI_API_KEY": KEY, "TEAM": HEADER}
        asked = ("--debug", "run", log, "-o", run, "--judge", "m", "--header-env", "X-Team=TEAM")
        asked += ("--cassette", tmp_path / "tape.jsonl", "--record", "--metrics", "context_precision")
        done = command(*asked, variables=variables)
        shown = [done.stdout, done.stderr]
        for more in (["report", run], ["report", run, "--json"], ["report", run, "--row", "r1"]):
            seen = command(*more, variables=variables)
            shown += [seen.stdout, seen.stderr]
        sent = {request.headers["authorization"] for request in server.requests}
        assert all(one.startswith("Basic ") for one in sent) if user else sent == {f"Bearer {KEY}"}
        assert {request.headers["x-team"] for request in server.requests} == {HEADER}
    assert done.stdout or done.stderr
    for secret in SECRETS:
        assert not any(secret in text for text in shown)
        files = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert [path for path in files if secret.encode() in path.read_bytes()] == []


def test_debug_shows_where_an_error_came_from(tmp_path: Path) -> None:
    plain = command("report", tmp_path, variables={})
    debug = command("--debug", "report", tmp_path, variables={})
    assert (plain.returncode, debug.returncode) == (2, 2)
    assert "Traceback" not in plain.stderr
    assert "Traceback" in debug.stderr
    assert plain.stderr.strip() in debug.stderr
