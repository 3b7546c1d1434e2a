"""The step `mcp`: the MCP servers that the caller sees, whichever agent is selected."""

from pegboard.assembly.source_meta_tools import mcp_tool
from pegboard.assembly.tool_request import ToolRequest
from pegboard.registry.toolset import Toolset


def add_mcp_servers(toolset: Toolset, request: ToolRequest) -> Toolset:
    """Add the meta-tool for MCP servers; their tools stay reachable as visibility lets them."""
    if request.modes.mcp != "progressive":
        return toolset
    made = mcp_tool(toolset, request.principal)
    return toolset if made is None else toolset.replace(meta_tools=(*toolset.meta_tools, made))
