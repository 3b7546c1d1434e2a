"""The commands in one list; each is loaded when it is chosen."""

from typing import ClassVar

import typer

from pegboard.cli.lazy_group import LazyGroup
from pegboard.cli.safe_stdio import streams


class Commands(LazyGroup):
    """The commands; what they say of themselves is tested to be what stands here."""

    package = "pegboard.cli.commands"
    listed: ClassVar = {
        "init": "Write a board.yaml and a my_tools.py to start from; overwrites nothing.",
        "tools": "List the tools of the board, or search them.",
        "show": "Show the whole specification of a tool, schemas included.",
        "call": "Run a tool through the whole pipeline, and print its result.",
        "plan": "Make a plan, check it, and say why it looks like this; with --data it is kept to "
        "be run.",
        "run": "Run a plan, and draw what happened. With --data it can be gone on with after a "
        "crash.",
        "explain": "Say whether a tool may be called, by which rule, and what was checked.",
        "sources": "Show each source with its health, its number of tools, and what is wrong with "
        "it.",
        "history": "Show recorded calls, newest first; works while a server is running.",
        "serve": "Serve the board over HTTP until interrupted.",
        "doctor": "Check the installation, the settings, the board file and each source.",
        "add": "Put a source on the board.",
        "runs": "List and show runs, and let them go on or end.",
        "graph": "Show and change which tools need which.",
        "approvals": "List and decide what people are asked before calls run.",
        "pins": "See and approve what upstreams change of their tools' definitions, and new tools.",
        "market": "Browse catalogues of others, and put on the board what you have looked at.",
        "switches": "Turn tools off on every server, from the next call on, and on again.",
        "audit": "Show, export and check the audit trail.",
        "mcp": "Serve the board to an MCP client.",
    }


app = typer.Typer(
    name="pegboard",
    cls=Commands,
    help="Every capability an AI agent can use, on one board.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def version(
    show_version: bool = typer.Option(False, "--version", help="Print the version.", is_eager=True),
) -> None:
    """Every capability an AI agent can use, on one board."""
    if show_version:
        from pegboard import __version__

        typer.echo(__version__)
        raise typer.Exit


def main() -> None:
    """The entry point of the `pegboard` command."""
    with streams():
        app()
