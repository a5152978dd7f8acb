"""Where sentences begin. `sentencex` knows the stops and abbreviations of many languages; here is what it is shown,
and which of its boundaries are not believed."""
# ruff: noqa: RUF001 - the signs of many scripts are meant

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from sentencex import get_sentence_boundaries  # type: ignore[import-untyped]  # it ships no types

Span = tuple[int, int]

_MASKED = re.compile(
    r"(?:https?://|www\.)[^\s\[\]<>\"]+|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{1,64}", re.IGNORECASE
)
_DROPPED = re.compile(r"\*+|~~|</?[a-zA-Z][^<>\n]{0,200}>|(?<![^\W_])_+|_+(?![^\W_])|[<>`]|\\")
_PAIRS = {
    '"': '"',
    "“": "”",
    "„": "“",
    "«": "»",
    "»": "«",
    "「": "」",
    "『": "』",
    "《": "》",
    "(": ")",
    "（": "）",
    "[": "]",
    "【": "】",
    "〈": "〉",
}
_SINGLE_QUOTES = "'‘’‚‛‹›"
_QUOTES = frozenset({*_PAIRS, *_PAIRS.values(), *_SINGLE_QUOTES, "{", "}"})
#: Longer quotations and parentheses are cut into their sentences.
_LONGEST_ASIDE = 300
_DEEPEST = 20

_CLOSING = re.compile(r"[\"'”’»)\]）」』》*_]+(?=\s|$)\s*")
_OPENING = "\"'“‘„«([（「『《*_¿¡~<"
_LAST_WORD = re.compile(r"([^\s.()\[\]\"“„«»/-]+)\.$")
_COUNTED = re.compile(r"(?:^|[:;]\s)\(?\d{1,2}[.)]$")
_SAID = re.compile("[」』]$")
_BRAND = re.compile("[a-z]{1,2}[A-Z]")
_NO_BEGINNING = re.compile(r"[,;:)\]-]|[.!?…]+(?:\s|$)")
_STOPS = frozenset(".!?")
#: These stops serve for nothing else, so what follows begins a sentence, a number too, unless it goes on with a comma.
_WIDE_STOPS = re.compile(r"[。！？｡]++[.!?…。！？｡]*+\s*+(?![、，；：,;:…—)\]）】」』》〉])")
_SHORT = 4
_SPACE = re.compile(r"\s")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
#: Before a number; those in other letters before anything.
_ABBREVIATION = re.compile(
    "approx|ca|vols?|nos?|nr|art|abs|figs?|eqs?|sect?|ch|chap|pp?|bd|hrsg|ok|tys|tel|str|ul|np|tzw|tzn|godz|"
    "др|ул|стр|рис|им|св|डॉ|श्री|प्रो",
    re.IGNORECASE,
)


def sentence_starts(
    text: str,
    start: int,
    end: int,
    *,
    language: str,
    removed: Sequence[Span] = (),
    kept: Iterable[Span] = (),
    signs: Sequence[Span] = (),
) -> list[int]:
    """Offsets in (start, end) at which a new sentence of `text[start:end]` begins.

    `removed` (citation markers) are not seen at all, so that a marker after the full stop stays with its sentence;
    `kept` (code, markers that serve as words) are seen as one opaque word each; `signs` (list and quote signs) are
    not seen and go with what follows them. All are sorted spans of offsets into the text.
    """
    shown, offsets = _shown(text, start, end, removed=(*removed, *signs), kept=kept)
    if not shown.strip():
        return []
    found = _boundaries(shown, language)
    sign_starts = {high: low for low, high in signs}
    # in a text all in lower case, a small letter after a stop says nothing about the stop
    cased = any(map(str.isupper, shown))
    believed = (at for at in found if _is_believed(shown, at, cased=cased))
    starts = {_settled(text, offsets[at], start, end, sign_starts) for at in believed}
    return sorted(at for at in starts if start < at < end)


def _boundaries(shown: str, language: str) -> list[int]:
    """Where the language's rules and the English ones both see a beginning: each knows some abbreviations.

    Neither sees one between a wide stop and a number, as in "高61米。1958年建成": those are added.
    """
    seen = [
        {boundary["start_index"] for boundary in get_sentence_boundaries(code, shown)}
        for code in dict.fromkeys((language, "en"))
    ]
    return sorted(set.intersection(*seen).union(_after_wide_stops(shown)) - {0, len(shown)})


def _after_wide_stops(shown: str) -> set[int]:
    """The boundaries after the full stops of Chinese and Japanese that stand in no quotation or parenthesis."""
    ends = {match.start(): match.end() for match in _WIDE_STOPS.finditer(shown)}
    found: set[int] = set()
    closers: list[str] = []
    for at, sign in enumerate(shown if ends else ""):
        if closers and sign == closers[-1]:
            closers.pop()
        elif sign in _PAIRS:
            closers.append(_PAIRS[sign])
        elif at in ends and not closers:
            found.add(ends[at])
    return found


def _shown(text: str, start: int, end: int, *, removed: Iterable[Span], kept: Iterable[Span]) -> tuple[str, list[int]]:
    """The text as `sentencex` is to see it, on one line, and the offset in `text` of each of its characters."""
    signs: list[str] = list(text[start:end])
    for match in _MASKED.finditer(text, start, end):
        words = match.group().rstrip(".,;:!?)'\"*_")
        signs[match.start() - start : match.start() - start + len(words)] = "x" * len(words)
    for low, high in kept:
        signs[low - start : high - start] = ["X", *"x" * (high - low - 1)]
    for match in _DROPPED.finditer(text, start, end):
        _blank(signs, match.start() - start, match.end() - start)
    for at in _unpaired(signs):
        signs[at] = ""
    for low, high in removed:
        _blank(signs, max(low, start) - start, min(high, end) - start)
        if low > start and high < end:
            signs[low - start] = _in_place_of_a_marker(text[max(start, low - 2) : low].rstrip()[-1:], text[high])
    shown = _SURROGATE.sub("x", _SPACE.sub(" ", "".join(signs)))
    return shown, [at for at, sign in enumerate(signs, start) for _ in sign]


def _in_place_of_a_marker(before: str, after: str) -> str:
    """Nothing, unless the stop would change its meaning without the marker."""
    if before in _STOPS and after.isalpha():
        return " "  # "Foo.[1]Bar": the words would touch
    if before.isalnum() and after in _STOPS:
        return " cited"  # "vitamin C [1].": a stop right after the letter would make it an initial
    return ""


def _blank(signs: list[str], low: int, high: int) -> None:
    signs[low:high] = [""] * (high - low)


def _unpaired(signs: Sequence[str]) -> list[int]:
    """Quotes and brackets that hold no aside: inches, apostrophes, unclosed or far apart.

    `sentencex` never ends a sentence between two quotes or brackets, so one stray inch sign could swallow a page.
    """
    stray: list[int] = []
    waiting: list[int] = []
    for at, sign in enumerate(signs):
        if sign not in _QUOTES:
            continue
        while waiting and (at - waiting[0] > _LONGEST_ASIDE or len(waiting) > _DEEPEST):
            stray.append(waiting.pop(0))
        opener = next((n for n in reversed(range(len(waiting))) if _PAIRS.get(signs[waiting[n]]) == sign), None)
        if opener is not None:
            stray.extend(waiting[opener + 1 :])
            del waiting[opener:]
        elif sign in _PAIRS and not (sign == '"' and at and signs[at - 1].isdigit()):
            waiting.append(at)
        else:
            stray.append(at)
    return stray + waiting


def _is_believed(shown: str, at: int, *, cased: bool) -> bool:
    """False for a boundary after what is more likely an abbreviation, or before what cannot begin a sentence."""
    head, tail = shown[max(0, at - 40) : at].rstrip(), shown[at : at + 40]
    if not tail or _NO_BEGINNING.match(tail) or _COUNTED.search(head) or (tail[0] in "とっ" and _SAID.search(head)):
        return False
    word = _LAST_WORD.search(head)
    if not word:
        return not (head.endswith("..") and tail[0].islower())
    if not shown[at - 1].isspace() and word[1].isalpha() and not word[1].islower():
        return False  # "System.Out", where "he left.Then" is a slip
    if _ABBREVIATION.fullmatch(word[1]) and (tail[0].isdigit() or tail[0] == "(" or not word[1].isascii()):
        return False
    return not (cased and tail[0].islower() and len(word[1]) <= _SHORT and not _BRAND.match(tail))


def _settled(text: str, at: int, start: int, end: int, sign_starts: dict[int, int]) -> int:
    """The boundary, moved past quotes that close the sentence before, or back to those that open the next one."""
    if closing := _CLOSING.match(text, at, end):
        return closing.end()
    while at > start and at in sign_starts:
        at = sign_starts[at]
    begin = at
    while begin > start and text[begin - 1] in _OPENING:
        begin -= 1
    return begin if begin == start or text[begin - 1].isspace() else at
