"""The step `discover`: the tools that a model may have, of those an agent names."""

from pegboard.assembly.meta_tools import RESERVED_NAMES
from pegboard.assembly.tool_families import family_of, may_use
from pegboard.assembly.tool_request import ToolRequest
from pegboard.core.tool import is_for_models
from pegboard.registry.toolset import Toolset


def discover(toolset: Toolset, request: ToolRequest) -> Toolset:
    """Start with every tool for models; an agent with a list of tools has only these.

    Skills are rules of the organisation, so the list of an agent does not leave them out.
    """
    made = toolset.narrow(is_for_models)
    hidden = {
        name: "its name is that of a meta-tool, so models are not shown it"
        for name in RESERVED_NAMES
        if (tool := made.find(name)) is not None
        and family_of(tool) != "knowledge"
        and may_use(made, request.principal, tool)
    }
    if request.missing or hidden:
        made = made.replace(missing={**made.missing, **request.missing, **hidden})
    if (names := request.tools) is None:
        return made
    return made.narrow(lambda tool: tool.spec.name in names or family_of(tool) == "skill")
