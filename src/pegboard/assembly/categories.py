"""The step `categories`: the categories that an agent is restricted to."""

from pegboard.assembly.tool_families import family_of
from pegboard.assembly.tool_request import ToolRequest
from pegboard.registry.toolset import Toolset


def filter_categories(toolset: Toolset, request: ToolRequest) -> Toolset:
    """Leave out built-in tools, functions, scripts and LangChain tools of other categories.

    What other steps bring in is never filtered by category, nor what an agent names in `tools`.
    """
    names = frozenset(request.categories)
    if request.is_auto or not names or request.tools is not None:
        return toolset
    return toolset.narrow(lambda tool: family_of(tool) != "own" or tool.spec.category in names)
