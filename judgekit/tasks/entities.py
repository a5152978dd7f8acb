"""Which names does a text hold? An extraction that is not trusted: what does not occur in the text is dropped."""

from __future__ import annotations

from collections.abc import Mapping

from judgekit.prompts import Prompts
from judgekit.segment.entities import key_of, occurs
from judgekit.wire import Answer, JudgeRequest, Texts

NAME = "entities"
TEMPLATES = ("entities",)
_ID = "names"


def request(prompts: Prompts, text: str) -> JudgeRequest:
    return JudgeRequest(
        task=NAME,
        role=prompts.render(NAME, "role"),
        input=prompts.render(NAME, "input", text=text),
        questions=(Texts(id=_ID, ask=prompts.render(NAME, "ask")),),
    )


def read(answers: Mapping[str, Answer], text: str) -> tuple[str, ...] | None:
    """The entities, each once, in the order given. None when the judge could not be asked, or named only what the text
    does not hold: that is no empty text, but a judge that did not read it."""
    answer = answers.get(_ID)
    if answer is None or answer.texts is None:
        return None
    named = [" ".join(name.split()) for name in answer.texts if key_of(name)]
    traced: dict[tuple[str, ...], str] = {}
    for name in named:
        if occurs(name, text):
            traced.setdefault(key_of(name), name)
    return tuple(traced.values()) if traced or not named else None
