"""The commands in one list; each is loaded when it is chosen."""

import sys
from typing import ClassVar

import typer

from pegboard.cli.exit_codes import Exit
from pegboard.cli.lazy_group import LazyGroup
from pegboard.cli.safe_stdio import safe_streams
from pegboard.cli.spare_collections import spare_collections


class Commands(LazyGroup):
    """The commands; what they say of themselves is tested to be what stands here."""

    package = "pegboard.cli.commands"
    listed: ClassVar = {
        "init": "Write a board.yaml and a my_tools.py to start from; does not overwrite files.",
        "tools": "List the tools of the board, or search them.",
        "show": "Show the whole specification of a tool, schemas included.",
        "call": "Run a tool through the whole pipeline, and print its result.",
        "chat": "Ask an agent; it uses the tools of the board and asks before calls that need "
        "approval.",
        "conversations": "List conversations, and get their files.",
        "files": "Store files on the board, list and get them, and delete them.",
        "kb": "Put documents into knowledge bases, list, ask and remove them.",
        "agents": "List the agents that can be chosen to answer.",
        "plan": "Make a plan, check it and explain it; it is stored and can be run.",
        "run": "Run a plan and print a time line. It can be resumed after a crash.",
        "explain": "Explain whether a tool may be called, and by which rule.",
        "sources": "Show each source with its health, its number of tools, and its problem.",
        "history": "Show recorded calls, newest first; works while a server is running.",
        "serve": "Serve the board over HTTP until interrupted.",
        "doctor": "Check the installation, the settings, the board file and each source.",
        "add": "Add a source to the board file.",
        "runs": "List, show, resume and cancel runs.",
        "graph": "Show and change the dependencies between tools.",
        "approvals": "List and decide approvals of calls.",
        "pins": "Review and approve changed and new definitions of upstream tools.",
        "market": "Browse external catalogues, review entries and add them to the board.",
        "switches": "Turn tools off and on again, on every server, from the next call on.",
        "people": "List people, make one-time links for them, and keep them out.",
        "roles": "Define the roles of an organisation, and give them to its members.",
        "quotas": "Limit the calls and the model cost of people and organisations.",
        "resources": "Add, share and publish connectors, agents and models; install others.",
        "skills": "Add skills, and replace their texts; 'pegboard resources' shares them.",
        "credentials": "List, store, choose and remove credentials, and rotate the master key.",
        "login": "Sign in to a server, and store a key for its address.",
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
    spare_collections()
    with safe_streams():
        if reason := explain_platform(sys.platform):
            typer.echo(f"pegboard: {reason}", err=True)
            raise SystemExit(Exit.UNAVAILABLE)
        app()


def explain_platform(platform: str) -> str:
    """Why the commands do not run on this platform (as `sys.platform`); empty where they do."""
    if platform == "win32":
        return (
            "the command line and the server need Linux or macOS. On Windows run them in WSL 2; "
            "the library (`from pegboard import tool, ToolRegistry`) works without it."
        )
    return ""
