"""The `tools:` list of a board: RFC-0003 registrations as tools."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import AsyncExitStack

from pegboard.core.ports.services import Services
from pegboard.core.tool import Tool
from pegboard.core.wire_names import split_wire_name
from pegboard.errors import ConfigError, DependencyCycle
from pegboard.registry import ToolRegistry
from pegboard.registry.dependencies import check_declared
from pegboard.runtime.board_file.load import LoadedBoard
from pegboard.runtime.board_tools import SOURCE as BOARD
from pegboard.runtime.registrations.handlers import HandlerContext
from pegboard.runtime.registrations.tools import build_entry_tool
from pegboard.runtime.sources.state import SourceState


class StaticTools:
    """The tools of the `tools:` list that are on the board; a reload replaces all of them.

    Args:
        registry: The board's tools.
        services: What the sources of the entries may use.
        within: Seconds for opening one entry.
        stack: Closes what was opened for the entries.
    """

    def __init__(
        self, registry: ToolRegistry, services: Services, *, within: float, stack: AsyncExitStack
    ) -> None:
        self._registry = registry
        self._services = services
        self._within = within
        self._stack = stack
        self._names: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tools that are on the board."""
        return self._names

    def handler_context(self, states: Mapping[str, SourceState]) -> HandlerContext:
        """What entries of the `tools:` list and of the API are opened with."""
        return HandlerContext(
            services=self._services,
            within=self._within,
            stack=self._stack,
            servers=lambda: [state.name for state in states.values() if state.kind == "mcp"],
            find=self._registry.find,
        )

    async def build(self, loaded: LoadedBoard, states: Mapping[str, SourceState]) -> Sequence[Tool]:
        """Make the tools of a board file without adding them.

        Raises:
            ConfigError: An entry is wrong; names the line.
        """
        return await build_static_tools(loaded, self.handler_context(states))

    def check(
        self, tools: Sequence[Tool], loaded: LoadedBoard, states: Mapping[str, SourceState]
    ) -> None:
        """Check that the names of the tools are free.

        Raises:
            ConfigError: One is taken; names the line.
        """
        others = set(self._registry.names()) - set(self._names)
        check_names(tools, loaded, sources=states, others=others)

    def replace(self, tools: Sequence[Tool]) -> list[str]:
        """Put these tools on the board in place of those before; return the ids of the latter."""
        removed = [self._registry.remove(name).spec.id for name in self._names]
        self._names = tuple(self._registry.add(tool).spec.name for tool in tools)
        return removed


async def build_static_tools(loaded: LoadedBoard, opening: HandlerContext) -> list[Tool]:
    """The entries of the list as tools.

    Args:
        loaded: The board.
        opening: What opens them, and closes them again.

    Raises:
        ConfigError: An unknown type, effect or status, a schema that is neither shorthand nor JSON
            Schema, an effect weaker than the function's own, or tools that need each other; names
            the line.
    """
    made = [
        await build_entry_tool(entry, opening, where=loaded.where(("tools", index)))
        for index, entry in enumerate(loaded.board.tools)
    ]
    specs = [tool.spec for tool in made]
    try:
        check_declared(specs, ours=specs)
    except DependencyCycle as error:
        index = next(index for index, spec in enumerate(specs) if spec.id == error.cycle[0])
        where = loaded.where(("tools", index, "dependencies"))
        raise ConfigError(f"{where}: {error.message}") from error
    return made


def check_names(
    static: Sequence[Tool],
    loaded: LoadedBoard,
    *,
    sources: Collection[str],
    others: Collection[str],
) -> None:
    """Check that names in the `tools:` list are free, and cannot be taken by a source later.

    Args:
        static: The tools of the list, in its order.
        loaded: The board.
        sources: The names of its sources.
        others: The names of tools that are not of the list.

    Raises:
        ConfigError: A name is taken; names the line.
    """
    taken = set(others)
    for index, tool in enumerate(static):
        name = tool.spec.name
        where = loaded.where(("tools", index, "tool_id"))
        source, _ = split_wire_name(name)
        if source == BOARD or source in sources:
            raise ConfigError(
                f"{where}: names beginning with '{source}__' are reserved for that source"
            )
        if name in taken:
            raise ConfigError(
                f"{where}: another tool is already named '{name}'; choose another tool_id"
            )
        taken.add(name)
