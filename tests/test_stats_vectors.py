"""Every vector of an outside tool (scipy, statsmodels, scikit-learn, irrCAC, ...), to the tolerance of its file.

A vector names its function and the function's arguments; where a result is one number, `PLAIN` says what it is called.
"""

import dataclasses
import json
from pathlib import Path

import pytest

from judgekit import stats

FILES = sorted((Path(__file__).parent / "vectors").glob("stats*.json"))
KINDS = 31

PLAIN = {
    "norm_ppf": "value",
    "t_ppf": "value",
    "t_two_sided_p": "p",
    "signflip_exact_p": "p",
    "holm": "adjusted",
    "mde_paired": "mde",
    "n_required_paired": "n",
    "cohen_kappa_weighted_sample": "kappa",
    "neyman_allocation": "n_h",
}


def cluster_bootstrap(B, **given):  # noqa: N803  # as the vectors spell it
    return stats.cluster_bootstrap(**given, replicates=B)


def stratified_rate(strata, conf):
    return stats.stratified_rate([stats.Stratum(**stratum) for stratum in strata], conf=conf)


def stratified_difference(units, stratum_sizes):
    units = [stats.WeightedUnit(**unit) for unit in units]
    assert {name: sum(unit.stratum == name for unit in units) for name in stratum_sizes} == stratum_sizes
    found = by_name(stats.stratified_difference(units))
    return found | {"judge_total": stats.judge_total(units), "se_floored": found["se_smoothed"]}


def judge_vs_human(**given):
    found = stats.judge_vs_human(**given)
    rates = {name: getattr(found, name) for name in ("accuracy", "balanced_accuracy", "mcc")}
    flagged = {f"{name}_unsupported": getattr(found, name) for name in ("precision", "recall", "f1")}
    return by_name(found) | rates | flagged


def hash_rank_sample(ids, seed, stratum, n):
    selected = stats.hash_rank_sample(ids, seed=seed, stratum=stratum, n=n)
    return {"selected": selected, "u_first": stats.hash_uniform(selected[0], seed=seed, stratum=stratum)}


SPELLED = [cluster_bootstrap, stratified_rate, stratified_difference, judge_vs_human, hash_rank_sample]


def by_name(found):
    if dataclasses.is_dataclass(found):
        return dataclasses.asdict(found)
    return found if isinstance(found, dict) else found._asdict()


def answer(name, given):
    """The fields of a function's result, by the names that the vectors give them."""
    function = {spelled.__name__: spelled for spelled in SPELLED}.get(name) or getattr(stats, name)
    found = function(**given)
    return {PLAIN[name]: found} if name in PLAIN else by_name(found)


def agrees(found, expected, tolerance):
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(agrees, found, expected, [tolerance] * len(expected)))
    if expected is None or isinstance(expected, str):
        return found == expected
    return found is not None and abs(found - expected) <= tolerance * max(1, abs(expected))


def vectors():
    files = [json.loads(file.read_text(encoding="utf-8")) for file in FILES]
    return [pytest.param(vector, told["tolerance"], id=vector["id"]) for told in files for vector in told["vectors"]]


@pytest.mark.parametrize(("vector", "tolerance"), vectors())
def test_a_function_gives_what_the_outside_tool_gives(vector, tolerance):
    found = answer(vector["fn"], vector["input"])
    for field, expected in vector["expected"].items():
        assert agrees(found[field], expected, tolerance), (field, found[field], expected)


def test_no_kind_of_vector_is_missing():
    assert len({parameter.values[0]["fn"] for parameter in vectors()}) == KINDS
