"""The `Agents` service: the agents of a board, and the tools that each may use."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from pegboard.assembly import ToolModes, ToolRequest, resolve_tools
from pegboard.core.knowledge import RetrievalMode
from pegboard.core.principal import Principal
from pegboard.core.text.suggestions import did_you_mean
from pegboard.core.tool import Tool, is_for_models
from pegboard.core.wire_names import is_glob
from pegboard.engines import AgentLimits, Engine
from pegboard.errors import AgentNotFound, Unavailable
from pegboard.execution.wait_for_source import wait_for_source
from pegboard.registry import ToolRegistry
from pegboard.registry.tool_visibility import make_filter

AUTO = "auto"
"""The name that chooses no agent: the generic assistant, with all tools."""
_MAX_NAMES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentProfile:
    """What the operator says of an agent.

    Attributes:
        instructions: The system prompt; empty for that of the generic assistant. Leaves by no door.
        model: `provider:name`; empty for the model of the board.
        tools: Names and globs of its only tools; None for those that the following leave.
        tool_categories: Of its built-in tools, functions and scripts; empty for all.
        connector_ids: Names and globs of its APIs and databases.
        kb_ids: Names and globs of its knowledge bases.
        retrieval_mode: How it asks them.
        tool_modes: How its model reaches what is not listed, where that differs from the board.
        temperature: None for the provider's default.
        completion_check: Whether the model is sent on, once, from an answer that is none.
        always_listed: Names and globs of tools that the model is always shown.
        accounts: By source, the name of the caller's credential to call with.
    """

    name: str
    description: str = ""
    instructions: str = ""
    model: str = ""
    tools: tuple[str, ...] | None = None
    tool_categories: tuple[str, ...] = ()
    connector_ids: tuple[str, ...] = ()
    kb_ids: tuple[str, ...] = ()
    retrieval_mode: RetrievalMode = "simple"
    tool_modes: Mapping[str, str] = field(default_factory=dict[str, str])
    engine: Engine = "react"
    limits: AgentLimits = field(default_factory=AgentLimits)
    temperature: float | None = None
    concurrent_tool_calls: bool = True
    completion_check: bool = True
    always_listed: tuple[str, ...] = ()
    accounts: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def binding(self) -> tuple[object, ...]:
        """What its tools depend on: agents with the same binding have the same tools."""
        modes = tuple(sorted(self.tool_modes.items()))
        own = (self.tool_categories, self.connector_ids, self.kb_ids, self.retrieval_mode)
        return (self.tools, *own, modes)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentToolSelection:
    """The tools of an agent for a caller.

    Attributes:
        tools: In the order of the agent's list.
        missing: Why a tool of the list is missing now, by name.
        unknown: Why the agent is unavailable, by the names that no tool has.
    """

    tools: tuple[Tool, ...]
    missing: Mapping[str, str] = field(default_factory=dict[str, str])
    unknown: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def problem(self) -> str:
        """Why the agent is unavailable; empty when it can work."""
        return " ".join(self.unknown.values())


class Agents:
    """The agents of a board.

    Args:
        registry: The board's tools.
        profiles: The agents that a caller may choose now; asked each time, so that a reload and a
            withdrawal take effect.
    """

    def __init__(
        self, registry: ToolRegistry, profiles: Callable[[Principal], Sequence[AgentProfile]]
    ) -> None:
        self._registry = registry
        self._profiles = profiles

    async def list(self, *, principal: Principal) -> list[dict[str, Any]]:
        """The agents as data, without their instructions; unavailable ones with the reason.

        Other requests have their turn after each selection of tools, since a board may have
        thousands of tools.
        """
        visible = self._registry.visible(principal)
        selections: dict[tuple[object, ...], AgentToolSelection] = {}
        found: list[dict[str, Any]] = []
        for profile in self._profiles(principal):
            selection = selections.get(profile.binding)
            if selection is None:
                await asyncio.sleep(0)
                selection = self._select(profile, principal, visible)
                selections[profile.binding] = selection
            found.append(_view(profile, selection))
        return found

    def list_names(self, *, principal: Principal) -> Sequence[str]:
        """The names of the agents that a caller may choose."""
        return [profile.name for profile in self._profiles(principal)]

    def show(self, name: str, *, principal: Principal) -> dict[str, Any]:
        """One agent as data. Raises as `find`."""
        profile = self.find(name, principal=principal)
        return _view(profile, self.select_tools(profile, principal=principal))

    def find(self, name: str, *, principal: Principal) -> AgentProfile:
        """The agent of a name.

        Raises:
            AgentNotFound: There is none for this caller; names those there are.
        """
        profiles = {profile.name: profile for profile in self._profiles(principal)}
        if name in profiles:
            return profiles[name]
        known = [*profiles][:_MAX_NAMES]
        there = f"there are {', '.join([AUTO, *known])}"
        hint = did_you_mean(name, known, otherwise=f"{there}.")
        raise AgentNotFound(f"There is no agent '{name[:100]}'; {hint}")

    def resolve_name(self, name: str, *, principal: Principal) -> str:
        """The stored name of a chosen agent: empty for `auto`. Raises as `find`."""
        return "" if name in {"", AUTO} else self.find(name, principal=principal).name

    async def require(
        self, name: str, *, principal: Principal
    ) -> tuple[AgentProfile, AgentToolSelection]:
        """An agent and its tools for a caller, after waiting for sources that come.

        An agent that may use all tools of the board has an empty selection.

        Args:
            name: Of an agent; empty for the generic assistant.
            principal: The caller.

        Raises:
            AgentNotFound: There is no such agent.
            Unavailable: It is unavailable; says why.
        """
        profile = self.find(name, principal=principal) if name else AgentProfile(name="")
        if profile.tools is None:
            return profile, AgentToolSelection(tools=())
        for wanted in profile.tools:
            if not is_glob(wanted):
                await wait_for_source(self._registry.environment, wanted)
        selection = self.select_tools(profile, principal=principal)
        if selection.problem:
            raise Unavailable(
                f"The agent '{name}' is unavailable: {selection.problem}", permanent=True
            )
        return profile, selection

    def select_tools(self, profile: AgentProfile, *, principal: Principal) -> AgentToolSelection:
        """The tools of an agent that a caller may see now."""
        return self._select(profile, principal, None)

    def _select(
        self, profile: AgentProfile, principal: Principal, visible: Sequence[Tool] | None
    ) -> AgentToolSelection:
        """The same; `visible` are all tools that the caller may see, if they are known."""
        registry = self._registry
        if profile.tools is None:
            request = self.make_request(profile, principal=principal)
            toolset = resolve_tools(registry, request)
            known = registry.visible(principal) if visible is None else visible
            found = (tool for tool in known if toolset.is_inner(tool))
            return AgentToolSelection(
                tools=tuple(filter(toolset.is_reachable, found)), missing=toolset.missing
            )
        chosen: dict[str, Tool] = {}
        missing: dict[str, str] = {}
        unknown: dict[str, str] = {}
        is_visible = make_filter(principal, registry.environment)
        for wanted in profile.tools:
            if is_glob(wanted):
                tools = map(registry.find, registry.match_names(wanted))
                found = {
                    tool.spec.name: tool
                    for tool in tools
                    if tool is not None and is_visible(tool) and is_for_models(tool)
                }
                chosen |= found
                if not found:
                    missing[wanted] = "no tool matches"
                continue
            tool = registry.find_for(wanted, principal)
            if tool is None:
                self._note_missing(wanted, principal, missing, unknown)
            elif not is_for_models(tool):
                unknown[wanted] = f"'{wanted}' is an agent, which no agent may have as a tool."
            elif registry.may_see(tool, principal):
                chosen[tool.spec.name] = tool
            elif tool.spec.unavailable:
                missing[wanted] = tool.spec.unavailable
        return AgentToolSelection(tools=tuple(chosen.values()), missing=missing, unknown=unknown)

    def make_request(
        self,
        profile: AgentProfile,
        *,
        principal: Principal,
        modes: ToolModes | None = None,
        selection: AgentToolSelection | None = None,
    ) -> ToolRequest:
        """What the tools of an agent are put together from.

        Args:
            profile: The agent; one without a name is the generic assistant.
            principal: The caller.
            modes: Those of the board, which the agent may change; None for the defaults.
            selection: The tools that the agent lists.
        """
        names = None
        if profile.tools is not None and selection is not None:
            names = frozenset(tool.spec.name for tool in selection.tools)
        return ToolRequest(
            principal=principal,
            agent=profile.name,
            tools=names,
            categories=profile.tool_categories,
            connector_ids=profile.connector_ids,
            kb_ids=profile.kb_ids,
            retrieval_mode=profile.retrieval_mode,
            modes=replace(modes or ToolModes(), **cast("dict[str, Any]", profile.tool_modes)),
            delegates={} if profile.name else self.find_delegates(principal=principal),
            missing={} if selection is None else selection.missing,
            accounts=profile.accounts,
        )

    def find_delegates(self, *, principal: Principal) -> dict[str, str]:
        """The agents that another one may call for this caller, with their descriptions."""
        return {
            profile.name: profile.description
            for profile in self._profiles(principal)
            if profile.tools is None or not self.select_tools(profile, principal=principal).problem
        }

    def _note_missing(
        self,
        wanted: str,
        principal: Principal,
        missing: dict[str, str],
        unknown: dict[str, str],
    ) -> None:
        environment = self._registry.environment
        if environment.pending_source(wanted) is not None:
            missing[wanted] = "its source has not answered yet"
        elif reason := environment.why_missing(wanted):
            missing[wanted] = reason
        else:
            nearest = self._registry.nearest(wanted, principal)
            hint = did_you_mean(wanted, nearest)
            unknown[wanted] = f"There is no tool '{wanted}'{f'; {hint}' if hint else '.'}"


def _view(profile: AgentProfile, selection: AgentToolSelection) -> dict[str, Any]:
    return {
        "name": profile.name,
        "description": profile.description,
        "model": profile.model,
        "engine": profile.engine,
        "tools": None if profile.tools is None else [*profile.tools],
        "tool_count": len(selection.tools),
        "missing": dict(selection.missing),
        "unavailable": selection.problem,
    }
