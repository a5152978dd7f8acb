"""Recognising a plain refusal by its words, for the one place where no judge is asked."""
# ruff: noqa: RUF001 - the full-width signs of Chinese and Japanese are meant

from __future__ import annotations

import re
import unicodedata

_MAX_WORDS = 40
_MAX_CHARACTERS = 300  # some languages put no spaces between words

_CANNOT = r"(?:can not|cannot|can't|could not|couldn't)"
_TEXTS = r"(?:contexts?|documents?|documentation|sources?|information|texts?|passages?)"
_FACTS = r"(?:information|answers?|details|mention|knowledge|anything)"
_REPLY = (
    rf"(?:answer|help|assist|say|tell|determine|respond|confirm|find (?:\w+ ){{0,2}}{_FACTS}|provide (?:\w+ )?{_FACTS})"
)

# All phrases are written as `_folded` leaves a text: casefolded, so that ß is ss.
_COURTESIES = (
    # English
    r"(?:(?:i'm|i am|we're|we are) )?(?:very |so |truly )?(?:sorry|afraid)(?: about that)?",
    r"(?:my |our )?apologies|i apologi[sz]e|unfortunately|regrettably|as an ai(?: language)?(?: model)?",
    rf"(?:based on|according to|from|given|in) (?:the|these|this) (?:\w+ ){{0,2}}{_TEXTS}(?: provided| given)?",
    r"please (?:contact|ask|check|try|provide|consult|rephrase)\b.*|thank you|thanks",
    # German, French, Spanish, Italian, Portuguese, Polish, Dutch, Chinese and Japanese
    r"(?:es )?tut mir (?:sehr )?leid|leider|entschuldigung",
    r"(?:je suis |nous sommes )?(?:vraiment )?désolée?s?|malheureusement|pardon",
    r"lo siento(?: mucho)?|lamentablemente|desafortunadamente|disculpe",
    r"mi dispiace|spiacente|purtroppo",
    r"(?:sinto|lamento) muito|desculpe|infelizmente",
    r"przykro mi|przepraszam|niestety",
    r"(?:het )?spijt me|sorry|helaas",
    r"很?抱歉|对不起|對不起|不好意思|申し訳(?:ありません|ございません)|すみません|残念ながら",
)
_REFUSALS = (
    # English
    r"(?:i|we) (?:really |simply |just )?(?:do not|don't) know\b",
    rf"(?:i|we) (?:(?:do not|don't) have (?:\w+ ){{0,2}}|have no (?:\w+ )?)(?:{_FACTS}|idea)\b",
    r"(?:i|we) (?:do not|don't) have (?:enough|sufficient) (?:context|data)\b",
    rf"(?:i|we) (?:did not|didn't) find (?:\w+ ){{0,2}}{_FACTS}\b",
    rf"(?:i|we) {_CANNOT} (?:\w+ )?{_REPLY}\b|(?:that|this|it) {_CANNOT} be answered\b",
    rf"(?:(?:i|we)(?:'m|'re| am| are| was| were) )?(?:unable|not able) to {_REPLY}\b",
    rf"(?:it is|it's) not possible to {_REPLY}\b",
    r"(?:there is |there's )?(?:no|not enough|insufficient) (?:\w+ )?information\b",
    (
        rf"(?:the|these|this) (?:\w+ ){{0,2}}{_TEXTS}(?: provided| given)? (?:do|does|did)(?: not|n't) (?:\w+ ){{0,2}}"
        r"(?:contain|mention|provide|include|say|specify|answer|state|cover)\b"
    ),
    # German
    r"(?:das )?weiss ich (?:leider )?nicht|ich weiss (?:es |das )?(?:leider )?nicht",
    r"(?:ich kann|(?:das |dazu )?kann ich|wir können)\b.*\b(?:nicht|keine)\b.*(?:beantworten|sagen|helfen|antworten)\b",
    (
        r"(?:ich habe|(?:dazu )?habe ich|(?:dazu )?gibt es|es gibt) (?:leider |dazu |darüber )*keine (?:\w+ )?"
        r"(?:information|angabe|auskunft|antwort)"
    ),
    # French
    r"je (?:ne |n')sais pas|je l'ignore|je (?:ne )?suis pas en mesure d",
    r"je (?:ne )?(?:peux|puis) pas (?:\w+ )?(?:répondre|aider|dire)\b",
    r"je n'ai (?:pas|aucune) (?:d'|de |l'|la )?(?:information|réponse)|il n'y a (?:pas d'|aucune )information",
    # Spanish
    r"no (?:lo )?sé\b|no puedo (?:responder|contestar|ayudar|decir)",
    r"no (?:tengo|hay|dispongo de|encuentro|encontré) (?:\w+ )?(?:información|respuesta)\b",
    # Italian
    r"non (?:lo )?so\b|non (?:posso|riesco a|sono in grado di) (?:rispondere|aiutar|dir)",
    r"non (?:ho|ci sono|dispongo di|trovo) (?:\w+ )?(?:informazioni|risposta|risposte)\b",
    # Portuguese
    r"(?:eu )?não sei\b|(?:eu )?não (?:posso|consigo) (?:responder|ajudar|dizer)\b",
    r"não (?:tenho|há|encontrei|disponho de) (?:\w+ )?(?:informações|informação|resposta)\b",
    # Polish
    r"nie wiem\b|nie (?:mogę|potrafię|jestem w stanie) (?:\w+ )?(?:odpowiedzieć|pomóc|powiedzieć)\b",
    r"nie (?:mam|ma|posiadam|znalazłem|znalazłam) (?:\w+ )?(?:informacji|odpowiedzi)\b|brak (?:\w+ )?informacji\b",
    # Dutch
    r"ik weet (?:het|dat) (?:helaas )?niet\b|(?:dat|dit) weet ik (?:helaas )?niet\b",
    r"(?:ik kan|(?:daar |dat )?kan ik)\b.*\b(?:niet|geen)\b.*(?:beantwoorden|helpen|zeggen|antwoorden)\b",
    r"(?:ik heb|(?:daar )?heb ik|er is) (?:hierover |daarover )?geen (?:\w+ )?(?:informatie|antwoord)\b",
    # Chinese
    r"(?:我|我们)?(?:并)?不(?:知道|清楚|了解)|(?:我|我们)?(?:无法|無法|不能)(?:回答|帮助|确定|確定|得知)",
    r"(?:没有|沒有|未找到|找不到)(?:足够的|足夠的|相关|相關|任何)?(?:的)?(?:信息|資訊|资料|資料|答案)",
    # Japanese, where the verb comes last
    r".{0,20}(?:わかりません|分かりません|お答え(?:できません|できかねます)|答えられません)",
    r".{0,20}情報が(?:ありません|見つかりません)",
)
_TURNS = re.compile(
    r"\b(?:but|however|though|although|yet|aber|jedoch|mais|cependant|pero|però|tuttavia|mas|porém|ale|jednak|maar|echter)\b"
    r"|但|不过|不過|然而|しかし|けれど"
)
_SENTENCE_END = re.compile(r"[.!?;。！？；\n]+")

_JOINT = r"(?:\s*[,:，、]?\s*(?:(?:but|that|aber|mais|pero|ma|mas|ale|maar)\b|但是?|が)?\s*)"
_COURTESY = re.compile(rf"(?:(?:{'|'.join(_COURTESIES)}){_JOINT})+")
_REFUSAL = re.compile(rf"(?:{_COURTESY.pattern})?(?:{'|'.join(_REFUSALS)})(?P<rest>.*)")


def reads_as_refusal(answer: str) -> bool:
    """True when the whole answer is a short, plain refusal: every sentence declines or is mere courtesy.

    Purely lexical and cautious: at most 40 words; each sentence must begin with a known phrase (English, German,
    French, Spanish, Italian, Portuguese, Polish, Dutch, Chinese, Japanese); one that goes on with a "but" does not
    count. Used only where nothing is asked; otherwise a judge decides.
    """
    text = _folded(answer)
    if len(text.split()) > _MAX_WORDS or len(text) > _MAX_CHARACTERS:
        return False
    sentences = (part.strip(" \t\"'-") for part in _SENTENCE_END.split(text))
    kinds = {_kind(sentence) for sentence in sentences if sentence}
    return "refusal" in kinds and "other" not in kinds


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold().replace("\u2019", "'")


def _kind(sentence: str) -> str:
    declined = _REFUSAL.match(sentence)
    if declined and not _TURNS.search(declined["rest"]):
        return "refusal"
    return "courtesy" if _COURTESY.fullmatch(sentence) else "other"
