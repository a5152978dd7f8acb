"""Several things at once, and no longer than any of them is wanted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from judgekit.errors import JudgeStop

T = TypeVar("T")


@asynccontextmanager
async def at_once() -> AsyncIterator[Callable[[Coroutine[Any, Any, T]], asyncio.Task[T]]]:
    """Start coroutines side by side and leave when all are done. When one fails the others are cancelled, so that
    nothing is asked any more on behalf of a row, or a run, that has ended; what stops a run is raised first."""
    try:
        async with asyncio.TaskGroup() as group:
            yield group.create_task
    except BaseExceptionGroup as failed:
        raise next((e for e in failed.exceptions if isinstance(e, JudgeStop)), failed.exceptions[0]) from None


async def all_of(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """The results of coroutines that run side by side, in their order."""
    async with at_once() as start:
        tasks = [start(one) for one in work]
    return [task.result() for task in tasks]


async def each(items: Iterable[T] | AsyncIterable[T]) -> AsyncIterator[T]:
    """Items of an iterable of either kind."""
    if isinstance(items, AsyncIterable):
        async for item in items:
            yield item
    else:
        for item in items:
            yield item
