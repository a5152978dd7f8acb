"""The command that looks at the judge itself."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgekit.cli.choosing import given, judge_of, judge_options
from judgekit.cli.sections import Sectioned
from judgekit.errors import InputError
from judgekit.judge import Judge
from judgekit.judge.chat import FORM as CHAT
from judgekit.judge.local import SCHEME as LOCAL
from judgekit.judge.panel import VOTES
from judgekit.judge.parts import DEFAULT_PARAMS
from judgekit.judge.readout import FORM as READOUT
from judgekit.wire import JudgeSpec

if TYPE_CHECKING:
    from judgekit.doctor import Findings
    from judgekit.doctor.comparing import Comparison

_INVALID = 3


@click.command(cls=Sectioned)
@judge_options
@click.option(
    "--repeat", "rounds", type=click.IntRange(1), default=3, show_default=True, help="How often each canary is asked."
)
@click.option("--no-oversized", is_flag=True, help="Do not send the one request that is too long on purpose.")
@click.option("-o", "--out", type=click.Path(path_type=Path), help="Keep the findings in this file, for --against.")
@click.option("--save", metavar="RUN", type=click.Path(path_type=Path), help="Keep them beside a run of this judge.")
@click.option(
    "--against",
    metavar="RUN",
    type=click.Path(path_type=Path),
    help="Is it still the judge of this run, or of a file of --out? By default that run's judge is asked.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead.")
def doctor(
    rounds: int,
    no_oversized: bool,
    out: Path | None,
    save: Path | None,
    against: Path | None,
    as_json: bool,
    **judge: Any,
) -> int:
    """Find out what a judge can do, who answers, and if it is fit.

    Asks a shipped set of canaries, checks with known answers, several times. Exit code 3 when the judge is not fit.

    With --against, asks once more what an earlier judge was asked: the canaries that were kept with --save or --out, or
    else a sample of the run's own checks. Exit code 3 when it is not the same judge, or could not be checked.
    """
    if judge["cache"] is not None:
        raise InputError("doctor asks anew each time, that is its point; leave out --cache")
    if against is not None:
        if out or save:
            raise InputError("--against compares and keeps nothing; leave out --out and --save")
        return _compare(against, judge, as_json=as_json)
    from judgekit.doctor.drift import belongs_to, keep  # noqa: PLC0415 - only this command needs it

    asked = judge_of(**judge)
    if save is not None:
        belongs_to(save, asked.specs)  # said before anything is paid for
    try:
        found = _examined(asked, rounds=rounds, oversized=not no_oversized)
    finally:
        if judge["record"] and judge["cassette"]:
            asked.write_cassette(judge["cassette"])
    if out is not None:
        out.write_text(found.model_dump_json(indent=2) + "\n", encoding="utf-8")
    if save is not None:
        keep(found, save)
    _print(found, as_json=as_json)
    return _INVALID if found.fitness == "not fit" else 0


def _compare(path: Path, options: dict[str, Any], *, as_json: bool) -> int:
    from judgekit.doctor.drift import against, baseline_of  # noqa: PLC0415 - only this command needs it

    baseline = baseline_of(path)
    judge = judge_of(**_options(baseline.judge, options))

    async def work(on_call: Callable[[], None]) -> Comparison:
        async with judge:
            return await against(baseline, judge, on_call=on_call)

    try:
        with _progress(None) as on_call:
            found = asyncio.run(work(on_call))
    finally:
        if options["record"] and options["cassette"]:
            judge.write_cassette(options["cassette"])
    _print(found, as_json=as_json)
    return 0 if found.outcome == "same" else _INVALID


def _options(pinned: Mapping[str, JudgeSpec], options: dict[str, Any]) -> dict[str, Any]:
    """The options of the judge that is pinned, unless another is given on the command line."""
    judge, decider = pinned.get("extractor"), pinned.get("decider")
    if options["decider"] or options["cassette"] or given("model", options["model"]):
        return options
    decides = decider.form if decider else None
    several = pinned.keys() - {"extractor", "decider", "embedder"}
    if several or judge is None or judge.form != CHAT or judge.base_url == LOCAL or decides not in (None, READOUT):
        raise InputError("the judge of then cannot be told from its pin alone; give it again with --judge")
    params = {**dict.fromkeys(DEFAULT_PARAMS), **judge.params}
    return {
        **options,
        "model": judge.model,
        "base_url": given("base_url", options["base_url"]) or judge.base_url,
        "readout": decides == READOUT,
        "votes": (decider or judge).settings.get(VOTES, 1),
        "params": [f"{name}={json.dumps(value)}" for name, value in params.items() if value is not None],
        "unset": [name for name, value in params.items() if value is None],
    }


def _print(found: Findings | Comparison, *, as_json: bool) -> None:
    from rich.console import Console  # noqa: PLC0415 - loads only when something is printed

    from judgekit.doctor.findings import Findings  # noqa: PLC0415
    from judgekit.doctor.show import show, show_comparison  # noqa: PLC0415

    if as_json:
        click.echo(found.model_dump_json(indent=2))
    elif isinstance(found, Findings):
        show(found, console=Console())
    else:
        show_comparison(found, console=Console())


def _examined(judge: Judge, *, rounds: int, oversized: bool) -> Findings:
    from judgekit.doctor import canaries, examine  # noqa: PLC0415 - only this command needs it

    async def work(on_call: Callable[[], None]) -> Findings:
        async with judge:
            return await examine(judge, rounds=rounds, oversized=oversized, on_call=on_call)

    with _progress(len(canaries()) * rounds) as on_call:
        return asyncio.run(work(on_call))


@contextmanager
def _progress(total: int | None) -> Iterator[Callable[[], None]]:
    """A progress bar where stderr is a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console  # noqa: PLC0415 - only where there is a terminal
    from rich.progress import Progress  # noqa: PLC0415

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("asking canaries", total=total)
        yield lambda: bar.advance(task)
