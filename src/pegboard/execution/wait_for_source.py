"""Waiting for a tool whose source has not answered yet."""

import asyncio
import contextlib

from pegboard.execution.environment import CallEnvironment


async def wait_for_source(
    kit: CallEnvironment, name: str, *, deadline: float | None = None
) -> None:
    """Return when it is known whether there is a tool of this name, at the latest at the deadline.

    Args:
        kit: Knows who is waited for.
        name: Wire name or id.
        deadline: By the kit's monotonic clock; None for as long as its source may take to answer.
    """
    coming = kit.coming(name)
    if coming is None:
        return
    left = None if deadline is None else max(0.0, deadline - kit.monotonic())
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(left):
            await coming.wait()
