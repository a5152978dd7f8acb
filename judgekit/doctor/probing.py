"""Looking at a chat endpoint with requests that no run makes: one try each, and whatever comes back is a finding."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple

from pydantic import JsonValue

from judgekit.doctor.asking import request_of
from judgekit.doctor.canaries import Flock
from judgekit.doctor.findings import Logprobs, Nonsense, Oversized, Probes
from judgekit.errors import InputError, JudgeError, JudgeStop, RequestRefused, RequestTooLong
from judgekit.judge.backend import Body
from judgekit.judge.chat import PATH, ChatBackend
from judgekit.judge.endpoint import Endpoint
from judgekit.judge.envelope import used
from judgekit.judge.logprobs import tokens_of
from judgekit.prompts import Prompts
from judgekit.records import Context
from judgekit.tasks import sources_of, verify

#: No endpoint serves a model of this name.
NO_SUCH_MODEL = "judgekit-no-such-model"
#: Characters of the oversized request: twice what a run puts into one call, some 30,000 tokens.
OVERSIZED_CHARS = 120_000
_LONGEST_REPLY = 16
#: A request that is counted with less than this share of its tokens was cut.
_READ_WHOLE = 0.6


class _Heard(NamedTuple):
    """What one probe got: a reply, or the error instead of it."""

    reply: dict[str, Any] | None
    error: JudgeError | JudgeStop | None = None


async def acquaint(backend: ChatBackend, prompts: Prompts, flock: Flock) -> None:
    """Ask once, so that the backend finds out how its endpoint wants to be asked; the canaries went to another part."""
    with suppress(JudgeError, JudgeStop, InputError):
        await backend.send(request_of(prompts, flock))


async def probe(backend: ChatBackend, prompts: Prompts, flock: Flock, *, oversized: bool = True) -> Probes:
    """What the endpoint does with logprobs, with a model that does not exist, and with a request that is too long.

    `flock` gives the texts that are sent. Nothing is raised for what the endpoint does; nothing is asked in a replay.
    """
    endpoint = backend.endpoint
    if endpoint is None:
        return Probes()
    plain = _short(backend, prompts, flock, 0)
    with_logprobs = await _heard(endpoint, {**plain, "logprobs": True, "top_logprobs": 5})
    headers = dict(endpoint.hints)
    known = with_logprobs if with_logprobs.reply is not None else await _heard(endpoint, plain)
    nonsense = await _heard(endpoint, {**plain, "model": NO_SUCH_MODEL})
    found = Probes(headers=headers, logprobs=_logprobs(with_logprobs), nonsense=_nonsense(nonsense))
    if not oversized:
        return found
    long = _short(backend, prompts, flock, OVERSIZED_CHARS)
    per_char = _tokens(known) / _chars(plain)
    expected = round(_chars(long) * per_char)
    heard = await _heard(endpoint, long)
    how = _oversized(heard, expected)
    said = str(heard.error) if heard.error is not None else None
    return found.having(oversized=how, oversized_tokens=expected, said=said)


def _short(backend: ChatBackend, prompts: Prompts, flock: Flock, chars: int) -> dict[str, JsonValue]:
    """The body of a call for one canary as the endpoint wants it, its sources repeated to so many characters, and the
    reply kept short."""
    whole = " ".join(flock.sources)
    text = " ".join([whole] * max(1, chars // len(whole)))
    request = verify.request(prompts, sources_of([Context(id="1", text=text)]), flock.claims[:1])
    body = dict(backend.prepare(request))
    for name in ("max_tokens", "max_completion_tokens"):
        if name in body:
            body[name] = _LONGEST_REPLY
    return body


async def _heard(endpoint: Endpoint, body: Body) -> _Heard:
    try:
        return _Heard(await endpoint.post(PATH, body, attempts=1))
    except (JudgeError, JudgeStop) as error:
        return _Heard(None, error)


def _logprobs(heard: _Heard) -> Logprobs | None:
    if heard.reply is None:
        return "refused" if isinstance(heard.error, RequestRefused) else None
    return "yes" if tokens_of(heard.reply) else "no"


def _nonsense(heard: _Heard) -> Nonsense | None:
    if heard.reply is not None:
        return "echoed" if heard.reply.get("model") == NO_SUCH_MODEL else "answered"
    is_about_it = isinstance(heard.error, JudgeStop | RequestRefused)
    return "refused" if is_about_it else None


def _oversized(heard: _Heard, expected: int) -> Oversized:
    if heard.reply is not None:
        read = _tokens(heard)
        if not read or not expected:
            return "cannot tell"
        return "read whole" if read >= _READ_WHOLE * expected else "cut silently"
    if isinstance(heard.error, RequestTooLong):
        return "refused"
    return "refused, not recognised" if isinstance(heard.error, RequestRefused) else "failed"


def _tokens(heard: _Heard) -> int:
    return used(heard.reply).prompt_tokens if heard.reply else 0


def _chars(body: Body) -> int:
    messages = body["messages"]
    texts = (
        [message["content"] for message in messages if isinstance(message, dict)] if isinstance(messages, list) else []
    )
    return sum(len(text) for text in texts if isinstance(text, str))
