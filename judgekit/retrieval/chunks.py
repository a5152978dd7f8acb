"""What chunking and indexing did to a sample: is the answer whole in one chunk, and what was retrieved twice?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from judgekit.records import Sample
from judgekit.retrieval.inputs import UnusableValue
from judgekit.segment.words import is_unspaced, normalised

Containment = Literal["whole", "spread", "lost"]
_SHINGLE = 3


@dataclass(frozen=True)
class ChunkContainment:
    """Where a span lies: `whole` inside one chunk, `spread` over neighbours, or `lost`.

    `value` is 1.0 when whole, else 0.0; None when there is no span to look for. `context_ids`: every chunk that holds
    the whole span; or the fewest that hold it together, in the order of the span.
    """

    value: float | None
    status: Containment | None
    context_ids: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.status == "spread":
            return f"spread over {len(self.context_ids)} chunks"
        return self.status or "no span"


@dataclass(frozen=True)
class DuplicateContexts:
    """Contexts that say again what stands above them.

    `exact`: groups of ids with the same text, or one id given again; `near`: pairs of ids with their similarity, below
    1; `share`: contexts that repeat an earlier one, exactly or nearly / contexts; None without contexts.
    """

    exact: tuple[tuple[str, ...], ...]
    near: tuple[tuple[str, str, float], ...]
    share: float | None


def chunk_containment(sample: Sample, span: str | None = None) -> ChunkContainment:
    """Whether the span (the reference, if None) lies whole inside one context of the sample.

    Compared without case, width of letters, punctuation and white space, and by whole words. Spread: the span is cut
    where chunks end or begin: each chunk but the first begins inside it, each but the last ends inside it; chunks may
    overlap.
    """
    text = sample.reference if span is None else span
    words = _words(text or "")
    if not words:
        return ChunkContainment(None, None)
    chunks = [(context.id, _words(context.text)) for context in sample.contexts]
    if whole := tuple(dict.fromkeys(one for one, chunk in chunks if _holds(chunk, words))):
        return ChunkContainment(1.0, "whole", whole)
    held = [(start, end, one) for one, chunk in chunks for start, end in _pieces(chunk, words)]
    if spread := _cover(held, len(words)):
        return ChunkContainment(0.0, "spread", spread)
    return ChunkContainment(0.0, "lost")


def duplicate_contexts(sample: Sample, *, near: float = 0.8) -> DuplicateContexts:
    """The contexts of a sample that repeat each other.

    Similarity of two texts: shared runs of three words / runs of either (Jaccard), compared as in chunk_containment;
    `near` or more is a near duplicate. Contexts without text are only compared by id.
    UnusableValue: near outside (0, 1].
    """
    if not 0 < near <= 1:
        raise UnusableValue(f"near={near!r} is no similarity to start at; give a number above 0, up to 1")
    texts = [(context.id, _words(context.text)) for context in sample.contexts]
    groups: dict[object, list[str]] = {}
    for one, words in texts:
        groups.setdefault(tuple(words) or one, []).append(one)
    first_of = {key: ids[0] for key, ids in groups.items()}
    shingles = {first_of[key]: _shingles(key) for key in groups if isinstance(key, tuple)}
    pairs = [
        (first, second, similarity)
        for (first, these), (second, those) in combinations(shingles.items(), 2)
        if near <= (similarity := len(these & those) / len(these | those)) < 1
    ]
    repeats = sum(len(ids) - 1 for ids in groups.values()) + len({second for _, second, _ in pairs})
    exact = tuple(tuple(ids) for ids in groups.values() if len(ids) > 1)
    return DuplicateContexts(exact, tuple(pairs), repeats / len(texts) if texts else None)


def _words(text: str) -> list[str]:
    """Words to compare; where a script has no spaces, its signs."""
    return [part for word in normalised(text).split() for part in (word if is_unspaced(word) else (word,))]


def _shingles(words: tuple[str, ...]) -> frozenset[tuple[str, ...]]:
    """Runs of three words; a shorter text is one run."""
    return frozenset(words[i : i + _SHINGLE] for i in range(max(len(words) - _SHINGLE, 0) + 1))


def _holds(chunk: Sequence[str], words: Sequence[str]) -> bool:
    return f" {' '.join(words)} " in f" {' '.join(chunk)} "


def _pieces(chunk: Sequence[str], words: Sequence[str]) -> list[tuple[int, int]]:
    """The stretches words[start:end] that a chunk can hold of a span that is larger than it, or crosses its border."""
    size, total = len(chunk), len(words)
    shorter = range(1, min(size, total - 1) + 1)
    heads = [(0, n) for n in shorter if chunk[size - n :] == words[:n]]
    tails = [(total - n, total) for n in shorter if chunk[:n] == words[total - n :]]
    middles = [(i, i + size) for i in range(1, total - size) if size and words[i : i + size] == chunk]
    return heads + middles + tails


def _cover(held: Sequence[tuple[int, int, str]], total: int) -> tuple[str, ...]:
    """The fewest stretches that reach from 0 to total without a hole; empty when there is always one."""
    chosen: list[str] = []
    reached = 0
    while reached < total:
        end, one = max(
            ((end, one) for start, end, one in held if start <= reached), default=(0, ""), key=lambda x: x[0]
        )
        if end <= reached:
            return ()
        chosen.append(one)
        reached = end
    return tuple(chosen)
