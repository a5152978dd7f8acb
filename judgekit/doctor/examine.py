"""The examination: ask the canaries, look at the endpoint, and put together what was found."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from judgekit.doctor import tallies
from judgekit.doctor.asking import Asked, ask
from judgekit.doctor.canaries import Canary, Flock, canaries, digest_of
from judgekit.doctor.findings import Findings, Probes, Voice
from judgekit.doctor.fitness import fitness
from judgekit.doctor.identity import verifiable
from judgekit.doctor.probing import acquaint, probe
from judgekit.judge import Judge
from judgekit.judge.chat import ChatBackend
from judgekit.judge.decisions_asked import TEMPLATE as DECIDE
from judgekit.judge.layout import READOUT, TEMPLATE
from judgekit.prompts import Prompts
from judgekit.tasks import verify


async def examine(
    judge: Judge,
    *,
    rounds: int = 3,
    oversized: bool = True,
    flocks: Sequence[Flock] = (),
    clock: Callable[[], float] = time.perf_counter,
    on_call: Callable[[], None] = lambda: None,
) -> Findings:
    """Ask the canaries `rounds` times and look at the endpoint; `flocks` are asked instead of the shipped canaries.

    `oversized`: also send one request that is longer than any of a run. A judge that keeps its replies would answer
    from them: give one without a cache. Raises JudgeStop when the judge cannot be asked at all.
    """
    asked_of = tuple(flocks) or canaries()
    if not any(judge.recorded.values()):
        judge.record()
    asked = await ask(judge, asked_of, rounds=rounds, clock=clock, on_call=on_call)
    chat = next((one for one in judge.backends.values() if isinstance(one, ChatBackend)), None)
    if chat and not any(judge.recorded[part] for part, one in judge.backends.items() if one is chat):
        await acquaint(chat, judge.prompts, asked_of[0])
    probes = await probe(chat, judge.prompts, asked_of[0], oversized=oversized) if chat else Probes()
    probed = {chat.spec.base_url: probes} if chat else {}
    return put_together(judge, asked_of, asked, probed, rounds=rounds)


def put_together(
    judge: Judge, flocks: tuple[Flock, ...], asked: Asked, probed: Mapping[str, Probes], *, rounds: int
) -> Findings:
    """The findings from what was said and seen, `probed` by base URL; in a replay nothing is said about time."""
    every: list[Canary] = [one for flock in flocks for one in flock.canaries]
    said = tallies.supports(asked.readings)
    steady = tallies.steadiness(every, said)
    held, injections = tallies.held(every, said)
    quotes = [one.found for one in asked.readings if one.found is not None]
    found = Findings(
        judge=judge.specs,
        said={canary: tuple(labels) for canary, labels in said.items()},
        voices=_voices(judge, probed),
        probes=next(iter(probed.values()), Probes()),
        canaries=digest_of(flocks),
        templates=templates_of(judge.prompts),
        rounds=rounds,
        accuracy=tallies.by_group(every, said),
        kinds=tallies.by_kind(every, said),
        flips=steady.rate,
        flipped=steady.flipped,
        wrong=tallies.wrong(every, said),
        quotes=len(quotes),
        quotes_found=sum(quotes),
        injections=injections,
        injections_held=held,
        asked=len(asked.readings),
        unjudged=tallies.causes(asked.readings),
        calls=len(asked.calls),
        prompt_tokens=sum(call.prompt_tokens for call in asked.calls),
        completion_tokens=sum(call.completion_tokens for call in asked.calls),
        speed=tallies.speed(() if judge.is_replay else asked.calls),
    )
    decided, reasons = fitness(found)
    return found.having(fitness=decided, reasons=reasons)


def templates_of(prompts: Prompts) -> dict[str, str]:
    """The fingerprints of the templates that a canary is asked with, by whatever judge: under others it is another
    question."""
    return {name: prompts.fingerprint(name) for name in (TEMPLATE, READOUT, DECIDE, *verify.TEMPLATES)}


def _voices(judge: Judge, probed: Mapping[str, Probes]) -> dict[str, Voice]:
    voices = {}
    for part, spec in judge.specs.items():
        rows = [json.loads(row) for row in judge.recorded[part].values()]
        replies = [row["reply"] for row in rows if row.get("reply")]
        named = _counted(replies, "model")
        judged = verifiable(spec.model, named, probed.get(spec.base_url, Probes()), base_url=spec.base_url)
        voices[part] = Voice(
            requested=spec.model,
            base_url=spec.base_url,
            form=spec.form,
            named=named,
            fingerprints=_counted(replies, "fingerprint"),
            verifiable=judged.is_verifiable,
            why=judged.why,
            dialect=judge.dialects[part],
        )
    return voices


def _counted(replies: Sequence[Mapping[str, object]], field: str) -> dict[str, int]:
    """How many replies gave which value; "" for none. Sorted, so that the same replies give the same record."""
    return dict(sorted(Counter(str(reply.get(field) or "") for reply in replies).items()))
