"""CPU time of six measures over many rankings, judgekit against pytrec_eval (C) in the same run.

    python benchmarks/retrieval.py [--queries 10000] [--docs 100] [--rounds 5]

Each side gets what it takes as its own: pytrec_eval scores in dicts, judgekit ranked lists (and, shown beside, the same
dicts). Inputs are validated, values of both are compared. The ratio is the best round of each, in turn; the bar is 1.0
at k=10 and 2.0 at k=100.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable

import pytrec_eval

from judgekit.retrieval import Evaluation, evaluate

BARS = {10: 1.0, 100: 2.0}


def data(queries: int, docs: int) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, int]]]:
    """Runs of distinct scores, in no order, and graded labels: a third of the retrieved judged, and some missed."""
    rng = random.Random(7)
    runs, qrels = {}, {}
    for number in range(queries):
        ids = [f"d{rng.randrange(10**7)}-{place}" for place in range(docs)]
        runs[f"q{number}"] = {one: rng.random() for one in ids}
        judged = rng.sample(ids, docs // 3)
        qrels[f"q{number}"] = {
            **{one: rng.choice((0, 0, 1, 2, 3)) for one in judged},
            **{f"missed{place}": 1 for place in range(3)},
        }
    return runs, qrels


def best_of(rounds: int, *calls: Callable[[], object]) -> list[float]:
    """CPU seconds of the best round of each call; rounds alternate, so that a busy machine troubles all alike."""
    best = [float("inf")] * len(calls)
    for _ in range(rounds):
        for number, call in enumerate(calls):
            start = time.process_time()
            call()
            best[number] = min(best[number], time.process_time() - start)
    return best


def compare(runs: dict[str, dict[str, float]], qrels: dict[str, dict[str, int]], *, k: int, rounds: int) -> None:
    ranked = {query: sorted(scores, key=scores.__getitem__, reverse=True) for query, scores in runs.items()}
    ours = [f"{key}@{k}" for key in ("precision", "recall", "hit", "rr", "ap", "ndcg")]
    theirs = {f"P.{k}", f"recall.{k}", f"success.{k}", "recip_rank", f"map_cut.{k}", f"ndcg_cut.{k}"}

    def pytrec() -> dict[str, dict[str, float]]:
        found: dict[str, dict[str, float]] = pytrec_eval.RelevanceEvaluator(qrels, theirs).evaluate(runs)
        return found

    def lists() -> Evaluation:
        return evaluate(ranked, qrels, ours)

    def dicts() -> Evaluation:
        return evaluate(runs, qrels, ours)

    expected = pytrec()
    for query, scores in lists().queries.items():
        for name, other in ((f"ap@{k}", f"map_cut_{k}"), (f"ndcg@{k}[linear,judged]", f"ndcg_cut_{k}")):
            if abs((scores[name] or 0.0) - expected[query][other]) > 1e-9:  # noqa: PLR2004
                raise SystemExit(f"{query}: {name} {scores[name]} is not {other} {expected[query][other]}")
    c, from_lists, from_dicts = best_of(rounds, pytrec, lists, dicts)
    print(
        f"k={k:<4} pytrec_eval {c:.3f} s   judgekit, lists {from_lists:.3f} s = {from_lists / c:.2f} x   "
        f"judgekit, scores {from_dicts:.3f} s = {from_dicts / c:.2f} x   (bar {BARS[k]:.1f} x)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--docs", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    runs, qrels = data(given.queries, given.docs)
    for k in BARS:
        compare(runs, qrels, k=k, rounds=given.rounds)


if __name__ == "__main__":
    main()
