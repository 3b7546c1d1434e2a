"""`ToolQuery`: which tools a search is for, by filters and by words."""

from dataclasses import dataclass

from pegboard.core.tool import ToolSpec


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
