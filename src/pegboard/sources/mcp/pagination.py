"""Reads all pages of a server's list, up to a limit."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import mcp_types as types
from mcp import MCPError

from pegboard.sources.mcp.transport.list_repair import MAX_ITEMS, omissions

T = TypeVar("T")
Page = tuple[Sequence[T], types.PaginatedResult]

_MAX_PAGES = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class ListResult(Generic[T]):
    """The items of a list.

    Attributes:
        missing: Which items are left out, each with its reason.
    """

    items: Sequence[T] = ()
    missing: Sequence[str] = ()

    def and_those_of(self, other: "ListResult[Any]") -> "ListResult[Any]":
        """This list and another one."""
        return ListResult(
            items=(*self.items, *other.items),
            missing=(*self.missing, *other.missing),
        )


async def read_pages_if_known(
    what: str, page: Callable[[str | None], Awaitable[Page[T]]]
) -> ListResult[T]:
    """Read every page; the list is empty if the server does not know the method.

    One capability covers resources and templates, and many servers have only one of them.
    """
    try:
        return await read_pages(what, page)
    except MCPError as error:
        if error.code != types.METHOD_NOT_FOUND:
            raise
        return ListResult()


async def read_pages(what: str, page: Callable[[str | None], Awaitable[Page[T]]]) -> ListResult[T]:
    """Read every page, unless a cursor repeats or the list is too long.

    Args:
        what: The name of the items in messages.
        page: Requests the page at a cursor; None for the first.
    """
    items: list[T] = []
    missing: list[str] = []
    cursor: str | None = None
    seen: set[str] = set()
    for _ in range(_MAX_PAGES):
        found, answer = await page(cursor)
        items.extend(found)
        missing.extend(omissions(answer.meta))
        cursor = answer.next_cursor
        if not cursor:
            break
        if cursor in seen:
            missing.append(f"{what} after a cursor that repeats")
            break
        seen.add(cursor)
        if len(items) >= MAX_ITEMS:
            missing.append(f"{what} after the first {len(items)}: more are not read")
            break
    else:
        missing.append(f"{what} after {_MAX_PAGES} pages: more are not read")
    return ListResult(items=items, missing=missing)
