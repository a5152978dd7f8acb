"""Score one answer, and look at where the numbers come from. Runs offline, from the recording of the demo."""

from pathlib import Path

import judgekit as jk

CASSETTE = Path(__file__).parent.parent / "cassettes" / "demo.jsonl"

judge = jk.Judge.replay(CASSETTE)  # live: jk.Judge("MODEL", base_url="http://127.0.0.1:8080/v1")

result = jk.score(
    question="Who designed the trams of Vestby?",
    answer="The trams of Vestby were designed by Ines Falk [1]. They are painted in dark green, and the network has "
    "14 kilometres of track [2].",
    contexts=[
        "Ines Falk designed the trams of Vestby in 1998; she also drew the stops.",
        "The tram network of Vestby has four lines and 41 kilometres of track.",
    ],
    judge=judge,
    metrics=["faithfulness", "citation_support", "answer_relevance"],
)
for score in result.scores:
    print(score.metric, score.value)
for claim in result.claims:
    print(claim.id, claim.text)
for verdict in result.verdicts:
    quote = verdict.evidence[0].quote if verdict.evidence else "-"
    print(verdict.check.claim_id, "against", verdict.check.sources, "is", verdict.label, "|", quote)
