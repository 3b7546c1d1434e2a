"""`pegboard tools`: what is on the board."""

from typing import Annotated

import typer

from pegboard.cli.exits import exits
from pegboard.cli.options import BoardOption, JsonOption, settings, with_board
from pegboard.cli.output import first_line, note, say_json, table
from pegboard.core.tool import Tool
from pegboard.registry.query import ToolQuery
from pegboard.runtime import Pegboard


def tools(
    *,
    search: Annotated[str, typer.Option("--search", "-s", help="Words to look for.")] = "",
    source: Annotated[str, typer.Option(help="Only this source's.")] = "",
    category: Annotated[str, typer.Option(help="Only this category.")] = "",
    effect: Annotated[str, typer.Option(help="Only `read`, `write` or `admin`.")] = "",
    tag: Annotated[list[str] | None, typer.Option(help="Only with this tag; repeatable.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most so many.")] = 1000,
    board: BoardOption = None,
    json: JsonOption = False,
) -> None:
    """List the tools of the board, or search them."""
    query = ToolQuery(
        query=search,
        source=source,
        category=category,
        effect=effect,
        tags=tuple(tag or ()),
        limit=limit,
    )

    async def find(opened: Pegboard) -> list[Tool]:
        for state in opened.sources:
            if state.status != "ok":
                note(f"source '{state.name}' is {state.status}: {state.reason}")
        return opened.registry.search(query)

    with exits():
        found = with_board(settings(board), find)
        if json:
            say_json([tool.spec.to_dict() for tool in found])
            return
        table(
            ("name", "effect", "category", "description"),
            (
                (
                    spec.name,
                    spec.effect.value,
                    spec.category,
                    f"(unavailable: {spec.unavailable})"
                    if spec.unavailable
                    else first_line(spec.description),
                )
                for spec in (tool.spec for tool in found)
            ),
        )
        note(f"{len(found)} tools")
