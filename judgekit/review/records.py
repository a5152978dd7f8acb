"""What travels between a run and the people who review it.

`ReviewUnit` is all that a reviewer may see; `KeyLine` is what stays behind with the run, `Export` tells of one draw;
`Filled` is what one sheet says of one unit; `HumanLabel` is what is kept of it beside the run.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from judgekit.records import Label, Record, Side
from judgekit.sampling import Bin, Unit

Kind = Literal["verdict", "sample"]
Purpose = Literal["estimate", "inspect"]
Status = Literal["done", "deferred", "blank"]
Only = Literal["new", "disputed"]


class HumanVerdict(StrEnum):
    """What a reviewer says of a unit. Sheets offer the first three; the finer labels may be given and are kept."""

    SUPPORTED = "supported"
    NOT_SUPPORTED = "not_supported"
    CANNOT_TELL = "cannot_tell"
    PARTIALLY_SUPPORTED = "partially_supported"
    UNSUPPORTED = "unsupported"
    CONTRADICTED = "contradicted"

    @property
    def is_supported(self) -> bool | None:
        """True for `supported`, None for `cannot_tell`, False for all others: partial support is not support."""
        return None if self is HumanVerdict.CANNOT_TELL else self is HumanVerdict.SUPPORTED


class ClaimCheck(StrEnum):
    """What a reviewer says of the claim itself, whatever the sources say."""

    OK = "ok"
    NOT_IN_ANSWER = "not_in_answer"
    NOT_ATOMIC = "not_atomic"
    DUPLICATE = "duplicate"


#: What a sheet offers for a verdict, in the order of the keys 1, 2, 3.
OFFERED = (HumanVerdict.SUPPORTED, HumanVerdict.NOT_SUPPORTED, HumanVerdict.CANNOT_TELL)


class Passage(Record):
    """One source of a check, whole, as the judge was shown it.

    `context_id` is the id in the log, or `@reference` or `@answer` where the claim is held against that text. `rank` is
    the place in the retrieved list from 1 (None for those two). `is_cited`: the claim cites it.
    """

    context_id: str
    text: str
    title: str | None = None
    doc_id: str | None = None
    version: str | None = None
    rank: int | None = None
    is_cited: bool = False


class JudgeSaid(Record):
    """The judge's side of a unit, for a sheet that is not blind. `quotes` are (context id, quote) pairs."""

    label: Label
    quotes: tuple[tuple[str, str], ...] = ()
    reason: str | None = None
    probabilities: dict[str, float] | None = None


class ReviewUnit(Record):
    """All that a reviewer may see of one unit, and nothing of what the judge said.

    `kind`: a `verdict` is one claim held against `passages`; a `sample` is one whole answer with all its contexts, then
    `claim` is None and `claims` lists the claims that were taken from it, for the reviewer to count what is missing.
    `text` is the whole text that the claim was taken from: the answer, or the reference where `side` is `reference`.
    `span` are the characters of `text` that the claim came from (end exclusive): whole segments, so it may hold more
    than the claim; None for a sample. `markers` are the citations of the claim as the text writes them, or the ids of
    the contexts where they were logged beside the text. `passages`: cited ones first, then by rank; no empty texts.
    `judge` is None, except in a sheet that was drawn with `--visible`.

    All texts are raw text of the log: hostile until escaped for where they go.
    """

    export_id: str
    unit_id: str
    kind: Kind
    question: str
    text: str
    side: Side
    claim: str | None = None
    span: tuple[int, int] | None = None
    markers: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    passages: tuple[Passage, ...] = ()
    judge: JudgeSaid | None = None


class KeyLine(Record):
    """What a reviewer must not see of one unit: where it came from, the judge's label, how likely its draw was.

    A check may serve several metrics; `metrics` names them all, sorted, among those that were drawn for. The strata are
    a partition of the run's judged checks by (`metrics`, `label`, `bin`), so `inclusion` is exact for each metric:
    `stratum_drawn / stratum_size`, simple random inside the stratum. Every stratum that is not empty is drawn from, so
    the lines of an export with `purpose` estimate describe the whole population. A unit with `purpose` inspect was
    picked, not drawn: `stratum_size`, `stratum_drawn` and `inclusion` are None, and it must enter no estimate.
    For `kind` sample there is one stratum of all answers; `claim_id`, `label`, `bin` and `probabilities` are None.
    `is_overlap`: goes to a second reviewer. `blind` False: the sheet showed the judge's verdict. `content` is a hash
    of the texts that were shown: a label counts for these alone. None in a key that was written before it was kept.
    """

    unit_id: str
    export_id: str
    kind: Kind
    sample_id: str
    claim_id: str | None = None
    sources: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    label: Label | None = None
    probabilities: dict[str, float] | None = None
    bin: Bin | None = None
    stratum: str
    stratum_size: int | None = None
    stratum_drawn: int | None = None
    inclusion: float | None = None
    purpose: Purpose = "estimate"
    is_overlap: bool = False
    seed: int
    blind: bool = True
    content: str | None = None


def unit_of(line: KeyLine) -> Unit:
    """The unit that a key line is about."""
    return Unit(line.unit_id, line.sample_id, line.claim_id, line.sources)


class Export(Record):
    """One draw: a line of `RUN/spotcheck/exports.jsonl`. Its key is `RUN/spotcheck/EXPORT_ID.key.jsonl`.

    `metrics` were drawn for, sorted. `population` is how many units could have been drawn, `drawn` how many were
    (without inspect picks), `apart` counts what could not: `unjudged` checks, or for whole answers `unsplit` rows.
    `uncertain_below` is the confidence under which a verdict was called uncertain, None for the rule that needs no
    number. `at` is in UTC, ISO 8601. `files` are the names of the sheets, `holding` how many units each of them holds.
    """

    export_id: str
    kind: Kind
    metrics: tuple[str, ...]
    seed: int
    blind: bool
    population: int
    drawn: int
    inspected: int = 0
    overlap: int = 0
    reviewers: int = 1
    uncertain_below: float | None = None
    apart: dict[str, int] = {}
    files: tuple[str, ...] = ()
    holding: tuple[int, ...] = ()
    at: str


class Filled(Record):
    """What a sheet says of one unit, as far as it is filled in: read by ids, never by text.

    `status`: `done` has a verdict; `deferred` was put off and has none; `blank` has nothing that counts.
    `evidence` is the context id that decided, `missed` (whole answers only) how many statements of the answer no listed
    claim covers, `minutes` the time spent. `export_id` and `reviewer` are None where the sheet does not say.
    `where` leads a person there: `sheet.csv:12`, or the file and the task's id.
    """

    unit_id: str
    where: str
    export_id: str | None = None
    verdict: HumanVerdict | None = None
    claim_ok: ClaimCheck | None = None
    evidence: str | None = None
    missed: int | None = None
    note: str | None = None
    reviewer: str | None = None
    minutes: float | None = None
    status: Status = "blank"


class HumanLabel(Record):
    """One line of `RUN/spotcheck/labels.jsonl`: what a reviewer said of a unit, and when it was imported.

    Lines are only ever added. Of the lines of one reviewer about one unit and content the last one counts (and the
    last adjudicated one, if that reviewer also adjudicated). A line without a verdict (`deferred`) takes back an
    earlier one. `assisted`: the reviewer saw the judge's verdict. `adjudicated`: said to settle a disagreement; it
    outweighs all other reviewers. `at` is in UTC, ISO 8601. `content` is that of the key.
    """

    unit_id: str
    export_id: str
    reviewer: str
    verdict: HumanVerdict | None
    claim_ok: ClaimCheck | None = None
    evidence: str | None = None
    missed: int | None = None
    note: str | None = None
    minutes: float | None = None
    assisted: bool = False
    adjudicated: bool = False
    content: str | None = None
    at: str
    where: str
