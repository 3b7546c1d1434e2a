"""`pegboard sources`: the sources of the board and their health."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pegboard.cli.exit_codes import Exit, exit_on_error
from pegboard.cli.options import BoardOption, JsonOption, settings, with_board
from pegboard.cli.output.sources import count_of, print_log_hint, reason_of
from pegboard.cli.output.tables import say_json, table

if TYPE_CHECKING:
    from pegboard.runtime import Pegboard
    from pegboard.runtime.sources.state import SourceState


def sources(
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Exit with code 3 unless every source is healthy.")
    ] = False,
    board: BoardOption = None,
    json: JsonOption = False,
) -> None:
    """Show each source with its health, its number of tools, and its problem."""

    async def ask(opened: "Pegboard") -> "tuple[list[dict[str, Any]], list[SourceState]]":
        return await opened.health(), opened.sources

    with exit_on_error():
        found, states = with_board(settings(board), ask)
        if json:
            say_json(found)
        else:
            table(
                ("name", "kind", "status", "health", "tools", "reason"),
                (
                    (
                        item["name"],
                        item["kind"],
                        item["status"],
                        item["health"],
                        count_of(item),
                        reason_of(item),
                    )
                    for item in found
                ),
            )
            print_log_hint(states)
    if check and any(item["status"] != "ok" or item["health"] != "healthy" for item in found):
        raise typer.Exit(Exit.UNAVAILABLE)
