"""`pegboard tools`: list or search the tools of the board."""

from typing import TYPE_CHECKING, Annotated

import typer

from pegboard.cli.exit_codes import exit_on_error
from pegboard.cli.filter_suggestions import names_value, suggest_values
from pegboard.cli.options import (
    BoardOption,
    DataOption,
    JsonOption,
    UrlOption,
    settings,
    with_client,
)
from pegboard.cli.output.sources import describe_rule, describe_state
from pegboard.cli.output.tables import count_noun, first_line, note, say_json, table

if TYPE_CHECKING:
    from pegboard.cli.client.port import BoardClient, FoundTools

_MAX_FOUND, _MAX_LISTED = 20, 1000


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
    limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Maximum number of entries.  [default: 1000; 20 with --search unless --json]",
        ),
    ] = None,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """List the tools of the board, or search them."""
    from pegboard.registry.prepared_search import BY_WORDS_ONLY
    from pegboard.registry.search import ToolQuery

    most = limit or (_MAX_FOUND if search and not json else _MAX_LISTED)
    query = ToolQuery(
        query=search,
        source=source,
        category=category,
        effect=effect,
        tags=tuple(tag or ()),
        limit=most + 1,  # one more shows whether there are more
    )

    rules: list[dict[str, str]] = []

    async def find(client: "BoardClient") -> "FoundTools":
        for item in (await client.list_sources(check=False))["sources"]:
            if item["status"] != "ok":
                note(f"source '{item['name']}' {describe_state(item)}")
        rules.extend((await client.read_readiness()).get("rules", ()))
        found = await client.find_tools(query)
        if not found.usable and names_value(query):
            await suggest_values(client, query)
        return found

    with exit_on_error():
        chosen = settings(board, data, url)
        found = with_client(chosen, find)
        every = found.unavailable if unavailable else found.usable
        shown = every[:most]
        if found.skipped:
            note(BY_WORDS_ONLY)
        if len(every) > most:
            note(f"only the first {most} are shown; '--limit {10 * most}' shows more")
        if json:
            say_json(shown)
            _warn(rules)
            return
        last = "why it is unavailable" if unavailable else "description"
        table(
            ("name", "effect", "category", last),
            (
                (
                    spec["name"],
                    spec["effect"],
                    spec["category"],
                    spec["unavailable"] if unavailable else first_line(spec["description"]),
                )
                for spec in shown
            ),
        )
        if len(every) <= most:
            note(_count(len(found.usable), len(found.unavailable), told=unavailable))
        if chosen.board is None and not chosen.url and _are_built_in(found):
            note("There is no board.yaml here: these are the built-in tools. Try 'pegboard init'.")
        _warn(rules)


def _warn(rules: list[dict[str, str]]) -> None:
    for rule in rules:
        note(f"warning: {describe_rule(rule)}")


def _are_built_in(found: "FoundTools") -> bool:
    """Whether no tool comes from a board; a server that holds the data directory may have one."""
    return all(
        spec["source"] in {"board", "builtin"} for spec in (*found.usable, *found.unavailable)
    )


def _count(usable: int, others: int, *, told: bool) -> str:
    count = count_noun(usable, "tool")
    if not others:
        return f"{count}, none unavailable" if told else count
    hint = "" if told else "; 'pegboard tools --unavailable' says why"
    return f"{count}, {others} unavailable{hint}"
