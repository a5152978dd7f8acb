"""How sure a model was of a label that it wrote as JSON: read at the tokens of that label and nowhere else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from math import fsum

from judgekit.judge import reading
from judgekit.judge.logprobs import LEAST_MASS, Token, shares
from judgekit.wire import JudgeReply, JudgeRequest, Texts, Vector

_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
_Spans = dict[str, tuple[int, int]]


def probabilities(
    request: JudgeRequest, reply: JudgeReply, tokens: Sequence[Token]
) -> dict[str, dict[str, float]] | None:
    """Question id -> the probability of each option, for the labels whose tokens tell it; None where none do.

    The JSON that was read must stand once in the tokens as they came (which may hold a think block or a fence that the
    text lacks). A label that was written otherwise than as the value of its question's id, or whose tokens were meant
    for something else by half, has no probabilities.
    """
    written = reading.where(request, reply)
    whole = b"".join(token.piece for token in tokens)
    if written is None or whole.count(written.encode()) != 1:
        return None
    base = whole.index(written.encode())
    spans = _labels(written, request.ids)
    found: dict[str, dict[str, float]] = {}
    for question in request.questions:
        if isinstance(question, Texts | Vector) or question.id not in spans:
            continue
        start, end = spans[question.id]
        options = [option.value for option in question.options]
        if reading.label_of(written[start:end], tuple(options)) is None:
            continue
        at = base + len(written[:start].encode())
        if (told := _told(options, *_from(tokens, at))) is not None:
            found[question.id] = told
    return found or None


def _from(tokens: Sequence[Token], at: int) -> tuple[Sequence[Token], int]:
    """The tokens from the one that holds a byte of the text on, and how many of its bytes stand before that one."""
    end = 0
    for number, token in enumerate(tokens):
        end += len(token.piece)
        if end > at:
            return tokens[number:], len(token.piece) - (end - at)
    return (), 0


def _told(options: Sequence[str], tokens: Sequence[Token], skip: int) -> dict[str, float] | None:
    """The probabilities of the options along the tokens of a label, up to the first that tells it from all others.

    At each token, an alternative that can only begin one option is that option's; what could begin several, or none,
    is nobody's.
    """
    seen: dict[str, float] = {}
    path, begun = 1.0, b""
    for token in tokens:
        before = token.piece[:skip]
        for piece, probability in token.alternatives:
            meant = _meant(begun + piece[skip:], options) if piece.startswith(before) else []
            if len(meant) == 1:
                seen[meant[0]] = seen.get(meant[0], 0.0) + path * probability
        begun += token.piece[skip:]
        still = _meant(begun, options)
        if len(still) <= 1:
            break
        path, skip = path * token.probability, 0
    listed = [probability for _, probability in tokens[0].alternatives] if tokens else [0.0]
    found = shares(options, seen, least=min(listed), unlisted=1 - fsum(listed))
    return None if found is None or found.mass < LEAST_MASS else found.by_option


def _meant(begun: bytes, options: Sequence[str]) -> list[str]:
    """The options that a text may be the beginning of, or that it holds whole, before the end of the value."""
    text = begun.decode("utf-8", "replace").casefold()
    return [
        option
        for option in options
        if option.casefold().startswith(text)
        or (text.startswith(option.casefold()) and re.match(r"[\s\",}\]]", text[len(option) :]))
    ]


def _labels(written: str, ids: Sequence[str]) -> _Spans:
    """Question id -> where its label stands in the JSON: the value of the id itself, or of a label key below it."""
    found: dict[str, dict[str, tuple[int, int]]] = {}
    for path, start, end in _scalars(written):
        if path and path[-1] in ids:
            found.setdefault(path[-1], {})[""] = (start, end)
        elif len(path) > 1 and path[-2] in ids and path[-1] in reading.LABEL_KEYS:
            found.setdefault(path[-2], {})[path[-1]] = (start, end)
    keys = ("", *reading.LABEL_KEYS)
    return {i: next(spans[key] for key in keys if key in spans) for i, spans in found.items()}


def _scalars(written: str) -> Iterator[tuple[tuple[str, ...], int, int]]:
    """Every string, number or word of sound JSON that is a value: the keys above it, and where it stands, without its
    quotes."""
    keys: list[str] = []
    inside: list[str] = []
    is_key = False
    for found in _PIECE.finditer(written):
        piece = found[0]
        if piece in "{[":
            inside.append(piece)
            keys.append("")
        elif piece in "}]":
            inside.pop()
            keys.pop()
        if piece in "{,":
            is_key = inside[-1] == "{"
        elif piece in ":[]}":
            is_key = False
        elif is_key:
            keys[-1] = json.loads(piece, strict=False)
        else:
            quoted = piece.startswith('"')
            yield tuple(keys), found.start() + quoted, found.end() - quoted
