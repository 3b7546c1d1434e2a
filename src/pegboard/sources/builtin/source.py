"""The built-in tools as a source."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from pegboard.core.context import ToolContext
from pegboard.core.health import HEALTHY, Health
from pegboard.core.ports.services import Services
from pegboard.core.text.suggestions import nearest_names
from pegboard.core.tool import Tool
from pegboard.errors import ConfigError, SourceUnavailable
from pegboard.sources.builtin.config import BuiltinConfig
from pegboard.sources.builtin.discovery import BuiltinTool, discover_builtin_tools
from pegboard.sources.builtin.service_access import bind_services
from pegboard.tools import BaseTool, FunctionTool, SchemaTool, as_tool


class BuiltinSource:
    """An open source: the selected tools, bound to the board's services."""

    def __init__(self, name: str, tools: Sequence[Tool]) -> None:
        self._name = name
        self._tools = tuple(tools)

    @property
    def name(self) -> str:
        """The name of the source."""
        return self._name

    async def tools(self) -> Sequence[Tool]:
        """Return the selected tools; unavailable ones carry the reason."""
        return self._tools

    async def health(self) -> Health:
        """Return healthy; each unavailable tool carries its own reason."""
        return HEALTHY

    async def close(self) -> None:
        """Do nothing: the HTTP client belongs to the board."""

    def on_change(self, notify: Callable[[], None]) -> None:
        """Do nothing: these tools change only with the distribution."""


async def open_builtin(name: str, config: BuiltinConfig, services: Services) -> BuiltinSource:
    """Open a source.

    Raises:
        ConfigError: `include` or `exclude` names an unknown tool or category.
    """
    if config.workspace is not None:
        services = replace(services, workspace=services.base_dir / config.workspace)
    chosen = _select(discover_builtin_tools(), config)
    tools = [
        _tool(
            item,
            services,
            source=name,
            reason=item.availability(services) or await item.probe(services),
        )
        for item in chosen
    ]
    return BuiltinSource(name, tools)


def bind_tools(services: Services, *, source: str = "") -> list[Tool]:
    """Return all built-in tools bound to these services, for use without a board.

    ```python
    registry = ToolRegistry(bind_tools(Services(http=client)))
    ```

    Args:
        services: The services for the tools; the caller closes the HTTP client.
        source: The source of the names; empty for bare names.
    """
    return [
        _tool(item, services, source=source, reason=item.availability(services))
        for item in discover_builtin_tools()
    ]


def _tool(item: BuiltinTool, services: Services, *, source: str, reason: str) -> Tool:
    function = item.function
    bound = function if isinstance(function, BaseTool) else bind_services(function, services)
    made = as_tool(bound, source=source)
    if source:
        made = _with_alias(made, item.spec.name)
    if not reason:
        return made

    async def refuse(_: object, __: ToolContext[object]) -> None:
        raise SourceUnavailable(f"'{made.spec.name}' is unavailable: {reason}.", permanent=True)

    return SchemaTool(spec=made.spec.replace(unavailable=reason), run=refuse)


def _with_alias(tool: Tool, alias: str) -> Tool:
    """Return a tool that a board finds by its plain name too."""
    if isinstance(tool, FunctionTool):
        return tool.with_alias(alias)
    return SchemaTool(spec=tool.spec.replace(alias=alias), run=tool.run)


def _select(found: Sequence[BuiltinTool], config: BuiltinConfig) -> list[BuiltinTool]:
    known = {item.spec.name for item in found} | {item.spec.category for item in found}
    for option, names in (("include", config.include), ("exclude", config.exclude)):
        for name in names:
            if name not in known:
                raise ConfigError(_unknown(option, name, known))

    def named(item: BuiltinTool, names: Sequence[str]) -> bool:
        return item.spec.name in names or item.spec.category in names

    return [
        item
        for item in found
        if (not config.include or named(item, config.include)) and not named(item, config.exclude)
    ]


def _unknown(option: str, name: str, known: set[str]) -> str:
    nearest = nearest_names(name, sorted(known), most=1)
    hint = f"write '{nearest[0]}'" if nearest else f"known are {', '.join(sorted(known))}"
    return f"builtin: {option} names '{name}', which is no built-in tool or category; {hint}"
