"""`pegboard sources`: the sources of the board and their health."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pegboard.cli.exit_codes import Exit, exit_on_error
from pegboard.cli.options import (
    BoardOption,
    DataOption,
    JsonOption,
    UrlOption,
    settings,
    with_client,
)
from pegboard.cli.output.sources import count_of, print_log_hint, reason_of
from pegboard.cli.output.tables import say_json, table

if TYPE_CHECKING:
    from pegboard.cli.client.port import BoardClient


def sources(
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Exit with code 3 unless every source is healthy.")
    ] = False,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Show each source with its health and its problem."""

    async def ask(client: "BoardClient") -> tuple[list[dict[str, Any]], bool]:
        return (await client.list_sources(check=True))["sources"], client.is_logged

    with exit_on_error():
        found, is_logged = with_client(settings(board, data, url), ask)
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
            print_log_hint(is_logged=is_logged)
    if check and any(item["status"] != "ok" or item["health"] != "healthy" for item in found):
        raise typer.Exit(Exit.UNAVAILABLE)
