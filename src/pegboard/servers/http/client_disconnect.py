"""A client that goes away takes its call with it."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.types import Receive

Value = TypeVar("Value")


async def cancel_on_disconnect(receive: Receive, work: Coroutine[Any, Any, Value]) -> Value | None:
    """The value of the work, or None when the client went away; the work is cancelled then."""
    running = asyncio.create_task(work)
    watching = asyncio.create_task(_gone(receive))
    try:
        await asyncio.wait((running, watching), return_when=asyncio.FIRST_COMPLETED)
        return running.result() if running.done() else None
    finally:
        for task in (running, watching):
            task.cancel()
        await asyncio.wait((running, watching))


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
