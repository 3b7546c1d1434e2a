"""The `tools:` list of a board: RFC-0003 registrations as tools."""

from collections.abc import Collection, Sequence

from pegboard.core.tool import Tool
from pegboard.core.wire_names import split_wire_name
from pegboard.errors import ConfigError, DependencyCycle
from pegboard.registry.dependencies import check_declared
from pegboard.runtime.board_file.load import LoadedBoard
from pegboard.runtime.board_tools import SOURCE as BOARD
from pegboard.runtime.registrations.handlers import Opening
from pegboard.runtime.registrations.tools import entry_tool


async def static_tools(loaded: LoadedBoard, opening: Opening) -> list[Tool]:
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
        await entry_tool(entry, opening, where=loaded.where(("tools", index)))
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
    """A name in the `tools:` list is nobody else's, now or when a source lists more.

    Args:
        static: The tools of the list, in its order.
        loaded: The board.
        sources: The names of its sources.
        others: The names of tools that are not of the list.

    Raises:
        ConfigError: It is; names the line.
    """
    taken = set(others)
    for index, tool in enumerate(static):
        name = tool.spec.name
        where = loaded.where(("tools", index, "tool_id"))
        source, _ = split_wire_name(name)
        if source == BOARD or source in sources:
            raise ConfigError(f"{where}: names that begin with '{source}__' are the source's")
        if name in taken:
            raise ConfigError(f"{where}: there is another tool '{name}'; take another tool_id")
        taken.add(name)
