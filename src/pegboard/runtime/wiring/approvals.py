"""Approvals of a board: decided here, heard of by the runs that wait for them."""

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from pegboard.core.ports.approval import Approval
from pegboard.registry import ToolRegistry

if TYPE_CHECKING:
    from pegboard.features.approvals import Approvals
    from pegboard.features.runs import Runs

_EVERY = 30.0


def approvals(registry: ToolRegistry, runs: "Runs", stack: AsyncExitStack) -> "Approvals":
    """The service, looking through its approvals from time to time until the stack is closed."""
    from pegboard.features.approvals import Approvals

    async def wake(approval: Approval) -> None:
        # also when it was denied: the call is made again, and the store says no with the note
        await runs.decided(approval.run_id, approved=True, step=approval.node_id)

    service = Approvals(registry, wake=wake)
    watching = asyncio.create_task(service.watch(_EVERY))

    async def stop() -> None:
        watching.cancel()
        await asyncio.wait([watching])

    stack.push_async_callback(stop)
    return service
