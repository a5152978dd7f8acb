"""Which language a text is in, as far as the rules for its full stops go."""

from __future__ import annotations

import re
from collections import Counter

# Scripts whose sentence rules differ, by one range each; han without kana is Chinese.
_SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("zh", re.compile("[\u4e00-\u9fff]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
    ("hi", re.compile("[\u0900-\u097f]")),
    ("bn", re.compile("[\u0980-\u09ff]")),
    ("el", re.compile("[\u0370-\u03ff]")),
    ("hy", re.compile("[\u0530-\u058f]")),
    ("ta", re.compile("[\u0b80-\u0bff]")),
)
_LITTLE_WORDS = {
    "en": "the of and is was in to are that with for by on as from",
    "de": "der die das und ist ein eine nicht mit den von zu wurde im auf für",
    "fr": "le les des est et une dans du que pour qui sur par au il",
    "es": "el los las es y una del que en por con para se su fue",
    "pt": "o os é e uma do da que em por com para não foi na",
    "it": "il gli è e una di della che per con non sono nel è stato",
    "nl": "de het een en van is niet op met voor zijn dat werd te",
    "pl": "i w jest na z się nie do to że od roku przez został oraz",
    "da": "og det er en et af til på med som den ikke har",
    "fi": "ja on ei se että oli hän kuin mutta myös joka",
    "sk": "a je v na sa že to ako bol pre",
    "ca": "els les i és una del que amb per va",
}
_CODES_OF = {
    word: [code for code, words in _LITTLE_WORDS.items() if word in words.split()]
    for word in " ".join(_LITTLE_WORDS.values()).split()
}
_WORD = re.compile(r"[^\W\d_]+")
_SAMPLE = 4000
_ENOUGH, _KANA = 0.2, 0.05


def language(text: str) -> str:
    """A code of `sentencex`, from the script and, for Latin letters, from little words; "en" when nothing tells."""
    sample = text[:_SAMPLE]
    letters = sum(map(str.isalpha, sample)) or 1
    for code, script in () if sample.isascii() else _SCRIPTS:
        # kana are never many in a Japanese text, and never in a Chinese one
        if len(script.findall(sample)) > (_KANA if code == "ja" else _ENOUGH) * letters:
            return code
    hits = Counter(code for word in _WORD.findall(sample.lower()) for code in _CODES_OF.get(word, ()))
    return max(_LITTLE_WORDS, key=lambda code: hits[code])  # of equals the first
