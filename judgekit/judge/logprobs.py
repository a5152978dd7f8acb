"""Probabilities of tokens, as endpoints return them beside a chat reply, and what they say about named options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import exp, fsum, isfinite
from typing import Any, Final, NamedTuple

from judgekit.judge.envelope import first_choice

#: The share of the probability that the options must hold together. Below it, more was meant for something else.
LEAST_MASS: Final = 0.5


class Token(NamedTuple):
    """One token that was written, the probability it had, and what might have stood in its place, itself included."""

    piece: bytes
    probability: float
    alternatives: tuple[tuple[bytes, float], ...]


def tokens_of(data: Mapping[str, Any]) -> list[Token]:
    """The tokens of the first choice of a chat completion; none where the endpoint gave no probabilities.

    Read are OpenAI's form (`content`, a list of tokens) and the older one (`tokens`, `token_logprobs` and, a mapping
    for each token, `top_logprobs`).
    """
    given = first_choice(data).get("logprobs")
    if not isinstance(given, dict):
        return []
    listed = given.get("content")
    entries = listed if isinstance(listed, list) else _older(given)
    found = [_token(entry) for entry in entries if isinstance(entry, dict)]
    return [token for token in found if token is not None]


def _older(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    pieces, logprobs, tops = (given.get(name) for name in ("tokens", "token_logprobs", "top_logprobs"))
    if not isinstance(pieces, list) or not isinstance(logprobs, list):
        return []
    listed = tops if isinstance(tops, list) else [None] * len(pieces)
    return [
        {
            "token": piece,
            "logprob": logprob,
            "top_logprobs": [{"token": t, "logprob": p} for t, p in top.items()] if isinstance(top, dict) else top,
        }
        for piece, logprob, top in zip(pieces, logprobs, listed, strict=False)
    ]


def _token(entry: Mapping[str, Any]) -> Token | None:
    own = _piece(entry)
    if own is None:
        return None
    listed = entry.get("top_logprobs")
    others = [_piece(one) for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    alternatives = dict(one for one in others if one is not None)
    alternatives.setdefault(*own)
    return Token(*own, tuple(sorted(alternatives.items(), key=lambda one: (-one[1], one[0]))))


def _piece(entry: Mapping[str, Any]) -> tuple[bytes, float] | None:
    """The bytes of a token and its probability; None where either is missing."""
    token, logprob, raw = entry.get("token"), entry.get("logprob"), entry.get("bytes")
    if not isinstance(token, str) or isinstance(logprob, bool) or not isinstance(logprob, int | float):
        return None
    if isinstance(raw, list) and raw and all(type(byte) is int and byte in range(256) for byte in raw):
        piece = bytes(raw)
    else:
        piece = token.encode("utf-8", "replace")
    return piece, exp(min(0.0, logprob)) if isfinite(logprob) else 0.0


class Shares(NamedTuple):
    """A probability for each option, in their order and summing to one, and the mass that all of them held before."""

    by_option: dict[str, float]
    mass: float


def shares(options: Iterable[str], seen: Mapping[str, float], *, least: float, unlisted: float) -> Shares | None:
    """The probabilities seen for options, brought to a sum of one; None when no option was seen.

    An option that was not among the alternatives is less likely than the least of them (`least`), and than all that
    was not listed together (`unlisted`). It is given the smaller of these bounds, all that it can have had: so that
    what was seen is never made surer than it was.
    """
    mass = fsum(seen.values())
    if not mass:
        return None
    bound = max(0.0, min(least, unlisted))
    whole = {option: seen.get(option, bound) for option in options}
    total = fsum(whole.values())
    return Shares({option: round(value / total, 6) for option, value in whole.items()}, min(1.0, mass))


def shares_at(options: Iterable[str], token: Token, seen: Mapping[str, float]) -> Shares | None:
    """`shares` of what was seen among the alternatives to one token."""
    listed = [probability for _, probability in token.alternatives]
    return shares(options, seen, least=min(listed), unlisted=1 - fsum(listed))
