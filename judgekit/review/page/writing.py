"""Units of review as one HTML file that loads nothing, and in which no text of the log can become code.

The texts travel as JSON in a data block whose `<`, `>` and `&` are escaped; the page's own script puts them into the
document as text nodes only. Behind that stands a policy that lets run nothing but the script and style of this file,
which it names by their hashes, and that forbids the script to turn a string into markup.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from judgekit.errors import InputError
from judgekit.review.records import JudgeSaid, Passage, ReviewUnit
from judgekit.segment.quotes import find_quote
from judgekit.segment.words import content_words, where_said

_FOLDER = Path(__file__).parent
#: A word in more passages of the page than this, and in more than a third of them, tells nothing of any.
_COMMON_FROM = 3

Span = tuple[int, int]


def write(units: Sequence[ReviewUnit], path: Path) -> None:
    """Write the page that shows these units, in their order.

    The page is assisted when a unit tells what the judge said, else blind. Same units, same bytes. InputError: no unit,
    units of several exports, or a file of that name, which may hold nothing but may be under review.
    """
    if len(exports := {unit.export_id for unit in units}) != 1:
        raise InputError(f"{path}: a review page holds the units of one export, and these are of {len(exports)}")
    page = page_of(units)
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(page)
    except FileExistsError:
        raise InputError(f"{path}: exists already and may be under review; give another name") from None


def page_of(units: Sequence[ReviewUnit]) -> str:
    """The page as text; it is ASCII but for what its own template says."""
    data = _data(units)
    script, style = _script(), _own("page.css")
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_hash(script)}'",
            f"style-src '{_hash(style)}'",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )
    environment = Environment(loader=FileSystemLoader(_FOLDER), autoescape=True, undefined=StrictUndefined)
    return environment.get_template("html.j2").render(
        export_id=data["export"],
        policy=policy,
        style=Markup(style),  # noqa: S704 - the package's own files
        script=Markup(script),  # noqa: S704
        data=data,
    )


def _own(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def _script() -> str:
    parts = (_own(f"script/{path.name}") for path in sorted((_FOLDER / "script").glob("*.js")))
    return '"use strict";\n{\n' + "\n".join(parts) + "}\n"


def _hash(text: str) -> str:
    """As a content security policy names an inline script or style."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


# --- what the script reads ---------------------------------------------------------------------


class _Texts:
    """Every text once, however many units share it: a place in `all` for each."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def place(self, text: str) -> int:
        return self._places.setdefault(text, len(self._places))

    @property
    def all(self) -> list[str]:
        return list(self._places)


def _data(units: Sequence[ReviewUnit]) -> dict[str, Any]:
    texts = _Texts()
    common = common_words({passage.text for unit in units for passage in unit.passages})
    return {
        "export": units[0].export_id,
        "blind": all(unit.judge is None for unit in units),
        "units": [_unit(unit, texts, common) for unit in units],
        "texts": texts.all,
    }


def _unit(unit: ReviewUnit, texts: _Texts, common: frozenset[str]) -> dict[str, Any]:
    words = content_words(unit.claim or "") - common
    return {
        "id": unit.unit_id,
        "kind": unit.kind,
        "question": texts.place(unit.question),
        "text": texts.place(unit.text),
        "side": unit.side,
        "claim": unit.claim,
        "span": _flat([unit.span] if unit.span else [], unit.text),
        "markers": list(unit.markers),
        "claims": list(unit.claims),
        "passages": [_passage(passage, texts, words, unit.judge) for passage in unit.passages],
        "judge": _said(unit.judge, unit.passages) if unit.judge else None,
    }


def _passage(passage: Passage, texts: _Texts, words: AbstractSet[str], judge: JudgeSaid | None) -> dict[str, Any]:
    quotes = [quote for context_id, quote in judge.quotes if context_id == passage.context_id] if judge else []
    found = [at for quote in quotes if (at := find_quote(quote, passage.text))]
    return {
        "id": passage.context_id,
        "text": texts.place(passage.text),
        "title": passage.title,
        "doc": passage.doc_id,
        "version": passage.version,
        "rank": passage.rank,
        "cited": passage.is_cited,
        "words": _flat(where_said(words, passage.text), passage.text),
        "quotes": _flat([(at.start, at.end) for at in found], passage.text),
    }


def _said(judge: JudgeSaid, passages: Sequence[Passage]) -> dict[str, Any]:
    """The judge's label and reason, and each quote: where it says it is from, its text, and whether it stands there."""
    texts = {passage.context_id: passage.text for passage in passages}
    quotes = [[source, text, find_quote(text, texts.get(source, "")) is not None] for source, text in judge.quotes]
    return {"label": judge.label, "reason": judge.reason, "quotes": quotes}


def common_words(texts: Iterable[str]) -> frozenset[str]:
    """Content words that more than a third of the texts use, in any language: to mark them would be noise."""
    counts: Counter[str] = Counter()
    of = 0
    for text in texts:
        counts.update(content_words(text))
        of += 1
    return frozenset(word for word, count in counts.items() if count > max(_COMMON_FROM, of / 3))


def _flat(spans: Sequence[Span], text: str) -> list[int]:
    """[start, end, start, end, ...] as JavaScript counts: a sign beyond U+FFFF is two."""
    places = [place for span in spans for place in span]
    if max(text, default="") <= "\uffff":
        return places
    units = dict(_utf16_places(text, sorted(set(places))))
    return [units[place] for place in places]


def _utf16_places(text: str, places: Iterable[int]) -> Iterator[tuple[int, int]]:
    last = units = 0
    for place in places:
        units += sum(1 + (sign > "\uffff") for sign in text[last:place])
        last = place
        yield place, units
