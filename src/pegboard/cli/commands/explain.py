"""`pegboard explain NAME`: why a tool may or may not be called."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pegboard.cli.exit_codes import exit_on_error
from pegboard.cli.options import BoardOption, JsonOption, find_tool, settings, with_board
from pegboard.cli.output.tables import say, say_json, table

if TYPE_CHECKING:
    from pegboard.runtime import Pegboard


def explain(
    name: Annotated[str, typer.Argument(help="The tool's name or id; hidden tools too.")],
    *,
    board: BoardOption = None,
    json: JsonOption = False,
) -> None:
    """Explain whether a tool may be called, and by which rule."""

    async def find(opened: "Pegboard") -> dict[str, Any]:
        return opened.explain((await find_tool(opened, name)).spec.name).to_dict()

    with exit_on_error():
        answer = with_board(settings(board), find, whole=False)
        if json:
            say_json(answer)
            return
        seen = "listed" if answer["visible"] else "hidden"
        say(f"{answer['tool']} for {answer['principal']}: {answer['verdict']}, {seen}")
        say(f"because {answer['reason']}  ({answer['rule']})\n")
        table(("check", "result"), ((item["check"], item["result"]) for item in answer["checks"]))
