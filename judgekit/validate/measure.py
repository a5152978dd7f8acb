"""How good is a judge on labelled rows: beside what word overlap alone gets, and what the human raters get."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple, TypeVar

from judgekit.records import Record
from judgekit.stats import Confusion, auc, bootstrap, hash_uniform, judge_vs_human, mcnemar, pearson, spearman
from judgekit.validate.judged import Judged

T = TypeVar("T")

_REPLICATES: Final = 1000
#: The class of interest: what is not good is what a judge is there to find.
_BAD: Final = False
_FEWEST_RATERS: Final = 2


class Rate(Record):
    """A number with its 95 % interval; None where it has no value. `n` units stand behind it."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0


class Tuned(Record):
    """A threshold chosen on the dev part for the best balanced accuracy, and what it gets on the other part."""

    threshold: float | None = None
    balanced_accuracy: Rate = Rate()


class Measured(Record):
    """A judge on the labelled rows of one file and task.

    `balanced_accuracy`: the judge's own yes or no. `found_bad` and `passed_good`: of the rows that people call bad, the
    share that the judge calls bad; of the good ones, the share it calls good. `auc`: how often a good row scores above
    a bad one. `overlap_auc` and `overlap_tuned` are the floor, `human` the ceiling: single raters against the rest.
    """

    name: str
    task: str
    rows: int
    groups: int
    unjudged: dict[str, int]
    undefined: dict[str, int]
    has_probabilities: bool
    balanced_accuracy: Rate
    found_bad: Rate
    passed_good: Rate
    auc: Rate
    tuned: Tuned
    overlap_auc: Rate
    overlap_tuned: Tuned
    human: Rate
    spearman: Rate
    pearson: Rate
    calls: int
    prompt_tokens: int
    completion_tokens: int


class Compared(Record):
    """Two judges, or two sets of prompts, on the same rows: b less a, with its paired interval, and McNemar's mid-p on
    the rows that only one of them got right."""

    name: str
    task: str
    rows: int
    difference: Rate
    only_a: int
    only_b: int
    p: float


def measure(name: str, task: str, judged: Sequence[Judged], *, seed: int = 7, dev: float = 0.5) -> Measured:
    """The numbers of one file and task. Rows without a score are counted and left out of all of them.

    Intervals are percentile bootstraps over groups. `dev`: the share of groups, in [0, 1], on which thresholds are
    tuned; a hash of group and seed decides, so that a row's side does not depend on the other rows.
    """
    scored = [one for one in judged if one.score is not None]
    labelled = [one for one in scored if one.row.is_good is not None]
    graded = [one for one in scored if one.row.grade is not None]
    tune = [one for one in labelled if _is_dev(one, seed=seed, dev=dev)]
    held = [one for one in labelled if not _is_dev(one, seed=seed, dev=dev)]

    def rate(rows: Sequence[Judged], statistic: Callable[[Sequence[Judged]], float | None]) -> Rate:
        return _rate(rows, statistic, group=lambda one: one.row.group, seed=seed)

    def tuned(score: Callable[[Judged], float]) -> Tuned:
        threshold = best_threshold([(score(one), bool(one.row.is_good)) for one in tune])
        if threshold is None:
            return Tuned()
        return Tuned(threshold=threshold, balanced_accuracy=rate(held, _accuracy(lambda one: score(one) >= threshold)))

    return Measured(
        name=name,
        task=task,
        rows=len(judged),
        groups=len({one.row.group for one in judged}),
        unjudged=_counts(one.cause for one in judged),
        undefined=_counts(one.reason for one in judged),
        has_probabilities=any(one.has_probability for one in judged),
        balanced_accuracy=rate(labelled, _accuracy(lambda one: bool(one.is_good))),
        found_bad=rate(labelled, lambda rows: _confusion(rows, lambda one: bool(one.is_good)).recall),
        passed_good=rate(labelled, lambda rows: _confusion(rows, lambda one: bool(one.is_good)).specificity),
        auc=rate(labelled, _auc(lambda one: one.score or 0.0)),
        tuned=tuned(lambda one: one.score or 0.0),
        overlap_auc=rate(labelled, _auc(lambda one: one.overlap)),
        overlap_tuned=tuned(lambda one: one.overlap),
        human=_ceiling([one for one in judged if len(one.row.raters) >= _FEWEST_RATERS], seed=seed),
        spearman=rate(graded, lambda rows: spearman(x=_scores(rows), y=_grades(rows))),
        pearson=rate(graded, lambda rows: pearson(x=_scores(rows), y=_grades(rows))),
        calls=sum(one.usage.calls for one in judged),
        prompt_tokens=sum(one.usage.prompt_tokens for one in judged),
        completion_tokens=sum(one.usage.completion_tokens for one in judged),
    )


def compare(name: str, task: str, a: Sequence[Judged], b: Sequence[Judged], *, seed: int = 7) -> Compared:
    """b against a in balanced accuracy, over the rows that both of them judged and people labelled yes or no."""
    other = {one.row.id: one for one in b if one.score is not None}
    pairs = [
        (one, other[one.row.id])
        for one in a
        if one.score is not None and one.row.is_good is not None and one.row.id in other
    ]

    def difference(rows: Sequence[tuple[Judged, Judged]]) -> float | None:
        first = _confusion([x for x, _ in rows], lambda one: bool(one.is_good)).balanced_accuracy
        second = _confusion([y for _, y in rows], lambda one: bool(one.is_good)).balanced_accuracy
        return None if first is None or second is None else second - first

    right = [(x.is_good == x.row.is_good, y.is_good == y.row.is_good) for x, y in pairs]
    only_a, only_b = right.count((True, False)), right.count((False, True))
    return Compared(
        name=name,
        task=task,
        rows=len(pairs),
        difference=_rate(pairs, difference, group=lambda pair: pair[0].row.group, seed=seed),
        only_a=only_a,
        only_b=only_b,
        p=mcnemar(b=only_a, c=only_b).p_mid,
    )


def best_threshold(pairs: Sequence[tuple[float, bool]]) -> float | None:
    """The score from which a row is best called good: the highest balanced accuracy, of equal ones the lowest score.

    None when the pairs of score and label hold only one class.
    """
    good, bad = sum(label for _, label in pairs), sum(not label for _, label in pairs)
    if not good or not bad:
        return None
    best, threshold, passed_good, passed_bad = -1.0, 0.0, 0, 0
    for score in sorted({score for score, _ in pairs}, reverse=True):
        passed_good += sum(label for value, label in pairs if value == score)
        passed_bad += sum(not label for value, label in pairs if value == score)
        accuracy = (passed_good / good + 1 - passed_bad / bad) / 2
        if accuracy >= best:
            best, threshold = accuracy, score
    return threshold


def worst(judged: Iterable[Judged], most: int) -> list[Judged]:
    """The rows where judge and human are farthest apart, the farthest first; equal ones by id."""
    apart = [one for one in judged if one.score is not None and one.row.is_good is not None]
    apart = [one for one in apart if one.is_good != one.row.is_good]
    return sorted(apart, key=lambda one: (-abs((one.score or 0.0) - float(bool(one.row.is_good))), one.row.id))[:most]


# --- parts ------------------------------------------------------------------------------------------


def _is_dev(one: Judged, *, seed: int, dev: float) -> bool:
    return hash_uniform(one.row.group, seed=str(seed)) < dev


def _confusion(rows: Sequence[Judged], is_good: Callable[[Judged], bool]) -> Confusion:
    human = [bool(one.row.is_good) for one in rows]
    return judge_vs_human(human=human, judge=[is_good(one) for one in rows], positive=_BAD)


def _accuracy(is_good: Callable[[Judged], bool]) -> Callable[[Sequence[Judged]], float | None]:
    return lambda rows: _confusion(rows, is_good).balanced_accuracy


def _auc(score: Callable[[Judged], float]) -> Callable[[Sequence[Judged]], float | None]:
    return lambda rows: (
        auc(scores=[score(one) for one in rows], is_positive=[bool(one.row.is_good) for one in rows]).auc
    )


def _scores(rows: Sequence[Judged]) -> list[float]:
    return [one.score or 0.0 for one in rows]


def _grades(rows: Sequence[Judged]) -> list[float]:
    return [one.row.grade or 0.0 for one in rows]


class _Rated(NamedTuple):
    group: str
    rater_is_good: bool
    others_are_good: bool


def _ceiling(rows: Sequence[Judged], *, seed: int) -> Rate:
    """Balanced accuracy of one rater against the majority of the others, over all raters and rows where there is one.

    A rating is good from the lowest one on that rows called good have for a label; None where labels and ratings are
    on different scales.
    """
    good = [one.row.grade for one in rows if one.row.is_good and one.row.grade is not None]
    if not good:
        return Rate()
    cut = min(good)
    rated: list[_Rated] = []
    for one in rows:
        votes = [rating >= cut for rating in one.row.raters]
        for at, vote in enumerate(votes):
            others = votes[:at] + votes[at + 1 :]
            if 2 * sum(others) != len(others):
                rated.append(_Rated(one.row.group, vote, 2 * sum(others) > len(others)))

    def accuracy(some: Sequence[_Rated]) -> float | None:
        human, judge = [one.others_are_good for one in some], [one.rater_is_good for one in some]
        return judge_vs_human(human=human, judge=judge, positive=_BAD).balanced_accuracy

    return _rate(rated, accuracy, group=lambda one: one.group, seed=seed)


def _rate(
    rows: Sequence[T], statistic: Callable[[Sequence[T]], float | None], *, group: Callable[[T], str], seed: int
) -> Rate:
    """A statistic of all rows, with the interval that resampling whole groups gives."""
    value = statistic(rows) if rows else None
    if value is None:
        return Rate(n=len(rows))
    groups: dict[str, list[T]] = {}
    for row in rows:
        groups.setdefault(group(row), []).append(row)
    clusters = [groups[name] for name in sorted(groups)]

    def over(drawn: Sequence[list[T]]) -> float | None:
        return statistic([row for cluster in drawn for row in cluster])

    found = bootstrap(clusters, over, seed=seed, replicates=_REPLICATES)
    return Rate(value=value, low=found.lo, high=found.hi, n=len(rows))


def _counts(reasons: Iterable[str | None]) -> dict[str, int]:
    return dict(Counter(reason for reason in reasons if reason is not None).most_common())
