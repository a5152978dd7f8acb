"""Citation markers in running text: which stretches are markers, and what they name.

Nothing is resolved here: a marker names labels ("3"), `sources.py` says which context a label means.
"""
# ruff: noqa: RUF001 - the signs of many scripts are meant

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from judgekit.records import Context
from judgekit.segment.blocks import dead_stretches
from judgekit.segment.indexing import is_index
from judgekit.segment.powers import is_power

#: note: brackets, parentheses, tags. hit: `【4:0†source】`. quote: `[ 2 quoted words ]`. mention: "Passage 2" as words.
Form = Literal["note", "superscript", "link", "hit", "quote", "mention"]

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Marker:
    """`text[start:end]` names `labels`, in order and each once; `cuts` are the parts that are no words of the sentence.

    `target` is the address of a link or the file name of a hit; a link of words has no labels.
    """

    start: int
    end: int
    labels: tuple[str, ...]
    form: Form
    cuts: tuple[Span, ...] = ()
    target: str | None = None


#: Wider ranges are page numbers, years or scores rather than a list of sources.
MAX_RANGE = 20

AND = r"and|or|und|oder|et|ou|y|o|e|i|и|или|en|of|og|och|ve|và|dan|&|\+"
GLUED_AND = r"&|和|及|与|與|、|と|및"
_DASH = r"\s?[-‐‑‒–—−~]\s?"
_ITEM = rf"\d{{1,3}}(?:{_DASH}\d{{1,3}})?"
NOUN = (
    r"(?:passage|document|doc|source|context|reference|ref|citation|cite|chunk|excerpt|snippet|search result|result|web"
    r"|dokument|quelle|kontext|auszug|fuente|documento|contexto|pasaje|fonte|fragment|źródło|źródła|контекст|источник"
    r"|документ|фрагмент|文档|文獻|文献|来源|來源|资料|資料|出典)(?:s|e|es|n|en|i|y|и|ы)?"
)
_SEP = rf"(?:\s?[,;，；]\s{{0,3}}(?:(?:{AND})\s)?|\s(?:{AND})\s|\s?(?:{GLUED_AND})\s?)"
_LIST = rf"#?{_ITEM}(?:{_SEP}(?:{NOUN}[\s_]?)?#?{_ITEM})*"
_LEAD = (
    r"(?:(?:see(?: also)?|source|sources|from|according to|as (?:stated|described|noted|mentioned) in|in|per|cf\.?"
    r"|siehe|vgl\.|laut|quelle|voir|selon|ver|véase|según|fuente|zob\.|см\.)\s?:?\s)"
)
_SUP = "⁰¹²³⁴⁵⁶⁷⁸⁹"

_URL = r"(?:[^\s()<>\[\]]|\([^\s()<>\[\]]{0,200}\)){1,2000}"
_SCANNER = re.compile(
    "|".join(
        (
            rf'(?P<link>!?\[(?P<link_text>\[[^\[\]\n]{{1,100}}\]|[^\[\]\n]{{1,300}})\]\(<?(?P<url>{_URL})>?(?:\s"[^"\n]{{0,200}}")?\))',
            r"(?P<span>\[(?P<low>\d{1,3})\] ?[-‒–—] ?\[(?P<high>\d{1,3})\])",
            r"(?P<quote>\[ (?P<quote_label>\d{1,2}) (?=[^\[\]\s])(?P<quoted>[^\[\]]{1,2000}?) \])",
            r"(?P<bracket>[\[［](?P<inside>[^\[\]［］\n]{1,200})[\]］])",
            r"(?P<lens>【(?P<lens_inside>[^【】\n]{1,200})】)",
            r"(?P<private>\ue200cite(?P<private_labels>(?:\ue202[^\ue200-\ue202\s]{1,100}){1,20})\ue201)",
            rf"(?P<superscript>[{_SUP}]{{1,3}}(?:(?:[,⁻˒]|,\s)[{_SUP}]{{1,3}})*)",
            rf"(?P<raised><sup>\s?(?P<raised_list>{_LIST})\s?</sup>)",
            rf"(?P<parens>[(（]\s?{_LEAD}?(?P<parens_list>{NOUN}\s?[:.]?\s?{_LIST})\s?[)）])",
            rf"(?P<mention>(?<![\w-])(?P<mention_noun>{NOUN})(?P<mention_gap>\s?#?)(?P<mention_list>{_LIST})(?!\w))",
        )
    ),
    re.IGNORECASE,
)
_LISTED = re.compile(rf"(?:{NOUN}[\s_:\#.-]{{0,3}})?{_LIST}", re.IGNORECASE)
_NUMBERS = re.compile(rf"(\d{{1,3}})(?:{_DASH}(\d{{1,3}}))?")
_LOCATOR = re.compile(r"(?P<list>.+?),\s?(?:pp?\.|§|lines?\b|sec|ch|fig|table|S\.|Seite).{0,60}", re.IGNORECASE)
_FIELDS = re.compile(r"(?P<label>\w{1,20})\s?\|.+")
_NAMED = re.compile(rf"{NOUN}\s?[:=]?\s?(?P<id>\S.*)", re.IGNORECASE)
_HIT = re.compile(r"(?P<hit>\d{1,3}:\d{1,3})(?:†(?P<file>.*))?")
_OF_NUMBERS_ONLY = re.compile(r"interval|range|vector|array|list|∈|=", re.IGNORECASE)
#: Nouns that name a source also in the middle of a sentence, without brackets ("result 2" or "web 2" would not).
_SPOKEN = re.compile(
    r"(?:passage|document|doc|source|context|excerpt|snippet|chunk|dokument|quelle|kontext|fuente|documento|contexto|"
    r"pasaje|fonte|źródł|источник|документ|контекст|фрагмент|文档|文獻|文献|来源|來源|资料|資料|出典)",
    re.IGNORECASE,
)
_MEASURE = re.compile(
    r"(?:\s?[%‰°€$£]|[.:,]\d|\s?(?:km|m|cm|mm|mi|miles?|feet|ft|kg|g|hours?|days?|weeks?|months?|years?|times|pages?|"
    r"percent|million|billion|people|species)\b)",
    re.IGNORECASE,
)


def find_markers(text: str, contexts: Sequence[Context] = ()) -> tuple[Marker, ...]:
    """All citation markers of a text, in order, none overlapping another.

    Left out: code (fenced and inline), reference lists, links to pages that are no context, years and other
    four-digit numbers, index expressions, and brackets around words. The contexts decide one thing only: which
    names are ids, so that `[doc-a]` is a marker when a context is called "doc-a" and a bracketed word otherwise.
    """
    return scan(text, names=known_names(contexts), skip=dead_stretches(text))


def known_names(contexts: Sequence[Context]) -> frozenset[str]:
    """Everything that a marker may call a context by, beside its number: ids, document ids, addresses."""
    named = {c.id for c in contexts} | {c.doc_id for c in contexts if c.doc_id}
    return frozenset(named | {plain_address(c.url) for c in contexts if c.url})


def plain_address(url: str) -> str:
    """An address without its fragment and trailing slash."""
    return url.partition("#")[0].rstrip("/")


def scan(text: str, *, names: Collection[str], skip: Sequence[Span]) -> tuple[Marker, ...]:
    """`find_markers` for a caller that knows the names and has found the dead stretches (sorted) already."""
    return tuple(_scan(text, names, skip))


def _scan(text: str, names: Collection[str], skip: Sequence[Span]) -> Iterator[Marker]:
    position, index_end = 0, -1
    dead = iter((*skip, (len(text), len(text))))
    low, high = next(dead)
    while match := _SCANNER.search(text, position):
        while high <= match.start() and low < len(text):
            low, high = next(dead)
        if match.end() > low and match.start() < high:
            position = max(high, match.start() + 1)
            continue
        position = match.start() + 1
        if match.lastgroup and match["bracket"] and (match.start() == index_end or is_index(text, match.span())):
            index_end = match.end()
            continue
        marker = _read(match, names)
        if marker:
            yield marker
            position = marker.end
        elif match.group().startswith("!"):
            position = match.end()  # the text of a picture is no citation either


def _read(match: re.Match[str], names: Collection[str]) -> Marker | None:
    """The marker that a match of the scanner is, if it is one."""
    start, end = match.span()
    whole: tuple[Span, ...] = (match.span(),)
    if match["link"]:
        return None if match["link"].startswith("!") else _link(match, names)
    if match["quote"]:
        label = str(int(match["quote_label"]))
        return Marker(start, end, (label,), "quote", ((start, match.start("quoted")), (match.end("quoted"), end)))
    if match["lens"]:
        return _lens(match, names)
    if raised := match["superscript"] or match["raised_list"]:
        labels = () if is_power(match.string, match.span()) else _superscript(raised)
        return Marker(start, end, labels, "superscript", whole) if labels else None
    if match["mention"]:
        labels = _mention(match)
        return Marker(start, end, labels, "mention") if labels else None
    if match["span"]:
        labels = _numbers(f"{match['low']}-{match['high']}")
    elif match["bracket"]:
        labels = _inside(match["inside"], names)
        labels = () if len(labels) > 1 and _OF_NUMBERS_ONLY.search(_word_before(match)) else labels
    elif match["private"]:
        labels = _once(match["private_labels"].split("\ue202")[1:])
    else:
        labels = _numbers(match["parens_list"])
    return Marker(start, end, labels, "note", whole) if labels else None


def _word_before(match: re.Match[str]) -> str:
    return match.string[max(0, match.start() - 20) : match.start()].rstrip().rpartition(" ")[2]


def _once(labels: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(labels))


def _numbers(listed: str) -> tuple[str, ...]:
    """The numbers of a list like "1, 3-5 and 7"; none when a range runs backwards or is too wide."""
    found: list[str] = []
    for low, high in _NUMBERS.findall(listed):
        first, last = int(low), int(high or low)
        if not first <= last < first + MAX_RANGE:
            return ()
        found.extend(map(str, range(first, last + 1)))
    return _once(found)


def _inside(content: str, names: Collection[str]) -> tuple[str, ...]:
    """The labels in a bracket; none when it is no marker."""
    content = content.strip()
    if content in names:
        return (content,)
    content = content.strip("^")
    if located := _LOCATOR.fullmatch(content):
        content = located["list"]
    if _LISTED.fullmatch(content):
        return _numbers(content)
    if (fields := _FIELDS.fullmatch(content)) and (fields["label"].isdecimal() or fields["label"] in names):
        return (fields["label"],)
    if (named := _NAMED.fullmatch(content)) and named["id"] in names:
        return (named["id"],)
    parts = [part.strip() for part in re.split("[,;]", content)]
    # one known id vouches for its neighbours, so that an invented id beside it dangles instead of passing unseen
    if any(part in names for part in parts) and not any(re.search(r"\s", part) or not part for part in parts):
        return _once(parts)
    return ()


def _lens(match: re.Match[str], names: Collection[str]) -> Marker | None:
    """`【1†source】` is number 1; `【4:0†file.pdf】` is the hit 0 that message 4 brought, named with its file."""
    content = match["lens_inside"].strip()
    if hit := _HIT.fullmatch(content):
        return Marker(*match.span(), (hit["hit"],), "hit", (match.span(),), hit["file"])
    labels = _inside(content.partition("†")[0], names)
    return Marker(*match.span(), labels, "note", (match.span(),)) if labels else None


def _superscript(signs: str) -> tuple[str, ...]:
    plain = signs.translate(str.maketrans(_SUP + "⁻˒", "0123456789-,"))
    return _numbers(plain)


def _mention(match: re.Match[str]) -> tuple[str, ...]:
    """The numbers in "passages 1 and 3", unless the noun is a verb ("it documents 12 cases") or a measure follows."""
    noun, listed = match["mention_noun"], match["mention_list"]
    text, end = match.string, match.end()
    if not _SPOKEN.match(noun) or _MEASURE.match(text, end):
        return ()
    if not match["mention_gap"] and noun.isascii() and noun.lower() != "doc":
        return ()
    plural = noun.islower() and noun.isascii() and noun.endswith("s")
    numbers = _numbers(listed)
    return () if plural and len(numbers) < 2 else numbers  # noqa: PLR2004 - one source is no plural


_NUMBER_LABEL = re.compile(rf"\W*(?:{NOUN})?[\s_:#.]{{0,3}}(?:{_LIST})?\W*|(?:https?://|www\.)\S+|link", re.IGNORECASE)


def _link(match: re.Match[str], names: Collection[str]) -> Marker | None:
    """A link to a context, or a link whose text is a number; other links are not citations."""
    start, end = match.span()
    words = match["link_text"].strip()
    inner = words.strip("[]")
    labels = _inside(inner, names)
    address, raw = plain_address(match["url"]), match["url"]
    target = raw if raw in names or address in names else None
    if not target and not labels:
        return None
    if labels or inner in names or _NUMBER_LABEL.fullmatch(inner):
        cuts: tuple[Span, ...] = ((start, end),)
    else:
        cuts = ((start, match.start("link_text")), (match.end("link_text"), end))
    return Marker(start, end, labels, "link", cuts, target)
