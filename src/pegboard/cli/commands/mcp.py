"""`pegboard mcp`: the board as an MCP server over stdin and stdout."""

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pegboard.cli.exit_codes import exit_on_error
from pegboard.cli.mcp_client_configs import (
    CLIENTS,
    address_entry,
    client_of,
    command_entry,
    config_path,
    project_path,
    write_config,
)
from pegboard.cli.options import BoardOption, DataOption, settings
from pegboard.cli.output.tables import note, say, say_json
from pegboard.errors import ConfigError

if TYPE_CHECKING:
    from pegboard.runtime import Settings

Globs = Annotated[
    list[str] | None,
    typer.Option(help="Only tools matching this glob, for example 'shop__*'; repeatable."),
]
Sources = Annotated[list[str] | None, typer.Option(help="Only this source; repeatable.")]
Categories = Annotated[list[str] | None, typer.Option(help="Only this category; repeatable.")]
Excluded = Annotated[
    list[str] | None, typer.Option(help="No tools matching this glob; repeatable.")
]
Listed = Annotated[
    list[str] | None,
    typer.Option(
        "--list",
        help="List only tools matching this glob ('' for none); the client finds and calls the "
        "others by `find_tools` and `call_tool`; repeatable.",
    ),
]
Own = Annotated[
    str, typer.Option("--as", help="Only this source, with its tools under their own names.")
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
    listed: Listed = None,
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
    with exit_on_error():
        chosen = settings(board, data, keep="mcp")
        if chosen.board is not None and not Path(chosen.board).is_file():
            raise ConfigError(f"There is no board file {chosen.board}: try 'pegboard init'.")
        from pegboard.servers.http import serve_commands
        from pegboard.servers.mcp import BoardSelection, serve_stdio

        selection = BoardSelection(
            only=tuple(only or ()),
            sources=tuple(source or ()),
            categories=tuple(category or ()),
            exclude=tuple(exclude or ()),
            own=own,
            listed=tuple(listed or ()),
        )
        serve_stdio(chosen, selection=selection, http=serve_commands)


@mcp.command()
def config(
    client: Annotated[str, typer.Argument(help=f"One of {', '.join(CLIENTS)}.")],
    *,
    write: Annotated[
        bool, typer.Option("--write", help="Write it into the client's file; other entries stay.")
    ] = False,
    project: Annotated[
        bool, typer.Option("--project", help="For this project folder instead of the user.")
    ] = False,
    name: Annotated[str, typer.Option(help="The server's name in the client.")] = "pegboard",
    url: Annotated[
        str,
        typer.Option(help="Address of a running server, for example http://127.0.0.1:8321/mcp."),
    ] = "",
    only: Globs = None,
    source: Sources = None,
    category: Categories = None,
    exclude: Excluded = None,
    listed: Listed = None,
    own: Own = "",
    board: BoardOption = None,
    data: DataOption = None,
) -> None:
    """Show what to write into the configuration of an MCP client, or write it."""
    from pegboard.runtime.settings import environ

    with exit_on_error():
        known = client_of(client)
        chosen = settings(board, data)
        if url:
            entry = address_entry(known, url)
        else:
            given = {
                "only": only,
                "source": source,
                "category": category,
                "exclude": exclude,
                "list": listed,
            }
            chosen_part = [
                f"--{key}={item}" for key, items in given.items() for item in items or ()
            ]
            own_part = [f"--as={own}"] if own else []
            entry = command_entry(known, [*_command(chosen), *chosen_part, *own_part])
            _note_variables(known.title, chosen)
        path = (
            project_path(known, Path.cwd())
            if project
            else config_path(known, platform=sys.platform, home=Path.home(), environment=environ())
        )
        if not write:
            note(f"# {known.title}: {path}")
            say_json({known.key: {name: entry}})
            return
        kept = write_config(known, path, name, entry)
        say(
            f"Wrote '{name}' into {path}" + (f"; the previous version is in {kept}" if kept else "")
        )
        note(f"Restart {known.title} if it is running.")


def _note_variables(client: str, chosen: "Settings") -> None:
    """Say which variables the entry needs: many clients do not pass on those of a shell."""
    from pegboard.runtime.board_file.load import find_variables

    names = [] if chosen.board is None else find_variables(chosen.board)
    if names:
        note(
            f"The board needs {', '.join(names)}: set them in 'env' of the entry, since {client} "
            "may not pass on the variables of your shell."
        )


def _command(chosen: "Settings") -> list[str]:
    """The command that starts this board from any folder."""
    program = shutil.which("pegboard")
    command = [program] if program else [sys.executable, "-m", "pegboard"]
    command.append("mcp")
    if chosen.board is not None:
        command += ["--board", str(chosen.board.resolve())]
    if chosen.data is not None:
        command += ["--data", str(chosen.data.resolve())]
    return command
