"""A judge of your own: any function that answers typed questions.

It may return a label, or a probability for each label, as a decision model or a classifier does. This one compares
words, which is what a judge must beat. Without a judge that writes text, sentences are judged as they stand.
"""

import judgekit as jk

CONTEXTS = ["The Orrin dam is 61 m high and was built in 1958.", "The lake behind it holds trout."]


def by_words(request):
    """Answer each question by the share of its words that occur in the input."""
    there = {word.strip('.,:"[]').lower() for word in request.input.split()}
    answers = {}
    for question in request.questions:
        words = [word.strip('.,:"').lower() for word in question.text.split()]
        share = sum(word in there for word in words) / len(words)
        answers[question.id] = {"supported": share, "unsupported": 1 - share}
    return answers


result = jk.score(
    question="How high is the Orrin dam?",
    answer="The Orrin dam is 61 m high [1]. It was painted by Ines Falk [2].",
    contexts=CONTEXTS,
    judge=jk.Judge(jk.Scripted(by_words)),
    metrics=["faithfulness", "citation_support"],
    options=jk.Options(split="segments"),
)
for verdict in result.verdicts:
    print(verdict.check.claim_id, verdict.check.sources, verdict.label, round(verdict.probabilities["supported"], 2))
for score in result.scores:
    print(score.metric, score.value)
