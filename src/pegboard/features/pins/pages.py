"""Definitions page by page, in the order of their sources and names."""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from pegboard.errors import InvalidRequest


class Placed(Protocol):
    """What has a place in that order."""

    @property
    def source(self) -> str:
        """The name of its source."""
        ...

    @property
    def name(self) -> str:
        """What the upstream calls it."""
        ...


T = TypeVar("T", bound=Placed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T]):
    """Some of them, and where to go on; empty at the end."""

    items: tuple[T, ...]
    next_cursor: str = ""


def page_of(items: Sequence[T], *, cursor: str, limit: int) -> Page[T]:
    """The page behind the cursor: whatever comes or goes, none that stays is given twice.

    Args:
        items: In the order of their sources and names.
        cursor: Of the page before; empty at first.
        limit: How many at most.

    Raises:
        InvalidRequest: The cursor is not one of ours.
    """
    after = _read(cursor) if cursor else ("", "")
    rest = [item for item in items if (item.source, item.name) > after]
    page = tuple(rest[:limit])
    return Page(items=page, next_cursor=_cursor(page[-1]) if len(rest) > limit else "")


def _cursor(last: Placed) -> str:
    return urlsafe_b64encode(f"{last.source}\n{last.name}".encode()).decode()


def _read(cursor: str) -> tuple[str, str]:
    try:
        source, found, name = urlsafe_b64decode(cursor.encode("ascii")).decode().partition("\n")
    except (binascii.Error, UnicodeError) as error:
        raise InvalidRequest("The cursor is not one of ours.") from error
    if not found:
        raise InvalidRequest("The cursor is not one of ours.")
    return source, name
