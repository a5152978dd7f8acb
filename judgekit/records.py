"""The records that travel between the pure core and the shell.

Each is frozen and is also its JSON line. Nothing here knows that a language model exists: records
speak of samples, claims, checks, verdicts and scores. The glossary is in the README.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cached_property
from hashlib import sha256
from math import fsum
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, JsonValue


class Record(BaseModel):
    """Base of all records: frozen, and strict about unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def having(self, **changes: object) -> Self:
        """A new record with these fields changed."""
        return type(self).model_validate({**{name: getattr(self, name) for name in type(self).model_fields}, **changes})


# --- what was logged -------------------------------------------------------------------------


class Context(Record):
    """One retrieved chunk. `id` is what citations and evidence point to; `text` may be empty (id only)."""

    id: str
    text: str = ""
    title: str | None = None
    url: str | None = None
    doc_id: str | None = None
    version: str | None = None
    metadata: dict[str, JsonValue] = {}

    @property
    def is_blank(self) -> bool:
        """True when there is no text to hold a claim against: missing, empty or white space."""
        return not self.text.strip()


class CitedSpan(Record):
    """A citation given beside the answer: `answer[start:end]` (characters, end exclusive) rests on `context_ids`."""

    start: int
    end: int
    context_ids: tuple[str, ...]


class Fact(Record):
    """One fact that a complete answer needs, and the contexts that supply it."""

    id: str
    text: str = ""
    context_ids: tuple[str, ...] = ()


class Retrieval(Record):
    """One retrieval call of an agentic answer."""

    query: str = ""
    contexts: tuple[Context, ...] = ()


class Sample(Record):
    """One logged row. `contexts` are in rank order; `citations` is None when the answer carries only markers."""

    id: str
    question: str = ""
    answer: str = ""
    contexts: tuple[Context, ...] = ()
    reference: str | None = None
    citations: tuple[CitedSpan, ...] | None = None
    relevance: dict[str, float] | None = None
    facts: tuple[Fact, ...] = ()
    retrievals: tuple[Retrieval, ...] = ()
    metadata: dict[str, JsonValue] = {}

    @cached_property
    def first_of_text(self) -> Mapping[str, str]:
        """Context id -> id of the first context with the same text: duplicates are judged once."""
        seen: dict[str, str] = {}
        return {c.id: seen.setdefault(c.text.strip(), c.id) for c in self.contexts}

    @cached_property
    def source_ids(self) -> tuple[str, ...]:
        """Ids of the contexts a claim can be held against: in rank order, blanks and repeats left out."""
        return tuple(c.id for c in self.contexts if not c.is_blank and self.first_of_text[c.id] == c.id)

    def context(self, context_id: str) -> Context:
        """The context of that id; KeyError when there is none."""
        for context in self.contexts:
            if context.id == context_id:
                return context
        raise KeyError(context_id)


# --- what the text holds ---------------------------------------------------------------------

Side = Literal["answer", "reference"]
ANSWER: Side = "answer"
REFERENCE: Side = "reference"

SegmentKind = Literal["sentence", "list_item", "heading", "table", "code", "references"]


class Citation(Record):
    """One citation: `text[start:end]` is its marker, `label` what it names, `context_id` where it points.

    A citation to nothing that was retrieved is kept with `context_id` None: it dangles.
    """

    start: int
    end: int
    label: str
    context_id: str | None = None

    @property
    def is_dangling(self) -> bool:
        return self.context_id is None


class Segment(Record):
    """A numbered stretch of the answer or the reference; all segments together are the whole text.

    `text` is the raw slice [start:end]; `bare` is what is left without citation markers and list signs.
    """

    id: str
    start: int
    end: int
    text: str
    bare: str
    kind: SegmentKind = "sentence"
    citations: tuple[Citation, ...] = ()

    @property
    def may_state(self) -> bool:
        """True when the segment can hold a claim: headings, code, reference lists and bare signs cannot."""
        return self.kind in ("sentence", "list_item", "table") and any(sign.isalnum() for sign in self.bare)


class Claim(Record):
    """One checkable statement of the answer or the reference.

    `start`/`end` are characters of the text it came from; `citations` are the ids of the contexts it cites
    (each once), `dangling` the labels of its citations that point nowhere. `is_whole` marks a segment that
    serves as its own claim.
    """

    id: str
    side: Side
    text: str
    segment_ids: tuple[str, ...]
    start: int
    end: int
    citations: tuple[str, ...] = ()
    dangling: tuple[str, ...] = ()
    is_whole: bool = False


class Ask(Record):
    """One thing the question asks for."""

    id: str
    text: str


# --- what was judged -------------------------------------------------------------------------


class Label(StrEnum):
    """The judge's label for a check; `unjudged` means that the judge failed, and is never a low score."""

    SUPPORTED = "supported"
    PARTIALLY_SUPPORTED = "partially_supported"
    UNSUPPORTED = "unsupported"
    CONTRADICTED = "contradicted"
    UNJUDGED = "unjudged"


#: Sources that are not contexts.
THE_REFERENCE = ("@reference",)
THE_ANSWER = ("@answer",)


class Check(Record):
    """A claim held against a set of sources: the unit of asking, sharing, caching and reviewing."""

    claim_id: str
    sources: tuple[str, ...]

    @classmethod
    def of(cls, claim: Claim, sources: Iterable[str]) -> Check:
        return cls(claim_id=claim.id, sources=tuple(sources))


class Evidence(Record):
    """A verbatim quote from a source. `verified`: it occurs in the raw text, at [start:end].

    `aligned`: chosen by word overlap, because the judge wrote no text; it shows where to look, not what was judged by.
    """

    context_id: str
    quote: str
    verified: bool
    aligned: bool = False
    start: int | None = None
    end: int | None = None


class Verdict(Record):
    """The label of one check, with its evidence.

    `cause` says why a verdict is `unjudged` (`timeout`, `missing`, `invalid_label`, ...), `reason` explains a
    label that needed no judge; `raw` keeps the reply that could not be read; `calls` are the keys of the judge
    calls it rests on. `in_parts`: the sources did not fit one call, so support spread over parts is not seen.
    """

    check: Check
    label: Label
    evidence: tuple[Evidence, ...] = ()
    probabilities: dict[str, float] | None = None
    reason: str | None = None
    cause: str | None = None
    raw: str | None = None
    in_parts: bool = False
    calls: tuple[str, ...] = ()


class Need(StrEnum):
    """What a metric needs known about a sample, beside verdicts of checks."""

    ANSWER_CLAIMS = "answer_claims"
    REFERENCE_CLAIMS = "reference_claims"
    RELEVANCE = "relevance"
    RELEVANCE_BY_ANSWER = "relevance_by_answer"
    BEARING = "bearing"
    REFUSAL = "refusal"
    SUFFICIENCY = "sufficiency"
    ENTITIES = "entities"
    RUBRIC = "rubric"
    REVERSE_QUESTIONS = "reverse_questions"


RatingKind = Literal["relevance", "relevance_by_answer", "ask", "bearing", "refusal", "sufficiency", "rubric"]

Seen = Literal["question", "answer", "contexts", "reference"]
#: What a criterion can be judged by, in the order in which it is named.
SEEN: tuple[Seen, ...] = ("question", "answer", "contexts", "reference")


class Criterion(Record):
    """A question of the user's own about a sample: met or not, or one of `levels`, the lowest first.

    `sees` is what the judge is shown; `explain` asks for the reason, from a judge that writes text.
    """

    name: str
    text: str
    levels: tuple[str, ...] = ()
    sees: tuple[Seen, ...] = ("question", "answer")
    explain: bool = True

    @cached_property
    def key(self) -> str:
        """The subject of its rating: its name, and what tells it from another criterion of that name."""
        return f"{self.name}#{sha256(self.model_dump_json().encode()).hexdigest()[:8]}"


class Rating(Record):
    """The judge's label for anything that is not a check: a context, an ask, a claim's bearing, the answer.

    `label` is None when the judge failed; `cause` then says why. `reason` is what the judge gave for a label, where it
    was asked for one.
    """

    kind: RatingKind
    subject: str
    label: str | None
    probabilities: dict[str, float] | None = None
    reason: str | None = None
    cause: str | None = None
    raw: str | None = None
    calls: tuple[str, ...] = ()


class Likeness(Record):
    """A question that the answer answers, and the cosine between its embedding and that of the question asked.

    `cosine` is None when a vector could not be had; `cause` then says why.
    """

    text: str
    cosine: float | None = None
    cause: str | None = None


class Fault(Record):
    """Something that went wrong on the way of one sample and is kept for the report."""

    stage: str
    cause: str
    message: str
    raw: str | None = None


class Case(Record):
    """A sample with everything known about it: the only thing a metric sees.

    `entities` are the names that the reference holds, `likenesses` the questions that the answer answers; None when
    nobody asked, or the judge failed.
    """

    sample: Sample
    segments: tuple[Segment, ...] = ()
    reference_segments: tuple[Segment, ...] = ()
    claims: tuple[Claim, ...] = ()
    unsplit: tuple[Side, ...] = ()
    invented_claims: tuple[str, ...] = ()
    asks: tuple[Ask, ...] = ()
    entities: tuple[str, ...] | None = None
    likenesses: tuple[Likeness, ...] | None = None
    verdicts: tuple[Verdict, ...] = ()
    ratings: tuple[Rating, ...] = ()

    def claims_of(self, side: Side) -> list[Claim]:
        return [claim for claim in self.claims if claim.side == side]

    @cached_property
    def _by_check(self) -> dict[Check, Verdict]:
        return {verdict.check: verdict for verdict in self.verdicts}

    def verdict(self, check: Check) -> Verdict | None:
        return self._by_check.get(check)

    def label(self, check: Check) -> Label:
        """The label of a check; `unjudged` when it has no verdict."""
        found = self._by_check.get(check)
        return found.label if found else Label.UNJUDGED

    def rated(self, kind: RatingKind) -> dict[str, Rating]:
        """Subject -> rating, for all ratings of a kind."""
        return {rating.subject: rating for rating in self.ratings if rating.kind == kind}


# --- what was counted ------------------------------------------------------------------------


class Reason(StrEnum):
    """Why a score has no value."""

    NO_REFERENCE = "no_reference"
    NO_CONTEXTS = "no_contexts"
    NO_CLAIMS = "no_claims"
    NO_CITATIONS = "no_citations"
    NO_LABELS = "no_labels"
    NO_ANSWER = "no_answer"
    NO_ENTITIES = "no_entities"
    NOTHING_RECALLED = "nothing_recalled"
    REFUSED = "refused"
    UNJUDGED = "unjudged"
    UNSPLIT = "unsplit"


class Score(Record):
    """The value of one metric for one sample, in [0, 1], or None with a reason.

    `numerator`/`denominator` are what was counted (also when the value is None because verdicts are missing);
    `judged` of the denominator's items have a verdict, and `low`/`high` bound what the missing ones leave open.
    `basis` names the checks or subjects it came from; `label` a class where a metric sorts rather than counts.
    """

    metric: str
    value: float | None
    reason: Reason | None = None
    numerator: float | None = None
    denominator: float | None = None
    judged: int | None = None
    low: float | None = None
    high: float | None = None
    label: str | None = None
    note: str | None = None
    basis: tuple[str, ...] = ()

    @classmethod
    def undefined(cls, metric: str, reason: Reason, *, note: str | None = None) -> Score:
        return cls(metric=metric, value=None, reason=reason, note=note)

    @classmethod
    def share(
        cls, metric: str, marks: Iterable[float | None], *, basis: Iterable[str] = (), note: str | None = None
    ) -> Score:
        """Mean of marks in [0, 1], where None is a missing verdict: then no value, but its bounds.

        The caller has dealt with the empty case: an empty list raises ValueError.
        """
        listed = list(marks)
        if not listed:
            raise ValueError(f"{metric}: a share of nothing; return Score.undefined with the reason instead")
        known = [mark for mark in listed if mark is not None]
        missing, total = len(listed) - len(known), fsum(known)
        return cls(
            metric=metric,
            value=None if missing else total / len(listed),
            reason=Reason.UNJUDGED if missing else None,
            numerator=total,
            denominator=len(listed),
            judged=len(known),
            low=total / len(listed),
            high=(total + missing) / len(listed),
            note=note,
            basis=tuple(basis),
        )


class Usage(Record):
    """Judge calls a result rests on (each distinct call once) and their tokens, whether paid now or earlier."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


class Result(Record):
    """One row of a run: the case, its scores, and what went wrong on the way."""

    case: Case
    scores: tuple[Score, ...] = ()
    usage: Usage = Usage()
    faults: tuple[Fault, ...] = ()

    @property
    def id(self) -> str:
        return self.case.sample.id

    @property
    def claims(self) -> tuple[Claim, ...]:
        return self.case.claims

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        return self.case.verdicts

    def __getitem__(self, metric: str) -> Score:
        for score in self.scores:
            if score.metric == metric:
                return score
        raise KeyError(f"no score {metric!r}; this result has: {', '.join(s.metric for s in self.scores)}")


class Interval(Record):
    """How sure a mean is, given the judge: [low, high] at that confidence, or None with the reason why not.

    `clusters` is the number of independent units (samples, or groups of them), `small` says that there are fewer than
    20; `n_eff` is how many independent verdicts would be as informative.
    """

    low: float | None = None
    high: float | None = None
    n_eff: float | None = None
    clusters: int
    confidence: float
    small: bool
    reason: str | None = None


class MetricSummary(Record):
    """One metric over a run. `macro`: mean of the defined values; `micro`: pooled numerators / denominators.

    Each has its interval, which says why when there is none.
    """

    metric: str
    macro: float | None
    micro: float | None
    scored: int
    undefined: dict[str, int]
    macro_interval: Interval
    micro_interval: Interval
    lower_is_better: bool = False
    labels: dict[str, int] = {}


class Summary(Record):
    """A whole run in numbers. `causes` counts unjudged verdicts and ratings by cause, `faults` by stage and cause.

    `cluster_by` is the metadata key whose values the intervals take as clusters, `clusters` how many there are, and
    `ungrouped` the rows without it: each is a cluster of its own.
    """

    rows: int
    metrics: tuple[MetricSummary, ...]
    verdicts: dict[str, int]
    unjudged: int
    judged: int
    causes: dict[str, int]
    faults: dict[str, int]
    evidence_quoted: int = 0
    evidence_verified: int = 0
    dangling: int = 0
    invented_claims: int = 0
    usage: Usage = Usage()
    cluster_by: str | None = None
    clusters: int | None = None
    ungrouped: int = 0

    def __getitem__(self, metric: str) -> MetricSummary:
        for found in self.metrics:
            if found.metric == metric:
                return found
        raise KeyError(f"no metric {metric!r}; this run has: {', '.join(m.metric for m in self.metrics)}")


# --- a run -----------------------------------------------------------------------------------


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
    """One stretch of work on a run: when, what it asked and paid, and what ended it."""

    started: str
    ended: str | None = None
    sent: int = 0
    reused: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    stopped_by: str | None = None


class Manifest(Record):
    """What a run is: which log, which judge, which metrics under which pins, made by which versions."""

    judgekit: str
    logs: tuple[LogFile, ...]
    judge: dict[str, JsonValue]
    dialect: dict[str, JsonValue] = {}
    fingerprints: tuple[str, ...] = ()
    templates: dict[str, str] = {}
    metrics: dict[str, MetricPin]
    options: Options = Options()
    skipped_rows: tuple[str, ...] = ()
    libraries: dict[str, str] = {}
    sessions: tuple[Session, ...] = ()
