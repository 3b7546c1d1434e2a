"""The step `connectors`: APIs and databases, all visible ones or those that an agent binds."""

from pegboard.assembly.source_meta_tools import connector_tool, database_tool
from pegboard.assembly.tool_families import family_of, group_tools
from pegboard.assembly.tool_request import ToolRequest
from pegboard.registry.toolset import Toolset


def add_connectors(toolset: Toolset, request: ToolRequest) -> Toolset:
    """Leave out connectors that the agent does not bind, and add their meta-tools."""
    made = toolset
    if not request.is_auto and request.tools is None:
        made = _bind(toolset, request)
    modes = request.modes
    added = [
        connector_tool(made, request.principal) if modes.connector == "progressive" else None,
        database_tool(made, request.principal) if modes.database == "progressive" else None,
    ]
    found = tuple(item for item in added if item is not None)
    return made.replace(meta_tools=(*made.meta_tools, *found))


def _bind(toolset: Toolset, request: ToolRequest) -> Toolset:
    registry, caller = toolset.registry, request.principal
    sources = {
        **group_tools(registry, "connector", caller),
        **group_tools(registry, "database", caller),
    }
    bound = frozenset(filter(request.binds, sources))
    made = toolset.narrow(
        lambda tool: family_of(tool) not in {"connector", "database"} or tool.spec.source in bound
    )
    unknown = {
        name: "there is no such connector with tools now"
        for name in request.connector_ids
        if name not in sources and not any(sign in name for sign in "*?[")
    }
    return made.replace(missing={**made.missing, **unknown}) if unknown else made
