"""Brackets that belong to code standing in prose: `arr[0]`, `x[1]`, `get()[2]`."""
# ruff: noqa: RUF001 - the signs of many scripts are meant

from __future__ import annotations

import re
import string

# A lower-case word before a bracket proves nothing: chat engines write "hydrogen[1]" with no space. So a word must
# look like a name that only a program would use, or the bracket must be used as code uses it.
_ALWAYS_CODE = re.compile("arr|args|argv|kwargs|buf|idx|lst|nums|ptr|tmp|vec|df|dict|str|tuple|ary|matrix")
_CODE_OR_PROSE = re.compile("list|array|data|items|values|rows|cols|string|results|input|elements")
_OF_NAMES = f"{string.ascii_letters}{string.digits}_.$"
_CAMEL = re.compile(r"[a-z]{2,}[A-Z][a-z]")
_USED_AS_CODE = re.compile(r"\s?(?:=(?!>)|[-+*/]=|\+\+|--|==)|\((?!\s|https?:)[\w,'\" ]*\)|\.[a-z_]+\(|[+*{]")
_USED_AS_PROSE = re.compile(r"[.,;:!?)\]。，]?(?:\s|$)|\[\d")
_ARTICLE = re.compile(
    r"\b(?:the|a|an|this|that|these|of|his|her|its|their|der|die|das|la|le|les|el)\s+$", re.IGNORECASE
)
_REACH = 300  # as long as an address may be


def is_index(text: str, bracket: tuple[int, int]) -> bool:
    """True when the bracket at `text[start:end]` is glued to a name as an index, not to a word as a citation."""
    start, end = bracket
    before = text[max(0, start - _REACH) : start]
    token = before.split()[-1] if before and not before[-1].isspace() else ""
    called = token.endswith("()")
    stem = token.removesuffix("()")
    name = stem[len(stem.rstrip(_OF_NAMES)) :]
    in_address = "/" in token[: len(stem) - len(name)]
    if not name or name.endswith(".") or in_address:
        return False
    last = name.rpartition(".")[2]
    if "_" in name.strip("_") or "$" in name or called or _CAMEL.search(last) or _ALWAYS_CODE.fullmatch(last):
        return True
    if len(last) == 1 and last.isalpha() and last.islower():
        return True
    if last[-1:].isalpha() and _USED_AS_CODE.match(text, end):
        return True
    if _CODE_OR_PROSE.fullmatch(last):
        reads_on = _USED_AS_PROSE.match(text, end) and _ARTICLE.search(before[: len(before) - len(token)])
        return not reads_on
    return False
