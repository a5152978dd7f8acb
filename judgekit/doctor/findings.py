"""What an examination found, as records: each is also its JSON."""

from __future__ import annotations

from typing import Literal

from pydantic import JsonValue

from judgekit.records import Label
from judgekit.records.base import Record
from judgekit.wire import JudgeSpec

Logprobs = Literal["yes", "no", "refused"]
Nonsense = Literal["refused", "answered", "echoed"]
Oversized = Literal["refused", "read whole", "cut silently", "refused, not recognised", "failed", "cannot tell"]
Fitness = Literal["fit", "usable with care", "not fit"]


class Reading(Record):
    """What the judge said to one canary, once. `found`: its quote stands in the sources; None when it gave none."""

    canary: str
    round: int
    label: Label
    cause: str | None = None
    found: bool | None = None


class Call(Record):
    """One call for canaries: in which round, how long it took, and its tokens."""

    round: int
    seconds: float
    prompt_tokens: int
    completion_tokens: int


class Voice(Record):
    """Who answered as one part of the judge.

    `named` counts the model names in the replies, `fingerprints` theirs; "" stands for replies without one. A name is
    `verifiable` when it says which snapshot answered and is no mere echo of the name asked for; `why` says so in words.
    """

    requested: str
    base_url: str
    form: str
    named: dict[str, int] = {}
    fingerprints: dict[str, int] = {}
    verifiable: bool = False
    why: str = ""
    dialect: dict[str, JsonValue] = {}


class Probes(Record):
    """What was found out with requests that no run makes. None: not tried, or nothing was learned.

    `headers` are those that tell what stands behind the endpoint. `nonsense`: how a request for a model that does not
    exist was met. `oversized`: how one with about `oversized_tokens` tokens was met.
    """

    headers: dict[str, str] = {}
    logprobs: Logprobs | None = None
    nonsense: Nonsense | None = None
    oversized: Oversized | None = None
    oversized_tokens: int = 0
    said: str | None = None


class Accuracy(Record):
    """Agreement with the known answers: units judged, the mean share right of each class, and of both.

    `balanced` is the mean of the two, in [0, 1], with its 95 % interval; None when a class has no judged unit.
    """

    units: int
    right: float
    supported: float | None
    unsupported: float | None
    balanced: float | None = None
    low: float | None = None
    high: float | None = None


class Speed(Record):
    """Seconds a call, one call at a time, and tokens written in a second of it; None where nothing was measured."""

    median: float | None = None
    p95: float | None = None
    written_per_second: float | None = None
    calls: int = 0


class Findings(Record):
    """Everything an examination found. `judge` is who was examined, part by part, as in a run's manifest; `said` holds
    for each canary whether the judge found it supported, each time that it was judged."""

    judge: dict[str, JudgeSpec] = {}
    said: dict[str, tuple[bool, ...]] = {}
    voices: dict[str, Voice]
    probes: Probes
    canaries: str
    templates: dict[str, str]
    rounds: int
    accuracy: dict[str, Accuracy]
    kinds: dict[str, Accuracy]
    flips: float | None
    flipped: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    quotes: int = 0
    quotes_found: int = 0
    injections: int = 0
    injections_held: int = 0
    asked: int = 0
    unjudged: dict[str, int] = {}
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    speed: Speed = Speed()
    fitness: Fitness = "not fit"
    reasons: tuple[str, ...] = ()
