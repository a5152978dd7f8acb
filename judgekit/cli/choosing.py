"""Options that choose a judge and metrics, and what they amount to."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar, get_type_hints

import click
from pydantic import JsonValue, TypeAdapter, ValidationError

from judgekit.cli.sections import under
from judgekit.errors import InputError
from judgekit.judge import Judge
from judgekit.judge.classifier import FORMS as CLASSIFIERS
from judgekit.judge.decisions_asked import FORMS
from judgekit.judge.parts import LOCAL_SCHEMES
from judgekit.metrics import METRICS, Metric, Rubric, metrics_of
from judgekit.records import Need, Options

F = TypeVar("F", bound=Callable[..., Any])

_judge = under("Judge")
_decider = under("Deciders, who give the verdicts beside the judge or alone")
_kept = under("Recorded and kept replies")
_pace = under("Pace")

NO_JUDGE = """no judge given. Ways to give one:
  an endpoint      --judge MODEL --base-url URL   any OpenAI-compatible endpoint, for instance
                   --judge gpt-4.1-mini-2025-04-14 --base-url https://api.openai.com/v1
                   --judge qwen2.5 --base-url http://127.0.0.1:11434/v1
                   (the key is read from OPENAI_API_KEY, from another variable with --api-key-env NAME, or from a file
                   with --api-key-file FILE; a server that wants none gets none)
  a decision model --decider MODEL --decider-url URL  decides beside --judge, or alone with --split segments
  a model file     --judge local:FILE.gguf        served by a process of its own (pip install 'judgekit[local]');
                   --judge hf:OWNER/REPO/FILE.gguf  fetches it first
  a recording      --cassette FILE                replays what `run --record` wrote, without a network
  just to look     judgekit demo                  the shipped log with its shipped recording"""


split_option = click.option(
    "--split",
    type=click.Choice(["claims", "segments"]),
    default="claims",
    show_default=True,
    help="Judge extracted claims, or the sentences themselves (saves the splitting call).",
)
evidence_option = click.option(
    "--evidence",
    type=click.Choice(["shown", "required"]),
    default="shown",
    show_default=True,
    help="Whether support counts only with a quote that stands in the sources.",
)
source_option = click.option(
    "--source-chars",
    type=click.IntRange(1),
    default=Options().source_chars_per_call,
    show_default=True,
    help="Characters of sources in one call at most; longer ones are asked in parts.",
)


def judge_options(command: F) -> F:
    """The options of every command that asks a judge."""
    options = [
        _judge("--judge", "model", metavar="MODEL", envvar="JUDGEKIT_JUDGE", help="Judge model; prefer a dated name."),
        _judge(
            "--base-url",
            metavar="URL",
            envvar=["JUDGEKIT_BASE_URL", "OPENAI_BASE_URL"],
            help="OpenAI-compatible endpoint, up to and including /v1.",
        ),
        _decider(
            "--decider", metavar="MODEL", help="Decision model that answers the typed questions; see docs/judges.md."
        ),
        _decider(
            "--decider-url",
            metavar="URL",
            help="Its endpoint, up to and including /v1, or the whole URL of its requests.  [default: --base-url]",
        ),
        _decider(
            "--decider-form",
            type=click.Choice([*FORMS, *CLASSIFIERS]),
            help="How it is asked.  [default: found out by the first call]",
        ),
        _decider(
            "--decider-label",
            "decider_labels",
            multiple=True,
            metavar="CLASS=RELATION",
            help="What a class of an entailment classifier means: entailment, neutral or contradiction.",
        ),
        _decider(
            "--decider-pair",
            metavar="TEXT",
            help="How {premise} and {hypothesis} become the one text that vllm-classify takes.",
        ),
        _decider("--decider-key-env", metavar="NAME", help="Environment variable that holds its key."),
        _decider(
            "--panel",
            multiple=True,
            metavar="MODEL[@URL[#NAME]]",
            help="One more decider: another model of --base-url, or one at a URL with its key in variable NAME.",
        ),
        _decider(
            "--votes",
            type=click.IntRange(1),
            default=1,
            show_default=True,
            help="How often each decider is asked; the majority of all counts.",
        ),
        _judge(
            "--embedding-model",
            metavar="MODEL",
            help="Embeddings model of the same endpoint, for answer_relevance_embedding.",
        ),
        _judge(
            "--context-size",
            type=click.IntRange(256),
            metavar="TOKENS",
            help="What a local: or hf: model can read and write in one call.  [default: 8192]",
        ),
        _judge(
            "--readout",
            is_flag=True,
            help="Answer each question by one token, with probabilities from the endpoint's logprobs.",
        ),
        _judge(
            "--confidence",
            type=click.Choice(["logprobs"]),
            help="Keep the probability of every label written, where the endpoint gives it.",
        ),
        _judge(
            "--api-key-env",
            metavar="NAME",
            default="OPENAI_API_KEY",
            show_default=True,
            help="Environment variable that holds the key.",
        ),
        _judge("--api-key-file", type=click.Path(path_type=Path), help="File that holds the key, instead."),
        _judge(
            "--header-env",
            "headers",
            multiple=True,
            metavar="HEADER=NAME",
            help="Send this header, with the value of an environment variable.",
        ),
        _judge("--param", "params", multiple=True, metavar="K=V", help="Set a request parameter (JSON value)."),
        _judge("--no-param", "unset", multiple=True, metavar="K", help="Leave out a request parameter."),
        _kept("--cassette", type=click.Path(path_type=Path), help="Replay this recording instead of asking."),
        _kept("--record", is_flag=True, help="With --judge and --cassette: write what was asked to the cassette."),
        _kept("--cache", type=click.Path(path_type=Path), help="Keep paid replies here.  [default: RUN/cache]"),
        _judge("--prompts", type=click.Path(path_type=Path), help="Folder with prompts that replace shipped ones."),
        _judge("--strict-pin", is_flag=True, help="Refuse a judge whose name may come to mean another model."),
        _pace("--concurrency", type=click.IntRange(1), default=16, show_default=True, help="Most calls in flight."),
        _pace("--rpm", type=click.FloatRange(0, min_open=True), help="Requests a minute at most."),
        _pace("--tpm", type=click.FloatRange(0, min_open=True), help="Tokens a minute at most."),
        _pace(
            "--timeout",
            type=click.FloatRange(0, min_open=True),
            default=120.0,
            show_default=True,
            help="Seconds for one attempt.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def judge_of(
    *,
    model: str | None,
    base_url: str | None,
    decider: str | None,
    decider_url: str | None,
    decider_form: str | None,
    decider_labels: Iterable[str],
    decider_pair: str | None,
    decider_key_env: str | None,
    panel: Iterable[str],
    votes: int,
    embedding_model: str | None,
    context_size: int | None,
    readout: bool,
    confidence: Literal["logprobs"] | None,
    api_key_env: str,
    api_key_file: Path | None,
    headers: Iterable[str],
    params: Iterable[str],
    unset: Iterable[str],
    cassette: Path | None,
    record: bool,
    cache: Path | None,
    prompts: Path | None,
    concurrency: int,
    rpm: float | None,
    tpm: float | None,
    timeout: float,
    strict_pin: bool,
) -> Judge:
    """The judge that the options describe. Raises InputError naming the ways to give one."""
    if record and not ((model or decider) and cassette):
        raise InputError(
            "--record needs a judge to ask and a cassette to write: --judge MODEL --base-url URL --cassette FILE"
        )
    if cassette and not record:
        if decider or given("model", model):
            raise InputError(
                "--cassette replays a recording and asks no judge; add --record to record one, or leave out the judge"
            )
        return Judge.replay(cassette, prompts=prompts)
    if not model and not decider:
        raise InputError(NO_JUDGE)
    if decider and not (decider_url or base_url):
        raise InputError(f"--decider {decider} needs the endpoint that serves it: --decider-url URL (or --base-url)")
    is_local = bool(model) and str(model).startswith(LOCAL_SCHEMES)
    if is_local:
        base_url = given("base_url", base_url)  # what the environment says of another judge is none of its business
    elif model and not base_url:
        raise InputError(f"--judge {model} needs the endpoint that serves it: --base-url URL (or OPENAI_BASE_URL)")
    alike = partial(
        Judge,
        readout=readout,
        confidence=confidence,
        params={**dict(map(_pair, params)), **dict.fromkeys(unset)},
        timeout=timeout,
        concurrency=concurrency,
        rpm=rpm,
        tpm=tpm,
        prompts=prompts,
        strict_pin=strict_pin,
    )
    judge = alike(
        model or None,
        base_url=base_url,
        decider=decider,
        decider_url=decider_url,
        decider_form=decider_form,
        decider_labels=dict(map(_class, decider_labels)),
        decider_pair=decider_pair,
        decider_key=_set_in("--decider-key-env", decider_key_env),
        panel=[_member(one, alike) for one in panel],
        votes=votes,
        embedding_model=embedding_model,
        context_size=context_size,
        on_message=_tell,
        api_key=None if is_local else _key(api_key_env, api_key_file),
        headers=dict(map(_header, headers)),
        cache=cache,
    )
    if judge.aliases:
        click.echo(
            f"judgekit: {', '.join(judge.aliases)} names no snapshot: if another model answers under it some day, runs "
            "can no longer be compared; prefer a dated name (--strict-pin insists on one)",
            err=True,
        )
    if record:
        judge.record()
    return judge


def given(option: str, value: str | None) -> str | None:
    """The value of an option that was given on the command line; None when it came from elsewhere."""
    source = click.get_current_context().get_parameter_source(option)
    return value if source is click.core.ParameterSource.COMMANDLINE else None


def _tell(message: str) -> None:
    click.echo(f"judgekit: {message}", err=True)


def _class(text: str) -> tuple[str, str]:
    name, equals, relation = text.rpartition("=")
    if not equals or not name:
        raise InputError(f"--decider-label {text}: write CLASS=RELATION, for instance --decider-label 0=contradiction")
    return name, relation


def _member(text: str, alike: Callable[..., Judge]) -> str | Judge:
    """One more member of a panel. A key is sent to the URL that it was given for and to no other."""
    model, at, where = text.partition("@http")
    if not at:
        return text
    url, _, variable = where.partition("#")
    return alike(model, base_url=f"http{url}", api_key=_set_in(f"--panel {text}", variable))


def _set_in(option: str, variable: str | None) -> str | None:
    """The value of an environment variable that an option names; None when it names none."""
    if variable and not os.environ.get(variable):
        raise InputError(f"{option}: the environment variable {variable} is not set")
    return os.environ.get(variable) if variable else None


def _key(variable: str, file: Path | None) -> str | None:
    if file is None:
        return os.environ.get(variable) or None
    try:
        return file.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise InputError(f"--api-key-file {file}: {error.strerror or error}") from None


def _header(text: str) -> tuple[str, str]:
    name, equals, variable = text.partition("=")
    if not equals or not name or not variable:
        raise InputError(f"--header-env {text}: write HEADER=NAME, for instance --header-env X-Team=TEAM_TOKEN")
    value = os.environ.get(variable)
    if not value:
        raise InputError(f"--header-env {text}: the environment variable {variable} is not set")
    return name, value


def _pair(text: str) -> tuple[str, JsonValue]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise InputError(f"--param {text}: write NAME=VALUE, for instance --param temperature=0.2")
    try:
        parsed: JsonValue = json.loads(value)
    except ValueError:
        parsed = value
    return name, parsed


def mapping_of(pairs: Iterable[str]) -> dict[str, str]:
    """`--map field=column` options as a mapping."""
    mapping = {}
    for text in pairs:
        field, equals, column = text.partition("=")
        if not equals or not field or not column:
            raise InputError(f"--map {text}: write FIELD=COLUMN, for instance --map question=user_input")
        mapping[field] = column
    return mapping


def metrics_chosen(
    listed: Iterable[str], settings: Iterable[str], *, default: Iterable[str | Metric], rubrics: Iterable[str] = ()
) -> tuple[Metric, ...]:
    """The metrics of `--metrics a,b` and `--rubric name=criterion`, with `--set metric.option=value` applied.

    `all` leaves out what needs an embeddings model, which not every endpoint has.
    """
    names = [name.strip() for text in listed for name in text.split(",") if name.strip()]
    every = [metric for metric in METRICS.values() if Need.REVERSE_QUESTIONS not in metric.needs]
    known: list[str | Metric] = [*every] if names == ["all"] else [*names] or list(default)
    chosen = {metric.name: metric for metric in metrics_of([*known, *map(_rubric, rubrics)])}
    for text in settings:
        target, equals, value = text.partition("=")
        name, _, option = target.partition(".")
        if not equals or name not in chosen:
            raise InputError(f"--set {text}: write METRIC.OPTION=VALUE with a metric of this run ({', '.join(chosen)})")
        chosen[name] = _with_option(chosen[name], option, _pair(f"{option}={value}")[1])
    return tuple(chosen.values())


def _rubric(text: str) -> Rubric:
    name, equals, criterion = text.partition("=")
    if not equals:
        raise InputError(f"--rubric {text}: write NAME=CRITERION, for instance --rubric polite='The answer is polite.'")
    return Rubric(name=name.strip(), criterion=criterion.strip())


def _with_option(metric: Metric, option: str, value: JsonValue) -> Metric:
    known: list[str] = [field.name for field in fields(metric)] if is_dataclass(metric) else []
    if option not in known:
        raise InputError(
            f"--set {metric.name}.{option}: no such option; {metric.name} has: {', '.join(known) or 'none'}"
        )
    wanted = get_type_hints(type(metric))[option]
    try:
        fitting = TypeAdapter(wanted).validate_json(json.dumps(value), strict=True)
    except ValidationError:
        name = getattr(wanted, "__name__", None) if isinstance(wanted, type) else None
        raise InputError(f"--set {metric.name}.{option}={value}: not of the type {name or wanted}") from None
    changed: Metric = replace(metric, **{option: fitting})  # type: ignore[type-var]  # is a dataclass: it has fields
    return changed
