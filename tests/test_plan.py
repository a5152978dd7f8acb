"""The plan: which claims go into one call, and that no metric can change what another one asks."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st
from metric_cases import S, a_case, a_claim, a_sample, by_claim, judged

from judgekit.metrics import METRICS
from judgekit.records import REFERENCE, THE_ANSWER, THE_REFERENCE, Case, Check, Claim, Context, Verdict
from judgekit.scoring.plan import plan

ALL = ("1", "2", "3")


def groups(case: Case, *checks: tuple[str, tuple[str, ...]]) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    wanted = [Check(claim_id=claim, sources=sources) for claim, sources in checks]
    return [(group.sources, tuple(claim.id for claim in group.claims)) for group in plan(case, wanted)]


def cited(**cites: str) -> list[Claim]:
    return [a_claim(name, cites=tuple(ids)) for name, ids in cites.items()]


def test_all_claims_of_a_side_go_against_all_contexts_together() -> None:
    case = a_case(made=[*cited(a1="1", a2="", a3="23"), a_claim("r1", side=REFERENCE)])
    assert groups(case, ("a2", ALL)) == [(ALL, ("a1", "a2", "a3"))]
    assert groups(case, ("a1", ALL), ("r1", ALL)) == [(ALL, ("a1", "a2", "a3")), (ALL, ("r1",))]


def test_a_single_context_is_asked_for_those_that_cite_it_or_for_those_that_do_not() -> None:
    case = a_case(made=cited(a1="1", a2="", a3="12"))
    assert groups(case, ("a3", ("1",))) == [(("1",), ("a1", "a3"))]
    assert groups(case, ("a2", ("1",))) == [(("1",), ("a2",))]
    assert groups(case, ("a2", ("1",)), ("a1", ("1",))) == [(("1",), ("a2",)), (("1",), ("a1", "a3"))]


def test_several_contexts_are_asked_for_those_that_cite_just_these() -> None:
    case = a_case(made=cited(a1="12", a2="12", a3="1", a4="13"))
    assert groups(case, ("a1", ("1", "2"))) == [(("1", "2"), ("a1", "a2"))]


def test_a_subset_that_nobody_cites_is_asked_claim_by_claim() -> None:
    sample = a_sample(("one", "two", "three", "four"))
    case = a_case(sample, made=cited(a1="123", a2="123"))
    one, both = [("a1", ("1", "2"))], [("a1", ("1", "2")), ("a2", ("1", "2"))]
    assert groups(case, *one) == [(("1", "2"), ("a1",))]
    assert groups(case, *both) == [(("1", "2"), ("a1",)), (("1", "2"), ("a2",))]


def test_the_other_text_is_asked_for_all_claims_of_a_side() -> None:
    case = a_case(made=[*cited(a1="1", a2=""), a_claim("r1", side=REFERENCE), a_claim("r2", side=REFERENCE)])
    assert groups(case, ("a1", THE_REFERENCE)) == [(THE_REFERENCE, ("a1", "a2"))]
    assert groups(case, ("r2", THE_ANSWER)) == [(THE_ANSWER, ("r1", "r2"))]


def test_a_context_whose_id_begins_like_a_name_of_ours_is_a_context() -> None:
    contexts = tuple(Context(id=name, text=name) for name in ("@harbour/1", "@harbour/2"))
    case = a_case(
        a_sample().having(contexts=contexts),
        made=[a_claim("a1", cites=("@harbour/1",)), a_claim("a2", cites=("@harbour/2",))],
    )
    assert groups(case, ("a1", ("@harbour/1",))) == [(("@harbour/1",), ("a1",))]


def test_what_has_a_verdict_is_not_asked_again() -> None:
    case = a_case(made=cited(a1="1", a2="1"))
    case = case.having(verdicts=(Verdict(check=Check(claim_id="a1", sources=ALL), label=S),))
    assert groups(case, ("a1", ALL)) == []
    assert groups(case, ("a2", ALL)) == [(ALL, ("a2",))]


def test_no_source_is_never_asked() -> None:
    assert groups(a_case(made=cited(a1="")), ("a1", ())) == []


@st.composite
def cases(draw: st.DrawFn) -> Case:
    names = [str(n) for n in range(1, draw(st.integers(1, 4)) + 1)]
    answer = [
        a_claim(f"a{n}", cites=cites)
        for n, cites in enumerate(
            draw(st.lists(st.lists(st.sampled_from(names), unique=True), min_size=1, max_size=4)), 1
        )
    ]
    reference = [a_claim(f"r{n}", side=REFERENCE) for n in range(1, draw(st.integers(1, 3)))]
    return a_case(a_sample(names, reference="A reference."), made=[*answer, *reference])


@given(cases(), st.lists(st.sampled_from(list(METRICS)), min_size=1, unique=True), st.sampled_from(list(METRICS)))
def test_adding_a_metric_takes_no_group_apart(case: Case, some: list[str], added: str) -> None:
    """Round by round, with every claim supported, the groups for some metrics are among those for more of them."""

    def asked(metrics: Iterable[str]) -> set[tuple[tuple[str, ...], tuple[str, ...]]]:
        now, found = case, set()
        chosen = [METRICS[name] for name in metrics]
        while fresh := plan(now, [check for metric in chosen for check in metric.checks(now)]):
            found.update((group.sources, tuple(claim.id for claim in group.claims)) for group in fresh)
            verdicts = [Verdict(check=Check.of(c, g.sources), label=S) for g in fresh for c in g.claims]
            now = now.having(verdicts=(*now.verdicts, *verdicts))
        return found

    assert asked(some) <= asked([*some, added])


@given(cases(), st.sampled_from(list(METRICS)))
def test_every_check_of_a_metric_gets_its_verdict(case: Case, name: str) -> None:
    metric = METRICS[name]
    planned = {Check.of(claim, group.sources) for group in plan(case, metric.checks(case)) for claim in group.claims}
    assert {check for check in metric.checks(case) if check.sources} <= planned
    done = judged(case, metric, by_claim({claim.id: S for claim in case.claims}))
    assert plan(done, metric.checks(done)) == []
