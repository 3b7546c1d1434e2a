"""The families of tools: each has a step of assembly, and those of systems a meta-tool."""

from collections.abc import Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Literal
from weakref import WeakKeyDictionary

from pegboard.core.principal import Principal
from pegboard.core.skill import SKILLS
from pegboard.core.tool import AGENT, Tool
from pegboard.registry import ToolRegistry
from pegboard.registry.tool_visibility import SourceTools
from pegboard.registry.toolset import Toolset

Family = Literal["own", "connector", "database", "knowledge", "mcp", "skill", "agent"]
"""`own`: built-in tools, and the operator's functions, scripts and LangChain tools."""

_FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "openapi": "connector",
        "sql": "database",
        "knowledge": "knowledge",
        "mcp": "mcp",
        SKILLS: "skill",
        AGENT: "agent",
    }
)
Groups = Mapping[str, Mapping[str, Tool]]
"""The tools of a family: by the name of their source, then by action."""

_SPLIT: "WeakKeyDictionary[SourceTools, Mapping[Family, Mapping[str, Tool]]]" = WeakKeyDictionary()
"""The tools of each source by family, then by action; made again when they change."""


def family_of(tool: Tool) -> Family:
    """The family of a tool; one that an operator registered by hand, without a source, is `own`."""
    spec = tool.spec
    family = _FAMILIES.get(spec.handler, "own")
    return family if spec.source or family == "agent" else "own"


def group_tools(registry: ToolRegistry, family: Family, principal: Principal) -> Groups:
    """The tools of a family, of the sources that a caller may know of.

    What is kept depends on no caller, and one that changes costs the others nothing.
    """
    found: dict[str, Mapping[str, Tool]] = {}
    for name, source in registry.list_sources(principal).items():
        split = _SPLIT.get(source)
        if split is None:
            split = _SPLIT[source] = _split(source)
        if (tools := split.get(family)) is not None:
            found[name] = tools
    return found


def find_visible(
    toolset: Toolset, principal: Principal, family: Family
) -> dict[str, Mapping[str, Tool]]:
    """The groups of a family of which a caller sees a tool here."""
    groups = group_tools(toolset.registry, family, principal)
    sees = partial(may_use, toolset, principal)
    return {name: tools for name, tools in groups.items() if any(map(sees, tools.values()))}


def list_visible(
    toolset: Toolset, principal: Principal, tools: Mapping[str, Tool]
) -> Iterator[tuple[str, Tool]]:
    """The tools of one group that a caller sees here, by action."""
    return ((action, tool) for action, tool in tools.items() if may_use(toolset, principal, tool))


def may_use(toolset: Toolset, principal: Principal, tool: Tool) -> bool:
    """Whether a tool is reachable here, and the caller may see it."""
    return toolset.is_reachable(tool) and toolset.registry.may_see(tool, principal)


def _split(source: SourceTools) -> Mapping[Family, Mapping[str, Tool]]:
    found: dict[Family, dict[str, Tool]] = {}
    for tool in source:
        family = family_of(tool)
        if family not in {"own", "agent"}:
            found.setdefault(family, {})[tool.spec.action or tool.spec.name] = tool
    return found
