"""Several things at once, and no longer than any of them is wanted."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from typing import Any, TypeVar, cast

from judgekit.errors import JudgeStop, Postponed

T = TypeVar("T")
R = TypeVar("R")


@asynccontextmanager
async def at_once() -> AsyncIterator[Callable[[Coroutine[Any, Any, T]], asyncio.Task[T]]]:
    """Start coroutines side by side and leave when all are done. When one fails the others are cancelled, so that
    nothing is asked any more on behalf of a row, or a run, that has ended; what stops a run is raised first. One that
    is Postponed cancels none: the others go as far as they come, so that all they ask goes out together."""
    postponed: list[Postponed] = []

    async def noted(work: Coroutine[Any, Any, T]) -> T:
        try:
            return await work
        except Postponed as later:
            postponed.append(later)
            return cast("T", None)  # nobody reads it: the block ends by raising

    try:
        async with asyncio.TaskGroup() as group:
            yield lambda work: group.create_task(noted(work))
    except BaseExceptionGroup as failed:
        raise next((e for e in failed.exceptions if isinstance(e, JudgeStop)), failed.exceptions[0]) from None
    if postponed:
        raise postponed[0]


async def all_of(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """The results of coroutines that run side by side, in their order."""
    listed = list(work)
    if len(listed) == 1:  # most often it is one, and needs no task of its own
        return [await listed[0]]
    async with at_once() as start:
        tasks = [start(one) for one in listed]
    return [task.result() for task in tasks]


async def in_turn(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """The results of coroutines that run one after the other, in their order. One that is Postponed keeps none of the
    later ones from being begun."""
    results: list[T] = []
    postponed: Postponed | None = None
    for one in work:
        try:
            results.append(await one)
        except Postponed as later:
            postponed = later
    if postponed is not None:
        raise postponed
    return results


async def each(items: Iterable[T] | AsyncIterable[T]) -> AsyncIterator[T]:
    """Items of an iterable of either kind."""
    if isinstance(items, AsyncIterable):
        async for item in items:
            yield item
    else:
        for item in items:
            yield item


async def in_order(
    items: Iterable[T] | AsyncIterable[T], work: Callable[[T], Coroutine[Any, Any, R]], *, most: int, waiting: int = 0
) -> AsyncGenerator[R, None]:
    """The results of work on each item, in the order of the items, with at most `most` begun and not yet handed out.
    `waiting` more may be begun while so many are done and wait for an earlier one: a slow item then holds up none."""
    begun: deque[asyncio.Task[R]] = deque()
    room = asyncio.Semaphore(most)
    has_failed = False

    def ended(task: asyncio.Task[R]) -> None:
        nonlocal has_failed
        has_failed = has_failed or task.cancelled() or task.exception() is not None
        room.release()

    try:
        async for item in each(items):
            while begun and (begun[0].done() or len(begun) >= most + waiting):
                yield await begun.popleft()
            await room.acquire()
            if has_failed:  # it is raised in its turn, and nothing more is begun
                break
            begun.append(asyncio.ensure_future(work(item)))
            begun[-1].add_done_callback(ended)
        while begun:
            yield await begun.popleft()
    finally:
        for task in begun:
            task.cancel()
        await asyncio.gather(*begun, return_exceptions=True)
