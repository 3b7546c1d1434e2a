"""`pegboard agents`: who can be chosen to answer."""

from typing import Any

import typer

from pegboard.cli.exit_codes import exit_on_error
from pegboard.cli.options import (
    BoardOption,
    DataOption,
    JsonOption,
    UrlOption,
    settings,
    with_client,
)
from pegboard.cli.output.tables import note, say_json, table

agents = typer.Typer(
    help="List the agents that can be chosen to answer.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@agents.command("list")
def list_agents(
    *,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """List the agents of the board; choose one with `pegboard chat --agent NAME`."""
    with exit_on_error():
        found = with_client(
            settings(board, data, url), lambda client: client.list_agents(), opens="all"
        )
    if json:
        say_json(found)
        return
    if not found["agents"]:
        note("The board has no agents: write some under 'agents:' in the board file.")
        return
    table(("name", "tools", "model", "description"), map(_row, found["agents"]))
    for agent in found["agents"]:
        if agent["unavailable"]:
            note(f"{agent['name']} is unavailable: {agent['unavailable']}")
        for name, reason in agent["missing"].items():
            note(f"{agent['name']}: {name}: {reason}")


def _row(agent: dict[str, Any]) -> tuple[str, ...]:
    count = "-" if agent["unavailable"] else str(agent["tool_count"])
    return agent["name"], count, agent["model"] or "-", agent["description"]
