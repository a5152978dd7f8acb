"""Everything that endpoints are known to do wrong, as changes to a good reply; and a server that does it now and then.

`passes`: asking again is all that is needed, so nothing may be lost. `spoils`: the reply of one call is no good, so its
questions are asked a second time. `harmless`: the reply is odd and still says it all.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from email.utils import formatdate
from typing import Any, Final, Literal, TypeAlias

import misbehaving as bad
from misbehaving import Handler, Reply, Request
from scripts import Truth, as_text, request_of

Kind = Literal["passes", "spoils", "harmless"]
#: From the good text of a reply, and whether it answers with labels, to the reply that goes out.
Change: TypeAlias = Callable[[str], Reply]

#: What the labels of a good reply are turned into, where a fault lies about them.
_OPPOSITE: Final = {
    "supported": "unsupported",
    "unsupported": "supported",
    "yes": "no",
    "no": "yes",
    "answers": "helps",
}


def _chat(text: str | None, **fields: Any) -> Reply:
    return bad.chat(text, model="m-2026-01-01", **fields)


def _lie(text: str) -> str:
    """The reply with every label turned into another valid one: to be seen by a reader, and never believed."""
    return re.sub("|".join(f'"{word}"' for word in _OPPOSITE), lambda found: f'"{_OPPOSITE[found[0][1:-1]]}"', text)


def _labels(text: str, change: Callable[[Any], Any]) -> str:
    """The reply with every label changed; texts of extractions stay."""
    value: dict[str, Any] = json.loads(text)
    return json.dumps({name: _relabelled(said, change) for name, said in value.items()}, ensure_ascii=False)


def _relabelled(said: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(said, dict):
        return {**said, "label": change(said["label"])}
    return said if isinstance(said, list) else change(said)


def _without_last(text: str) -> str:
    value: dict[str, Any] = json.loads(text)
    return json.dumps(dict(list(value.items())[:-1]))


def _renamed(text: str) -> str:
    value: dict[str, Any] = json.loads(text)
    return json.dumps({f"zz{name}": said for name, said in value.items()})


FAULTS: Final[Mapping[str, tuple[Kind, Change]]] = {
    "429 in seconds": ("passes", lambda _: bad.error(429, "slow down", headers={"retry-after": "0"})),
    "429 with a date": (
        "passes",
        lambda _: bad.error(429, "slow down", headers={"retry-after": formatdate(0, usegmt=True)}),
    ),
    "500": ("passes", lambda _: bad.error(500)),
    "502 as a page": ("passes", lambda _: bad.html(502)),
    "503": ("passes", lambda _: bad.error(503, "overloaded")),
    "a page with status 200": ("passes", lambda _: bad.html(200)),
    "reset": ("passes", lambda text: bad.reset(_chat(text), after=30)),
    "broken off": ("passes", lambda text: bad.broken_off(_chat(text), after=30)),
    "stalled in the body": ("passes", lambda text: bad.stalled(_chat(text), after=30)),
    "a trickle": ("passes", lambda text: bad.dripping(_chat(text), 0.05, piece=4)),
    "half of the body": ("passes", lambda text: bad.truncated(_chat(text), after=40)),
    "no choices": (
        "passes",
        lambda _: bad.answer({"object": "chat.completion", "model": "m-2026-01-01", "choices": []}),
    ),
    "cut off by length": ("spoils", lambda text: _chat(text[: len(text) // 2], finish="length")),
    "prose instead": ("spoils", lambda _: _chat("I believe that most of it is supported by what I was shown.")),
    "null content": ("spoils", lambda _: _chat(None)),
    "a refusal": ("spoils", lambda _: _chat(None, refusal="I cannot help with that.")),
    "a filter": ("spoils", lambda _: _chat("", finish="content_filter")),
    "one too few": ("spoils", lambda text: _chat(_without_last(text))),
    "unknown ids": ("spoils", lambda text: _chat(_renamed(text))),
    "one too many": ("harmless", lambda text: _chat(json.dumps({**json.loads(text), "a99": "supported"}))),
    "unknown labels": ("spoils", lambda text: _chat(_labels(text, lambda _: "probably"))),
    "a bare true": (
        "spoils",
        lambda text: _chat(_labels(text, lambda label: label if label in ("yes", "no") else True)),
    ),
    "capitals and a stop": ("harmless", lambda text: _chat(_labels(text, lambda label: f" {label.capitalize()}."))),
    "a fence": ("harmless", lambda text: _chat(f"```json\n{text}\n```")),
    "prose around": ("harmless", lambda text: _chat(f"Let me see.\n{text}\nI hope that this helps {{you}}.")),
    "thinking with verdicts in it": ("harmless", lambda text: _chat(f"<think>{_lie(text)}</think>{text}")),
    "thinking without its beginning": ("harmless", lambda text: _chat(f"{_lie(text)}</think>{text}")),
    "two objects": ("harmless", lambda text: _chat(f"{_lie(text)}\n\nOn second thought:\n{text}")),
    "a verdict quoted from the text": ("harmless", lambda text: _chat(f"The answer says: {_lie(text)}.\n{text}")),
    "a comma at the end": ("harmless", lambda text: _chat(f"{text.rstrip()[:-1]},}}")),
    "raw line ends": ("harmless", lambda text: _chat(text.replace(' "', ' "\n', 1) if '"quote"' in text else text)),
    "an unknown finish reason": ("harmless", lambda text: _chat(text, finish="eos_token")),
    "another fingerprint": ("harmless", lambda text: _chat(text, fingerprint="fp_other")),
}


@dataclass
class Faulty:
    """A chat model that knows the truth, behind an endpoint that does a fault to a share of its replies.

    Which reply suffers, and what, depends on seed, body and how often that body came: not on the order of arrival. The
    first reply to a body that holds `surely` always does.
    `done` counts faults by name, `spoiled_again` those that met a second asking, with how many questions it had.
    """

    truth: Truth
    share: float
    names: tuple[str, ...] = tuple(FAULTS)
    surely: str | None = None
    seed: int = 1
    done: Counter[str] = field(default_factory=Counter)
    spoiled_again: int = 0
    _seen: Counter[bytes] = field(default_factory=Counter)

    def __call__(self, request: Request) -> Reply:
        asked = request_of(request.body)
        text = as_text(asked, self.truth.answer(asked))
        came, self._seen[request.raw] = self._seen[request.raw], self._seen[request.raw] + 1
        chance, which = self._draws(request.raw, came)
        is_chosen = self.surely is not None and came == 0 and self.surely in str(request.body)
        if chance >= self.share and not is_chosen:
            return _chat(text)
        name = self.names[int(which * len(self.names))]
        kind, change = FAULTS[name]
        self.done[name] += 1
        if kind == "spoils" and ("asked before" in str(request.body) or name in ("a refusal", "a filter")):
            self.spoiled_again += len(asked.questions)
        return change(text)

    def _draws(self, raw: bytes, came: int) -> tuple[float, float]:
        digest = hashlib.sha256(b"%d|%d|" % (self.seed, came) + raw).digest()
        return int.from_bytes(digest[:6]) / 2**48, int.from_bytes(digest[6:12]) / 2**48


def another_model(handler: Handler, *, share: float) -> Handler:
    """An endpoint that now and then lets another model answer."""

    def handle(request: Request) -> Reply:
        reply = handler(request)
        if hashlib.sha256(request.raw).digest()[0] / 256 >= share:
            return reply
        value = json.loads(reply.body)
        return replace(reply, body=json.dumps({**value, "model": "m-2026-02-02"}).encode())

    return handle
