"""Asking today's endpoint what an earlier judge was asked: its canaries, or a sample of a run's own checks."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from judgekit.desk import sources_for
from judgekit.doctor import tallies
from judgekit.doctor.asking import ask
from judgekit.doctor.canaries import canaries, digest_of
from judgekit.doctor.comparing import Basis, Comparison, Then, compared, differences
from judgekit.doctor.examine import templates_of
from judgekit.doctor.findings import Findings
from judgekit.errors import InputError, JudgeDrift, JudgeError, JudgeStop
from judgekit.judge import Judge
from judgekit.judge.asking import key_of
from judgekit.records import Claim, Label, Result, Verdict
from judgekit.rundir import Run, has_run
from judgekit.stats import flip_rate, hash_rank_sample
from judgekit.tasks import Source, verify
from judgekit.wire import JudgeRequest, JudgeSpec
from judgekit.writing import write_whole

#: Where a run keeps what the doctor found about its judge.
KEPT = "doctor.json"
#: So many checks of a run are asked again, or a few more: calls are drawn whole.
CHECKS = 60


class Baseline(NamedTuple):
    """What today's judge is held against: who answered then, and the findings or the run that tell what was said."""

    judge: dict[str, JudgeSpec]
    fingerprints: tuple[str, ...]
    findings: Findings | None
    run: Run | None


def baseline_of(path: Path) -> Baseline:
    """The baseline in a run's folder, or in a file that `doctor --out` wrote. Raises InputError for anything else."""
    if path.is_dir() or has_run(path):
        run = Run(path)
        judge = {part: JudgeSpec.model_validate(spec) for part, spec in run.manifest.judge.items()}
        findings = _findings(path / KEPT) if (path / KEPT).exists() else None
        return Baseline(judge, run.manifest.fingerprints, findings, run)
    findings = _findings(path)
    seen = {mark for voice in findings.voices.values() for mark in voice.fingerprints if mark}
    return Baseline(findings.judge, tuple(sorted(seen)), findings, None)


def _findings(path: Path) -> Findings:
    try:
        return Findings.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}; give a run's folder, or a file of doctor --out") from None
    except ValidationError as error:
        raise InputError(
            f"{path}: no findings of a doctor ({error.error_count()} faults); write them anew with doctor --out"
        ) from None


def belongs_to(folder: Path, judge: Mapping[str, JudgeSpec]) -> None:
    """Raises InputError when a run has another judge than this one."""
    begun = {part: JudgeSpec.model_validate(spec) for part, spec in Run(folder).manifest.judge.items()}
    if told := differences(begun, judge) + differences(begun, judge, resolved=True):
        raise InputError(f"{folder}: the run has another judge than the one to be examined: {'; '.join(told)}")


def keep(found: Findings, folder: Path) -> None:
    """Keep findings beside a run, for later comparisons. Raises InputError when they are those of another judge."""
    belongs_to(folder, found.judge)
    write_whole(folder / KEPT, found.model_dump_json(indent=2) + "\n")


async def against(baseline: Baseline, judge: Judge, *, on_call: Callable[[], None] = lambda: None) -> Comparison:
    """Whether this judge is still that of the baseline: configured alike, answering under the same name, of one mind.

    Nothing is raised for what the endpoint does: what could not be asked could not be checked.
    """
    told = differences(baseline.judge, judge.specs)
    if told:
        return _with(Comparison(outcome="drifted", reasons=tuple(told)), baseline, judge)
    judge.record()
    try:
        found = await _asked_again(baseline, judge, on_call)
    except JudgeDrift as drift:
        found = Comparison(outcome="drifted", reasons=(str(drift),))
    except (JudgeError, JudgeStop) as error:
        found = Comparison(outcome="could not check", reasons=(str(error),))
    if told := differences(baseline.judge, judge.specs, resolved=True):
        found = found.having(outcome="drifted", reasons=(*told, *found.reasons))
    return _with(found, baseline, judge)


def _with(found: Comparison, baseline: Baseline, judge: Judge) -> Comparison:
    rows = (json.loads(row) for kept in judge.recorded.values() for row in kept.values())
    now = {str(mark) for row in rows if (mark := (row.get("reply") or {}).get("fingerprint"))}
    return found.having(
        was=baseline.judge,
        now=judge.specs,
        fingerprints_then=baseline.fingerprints,
        fingerprints_now=tuple(sorted(now)),
    )


async def _asked_again(baseline: Baseline, judge: Judge, on_call: Callable[[], None]) -> Comparison:
    if (then := baseline.findings) is not None:
        return await _canaries_again(then, judge, on_call)
    if baseline.run is None:
        raise InputError("there is neither a run nor findings to compare with")
    return await _checks_again(baseline.run, judge, on_call)


async def _canaries_again(then: Findings, judge: Judge, on_call: Callable[[], None]) -> Comparison:
    flocks = canaries()
    if then.canaries != digest_of(flocks) or then.templates != templates_of(judge.prompts):
        return Comparison(
            outcome="could not check",
            reasons=(
                "the canaries or the prompts are not those of then; keep findings anew with doctor --save or --out",
            ),
        )
    said = tallies.supports((await ask(judge, flocks, rounds=1, on_call=on_call)).readings)
    units = [
        Then(unit=one.id, then=then.said.get(one.id, ()), now=tuple(said.get(one.id, ())))
        for flock in flocks
        for one in flock.canaries
    ]
    basis: Basis = "canaries"
    return compared(units, rate=then.flips, basis=basis)


# --- a run's own checks ---------------------------------------------------------------------------


class _Call(NamedTuple):
    """One call of a run that can be made again with the same bytes: its key, its question, and what was said."""

    key: str
    request: JudgeRequest
    sources: tuple[Source, ...]
    claims: tuple[Claim, ...]
    said: tuple[Verdict, ...]


async def _checks_again(run: Run, judge: Judge, on_call: Callable[[], None]) -> Comparison:
    decides = "decider" if "decider" in judge.specs else "extractor"
    backend, spec = judge.backends[decides], JudgeSpec.model_validate(run.manifest.judge[decides])
    dialect = run.manifest.dialect.get(decides)
    if isinstance(dialect, Mapping):
        backend.learn(dialect)

    def is_same(call: _Call) -> bool:
        return key_of(spec, backend.prepare(call.request), 0) == call.key

    sizes: dict[str, tuple[int, str]] = {}
    for result in run:
        sizes.update((call.key, (len(call.said), result.id)) for call in _calls(result, judge) if is_same(call))
    drawn: dict[str, str] = {}
    checks = 0
    for key in hash_rank_sample(sizes, seed="doctor", n=len(sizes)):
        if checks >= CHECKS:
            break
        checks, drawn[key] = checks + sizes[key][0], sizes[key][1]
    if not drawn:
        return Comparison(
            outcome="could not check",
            reasons=(
                "no call of the run would be made with the same bytes today: other prompts, another judgekit, or votes",
            ),
        )
    required = run.manifest.options.evidence == "required"
    units: list[Then] = []
    twice: list[list[bool]] = []
    for key, row in drawn.items():
        call = next(call for call in _calls(run[row], judge) if call.key == key)
        answered = [await _supports(judge, call, number, evidence_required=required) for number in (0, 1)]
        on_call()
        for verdict in call.said:
            now = [again[verdict.check.claim_id] for again in answered]
            judged = tuple(label for label in now if label is not None)
            name = f"{row} {verdict.check.claim_id}"
            units.append(Then(unit=name, then=(verdict.label is Label.SUPPORTED,), now=judged))
            twice.append(list(judged))
    basis: Basis = "checks"
    return compared(units, rate=flip_rate(twice), basis=basis)


def _calls(result: Result, judge: Judge) -> Iterator[_Call]:
    """The calls for verdicts of a row, put together again: the verdicts of one call have its key, and its sources. What
    was asked in parts, or asked again, is left out."""
    claims = {claim.id: claim for claim in result.claims}
    groups: dict[tuple[str, tuple[str, ...]], list[Verdict]] = {}
    for verdict in result.verdicts:
        is_whole = len(verdict.calls) == 1 and not verdict.in_parts and verdict.label is not Label.UNJUDGED
        if is_whole and verdict.check.claim_id in claims:
            groups.setdefault((verdict.calls[0], verdict.check.sources), []).append(verdict)
    for (key, sources), said in groups.items():
        asked = tuple(claims[verdict.check.claim_id] for verdict in said)
        shown = tuple(sources_for(result.case.sample, sources))
        yield _Call(key, verify.request(judge.prompts, shown, asked), shown, asked, tuple(said))


async def _supports(judge: Judge, call: _Call, number: int, *, evidence_required: bool) -> dict[str, bool | None]:
    """Claim -> whether today's judge finds it supported; None when it stays unjudged."""
    answers = (await judge.ask(call.request, repeat=number)).answers
    sources = call.said[0].check.sources
    read = verify.read(answers, call.sources, call.claims, sources, evidence_required=evidence_required)
    return {one.check.claim_id: None if one.label is Label.UNJUDGED else one.label is Label.SUPPORTED for one in read}
