"""The plan: which claims go into one call, and that no metric can change what another one asks."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from metric_cases import S, a_case, a_claim, a_sample, by_claim, judged

from judgekit.metrics import METRICS
from judgekit.metrics.sources import cited_sources
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


# --- the same groups as by the definition, at a bounded cost -----------------------------------------------


def slow_plan(case: Case, checks: Iterable[Check]) -> list[tuple[tuple[str, ...], tuple[Claim, ...]]]:
    """The definition, worked out anew for every check."""
    groups: dict[tuple[str, ...], dict[Claim, None]] = {}
    for check in checks:
        if not check.sources or case.verdict(check) is not None:
            continue
        (claim,) = (one for one in case.claims if one.id == check.claim_id)
        side, sources = case.claims_of(claim.side), check.sources
        if sources in (case.sample.source_ids, THE_REFERENCE, THE_ANSWER):
            name, family = f"all of {claim.side}", side
        else:
            single = len(sources) == 1
            cited = {one: cited_sources(case, one) for one in side}
            citing = [one for one in side if (sources[0] in cited[one] if single else cited[one] == sources)]
            others = [one for one in side if one not in citing] if single else [claim]
            name = f"citing of {claim.side}" if claim in citing else f"not {claim.side if single else claim.id}"
            family = citing if claim in citing else others
        unasked = [one for one in family if case.verdict(Check.of(one, sources)) is None]
        groups.setdefault((name, *sources), {}).update(dict.fromkeys(unasked))
    return [(key[1:], tuple(found)) for key, found in groups.items()]


@given(cases(), st.data())
def test_the_groups_are_those_of_the_definition_in_the_same_order(case: Case, data: st.DataObject) -> None:
    ids = case.sample.source_ids
    subsets = st.lists(st.sampled_from(ids), unique=True).map(lambda some: tuple(sorted(some)))
    sources = st.one_of(subsets, st.sampled_from([ids, THE_REFERENCE, THE_ANSWER, *((one,) for one in ids)]))
    check = st.builds(Check.of, st.sampled_from(case.claims), sources)
    checks, known = data.draw(st.lists(check, max_size=30)), data.draw(st.lists(check, max_size=8, unique=True))
    case = case.having(verdicts=tuple(Verdict(check=one, label=S) for one in known))
    assert [tuple(group) for group in plan(case, checks)] == slow_plan(case, checks)


def calls_of(case: Case, checks: list[Check]) -> int:
    """How many functions are called while the checks are planned."""
    count = 0

    def counts(_frame: FrameType, event: str, _arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(counts)
    try:
        plan(case, checks)
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("is_cited", [True, False])
def test_a_check_costs_the_same_in_a_large_case_as_in_a_small_one(is_cited: bool) -> None:
    def calls_a_check(many: int) -> float:
        names = [str(n) for n in range(1, many + 1)]
        made = [a_claim(f"a{n}", cites=[names[n - 1], names[n % many]] if is_cited else ()) for n in range(1, many + 1)]
        case = a_case(a_sample(names), made=made)
        checks = [Check.of(claim, [name]) for claim in made for name in names]
        return calls_of(case, checks) / len(checks)

    assert calls_a_check(40) <= 1.2 * calls_a_check(10)
