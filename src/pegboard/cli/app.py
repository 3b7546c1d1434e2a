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
    folders: ClassVar = {"People": "accounts"}
    sections: ClassVar = {
        "Start": {
            "init": "Write a board.yaml and a my_tools.py to start from.",
            "add": "Add a source to the board file.",
            "doctor": "Check the installation, settings, board file and sources.",
            "serve": "Serve the board over HTTP until interrupted.",
            "mcp": "Serve the board to an MCP client.",
            "login": "Sign in to a server, and store a key for its address.",
        },
        "Tools": {
            "tools": "List the tools of the board, or search them.",
            "show": "Show the whole specification of a tool, schemas included.",
            "call": "Call a tool and print its result.",
            "explain": "Explain whether a tool may be called, and by which rule.",
            "sources": "Show each source with its health and its problem.",
            "graph": "Show and change the dependencies between tools.",
        },
        "Agents and documents": {
            "chat": "Ask an agent, which uses the tools of the board.",
            "agents": "List the agents that can be chosen to answer.",
            "conversations": "List conversations, and get their files.",
            "kb": "Put documents into knowledge bases, and ask them.",
            "files": "Store, list, get and delete files of the board.",
        },
        "Plans and runs": {
            "plan": "Make a plan, check it and explain it.",
            "run": "Run a plan and print a time line.",
            "runs": "List, show, resume and cancel runs.",
        },
        "Decisions and records": {
            "approvals": "List and decide approvals of calls.",
            "pins": "Review changed and new definitions of upstream tools.",
            "switches": "Turn tools off and on again, on every server.",
            "history": "Show recorded calls, newest first.",
            "audit": "Show, export and check the audit trail.",
        },
        "People": {
            "people": "List people, invite them, and keep them out.",
            "roles": "Define the roles of an organisation, and assign them.",
            "quotas": "Limit the calls and model costs of people.",
            "resources": "Add, share and publish connectors, agents and models.",
            "skills": "Add skills, and replace their texts.",
            "credentials": "Store, choose and remove credentials.",
            "market": "Browse external catalogues, and add reviewed entries.",
        },
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
