"""Citations that a log gives beside the answer, or in its parts, as character spans of one answer text."""
# ruff: noqa: TRY004 - a wrong type in a log is a wrong value to its reader, and one error says so

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, NewType

from judgekit.records import CitedSpan, Context

ACCEPTED = (
    'null; spans {"start", "end", "context_ids"} (judgekit) or {"start", "end", "text", "document_ids" or "sources"} '
    '(Cohere); {"groundingSupports": [...]} (Gemini)'
)
ACCEPTED_ANSWERS = (
    'a text; a list of {"text", "citations": [index or id]} (TREC RAG); '
    'a list of content blocks {"type": "text", "text", "citations": [...]} (Anthropic)'
)

#: An index that no context has, as it was written. A text is the id of a context, known or not.
_OutOfRange = NewType("_OutOfRange", int)


def read_answer(
    answer: object, citations: object, contexts: Sequence[Context]
) -> tuple[str, tuple[CitedSpan, ...] | None]:
    """The answer as one text, and its structured citations; None when it can only have markers in the text.

    Spans keep the order of the log. An unknown id stays as an id, so that it dangles; an index out of range is
    `dangling`, for as an id it could name a context. A citation that names nothing at all is left out. Raises
    ValueError for what cannot be read; the message begins with the place inside the field, where there is one.
    """
    if isinstance(answer, str):
        return answer, None if citations is None else tuple(_beside((answer,), citations, contexts))
    if not isinstance(answer, list):
        raise ValueError(f"{_kind(answer)} is no answer; accepted: {ACCEPTED_ANSWERS}")
    if citations is not None:
        texts = tuple(text for _, text, _ in _parts(answer))
        return "".join(texts), tuple(_beside(texts, citations, contexts))
    blocks = any(isinstance(part, Mapping) and "type" in part for part in answer)
    return _joined(answer, contexts, separator="" if blocks else " ")


# --- citations in the parts of an answer: TREC RAG, Anthropic ---------------------------------


def _parts(answer: list[object]) -> Iterator[tuple[str, str, object]]:
    """Place, text and citations of each part that has a text; thinking and tool calls have none."""
    for number, part in enumerate(answer):
        place = f"[{number}]"
        if not isinstance(part, Mapping):
            raise ValueError(f"{place}: {_kind(part)} is no part of an answer; accepted: {ACCEPTED_ANSWERS}")
        if part.get("type", "text") != "text":
            continue
        text = part.get("text")
        if not isinstance(text, str):
            raise ValueError(f"{place}.text: {_kind(text)} where a text is expected; accepted: {ACCEPTED_ANSWERS}")
        yield place, text, part.get("citations")


def _joined(
    answer: list[object], contexts: Sequence[Context], *, separator: str
) -> tuple[str, tuple[CitedSpan, ...] | None]:
    """The parts as one text, each cited part being a span; None when no part has a list of citations."""
    texts: list[str] = []
    spans: list[CitedSpan] = []
    start, is_structured = 0, False
    for place, text, given in _parts(answer):
        start += len(separator) if texts else 0
        if given is not None:
            is_structured = True
            ids = [
                _named(one, f"{place}.citations[{number}]", contexts)
                for number, one in enumerate(_list(given, f"{place}.citations"))
            ]
            spans.extend(_cited(start, start + len(text), ids))
        texts.append(text)
        start += len(text)
    return separator.join(texts), tuple(spans) if is_structured else None


def _named(citation: object, place: str, contexts: Sequence[Context]) -> str | _OutOfRange:
    """The context that an entry of a part's citations names: an index, an id, or a location."""
    if isinstance(citation, str):
        return citation
    if isinstance(citation, int):
        return _at(citation, place, contexts)
    if isinstance(citation, Mapping):
        for key in ("document_index", "search_result_index"):
            if citation.get(key) is not None:
                return _at(citation[key], f"{place}.{key}", contexts)
        if isinstance(url := citation.get("url"), str):
            return next((context.id for context in contexts if context.url == url), url)
    raise ValueError(
        f"{place}: {_kind(citation)} names no source; accepted: an index (from 0), an id, or an object with "
        '"document_index", "search_result_index" or "url"'
    )


# --- citations beside the answer: judgekit, Cohere, Gemini ------------------------------------


class _Offsets(NamedTuple):
    """Where an entry says its words are."""

    start: int
    end: int
    words: str | None
    place: str


def _beside(texts: Sequence[str], citations: object, contexts: Sequence[Context]) -> Iterator[CitedSpan]:
    if isinstance(citations, Mapping):
        for key in ("groundingMetadata", "grounding_metadata"):
            citations = citations.get(key, citations) if isinstance(citations, Mapping) else citations
        supports = _either(citations, "groundingSupports", "grounding_supports")
        if supports is None:
            raise ValueError(f"an object without groundingSupports; accepted: {ACCEPTED}")
        yield from _gemini(texts, _list(supports, ".groundingSupports"), contexts)
        return
    entries = _list(citations, "")
    if any(isinstance(entry, Mapping) and "segment" in entry for entry in entries):
        yield from _gemini(texts, entries, contexts)
        return
    if len(texts) != 1 and entries:
        raise ValueError(
            f"spans beside an answer of {len(texts)} parts: open where they count from; give the answer as one text"
        )
    for number, entry in enumerate(entries):
        yield from _span(texts[0], entry, f"[{number}]", contexts)


def _span(text: str, entry: object, place: str, contexts: Sequence[Context]) -> Iterator[CitedSpan]:
    """The span of one entry with "start" and "end"."""
    if not isinstance(entry, Mapping) or not {"start", "end"} <= entry.keys():
        raise ValueError(f"{place}: {_kind(entry)} is no citation; accepted: {ACCEPTED}")
    words = entry.get("text")
    offsets = _Offsets(
        _integer(entry["start"], f"{place}.start"),
        _integer(entry["end"], f"{place}.end"),
        words if isinstance(words, str) and words else None,
        place,
    )
    own = _either(entry, "context_ids", "contexts")
    if own is not None:
        unit = entry.get("unit", "chars")
        if unit not in _UNITS:
            raise ValueError(f"{place}.unit: {unit!r} is unknown; accepted: {', '.join(_UNITS)}")
        ids = [_id(one, f"{place}.context_ids") for one in _list(own, f"{place}.context_ids")]
        yield from _cited(*_placed(text, offsets._replace(words=None), (unit,)), ids)
        return
    named = _either(entry, "document_ids", "sources")
    if named is None:
        raise ValueError(f"{place}: names no source; accepted: {ACCEPTED}")
    known = {context.id for context in contexts}
    ids = [_document(one, f"{place}.sources", known) for one in _list(named, f"{place}.sources")]
    yield from _cited(*_placed(text, offsets, ("chars", "utf-16", "bytes")), ids)


def _document(source: object, place: str, known: set[str]) -> str:
    """The id in a Cohere source: its own or that of its document, whichever is a context."""
    if not isinstance(source, Mapping):
        return _id(source, place)
    document = source.get("document")
    inner = document.get("id") if isinstance(document, Mapping) else None
    ids = [str(one) for one in (source.get("id"), inner) if one is not None]
    if not ids:
        raise ValueError(f'{place}: a source without an id; accepted: an id, {{"id"}} or {{"document": {{"id"}}}}')
    return next((one for one in ids if one in known), ids[0])


def _gemini(texts: Sequence[str], supports: list[object], contexts: Sequence[Context]) -> Iterator[CitedSpan]:
    """Grounding supports: offsets are UTF-8 bytes of a part, and left out where they are 0."""
    for number, support in enumerate(supports):
        place = f"[{number}]"
        found = support.get("segment") if isinstance(support, Mapping) else None
        if not isinstance(support, Mapping) or not isinstance(found, Mapping):
            raise ValueError(f'{place}: no "segment" object; accepted: {ACCEPTED}')
        words = found.get("text")
        offsets = _Offsets(
            _integer(_either(found, "startIndex", "start_index") or 0, f"{place}.segment.startIndex"),
            _integer(_either(found, "endIndex", "end_index") or 0, f"{place}.segment.endIndex"),
            words if isinstance(words, str) and words else None,
            f"{place}.segment",
        )
        part = _integer(_either(found, "partIndex", "part_index") or 0, f"{place}.segment.partIndex")
        is_given = 0 <= part < len(texts)
        if not is_given and offsets.words is None:
            raise ValueError(
                f"{place}.segment.partIndex: {part}, but the answer has {len(texts)} part(s); log the parts"
            )
        # in parts that a log has joined into one text, the words still tell the place
        inside, base = (texts[part], sum(map(len, texts[:part]))) if is_given else ("".join(texts), 0)
        start, end = _placed(inside, offsets, ("bytes",))
        chunks = _list(_either(support, "groundingChunkIndices", "grounding_chunk_indices") or [], place)
        ids = [_at(chunk, f"{place}.groundingChunkIndices", contexts) for chunk in chunks]
        yield from _cited(base + start, base + end, ids)


# --- offsets ----------------------------------------------------------------------------------

#: Unit -> the characters of a text before an offset; None when the offset is outside or inside a character.
_UNITS: dict[str, Callable[[str, int], int | None]] = {
    "chars": lambda text, offset: offset if 0 <= offset <= len(text) else None,
    "bytes": lambda text, offset: _decoded(text, offset, "utf-8"),
    "utf-16": lambda text, offset: _decoded(text, 2 * offset, "utf-16-le"),
}


def _decoded(text: str, size: int, encoding: str) -> int | None:
    raw = text.encode(encoding, "surrogatepass")
    if not 0 <= size <= len(raw):
        return None
    try:
        return len(raw[:size].decode(encoding, "surrogatepass"))
    except UnicodeDecodeError:
        return None


def _placed(text: str, offsets: _Offsets, units: Sequence[str]) -> tuple[int, int]:
    """Offsets in characters: by the first unit in which they enclose the words, else where the words are nearest."""
    start, end, words, place = offsets
    size = len(text.encode("utf-8", "surrogatepass"))
    if (start > end and words is None) or start > end > 0 or start < 0 or max(start, end) > size:
        raise ValueError(
            f"{place}: {start} to {end} is no stretch of the answer ({len(text)} characters, {size} bytes); "
            f"accepted: 0 <= start <= end, in {' or '.join(units)}"
        )
    for unit in units:
        low, high = _UNITS[unit](text, start), _UNITS[unit](text, end)
        if low is not None and high is not None and (words is None or text[low:high] == words):
            return low, high
    if words is None:
        raise ValueError(
            f"{place}: {start} to {end} does not fit the answer in {' or '.join(units)} ({len(text)} characters, "
            f'{size} bytes); offsets count from 0 in the answer as logged, "unit" may be: {", ".join(_UNITS)}'
        )
    near = _UNITS[units[0]](text, start)
    found = _nearest(text, words, min(start, len(text)) if near is None else near)
    if found is None:
        raise ValueError(f"{place}: its text is not in the answer: {words[:80]!r}; log the answer as it was returned")
    return found, found + len(words)


def _nearest(text: str, words: str, offset: int) -> int | None:
    """Where the words begin closest to the offset: a repeated sentence must not lend its first place to the others."""
    places = (text.rfind(words, 0, offset + len(words)), text.find(words, offset))
    return min((at for at in places if at >= 0), key=lambda at: abs(at - offset), default=None)


# --- small readings ---------------------------------------------------------------------------


def _cited(start: int, end: int, named: Sequence[str | _OutOfRange]) -> Iterator[CitedSpan]:
    if named:
        once = tuple(dict.fromkeys(named))
        yield CitedSpan(
            start=start,
            end=end,
            context_ids=tuple(one for one in once if isinstance(one, str)),
            dangling=tuple(str(one) for one in once if not isinstance(one, str)),
        )


def _at(index: object, place: str, contexts: Sequence[Context]) -> str | _OutOfRange:
    number = _integer(index, place)
    return contexts[number].id if 0 <= number < len(contexts) else _OutOfRange(number)


def _id(value: object, place: str) -> str:
    if isinstance(value, str | int) and not isinstance(value, bool):
        return str(value)
    raise ValueError(f"{place}: {_kind(value)} where the id of a context is expected")


def _integer(value: object, place: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise ValueError(f"{place}: {_kind(value)} where a whole number is expected")


def _list(value: object, place: str) -> list[object]:
    if isinstance(value, list | tuple):
        return list(value)
    raise ValueError(f"{place}: {_kind(value)} where a list is expected; accepted: {ACCEPTED}".removeprefix(": "))


def _either(given: object, key: str, other: str) -> object:
    """The value under either spelling, None when there is none."""
    if not isinstance(given, Mapping):
        return None
    first: object = given.get(key)
    return given.get(other) if first is None else first


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, Mapping):
        return f"an object with {', '.join(sorted(map(str, value))) or 'no keys'}"
    return a_type(value)


def a_type(value: object) -> str:
    """The name of a value's type, with its article: "an int"."""
    name = type(value).__name__
    return f"an {name}" if name == "int" else f"a {name}"
