"""`pegboard show NAME`: everything about one tool."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pegboard.cli.exit_codes import exit_on_error
from pegboard.cli.options import BoardOption, JsonOption, find_tool, settings, with_board
from pegboard.cli.output.tables import say, say_json

if TYPE_CHECKING:
    from pegboard.runtime import Pegboard


def show(
    name: Annotated[str, typer.Argument(help="The tool's name or id.")],
    *,
    board: BoardOption = None,
    json: JsonOption = False,
) -> None:
    """Show the whole specification of a tool, schemas included."""

    async def find(opened: "Pegboard") -> dict[str, Any]:
        return (await find_tool(opened, name)).spec.to_dict()

    with exit_on_error():
        spec = with_board(settings(board), find, whole=False)
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
