"""`resolve_tools`: the steps that put the tools of one request together, in their order."""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from pegboard.assembly.categories import filter_categories
from pegboard.assembly.connectors import add_connectors
from pegboard.assembly.discover import discover
from pegboard.assembly.knowledge import add_knowledge
from pegboard.assembly.mcp_servers import add_mcp_servers
from pegboard.assembly.skills_and_delegation import add_skills_and_delegation
from pegboard.assembly.tool_families import Family, family_of
from pegboard.assembly.tool_request import ToolRequest
from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.registry import ToolRegistry
from pegboard.registry.toolset import Toolset

_LOG = logging.getLogger("pegboard.assembly")


@dataclass(frozen=True, slots=True, kw_only=True)
class AssemblyStep:
    """One step of assembly.

    Attributes:
        wrap: Makes a toolset of the one before.
        families: What is left out if the step fails, so that a failure grants nothing.
    """

    name: str
    wrap: Callable[[Toolset, ToolRequest], Toolset]
    families: frozenset[Family]


STEPS = (
    # first: what there is for models; all other steps narrow it, or describe how it is reached
    AssemblyStep(
        name="discover",
        wrap=discover,
        families=frozenset({"own", "connector", "database", "knowledge", "mcp", "skill", "agent"}),
    ),
    # before the families that no category filters
    AssemblyStep(name="categories", wrap=filter_categories, families=frozenset({"own"})),
    # before connectors: what people have written down comes before systems to ask
    AssemblyStep(name="knowledge", wrap=add_knowledge, families=frozenset({"knowledge"})),
    # after the list of the agent, since a meta-tool names what is left
    AssemblyStep(
        name="connectors", wrap=add_connectors, families=frozenset({"connector", "database"})
    ),
    AssemblyStep(name="mcp", wrap=add_mcp_servers, families=frozenset({"mcp"})),
    # last of those that reach: skills and agents are no inner tools, and are listed in any case
    AssemblyStep(
        name="skills and delegation",
        wrap=add_skills_and_delegation,
        families=frozenset({"skill"}),
    ),
)
"""The steps that reach. `ToolSelector` then takes the last two for each message: `select`, which
needs all that is reached, and `disclose`, which leads to what was not selected."""


def resolve_tools(registry: ToolRegistry, request: ToolRequest) -> Toolset:
    """What a caller, with an agent or without, reaches now; nothing of it is listed yet.

    A step that fails is never fatal: what it governs is left out, and `Toolset.missing` has the
    reason under the name of the step.

    Args:
        registry: The tools of the board.
        request: For whom and for which agent.
    """
    return run_steps(Toolset(registry=registry, listed=()), request)


def run_steps(
    toolset: Toolset, request: ToolRequest, steps: tuple[AssemblyStep, ...] = STEPS
) -> Toolset:
    """The same for a toolset that is narrowed already."""
    toolset = toolset.replace(accounts=request.accounts)
    for step in steps:
        with log_and_continue(_LOG, f"assembly: the step '{step.name}' failed"):
            toolset = step.wrap(toolset, request)
            continue
        toolset = _leave_out(toolset, step.families).add_missing(
            step.name, "this step of assembly failed, and the log says why"
        )
    return toolset


def _leave_out(toolset: Toolset, families: frozenset[Family]) -> Toolset:
    return toolset.narrow(lambda tool: family_of(tool) not in families)
