"""`pegboard tools`: list or search the tools of the board."""

from typing import TYPE_CHECKING, Annotated

import typer

from pegboard.cli.exit_codes import exit_on_error
from pegboard.cli.filter_suggestions import suggest_values
from pegboard.cli.options import BoardOption, JsonOption, settings, with_board
from pegboard.cli.output.tables import count_noun, first_line, note, say_json, table

if TYPE_CHECKING:
    from pegboard.core.tool import ToolSpec
    from pegboard.runtime import Pegboard


def tools(
    *,
    search: Annotated[str, typer.Option("--search", "-s", help="Words to look for.")] = "",
    source: Annotated[str, typer.Option(help="Only tools of this source.")] = "",
    category: Annotated[str, typer.Option(help="Only this category.")] = "",
    effect: Annotated[str, typer.Option(help="Only `read`, `write` or `admin`.")] = "",
    tag: Annotated[list[str] | None, typer.Option(help="Only with this tag; repeatable.")] = None,
    unavailable: Annotated[
        bool, typer.Option("--unavailable", help="Unavailable tools instead, with the reason.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of entries.")] = 1000,
    board: BoardOption = None,
    json: JsonOption = False,
) -> None:
    """List the tools of the board, or search them."""
    from pegboard.registry.health import why_unavailable
    from pegboard.registry.search import ToolQuery

    query = ToolQuery(
        query=search,
        source=source,
        category=category,
        effect=effect,
        tags=tuple(tag or ()),
        limit=limit,
    )

    async def find(opened: "Pegboard") -> "tuple[list[ToolSpec], list[ToolSpec]]":
        for state in opened.sources:
            if state.status != "ok":
                note(f"source '{state.name}' {state.describe()}")
        suggest_values(opened, query)
        found = [tool.spec for tool in opened.registry.search(query)]
        return found, opened.registry.unavailable(query)

    with exit_on_error():
        usable, others = with_board(settings(board), find)
        shown = others[:limit] if unavailable else usable
        if json:
            say_json([spec.to_dict() | _why(spec) for spec in shown])
            return
        last = "why it is unavailable" if unavailable else "description"
        table(
            ("name", "effect", "category", last),
            (
                (
                    spec.name,
                    spec.effect.value,
                    spec.category,
                    why_unavailable(spec) if unavailable else first_line(spec.description),
                )
                for spec in shown
            ),
        )
        note(_count(len(usable), len(others), told=unavailable))


def _why(spec: "ToolSpec") -> dict[str, str]:
    from pegboard.registry.health import why_unavailable

    reason = why_unavailable(spec)
    return {"unavailable": reason} if reason else {}


def _count(usable: int, others: int, *, told: bool) -> str:
    count = count_noun(usable, "tool")
    if not others:
        return f"{count}, none unavailable" if told else count
    hint = "" if told else "; 'pegboard tools --unavailable' says why"
    return f"{count}, {others} unavailable{hint}"
