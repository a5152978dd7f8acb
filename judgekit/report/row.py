"""One row in full: every number can be followed to its claim, verdict and evidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from judgekit.judge.prices import money
from judgekit.records import (
    ANSWER,
    REFERENCE,
    THE_ANSWER,
    THE_REFERENCE,
    Case,
    Claim,
    Context,
    Evidence,
    Fault,
    Label,
    Rating,
    Result,
    Sample,
    Score,
    Verdict,
    Vote,
)
from judgekit.report.plain import number, one_line, plain, shortened, words
from judgekit.scoring.spending import Spending

_CONTEXT_CHARS = 300
_RAW_CHARS = 300
_SHOWN_IDS = 4
_BOTH = 2

#: A line about a claim: its id, only on the first one, and what there is to say.
ClaimRow = tuple[Text, RenderableType]

STYLES = {
    Label.SUPPORTED: "green",
    Label.PARTIALLY_SUPPORTED: "yellow",
    Label.UNSUPPORTED: "red",
    Label.CONTRADICTED: "bold red",
    Label.UNJUDGED: "magenta",
}


def put(console: Console, shown: RenderableType, *, indent: int = 0) -> None:
    """Print without the trailing spaces that rich pads with, so that piped output can be compared line by line."""
    for line in console.render_lines(Padding(shown, (0, 0, 0, indent)), pad=False):
        text = Text.assemble(*((part.text, part.style or "") for part in line if not part.control))
        text.rstrip()
        console.print(text, no_wrap=True, overflow="ignore", crop=False)


def head(console: Console, title: str) -> None:
    """A section's title, set off by an empty line."""
    put(console, Text(f"\n{title}", style="bold"))


def grid(rows: Iterable[tuple[RenderableType, ...]], *, widest: int = 28) -> Table:
    """Rows of cells, the last of which takes what is left of the line; no cell loses a character."""
    listed = list(rows)
    table = Table.grid(padding=(0, 2, 0, 0))
    for at in range(len(listed[0]) if listed else 0):
        is_last = at == len(listed[0]) - 1
        table.add_column(overflow="fold", max_width=None if is_last else widest)
    for row in listed:
        table.add_row(*row)
    return table


def render_row(result: Result, console: Console, *, prices: Mapping[str, tuple[float, float]] | None = None) -> None:
    """Print one row: texts, claims with all verdicts and their evidence, ratings, scores and what went wrong.

    Contexts are shortened and say so; nothing else is. Text from the log and the judge is printed as plain text.
    `prices` are those of the parts of the judge.
    """
    case, sample = result.case, result.case.sample
    put(console, Text(f"Row {one_line(result.id)}", style="bold"))
    _text(console, "Question", sample.question)
    _answer(console, case)
    if sample.reference is not None:
        _text(console, "Reference", sample.reference)
    _contexts(console, sample)
    for side, title in ((ANSWER, "Claims of the answer"), (REFERENCE, "Claims of the reference")):
        _claims(console, case, title, case.claims_of(side))
    if case.invented_claims:
        head(console, "Invented by the split and dropped")
        put(console, grid((Text("-"), Text(one_line(claim))) for claim in case.invented_claims), indent=2)
    if case.entities:
        _text(console, "Names in the reference", ", ".join(one_line(name) for name in case.entities))
    _ratings(console, case)
    head(console, "Scores")
    put(console, grid(_score_cells(score) for score in result.scores), indent=2)
    if result.faults:
        head(console, "Faults")
        put(console, grid(fault_cells(fault, most=_RAW_CHARS) for fault in result.faults), indent=2)
    usage = result.usage
    used = f"{usage.calls:,} calls, {usage.prompt_tokens:,} prompt and {usage.completion_tokens:,} completion tokens"
    spending = Spending((), prices or {})
    spending.add(result)
    cost = f", cost {money(spending.together.cost)}" if prices else ""
    put(console, Text(f"\nRests on {used}{cost}", style="dim"))


def _text(console: Console, title: str, text: str) -> None:
    head(console, title)
    put(console, Text(plain(text).strip() or "(empty)"), indent=2)


def _answer(console: Console, case: Case) -> None:
    """The answer by its segments, so that a claim's `s2` can be found; whole where it was not cut."""
    if not case.segments:
        _text(console, "Answer", case.sample.answer)
        return
    head(console, "Answer, by segments")
    rows = ((Text(one_line(part.id), style="dim"), Text(plain(part.text).strip())) for part in case.segments)
    put(console, grid(rows), indent=2)


def _contexts(console: Console, sample: Sample) -> None:
    head(console, f"Contexts ({len(sample.contexts)})")
    put(console, grid((Text(one_line(c.id), style="cyan"), _context(c, sample)) for c in sample.contexts), indent=2)


def _context(context: Context, sample: Sample) -> Text:
    if context.is_blank:
        return Text("(no text)", style="dim")
    first = sample.first_of_text[context.id]
    if first != context.id:
        return Text(f"(the same text as {one_line(first)})", style="dim")
    title = f"{one_line(context.title)}: " if context.title else ""
    return Text(title + shortened(context.text, most=_CONTEXT_CHARS))


# --- claims ------------------------------------------------------------------------------------


def _claims(console: Console, case: Case, title: str, claims: Sequence[Claim]) -> None:
    if not claims:
        return
    rows: list[ClaimRow] = []
    for claim in claims:
        place = f"characters {claim.start}-{claim.end}, {', '.join(one_line(part) for part in claim.segment_ids)}"
        verdicts = [verdict for verdict in case.verdicts if verdict.check.claim_id == claim.id]
        rows += claim_rows(case.sample, claim, verdicts, place=place)
    head(console, title)
    put(console, grid(rows), indent=2)


def claim_rows(
    sample: Sample, claim: Claim, verdicts: Iterable[Verdict], *, place: str = "", most: int | None = None
) -> list[ClaimRow]:
    """A claim, where it stands and what it cites, then each of these verdicts with its evidence.

    Of each text at most `most` characters are shown; None shows them whole.
    """
    lines: list[RenderableType] = [Text(_up_to(most, claim.text))]
    about = [part for part in (place, _cited(claim)) if part]
    if about:
        lines.append(Text("; ".join(about), style="dim"))
    for verdict in verdicts:
        lines.extend(_verdict_lines(sample, verdict, most))
    return [(Text("" if at else one_line(claim.id), style="bold"), line) for at, line in enumerate(lines)]


def _up_to(most: int | None, text: str) -> str:
    return one_line(text) if most is None else shortened(text, most=most)


def _cited(claim: Claim) -> str:
    cites = f"cites {', '.join(one_line(cited) for cited in claim.citations)}" if claim.citations else ""
    dangling = ", ".join(one_line(label) for label in claim.dangling)
    nowhere = f"{'and ' if cites else 'cites '}{dangling}, which was not retrieved" if dangling else ""
    return " ".join(part for part in (cites, nowhere) if part) or ("cites nothing" if claim.side == ANSWER else "")


def _verdict_lines(sample: Sample, verdict: Verdict, most: int | None) -> Iterator[RenderableType]:
    marks = [
        words(verdict.cause or "") if verdict.label is Label.UNJUDGED else "",
        "asked in parts" if verdict.in_parts else "",
        _up_to(most, verdict.reason or ""),
        ", ".join(f"{words(label)} {p:.2f}" for label, p in (verdict.probabilities or {}).items()),
        _votes(verdict.votes),
    ]
    said = "; ".join(mark for mark in marks if mark)
    yield Text.assemble(
        (words(verdict.label), STYLES[verdict.label]),
        f" against {against(sample, verdict.check.sources)}",
        f" ({said})" if said else "",
    )
    for evidence in verdict.evidence:
        yield _inset(Text(_evidence(evidence, most)))
    if verdict.raw:
        yield _inset(Text(f"the judge wrote: {shortened(verdict.raw, most=_RAW_CHARS)}", style="dim"))


def _votes(votes: Sequence[Vote]) -> str:
    """Who voted what, one after the other."""
    cast = (f"{words(vote.by)}: {words(vote.label or vote.cause or 'unknown')}" for vote in votes)
    return f"votes: {one_line(', '.join(cast))}" if votes else ""


def _inset(text: Text) -> RenderableType:
    return Padding(text, (0, 0, 0, 2))


def _evidence(evidence: Evidence, most: int | None) -> str:
    how = "aligned" if evidence.aligned else "verified" if evidence.verified else "NOT FOUND in the sources"
    return f'{one_line(evidence.context_id)}: "{_up_to(most, evidence.quote)}" [{how}]'


def against(sample: Sample, sources: tuple[str, ...]) -> str:
    """The sources of a check in few words."""
    if sources in (THE_REFERENCE, THE_ANSWER):
        return "the reference" if sources == THE_REFERENCE else "the answer"
    if len(sources) > 1 and sources == sample.source_ids:
        return "both contexts" if len(sources) == _BOTH else f"all {len(sources)} contexts"
    named = ", ".join(one_line(source) for source in sources[:_SHOWN_IDS])
    more = f" and {len(sources) - _SHOWN_IDS} more" if len(sources) > _SHOWN_IDS else ""
    return f"{named}{more}" + (" alone" if len(sources) == 1 and len(sample.source_ids) > 1 else "")


# --- ratings, scores, faults -------------------------------------------------------------------


def _ratings(console: Console, case: Case) -> None:
    if not case.ratings:
        return
    asks = {ask.id: ask.text for ask in case.asks}
    head(console, "Ratings")
    rows = ((Text(words(one.kind)), Text(one_line(one.subject)), _rating(one, asks)) for one in case.ratings)
    put(console, grid(rows), indent=2)


def _rating(rating: Rating, asks: dict[str, str]) -> Text:
    if rating.label is None:
        raw = f"; the judge wrote: {shortened(rating.raw, most=_RAW_CHARS)}" if rating.raw else ""
        raw += f"; {_votes(rating.votes)}" if rating.votes else ""
        return Text(f"unjudged ({words(rating.cause or 'unknown')}){raw}", style=STYLES[Label.UNJUDGED])
    about = asks.get(rating.subject, "") if rating.kind == "ask" else rating.reason or ""
    return Text(one_line(rating.label) + (f"  {one_line(about)}" if about else ""))


def counts_of(score: Score) -> str:
    """What was counted, as `3/4`; empty where nothing was."""
    if score.numerator is None or score.denominator is None:
        return ""
    return f"{score.numerator:g}/{score.denominator:g}"


def _score_cells(score: Score) -> tuple[Text, ...]:
    parts = [words(score.reason) if score.reason else "", words(score.label or "")]
    if score.value is None and score.denominator is not None and score.judged is not None:
        parts.append(f"{score.judged} of {score.denominator:g} judged")
    if score.value is None and score.low is not None and score.high is not None:
        parts.append(f"between {number(score.low)} and {number(score.high)}")
    parts.append(one_line(score.note or ""))
    said = Text("; ".join(part for part in parts if part))
    return Text(one_line(score.metric)), Text(number(score.value)), Text(counts_of(score)), said


def fault_cells(fault: Fault, *, most: int) -> tuple[Text, Text]:
    """Where and why something failed, and what was said or written then."""
    raw = f"; the judge wrote: {shortened(fault.raw, most=most)}" if fault.raw else ""
    where = f"{one_line(fault.stage)}: {words(fault.cause)}"
    return Text(where, style=STYLES[Label.UNJUDGED]), Text(shortened(fault.message, most=most) + raw)
