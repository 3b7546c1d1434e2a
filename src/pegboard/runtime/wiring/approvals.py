"""Approvals of a board: decided here, heard of by the runs that wait for them."""

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from pegboard.registry import ToolRegistry

if TYPE_CHECKING:
    from pegboard.features.approvals import Approvals
    from pegboard.features.runs import Runs

_EVERY = 30.0


def approvals(registry: ToolRegistry, runs: "Runs", stack: AsyncExitStack) -> "Approvals":
    """The service, looking through its approvals from time to time until the stack is closed."""
    from pegboard.features.approvals import Approvals

    service = Approvals(registry, wake=runs.decided, awaited=runs.awaited)
    runs.approvals = service
    watching = asyncio.create_task(service.watch(_EVERY))

    async def stop() -> None:
        watching.cancel()
        await asyncio.wait([watching])

    stack.push_async_callback(stop)
    return service
