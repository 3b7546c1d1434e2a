"""`ToolQuery`: which tools a search is for, by filters and by words."""

from collections.abc import Callable
from dataclasses import dataclass

from pegboard.core.tool import Tool, ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolQuery:
    """Filters that must all match, and words to rank by; empty means any.

    Attributes:
        tags: The tool must have all of them.
    """

    query: str = ""
    capability: str = ""
    tags: tuple[str, ...] = ()
    category: str = ""
    source: str = ""
    effect: str = ""
    status: str = ""
    limit: int = 20


def matches(spec: ToolSpec, wanted: ToolQuery) -> bool:
    """Whether a tool matches the filters."""
    return (
        (not wanted.capability or wanted.capability in spec.capabilities)
        and set(wanted.tags) <= set(spec.tags)
        and wanted.category in {"", spec.category}
        and wanted.source in {"", spec.source}
        and wanted.effect in {"", spec.effect.value}
        and wanted.status in {"", spec.status.value}
    )


def make_acceptance(
    wanted: ToolQuery, is_visible: Callable[[Tool], bool], keep: Callable[[Tool], bool] | None
) -> Callable[[Tool], bool]:
    """Whether a tool may be found: by the filters, for the caller, and for the one who searches.

    Args:
        wanted: The filters.
        is_visible: Whether the caller may see a tool.
        keep: Whether a tool may be found; None for every tool.
    """
    has_filters = wanted != ToolQuery(query=wanted.query, limit=wanted.limit)

    def is_wanted(tool: Tool) -> bool:
        return (
            (keep is None or keep(tool))
            and is_visible(tool)
            and (not has_filters or matches(tool.spec, wanted))
        )

    return is_visible if keep is None and not has_filters else is_wanted
