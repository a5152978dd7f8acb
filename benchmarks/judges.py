"""Ways to ask one model the same questions, against human labels: JSON, JSON with logprobs, readout, decisions.

    python benchmarks/judges.py LABELLED.jsonl... --model MODEL --base-url http://127.0.0.1:8080/v1 --rows 50
    ... --ways decisions --decider-url URL     the same model behind a server of typed questions

A row needs `id`, `claim`, `contexts` (each with a `text`) and `label_binary` (1: the contexts support the claim, 0:
they do not). `--rows` are drawn from each file by the hash of their ids, from those whose contexts are not longer than
`--most-chars`. Every claim is a call of its own, so that the ways differ in the way alone. The first line is no judge:
the share of the claim's words that occur in the contexts.

Balanced accuracy takes `supported` as the positive label. AUC ranks by the probability of `supported`; without
probabilities by label: supported 1, partially supported 0.5, all else 0. Both with a 95 %
interval, over the judged rows.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Sequence
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.judge import Judge
from judgekit.records import Claim, Context, Label, Verdict
from judgekit.segment.words import content_words, share_of
from judgekit.stats import auc, hash_rank_sample, judge_vs_human, norm_ppf
from judgekit.tasks import sources_of, verify

WAYS: dict[str, dict[str, Any]] = {
    "json": {},
    "json+logprobs": {"confidence": "logprobs"},
    "readout": {"readout": True},
    "decisions": {},
}
SCORES = {Label.SUPPORTED: 1.0, Label.PARTIALLY_SUPPORTED: 0.5}
HEAD = "| way | rows judged | unjudged | balanced accuracy | AUC | calls | prompt tokens | written tokens | seconds |"


class Row(NamedTuple):
    claim: str
    contexts: tuple[str, ...]
    is_supported: bool


def drawn(path: Path, *, rows: int, most_chars: int) -> list[Row]:
    found: dict[str, Row] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        texts = tuple(context["text"] for context in row["contexts"])
        if row["label_binary"] is not None and sum(map(len, texts)) <= most_chars:
            found[row["id"]] = Row(row["claim"], texts, row["label_binary"] == 1)
    return [found[i] for i in hash_rank_sample(found, seed="judges", stratum=path.name, n=rows)]


async def verdict_on(judge: Judge, row: Row) -> Verdict:
    contexts = [Context(id=f"c{number}", text=text) for number, text in enumerate(row.contexts, start=1)]
    claim = Claim(id="a1", text=row.claim, side="answer", segment_ids=(), start=0, end=len(row.claim))
    sources = sources_of(contexts)
    asked = await judge.ask(verify.request(judge.prompts, sources, [claim]))
    (verdict,) = verify.read(asked.answers, sources, [claim], tuple(context.id for context in contexts))
    return verdict


async def judged(rows: Sequence[Row], judge: Judge) -> list[Verdict]:
    async with judge:
        return [await verdict_on(judge, row) for row in rows]


def line(way: str, rows: Sequence[Row], verdicts: Sequence[Verdict], judge: Judge, seconds: float) -> str:
    pairs = [(row, verdict) for row, verdict in zip(rows, verdicts, strict=True) if verdict.label is not Label.UNJUDGED]
    truth = [row.is_supported for row, _ in pairs]
    said = [verdict.label is Label.SUPPORTED for _, verdict in pairs]
    scores = [
        verdict.probabilities["supported"] if verdict.probabilities else SCORES.get(verdict.label, 0.0)
        for _, verdict in pairs
    ]
    meters = judge.meters.values()
    spent = [sum(getattr(m, name) for m in meters) for name in ("sent", "prompt_tokens", "completion_tokens")]
    shown = [
        way,
        len(pairs),
        len(rows) - len(pairs),
        accuracy(truth, said),
        area(truth, scores),
        *spent,
        f"{seconds:.0f}",
    ]
    return f"| {' | '.join(map(str, shown))} |"


def accuracy(truth: Sequence[bool], said: Sequence[bool]) -> str:
    found = judge_vs_human(judge=said, human=truth, positive=True)
    if found.balanced_accuracy is None:
        return "-"
    rates = ((found.recall or 0, found.tp + found.fn), (found.specificity or 0, found.tn + found.fp))
    return around(found.balanced_accuracy, sqrt(sum(rate * (1 - rate) / n for rate, n in rates)) / 2)


def area(truth: Sequence[bool], scores: Sequence[float]) -> str:
    found = auc(scores=scores, is_positive=truth)
    return "-" if found.auc is None else around(found.auc, found.se or 0.0)


def around(value: float, se: float) -> str:
    reach = norm_ppf(0.975) * se
    return f"{value:.2f} [{max(0.0, value - reach):.2f}, {min(1.0, value + reach):.2f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", type=Path)
    parser.add_argument("--model", required=True)
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--decider-url", help="where the model answers typed questions")
    parser.add_argument("--ways", default="json,json+logprobs,readout")
    parser.add_argument("--rows", type=int, default=50, help="rows of each file")
    parser.add_argument("--most-chars", type=int, default=2000, help="of a row's contexts together")
    given = parser.parse_args()
    rows = [row for path in given.data for row in drawn(path, rows=given.rows, most_chars=given.most_chars)]
    print(HEAD, "|---" * HEAD.count(" | ") + "|---|", sep="\n")
    overlap = [share_of(content_words(row.claim), found_in=content_words(" ".join(row.contexts))) for row in rows]
    print(
        f"| word overlap | {len(rows)} | 0 | - | {area([row.is_supported for row in rows], overlap)} | 0 | 0 | 0 | 0 |"
    )
    for way in given.ways.split(","):
        if way == "decisions":
            judge = Judge(decider=given.model, decider_url=given.decider_url, concurrency=1, timeout=600)
        else:
            judge = Judge(given.model, base_url=given.base_url, concurrency=1, timeout=600, **WAYS[way])
        start = time.monotonic()
        verdicts = asyncio.run(judged(rows, judge))
        print(line(way, rows, verdicts, judge, time.monotonic() - start), flush=True)


if __name__ == "__main__":
    main()
