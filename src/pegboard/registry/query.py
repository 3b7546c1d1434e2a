"""What somebody looks for among tools."""

from dataclasses import dataclass

from pegboard.core.tool import ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolQuery:
    """Filters, all of which must hold, and words to rank by; empty means any.

    Attributes:
        tags: The tool has all of them.
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
    """Whether a tool passes the filters."""
    return (
        (not wanted.capability or wanted.capability in spec.capabilities)
        and set(wanted.tags) <= set(spec.tags)
        and wanted.category in {"", spec.category}
        and wanted.source in {"", spec.source}
        and wanted.effect in {"", spec.effect.value}
        and wanted.status in {"", spec.status.value}
    )
