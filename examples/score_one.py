"""Score one answer, and look at where the numbers come from. Runs offline, from the recording of the demo."""

import json
from pathlib import Path

import judgekit as jk

here = Path(__file__).parent
row = json.loads((here / "answers.jsonl").read_text(encoding="utf-8").splitlines()[0])

# With a live endpoint: judge = jk.Judge("MODEL", base_url="http://127.0.0.1:8080/v1")
judge = jk.Judge.replay(here.parent / "cassettes" / "demo.jsonl")

result = jk.score(
    question=row["question"],
    answer=row["answer"],
    contexts=row["contexts"],
    reference=row["reference"],
    judge=judge,
)
for score in result.scores:
    print(score.metric, score.value if score.reason is None else score.reason)
for verdict in result.verdicts:
    quote = verdict.evidence[0].quote if verdict.evidence else "-"
    print(verdict.check.claim_id, verdict.check.sources, verdict.label, quote, sep=" | ")
