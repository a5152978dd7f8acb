"""The same log judged through servers that speak like the well-known ones gives the same numbers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from misbehaving import Server
from providers import KEY, PROVIDERS, Provider, known_requests
from scripts import Truth, judge_that, lines, row

import judgekit as jk
from judgekit.cli import cli
from judgekit.errors import JudgeUnusable

METRICS = "faithfulness,citation_support,context_precision,answer_relevance"
TRUTH = Truth(labels=lambda claim, _: "unsupported" if "litres" in claim else "supported")
every_provider = pytest.mark.parametrize("provider", PROVIDERS.values(), ids=PROVIDERS)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    path.write_text(lines(row(number) for number in (1, 3, 5)), encoding="utf-8")
    return path


def address(provider: Provider, server: Server) -> str:
    return server.url.removesuffix("/v1") + provider.path


def judged(log: Path, out: Path, provider: Provider, server: Server, *more: str) -> Result:
    arguments = ["run", str(log), "-o", str(out), "--judge", provider.model, "--base-url", address(provider, server)]
    return CliRunner().invoke(cli, [*arguments, "--metrics", METRICS, *more], env={"OPENAI_API_KEY": KEY})


def scores(run: jk.Run) -> list[Any]:
    return [[(score.metric, score.value) for score in result.scores] for result in run]


@every_provider
def test_a_log_is_judged_with_a_base_url_and_a_model_name(log: Path, tmp_path: Path, provider: Provider) -> None:
    expected = judge_that(labels=TRUTH.labels)
    known = jk.judge_log(log, out=tmp_path / "known", judge=expected.judge, metrics=METRICS.split(","))
    with Server(provider.handler(TRUTH, known_requests(expected.asked))) as server:
        outcome = judged(log, tmp_path / "run", provider, server)
        assert outcome.exit_code == 0, outcome.output
        rung = ("json_schema", "json_object", "text").index(provider.format)
        refused = len(provider.dropped) + len(provider.renamed) + rung
        run = jk.load_run(tmp_path / "run")
        assert len(server.requests) == run.manifest.sessions[0].sent + refused, "what is refused is found out once"
    assert scores(run) == scores(known)
    assert [name in outcome.stdout.partition("Left out")[2] for name in provider.dropped] == [True] * len(
        provider.dropped
    )
    assert run.manifest.judge["extractor"]["resolved"] == provider.resolved  # type: ignore[index, call-overload]
    assert run.manifest.dialect["extractor"] == {
        "format": provider.format,
        "dropped": list(provider.dropped),
        "renamed": dict(provider.renamed),
    }
    assert not any(KEY.encode() in path.read_bytes() for path in run.folder.rglob("*") if path.is_file())


@every_provider
def test_from_python_inside_a_running_loop_as_in_a_notebook(provider: Provider) -> None:
    sample = row(1)

    async def cell(judge: jk.Judge) -> jk.Result:
        asked = {name: sample[name] for name in ("question", "answer", "contexts")}
        return jk.score(**asked, judge=judge, metrics=["faithfulness"])

    scripted = judge_that(labels=TRUTH.labels)
    asyncio.run(cell(scripted.judge))
    server = Server(provider.handler(TRUTH, known_requests(scripted.asked)))
    with server, jk.Judge(provider.model, base_url=address(provider, server), api_key=KEY) as judge:
        assert asyncio.run(cell(judge))["faithfulness"].value == 0.5
        assert judge.specs["extractor"].resolved == provider.resolved


def test_a_row_that_azure_s_content_filter_refuses_is_unjudged_and_the_others_are_judged(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(lines(row(number) for number in (1, 2, 3)), encoding="utf-8")
    provider = PROVIDERS["Azure OpenAI"]
    with Server(provider.handler(TRUTH, {})) as server:
        outcome = judged(log, tmp_path / "run", provider, server, "--max-unjudged", "1")
    assert outcome.exit_code == 0, outcome.output
    run = jk.load_run(tmp_path / "run")
    assert [result["faithfulness"].value for result in run] == [0.5, None, 0.5]
    assert {fault.cause for fault in run["r2"].faults} == {"content_filter"}


def test_a_wrong_key_names_the_remedy_whoever_serves(log: Path, tmp_path: Path) -> None:
    provider = PROVIDERS["Azure OpenAI"]
    with Server(provider.handler(TRUTH, {})) as server:
        arguments = ["run", str(log), "-o", str(tmp_path / "run"), "--judge", provider.model]
        outcome = CliRunner().invoke(
            cli, [*arguments, "--base-url", address(provider, server)], env={"OPENAI_API_KEY": "wrong"}
        )
    assert isinstance(outcome.exception, JudgeUnusable)
    assert "set the API key" in str(outcome.exception)
    assert "wrong" not in str(outcome.exception)


def test_a_header_from_the_environment_goes_with_every_request_and_is_kept_nowhere(log: Path, tmp_path: Path) -> None:
    provider = PROVIDERS["vLLM"]
    with Server(provider.handler(TRUTH, {})) as server:
        arguments = ["run", str(log), "-o", str(tmp_path / "run"), "--judge", provider.model, "--metrics", METRICS]
        arguments += ["--base-url", address(provider, server), "--header-env", "X-Team=TEAM_TOKEN"]
        missing = CliRunner().invoke(cli, arguments, env={"TEAM_TOKEN": None})
        assert (type(missing.exception), len(server.requests)) == (jk.InputError, 0)
        assert CliRunner().invoke(cli, arguments, env={"TEAM_TOKEN": "planted-token"}).exit_code == 0
        assert {request.headers["x-team"] for request in server.requests} == {"planted-token"}
    assert not any(b"planted-token" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
