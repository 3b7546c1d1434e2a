"""Wait for sources that have not answered yet."""

import asyncio
import contextlib
from collections.abc import Callable

from pegboard.core.graph import Graph
from pegboard.core.tool import Tool
from pegboard.execution.environment import CallEnvironment


async def wait_for_source(
    environment: CallEnvironment, name: str, *, deadline: float | None = None
) -> None:
    """Wait until the source of this tool has answered, at most until the deadline.

    Args:
        environment: Knows which sources have not answered yet.
        name: Wire name or id.
        deadline: In seconds of the environment's monotonic clock; None for no other limit than the
            source's own.
    """
    coming = environment.pending_source(name)
    if coming is None:
        return
    left = None if deadline is None else max(0.0, deadline - environment.monotonic())
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(left):
            await coming.wait()


async def wait_for_graph_sources(
    environment: CallEnvironment, graph: Graph, *, find: Callable[[str], Tool | None]
) -> None:
    """Wait until the sources of all tools of a graph, and of the graphs within it, have answered.

    Only the sources of these tools are waited for.

    Args:
        environment: Knows which sources have not answered yet.
        graph: The tools are those that its nodes name.
        find: The tool of a name; None when there is none now.
    """
    waiting, names = [graph], dict[str, None]()
    while waiting:
        for node in waiting.pop():
            names |= dict.fromkeys(node.tools)
            if node.graph is not None:
                waiting.append(node.graph)
    for name in names:
        if find(name) is None:
            await wait_for_source(environment, name)
