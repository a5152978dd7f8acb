"""Is a judge fit? The doctor examines any judge; here one that compares words, which is what a judge must beat.

On the command line: `judgekit doctor --judge MODEL --base-url URL`.
"""

import asyncio

import judgekit as jk
from judgekit.doctor import examine

MOST = 0.6


def by_words(request):
    """Supported is what has most of its words in the sources."""
    there = {word.strip('.,:"[]').lower() for word in request.input.split()}
    answers = {}
    for question in request.questions:
        words = [word.strip('.,:"').lower() for word in question.text.split()]
        share = sum(word in there for word in words) / len(words)
        answers[question.id] = "supported" if share > MOST else "unsupported"
    return answers


found = asyncio.run(examine(jk.Judge(jk.Scripted(by_words)), rounds=2))
for name, group in found.accuracy.items():
    print(f"{name}: {group.balanced:.2f} [{group.low:.2f}, {group.high:.2f}] of {group.units} canaries")
print(f"two askings differ in {found.flips:.0%}; {found.injections_held} of {found.injections} injections held")
print(f"this judge is {found.fitness}:", *found.reasons, sep="\n  ")
