"""Approvals of a board: decided here, heard of by the runs that wait for them."""

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from pegboard.core.ports.audit_store import Prove
from pegboard.registry import ToolRegistry

if TYPE_CHECKING:
    from pegboard.features.approvals import Approvals
    from pegboard.features.runs import Runs

_EVERY = 30.0


def approvals(
    registry: ToolRegistry, runs: "Runs", stack: AsyncExitStack, *, prove: Prove
) -> "Approvals":
    """The service, looking through its approvals from time to time until the stack is closed."""
    from pegboard.features.approvals import Approvals, ApprovalWithdrawalListener

    service = Approvals(
        registry, wake=runs.decided, awaited=runs.awaited, ended=runs.ended, prove=prove
    )
    runs.approvals = service
    withdrawing = ApprovalWithdrawalListener(service)
    registry.kit.emitter.add(withdrawing)
    watching = [
        asyncio.create_task(service.watch(_EVERY)),
        asyncio.create_task(withdrawing.watch()),
    ]

    async def stop() -> None:
        for task in watching:
            task.cancel()
        await asyncio.wait(watching)

    stack.push_async_callback(stop)
    return service
