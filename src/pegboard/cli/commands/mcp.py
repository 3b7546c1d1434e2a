"""`pegboard mcp`: the board as an MCP server over stdin and stdout."""

from pathlib import Path
from typing import Annotated

import typer

from pegboard.cli.exits import exits
from pegboard.cli.options import BoardOption, DataOption, settings
from pegboard.errors import ConfigError

Globs = Annotated[
    list[str] | None,
    typer.Option(help="Only names that this glob matches, as 'shop__*'; repeatable."),
]
Sources = Annotated[list[str] | None, typer.Option(help="Only this source; repeatable.")]
Categories = Annotated[list[str] | None, typer.Option(help="Only this category; repeatable.")]
Excluded = Annotated[
    list[str] | None, typer.Option(help="No name that this glob matches; repeatable.")
]
Own = Annotated[
    str, typer.Option("--as", help="This source as itself: alone, and under its own names.")
]

mcp = typer.Typer(invoke_without_command=True, help="Serve the board to an MCP client.")


@mcp.callback()
def serve(
    context: typer.Context,
    *,
    only: Globs = None,
    source: Sources = None,
    category: Categories = None,
    exclude: Excluded = None,
    own: Own = "",
    board: BoardOption = None,
    data: DataOption = None,
) -> None:
    """Serve the board over stdin and stdout to the MCP client that starts this command.

    'pegboard mcp config CLIENT' says what to write into the client's configuration. Over HTTP,
    'pegboard serve' serves the same at /mcp.
    """
    if context.invoked_subcommand is not None:
        return
    with exits():
        chosen = settings(board, data)
        if chosen.board is not None and not Path(chosen.board).is_file():
            raise ConfigError(f"There is no board file {chosen.board}: try 'pegboard init'.")
        from pegboard.servers.mcp import Part, serve_stdio

        part = Part(
            only=tuple(only or ()),
            sources=tuple(source or ()),
            categories=tuple(category or ()),
            exclude=tuple(exclude or ()),
            own=own,
        )
        serve_stdio(chosen, part=part)
