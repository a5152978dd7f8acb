"""Findings for a terminal, and for a pipe: the same words without colours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.console import Console
from rich.table import Table
from rich.text import Text

from judgekit.doctor.comparing import Comparison
from judgekit.doctor.findings import Accuracy, Findings, Probes, Voice
from judgekit.report.plain import counted, number, one_line, shortened
from judgekit.report.row import grid, head, put

_SAID_CHARS = 160
_NONSENSE = {
    "refused": "refused: names mean something here",
    "answered": "answered: whatever name is asked for, the same model answers",
    "echoed": "answered, and its name echoed: the name in a reply proves nothing",
}
_OVERSIZED = {
    "refused": "refused, and the error is recognised: a run then asks in parts",
    "read whole": "read whole: no call of a run is too long for it",
    "cut silently": "CUT SILENTLY: it answered, and counted far fewer tokens than were sent",
    "refused, not recognised": "refused with an error that is not recognised as `too long`",
    "failed": "no answer, so that nothing is known",
    "cannot tell": "answered without counting tokens, so that it cannot be told whether it read all",
}


def show(found: Findings, *, console: Console) -> None:
    """Print what was found, for 80 columns and more; nothing is coloured unless the console is a terminal."""
    put(console, Text("judgekit doctor", style="bold"))
    lone = len(found.voices) == 1
    facts = [fact for part, voice in found.voices.items() for fact in _who("Judge" if lone else part, voice)]
    facts += _seen(found.probes)
    put(console, grid((Text(name), Text(said)) for name, said in facts), indent=2)
    units = found.accuracy["all"].units
    head(console, f"Canaries: {units} with known answers, asked {found.rounds} times")
    put(console, _table(found.accuracy), indent=2)
    put(console, Text("[ ]: 95 % interval; the unit is the canary, however often it is asked", style="dim"), indent=2)
    head(console, "Right by kind")
    put(console, Text(", ".join(f"{kind.replace('_', ' ')} {_of(one)}" for kind, one in found.kinds.items())), indent=2)
    head(console, "Asked again and again")
    put(console, grid((Text(name), Text(said)) for name, said in _manner(found)), indent=2)
    head(console, f"This judge is {found.fitness}")
    for reason in found.reasons:
        put(console, Text(f"- {reason}"), indent=2)


def _who(label: str, voice: Voice) -> Iterator[tuple[str, str]]:
    yield label.capitalize(), one_line(f"{voice.requested} @ {voice.base_url}")
    if voice.named:
        yield "Answers as", _names(voice.named)
        yield "Fingerprint", _names(voice.fingerprints)
    yield "Verifiable", one_line(f"{'yes' if voice.verifiable else 'no'}: {voice.why}")
    if voice.dialect:
        yield "Asked with", _dialect(voice)


def _names(counts: Mapping[str, int]) -> str:
    total = sum(counts.values())
    return ", ".join(f"{one_line(name) or 'none given'} ({count} of {total} replies)" for name, count in counts.items())


def _dialect(voice: Voice) -> str:
    form, dropped, renamed = (voice.dialect.get(name) for name in ("format", "dropped", "renamed"))
    said = [str(form)] if form else []
    if isinstance(dropped, list) and dropped:
        said.append(f"without {', '.join(map(str, dropped))}")
    if isinstance(renamed, dict):
        said.extend(f"{old} renamed to {new}" for old, new in renamed.items())
    return one_line("; ".join(said))


def _seen(probes: Probes) -> Iterator[tuple[str, str]]:
    if probes.headers:
        yield "Headers", one_line(", ".join(f"{name}: {value}" for name, value in probes.headers.items()))
    if probes.logprobs is not None:
        yield "Logprobs", probes.logprobs
    if probes.nonsense is not None:
        yield "No such model", _NONSENSE[probes.nonsense]
    if probes.oversized is not None:
        yield "Too long", f"{_OVERSIZED[probes.oversized]} (about {probes.oversized_tokens:,} tokens)"
        if probes.said and probes.oversized != "refused":
            yield "", shortened(probes.said, most=_SAID_CHARS)


def _table(groups: Mapping[str, Accuracy]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="")
    for name in ("", "units", "supported", "unsupported"):
        table.add_column(name, justify="right" if name else "left")
    table.add_column("balanced accuracy [95 %]")
    for name, one in groups.items():
        row = (name, str(one.units), number(one.supported), number(one.unsupported), _balanced(one))
        table.add_row(*row)
    return table


def _balanced(one: Accuracy) -> str:
    if one.balanced is None:
        return number(None)
    return f"{number(one.balanced)} [{one.low:.2f}, {one.high:.2f}]"


def _of(one: Accuracy) -> str:
    return f"{one.right:g} of {one.units}" if one.right == round(one.right) else f"{one.right:.1f} of {one.units}"


def _manner(found: Findings) -> Iterator[tuple[str, str]]:
    if found.flips is not None:
        ids = f": {', '.join(found.flipped)}" if found.flipped else ""
        yield "Itself", f"two askings differ in {found.flips:.1%} of the canaries{ids}"
    if found.quotes:
        yield "Quotes", f"{found.quotes_found} of {found.quotes} stand in the sources"
    yield "Injections", f"{found.injections_held} of {found.injections} held"
    missing = sum(found.unjudged.values())
    yield "Unjudged", f"{missing} of {found.asked}" + (f": {counted(found.unjudged)}" if missing else "")
    speed = found.speed
    if speed.median is not None:
        written = f"; {speed.written_per_second:.1f} tokens written a second" if speed.written_per_second else ""
        yield "Latency", f"{speed.median:.2f} s a call, 95 % below {speed.p95:.2f} s, one at a time{written}"
    tokens = f"{found.prompt_tokens:,} prompt and {found.completion_tokens:,} completion tokens"
    yield "Spent", f"{found.calls:,} calls for canaries, {tokens}"


def show_comparison(found: Comparison, *, console: Console) -> None:
    """Print whether the judge is still the one it was, and what that rests on."""
    put(console, Text("judgekit doctor, against an earlier judge", style="bold"))
    put(console, grid((Text(name), Text(said)) for name, said in _compared(found)), indent=2)
    head(
        console, {"same": "Still the same judge", "drifted": "Not the same judge"}.get(found.outcome, "Could not check")
    )
    for reason in found.reasons:
        put(console, Text(f"- {shortened(reason, most=4 * _SAID_CHARS)}"), indent=2)


def _compared(found: Comparison) -> Iterator[tuple[str, str]]:
    for part, spec in found.was.items():
        yield part.capitalize(), one_line(f"{spec.resolved or spec.model} @ {spec.base_url}")
    seen = set(found.fingerprints_now) - set(found.fingerprints_then)
    if found.fingerprints_then or found.fingerprints_now:
        new = f"new today: {', '.join(sorted(seen))}" if seen else "none that was not there then"
        yield "Fingerprints", one_line(new)
    if found.basis is not None and found.rate is not None:
        of = "canaries" if found.basis == "canaries" else "checks of the run"
        labels = f"{len(found.flipped)} of {found.units} {of} have another label"
        yield "Labels", f"{labels}: {found.lost} lost support, {found.gained} gained it"
        yield "Limit", f"{found.alarm} or more would be drift, at a flip rate of {found.rate:.1%}"
    if found.unjudged:
        yield "Unjudged", str(found.unjudged)
    if found.flipped:
        yield "Changed", one_line(", ".join(found.flipped))
