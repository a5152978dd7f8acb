"""What an endpoint makes of a server that misbehaves: every fault becomes one typed error, or passes unnoticed.

All of it holds whatever carries the requests: httpx2, or aiohttp where it is installed.
"""

from __future__ import annotations

import asyncio
import gzip
import socket
import subprocess
import sys
import textwrap
import threading
import time
from base64 import b64encode
from collections.abc import Awaitable, Callable
from dataclasses import replace
from email.utils import formatdate
from pathlib import Path
from typing import Any

import misbehaving as bad
import pytest
import uvloop
from clock import Clock
from misbehaving import Reply, Server, chat, error

from judgekit.errors import (
    CallTimeout,
    ConnectionFailed,
    ContentFiltered,
    InputError,
    JudgeError,
    JudgekitError,
    JudgeUnreachable,
    JudgeUnusable,
    RateLimited,
    RequestRefused,
    RequestTooLong,
    ServerFailed,
)
from judgekit.judge.address import public_url
from judgekit.judge.endpoint import Endpoint
from judgekit.judge.faults import NotServed
from judgekit.judge.transport import open_clients

KEY = "sk-abcdefghijklmnop"
BODY = {"model": "m", "messages": [{"role": "user", "content": "Is 𝄞 a clef? \ud83d"}], "temperature": 0}
ROOT = Path(__file__).parents[1]
CARRIED: dict[str, Any] = {}


@pytest.fixture(params=["httpx2", "aiohttp"], autouse=True)
def carrier(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """What carries the requests of every endpoint of a test."""
    monkeypatch.setitem(CARRIED, "carrier", request.param)
    return request.param


def endpoint(server: Server | str, clock: Clock | None = None, **given: Any) -> Endpoint:
    clock = clock or Clock()
    url = server if isinstance(server, str) else server.url
    options = {"api_key": KEY, "timeout": 5.0, "chance": lambda: 1.0, "clock": clock, "sleep": clock.sleep}
    options |= CARRIED | given
    return Endpoint(url, **options)


def run(client: Endpoint, *calls: Callable[[], Awaitable[Any]]) -> list[Any]:
    """The outcomes of calls made at the same time (of one post, if none is given), exceptions as values."""

    async def all_of_them() -> list[Any]:
        made = [call() for call in calls] or [client.post("/chat/completions", BODY)]
        try:
            return await asyncio.gather(*made, return_exceptions=True)
        finally:
            await client.close()

    return asyncio.run(all_of_them())


def post(client: Endpoint) -> Callable[[], Awaitable[Any]]:
    return lambda: client.post("/chat/completions", BODY)


def content(reply: dict[str, Any]) -> str:
    return reply["choices"][0]["message"]["content"]


# --- what is sent ----------------------------------------------------------------------------


def test_the_body_arrives_as_given_with_the_key() -> None:
    with Server(chat("yes")) as server:
        (reply,) = run(endpoint(server))
    assert content(reply) == "yes"
    (request,) = server.requests
    assert (request.method, request.path, request.body) == ("POST", "/v1/chat/completions", BODY)
    assert request.headers["authorization"] == f"Bearer {KEY}"


def test_get_reads_an_object() -> None:
    with Server(bad.answer({"data": []})) as server:
        client = endpoint(server)
        assert run(client, lambda: client.get("models")) == [{"data": []}]
    assert [(r.method, r.path, r.raw) for r in server.requests] == [("GET", "/v1/models", b"")]


def test_nothing_of_the_environment_or_of_this_machine_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID", "WEBHOOK_SECRET", "BASE_URL", "API_VERSION"):
        monkeypatch.setenv(f"OPENAI_{name}", "http://planted.invalid")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Planted: planted\nAuthorization: Bearer planted")
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "planted")
    monkeypatch.setenv("HTTP_PROXY", "http://planted.invalid:1")
    with Server(chat("yes")) as server:
        run(endpoint(server, api_key=None))
        run(endpoint(server, headers={"X-Mine": "1", "Authorization": "Basic abc"}, api_key=None))
    usual = {"host", "accept", "accept-encoding", "connection", "content-type", "content-length", "user-agent"}
    first, second = (request.headers for request in server.requests)
    assert set(first) == usual
    assert set(second) == usual | {"x-mine", "authorization"}
    assert second["authorization"] == "Basic abc"
    assert "planted" not in repr(server.requests)


def test_the_query_of_the_base_url_goes_with_every_request_and_is_never_shown() -> None:
    with Server(error(400, "no")) as server:
        client = endpoint(server.url.replace("http://", "http://me:secret-pass@") + "/?api-version=2025-secret")
        (refused,) = run(client)
        assert client.public_url == server.url
    assert server.requests[0].path == "/v1/chat/completions?api-version=2025-secret"
    assert "secret" not in f"{refused} {client!r}"


def test_a_user_in_the_base_url_is_sent_as_a_header_in_place_of_the_key() -> None:
    with Server(chat("yes")) as server:
        run(endpoint(server.url.replace("http://", "http://me:p%40ss@"), headers={"X-Mine": "1"}))
    (request,) = server.requests
    assert request.headers["authorization"] == "Basic " + b64encode(b"me:p@ss").decode()
    assert request.headers["host"] == server.url.split("/")[2]
    assert KEY not in repr(request)


def test_no_redirect_is_followed_and_no_cookie_kept() -> None:
    moved = bad.answer({}, status=307, headers={"Location": "/v1/elsewhere", "Set-Cookie": "planted=1"})
    with Server(moved) as server:
        client = endpoint(server, max_attempts=1)
        run(client, post(client), post(client))
    assert {request.path for request in server.requests} == {"/v1/chat/completions"}
    assert "planted" not in repr(server.requests)


def test_a_compressed_reply_is_read() -> None:
    plain = chat("yes")
    with Server(replace(plain, body=gzip.compress(plain.body), headers={"Content-Encoding": "gzip"})) as server:
        (reply,) = run(endpoint(server))
    assert content(reply) == "yes"


def test_a_reply_that_is_no_http_shows_nothing_of_the_query() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            with listening.accept()[0] as peer:
                peer.recv(1 << 16)
                peer.sendall(b"HTTP/9.9.9 what\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1?api-version=a-secret&b=1"
        client = endpoint(url, max_attempts=1)
        (failed,) = run(client)
        thread.join()
    assert isinstance(failed, ConnectionFailed)
    assert "secret" not in str(failed)
    assert "?" not in str(failed)


def test_aiohttp_is_used_where_it_is_installed_unless_a_proxy_stands_between(monkeypatch: pytest.MonkeyPatch) -> None:
    async def lean(url: str) -> bool:
        (client,) = open_clients(url, api_key=None, headers={}, connections=1)
        await client.close()
        return client.lean is not None

    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    here, there = "http://127.0.0.1:1/v1", "http://judge.invalid/v1"
    assert [asyncio.run(lean(url)) for url in (here, there)] == [True, True]
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.invalid:1")
    assert [asyncio.run(lean(url)) for url in (here, there)] == [True, False]


@pytest.mark.parametrize(
    "url", ["https://user:pa/ssSECRET@host/v1", "htps://user:ssSECRET@host/v1", "https:// x:ssSECRET@h"]
)
def test_a_mistyped_base_url_does_not_show_its_password(url: str) -> None:
    with pytest.raises(InputError) as refused:
        Endpoint(url)
    assert "SECRET" not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8000/v1",
        "ftp://me:secret@x/v1?secret",
        "",
        "http:///v1",
        "http://a b/v1",
        "http://[::1/",
        "http://x:y/",
    ],
)
def test_a_base_url_that_is_none_is_bad_input(url: str) -> None:
    with pytest.raises(InputError, match="base URL") as caught:
        public_url(url)
    assert "secret" not in str(caught.value)


def test_a_key_that_no_header_can_carry_is_bad_input_and_not_shown() -> None:
    with pytest.raises(InputError, match="API key") as caught:
        Endpoint("http://x/v1", api_key="sk-secret\n")
    assert "secret" not in str(caught.value)


# --- what passes by itself -------------------------------------------------------------------

PASSING: dict[str, tuple[Reply, type[JudgeError]]] = {
    "429": (error(429, "rate limit"), RateLimited),
    "500": (error(500), ServerFailed),
    "503": (error(503, "overloaded"), ServerFailed),
    "529": (error(529, "overloaded"), ServerFailed),
    "408": (error(408), CallTimeout),
    "409": (error(409), ServerFailed),
    "502 as a page": (bad.html(502), ServerFailed),
    "200 as a page": (bad.html(200), ServerFailed),
    "200 without a body": (Reply(), ServerFailed),
    "a list": (bad.answer([1, 2]), ServerFailed),
    "deep JSON": (Reply(body=b"[" * 100_000), ServerFailed),
    "no UTF-8": (Reply(body=b'{"a": "\xff"}'), ServerFailed),
    "an error in a 200": (bad.answer({"error": {"code": 502, "message": "upstream"}}), ServerFailed),
    "a 429 in a 200": (bad.answer({"error": {"code": 429, "message": "upstream is busy"}}), RateLimited),
    "cut-off JSON": (bad.truncated(chat("yes"), 20), ServerFailed),
    "cut-off body": (bad.broken_off(chat("yes"), 20), ConnectionFailed),
    "reset in the body": (bad.reset(chat("yes"), 20), ConnectionFailed),
    "reset before the body": (bad.reset(chat("yes"), 0), ConnectionFailed),
    "closed without an answer": (bad.no_answer(), ConnectionFailed),
    "a late answer": (bad.late(chat("yes"), 30), CallTimeout),
    "a dripping body": (bad.dripping(chat("yes" * 100), 0.02), CallTimeout),
    "a stalled body": (bad.stalled(chat("yes"), 20), CallTimeout),
}


@pytest.mark.parametrize(("reply", "kind"), PASSING.values(), ids=PASSING)
def test_a_passing_fault_is_retried_and_then_raised(reply: Reply, kind: type[JudgeError]) -> None:
    with Server([reply, chat("yes"), reply]) as server:
        clock = Clock()
        client = endpoint(server, clock, timeout=0.3 if kind is CallTimeout else 10.0, max_attempts=2)
        (good,) = run(client)
        assert content(good) == "yes"
        assert (client.sent, client.retried, client.waited_seconds, clock.sleeps) == (2, 1, 0.5, [0.5])
        (failed,) = run(client)
    assert type(failed) is kind
    assert client.public_url in str(failed)
    assert len(server.requests) == client.sent == 4


def test_pauses_double_up_to_the_cap_and_are_spread() -> None:
    with Server(error(500)) as server:
        for chance, pauses in ((1.0, [0.5, 1.0, 2.0, 3.0, 3.0]), (0.0, [0.25, 0.5, 1.0, 1.5, 1.5])):
            clock = Clock()
            run(endpoint(server, clock, wait_cap=3.0, chance=lambda chance=chance: chance))
            assert clock.sleeps == pauses


def test_no_attempt_starts_after_the_time_allowed() -> None:
    with Server(error(500)) as server:
        clock = Clock()
        (failed,) = run(endpoint(server, clock, max_seconds=3.0, max_attempts=100))
    assert isinstance(failed, ServerFailed)
    assert clock.sleeps == [0.5, 1.0]  # the next pause of 2 s would end at 3.5 s


# --- waiting when told to --------------------------------------------------------------------

DATE = "Wed, 21 Oct 2026 07:28:00 GMT"
ASKED: dict[str, tuple[dict[str, str], str, float]] = {
    "seconds": ({"Retry-After": "7"}, "", 7.0),
    "fraction": ({"Retry-After": "1.5"}, "", 1.5),
    "milliseconds": ({"Retry-After-Ms": "250", "Retry-After": "1"}, "", 0.25),
    "date": ({"Retry-After": "Wed, 21 Oct 2026 07:28:09 GMT", "Date": DATE}, "", 9.0),
    "past date": ({"Retry-After": "Wed, 21 Oct 2026 07:27:00 GMT", "Date": DATE}, "", 0.5),
    "more than the cap": ({"Retry-After": "300"}, "", 300.0),
    "nonsense": ({"Retry-After": "soon"}, "", 0.5),
    "negative": ({"Retry-After": "-3"}, "", 0.5),
    "infinite": ({"Retry-After": "inf"}, "", 0.5),
    "in words": ({}, "You exceeded your current quota. Please retry in 34.5s.", 34.5),
    "in words, minutes": ({}, "Rate limit reached. Please try again in 1m30s.", 90.0),
    "in words, milliseconds": ({}, "Rate limit reached. Please try again in 20ms.", 0.02),
}


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(("headers", "words", "seconds"), ASKED.values(), ids=ASKED)
def test_the_asked_pause_is_kept(status: int, headers: dict[str, str], words: str, seconds: float) -> None:
    with Server([error(status, words or "slow down", headers=headers), chat("yes")]) as server:
        clock = Clock()
        run(endpoint(server, clock))
    assert clock.sleeps == pytest.approx([seconds])


def test_a_date_without_a_date_of_the_server_is_compared_with_the_clock_here() -> None:
    date = formatdate(time.time() + 50, usegmt=True)
    with Server([error(429, headers={"Retry-After": date}), chat("yes")]) as server:
        clock = Clock()
        run(endpoint(server, clock))
    assert clock.sleeps == [pytest.approx(50, abs=3)]


def test_while_one_call_waits_no_other_spends_an_attempt() -> None:
    clock = Clock()
    with Server([error(429, headers={"Retry-After": "30"}), chat("yes")], clock=clock) as server:
        client = endpoint(server, clock, concurrency=4)

        async def use() -> None:
            first = asyncio.create_task(client.post("/chat/completions", BODY))
            while client.waited_seconds == 0:  # noqa: ASYNC110 - nothing announces it
                await asyncio.sleep(0.001)
            await asyncio.gather(first, *(client.post("/chat/completions", BODY) for _ in range(3)))
            await client.close()

        asyncio.run(use())
    assert [request.at for request in server.requests] == [1000.0, 1030.0, 1030.0, 1030.0, 1030.0]
    assert (client.sent, client.retried) == (5, 1)


def test_a_pause_longer_than_the_time_left_fails_at_once_for_every_call() -> None:
    with Server(error(429, headers={"Retry-After": "601"})) as server:
        clock = Clock()
        client = endpoint(server, clock, concurrency=1)
        outcomes = run(client, *[post(client)] * 3)
    assert [type(outcome) for outcome in outcomes] == [RateLimited] * 3
    assert outcomes[0].retry_after == 601
    assert clock.sleeps == []
    assert len(server.requests) == 1


# --- what does not pass ----------------------------------------------------------------------


def vllm(message: str) -> Reply:
    return bad.answer(
        {"object": "error", "message": message, "type": "BadRequestError", "param": None, "code": 400}, status=400
    )


OPENAI_QUOTA = "You exceeded your current quota, please check your plan and billing details."
AZURE_RATE = "exceeded token rate limit of your current tier. Please retry after 6 seconds. See https://aka.ms/quota"
LLAMA_LONG = {"code": 400, "message": "the request exceeds it", "type": "exceed_context_size_error", "n_ctx": 4096}
AZURE_FILTER = {
    "error": {"message": "...", "code": "x", "innererror": {"code": "ResponsibleAIPolicyViolation"}, "status": 400}
}
UPSTREAM = {
    "error": {
        "message": "Provider returned error",
        "code": 400,
        "metadata": {"raw": '{"error":"This model\'s maximum context length is 8192 tokens"}'},
    }
}

LASTING: dict[str, tuple[Reply, type[JudgekitError], str]] = {
    "wrong key": (error(401, "Incorrect API key provided"), JudgeUnusable, "OPENAI_API_KEY"),
    "no right": (error(403, "not allowed"), JudgeUnusable, "may use the model"),
    "quota by code": (error(429, "x", code="insufficient_quota"), JudgeUnusable, "add credit"),
    "quota by type": (error(429, "x", type="insufficient_quota"), JudgeUnusable, "add credit"),
    "billing": (error(429, "x", code="billing_hard_limit_reached"), JudgeUnusable, "add credit"),
    "quota in words": (error(429, OPENAI_QUOTA), JudgeUnusable, "add credit"),
    "credits": (error(402, "Insufficient Balance"), JudgeUnusable, "add credit"),
    "credit in a 400": (error(400, "Your credit balance is too low"), JudgeUnusable, "add credit"),
    "no model": (error(404, "The model `m` does not exist"), JudgeUnusable, "no model 'm' at"),
    "no model, 400": (error(400, "x", code="model_not_found"), JudgeUnusable, "GET /models lists"),
    "no model, words": (error(400, "m is not a valid model ID"), JudgeUnusable, "no model 'm'"),
    "no path": (bad.answer({"detail": "Not Found"}, status=404), NotServed, "check the base URL"),
    "redirect": (Reply(301, headers={"location": "https://elsewhere/"}), JudgeUnusable, "final base URL"),
    "context code": (error(400, "x", code="context_length_exceeded"), RequestTooLong, "x"),
    "llama.cpp": (bad.answer({"error": LLAMA_LONG}, status=400), RequestTooLong, "exceeds"),
    "llama.cpp, 500": (error(500, "the request exceeds the available context size"), RequestTooLong, "exceeds"),
    "vLLM": (vllm("This model's maximum context length is 4096 tokens. Please reduce it"), RequestTooLong, "4096"),
    "prompt": (error(400, "prompt is too long: 210000 tokens > 200000 maximum"), RequestTooLong, "too long"),
    "upstream": (bad.answer(UPSTREAM, status=400), RequestTooLong, "maximum context length"),
    "413": (Reply(413, b"<html>Payload Too Large"), RequestTooLong, "413"),
    "more than a minute allows": (error(429, "Request too large for m on tokens per min"), RequestTooLong, "large"),
    "list of fields": (bad.answer({"detail": [{"msg": "input is too long"}]}, status=422), RequestTooLong, "long"),
    "Azure filter": (error(400, "The response was filtered", code="content_filter"), ContentFiltered, "filtered"),
    "Azure inner": (bad.answer(AZURE_FILTER, status=400), ContentFiltered, "..."),
    "policy": (error(400, "x", code="content_policy_violation"), ContentFiltered, "x"),
    "moderation": (error(403, "Your input was flagged by moderation"), ContentFiltered, "flagged"),
    "parameter": (error(400, "Unsupported value", code="unsupported_value", param="temperature"), RequestRefused, ""),
    "answer limit": (vllm("'max_tokens' is too large: 5000. The maximum context length is 4096"), RequestRefused, ""),
    "a long name": (error(400, "string too long", param="user"), RequestRefused, "too long"),
    "422": (error(422, "no"), RequestRefused, "422"),
    "501": (error(501, "This server does not support logprobs"), RequestRefused, "logprobs"),
    "text": (Reply(400, b"just words"), RequestRefused, "just words"),
}


@pytest.mark.parametrize(("reply", "kind", "words"), LASTING.values(), ids=LASTING)
def test_a_lasting_fault_is_raised_at_once(reply: Reply, kind: type[JudgekitError], words: str) -> None:
    with Server(reply) as server:
        client = endpoint(server)
        (failed,) = run(client)
    assert type(failed) is kind
    assert words in str(failed)
    assert str(reply.status) in str(failed)
    assert client.sent == 1


def test_a_rate_limit_that_speaks_of_quota_is_no_quota() -> None:
    with Server([error(429, AZURE_RATE), error(429, "Quota exceeded: requests per minute"), chat("yes")]) as server:
        (reply,) = run(endpoint(server))
    assert content(reply) == "yes"


def test_a_refused_parameter_is_named() -> None:
    with Server(error(400, "Use 'max_completion_tokens'", code="unsupported_parameter", param="max_tokens")) as server:
        (failed,) = run(endpoint(server))
    assert (failed.status, failed.code, failed.param) == (400, "unsupported_parameter", "max_tokens")
    assert "Use 'max_completion_tokens'" in failed.message == str(failed)


def test_foreign_words_are_short_clean_and_without_keys() -> None:
    words = f"key {KEY} of\x1b[31m\u202e sk-proj-zyxwvut123 Bearer abc.def token-of-mine\n\n" + "long " * 500
    for status in (401, 400, 500):
        with Server(error(status, words, code=f"bad {KEY}")) as server:
            (failed,) = run(endpoint(server, headers={"api-key": "token-of-mine"}, max_attempts=1))
        text = repr([str(failed), vars(failed), failed.__cause__])
        for secret in (KEY, "zyxwvut", "abc.def", "token-of-mine"):
            assert secret not in text
        assert str(failed).isprintable()
        assert str(failed).count("long ") < 60


def test_a_placeholder_for_a_key_does_not_eat_into_words() -> None:
    with Server(error(400, "unknown k, says k8s")) as server:
        (failed,) = run(endpoint(server, api_key="k"))
    assert str(failed).endswith("unknown ***, says k8s")


# --- giving up -------------------------------------------------------------------------------


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_an_endpoint_that_never_connects_is_given_up_after_three_tries() -> None:
    clock = Clock()
    client = endpoint(f"http://127.0.0.1:{free_port()}/v1", clock)
    first, second = run(client)[0], run(client)[0]
    assert type(first) is type(second) is JudgeUnreachable
    assert "same command goes on" in str(first)
    assert clock.sleeps == [0.5, 1.0]
    assert client.sent == 3


def test_an_endpoint_that_answered_once_is_not_given_up_for_one_lost_connection() -> None:
    with Server(chat("yes")) as server:
        client = endpoint(server)
        run(client)
    (failed,) = run(client)
    assert isinstance(failed, ConnectionFailed)
    assert client.sent == 7


def test_after_failures_in_a_row_nothing_more_is_sent() -> None:
    with Server(error(503)) as server:
        client = endpoint(server, max_attempts=1, dead_after=3, concurrency=1)
        outcomes = run(client, *[post(client)] * 5)
    assert [type(outcome) for outcome in outcomes] == [ServerFailed, ServerFailed, *[JudgeUnreachable] * 3]
    assert "HTTP 503" in str(outcomes[-1])
    assert len(server.requests) == 3


@pytest.mark.parametrize("between", [chat("yes"), error(400, "no")], ids=["success", "refusal"])
def test_an_answer_between_failures_starts_the_count_again(between: Reply) -> None:
    down = error(503)
    with Server([down, down, between, down, down, between]) as server:
        client = endpoint(server, max_attempts=1, dead_after=3, concurrency=1)
        outcomes = run(client, *[post(client)] * 6)
    assert not [outcome for outcome in outcomes if isinstance(outcome, JudgeUnreachable)]


# --- event loops -----------------------------------------------------------------------------


def test_no_more_requests_than_slots_are_in_flight() -> None:
    with Server(bad.late(chat("yes"), 0.01)) as server:
        client = endpoint(server, concurrency=3)
        outcomes = run(client, *[post(client)] * 60)
    assert [content(outcome) for outcome in outcomes] == ["yes"] * 60
    assert server.peak == 3
    assert {request.connection for request in server.requests} == {1, 2, 3}


def test_many_slots_share_a_few_pools() -> None:
    with Server(bad.late(chat("yes"), 0.3)) as server:
        client = endpoint(server, concurrency=70)
        outcomes = run(client, *[post(client)] * 70)
    assert [content(outcome) for outcome in outcomes] == ["yes"] * 70
    assert 32 < server.peak <= 70  # more than one pool has room for


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_one_endpoint_serves_several_loops_at_once(new_loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    with Server(bad.late(chat("yes"), 0.02)) as server:
        client = endpoint(server)

        async def here() -> list[Any]:
            there = asyncio.to_thread(asyncio.run, client.post("/chat/completions", BODY))
            return await asyncio.gather(client.post("/chat/completions", BODY), there)

        for _ in range(3):
            with asyncio.Runner(loop_factory=new_loop) as runner:
                assert [content(reply) for reply in runner.run(here())] == ["yes", "yes"]
    assert client.sent == len(server.requests) == 6
    assert len(client._lines) == 2  # ended loops are not kept alive


def test_a_cancelled_call_gives_its_slot_back() -> None:
    with Server([bad.late(chat("slow"), 30), chat("yes")]) as server:
        client = endpoint(server, concurrency=1)

        async def use() -> str:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(client.post("/chat/completions", BODY), 0.2)
            return content(await client.post("/chat/completions", BODY))

        assert asyncio.run(use()) == "yes"


def test_a_client_is_closed_by_the_end_of_its_loop_without_a_word(carrier: str) -> None:
    script = """
        import asyncio, sys
        sys.path[:0] = sys.argv[2:3]
        from judgekit.judge.endpoint import Endpoint
        assert "openai" not in sys.modules and "tenacity" not in sys.modules
        client = Endpoint(sys.argv[1], carrier=sys.argv[3])
        async def use():
            await asyncio.gather(*(client.post("/chat/completions", {}) for _ in range(5)))
        asyncio.run(use())
        asyncio.run(use())
    """
    with Server(chat("yes")) as server:
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", textwrap.dedent(script), server.url, str(ROOT), carrier],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert len(server.requests) == 10
