"""Letting other work of the process go on, in what takes long on the event loop."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable
from typing import TypeVar

_TURN = 0.01
"""Seconds of work on one thing until everything else that waits has had its turn."""

T = TypeVar("T")


async def yielding_to_loop(items: Iterable[T]) -> AsyncIterator[T]:
    """The items; before the next one whatever waits gets its turn, when there was none for long.

    ```python
    rows = [made_of(item) async for item in unhurried(items)]
    ```
    """
    until = time.monotonic() + _TURN
    for item in items:
        if time.monotonic() >= until:
            await asyncio.sleep(0)
            until = time.monotonic() + _TURN
        yield item
