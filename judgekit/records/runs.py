"""A run: how it was made, from what, and under which pins."""

from __future__ import annotations

from typing import Literal

from pydantic import JsonValue

from judgekit.records.base import Record


class Options(Record):
    """How samples are taken apart and asked about; part of every metric's pin.

    split: `claims` are extracted by the judge, or the `segments` themselves are judged. citation_base: whether `[1]` or
    `[0]` is the first context; `auto` is 0 only when `[0]` occurs. evidence: with `required`, a judge that writes text
    supports a claim only by a quote that stands in the sources; with `shown` its quotes are only shown. The limits say
    how much goes into one call.
    """

    split: Literal["claims", "segments"] = "claims"
    citation_base: Literal["auto", 0, 1] = "auto"
    evidence: Literal["shown", "required"] = "shown"
    claims_per_call: int = 12
    segments_per_call: int = 24
    source_chars_per_call: int = 60_000


class LogFile(Record):
    """A log that was judged: its name, the SHA-256 of its bytes, and how many rows it holds."""

    name: str
    sha256: str
    rows: int


class MetricPin(Record):
    """What a metric's numbers rest on. Runs are compared metric by metric, under equal `pin` and `version` only."""

    pin: str
    version: int
    lower_is_better: bool
    options: dict[str, JsonValue] = {}


class Session(Record):
    """One stretch of work on a run: when, what it asked and paid, and what ended it.

    `sent` calls were paid for, `reused` ones were kept from earlier and free; `cost` is None where a price, or what
    an endpoint used, is not known. `unnamed` counts the replies that named no snapshot of a model, so that they cannot
    be told from another model's.
    """

    started: str
    ended: str | None = None
    sent: int = 0
    reused: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    unnamed: int = 0
    stopped_by: str | None = None


class Manifest(Record):
    """What a run is: which log, which judge, which metrics under which pins, made by which versions.

    `prices` are those that were given: model -> money per million tokens `in` and `out`.
    """

    judgekit: str
    logs: tuple[LogFile, ...]
    judge: dict[str, JsonValue]
    dialect: dict[str, JsonValue] = {}
    fingerprints: tuple[str, ...] = ()
    templates: dict[str, str] = {}
    metrics: dict[str, MetricPin]
    options: Options = Options()
    skipped_rows: tuple[str, ...] = ()
    prices: dict[str, dict[str, float]] = {}
    libraries: dict[str, str] = {}
    sessions: tuple[Session, ...] = ()

    @property
    def prices_by_part(self) -> dict[str, tuple[float, float]]:
        """Part of the judge -> money per million prompt and completion tokens, where it is known."""
        models = {part: spec.get("model") for part, spec in self.judge.items() if isinstance(spec, dict)}
        known = {part: self.prices[model] for part, model in models.items() if model in self.prices}
        return {part: (price["in"], price["out"]) for part, price in known.items()}
