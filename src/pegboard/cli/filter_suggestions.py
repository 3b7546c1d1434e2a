"""Filters that nothing on the board can pass, told with what was perhaps meant."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pegboard.cli.output.tables import note
from pegboard.core.suggestions import did_you_mean

if TYPE_CHECKING:
    from pegboard.registry.search import ToolQuery
    from pegboard.runtime import Pegboard

_MOST = 20


def tell_unknown(board: "Pegboard", query: "ToolQuery") -> None:
    """Note each value that no tool of the board has; hidden tools are the local user's to know."""
    from pegboard.core.tool import Effect

    specs = [tool.spec for tool in board.registry]
    sources = {spec.source for spec in specs} | {state.name for state in board.sources}
    _tell("source", query.source, sources)
    _tell("category", query.category, {spec.category for spec in specs})
    _tell("effect", query.effect, [effect.value for effect in Effect])
    for tag in query.tags:
        _tell("tag", tag, {tag for spec in specs for tag in spec.tags})


def _tell(what: str, value: str, known: Iterable[str]) -> None:
    names = sorted(name for name in known if name)
    if not value or value in names:
        return
    more = ", ..." if len(names) > _MOST else ""
    there = f"there are {', '.join(names[:_MOST])}{more}" if names else "there is none"
    hint = did_you_mean(value, names, most=3, otherwise=there)
    note(f"no tool has the {what} '{value}'; {hint}")
