"""Reference lists: the lines in which an answer says once more what its markers stand for."""
# ruff: noqa: RUF001 - the signs of many scripts are meant

from __future__ import annotations

import re
from collections.abc import Sequence

# Titles that announce nothing but references, and titles that may also head a part of the answer ("Sources" of iron).
_SURE = (
    "references|reference list|works cited|bibliography|footnotes|citations|einzelnachweise|quellenverzeichnis|"
    "literaturverzeichnis|fußnoten|références|bibliographie|referencias|bibliografía|bibliografia|przypisy|"
    "riferimenti|referências|список литературы|примечания|参考文献|參考文獻|参考资料|參考資料|"
    "引用文献|脚注|المراجع|संदर्भ"
)
_UNSURE = (
    "sources?|sources? cited|sources used|source list|cited sources|quellen|literatur|fuentes|źródła|fonti|fontes|"
    "bronnen|источники|литература|来源|來源|出典|المصادر|स्रोत|links|further reading|notes|anmerkungen"
)
_TITLE = re.compile(
    rf"(?:#{{1,6}}\s*)?[*_]{{0,3}}(?:(?P<sure>{_SURE})|(?P<unsure>{_UNSURE}))[*_]{{0,3}}\s?(?P<colon>[:：]?)[*_]{{0,3}}\s*"
    r"(?P<rest>.*)",
    re.IGNORECASE,
)
_HEADING = re.compile(r"#{1,6}\s")
_RULE = re.compile(r"[-*_=\s]+$")
_ENTRY = re.compile(
    r"[-*+•]\s|\(?[\[［]\^?[^\[\]]{1,60}[\]］]|\(?\d{1,3}[\]).:、]|【|[¹²³⁴⁵⁶⁷⁸⁹]|https?://|www\.", re.IGNORECASE
)
_SOURCE_LIKE = re.compile(
    r"^(?:[-*+•]\s+|\d{1,3}[.)]\s+)?[\[［]\^?[^\[\]]{1,60}[\]］]|【|^[¹²³⁴⁵⁶⁷⁸⁹]|https?://|www\.|\b(?:1[6-9]|20)\d\d\b|\.(?:pdf|html?|docx?|md|txt)\b"
    r"|\b(?:passage|document|doc|source|context|wikipedia|isbn|doi)\b",
    re.IGNORECASE,
)
_DEFINITION = re.compile(r"\[\^[\w.-]{1,40}\]:\s|\[[\w.-]{1,40}\]:\s+<?(?:https?://|www\.)", re.IGNORECASE)
_ADDRESSED = re.compile(
    r"(?:[-*+•]\s+)?(?:[\[［]\^?\d{1,3}[\]］]|【\d{1,3}[^】]{0,40}】|[¹²³⁴⁵⁶⁷⁸⁹]).*(?:https?://|www\.)"
)
_ONLY_MARKERS = re.compile(
    r"(?:[\[［【][^\[\]【】]{1,60}[\]］】]|\(\w{1,12}\s\d{1,3}\)|[\s,;.]|https?://\S+|and|und|&)+$"
)


def reference_lines(lines: Sequence[str]) -> frozenset[int]:
    """The numbers of the lines (each without its break) that belong to a reference list.

    A list counts when a title heads it and its lines look like entries, when its lines are footnote definitions,
    or when it ends the text and each line goes from a marker to an address.
    """
    found: set[int] = set()
    _defined(lines, found)
    _titled(lines, found)
    _closing(lines, found)
    return frozenset(found)


def _defined(lines: Sequence[str], found: set[int]) -> None:
    for number, line in enumerate(lines):
        if _DEFINITION.match(line):
            found.add(number)


def _titled(lines: Sequence[str], found: set[int]) -> None:
    """From the last line up: a title is looked at with the entries under it, and each line is read once."""
    under: list[int] = []
    for number in range(len(lines) - 1, -1, -1):
        line = lines[number]
        title = _TITLE.match(line)
        if title and _heads(title, [lines[i] for i in reversed(under) if lines[i]]):
            found.update([number, *under])
        if title or _HEADING.match(line):
            under = []
        else:
            under.append(number)


def _heads(title: re.Match[str], under: list[str]) -> bool:
    """True when the title stands alone over entries, or is followed by nothing but markers in its own line."""
    entries = [line for line in under if not _RULE.match(line)]
    if rest := title["rest"]:
        # "Source: [1]" after a statement cites for it; "Sources: [1], [2]" lists once more what was cited
        cites = (title["unsure"] or "").lower() in ("source", "来源", "來源", "出典")
        alone = bool(title["colon"]) and not cites and bool(_ONLY_MARKERS.match(rest))
        return alone and all(_ENTRY.match(line) for line in entries)
    if not entries or (not _ENTRY.match(entries[0]) and not _SOURCE_LIKE.search(entries[0])):
        return False
    if title["sure"]:
        return all(_ENTRY.match(line) or _SOURCE_LIKE.search(line) for line in entries)
    return all(_SOURCE_LIKE.search(line) for line in entries)


def _closing(lines: Sequence[str], found: set[int]) -> None:
    """The addressed lines at the end, if there is an answer above them."""
    last = len(lines)
    while last and (not lines[last - 1] or last - 1 in found or _ADDRESSED.match(lines[last - 1])):
        last -= 1
    if any(lines[:last]):
        found.update(i for i in range(last, len(lines)) if _ADDRESSED.match(lines[i]))
