"""A metric of your own: an object that says what it needs, which checks it wants, and how it counts them."""

import json
from pathlib import Path

import judgekit as jk
from judgekit.records import ANSWER, Need, Reason


class FullySupported(jk.Metric):
    """1 when the contexts support every claim of the answer, else 0. None: no claim, or a verdict missing."""

    name = "fully_supported"
    needs = frozenset({Need.ANSWER_CLAIMS})

    def checks(self, case):
        return [jk.Check.of(claim, case.sample.source_ids) for claim in case.claims_of(ANSWER)]

    def score(self, case):
        labels = [case.label(check) for check in self.checks(case)]
        if not labels:
            return jk.Score.undefined(self.name, Reason.NO_CLAIMS)
        if jk.Label.UNJUDGED in labels:
            return jk.Score.undefined(self.name, Reason.UNJUDGED)
        return jk.Score.share(self.name, [float(all(label is jk.Label.SUPPORTED for label in labels))])


here = Path(__file__).parent
rows = [json.loads(line) for line in (here / "answers.jsonl").read_text(encoding="utf-8").splitlines()]
judge = jk.Judge.replay(here.parent / "cassettes" / "demo.jsonl")
for result in jk.score_all(rows[:4], judge=judge, metrics=["faithfulness", FullySupported()]):
    print(result.id, result["faithfulness"].value, result["fully_supported"].value)
