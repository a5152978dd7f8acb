"""What an endpoint's answer means: from status, headers and body to the JSON object or to one typed error.

Endpoints that call themselves compatible agree on little: the error sits under `error`, `detail` or `message`, the
code is a word, a number or missing, and a full context window is called a dozen things. All such knowledge is here.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final

from pydantic import JsonValue

from judgekit.errors import (
    CallTimeout,
    ConnectionFailed,
    ContentFiltered,
    JudgekitError,
    JudgeUnusable,
    RateLimited,
    RequestRefused,
    RequestTooLong,
    ServerFailed,
)

SHOWN: Final = 300
READ: Final = 8_000
PLACEHOLDER: Final = 8

# what passes by itself, as do all above 501, which says that the server cannot do this at all
PASSING: Final = frozenset({409, 425, 500})

KEY_LIKE: Final = re.compile(
    r"(?i)\b(?:sk|pk|rk|gsk|xai|hf|pplx|nvapi)[-_][\w*.-]{6,}|\bAIza[\w-]{20,}|(?<=Bearer )\S+"
)
TITLE: Final = re.compile(r"(?is)<title[^>]*>(.*?)</title>")
IN_WORDS: Final = re.compile(
    r"(?i)(?:try again|retry) (?:in|after) "
    r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?) ?s)?(?:(\d+(?:\.\d+)?) ?ms)?"
)

QUOTA_CODES: Final = frozenset(
    {
        "insufficient_quota",
        "billing_hard_limit_reached",
        "billing_not_active",
        "insufficient_balance",
        "insufficient_credits",
    }
)
QUOTA: Final = re.compile(
    r"(?i)exceeded your current quota|insufficient.{0,10}(quota|credit|balance|funds)|credit balance"
    r"|(out of|no|not enough|more) credits|\bbilling\b|payment required|quota.{0,20}(exceeded|exhausted|used up)"
)
# some endpoints call a rate limit a quota as well; what says when to come back is a rate limit
RATE: Final = re.compile(r"(?i)rate.?limit|per[ _]?(second|minute|hour|day)|try again|retry (in|after)|\b[rt]p[mds]\b")

LONG_CODES: Final = frozenset({"context_length_exceeded", "exceed_context_size_error", "string_above_max_length"})
LONG: Final = re.compile(
    r"(?i)maximum context length|context[ _](length|window|size)|too long\b|too many (input )?tokens|reduce the length"
    r"|request too large|longer than the maximum model length|token count.{0,40}exceed"
    r"|input.{0,20}tokens?.{0,20}exceed|inputs.{0,3} tokens \+"
)
# the answer's limit, not the question's length: the caller lowers it
LONG_REPLY: Final = re.compile(r"(?i)max\w*_tokens\W.{0,40}\bis too (large|big|high)")
# Proxies print what they do not have.
NAMES_OF_NOTHING: Final = frozenset({"", "None", "null"})
INPUT_PARAMS: Final = ("", "messages", "input", "inputs", "prompt", "state", "questions")

FILTER_CODES: Final = frozenset(
    {"content_filter", "content_policy_violation", "responsibleaipolicyviolation", "data_inspection_failed"}
)
FILTER: Final = re.compile(
    r"(?i)content[ _](management )?(policy|filter)|safety system|\bflagged\b|\bmoderation\b|inappropriate content"
)
NO_MODEL: Final = re.compile(
    r"(?i)model\b.{0,120}(not found|does not exist|not exist|is not available)|invalid model|not a valid model"
)


#: Headers by which servers and gateways say what stands behind them; no other is ever shown or kept.
HINTS: Final = re.compile(
    r"server|via|x-powered-by|x-ms-deployment-name|x-ms-region|x-litellm-(model-id|model-api-base|version)"
    r"|openai-(version|model)|x-(inference|served|model|provider)[\w-]*"
)
_NOTHING_THERE: Final = "nothing is served there: check the base URL (many end in /v1) and the model"


class NotConnected(ConnectionFailed):
    """No connection came about at all: refused, no such host, no TLS. Nothing was sent."""


class NotServed(JudgeUnusable):
    """HTTP 404: there is nothing at this path. Something may be at another."""


@dataclass(frozen=True, slots=True)
class Said:
    """What an endpoint said in an error: the words for matching (`text`), and the codes it gave."""

    status: int
    text: str
    codes: frozenset[str]
    code: str | None = None
    param: str | None = None
    pause: float | None = None


def shown(text: str, secrets: Iterable[str] = ()) -> str:
    """Foreign text made fit for a message: one line, no control characters, keys masked, at most 300 characters."""
    text = re.sub(r"\s+", " ", text[:READ])
    text = "".join(char for char in text if char.isprintable())
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        # a short one is a placeholder ("EMPTY"), and part of innocent words
        edge = r"" if len(secret) >= PLACEHOLDER else r"\b"
        text = re.sub(edge + re.escape(secret) + edge, "***", text)
    text = KEY_LIKE.sub("***", text).strip()
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def read_object(content: bytes, *, listed: bool = False) -> dict[str, JsonValue] | None:
    """The JSON object in a body, None where it holds anything else. `listed`: a bare list is taken, as its `data`."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, list) and len(value) == 1:  # one endpoint wraps its errors in a list
        value = value[0] if isinstance(value[0], dict) and "error" in value[0] else value
    value = {"data": value} if listed and isinstance(value, list) else value
    return value if isinstance(value, dict) else None


def hints(headers: Mapping[str, str], secrets: Iterable[str] = ()) -> dict[str, str]:
    """The headers that tell what answered, by name in lower case, fit to be shown."""
    names = sorted(name for name in headers if HINTS.fullmatch(name.lower()))
    return {name.lower(): shown(headers[name], secrets) for name in names}


def asked_pause(headers: Mapping[str, str], text: str, now: float) -> float | None:
    """Seconds that the endpoint asks to wait: `retry-after-ms`, `Retry-After` in seconds or as a date, or in words.

    A date is compared with the endpoint's own `Date`, so that a clock that is off does no harm. None: nothing usable.
    """
    after = headers.get("retry-after", "")
    seconds = _number(headers.get("retry-after-ms"), scale=0.001) or _number(after)
    if seconds is None and (then := _moment(after)) is not None:
        seconds = then - (_moment(headers.get("date", "")) or now)
    if seconds is None and (said := IN_WORDS.search(text)):
        parts = [float(part or 0) for part in said.groups()]
        seconds = parts[0] * 3600 + parts[1] * 60 + parts[2] + parts[3] / 1000
    return seconds if seconds is not None and seconds > 0 else None


def error_in(body: dict[str, JsonValue]) -> int | None:
    """The HTTP status that a body sent with status 200 claims to be: some gateways report failures only there."""
    error = body.get("error")
    if not error or body.keys() & {"choices", "answers", "data"}:
        return None
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and code in range(400, 600) else 502


def hear(status: int, headers: Mapping[str, str], content: bytes, *, now: float) -> Said:
    """Find the words and codes of an error in any of the forms in use; `now` is the wall clock, in seconds."""
    body = read_object(content)
    if status < HTTPStatus.BAD_REQUEST:
        return Said(status, f"redirect to {headers.get('location')}", frozenset())
    if body is None:
        page = content[:READ].decode("utf-8", "replace")
        title = TITLE.search(page)
        text = title[1] if title else re.sub(r"<[^>]*>", " ", page)
        return Said(status, text, frozenset(), pause=asked_pause(headers, text, now))
    error = body.get("error") or body
    error = error if isinstance(error, dict) else {"message": error}
    inner = error.get("innererror")
    meta = error.get("metadata")
    named = [error.get("code"), error.get("type"), inner.get("code") if isinstance(inner, dict) else None]
    words = [error.get("message"), error.get("detail"), meta.get("raw") if isinstance(meta, dict) else None]
    text = " ".join(word if isinstance(word, str) else json.dumps(word) for word in words if word) or json.dumps(error)
    text = text[:READ]
    codes = [code for code in named if isinstance(code, str)]
    param = error.get("param")
    return Said(
        status,
        text,
        frozenset(code.lower() for code in codes),
        code=codes[0] if codes else None,
        param=param if isinstance(param, str) and param not in NAMES_OF_NOTHING else None,
        pause=asked_pause(headers, text, now),
    )


def fault(said: Said, *, where: str, model: str | None, secrets: Iterable[str] = ()) -> JudgekitError:
    """The one error that this answer means. `where` is the URL as it may be shown."""
    words = shown(said.text, secrets) or "no reason given"
    told = f"{where} answered HTTP {said.status}: {words}"
    if (remedy := _remedy(said, where, model)) is not None:
        kind = NotServed if remedy == _NOTHING_THERE else JudgeUnusable
        return kind(f"{told}; {remedy}", status=said.status)
    return _about_input(said, told) or _passing_or_refused(said, told, secrets)


_KEY = (
    "set the API key that belongs to this endpoint: in OPENAI_API_KEY, in another variable (--api-key-env, "
    "--decider-key-env) or in a file (--api-key-file); from Python api_key or decider_key"
)


def _remedy(said: Said, where: str, model: str | None) -> str | None:
    """What to change where no call at all can succeed as things are; None where another call might."""
    is_no_model = said.status in {400, 404} and NO_MODEL.search(said.text) is not None
    remedies = (
        (said.status == HTTPStatus.UNAUTHORIZED, _KEY),
        (said.status < HTTPStatus.BAD_REQUEST, "it redirects elsewhere: give the final base URL"),
        (_is_quota(said), "the quota is used up: add credit or give another key, the same command goes on from here"),
        (
            said.status == HTTPStatus.FORBIDDEN and not _is_filter(said),
            "this API key may not do this: give one that may use the model",
        ),
        (
            is_no_model or "model_not_found" in said.codes,
            f"no model {model!r} at {where}: GET /models lists what there is",
        ),
        (
            said.status == HTTPStatus.NOT_FOUND,
            _NOTHING_THERE,
        ),
    )
    return next((remedy for holds, remedy in remedies if holds), None)


def _about_input(said: Said, told: str) -> JudgekitError | None:
    if said.status in {400, 403, 422, 451} and _is_filter(said):
        return ContentFiltered(told)
    return RequestTooLong(told) if _is_too_long(said) else None


def _passing_or_refused(said: Said, told: str, secrets: Iterable[str]) -> JudgekitError:
    if said.status == HTTPStatus.TOO_MANY_REQUESTS:
        return RateLimited(told, said.pause)
    if said.status == HTTPStatus.REQUEST_TIMEOUT:
        return CallTimeout(told)
    if said.status in PASSING or said.status > HTTPStatus.NOT_IMPLEMENTED:
        return ServerFailed(told, said.pause)
    code = shown(said.code, secrets) if said.code else None
    param = shown(said.param, secrets) if said.param else None
    return RequestRefused(told, status=said.status, code=code, param=param)


def _is_quota(said: Said) -> bool:
    if said.status == HTTPStatus.PAYMENT_REQUIRED or said.codes & QUOTA_CODES:
        return True
    is_about_money = said.status in {400, 403, 429} and QUOTA.search(said.text) is not None
    return is_about_money and said.pause is None and not RATE.search(said.text)


def _is_filter(said: Said) -> bool:
    return bool(said.codes & FILTER_CODES) or FILTER.search(said.text) is not None


def _is_too_long(said: Said) -> bool:
    if said.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE or said.codes & LONG_CODES:
        return True
    if said.status == HTTPStatus.TOO_MANY_REQUESTS:
        # larger than the whole allowance of a minute: waiting cannot help
        return "request too large" in said.text.lower()
    root = re.split(r"[.\[]", said.param or "")[0]
    if said.status not in {400, 422, 500} or root not in INPUT_PARAMS or LONG_REPLY.search(said.text):
        return False
    return LONG.search(said.text) is not None


def _number(text: str | None, *, scale: float = 1.0) -> float | None:
    try:
        value = float(text or "") * scale
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _moment(text: str) -> float | None:
    try:
        then = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    return (then if then.tzinfo else then.replace(tzinfo=UTC)).timestamp()
