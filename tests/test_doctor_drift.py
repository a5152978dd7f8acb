"""Is it still the same judge? One rule, three outcomes, and never `no drift` where nothing could be seen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from misbehaving import Reply, Request, Server, error
from scripts import Truth, lines, over_http, row

from judgekit.cli import cli
from judgekit.doctor import canaries
from judgekit.doctor.comparing import Then, compared, differences
from judgekit.doctor.drift import KEPT
from judgekit.judge.panel import VOTES
from judgekit.judge.readout import readout_spec
from judgekit.wire import JudgeSpec

EVERY = [canary for flock in canaries() for canary in flock.canaries]
KNOWN = {canary.claim: canary.label.value for canary in EVERY}


def command(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [*map(str, arguments)], standalone_mode=False)


# --- the rule, by hand ----------------------------------------------------------------------------


def units(same: int = 0, lost: int = 0, gained: int = 0, silent: int = 0, torn: int = 0) -> list[Then]:
    kinds = {
        "s": (same, (True,), (True,)),
        "l": (lost, (True,), (False,)),
        "g": (gained, (False,), (True,)),
        "u": (silent, (True,), ()),
        "t": (torn, (True, False), (True,)),
    }
    return [Then(unit=f"{k}{n}", then=then, now=now) for k, (many, then, now) in kinds.items() for n in range(many)]


@pytest.mark.parametrize(
    ("found", "rate", "outcome"),
    [
        (units(same=60), 0.0, "same"),
        (units(same=56, lost=2, gained=2), 0.02, "same"),  # 60 units, 2 %: from 5 on
        (units(same=55, lost=3, gained=2), 0.02, "drifted"),
        (units(same=55, lost=3, gained=2), None, "drifted"),  # nothing is known to flip less than 2 %
        (units(same=55, lost=3, gained=2), 0.05, "same"),  # 60 units, 5 %: from 8 on
        (units(same=52, lost=4, gained=4), 0.05, "drifted"),
        (units(same=100, lost=8), 0.1, "drifted"),  # 2^-8 twice, less half of the point: one direction
        (units(same=102, lost=6), 0.1, "same"),
        (units(same=19), 0.0, "could not check"),
        (units(), 0.0, "could not check"),
        (units(same=60, silent=20), 0.0, "could not check"),
        (units(same=60, silent=15), 0.0, "same"),
        (units(same=19, torn=60), 0.0, "could not check"),  # a draw then is no label
    ],
)
def test_changed_labels_are_drift_when_so_many_are_too_rare_or_all_go_one_way(found, rate, outcome) -> None:
    decided = compared(found, rate=rate, basis="canaries")
    assert decided.outcome == outcome
    assert bool(decided.reasons) == (outcome != "same")


def test_the_label_of_then_is_that_of_most_askings() -> None:
    found = compared([Then(unit="a", then=(True, True, False), now=(False, True))], rate=0.0, basis="canaries")
    assert (found.lost, found.gained, found.flipped) == (1, 0, ("a",))


SPEC = JudgeSpec(model="m", base_url="http://a/v1", params={"seed": 7}, resolved="m-1")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, []),
        ({"model": "n"}, ["extractor: model was 'm', is 'n'"]),
        ({"base_url": "http://b/v1"}, ["extractor: base_url was 'http://a/v1', is 'http://b/v1'"]),
        ({"params": {"seed": 8}}, ["extractor: params was {'seed': 7}, is {'seed': 8}"]),
        ({"resolved": "m-2"}, []),
    ],
)
def test_judges_differ_in_what_is_asked_for(changes: dict[str, Any], told: list[str]) -> None:
    now = {"extractor": SPEC.model_copy(update=changes)}
    assert differences({"extractor": SPEC}, now) == told


def test_judges_differ_in_who_answers_and_in_their_parts() -> None:
    now = SPEC.model_copy(update={"resolved": "m-2"})
    assert differences({"extractor": SPEC}, {"extractor": now}, resolved=True) == [
        "extractor: m-1 answered then, m-2 does today"
    ]
    assert differences({"extractor": SPEC}, {}) == ["extractor: there is none today"]
    assert differences({"extractor": SPEC, "embedder": SPEC}, {"extractor": SPEC}) == []


# --- canaries that were kept ----------------------------------------------------------------------


class Fickle:
    """A chat model that knows the canaries until it is told otherwise."""

    def __init__(self) -> None:
        self.labels = dict(KNOWN)
        self.model = "m-2026-01-05"
        self.fails = False

    def __call__(self, request: Request) -> Reply:
        if self.fails:
            return error(401, "no such key")
        labels = {claim: self.labels.get(claim, "supported") for claim in [*self.labels]}
        return over_http(Truth(labels=labels), model=self.model, fingerprint="fp_1")(request)


@pytest.fixture
def kept(tmp_path: Path):
    """An endpoint, and the file of what the doctor found about it."""
    model = Fickle()
    with Server(model) as server:
        out = tmp_path / "findings.json"
        done = command(
            "doctor", "--judge", "m", "--base-url", server.url, "--repeat", 2, "--no-oversized", "-o", out, "--param",
            "max_tokens=600", "--no-param", "seed",
        )  # fmt: skip
        assert out.exists(), done.output
        server.requests.clear()
        yield model, server, out


def test_the_same_endpoint_is_the_same_judge_and_is_asked_as_it_was(kept) -> None:
    _, server, out = kept
    done = command("doctor", "--against", out)
    assert done.return_value == 0, done.output
    assert "Still the same judge" in done.stdout
    assert len(server.requests) == len(canaries())
    assert {(r.body["model"], r.body["max_tokens"], "seed" in r.body) for r in server.requests} == {("m", 600, False)}


def test_another_model_under_the_same_name_is_drift(kept) -> None:
    model, _, out = kept
    model.model = "m-2026-06-01"
    done = command("doctor", "--against", out, "--json")
    found = json.loads(done.stdout)
    assert done.return_value == 3
    assert found["outcome"] == "drifted"
    assert found["reasons"] == ["extractor: m-2026-01-05 answered then, m-2026-06-01 does today"]


def test_the_same_name_with_another_mind_is_drift(kept) -> None:
    model, _, out = kept
    for canary in EVERY[::12]:
        model.labels[canary.claim] = "unsupported" if canary.is_supported else "supported"
    done = command("doctor", "--against", out, "--json")
    found = json.loads(done.stdout)
    assert (done.return_value, found["outcome"], found["alarm"]) == (3, "drifted", 6)
    assert found["flipped"] == sorted(canary.id for canary in EVERY[::12])
    assert found["lost"] + found["gained"] == 6


def test_another_configuration_is_drift_and_asks_nothing(kept) -> None:
    _, server, out = kept
    done = command("doctor", "--against", out, "--judge", "other-2026-01-01", "--base-url", server.url, "--json")
    assert done.return_value == 3
    assert json.loads(done.stdout)["outcome"] == "drifted"
    assert server.requests == []


def test_an_endpoint_that_cannot_be_asked_could_not_be_checked(kept) -> None:
    model, _, out = kept
    model.fails = True
    done = command("doctor", "--against", out)
    assert done.return_value == 3
    assert "Could not check" in done.stdout
    assert "HTTP 401" in done.stdout


def _readout(judge: dict[str, Any]) -> dict[str, Any]:
    spec = readout_spec(JudgeSpec.model_validate(judge["extractor"]))
    return {**judge, "decider": spec.model_dump(mode="json")}


def _votes(judge: dict[str, Any]) -> dict[str, Any]:
    return {"extractor": {**judge["extractor"], "settings": {VOTES: 2}}}


@pytest.mark.parametrize("changed", [_readout, _votes])
@pytest.mark.filterwarnings("ignore:repeated votes")
def test_a_judge_of_another_kind_is_asked_as_its_pin_tells(kept, changed) -> None:
    model, server, out = kept
    found = json.loads(out.read_text())
    out.write_text(json.dumps({**found, "judge": changed(found["judge"])}))
    model.fails = True
    done = command("doctor", "--against", out, "--json")
    assert json.loads(done.stdout)["outcome"] == "could not check"  # it is configured alike, and was asked
    assert server.requests


@pytest.mark.parametrize(
    "changed",
    [
        lambda judge: {"extractor": {**judge["extractor"], "base_url": "local:"}},
        lambda judge: {**judge, "decider 2": judge["extractor"]},
        lambda judge: {"decider": {**judge["extractor"], "form": "decisions"}},
    ],
)
def test_a_judge_that_its_pin_cannot_tell_is_to_be_given_again(kept, changed) -> None:
    _, _, out = kept
    found = json.loads(out.read_text())
    out.write_text(json.dumps({**found, "judge": changed(found["judge"])}))
    assert "give it again with --judge" in str(command("doctor", "--against", out).exception)


def test_other_canaries_or_prompts_than_then_cannot_be_compared(kept, tmp_path: Path) -> None:
    _, server, out = kept
    found = json.loads(out.read_text())
    out.write_text(json.dumps({**found, "templates": {**found["templates"], "verify": "0" * 32}}))
    done = command("doctor", "--against", out, "--json")
    assert done.return_value == 3
    assert json.loads(done.stdout)["outcome"] == "could not check"
    assert server.requests == []


@pytest.mark.parametrize(("content", "why"), [(None, "No such file"), ("{}", "no findings"), ("[", "no findings")])
def test_what_is_neither_run_nor_findings_is_said(tmp_path: Path, content: str | None, why: str) -> None:
    path = tmp_path / "x.json"
    if content is not None:
        path.write_text(content)
    assert why in str(command("doctor", "--against", path).exception)


# --- a run's own checks ---------------------------------------------------------------------------


def labels_of(flip: int = 0) -> dict[str, str]:
    """Of thirty rows with two claims each; the first `flip` rows' first claims are no longer supported."""
    return {f"Tank {n} holds {n} litres.": "unsupported" for n in range(flip)}


@pytest.fixture
def judged(tmp_path: Path):
    """An endpoint, and a run that it judged."""
    truth = Truth()
    model = {"name": "m-2026-01-05"}

    def handle(request: Request) -> Reply:
        return over_http(truth, model=model["name"])(request)

    (tmp_path / "log.jsonl").write_text(lines(row(n) for n in range(30)))
    with Server(handle) as server:
        out = tmp_path / "run"
        done = command(
            "run", tmp_path / "log.jsonl", "-o", out, "--judge", "m-2026-01-05", "--base-url", server.url,
            "--metrics", "faithfulness,citation_support",
        )  # fmt: skip
        assert done.return_value == 0, done.output
        asked = {request.raw for request in server.requests}
        server.requests.clear()
        yield truth, model, server, out, asked


def test_a_sample_of_a_runs_own_calls_is_made_again_with_the_same_bytes(judged) -> None:
    _, _, server, out, asked = judged
    done = command("doctor", "--against", out, "--json")
    found = json.loads(done.stdout)
    assert (done.return_value, found["outcome"], found["basis"]) == (0, "same", "checks")
    assert 60 <= found["units"] < 66
    assert {request.raw for request in server.requests} <= asked
    again = command("doctor", "--against", out, "--json")
    assert json.loads(again.stdout) == found  # the draw does not depend on chance


def test_a_run_whose_judge_changed_its_mind_has_drifted(judged) -> None:
    truth, _, _, out, _ = judged
    truth.labels = labels_of(flip=30)
    done = command("doctor", "--against", out)
    assert done.return_value == 3
    assert "Not the same judge" in done.stdout
    assert "lost support" in done.stdout


def test_a_run_whose_endpoint_names_another_model_has_drifted(judged) -> None:
    _, model, _, out, _ = judged
    model["name"] = "m-2026-06-01"
    assert json.loads(command("doctor", "--against", out, "--json").stdout)["outcome"] == "drifted"


def test_other_prompts_than_the_runs_cannot_make_its_calls_again(judged, tmp_path: Path) -> None:
    _, _, server, out, _ = judged
    folder = tmp_path / "prompts"
    folder.mkdir()
    shipped = Path(__file__).parent.parent / "prompts" / "verify.j2"
    (folder / "verify.j2").write_text(shipped.read_text().replace("Which label", "Which one label"))
    done = command("doctor", "--against", out, "--prompts", folder, "--json")
    assert done.return_value == 3
    assert json.loads(done.stdout)["outcome"] == "could not check"
    assert server.requests == []


def test_findings_kept_beside_a_run_are_what_it_is_held_against(judged) -> None:
    truth, _, server, out, _ = judged
    truth.labels = KNOWN
    saved = command("doctor", "--judge", "m-2026-01-05", "--base-url", server.url, "--repeat", 2, "--save", out)
    assert (out / KEPT).exists(), saved.output
    assert json.loads(command("doctor", "--against", out, "--json").stdout)["basis"] == "canaries"


def test_findings_of_another_judge_are_not_kept_beside_a_run(judged) -> None:
    _, _, server, out, _ = judged
    done = command(
        "doctor", "--judge", "m-2026-01-05", "--base-url", server.url, "--repeat", 1, "--save", out, "--param", "seed=8"
    )
    assert "another judge" in str(done.exception)
    assert server.requests == []  # said before anything is paid for
    assert not (out / KEPT).exists()


def test_comparing_keeps_nothing(kept, tmp_path: Path) -> None:
    done = command("doctor", "--against", kept[2], "-o", tmp_path / "x.json")
    assert "leave out --out" in str(done.exception)
