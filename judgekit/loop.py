"""A private event loop for synchronous callers: in a thread of its own, so that it works beside any other loop."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import threading
from collections.abc import Callable, Coroutine
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

from judgekit.errors import InputError

P = ParamSpec("P")
T = TypeVar("T")

_starting = threading.Lock()
#: How long an interrupt waits for a run to write down where it stopped.
_LONGEST_FAREWELL = 10.0


@lru_cache(maxsize=1)
def _loop_of(process: int) -> asyncio.AbstractEventLoop:
    """The private event loop of the synchronous functions, in a thread that ends with the process.

    A forked process inherits the loop but not the thread that runs it, so each process has its own.
    """
    del process
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="judgekit", daemon=True).start()
    atexit.register(_leave, loop, os.getpid())
    return loop


def _leave(loop: asyncio.AbstractEventLoop, process: int) -> None:
    """Close the connections that judges hold open in the private loop, when the process ends."""
    if process == os.getpid() and loop.is_running():
        closing = asyncio.run_coroutine_threadsafe(loop.shutdown_asyncgens(), loop)
        with contextlib.suppress(Exception):  # the process is leaving anyway
            closing.result(_LONGEST_FAREWELL)


def _is_running(loop: asyncio.AbstractEventLoop) -> bool:
    """True inside that loop, where waiting for it would wait for ever."""
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False


def wait(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine; an interrupt cancels it, and waits until it has cleaned up."""
    with _starting:
        loop = _loop_of(os.getpid())
    if _is_running(loop):
        work.close()
        raise InputError("a script or metric that judgekit runs cannot call its synchronous functions; await ascore")
    done = threading.Event()

    async def watched() -> T:
        try:
            return await work
        finally:
            done.set()

    future = asyncio.run_coroutine_threadsafe(watched(), loop)
    try:
        return future.result()
    except BaseException:
        if future.cancel():
            done.wait(_LONGEST_FAREWELL)
        raise


def synchronous(work: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """The same function for synchronous code: same arguments, same errors, its name without the leading `a`."""

    @wraps(work)
    def waited(*args: P.args, **kwargs: P.kwargs) -> T:
        return wait(work(*args, **kwargs))

    waited.__name__ = waited.__qualname__ = work.__name__.removeprefix("a")
    waited.__doc__ = f"`{work.__name__}` for synchronous code.\n\n{work.__doc__}"
    return waited
