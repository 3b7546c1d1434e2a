"""A batch of calls: concurrent, in order, and no failure stops a sibling."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from pegboard.core.result import ToolResult
from pegboard.errors import ToolFailed

Call = Callable[[int], Awaitable[ToolResult]]


async def run_batch(
    count: int, call: Call, *, is_exclusive: Callable[[int], bool], concurrency: int
) -> list[ToolResult]:
    """Run all; results in the order of the calls.

    A tool that asks to run alone splits the batch: what stands before it ends first, and what
    stands behind it waits. When the batch is cancelled, all its calls are, and are waited for.

    Args:
        count: How many calls.
        call: Runs the one at a place and never raises for a failed tool.
        is_exclusive: Whether the one at a place must run alone.
        concurrency: Calls in flight at once; 0 for no limit.
    """
    results: list[ToolResult] = []
    group: list[int] = []
    for place in range(count):
        if is_exclusive(place):
            results += await _together(group, call, concurrency)
            results += await _together([place], call, 1)
            group = []
        else:
            group.append(place)
    return results + await _together(group, call, concurrency)


async def _together(places: Sequence[int], call: Call, concurrency: int) -> list[ToolResult]:
    if not places:
        return []
    free = asyncio.Semaphore(concurrency or len(places))

    async def one(place: int) -> ToolResult:
        async with free:
            return await call(place)

    tasks = [asyncio.create_task(one(place)) for place in places]
    try:
        await asyncio.wait(tasks)
    except asyncio.CancelledError:
        await _ended(tasks)
        raise
    return [_interrupted() if task.cancelled() else task.result() for task in tasks]


async def _ended(tasks: "Sequence[asyncio.Task[ToolResult]]") -> None:
    """Cancel them and wait until all have ended, whatever is asked of us meanwhile."""
    for task in tasks:
        task.cancel()
    while not all(task.done() for task in tasks):
        try:
            await asyncio.wait(tasks)
        except asyncio.CancelledError:
            for task in tasks:
                task.cancel()


def _interrupted() -> ToolResult:
    error = ToolFailed("The tool cancelled its own call.")
    return ToolResult(content=str(error), is_error=True, error=error)
