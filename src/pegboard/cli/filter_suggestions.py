"""Suggests values for filters that match nothing."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pegboard.cli.output.tables import note
from pegboard.core.text.suggestions import did_you_mean

if TYPE_CHECKING:
    from pegboard.cli.client.port import BoardClient
    from pegboard.registry.search import ToolQuery

_MAX_NAMES = 20
_MAX_TOOLS = 100_000


def names_value(query: "ToolQuery") -> bool:
    """Whether a query has a filter whose value may be misspelt."""
    return bool(query.source or query.category or query.effect or query.tags)


async def suggest_values(client: "BoardClient", query: "ToolQuery") -> None:
    """Print a note for each filter value that no tool of the board has, with suggestions."""
    from pegboard.core.tool import Effect
    from pegboard.registry.search import ToolQuery

    found = await client.find_tools(ToolQuery(limit=_MAX_TOOLS))
    specs = [*found.usable, *found.unavailable]
    states = (await client.list_sources(check=False))["sources"]
    sources = {spec["source"] for spec in specs} | {state["name"] for state in states}
    _suggest("source", query.source, sources)
    _suggest("category", query.category, {spec["category"] for spec in specs})
    _suggest("effect", query.effect, [effect.value for effect in Effect])
    for tag in query.tags:
        _suggest("tag", tag, {tag for spec in specs for tag in spec.get("tags", ())})


def _suggest(what: str, value: str, known: Iterable[str]) -> None:
    names = sorted(name for name in known if name)
    if not value or value in names:
        return
    more = ", ..." if len(names) > _MAX_NAMES else ""
    there = f"there are {', '.join(names[:_MAX_NAMES])}{more}" if names else "there is none"
    hint = did_you_mean(value, names, most=3, otherwise=there)
    note(f"no tool has the {what} '{value}'; {hint}")
