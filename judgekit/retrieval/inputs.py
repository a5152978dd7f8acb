"""What the measures look at: one query's labels and one ranking, checked and made quick to count.

Ids are compared as they are: no case folding, no stripping, and `1` is not `"1"`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import islice
from math import isfinite, isnan
from numbers import Real
from typing import Any, Literal, TypeAlias

from judgekit.errors import InputError

Id: TypeAlias = str | int
#: Ids, best first; or id -> score, the highest being the best.
Ranking: TypeAlias = Sequence[str] | Sequence[int] | Mapping[str, float] | Mapping[int, float]
#: The relevant ids; or id -> grade of everything that was judged.
Relevance: TypeAlias = Collection[str] | Collection[int] | Mapping[str, float] | Mapping[int, float]
Duplicates = Literal["slot", "drop", "error"]
Ties = Literal["stable", "trec"]


class UnusableValue(InputError, ValueError):
    """A ranking, a grade, a score or a cut-off has a value that nothing can be counted from."""


class UnusableType(InputError, TypeError):
    """A ranking, relevance, an id or a cut-off is of a type that would be counted wrongly without a word."""


class Labels:
    """What was judged for one query: id -> grade, from `level` on relevant.

    A negative grade is judged, not relevant, and gains nothing. UnusableType: a bare text, or ids that are not all
    texts (or all whole numbers). UnusableValue: a grade that is not finite.
    """

    def __init__(self, relevance: Relevance, *, level: float = 1) -> None:
        if isinstance(relevance, str | bytes) or not isinstance(relevance, Collection):
            raise UnusableType(f"relevance is {_shown(relevance)}; give a set of ids, or a mapping of id to grade")
        self.level = level
        self.kind = kind_of(relevance, "relevance")
        if not isinstance(relevance, Mapping):
            self.grades: dict[Any, float] = dict.fromkeys(relevance, 1)
            return
        self.grades = dict(relevance)
        _check_numbers(self.grades, "grade")
        if not all(map(_finite, self.grades.values())):
            bad = next(one for one, grade in self.grades.items() if not _finite(grade))
            raise UnusableValue(f"the grade of {bad!r} is {self.grades[bad]!r}; give a finite number")

    @cached_property
    def relevant(self) -> int:
        """How many items are relevant."""
        level = self.level
        return len([grade for grade in self.grades.values() if grade >= level])

    @cached_property
    def nonrelevant(self) -> int:
        """How many items were judged not relevant; a negative grade counts as not judged (trec_eval's bpref)."""
        return len([grade for grade in self.grades.values() if 0 <= grade < self.level])

    @cached_property
    def gaining(self) -> list[float]:
        """All positive grades, best first: what an ideal ranking gains from."""
        return sorted([grade for grade in self.grades.values() if grade > 0], reverse=True)


class Seen:
    """One ranking held against the labels of its query, looked at down to `depth` (all of it, if None).

    `judged`: (rank, grade) of every judged item, in rank order; `hits`: ranks of the relevant ones; ranks count from 1.
    Only the first place of a repeated id counts. `slots` is the length of the whole list, `repeats` holds the ranks of
    repeated ids in it.
    """

    __slots__ = ("hits", "judged", "labels", "repeated", "repeats", "slots")

    def __init__(
        self, ranking: Ranking, labels: Labels, *, depth: int | None, duplicates: Duplicates, ties: Ties
    ) -> None:
        ids = ids_of(ranking, ties=ties)
        kind = kind_of(ids, "the ranking")
        if kind is not labels.kind and kind and labels.kind:
            raise UnusableType(
                f"the ranking holds ids like {ids[0]!r}, the relevance ids like {next(iter(labels.grades))!r}; "
                "these never meet: give both as texts"
            )
        self.labels = labels
        self.repeats: list[int] = []
        self.repeated = 0
        if not isinstance(ranking, Mapping) and len(set(ids)) < len(ids):
            ids = self._without_repeats(ids, duplicates)
        self.slots = len(ids)
        grades = labels.grades
        top = ids if depth is None or depth >= len(ids) else ids[:depth]
        self.judged: list[tuple[int, float]] = [(rank, grades[one]) for rank, one in enumerate(top, 1) if one in grades]
        if self.repeats:
            again = set(self.repeats)
            self.judged = [(rank, grade) for rank, grade in self.judged if rank not in again]
        level = labels.level
        self.hits: list[int] = [rank for rank, grade in self.judged if grade >= level]

    def _without_repeats(self, ids: Sequence[Id], duplicates: Duplicates) -> Sequence[Id]:
        """The ids as they are to be counted; notes how many repeats there are, and their ranks if they keep a slot."""
        firsts: set[Id] = set()
        repeats = [rank for rank, one in enumerate(ids, 1) if one in firsts or firsts.add(one)]  # type: ignore[func-returns-value]  # add: None
        if duplicates == "error":
            rank = repeats[0]
            raise UnusableValue(
                f"{ids[rank - 1]!r} is ranked again at {rank}; rank every id once, or choose 'slot' or 'drop'"
            )
        self.repeated = len(repeats)
        if duplicates == "drop":
            return list(dict.fromkeys(ids))
        self.repeats = repeats
        return ids

    def hits_at(self, k: int | None) -> int:
        """Relevant items in the top k."""
        return len(self.hits) if k is None else bisect_right(self.hits, k)

    def slots_at(self, k: int | None) -> int:
        """Ids in the top k, repeats included."""
        return self.slots if k is None else min(k, self.slots)

    def different_at(self, k: int | None) -> int:
        """Different ids in the top k."""
        return self.slots_at(k) - (len(self.repeats) if k is None else bisect_right(self.repeats, k))


def ids_of(ranking: Ranking, *, ties: Ties = "stable") -> Sequence[Id]:
    """The ids of a ranking, best first.

    Scores are sorted from high to low; where they are equal, `stable` keeps the order given and `trec` takes the larger
    id first, as trec_eval does. UnusableValue: a score that is NaN. UnusableType: anything but a list or a mapping.
    """
    if isinstance(ranking, Mapping):
        return _sorted(ranking, ties)
    if isinstance(ranking, str | bytes) or not isinstance(ranking, Sequence):
        raise UnusableType(f"the ranking is {_shown(ranking)}; give a list of ids, or a mapping of id to score")
    return ranking


def _sorted(scores: Mapping[Any, float], ties: Ties) -> list[Id]:
    _check_numbers(scores, "score")
    if any(map(isnan, scores.values())):
        bad = next(one for one, score in scores.items() if isnan(score))
        raise UnusableValue(f"the score of {bad!r} is NaN; leave that item out, or give it a number")
    given = sorted(scores, reverse=True) if ties == "trec" else scores
    return sorted(given, key=scores.__getitem__, reverse=True)


def kind_of(ids: Collection[Any], what: str) -> type | None:
    """str or int: what the ids are; None when there are none. Raises UnusableType when they are neither, or both."""
    if not ids:
        return None
    with suppress(TypeError):
        "".join(ids)  # the fastest way to learn that all are texts
        return str
    kinds = set(map(type, ids))
    if all(issubclass(kind, int) and kind is not bool for kind in kinds):
        return int
    named = ", ".join(sorted(kind.__name__ for kind in kinds))
    raise UnusableType(f"{what} holds ids of type {named}; give all as texts, or all as whole numbers")


def check_cut(k: object, what: str) -> None:
    """Raise UnusableType unless k is None or a whole number, UnusableValue when it is below 1."""
    if k is None:
        return
    if isinstance(k, bool) or not isinstance(k, int):
        raise UnusableType(f"{what}: k={k!r} is no whole number; give 1 or more, or None for no cut-off")
    if k < 1:
        raise UnusableValue(f"{what}: k={k} leaves nothing to look at; give 1 or more")


def _check_numbers(numbers: Mapping[Any, float], what: str) -> None:
    if set(map(type, numbers.values())) <= {int, float}:
        return
    for one, number in numbers.items():
        if not isinstance(number, Real):
            raise UnusableType(f"the {what} of {one!r} is {_shown(number)}; give a number")


def _finite(number: float) -> bool:
    try:
        return isfinite(number)
    except OverflowError:  # a whole number beyond all floats
        return False


def _shown(value: object) -> str:
    """A value in an error message, not longer than a line."""
    text = repr(value)
    return f"the {type(value).__name__} {text if len(text) <= 40 else text[:37] + '...'}"  # noqa: PLR2004


def first_few(ids: Iterable[object], *, of: int) -> str:
    """The first five of `of` ids, for a message."""
    shown = ", ".join(map(str, islice(ids, 5)))
    return f"{shown}, ..." if of > 5 else shown  # noqa: PLR2004
