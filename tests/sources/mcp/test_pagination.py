"""Lists end, also those that a server does not end."""

from typing import Any

import mcp_types as types

from pegboard.sources.mcp.pagination import ListResult, read_pages
from pegboard.sources.mcp.transport.list_repair import MAX_ITEMS


def _answering(*pages: tuple[int, str | None], **meta: Any) -> Any:
    """Pages of so many items, each with the cursor of the next; the last comes again and again."""
    asked: list[str | None] = []

    async def page(cursor: str | None) -> Any:
        number = min(len(asked), len(pages) - 1)
        asked.append(cursor)
        items, following = pages[number]
        if following == "new":
            following = f"cursor {len(asked)}"
        answer = types.ListToolsResult(tools=[], next_cursor=following, _meta=meta or None)
        return [f"{number}.{item}" for item in range(items)], answer

    return page


async def test_every_page_is_read() -> None:
    found = await read_pages("tools", _answering((1, "a"), (2, "b"), (1, None)))

    assert found == ListResult(items=["0.0", "1.0", "1.1", "2.0"], missing=[])


async def test_a_cursor_that_comes_again_ends_the_list() -> None:
    found = await read_pages("tools", _answering((1, "a"), (1, "a")))

    assert found.items == ["0.0", "1.0"]
    assert found.missing == ["tools after a cursor that repeats"]


async def test_a_list_without_end_is_given_up() -> None:
    found = await read_pages("prompts", _answering((1, "new")))

    assert len(found.items) == 1000
    assert found.missing == ["prompts after 1000 pages: more are not read"]


async def test_a_list_of_very_many_is_given_up() -> None:
    found = await read_pages("tools", _answering((MAX_ITEMS, "new")))

    assert len(found.items) == MAX_ITEMS
    assert found.missing == [f"tools after the first {MAX_ITEMS}: more are not read"]


async def test_what_was_left_out_of_a_page_is_told() -> None:
    one = await read_pages("tools", _answering((1, None), **{"pegboard/left-out": ["'a'"]}))

    assert one.and_those_of(one) == ListResult(items=("0.0", "0.0"), missing=("'a'", "'a'"))
