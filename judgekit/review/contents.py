"""What a person's label depends on, as a hash: a label counts for the texts that it was given for, and for no others.

The id of a unit names a row, a claim and its sources. A row that was judged anew, because its log changed or its answer
was taken apart otherwise, may hold other texts under the same names.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import sha256

from judgekit.records import ANSWER, THE_ANSWER, THE_REFERENCE, Result, Sample
from judgekit.rundir import Run
from judgekit.sampling import Unit


def contents_of(run: Run, units: Iterable[Unit]) -> dict[str, str]:
    """Unit id -> a hash of all that a label of it depends on, in the order of the run, from one pass over it.

    For a claim: question, text, claim and sources; for a whole answer its claims and contexts. A unit that the run
    does not hold, or no longer, is left out.
    """
    by_sample: dict[str, list[Unit]] = {}
    for unit in units:
        by_sample.setdefault(unit.sample_id, []).append(unit)
    return {
        unit.unit_id: content
        for result in (run if by_sample else ())
        for unit in by_sample.get(result.id, ())
        if (content := _content(result, unit)) is not None
    }


def _content(result: Result, unit: Unit) -> str | None:
    named = _answer(result) if unit.claim_id is None else _claim(result, unit)
    return None if named is None else sha256(json.dumps(named).encode()).hexdigest()


def _answer(result: Result) -> list[object]:
    sample = result.case.sample
    claims = [claim.text for claim in result.case.claims_of(ANSWER)]
    return [sample.question, sample.answer, claims, [[context.title, context.text] for context in sample.contexts]]


def _claim(result: Result, unit: Unit) -> list[object] | None:
    sample = result.case.sample
    claim = next((one for one in result.claims if one.id == unit.claim_id), None)
    texts = _texts(sample, unit.sources)
    if claim is None or texts is None:
        return None
    taken_from = sample.answer if claim.side == ANSWER else sample.reference
    return [sample.question, claim.side, taken_from, claim.text, texts]


def _texts(sample: Sample, sources: tuple[str, ...]) -> list[object] | None:
    if sources in (THE_REFERENCE, THE_ANSWER):
        return [sources[0], sample.reference if sources == THE_REFERENCE else sample.answer]
    there = {context.id: context for context in sample.contexts}
    if not there.keys() >= set(sources):
        return None
    return [[there[source].title, there[source].text] for source in sources]
