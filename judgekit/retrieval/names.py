"""Names of measures: what is printed can be typed. `ndcg@10` is short for `ndcg@10[linear,judged]`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields
from difflib import get_close_matches
from types import MappingProxyType
from typing import get_type_hints

from judgekit.errors import InputError
from judgekit.retrieval.gains import Ndcg
from judgekit.retrieval.measure import CutMeasure, Measure
from judgekit.retrieval.ranks import AveragePrecision, Bpref, ContextPrecision, Err, Rbp, ReciprocalRank, RPrecision
from judgekit.retrieval.sets import F1, Hit, IdContextPrecision, IdContextRecall, Judged, Precision, Recall

_IN_READING_ORDER: tuple[type[Measure], ...] = (
    Precision,
    Recall,
    F1,
    Hit,
    ReciprocalRank,
    AveragePrecision,
    ContextPrecision,
    Ndcg,
    RPrecision,
    Bpref,
    Rbp,
    Err,
    Judged,
    IdContextPrecision,
    IdContextRecall,
)

#: Key -> class of every measure, in the order in which a table reads best.
MEASURES: Mapping[str, type[Measure]] = MappingProxyType({kind.key: kind for kind in _IN_READING_ORDER})

# Words in brackets, each with the option it sets.
_FLAGS: Mapping[str, tuple[str, object]] = {
    "linear": ("gain", "linear"),
    "exp2": ("gain", "exp2"),
    "judged": ("ideal", "judged"),
    "retrieved": ("ideal", "retrieved"),
    "capped": ("capped", True),
}
_OF_MEANS = {"mrr": "rr", "map": "ap", "hit_rate": "hit"}
_ELSEWHERE = {"p": "precision", "r": "recall", "success": "hit", "recip_rank": "rr", "rprec": "r_precision"}
_NAME = re.compile(r"(?P<key>[^@\[\]]*)(?:@(?P<k>[^\[\]]*))?(?:\[(?P<options>[^\[\]]*)\])?")


def measures_of(chosen: str | Measure | Iterable[str | Measure]) -> tuple[Measure, ...]:
    """The measures of names or objects, in the order given; the same one twice counts once.

    The name of a mean stands for its measure: `mrr@10` is `rr@10`, `map` is `ap`. Without `@k` it is the whole ranking.
    InputError: an unknown name (with the nearest one and the list), a cut-off below 1, an option the measure lacks, or
    nothing at all.
    """
    listed = (chosen,) if isinstance(chosen, str | Measure) else chosen
    found = {str(measure): measure for measure in map(_measure_of, listed)}
    if not found:
        raise InputError(f"no measure chosen; choose from: {', '.join(MEASURES)}")
    return tuple(found.values())


def split_names(text: str) -> list[str]:
    """Names out of a list with commas; a comma in brackets belongs to its name."""
    return [name.strip() for name in re.split(r",(?![^\[]*\])", text) if name.strip()]


def with_cut(name: str, k: int) -> str:
    """The name with a cut-off, unless it has one or takes none; unknown names stay as they are."""
    key, bracket, options = name.partition("[")
    kind = MEASURES.get(_OF_MEANS.get(key, key))
    takes_cut = kind is not None and issubclass(kind, CutMeasure)
    return f"{key}@{k}{bracket}{options}" if takes_cut else name


def _measure_of(one: object) -> Measure:
    if isinstance(one, Measure):
        return one
    if not isinstance(one, str):
        raise InputError(f"not a measure: {one!r}; give a name such as 'precision@5'")
    parts = _NAME.fullmatch(one.strip())
    key = parts["key"] if parts else ""
    kind = MEASURES.get(_OF_MEANS.get(key, key))
    if parts is None or kind is None:
        raise InputError(f"unknown measure {one!r}; {_nearest(one)}there are: {', '.join(MEASURES)}")
    options = _options(one, kind, parts["options"])
    if parts["k"] is not None:
        options["k"] = _cut(one, kind, parts["k"])
    return kind(**options)


def _nearest(name: str) -> str:
    key, *rest = re.split(r"(?=[@\[])", name.strip().casefold().replace("-", "_").replace(" ", "_"), maxsplit=1)
    known = [*MEASURES, *_OF_MEANS]
    near = _ELSEWHERE.get(key) or next(iter(get_close_matches(key, known, n=1)), None)
    return f"did you mean {near + ''.join(rest)!r}? " if near else ""


def _cut(name: str, kind: type[Measure], text: str) -> int:
    if not issubclass(kind, CutMeasure):
        raise InputError(f"{name!r}: {kind.key} looks at the whole ranking; write {kind.key!r}")
    if not re.fullmatch(r"[1-9][0-9]{0,8}", text):
        raise InputError(f"{name!r}: {text!r} is no cut-off; write a whole number from 1 on, such as {kind.key}@5")
    return int(text)


def _options(name: str, kind: type[Measure], text: str | None) -> dict[str, object]:
    """Options of the words in brackets; each option once, and only those the measure has."""
    own = [field.name for field in fields(kind) if field.name != "k"]
    options: dict[str, object] = {}
    for word in [] if text is None else [word.strip() for word in text.split(",")]:
        option, value = _FLAGS.get(word) or _number(word)
        if option not in own:
            raise InputError(f"{name!r}: {word!r} is no option of {kind.key}; it has: {_words(kind, own)}")
        if option in options:
            raise InputError(f"{name!r}: two words for its {option}; keep one")
        options[option] = value
    return options


def _number(word: str) -> tuple[str, object]:
    option, _, text = word.partition("=")
    try:
        return option, float(text)
    except ValueError:
        return "", None


def _words(kind: type[Measure], own: list[str]) -> str:
    hints = get_type_hints(kind)
    numbers = [f"{option}=NUMBER" for option in own if hints[option] is float]
    return ", ".join([word for word, (option, _) in _FLAGS.items() if option in own] + numbers) or "none"
