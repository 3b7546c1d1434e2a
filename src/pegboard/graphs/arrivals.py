"""Waiting for the tools of a graph whose sources have not answered yet."""

from pegboard.core.graph import Graph
from pegboard.execution.wait_for_source import wait_for_source
from pegboard.graphs.tool_host import ToolHost


async def arrivals(graph: Graph, board: ToolHost) -> None:
    """Return when it is known which tools of a graph, and of the graphs within it, there are.

    No other source is waited for.
    """
    waiting, names = [graph], dict[str, None]()
    while waiting:
        for node in waiting.pop():
            names |= dict.fromkeys(node.tools)
            if node.graph is not None:
                waiting.append(node.graph)
    for name in names:
        if board.find(name) is None:
            await wait_for_source(board.kit, name)
