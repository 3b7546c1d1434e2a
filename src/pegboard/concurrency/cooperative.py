"""Long work on the event loop, cut into slices so that other tasks run in between."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Generator, Iterable
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")
Slices: TypeAlias = Generator[Callable[[], Any] | None, Any, T]
"""Work in slices: it yields None between slices, or a function to run in another thread."""

_SLICE_ITEMS = 100

_SLICE_SECONDS = 0.005
"""Seconds of work before other tasks may run."""


def run_at_once(work: "Slices[T]") -> T:
    """Run all slices at once, in this thread."""
    told: Any = None
    try:
        while True:
            part = work.send(told)
            told = None if part is None else part()
    except StopIteration as end:
        return end.value


async def run_cooperatively(work: "Slices[T]", *, is_large: bool) -> T:
    """Run the slices and let other tasks run in between.

    Args:
        work: Slices run on this loop; the functions that it yields run in a thread.
        is_large: Whether to yield to the loop at all; small work runs at once.
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
    """Let other tasks run after each hundred small items.

    Args:
        number: The number of the item, from 1.
    """
    if number % _SLICE_ITEMS == 0:
        await asyncio.sleep(0)


async def in_thread(work: Callable[[], T], *, is_large: bool) -> T:
    """Run work that does not touch the board; in a thread when it is large."""
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
