"""The tools of an agent in a program: functions, tools and sources, or a toolset."""

import logging
from collections.abc import Iterable, Iterator
from typing import Any, cast

from typing_extensions import TypeIs

from pegboard.access import Policy
from pegboard.assembly import ToolRequest, resolve_tools
from pegboard.core.ports.source import Source
from pegboard.core.principal import Principal
from pegboard.core.text.suggestions import did_you_mean
from pegboard.core.tool import Tool
from pegboard.core.wire_names import is_glob
from pegboard.errors import ConfigError
from pegboard.execution import CallEnvironment
from pegboard.registry import ToolRegistry
from pegboard.registry.toolset import Toolset
from pegboard.tools import as_tool

MOST_LISTED = 128
"""Tools that a model is shown at most; of more, a few are chosen."""

_LOG = logging.getLogger("pegboard.policy")


class AgentTools:
    """What an agent may call.

    Args:
        tools: Functions, tools and sources, or one `Toolset` or `ToolRegistry`.
        policy: Who may call what; None for the defaults of a library.
        warns: Whether to warn of rules about tools that are not there.

    Raises:
        ConfigError: The policy is given beside a toolset or registry, which has its own, or one of
            these stands in a list.
        ToolSignatureError: Something cannot become a tool.
    """

    def __init__(self, tools: Any, *, policy: Policy | None, warns: bool = True) -> None:
        self._view: Toolset | ToolRegistry | None = None
        self._items: list[Tool | Source] = []
        self._registry: ToolRegistry | None = None
        self._last: Toolset | None = None
        self._warns = warns
        self._warned: set[str] = set()
        if isinstance(tools, Toolset | ToolRegistry):
            if policy is not None:
                raise ConfigError("Agent: 'policy' cannot be combined with tools that have one.")
            self._view = tools
            return
        self._environment = CallEnvironment(policy=policy or Policy())
        self._items += _expand(tools)
        if not any(_is_source(item) for item in self._items):
            self._registry = self._fill(cast("list[Tool]", self._items))

    async def assemble(self, principal: Principal) -> Toolset:
        """The tools that a caller may see, for one run; sources are listed anew.

        Raises:
            SourceUnavailable: A source cannot be listed.
        """
        if isinstance(self._view, Toolset):
            return self._view
        registry = self._registry if self._view is None else self._view
        if registry is None:
            registry = await self._list_sources()
        made = resolve_tools(registry, ToolRequest(principal=principal))
        visible = registry.visible_to_models(principal)
        listed, last = tuple(filter(made.is_inner, visible)), self._last
        if any(item.is_always_listed for item in made.meta_tools):
            return made.replace(listed=listed)
        if last is not None and last.registry is registry and last.listed == listed:
            return last  # it never changes, and has its tools rendered
        if len(listed) <= MOST_LISTED:
            made = made.replace(meta_tools=())  # which would lead to nothing else
        self._last = made = made.replace(listed=listed)
        return made

    async def _list_sources(self) -> ToolRegistry:
        tools: list[Tool] = []
        for item in self._items:
            tools += await item.tools() if _is_source(item) else [item]
        return self._fill(tools)

    def _fill(self, tools: Iterable[Tool]) -> ToolRegistry:
        registry = ToolRegistry(environment=self._environment, on_conflict="replace")
        for tool in tools:
            registry.add(tool)
        if self._warns:
            self._warn_of_misspelt(registry)
        return registry

    def _warn_of_misspelt(self, registry: ToolRegistry) -> None:
        """Warn of each rule about a tool that is not there: it protects nothing."""
        specs = [tool.spec for tool in registry]
        names = [spec.name for spec in specs]
        for rule in self._environment.policy.find_unused(specs):
            if rule.section not in {"deny", "ask"} or is_glob(rule.glob):
                continue
            if rule.glob not in self._warned:
                self._warned.add(rule.glob)
                hint = did_you_mean(rule.glob, names)
                ending = f"; {hint}" if hint else ""
                told = "Agent: the %s rule '%s' matches no tool%s"
                _LOG.warning(told, rule.section, rule.glob, ending)


def _expand(tools: Any) -> Iterator[Tool | Source]:
    """Each tool and source of a list."""
    if not isinstance(tools, Iterable) or isinstance(tools, str | bytes):
        raise ConfigError("An agent takes several tools: write tools=[...]")
    for item in cast("Iterable[Any]", tools):
        if isinstance(item, Toolset | ToolRegistry):
            raise ConfigError(
                "A Toolset or ToolRegistry has its own policy: give it alone, as tools=..."
            )
        if callable(list_tools := getattr(item, "as_tools", None)):
            yield from map(as_tool, cast("Iterable[Any]", list_tools()))
        elif _is_source(item):
            yield item
        else:
            yield as_tool(item)


def _is_source(item: Any) -> TypeIs[Source]:
    return not isinstance(item, type) and all(
        callable(getattr(item, name, None)) for name in ("tools", "health", "on_change")
    )
