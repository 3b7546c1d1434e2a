"""Definitions page by page, in the order of their sources and names."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from pegboard.core.pagination import cursor_of, place_of


class Sortable(Protocol):
    """What has a place in that order."""

    @property
    def source(self) -> str:
        """The name of its source."""
        ...

    @property
    def name(self) -> str:
        """What the upstream calls it."""
        ...


T = TypeVar("T", bound=Sortable)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeysetPage(Generic[T]):
    """Some of them, and where to go on; empty at the end."""

    items: tuple[T, ...]
    next_cursor: str = ""


def page_of(items: Sequence[T], *, cursor: str, limit: int) -> KeysetPage[T]:
    """The page behind the cursor: whatever comes or goes, none that stays is given twice.

    Args:
        items: In the order of their sources and names.
        cursor: Of the page before; empty at first.
        limit: How many at most.

    Raises:
        InvalidRequest: The cursor is not one of ours.
    """
    after = place_of(cursor, str, str) or ("", "")
    rest = [item for item in items if (item.source, item.name) > after]
    page = tuple(rest[:limit])
    if len(rest) <= limit:
        return KeysetPage(items=page)
    return KeysetPage(items=page, next_cursor=cursor_of(page[-1].source, page[-1].name))
