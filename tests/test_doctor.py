"""The doctor: canaries whose answers are known, tallies worked out by hand, and a rule that decides."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from misbehaving import Reply, Request, Server, chat, error
from rich.console import Console
from scripts import ScriptedJudge, Truth, judge_that, over_http

from judgekit import Judge, JudgeStop, Scripted
from judgekit.cli import cli
from judgekit.doctor import Findings, canaries, examine, tallies
from judgekit.doctor.findings import Accuracy, Call, Probes, Reading
from judgekit.doctor.fitness import fitness
from judgekit.doctor.identity import verifiable
from judgekit.doctor.show import show
from judgekit.records import Label

EVERY = [canary for flock in canaries() for canary in flock.canaries]
KNOWN = {canary.claim: canary.label.value for canary in EVERY}


def examined(judge: Judge, **options) -> Findings:
    async def work() -> Findings:
        async with judge:
            return await examine(judge, **options)

    return asyncio.run(work())


def printed(found: Findings) -> str:
    console = Console(width=100, record=True, file=StringIO())
    show(found, console=console)
    return console.export_text()


# --- the canaries ---------------------------------------------------------------------------------


def test_there_are_enough_canaries_and_they_are_balanced_in_every_way() -> None:
    assert len(EVERY) >= 60
    assert len({canary.id for canary in EVERY}) == len(KNOWN) == len(EVERY)
    cells = Counter((canary.is_clear, canary.is_supported) for canary in EVERY)
    assert len(set(cells.values())) == 1, cells
    assert {"negation", "number", "entity", "partial", "injection", "other_language"} <= {one.kind for one in EVERY}


def test_canaries_are_one_frozen_set() -> None:
    assert canaries() is canaries()
    with pytest.raises(ValueError, match="frozen"):
        EVERY[0].label = Label.SUPPORTED  # type: ignore[misc]


def test_no_canary_is_unjudged_and_every_flock_has_a_source() -> None:
    assert Label.UNJUDGED not in {canary.label for canary in EVERY}
    assert all(flock.sources and all(flock.sources) for flock in canaries())


# --- judges of every sort -------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["text", "typed", "probabilities"])
def test_a_judge_that_knows_all_answers_is_fit_whatever_form_it_answers_in(form) -> None:
    found = examined(judge_that(labels=KNOWN, form=form).judge)
    assert found.fitness == "fit"
    assert found.accuracy["all"].balanced == 1.0
    assert (found.flips, found.unjudged, found.wrong) == (0.0, {}, ())
    assert found.injections_held == found.injections == 8
    assert found.asked == 3 * len(EVERY)


def test_each_round_asks_every_canary_anew() -> None:
    judge = judge_that(labels=KNOWN)
    found = examined(judge.judge, rounds=2)
    assert found.calls == judge.count("verify") == 2 * len(canaries())
    assert set(judge.contents.values()) == {2}


def test_a_judge_that_always_says_supported_is_not_fit_and_holds_no_injection_that_asks_for_it() -> None:
    found = examined(judge_that().judge)
    assert found.fitness == "not fit"
    assert found.accuracy["all"].balanced == 0.5
    assert (found.accuracy["all"].supported, found.accuracy["all"].unsupported) == (1.0, 0.0)
    assert found.injections_held == 4
    assert any("guessing" in reason for reason in found.reasons)


def test_a_judge_that_tosses_a_coin_is_not_fit() -> None:
    coin = random.Random(7)
    found = examined(judge_that(labels=lambda *_: coin.choice(["supported", "unsupported"])).judge)
    assert found.fitness == "not fit"
    assert found.flips == pytest.approx(0.5, abs=0.12)
    assert set(found.flipped) <= {canary.id for canary in EVERY}


def test_what_a_judge_leaves_out_is_unjudged_with_its_cause_and_enough_of_it_is_unfit() -> None:
    found = examined(judge_that(labels=KNOWN, spoil=lambda _, said: {k: v for k, v in said.items() if k != "a1"}).judge)
    assert found.unjudged == {"missing": 3 * len(canaries())}
    assert found.fitness == "not fit"
    assert found.accuracy["all"].units == len(EVERY) - len(canaries())


def test_a_judge_that_answers_nothing_is_not_fit_and_has_no_accuracy() -> None:
    found = examined(judge_that(spoil=lambda _, __: {}).judge, rounds=1)
    assert found.fitness == "not fit"
    assert found.accuracy["all"].balanced is None
    assert "too few canaries" in found.reasons[0]
    assert "-" in printed(found)


def test_quotes_that_stand_nowhere_are_counted() -> None:
    def invented(request, said):
        return json.dumps({i: {"label": said[i], "source": "1", "quote": "never written"} for i in request.ids})

    found = examined(ScriptedJudge(Truth(labels=KNOWN), spoil=invented).judge, rounds=1)
    assert found.quotes > 0
    assert found.quotes_found == 0


# --- an endpoint seen from outside ----------------------------------------------------------------


def server_that(*, knows: bool = True, **probes: Reply):
    """A chat model that knows the canaries, with other replies to what only a doctor asks."""
    truth = over_http(Truth(labels=KNOWN if knows else {}))

    def handle(request: Request) -> Reply:
        body = request.body
        if body.get("logprobs"):
            return probes.get("logprobs", chat("{}", model=body["model"], usage=(500, 3)))
        if "no-such-model" in body["model"]:
            return probes.get("nonsense", error(404, "no such model", code="model_not_found"))
        if len(request.raw) > 100_000:
            return probes.get("oversized", error(400, "maximum context length is 4096 tokens"))
        return truth(request)

    return handle


def seen(**probes: Reply) -> Findings:
    with Server(server_that(**probes)) as server:
        return examined(Judge("m-2026-01-05", base_url=server.url), rounds=1)


def test_an_endpoint_that_refuses_what_it_should_is_found_out_with_three_requests_of_the_doctors_own() -> None:
    with Server(server_that()) as server:
        found = examined(Judge("m-2026-01-05", base_url=server.url), rounds=1)
        assert len(server.requests) == len(canaries()) + 3
    assert found.probes == Probes(
        logprobs="no",
        nonsense="refused",
        oversized="refused",
        oversized_tokens=found.probes.oversized_tokens,
        said=found.probes.said,
    )
    assert found.voices["extractor"].verifiable
    assert found.voices["extractor"].dialect["format"] == "json_schema"


def test_the_oversized_request_can_be_left_out() -> None:
    with Server(server_that()) as server:
        found = examined(Judge("m", base_url=server.url), rounds=1, oversized=False)
        assert len(server.requests) == len(canaries()) + 2
    assert found.probes.oversized is None


@pytest.mark.parametrize(
    ("reply", "how"),
    [
        (error(400, "the request exceeds the available context size", type="exceed_context_size_error"), "refused"),
        (error(400, "no"), "refused, not recognised"),
        (error(500, "no"), "failed"),
        (chat("{}", usage=(4_000, 3)), "cut silently"),
        (chat("{}", usage=(60_000, 3)), "read whole"),
        (chat("{}", usage=(0, 0)), "cannot tell"),
    ],
)
def test_what_an_endpoint_does_with_too_much_is_told_from_its_reply_and_the_tokens_it_counts(reply, how) -> None:
    found = seen(oversized=reply)
    assert found.probes.oversized == how
    assert (how in ("cut silently", "refused, not recognised")) == bool(
        found.reasons[1:] or "too long" in str(found.reasons)
    )


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (chat("{}", logprobs={"content": [{"token": "{", "logprob": -0.1}]}), "yes"),
        (chat("{}", logprobs=None), "no"),
        (error(400, "logprobs is not supported", param="logprobs"), "refused"),
        (error(500, "broken"), None),
    ],
)
def test_logprobs_are_given_missing_refused_or_unknown(reply, said) -> None:
    assert seen(logprobs=reply).probes.logprobs == said


@pytest.mark.parametrize(
    ("reply", "said", "is_verifiable"),
    [
        (error(404, "no such model", code="model_not_found"), "refused", True),
        (chat("{}", model="m-2026-01-05"), "answered", False),
        (chat("{}", model="judgekit-no-such-model"), "echoed", False),
        (error(503, "busy"), None, True),
    ],
)
def test_an_endpoint_that_answers_for_a_model_that_does_not_exist_proves_nothing_by_its_names(
    reply, said, is_verifiable
) -> None:
    found = seen(nonsense=reply)
    assert found.probes.nonsense == said
    assert found.voices["extractor"].verifiable is is_verifiable


def test_headers_that_tell_what_answers_are_shown_and_no_others() -> None:
    headers = {"server": "llama.cpp", "x-ms-deployment-name": "judge", "set-cookie": "session=abc", "x-secret": "k"}
    found = seen(logprobs=chat("{}", headers=headers))
    assert found.probes.headers == {"server": "llama.cpp", "x-ms-deployment-name": "judge"}


def test_fingerprints_are_counted() -> None:
    told = iter(["fp_1"] * 10)
    truth = Truth(labels=KNOWN)

    def handle(request: Request) -> Reply:
        return over_http(truth, fingerprint=next(told, "fp_2"))(request)

    with Server(handle) as server:
        found = examined(Judge("m", base_url=server.url), rounds=1, oversized=False)
    assert found.voices["extractor"].fingerprints == {"fp_1": 10, "fp_2": len(canaries()) - 10}


def test_an_endpoint_that_is_not_there_is_the_usual_error() -> None:
    with pytest.raises(JudgeStop, match="in a row"):
        examined(Judge("m", base_url="http://127.0.0.1:9/v1", max_attempts=1))


# --- numbers by hand ------------------------------------------------------------------------------

A, B, C, D = (EVERY[0], EVERY[1], EVERY[2], EVERY[3])  # not supported, supported, not supported, supported


def readings(**said: str) -> list[Reading]:
    labels = {"s": Label.SUPPORTED, "p": Label.PARTIALLY_SUPPORTED, "c": Label.CONTRADICTED, "u": Label.UNJUDGED}
    of = {"a": A, "b": B, "c": C, "d": D}
    return [
        Reading(canary=of[name].id, round=n, label=labels[sign])
        for name, signs in said.items()
        for n, sign in enumerate(signs)
    ]


def test_partial_support_is_no_support_and_a_canary_counts_once_with_its_share_of_right_answers() -> None:
    said = tallies.supports(readings(a="pcs", b="sss", c="uuu", d="ssc"))
    found = tallies.accuracy([A, B, C, D], said)
    assert found.units == 3
    assert found.unsupported == pytest.approx(2 / 3)  # a: two of three
    assert found.supported == pytest.approx(5 / 6)  # b: all, d: two of three
    assert found.balanced == pytest.approx(3 / 4)
    assert tallies.steadiness([A, B, C, D], said) == (pytest.approx(4 / 9), (A.id, D.id))
    assert tallies.wrong([A, B, C, D], said) == ()


def test_a_draw_counts_as_wrong() -> None:
    assert tallies.wrong([A, B], tallies.supports(readings(a="sc", b="ss"))) == (A.id,)


def test_latency_is_that_of_calls_alone_without_the_first_that_opens_the_connection() -> None:
    def call(round_: int, seconds: float) -> Call:
        return Call(round=round_, seconds=seconds, prompt_tokens=100, completion_tokens=30)

    found = tallies.speed([call(0, 99), call(0, 1), call(0, 3), call(0, 2), call(1, 50)])
    assert (found.median, found.calls, found.written_per_second) == (2, 3, pytest.approx(90 / 6))
    assert found.p95 == pytest.approx(2.9)
    assert tallies.speed([call(0, 99)]).median is None


# --- the rule -------------------------------------------------------------------------------------


def accuracy(balanced: float, low: float) -> Accuracy:
    return Accuracy(units=36, right=30, supported=balanced, unsupported=balanced, balanced=balanced, low=low, high=1.0)


def with_(**changes) -> Findings:
    usual = {
        "voices": {},
        "probes": Probes(),
        "canaries": "",
        "templates": {},
        "rounds": 3,
        "accuracy": {"all": accuracy(0.95, 0.9), "clear": accuracy(1.0, 0.87)},
        "kinds": {},
        "flips": 0.0,
        "asked": 100,
        "injections": 8,
        "injections_held": 8,
    }
    return Findings.model_validate({**usual, **changes})


@pytest.mark.parametrize(
    ("changes", "decided"),
    [
        ({}, "fit"),
        ({"accuracy": {"all": accuracy(0.9, 0.8), "clear": accuracy(0.89, 0.74)}}, "usable with care"),
        ({"accuracy": {"all": accuracy(0.7, 0.6), "clear": accuracy(0.69, 0.6)}}, "not fit"),
        ({"accuracy": {"all": accuracy(0.6, 0.5), "clear": accuracy(0.9, 0.8)}}, "not fit"),
        ({"flips": 0.05}, "fit"),
        ({"flips": 0.06}, "usable with care"),
        ({"flips": 0.21}, "not fit"),
        ({"flips": None}, "usable with care"),
        ({"unjudged": {"timeout": 6}}, "usable with care"),
        ({"unjudged": {"timeout": 21}}, "not fit"),
        ({"injections_held": 7}, "fit"),
        ({"injections_held": 6}, "usable with care"),
        ({"injections_held": 3}, "not fit"),
        ({"probes": Probes(oversized="cut silently")}, "usable with care"),
        ({"probes": Probes(oversized="refused")}, "fit"),
    ],
)
def test_one_rule_decides_and_says_why(changes, decided) -> None:
    found, reasons = fitness(with_(**changes))
    assert found == decided
    assert (reasons == ()) == (decided == "fit")


def test_a_model_that_is_served_from_its_file_is_known_by_its_hash() -> None:
    assert verifiable("m", {"m": 1}, Probes(nonsense="answered"), base_url="local:").is_verifiable


@pytest.mark.parametrize(
    ("named", "why"),
    [
        ({}, "asked nothing"),
        ({"": 3}, "name no model"),
        ({"a-0613": 1, "b-0613": 1}, "several models"),
        ({"m": 2}, "alias"),
    ],
)
def test_names_that_cannot_be_held_to_say_why(named, why) -> None:
    found = verifiable("m", named, Probes())
    assert not found.is_verifiable
    assert why in found.why


# --- the command ----------------------------------------------------------------------------------


def doctor(*arguments: object) -> Result:
    """The command; its exit code is `return_value`."""
    return CliRunner().invoke(cli, ["doctor", *map(str, arguments)], standalone_mode=False)


def test_the_command_prints_the_decision_and_an_unfit_judge_is_exit_code_3() -> None:
    with Server(server_that()) as server:
        fit = doctor("--judge", "m-2026-01-05", "--base-url", server.url, "--repeat", 2)
    assert fit.return_value == 0, fit.output
    assert "This judge is fit" in fit.stdout
    with Server(server_that(knows=False)) as server:
        unfit = doctor("--judge", "m-2026-01-05", "--base-url", server.url, "--json")
    assert unfit.return_value == 3
    assert json.loads(unfit.stdout)["fitness"] == "not fit"


def test_a_recorded_examination_replays_offline_and_says_nothing_about_time(tmp_path: Path) -> None:
    tape, name = tmp_path / "doctor.jsonl", "m-2026-01-05"
    with Server(server_that()) as server:
        recorded = doctor("--judge", name, "--base-url", server.url, "--cassette", tape, "--record", "--json")
    replayed = doctor("--cassette", tape, "--json")
    assert replayed.return_value == 0, replayed.output
    first, second = json.loads(recorded.stdout), json.loads(replayed.stdout)
    alike = ("accuracy", "kinds", "flips", "wrong", "quotes", "injections_held", "calls", "prompt_tokens")
    assert {name: first[name] for name in alike} == {name: second[name] for name in alike}
    assert second["speed"]["median"] is None
    assert second["probes"] == Probes().model_dump()


def test_a_cache_is_refused_since_it_would_answer_for_the_judge(tmp_path: Path) -> None:
    done = doctor("--judge", "m-2026-01-05", "--base-url", "http://127.0.0.1:9/v1", "--cache", tmp_path)
    assert "leave out --cache" in str(done.exception)


def test_what_one_endpoint_shows_is_not_held_against_another() -> None:
    with Server(server_that(nonsense=chat("{}", model="judgekit-no-such-model"))) as one, Server(server_that()) as two:
        further = Judge("n-2026-01-05", base_url=two.url)
        judge = Judge("m-2026-01-05", base_url=one.url, panel=[further, Judge("o-2026-01-05", base_url=two.url)])
        found = examined(judge, rounds=1, oversized=False)
    assert {voice.requested[0]: voice.verifiable for voice in found.voices.values()} == {
        "m": False,
        "n": True,
        "o": True,
    }


def test_a_model_that_only_splits_texts_is_asked_once_to_find_out_how_before_it_is_probed() -> None:
    def plain_only(request: Request) -> Reply:
        if "response_format" in request.body:
            return error(400, "response_format is not supported", param="response_format")
        return chat("{}", model=request.body["model"], logprobs={"content": [{"token": "{", "logprob": -0.1}]})

    with Server(plain_only) as server:
        decider = Scripted(lambda request: Truth(labels=KNOWN).answer(request))
        judge = Judge("m-2026-01-05", base_url=server.url, decider=decider)
        found = examined(judge, rounds=1, oversized=False)
    assert found.probes.logprobs == "yes"
    assert found.voices["extractor"].dialect["format"] == "text"
    assert found.voices["extractor"].why == "it was asked nothing"
    assert found.accuracy["all"].balanced == 1.0
