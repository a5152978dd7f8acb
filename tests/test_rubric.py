"""A criterion of one's own: what is shown, how it is scaled, that the reason is kept and that nothing else moves."""

import json

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from metric_cases import a_case, a_sample
from scripts import forbidden, judge_that, lines, row

import judgekit as jk
from judgekit import batch
from judgekit.cli import cli
from judgekit.errors import InputError
from judgekit.judge import layout, reading
from judgekit.metrics import METRICS, metrics_of
from judgekit.pins import pins_of, templates_of
from judgekit.prompts import prompts_of
from judgekit.records import Options, Rating, Reason
from judgekit.tasks import rubric, sources_of
from judgekit.wire import Answer, Grade, JudgeReply, Option, YesNo

Rubric = jk.Rubric
POLITE = Rubric(name="polite", criterion="The answer is polite.")
LEVELS = ("muddled", "can be followed", "plain")
CLEAR = Rubric(name="clear", criterion="How clear is it?", levels=LEVELS)
ROW = {key: value for key, value in row(7).items() if key != "id"}


def rated(metric, label, *, reason=None, sample=None):
    """The score of a sample whose criterion was rated so."""
    given_sample = sample or a_sample(reference="R.")
    keys = [criterion.key for criterion in metric.criteria(given_sample)]
    return metric.score(
        a_case(given_sample, rated=[Rating(kind="rubric", subject=key, label=label, reason=reason) for key in keys])
    )


# --- the score ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("metric", "label", "value"),
    [(POLITE, "yes", 1.0), (POLITE, "no", 0.0), (CLEAR, "1", 0.0), (CLEAR, "2", 0.5), (CLEAR, "3", 1.0)],
)
def test_a_label_is_scaled_to_a_share_and_kept_with_its_reason(metric, label, value):
    score = rated(metric, label, reason="It says please.")
    assert (score.value, score.label, score.note) == (value, label, "It says please.")
    assert (score.numerator, score.denominator) == (value, 1)


@given(st.integers(2, 10).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n))))
def test_levels_are_spread_evenly(of):
    count, level = of
    metric = Rubric(name="r", criterion="?", levels=tuple(f"level {n}" for n in range(count)))
    assert rated(metric, str(level)).value == (level - 1) / (count - 1)


def test_without_a_rating_there_is_no_number():
    for score in rated(POLITE, None), POLITE.score(a_case()):
        assert (score.value, score.reason, score.low, score.high) == (None, Reason.UNJUDGED, 0.0, 1.0)


@pytest.mark.parametrize(
    ("sees", "sample", "reason"),
    [
        (("answer",), a_sample(answer=" "), Reason.NO_ANSWER),
        (("reference",), a_sample(), Reason.NO_REFERENCE),
        (("answer", "contexts"), a_sample(("", " ")), Reason.NO_CONTEXTS),
    ],
)
def test_what_it_should_see_must_be_there(sees, sample, reason):
    metric = Rubric(name="r", criterion="?", sees=sees)
    assert metric.score(a_case(sample)).reason is reason
    assert metric.criteria(sample) == ()
    assert metric.needs_for(sample) == frozenset()


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"name": "two words"},
        {"criterion": " "},
        {"levels": ("one",)},
        {"levels": ()},
        {"levels": tuple("abcdefghijk")},
        {"levels": ("good", " ")},
        {"levels": "good"},
        {"sees": ()},
        {"sees": "answer"},
        {"sees": ("answer", "the web")},
    ],
)
def test_what_is_no_rubric_says_so(wrong):
    with pytest.raises(InputError, match="rubric"):
        Rubric(**{"name": "r", "criterion": "Is it?", **wrong})


def test_lists_are_as_good_as_tuples_and_order_makes_no_other_rubric():
    one = Rubric(name="r", criterion="?", levels=list(LEVELS), sees=["contexts", "answer", "answer"])
    assert one == Rubric(name="r", criterion="?", levels=LEVELS, sees=("answer", "contexts"))
    assert hash(one)


def test_names_are_ones_own():
    with pytest.raises(InputError, match="another name"):
        metrics_of([Rubric(name="faithfulness", criterion="Is it?")])
    with pytest.raises(InputError, match="two different metrics"):
        metrics_of([POLITE, Rubric(name="polite", criterion="Is it kind?")])
    assert [metric.name for metric in metrics_of([POLITE, CLEAR, POLITE])] == ["polite", "clear"]


# --- the question ----------------------------------------------------------------------------------------


def request_for(metric, sample=None):
    shown = sample or a_sample(("one text",), question="Why?", answer="Because.", reference="So.")
    (criterion,) = metric.criteria(shown)
    return rubric.request(prompts_of(), shown, sources_of(shown.contexts), criterion)


TEXTS = {"question": '"Why?"', "answer": '"Because."', "contexts": '"one text"', "reference": '"So."'}


@pytest.mark.parametrize("sees", [("answer",), ("question", "answer"), ("contexts", "reference"), tuple(TEXTS)])
def test_only_what_it_sees_is_shown(sees):
    request = request_for(Rubric(name="r", criterion="?", sees=sees))
    assert {name for name, text in TEXTS.items() if text in request.input} == set(sees)


def test_the_criterion_and_the_levels_are_quoted_as_judged_text_is():
    metric = Rubric(name="r", criterion='Ends with "x"\n<|im_end|>?', levels=("a <|im_start|>", "b\nc"))
    system, user = (one["content"] for one in layout.messages(prompts_of(), request_for(metric)))
    assert "<|im" not in system + user
    assert '2: "b\\nc"' in system
    assert r"\"x\"\n" in user


def test_a_chat_model_is_asked_for_its_reason_before_the_label():
    for metric, label in ((POLITE, "yes|no"), (CLEAR, "3|2|1")):
        request = request_for(metric)
        _, user = (one["content"] for one in layout.messages(prompts_of(), request))
        assert f'{{"criterion": {{"reason": "why, in one sentence", "label": "{label}"}}}}' in user
        assert list(layout.schema(request)["properties"]["criterion"]["properties"]) == ["reason", "label"]


def test_a_reason_that_is_not_wanted_is_not_asked_for():
    request = request_for(Rubric(name="r", criterion="?", explain=False))
    assert '{"criterion": "yes|no"}' in layout.messages(prompts_of(), request)[1]["content"]
    assert "explain" not in request.model_dump_json()


@pytest.mark.parametrize(
    ("text", "label", "reason"),
    [
        ('{"criterion": {"reason": " It says\\nplease. ", "label": "yes"}}', "yes", "It says please."),
        ('{"criterion": {"label": "no"}}', "no", None),
        ('{"criterion": "no"}', "no", None),
        ('{"criterion": {"reason": 4, "label": "no"}}', "no", None),
        ('{"criterion": {"reason": "", "label": "no"}}', "no", None),
        ('{"criterion": {"reason": "yes"}}', None, None),
    ],
)
def test_a_reason_is_read_where_there_is_one_and_is_never_taken_for_the_label(text, label, reason):
    answer = reading.read(request_for(POLITE), JudgeReply(text=text))["criterion"]
    assert (answer.label, answer.reason) == (label, reason)


def test_a_level_is_named_by_its_own_number_and_zero_is_none():
    grade = request_for(CLEAR).questions[0]
    assert [reading.answer(grade, said).label for said in (1, "3", 2.0, 0, 4)] == ["1", "3", "2", None, None]
    words = Grade(id="g", ask="?", options=(Option(value="bad"), Option(value="good")))
    assert reading.answer(words, 0).label == "bad"


def test_questions_that_ask_for_no_reason_keep_their_bytes():
    assert YesNo(id="a", ask="?").model_dump(mode="json") == {
        "id": "a",
        "ask": "?",
        "text": "",
        "kind": "yes_no",
        "options": [{"value": "yes", "description": ""}, {"value": "no", "description": ""}],
    }


# --- end to end --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["typed", "probabilities", "text"])
def test_several_rubrics_are_metrics_of_their_own(form):
    judge = judge_that(form=form, meets={"The answer is polite.": "no", "How clear is it?": "2"})
    result = jk.score(**ROW, judge=judge.judge, metrics=[POLITE, CLEAR])
    assert {score.metric: score.value for score in result.scores} == {"polite": 0.0, "clear": 0.5}
    assert judge.count("rubric") == 2
    assert result["polite"].note == ("It is no." if form == "text" else None)


def test_a_typed_judge_may_give_a_reason_too():
    said = {"criterion": Answer(id="criterion", label="no", reason="It is rude.")}
    result = jk.score(**ROW, judge=jk.Judge(jk.Scripted(lambda _: said)), metrics=POLITE)
    assert (result["polite"].value, result["polite"].note) == (0.0, "It is rude.")


@settings(deadline=None, max_examples=15)
@given(st.lists(st.sampled_from([*METRICS, POLITE, CLEAR]), min_size=1, max_size=5, unique=True))
def test_rubrics_beside_other_metrics_change_nothing_and_ask_nothing_twice(chosen):
    *fewer, _added = chosen
    small, large = judge_that(), judge_that()
    both = jk.score(**ROW, judge=large.judge, metrics=chosen)
    assert max(large.contents.values(), default=0) <= 1
    if fewer:
        without = jk.score(**ROW, judge=small.judge, metrics=fewer)
        assert without.scores == both.scores[:-1]
        assert not small.contents - large.contents


def test_nothing_is_asked_where_nothing_can_be_judged():
    result = jk.score(question="?", answer="", contexts=["one"], judge=forbidden().judge, metrics=[POLITE, CLEAR])
    assert {score.reason for score in result.scores} == {Reason.NO_ANSWER}


# --- pins and runs -------------------------------------------------------------------------------------------


def pin(metric):
    return pins_of([metric], Options(), specs={}, dialects={}, templates=templates_of(prompts_of()))[metric.name].pin


def test_a_pin_holds_all_that_makes_the_criterion():
    kinds = [
        POLITE,
        Rubric(name="polite", criterion="The answer is kind."),
        Rubric(name="polite", criterion="The answer is polite.", levels=LEVELS),
        Rubric(name="polite", criterion="The answer is polite.", sees=("answer",)),
        Rubric(name="polite", criterion="The answer is polite.", explain=False),
    ]
    assert len({pin(metric) for metric in kinds}) == len(kinds)
    assert pin(POLITE) == pin(Rubric(name="polite", criterion="The answer is polite."))


def test_a_run_knows_its_rubrics_and_can_be_rescored(tmp_path):
    log = tmp_path / "log.jsonl"
    log.write_text(lines([row(1), row(2)]), encoding="utf-8")
    run = jk.judge_log(log, out=tmp_path / "run", judge=judge_that(form="text").judge, metrics=[POLITE, CLEAR])
    assert run.metrics == (POLITE, CLEAR)
    assert list(batch.Rescored(run=run, metrics=run.metrics)) == list(run)
    other = Rubric(name="polite", criterion="Another criterion.")
    assert {r["polite"].reason for r in batch.Rescored(run=run, metrics=(other,))} == {Reason.UNJUDGED}


def test_the_command_line_takes_rubrics(tmp_path, monkeypatch):
    judge = judge_that(meets={"Clear = plain?": "3"})
    monkeypatch.setattr("judgekit.cli.judging.judge_of", lambda **_: judge.judge)
    log = tmp_path / "log.jsonl"
    log.write_text(lines([row(1)]), encoding="utf-8")
    arguments = ["run", str(log), "-o", str(tmp_path / "run"), "--metrics", "uncited_claim_rate", "--json"]
    arguments += ["--rubric", "polite=The answer is polite.", "--rubric", "clear=Clear = plain?"]
    arguments += ["--set", f"clear.levels={json.dumps(LEVELS)}", "--set", 'clear.sees=["answer"]']
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 0, done.output
    shown = json.loads(done.stdout)["metrics"]
    assert {name: one["macro"] for name, one in shown.items()} == {
        "uncited_claim_rate": 0.0,
        "polite": 1.0,
        "clear": 1.0,
    }
    assert shown["clear"]["options"]["criterion"] == "Clear = plain?"
    bad = CliRunner().invoke(cli, [*arguments, "--rubric", "no criterion"])
    assert isinstance(bad.exception, InputError)
