"""A batch of calls: concurrent, in order, and no failure stops a sibling."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from pegboard.core.context import Arguments
from pegboard.core.result import ToolResult

Call = Callable[[str, Arguments], Awaitable[ToolResult]]


async def run_batch(
    calls: Sequence[tuple[str, Arguments]],
    call: Call,
    *,
    is_exclusive: Callable[[str], bool],
    concurrency: int,
) -> list[ToolResult]:
    """Run all; results in the order of the calls.

    A tool that asks to run alone splits the batch: what stands before it ends first, and what
    stands behind it waits. When the batch is cancelled, all its calls are, and are waited for.

    Args:
        calls: Name and arguments of each.
        call: Runs one and never raises for a failed tool.
        is_exclusive: Whether a tool must run alone.
        concurrency: Calls in flight at once.
    """
    results: list[ToolResult] = []
    group: list[tuple[str, Arguments]] = []
    for item in calls:
        if is_exclusive(item[0]):
            results += await _together(group, call, concurrency)
            results += await _together([item], call, 1)
            group = []
        else:
            group.append(item)
    return results + await _together(group, call, concurrency)


async def _together(
    calls: Sequence[tuple[str, Arguments]], call: Call, concurrency: int
) -> list[ToolResult]:
    if len(calls) <= 1:
        return [await call(name, arguments) for name, arguments in calls]
    free = asyncio.Semaphore(concurrency or len(calls))

    async def one(name: str, arguments: Arguments) -> ToolResult:
        async with free:
            return await call(name, arguments)

    tasks = [asyncio.create_task(one(name, arguments)) for name, arguments in calls]
    try:
        await asyncio.wait(tasks)
    except asyncio.CancelledError:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        raise
    return [task.result() for task in tasks]
