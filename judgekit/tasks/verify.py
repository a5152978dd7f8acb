"""Do these sources support each claim? A choice of four labels; from a judge that writes text also a quote."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from judgekit.prompts import Prompts
from judgekit.records import Check, Claim, Evidence, Label, Verdict
from judgekit.segment import segment
from judgekit.segment.quotes import align, find_quote
from judgekit.tasks import Source, options, votes_of
from judgekit.wire import Answer, Choice, JudgeRequest, Pair

NAME = "verify"
TEMPLATES = ("verify",)

# Which label stands when sources were asked in parts: what one part supports is supported, and as long as a part is
# unjudged it might have been that one.
_STRENGTH = (Label.SUPPORTED, Label.UNJUDGED, Label.CONTRADICTED, Label.PARTIALLY_SUPPORTED, Label.UNSUPPORTED)


def request(prompts: Prompts, sources: Sequence[Source], claims: Iterable[Claim]) -> JudgeRequest:
    """All claims held against the same sources, in one call. Sources come before claims, so that calls over the
    same sources share a prefix that servers can reuse."""
    ask, meanings = prompts.render(NAME, "ask"), options(prompts, NAME)
    return JudgeRequest(
        task=NAME,
        role=prompts.render(NAME, "role"),
        input=prompts.render(NAME, "input", sources=sources),
        questions=tuple(
            Choice(
                id=claim.id,
                ask=ask,
                text=prompts.render(NAME, "question", claim=claim.text),
                options=meanings,
                quote_from=tuple(source.id for source in sources),
                pair=Pair(
                    hypothesis=claim.text,
                    entailment=Label.SUPPORTED,
                    neutral=Label.UNSUPPORTED,
                    contradiction=Label.CONTRADICTED,
                ),
            )
            for claim in claims
        ),
        premise="\n\n".join(f"{source.title}\n{source.text}" if source.title else source.text for source in sources),
    )


def read(
    answers: Mapping[str, Answer],
    sources: Sequence[Source],
    claims: Iterable[Claim],
    check_sources: tuple[str, ...],
    *,
    evidence_required: bool = False,
) -> list[Verdict]:
    """One verdict a claim, in the order of the claims; what has no valid answer is `unjudged` with its cause.

    With `evidence_required`, support that a judge claims without a quote that stands in the sources is no support.
    """
    verdicts = [_verdict(claim, answers.get(claim.id), sources, check_sources) for claim in claims]
    if not evidence_required:
        return verdicts
    wrote = {answer.id for answer in answers.values() if answer.quote is not None}
    return [_proven(verdict) if verdict.check.claim_id in wrote else verdict for verdict in verdicts]


def _proven(verdict: Verdict) -> Verdict:
    claims_support = verdict.label in (Label.SUPPORTED, Label.PARTIALLY_SUPPORTED)
    if not claims_support or any(evidence.verified for evidence in verdict.evidence):
        return verdict
    reason = f"the judge said {verdict.label.value} and gave no quote that stands in the sources"
    return verdict.having(label=Label.UNSUPPORTED, reason=reason)


def _verdict(claim: Claim, answer: Answer | None, sources: Sequence[Source], check_sources: tuple[str, ...]) -> Verdict:
    check = Check.of(claim, check_sources)
    if answer is None or answer.label is None:
        cause = answer.cause if answer and answer.cause else "missing"
        raw, calls = (answer.raw, answer.calls) if answer else (None, ())
        votes = votes_of(answer)
        return Verdict(check=check, label=Label.UNJUDGED, cause=cause, raw=raw, calls=calls, votes=votes)
    label = Label(answer.label)
    return Verdict(
        check=check,
        label=label,
        evidence=_evidence(claim, label, answer, sources),
        probabilities=answer.probabilities,
        calls=answer.calls,
        votes=votes_of(answer),
    )


def _evidence(claim: Claim, label: Label, answer: Answer, sources: Sequence[Source]) -> tuple[Evidence, ...]:
    """The quote, looked up in the raw text; where the judge wrote none, the sentence that is closest to the claim."""
    if label is Label.UNSUPPORTED:
        return ()
    if answer.quote is not None:
        return _looked_up(answer.quote.text, answer.quote.source, sources)
    best = max(
        ((found, source) for source in sources if (found := align(claim.text, source.text, _spans(source.text)))),
        key=lambda pair: pair[0].share,
        default=None,
    )
    if best is None:
        return ()
    found, source = best
    raw = source.text[found.start : found.end]
    quote = raw.strip()
    start = source.offset + found.start + len(raw) - len(raw.lstrip())
    end = start + len(quote)
    return (Evidence(context_id=source.context_id, quote=quote, verified=True, aligned=True, start=start, end=end),)


@lru_cache(maxsize=256)  # many claims are held against one source
def _spans(text: str) -> tuple[tuple[int, int], ...]:
    return tuple((one.start, one.end) for one in segment(text))


def _looked_up(quote: str, named: str, sources: Sequence[Source]) -> tuple[Evidence, ...]:
    if not quote.strip():
        return ()
    in_order = sorted(sources, key=lambda source: source.id != named)  # the named source first, then the others
    for source in in_order:
        found = find_quote(quote, source.text)
        if found:
            start, end = source.offset + found.start, source.offset + found.end
            raw = source.text[found.start : found.end]
            return (Evidence(context_id=source.context_id, quote=raw, verified=True, start=start, end=end),)
    return (Evidence(context_id=in_order[0].context_id, quote=quote, verified=False),) if in_order else ()


def merged(parts: Sequence[Verdict]) -> Verdict:
    """The verdict of a check whose sources were asked in parts. A part that could not be judged leaves the whole
    unjudged, unless another part supports the claim."""
    if len(parts) == 1:
        return parts[0]
    strongest = min(parts, key=lambda verdict: _STRENGTH.index(verdict.label))
    calls = tuple(dict.fromkeys(call for part in parts for call in part.calls))
    return strongest.model_copy(update={"in_parts": True, "calls": calls, "probabilities": None})
