"""Whether two texts say the same to the letter, so that nobody needs to be asked."""
# ruff: noqa: RUF001 - the curly quotes and full-width signs are meant

from __future__ import annotations

import unicodedata

# Only what carries no meaning at the edge of a word: `-5`, `.5`, `5%` and `C#` stay what they are.
_OPENING = "\"'([{«„“”‘’¿¡「『（"
_CLOSING = ".,;:!?…\"')]}»“”‘’。、，；：！？」』）"

# NFKC would turn 10² into 102 and 1½ into 11/2.
_KEPT = ("<super>", "<sub>", "<fraction>")


def same_text(first: str, second: str) -> bool:
    """True when two texts differ at most in case, white space, width of letters and punctuation around words."""
    plain = _plain(first)
    return bool(plain) and plain == _plain(second)


def _plain(text: str) -> list[str]:
    composed = unicodedata.normalize("NFC", text)
    folded = "".join(_compatible(character) for character in composed).casefold()
    words = (word.lstrip(_OPENING).rstrip(_CLOSING) for word in folded.split())
    return [word for word in words if word]


def _compatible(character: str) -> str:
    kept = unicodedata.decomposition(character).startswith(_KEPT)
    return character if kept else unicodedata.normalize("NFKC", character)
