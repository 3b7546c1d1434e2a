"""Pages of items in the order of their source and name."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from pegboard.core.pagination import decode_cursor, encode_cursor


class Sortable(Protocol):
    """An item with a source and a name."""

    @property
    def source(self) -> str:
        """Name of its source."""
        ...

    @property
    def name(self) -> str:
        """Name within its source."""
        ...


T = TypeVar("T", bound=Sortable)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeysetPage(Generic[T]):
    """Some items, and the cursor of the next page; empty at the end."""

    items: tuple[T, ...]
    next_cursor: str = ""


def page_of(items: Sequence[T], *, cursor: str, limit: int) -> KeysetPage[T]:
    """Return the page after a cursor; items that come or go do not shift the others.

    Args:
        items: In the order of their source and name.
        cursor: `next_cursor` of the previous page; empty at first.
        limit: Maximum number of items.

    Raises:
        InvalidRequest: The cursor is unknown.
    """
    after = decode_cursor(cursor, str, str) or ("", "")
    rest = [item for item in items if (item.source, item.name) > after]
    page = tuple(rest[:limit])
    if len(rest) <= limit:
        return KeysetPage(items=page)
    return KeysetPage(items=page, next_cursor=encode_cursor(page[-1].source, page[-1].name))
