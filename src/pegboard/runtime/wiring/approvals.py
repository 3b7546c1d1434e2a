"""Approvals of a board: expired, and withdrawn when their run ends, while the board is open."""

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from pegboard.registry import ToolRegistry

if TYPE_CHECKING:
    from pegboard.features.approvals import Approvals

_INTERVAL_SECONDS = 30.0


def watch_approvals(registry: ToolRegistry, service: "Approvals", stack: AsyncExitStack) -> None:
    """Look through the approvals from time to time until the stack is closed."""
    from pegboard.features.approvals import ApprovalWithdrawalListener

    withdrawing = ApprovalWithdrawalListener(service)
    registry.environment.emitter.add(withdrawing)
    watching = [
        asyncio.create_task(service.watch(_INTERVAL_SECONDS)),
        asyncio.create_task(withdrawing.watch()),
    ]

    async def stop() -> None:
        for task in watching:
            task.cancel()
        await asyncio.wait(watching)

    stack.push_async_callback(stop)
