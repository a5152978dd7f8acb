"""Several deciders, or one several times: every vote is asked for, stored and replayed on its own, and the majority of
all votes that were asked for is the answer.

A majority is more than half of the votes asked for, so that one that is missing can never have turned it. Without one
the answer is none: `tie` when the labels that lead have equally many votes, `missing_votes` when those that are missing
could have made a majority, `no_majority` else; where all are missing for one cause, it is that cause. Who voted what is
kept in any case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from judgekit.errors import InputError
from judgekit.judge.asking import Asked, Asker
from judgekit.judge.classifier import FORMS as CLASSIFIERS
from judgekit.together import all_of
from judgekit.wire import Answer, JudgeRequest, JudgeSpec, Question, Texts, Vector, Vote

#: Among a part's settings: how often it votes.
VOTES: Final = "votes"


class Panel:
    """Deciders, by the names of their parts of the judge, and how often each votes. A single vote is the answer itself.

    Raises InputError for a number of votes below 1, and for a member that is in it twice.
    """

    def __init__(self, members: Mapping[str, Asker], *, votes: int = 1) -> None:
        if votes < 1:
            raise InputError(f"votes is {votes}; give 1 or more, better an odd number")
        self.members = dict(members)
        self._votes = votes
        specs = [asker.backend.spec for asker in self.members.values()]
        for spec in specs:
            if sum(other.judge_id == spec.judge_id for other in specs) > 1:
                raise InputError(f"panel: {spec.model} at {spec.base_url} is in it twice; votes=2 asks it twice")

    @property
    def is_varied(self) -> bool:
        """False when members vote more than once and none can be expected to say something else the next time."""
        if self._votes == 1:
            return True
        specs = [asker.backend.spec for asker in self.members.values()]
        return any(spec.form not in _STEADY and spec.params.get("temperature", 1) != 0 for spec in specs)

    @property
    def most_questions(self) -> int | None:
        """How many questions one call can hold, where every member says so."""
        limits = [asker.backend.most_questions for asker in self.members.values()]
        known = [limit for limit in limits if limit is not None]
        return min(known) if len(known) == len(limits) else None

    def signed(self, part: str, spec: JudgeSpec) -> JudgeSpec:
        """The spec of a part, with the number of its votes where it votes more than once."""
        if self._votes == 1 or part not in self.members:
            return spec
        return spec.model_copy(update={"settings": {**spec.settings, VOTES: self._votes}})

    async def ask(self, request: JudgeRequest, *, repeat: int = 0) -> Asked:
        """The answers of the majority, with the vote of every member. Raises as Asker.ask."""
        voters = [(part, n) for part in self.members for n in range(self._votes)]
        if len(voters) == 1:
            return await self.members[voters[0][0]].ask(request, repeat=repeat)
        asked = await all_of(self.members[part].ask(request, repeat=repeat * self._votes + n) for part, n in voters)
        answers = {
            question.id: counted(question, dict(zip(voters, (one.answers[question.id] for one in asked), strict=True)))
            for question in request.questions
        }
        voted = zip(voters, asked, strict=True)
        calls = (call._replace(part=part) for (part, _), one in voted for call in one.calls)
        return Asked(answers, tuple(dict.fromkeys(calls)))


#: Forms whose probabilities are read and not drawn.
_STEADY: Final = frozenset({"readout", "decisions", *CLASSIFIERS})


def votes_of(specs: Iterable[JudgeSpec]) -> int:
    """How often each decider of a recorded judge voted."""
    return max((votes for spec in specs if isinstance(votes := spec.settings.get(VOTES, 1), int)), default=1)


def counted(question: Question, said: Mapping[tuple[str, int], Answer]) -> Answer:
    """The answer that votes amount to, by (part, repeat); its probabilities are the shares of all votes asked for."""
    votes = tuple(Vote(by=by, repeat=n, label=one.label, cause=one.cause) for (by, n), one in said.items())
    calls = tuple(dict.fromkeys(call for one in said.values() for call in one.calls))
    tally = Counter(vote.label for vote in votes if vote.label is not None)
    leaders = tally.most_common()
    cause = _undecided(leaders, asked=len(votes))
    if not tally and len(causes := {vote.cause for vote in votes}) == 1:
        (cause,) = causes
    if cause is not None:
        raw = next((one.raw for one in said.values() if one.raw), None)
        return Answer(id=question.id, cause=cause, raw=raw, votes=votes, calls=calls)
    # of the answers that won, the first that says more than its label
    won = [one for one in said.values() if one.label == leaders[0][0]]
    fullest = next((one for one in won if one.quote is not None or one.reason is not None), won[0])
    options = () if isinstance(question, Texts | Vector) else question.options
    shares = {option.value: tally[option.value] / len(votes) for option in options}
    return fullest.model_copy(update={"probabilities": shares, "votes": votes, "calls": calls})


def _undecided(leaders: Sequence[tuple[str, int]], *, asked: int) -> str | None:
    """Why there is no majority of all votes asked for; None when there is one."""
    most = leaders[0][1] if leaders else 0
    if 2 * most > asked:
        return None
    if sum(count == most for _, count in leaders) > 1:
        return "tie"
    missing = asked - sum(count for _, count in leaders)
    return "missing_votes" if 2 * (most + missing) > asked else "no_majority"
