"""`pegboard show NAME`: everything about one tool."""

from typing import Annotated

import typer

from pegboard.cli.complete_tools import complete_tool
from pegboard.cli.exit_codes import exit_on_error
from pegboard.cli.options import (
    BoardOption,
    DataOption,
    JsonOption,
    UrlOption,
    settings,
    with_client,
)
from pegboard.cli.output.tables import say, say_json


def show(
    name: Annotated[
        str, typer.Argument(help="The tool's name or id.", autocompletion=complete_tool)
    ],
    *,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Show the whole specification of a tool, schemas included."""
    with exit_on_error():
        spec = with_client(
            settings(board, data, url), lambda client: client.show_tool(name), opens="named"
        )
        if json:
            say_json(spec)
            return
        say(f"{spec['name']}  ({spec['effect']}, {spec['category']}, version {spec['version']})")
        say(f"\n{spec['description']}\n")
        for key in ("unavailable", "status", "source", "tags", "capabilities", "scopes", "retry"):
            if spec.get(key):
                say(f"{key}: {spec[key]}")
        say("\ninput schema:")
        say_json(spec["input_schema"])
        if "output_schema" in spec:
            say("\noutput schema:")
            say_json(spec["output_schema"])
