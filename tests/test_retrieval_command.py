"""`judgekit retrieval`: logs, TREC files, rerankers, and what it says when it cannot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from judgekit.cli import cli
from judgekit.confidence import bracketed, interval_of_values
from judgekit.errors import InputError

ROWS: list[dict[str, Any]] = [
    {
        "id": "q1",
        "contexts": [{"id": "a"}, {"id": "x"}, {"id": "a"}, {"id": "b"}],
        "relevance": {"a": 2, "b": 1, "c": 3},
        "facts": [{"id": "f1", "context_ids": ["a"]}, {"id": "f2", "context_ids": ["d7@2#1"]}],
        "retrievals": [
            {"query": "u", "contexts": [{"id": "c"}]},
            {"query": "v", "contexts": [{"id": "b"}, {"id": "c"}]},
        ],
    },
    {"id": "q2", "contexts": [{"id": "y", "text": "Same text."}, {"id": "z", "text": "same  text"}], "relevance": {}},
    {"id": "q3", "contexts": [], "relevance": ["k"]},
    {"question": "w?", "contexts": ["t"]},
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write("log.jsonl", ROWS)
    Path("qrels").write_text("q1 0 a 1\nq1 0 b 0\nq2 0 c 2\nq3 0 d 0\n", encoding="utf-8")
    Path("run").write_text("q1 Q0 b 1 2.0 t\nq1 Q0 a 2 1.5 t\nq2 Q0 z 1 3 t\n", encoding="utf-8")
    Path("reranked").write_text("q1 Q0 b 1 1.0 t\nq1 Q0 a 2 1.5 t\nq2 Q0 z 1 3 t\n", encoding="utf-8")
    return tmp_path


def write(name: str, rows: list[dict[str, Any]]) -> None:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def said(*arguments: str) -> str:
    done = CliRunner().invoke(cli, ["retrieval", *arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def rows(*arguments: str) -> dict[str, Any]:
    return {row["id"]: row for row in map(json.loads, said(*arguments, "--per-row", "--json").splitlines())}


@pytest.mark.usefixtures("folder")
class TestALog:
    def test_each_row_is_one_object_with_null_where_undefined(self) -> None:
        found = rows("log.jsonl", "--measures", "precision@2,ndcg@5[exp2,judged],rr")
        assert list(found) == ["q1", "q2", "q3", "4"]
        assert list(found["q1"]["scores"])[:3] == ["precision@2", "ndcg@5[exp2,judged]", "rr"]
        assert found["q2"]["scores"]["ndcg@5[exp2,judged]"] is None
        assert found["q2"]["undefined"] == {"ndcg@5[exp2,judged]": "no_relevant"}
        assert set(found["4"]["undefined"].values()) == {"no_labels"}
        assert found["q3"]["scores"]["rr"] == 0.0

    def test_repeats_calls_their_union_and_facts_are_in_the_row(self) -> None:
        row = rows("log.jsonl", "--measures", "recall,fact_coverage@1")["q1"]
        assert row["scores"] == {"recall": 2 / 3, "fact_coverage@1": 0.5}
        assert row["missing_facts"] == {"fact_coverage@1": ["f2"]}
        assert row["repeated"] == 1
        assert (row["calls"], row["union"]) == ([{"recall": 1 / 3}, {"recall": 2 / 3}], {"recall": 2 / 3})

    def test_the_summary_counts_what_every_mean_rests_on(self) -> None:
        found = json.loads(said("log.jsonl", "--measures", "mrr,map", "--k", "2", "--json"))
        assert found["measures"]["rr@2"] == {
            "name": "mrr@2",
            "mean": 1 / 3,
            "n": 3,
            "undefined": {"no_labels": 1},
            "interval": interval_of_values([1, 0, 0]).model_dump(),
        }
        assert found["measures"]["ap@2"]["undefined"] == {"no_labels": 1, "no_relevant": 1}
        assert found["calls"]["rr@2"]["n"] == 2
        alone = interval_of_values([1]).model_dump()
        assert (alone["low"], alone["reason"]) == (None, "needs >= 2 samples")
        assert found["union"]["rr@2"] == {"name": "mrr@2", "mean": 1.0, "n": 1, "undefined": {}, "interval": alone}
        assert found["facts"]["fact_coverage@2"] == {
            "name": "fact_coverage@2",
            "mean": 0.5,
            "undefined": {"no_facts": 3},
            "interval": alone,
            "pass_rate": 0.0,
            "pass_rate_interval": alone,
            "passed": 0,
            "n": 1,
            "threshold": 0.9,
        }
        assert found["duplicate_contexts"] == {"rows": 2, "exact": 2, "near": 0}
        assert [row["id"] for row in found["worst"]] == ["q3", "q1"]  # q2 has nothing to find

    def test_the_calls_of_one_row_are_one_unit(self) -> None:
        calls = [{"contexts": [{"id": one}]} for one in "axa"]
        rows_of = [{"id": n, "contexts": [], "relevance": ["a"], "retrievals": calls[:n]} for n in (1, 2, 3)]
        write("calls.jsonl", rows_of)
        found = json.loads(said("calls.jsonl", "--measures", "hit", "--json"))["calls"]["hit"]
        assert found["n"] == 6
        units = interval_of_values([1, 1, 0, 1, 0, 1], clusters=[1, 2, 2, 3, 3, 3])
        assert (found["interval"], units.clusters) == (units.model_dump(), 3)

    def test_the_defaults_are_six_measures_at_5_and_10(self) -> None:
        names = list(json.loads(said("log.jsonl", "--json"))["measures"])
        assert names == [
            f"{key}@{k}{'[linear,judged]' if key == 'ndcg' else ''}"
            for key in ("precision", "recall", "hit", "rr", "ap", "ndcg")
            for k in (5, 10)
        ]

    def test_a_reader_sees_means_counts_and_the_lowest_queries(self) -> None:
        shown = said("log.jsonl", "--measures", "recall@5", "--worst", "1").splitlines()
        assert shown[:3] == [
            "4 queries; relevant from grade 1",
            "mean      value [95 %]             n  undefined",
            "recall@5  0.3333 [0.00, 0.99]      2*  1 no labels, 1 no relevant",
        ]
        for line in (
            "fact_coverage: mean 0.5000 [-] of 1 (3 no facts); 0 of 1 reach 0.9 [-]",
            "[ ]: interval for more queries like these",
            "* small sample: fewer than 20 queries",
            "[-]: no interval from fewer than 2 queries",
        ):
            assert line in shown
        assert shown[-2:] == ["lowest queries", "  q3: recall@5 0.0000"]
        assert (
            said("log.jsonl", "--measures", "recall@5", "--per-row").splitlines()[2]
            == "q3: recall@5 0.0000 fact_coverage -"
        )

    def test_facts_alone_need_no_labels(self) -> None:
        write("facts.jsonl", [{key: ROWS[0][key] for key in ("id", "contexts", "facts")}])
        assert rows("facts.jsonl", "--measures", "fact_coverage")["q1"]["scores"] == {"fact_coverage": 0.5}

    def test_a_fact_found_only_in_an_outdated_version_is_named(self) -> None:
        old = {"id": "d7@1#1", "doc_id": "d7", "version": "1"}
        new = {"id": "d7@2#1", "doc_id": "d7", "version": "2"}
        fact = [{"id": "f2", "context_ids": ["d7@1#1", "d7@2#1"]}]
        write(
            "stale.jsonl",
            [
                {"id": "seen", "contexts": [old], "retrievals": [{"contexts": [new]}], "facts": fact},
                {"id": "said", "contexts": [old], "facts": fact, "current_versions": {"d7": 2}},
                {"id": "fine", "contexts": [old, new], "facts": fact},
            ],
        )
        assert json.loads(said("stale.jsonl", "--json"))["stale_facts"] == {"seen": ["f2"], "said": ["f2"]}
        assert "facts found only in outdated versions: seen (f2), said (f2)" in said("stale.jsonl")

    def test_other_columns_and_conventions_are_options(self) -> None:
        write("named.jsonl", [{"ctx": [{"id": "a"}, {"id": "a"}, {"id": "b"}], "rel": {"a": 1, "b": 2}}])
        mapped = ("named.jsonl", "--map", "contexts=ctx", "--map", "relevance=rel", "--measures", "rr,precision")
        assert rows(*mapped)["1"]["scores"] == {"rr": 1.0, "precision": 2 / 3}
        assert rows(*mapped, "--relevant-from", "2", "--duplicates", "drop")["1"]["scores"] == {
            "rr": 0.5,
            "precision": 0.5,
        }

    def test_ids_that_never_meet_are_pointed_out(self) -> None:
        write("apart.jsonl", [{"contexts": ["text"], "relevance": {"doc-1": 1}}])
        assert "note: no labelled id was retrieved in any row" in said("apart.jsonl")


@pytest.mark.usefixtures("folder")
class TestTrecFiles:
    def test_a_run_is_scored_and_a_missing_query_is_zero_and_listed(self) -> None:
        found = json.loads(said("--qrels", "qrels", "--run", "run", "--measures", "mrr,map,bpref", "--json"))
        assert found["missing"] == ["q3"]
        assert found["measures"]["rr"] == {
            "name": "mrr",
            "mean": 0.5 / 3,
            "n": 3,
            "undefined": {},
            "interval": interval_of_values([0.5, 0, 0]).model_dump(),
        }
        assert (found["measures"]["ap"]["mean"], found["measures"]["ap"]["n"]) == (0.25, 2)
        assert found["measures"]["ap"]["undefined"] == {"no_relevant": 1}
        assert "no result, counted as 0: q3" in said("--qrels", "qrels", "--run", "run")

    def test_what_a_reranker_can_move_and_what_it_cannot(self) -> None:
        both = ("--qrels", "qrels", "--before", "run", "--after", "reranked", "--measures", "recall,mrr", "--k", "1,2")
        shown = said(*both).splitlines()
        assert [line.split()[0] for line in shown if line.endswith("cannot move")] == ["recall@2"]
        before, after = (bracketed(interval_of_values(values)) for values in ([0, 0], [1, 0]))
        assert shown[1] == f"recall@1  0.0000 {before}  0.5000 {after}      2*  1 no relevant"
        assert shown[7].split() == ["recall@1", "0.5000", *after.split(), "1", "0", "1", "of", "2"]
        measures = json.loads(said(*both, "--json"))["measures"]
        assert measures["recall@1"]["after_interval"] == interval_of_values([1, 0]).model_dump()
        move = rows(*both)["q1"]["measures"]["rr@2"]
        assert move == {"before": 0.5, "after": 1.0, "best": 1.0, "can_move": True}
        assert said(*both, "--per-row").splitlines()[1].startswith("q2: recall@1 0.0000 -> 0.0000 (cannot move)")

    def test_a_reranker_of_two_logs(self) -> None:
        row = {"id": "q", "contexts": [{"id": "x"}, {"id": "a"}], "relevance": {"a": 1}}
        write("before.jsonl", [row, {"id": "r", "contexts": []}, {"id": "s", "contexts": [], "relevance": {"a": 1}}])
        write("after.jsonl", [{"id": "q", "contexts": [{"id": "a"}, {"id": "x"}], "relevance": {"a": 1}}])
        found = json.loads(said("--before", "before.jsonl", "--after", "after.jsonl", "--measures", "mrr", "--json"))
        assert (found["measures"]["rr"]["before"], found["measures"]["rr"]["after"]) == (0.25, 0.5)
        assert (found["unlabelled"], found["missing"]) == (["r"], {"before": [], "after": ["s"]})
        shown = said("--before", "before.jsonl", "--after", "after.jsonl")
        assert "no result after, counted as 0: s\nno labels, left out: r\n" in shown


@pytest.mark.usefixtures("folder")
class TestWhatIsWrong:
    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ((), "give a LOG, or --qrels Q --run R"),
            (("log.jsonl", "--run", "run"), "give a LOG, or --qrels Q --run R"),
            (("log.jsonl", "--measures", "nDCG@3"), "did you mean 'ndcg@3'"),
            (("log.jsonl", "--k", "0"), "--k 0: write whole numbers from 1 on"),
            (("log.jsonl", "--duplicates", "error"), "row 'q1': 'a' is ranked again at 3"),
            (("missing.jsonl",), "missing.jsonl: No such file or directory"),
            (("--qrels", "run", "--run", "run"), "run:1: line: 6 fields"),
        ],
    )
    def test_the_message_names_the_place_and_the_remedy(self, arguments: tuple[str, ...], words: str) -> None:
        done = CliRunner().invoke(cli, ["retrieval", *arguments])
        assert isinstance(done.exception, InputError)
        assert done.exception.exit_code == 2
        assert words in str(done.exception)

    @pytest.mark.parametrize(
        ("line", "words"),
        [
            ('{"relevance": {}}', "bad.jsonl:1: contexts: missing"),
            ('{"contexts": [3]}', "bad.jsonl:1: contexts[0]: an int"),
            ('{"contexts": [], "relevance": {"a": "high"}}', "bad.jsonl:1: relevance.a: 'high' is not a grade"),
            ('{"contexts": [], "relevance": {"a": NaN}}', "bad.jsonl:1: not JSON (NaN is not JSON; write null)"),
            ("{", "bad.jsonl:1: not JSON"),
            ("[]", "bad.jsonl:1: a list where an object is expected"),
            ('{"id": 1, "contexts": []}\n{"id": 1, "contexts": []}', "bad.jsonl:2: id: '1' stands there already"),
            ('{"contexts": ["a"]}', "bad.jsonl: relevance: no row has labels; add relevance"),
        ],
    )
    def test_a_bad_row_is_named_with_file_line_field_and_remedy(self, line: str, words: str) -> None:
        Path("bad.jsonl").write_text(line, encoding="utf-8")
        done = CliRunner().invoke(cli, ["retrieval", "bad.jsonl"])
        assert isinstance(done.exception, InputError)
        assert words in str(done.exception)

    def test_two_logs_that_disagree_on_labels_are_not_compared(self) -> None:
        write("before.jsonl", [{"id": "q", "contexts": [], "relevance": {"a": 1}}])
        write("after.jsonl", [{"id": "q", "contexts": [], "relevance": {"a": 2}}])
        done = CliRunner().invoke(cli, ["retrieval", "--before", "before.jsonl", "--after", "after.jsonl"])
        assert "row 'q': relevance differs from before.jsonl" in str(done.exception)
