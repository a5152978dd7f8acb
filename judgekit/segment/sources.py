"""From what a marker names to the context it means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from judgekit.records import Citation, Context
from judgekit.segment.markers import Marker, plain_address

Base = Literal["auto", 0, 1]


class Sources:
    """Resolves labels against the contexts of one sample.

    A name means the context with that id (a link: that address or document id, first in rank order).
    A number means a rank counted from `base` when the base is given. With "auto", numbers mean ids when all ids
    are integers, and ranks otherwise, counted from 0 only if the text cites source 0. One exception: ids "1".."n"
    in order are no more than ranks written down, so a text that cites source 0 is read as ranks from 0.
    """

    def __init__(self, contexts: Sequence[Context], *, base: Base, markers: Sequence[Marker]) -> None:
        self._contexts = contexts
        self._ids = {c.id for c in contexts}
        self._by_name: dict[str, str] = {}
        for context in contexts:
            for name in (context.id, context.doc_id, context.url and plain_address(context.url)):
                if name:
                    self._by_name.setdefault(name, context.id)
        cites_zero = any("0" in marker.labels for marker in markers if marker.form != "hit")
        self._base = base if base != "auto" else 1 - cites_zero
        ids = [c.id for c in contexts]
        numbered = bool(ids) and all(id_.isdecimal() and id_.isascii() for id_ in ids)
        are_ranks = ids == [str(n) for n in range(1, len(ids) + 1)]
        self._by_id = numbered and base == "auto" and not (cites_zero and are_ranks)

    def citations(self, marker: Marker) -> tuple[Citation, ...]:
        """The citations that a marker makes, in its order; one source once, and every unknown label dangling."""
        found: dict[tuple[str | None, str], Citation] = {}
        for label, context_id in self._named(marker):
            key = (context_id, "" if context_id else label)
            found.setdefault(key, Citation(start=marker.start, end=marker.end, label=label, context_id=context_id))
        return tuple(found.values())

    def span_citation(self, start: int, end: int, context_id: str) -> Citation:
        """The citation of a context that was given beside the answer, dangling when there is no such context."""
        known = context_id if context_id in self._ids else None
        return Citation(start=start, end=end, label=context_id, context_id=known)

    def _named(self, marker: Marker) -> list[tuple[str, str | None]]:
        if marker.form == "hit":
            return [(marker.labels[0], self._hit(marker))]
        if marker.target is not None:
            by_target = self._by_name.get(marker.target) or self._by_name.get(plain_address(marker.target))
            return [(marker.labels[0] if marker.labels else marker.target, by_target)]
        named = [(label, self._means(label)) for label in marker.labels]
        if marker.form == "superscript" and len(named) == 1 and named[0][1] is None:
            # "¹²" is source 12, or sources 1 and 2 when there is no twelfth
            digits = [(digit, self._means(digit)) for digit in marker.labels[0]]
            return digits if all(context_id for _, context_id in digits) else named
        return named

    def _means(self, label: str) -> str | None:
        is_number = label.isdecimal() and label.isascii()
        if not is_number:
            return self._by_name.get(label)
        if self._by_id:
            return label if label in self._ids else None
        return self._ranked(int(label) - self._base)

    def _ranked(self, rank: int) -> str | None:
        return self._contexts[rank].id if 0 <= rank < len(self._contexts) else None

    def _hit(self, marker: Marker) -> str | None:
        """Hits are counted from 0; a file name that speaks for another context outweighs the count."""
        ranked = int(marker.labels[0].partition(":")[2])
        named = [c.id for c in self._contexts if marker.target and marker.target in (c.id, c.doc_id, c.title)]
        by_rank = self._ranked(ranked)
        return by_rank if by_rank in named or not named else named[0]
