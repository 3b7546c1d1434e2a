"""How each peer runs one call of a tool, from the JSON text that a model sent.

Each function gives cases by the name of the function that is called. They use what a program would
use: the public entry where there is one, else what the framework's own agent loop calls. Peers that
take a mapping get it from pydantic's JSON reader, the fastest there is here.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from operator import attrgetter
from typing import Any

from pydantic_core import from_json

from functions import ARGUMENTS, FUNCTIONS, add_up, count_letter, find_letter

Calls = Mapping[str, Callable[[], Awaitable[Any]]]


async def pydantic_ai() -> Calls:
    """Pydantic AI: what its agent calls for each tool call of a model."""
    from pydantic_ai import FunctionToolset, RunContext
    from pydantic_ai.messages import ToolCallPart
    from pydantic_ai.models.test import TestModel
    from pydantic_ai.tool_manager import ToolManager
    from pydantic_ai.usage import RunUsage

    context = RunContext(deps=None, model=TestModel(), usage=RunUsage())
    manager = await ToolManager(FunctionToolset(list(FUNCTIONS))).for_run_step(context)
    return {
        name: lambda name=name, text=text: manager.handle_call(ToolCallPart(name, text, "1"))
        for name, text in ARGUMENTS.items()
    }


async def fastmcp_tool() -> Calls:
    """FastMCP: the tool object alone, without the server's middleware."""
    server = _fastmcp_server()
    tools = {name: await server.get_tool(name) for name in ARGUMENTS}
    return {
        name: lambda tool=tools[name], text=text: tool.run(from_json(text))
        for name, text in ARGUMENTS.items()
    }


async def fastmcp_server() -> Calls:
    """FastMCP: `call_tool` of the server object, without a transport."""
    server = _fastmcp_server()
    return {
        name: lambda name=name, text=text: server.call_tool(name, from_json(text))
        for name, text in ARGUMENTS.items()
    }


async def langchain_tool() -> Calls:
    """LangChain: `ainvoke` of the tool with a model's tool call."""
    tools = _langchain_tools()
    return {
        name: lambda tool=tools[name], name=name, text=text: tool.ainvoke(_tool_call(name, text))
        for name, text in ARGUMENTS.items()
    }


async def langgraph_node() -> Calls:
    """LangGraph: a graph with a `ToolNode` alone, as its agents have it."""
    from langchain_core.messages import AIMessage
    from langgraph.graph import END, START, MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode

    graph = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode(list(_langchain_tools().values())))
    graph.add_edge(START, "tools")
    graph.add_edge("tools", END)
    compiled = graph.compile()

    def call(name: str, text: str) -> Awaitable[Any]:
        message = AIMessage("", tool_calls=[_tool_call(name, text)])
        return compiled.ainvoke({"messages": [message]})

    return {name: lambda name=name, text=text: call(name, text) for name, text in ARGUMENTS.items()}


async def aimu() -> Calls:
    """AIMU: what its agents' loops call, which is private; the sync one for the sync function."""
    from aimu import tool
    from aimu.agents._tool_loop import _ToolLoop
    from aimu.aio._tool_loop import _AsyncToolLoop

    heard = deque(maxlen=1000)
    tools = [tool(function) for function in FUNCTIONS]
    run_sync = attrgetter("_call_plain_tool")(_ToolLoop(None, tools, events=heard.append))
    run = attrgetter("_call_plain_tool")(_AsyncToolLoop(None, tools, events=heard.append))

    def request(name: str) -> dict[str, Any]:
        return {"name": name, "arguments": from_json(ARGUMENTS[name])}

    async def count_letter_call() -> Any:
        return run_sync(request("count_letter"), "1")

    return {
        "count_letter": count_letter_call,
        "find_letter": lambda: run(request("find_letter"), "1"),
        "add_up": lambda: run(request("add_up"), "1"),
    }


PEERS: Mapping[str, Callable[[], Awaitable[Calls]]] = {
    "AIMU, its tool loop": aimu,
    "Pydantic AI `ToolManager.handle_call`": pydantic_ai,
    "FastMCP `Tool.run`": fastmcp_tool,
    "FastMCP `call_tool`": fastmcp_server,
    "LangChain `ainvoke`": langchain_tool,
    "LangGraph `ToolNode` in a one-node graph": langgraph_node,
}


def _fastmcp_server() -> Any:
    from fastmcp import FastMCP

    server = FastMCP("bench")
    for function in (count_letter, find_letter, add_up):
        server.tool(function)
    return server


def _langchain_tools() -> dict[str, Any]:
    from langchain_core.tools import tool

    return {function.__name__: tool(function) for function in FUNCTIONS}


def _tool_call(name: str, text: str) -> dict[str, Any]:
    return {"name": name, "args": from_json(text), "id": "1", "type": "tool_call"}
