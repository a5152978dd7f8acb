"""Judge calls and prompt tokens per row for the four common metrics. Offline.

First over the shipped log, with the tokens that the recording's endpoint counted. Then for made-up rows of the size
that other frameworks were measured on (five contexts of 113 words, an answer of four sentences), with tokens estimated
at four characters each from the prompts that would be sent.
"""

from __future__ import annotations

import json
from pathlib import Path

import judgekit as jk
from judgekit.judge import layout
from judgekit.prompts import prompts_of
from judgekit.wire import JudgeRequest, Texts

METRICS = ["faithfulness", "context_precision", "context_recall", "answer_relevance"]
WITH_CITATIONS = [*METRICS, "citation_support"]
HERE = Path(__file__).parent.parent


def shipped() -> None:
    rows = [json.loads(line) for line in (HERE / "examples/answers.jsonl").read_text(encoding="utf-8").splitlines()]
    for metrics in (METRICS, WITH_CITATIONS):
        results = jk.score_all(rows, judge=jk.Judge.replay(HERE / "cassettes/demo.jsonl"), metrics=metrics)
        calls = sum(result.usage.calls for result in results) / len(results)
        tokens = sum(result.usage.prompt_tokens for result in results) / len(results)
        print(f"shipped log, {len(metrics)} metrics: {calls:.1f} calls, {tokens:.0f} prompt tokens a row")


def made_up() -> None:
    words = "the pump at Halden station moves water from the lower basin to the upper one when its level falls".split()
    context = " ".join((words * 7)[:113])
    row = {
        "question": "How does the pump at Halden station work?",
        "answer": " ".join(f"The pump moves water to the upper basin at level {n} [{n}]." for n in range(1, 5)),
        "contexts": [f"{context} {n}." for n in range(5)],
        "reference": "The pump moves water when the level falls. It moves it to the upper basin.",
    }
    for metrics in (METRICS, WITH_CITATIONS):
        script = Counting()
        jk.score(**row, judge=jk.Judge(jk.Scripted(script)), metrics=metrics)
        calls, tokens = len(script.tokens), sum(script.tokens)
        print(
            f"five 113-word contexts, {len(metrics)} metrics: {calls} calls, about {tokens} prompt tokens with schemas"
        )


class Counting:
    """A judge that notes how long each prompt with its schema is, and answers with the first option."""

    def __init__(self) -> None:
        self.tokens: list[int] = []

    def __call__(self, request: JudgeRequest) -> dict[str, object]:
        prompt = "".join(message["content"] for message in layout.messages(prompts_of(), request))
        self.tokens.append((len(prompt) + len(json.dumps(layout.schema(request)))) // 4)
        return {q.id: [q.text.strip('"')] if isinstance(q, Texts) else q.options[0].value for q in request.questions}


if __name__ == "__main__":
    shipped()
    made_up()
