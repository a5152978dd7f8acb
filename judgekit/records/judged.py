"""What was judged: checks, verdicts, ratings, and the case that holds all that is known of a sample."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from functools import cached_property
from hashlib import sha256
from typing import Literal

from judgekit.records.base import Record
from judgekit.records.logged import Sample
from judgekit.records.taken_apart import Ask, Claim, Segment, Side


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


class Vote(Record):
    """One vote that a label was counted from: the part of the judge that cast it, which of its votes it was, and its
    label, or the cause of its lack."""

    by: str
    repeat: int = 0
    label: str | None = None
    cause: str | None = None


class Verdict(Record):
    """The label of one check, with its evidence.

    `cause` says why a verdict is `unjudged` (`timeout`, `missing`, `invalid_label`, ...), `reason` explains a
    label that is not the judge's own; `raw` keeps the reply that could not be read; `calls` are the keys of the judge
    calls it rests on. `in_parts`: the sources did not fit one call, so support spread over parts is not seen. `votes`
    are those that the label was counted from, where several were asked for.
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
    votes: tuple[Vote, ...] = ()

    def held_to(self, label: Label, least: float) -> Verdict:
        """The verdict where it is `label` exactly when the judge gave that at least the probability `least`.

        What falls short of it becomes the likeliest of the other labels. Without probabilities (from a judge that gives
        none, or for sources asked in parts) it is `unjudged`, with the cause `no_probabilities`.
        """
        if self.label is Label.UNJUDGED:
            return self
        if self.probabilities is None or label not in self.probabilities or len(self.probabilities) == 1:
            return self.having(label=Label.UNJUDGED, cause="no_probabilities", evidence=())
        chance = self.probabilities[label]
        if chance >= least:
            return self if self.label is label else self.having(label=label, reason=f"P({label}) = {chance:g}")
        if self.label is not label:
            return self
        others = {other: p for other, p in self.probabilities.items() if other != label}
        reason = f"P({label}) = {chance:g}, less than {least:g}"
        return self.having(label=max(others, key=lambda other: others[other]), reason=reason)


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
    was asked for one; `votes` as in a Verdict, in the judge's own words.
    """

    kind: RatingKind
    subject: str
    label: str | None
    probabilities: dict[str, float] | None = None
    reason: str | None = None
    cause: str | None = None
    raw: str | None = None
    calls: tuple[str, ...] = ()
    votes: tuple[Vote, ...] = ()


class Likeness(Record):
    """A question that the answer answers, and the cosine between its embedding and that of the question asked.

    `cosine` is None when a vector could not be had; `cause` then says why.
    """

    text: str
    cosine: float | None = None
    cause: str | None = None


#: Stage of a fault that took its whole row with it.
ROW = "row"


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

    def held_to(self, label: Label, least: float | None) -> Case:
        """The case with every verdict held to a least probability of one label; itself where there is none to hold to.
        See Verdict.held_to."""
        if least is None:
            return self
        return self.having(verdicts=tuple(verdict.held_to(label, least) for verdict in self.verdicts))

    def rated(self, kind: RatingKind) -> dict[str, Rating]:
        """Subject -> rating, for all ratings of a kind."""
        return {rating.subject: rating for rating in self.ratings if rating.kind == kind}
