"""`find_tools` and `call_tool` for clients that are listed few of many tools."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, cast

import mcp_types as types
from msgspec import json, to_builtins

from pegboard.assembly.meta_tools import CALL_TOOL, FIND_TOOLS, MAX_QUERY, META_TOOLS, find_tools
from pegboard.core.principal import Principal
from pegboard.core.tool import Tool
from pegboard.errors import InvalidRequest
from pegboard.registry import ToolRegistry
from pegboard.registry.toolset import Toolset
from pegboard.schemas.strict_json import decode
from pegboard.servers.mcp.selection import BoardSelection

_MAX_SOURCES = 30


def render_meta_tools(tools: Iterable[Tool]) -> dict[str, dict[str, Any]]:
    """Both, as entries of `tools/list`, by name.

    Args:
        tools: Those that can be found; their sources are named, so that a model knows what to ask.
    """
    counts = Counter(tool.spec.source for tool in tools)
    named = [f"{name} ({count})" for name, count in sorted(counts.items())[:_MAX_SOURCES]]
    left = len(counts) - len(named)
    sources = ", ".join(named) + (f" and {left} more" if left else "")
    told = {FIND_TOOLS: f" There are tools of these sources: {sources}." if sources else ""}
    rendered = [item.render() for item in META_TOOLS]
    return {
        item.name: {
            "name": item.name,
            "description": item.description + told.get(item.name, ""),
            "inputSchema": to_builtins(item.parameters),
            "annotations": {"readOnlyHint": item.name == FIND_TOOLS},
        }
        for item in rendered
    }


def is_meta_tool(selection: BoardSelection, name: str) -> bool:
    """Whether a client that has this selection is listed a meta-tool of this name."""
    return bool(selection.listed) and name in {FIND_TOOLS, CALL_TOOL}


async def answer_find(
    registry: ToolRegistry,
    selection: BoardSelection,
    principal: Principal,
    arguments: Mapping[str, Any],
) -> dict[str, Any]:
    """The result of a call of `find_tools`: a tool a line, with its parameters."""
    toolset = Toolset(registry=registry, listed=(), reaches=lambda tool: selection.has(tool.spec))
    try:
        query = arguments.get("query")
        if isinstance(query, str):
            toolset = await toolset.prepare_search(query[:MAX_QUERY], principal)
        text, failed = find_tools(toolset, arguments, principal), False
    except InvalidRequest as error:
        text, failed = str(error), True
    return answer_text(text, is_error=failed)


def answer_text(text: str, *, is_error: bool) -> dict[str, Any]:
    """The result of a call that a meta-tool answers itself."""
    block = {"type": "text", "text": text}
    return {"resultType": "complete", "content": [block], "isError": is_error}


def unwrap_call_tool(params: types.CallToolRequestParams) -> types.CallToolRequestParams:
    """The inner call of a call of `call_tool`.

    Raises:
        InvalidRequest: It names no tool, or its arguments are no object.
    """
    given: dict[str, Any] = params.arguments or {}
    name: object = given.get("name")
    arguments: object = given.get("arguments") or {}
    if isinstance(arguments, str):  # models often write the inner arguments as text
        try:
            arguments = decode(arguments)
        except ValueError as error:
            raise InvalidRequest(f"The arguments of '{CALL_TOOL}' are no JSON: {error}.") from error
    unknown = sorted(given.keys() - {"name", "arguments"})
    if not isinstance(name, str) or not isinstance(arguments, dict) or unknown:
        found = json.encode(given).decode()[:100]
        raise InvalidRequest(
            f"{CALL_TOOL} takes 'name', and 'arguments' as an object; found {found}."
        )
    inner = cast("dict[str, Any]", arguments)
    return params.model_copy(update={"name": name, "arguments": inner})
