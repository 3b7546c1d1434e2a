"""Waiting for a tool whose source has not answered yet."""

import asyncio
import contextlib
from collections.abc import Callable

from pegboard.core.graph import Graph
from pegboard.core.tool import Tool
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


async def wait_for_graph_sources(
    kit: CallEnvironment, graph: Graph, *, find: Callable[[str], Tool | None]
) -> None:
    """Return when it is known which tools of a graph, and of the graphs within it, exist.

    Only the sources of these tools are waited for.

    Args:
        kit: Knows which sources have not answered yet.
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
            await wait_for_source(kit, name)
