"""Long work on the event loop, cut into slices so that other tasks run in between."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Generator, Iterable
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")
Slices: TypeAlias = Generator[Callable[[], Any] | None, Any, T]
"""Work in small parts: it yields between them, or yields what another thread may do for it."""

_SLICE_ITEMS = 100

_SLICE_SECONDS = 0.005
"""Seconds of work on one thing until everything else that waits has had its turn."""


def run_at_once(work: "Slices[T]") -> T:
    """Do it here and now."""
    told: Any = None
    try:
        while True:
            part = work.send(told)
            told = None if part is None else part()
    except StopIteration as end:
        return end.value


async def run_cooperatively(work: "Slices[T]", *, is_large: bool) -> T:
    """Do it while whatever waits gets its turn.

    Args:
        work: What reads the board is done on this loop, in slices; what reads the graph alone is
            done by a thread.
        is_large: Whether it is worth it.
    """
    if not is_large:
        return run_at_once(work)
    told: Any = None
    until = time.monotonic() + _SLICE_SECONDS
    try:
        while True:
            part = work.send(told)
            if part is not None:
                told = await asyncio.to_thread(part)
                until = time.monotonic() + _SLICE_SECONDS
                continue
            told = None
            if time.monotonic() >= until:
                await asyncio.sleep(0)
                until = time.monotonic() + _SLICE_SECONDS
    except StopIteration as end:
        return end.value


async def yield_every_slice(number: int) -> None:
    """Once among so many small things: whatever waits gets its turn."""
    if number % _SLICE_ITEMS == 0:
        await asyncio.sleep(0)


async def in_thread(work: Callable[[], T], *, is_large: bool) -> T:
    """Do something that needs nothing of the board; by a thread where it is worth it."""
    return await asyncio.to_thread(work) if is_large else work()


async def iterate_cooperatively(items: Iterable[T]) -> AsyncIterator[T]:
    """Iterate over items, and let other tasks run in between when that takes long.

    ```python
    rows = [to_row(item) async for item in iterate_cooperatively(items)]
    ```
    """
    until = time.monotonic() + _SLICE_SECONDS
    for item in items:
        if time.monotonic() >= until:
            await asyncio.sleep(0)
            until = time.monotonic() + _SLICE_SECONDS
        yield item
