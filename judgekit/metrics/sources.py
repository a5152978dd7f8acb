"""From the contexts that a claim cites to the sources it is held against."""

from __future__ import annotations

from collections.abc import Iterable

from judgekit.records import Case, Claim


def cited_source(case: Case, context_id: str) -> str | None:
    """The id under which a cited context is judged: the first one of its text; None when it is blank."""
    source = case.sample.first_of_text.get(context_id)
    return source if source in case.sample.source_ids else None


def cited_sources(case: Case, claim: Claim) -> tuple[str, ...]:
    """The sources a claim cites, taken together: in rank order, each text once, blanks left out."""
    cited = {cited_source(case, context_id) for context_id in claim.citations}
    return tuple(source for source in case.sample.source_ids if source in cited)


def without(sources: Iterable[str], source: str) -> tuple[str, ...]:
    """The sources that are left when one is taken away."""
    return tuple(other for other in sources if other != source)


def dangling_note(claims: Iterable[Claim]) -> str | None:
    """A note that counts the citations pointing at nothing that was retrieved; None when there are none."""
    count = sum(len(claim.dangling) for claim in claims)
    return f"{count} dangling" if count else None
