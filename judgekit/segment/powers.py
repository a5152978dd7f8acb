"""Superscripts that are powers, units, charges or isotopes, and no citations: x², km³, 10⁵, Ca²⁺, ¹⁴C."""
# ruff: noqa: RUF001 - the signs of many scripts are meant

from __future__ import annotations

import re

_SIGNS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_MEASURED = re.compile(
    "inch(?:es)?|foot|feet|yards?|(?:kilo|centi|milli)?met(?:er|re)s?|m[eè]tros?|mètres?|miles?|acres?|seconds?|sec|min|"
    "hours?|sin|cos|tan|log|exp|det|dim",
    re.IGNORECASE,
)
_WORD_BEFORE = re.compile(r"[^\W\d_]*$")
_FORMULA = re.compile(r"\([^()]*[-+*/=^<>][^()]*\)$|\(\w{1,2}\)$")
_REACH = 40
_SHORTEST_WORD = 3
_FIRST_CJK = "\u2e80"


def is_power(text: str, sign: tuple[int, int]) -> bool:
    """True when the superscript at `text[start:end]` belongs to what it stands on and names no source."""
    start, end = sign
    before, after = text[max(0, start - _REACH) : start], text[end : end + 1]
    last = before[-1:]
    if not last or last.isspace():
        return after.isalnum()  # an isotope, or the upper half of a fraction
    if last.isdigit() or last in "⁺⁻ⁿ^√+-*/=" or (after and after in "⁺⁻ⁿ⁄"):
        return True
    if last == ")":
        return bool(_FORMULA.search(before))
    word = _WORD_BEFORE.findall(before)[0]
    # one letter is a variable in Latin and Greek, but a word in Chinese
    is_symbol = len(word) == 1 and word < _FIRST_CJK
    is_short = (
        text[start:end] in ("²", "³", "<sup>2</sup>", "<sup>3</sup>")
        and word.isascii()
        and 0 < len(word) < _SHORTEST_WORD
    )
    return is_symbol or is_short or bool(_MEASURED.fullmatch(word))
