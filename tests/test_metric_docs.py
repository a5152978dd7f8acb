"""docs/metrics.md: every metric is defined in it as it is in the code, and every example gives what it shows.

A block ```example``` holds cases, set apart by blank lines: what a judge said, then `metric = value` for each.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from metric_cases import a_case, a_claim, a_sample, judged, ratings

from judgekit.metrics import METRICS, Metric, Rubric
from judgekit.records import (
    ANSWER,
    REFERENCE,
    THE_ANSWER,
    THE_REFERENCE,
    Ask,
    Case,
    Check,
    Claim,
    Context,
    Label,
    Likeness,
    RatingKind,
    Reason,
    Sample,
    Score,
    Side,
)

PAGE = (Path(__file__).parent.parent / "docs" / "metrics.md").read_text(encoding="utf-8")
ROOMS = re.split(r"^## ", PAGE, flags=re.MULTILINE)
#: Metric -> its definition, one paragraph on one line, and the section that it stands in.
DEFINED = {
    name: (" ".join(text.split()), room)
    for room in ROOMS
    for name, text in re.findall(r"^\*\*`(\w+)`\*\*: (.*?)\n(?:\n|```)", room, re.DOTALL | re.MULTILINE)
}
TOLD = {
    *("contexts", "answer", "reference", "names", "grades", "grades by answer"),
    *("asks", "bearing", "sufficient", "refused", "cosines", "rubric"),
}
BETTER = {"high": False, "low": True, "neither": False}


# --- a case as it is written in the page ----------------------------------------------------------------


class Unreadable(AssertionError):
    """A line of an example that says nothing the page explains."""


class Written:
    """One case of an example, line by line."""

    def __init__(self, text: str) -> None:
        self.claims: list[Claim] = []
        self.truth: dict[Check, Label] = {}
        self.told: dict[str, str] = {}
        self.contexts: dict[str, str] = {}
        self.expected: list[tuple[str, str]] = []
        for line in text.splitlines():
            self._read(line.partition("#")[0].strip())
        if "grades" in self.told:
            self.contexts = {str(rank): f"text {rank}" for rank, _ in enumerate(self.told["grades"].split(), 1)}
        elif self.told.get("contexts") == "none":
            self.contexts = {}
        elif not self.contexts:
            self.contexts = {"1": "one", "2": "two", "3": "three"}

    def _read(self, line: str) -> None:
        if found := re.fullmatch(r"(\w+(?:\[\w+=.+\])?) = (.+)", line):
            self.expected.append((found[1], found[2]))
        elif found := re.fullmatch(r"(reference )?claim (\w+)(?: cites ([?\w ]+))?(?:: (.+))?", line):
            cited = (found[3] or "").split()
            dangling = [label[1:] for label in cited if label.startswith("?")]
            inside = [label for label in cited if not label.startswith("?")]
            self._claim(found[2], REFERENCE if found[1] else ANSWER, found[4] or "", inside, dangling)
        elif found := re.fullmatch(r"(reference )?claims: (.+)", line):
            side = REFERENCE if found[1] else ANSWER
            for part in found[2].split(", "):
                count, _, label = part.partition(" ")
                for _ in range(int(count)):
                    self._claim(f"{side[0]}{len(self.claims)}", side, label, [], [])
        elif found := re.fullmatch(r"context (\w+): (.+)", line):
            self.contexts[found[1]] = found[2]
        elif (found := re.fullmatch(r"([a-z ]+): (.+)", line)) and found[1] in TOLD and found[1] not in self.told:
            self.told[found[1]] = found[2]
        else:
            raise Unreadable(line)

    def _claim(self, name: str, side: Side, labels: str, cites: list[str], dangling: list[str]) -> None:
        claim = a_claim(name, cites, dangling, side=side)
        self.claims.append(claim)
        for part in filter(None, labels.split(", ")):
            label, _, source = part.partition(" by ")
            alone = {"answer": THE_ANSWER, "reference": THE_REFERENCE, "": ("all",)}
            sources = alone.get(source, tuple(source.split("+")))
            self.truth[Check.of(claim, sources)] = Label(label)

    def case(self) -> Case:
        texts = {side: self.told.get(side, f"The {side}.") for side in ("answer", "reference")}
        answer, reference = (None if text == "none" else text for text in texts.values())
        contexts = tuple(Context(id=one, text=text) for one, text in self.contexts.items())
        words = {key: text.split() for key, text in self.told.items()}
        names = self.told["names"].split(", ") if "names" in self.told else None
        return a_case(
            Sample(id="q", question="What?", answer=answer or "", reference=reference, contexts=contexts),
            made=self.claims,
            rated=list(self._ratings(words)),
            asks=tuple(Ask(id=str(n), text="?") for n, _ in enumerate(words.get("asks", []))),
            entities=None if names is None else tuple(names),
            likenesses=tuple(Likeness(text="?", cosine=float(one)) for one in words.get("cosines", [])) or None,
        )

    def _ratings(self, words: dict[str, list[str]]) -> Iterator:
        def rated(kind: RatingKind, subjects: list[str], told: str) -> Iterator:
            labels = [None if label == "unjudged" else label for label in words.get(told, [])]
            yield from ratings(kind, dict(zip(subjects, labels, strict=True)) if labels else {})

        answers = [claim.id for claim in self.claims if claim.side == ANSWER]
        yield from rated("relevance", list(self.contexts), "grades")
        yield from rated("relevance_by_answer", list(self.contexts), "grades by answer")
        yield from rated("ask", [str(n) for n, _ in enumerate(words.get("asks", []))], "asks")
        yield from rated("bearing", answers, "bearing")
        yield from rated("sufficiency", ["contexts"], "sufficient")
        yield from rated("refusal", ["answer"], "refused")
        if "rubric" in words:
            (criterion,) = self.rubric.criteria(a_sample())
            yield from ratings("rubric", {criterion.key: words["rubric"][0]})

    @property
    def rubric(self) -> Rubric:
        """`yes`, `no`, or `2 of 3`: then there are three levels."""
        _, _, levels = self.told.get("rubric", "").partition(" of ")
        return Rubric(name="Rubric", criterion="?", levels=tuple(f"level {n}" for n in range(int(levels or 0))) or None)

    def metric(self, named: str) -> Metric:
        name, _, option = named.rstrip("]").partition("[")
        known = {**METRICS, "Rubric": self.rubric}
        if name not in known:
            raise Unreadable(f"{name} is no metric")
        key, _, value = option.partition("=")
        return type(known[name])(**{key: json.loads(value)}) if option else known[name]

    def scores(self) -> list[tuple[str, str, Score]]:
        """(metric as written, value as written, score as computed); every label that is given is asked for."""
        metrics = [self.metric(named) for named, _ in self.expected]
        together = tuple(self.contexts)
        asked = set()

        def truth(check: Check) -> Label | None:
            known = {check, check.having(sources=("all",))} if check.sources == together else {check}
            given = known & set(self.truth)
            asked.update(given)
            label = self.truth[given.pop()] if given else Label.UNSUPPORTED
            return None if label is Label.UNJUDGED else label

        case = judged(self.case(), metrics, truth)
        assert asked == set(self.truth), "a label is given that no metric of the example asks for"
        return [(*pair, metric.score(case)) for pair, metric in zip(self.expected, metrics, strict=True)]


def agrees(written: str, score: Score) -> bool:
    """Whether a score is what is written: `0.6667`, `0.5, partly`, `none, refused`, `none, unjudged, 0.5 to 1`."""
    value, *rest = written.split(", ")
    if value != "none":
        return score.value is not None and round(score.value, 4) == float(value) and rest in ([], [score.label])
    reason, *bounds = rest
    found = [] if score.low is None else [f"{round(score.low, 4):g} to {round(score.high, 4):g}"]
    return score.value is None and score.reason == reason and bounds == found


def examples(room: str) -> list[Written]:
    blocks = re.findall(r"^```example\n(.*?)^```$", room, re.DOTALL | re.MULTILINE)
    return [Written(case) for block in blocks for case in block.strip().split("\n\n")]


EXAMPLES = examples(PAGE)


def shown(written: Written) -> str:
    return " ".join(name for name, _ in written.expected)


@pytest.mark.parametrize("written", EXAMPLES, ids=shown)
def test_an_example_gives_what_it_shows(written: Written) -> None:
    assert written.expected
    for name, value, score in written.scores():
        assert agrees(value, score), f"{name} is written as {value}, and is {score!r}"


# --- definitions ----------------------------------------------------------------------------------------


def reasons_in(text: str) -> set[str]:
    return set(re.findall(r"`(\w+)`", text)) & set(Reason)


def reasons_of(metric: type[Metric]) -> set[str]:
    """The reasons that the contract names, or that of the metric whose cases it says it shares."""
    contract = " ".join((metric.__doc__ or "").split())
    if told := re.search(r"None: (.*?)(?: Source:| Raises|$)", contract):
        return reasons_in(told[1])
    shared = re.search(r"None cases .*?those of `(\w+)`", contract)
    assert shared, f"{metric.__name__} does not say when it is None"
    return reasons_of(type(METRICS[shared[1]]))


def part(definition: str, start: str) -> str:
    """What a definition says from a word on, up to the next of its parts."""
    found = re.search(rf"{start}: (.*?)\.(?: (?:Options|Source): |$)", definition)
    return found[1] if found else ""


@pytest.mark.parametrize("name", [*METRICS, "Rubric"])
def test_a_metric_is_defined_with_its_range_direction_gaps_and_source_and_has_an_example(name: str) -> None:
    definition, room = DEFINED[name]
    metric = METRICS.get(name, Rubric)
    found = re.search(r"Range (?:\[0, 1\]|0 or 1), (high|low|neither) is better\. Undefined: ", definition)
    assert found
    assert BETTER[found[1]] == metric.lower_is_better
    assert reasons_in(part(definition, "Undefined")) == reasons_of(metric if name == "Rubric" else type(metric))
    assert part(definition, "Source")
    assert any(one.partition("[")[0] == name for written in examples(room) for one, _ in written.expected)


@pytest.mark.parametrize("name", METRICS)
def test_the_table_agrees_with_the_definition(name: str) -> None:
    (better,) = re.findall(rf"^\| `{name}` \|.*\| (\w+) \|$", PAGE, re.MULTILINE)
    assert f"{better} is better" in DEFINED[name][0]


@pytest.mark.parametrize("name", METRICS)
def test_every_option_stands_there_with_its_default(name: str) -> None:
    written = dict(re.findall(r"`(\w+)` = ([\w.]+\w|\d)", part(DEFINED[name][0], "Options")))
    defaults = {key: "none" if value is None else f"{value:g}" for key, value in METRICS[name].options.items()}
    assert written == defaults


def test_every_option_of_a_rubric_is_named() -> None:
    metric = Rubric(name="r", criterion="?")
    assert set(metric.options) <= set(re.findall(r"`(\w+)`", part(DEFINED["Rubric"][0], "Options")))


def test_nothing_is_defined_that_does_not_exist() -> None:
    assert set(DEFINED) == {*METRICS, "Rubric"}


def test_every_reason_is_explained() -> None:
    explained = re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (`no_.*?|`\w+`) \| [^|]+ \|$", PAGE, re.MULTILINE)))
    assert sorted(explained) == sorted(Reason)


@pytest.mark.parametrize(
    "wrong",
    [
        "claim a: supported\nfaithfullness = 1",  # no such metric
        "claim a: suported\nfaithfulness = 1",  # no such label
        "claim a: supported by 2\nfaithfulness = 0",  # a label that is never asked for
        "a claim: supported\nfaithfulness = 1",  # no such line
    ],
)
def test_an_example_that_cannot_be_read_fails(wrong: str) -> None:
    with pytest.raises((AssertionError, ValueError)):
        Written(wrong).scores()


@pytest.mark.parametrize("wrong", ["0.6", "0.5, partly", "none, unjudged", "none, unjudged, 0 to 1"])
def test_an_example_with_a_wrong_value_fails(wrong: str) -> None:
    ((_, _, score),) = Written("claims: 1 supported, 1 unsupported\nfaithfulness = 0.5").scores()
    assert agrees("0.5", score)
    assert not agrees(wrong, score)
