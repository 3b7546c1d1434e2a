import itertools
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.servers.http.made import a_board, client_of

from pegboard import ToolRegistry
from pegboard.core.context import ToolContext
from pegboard.core.principal import LOCAL
from pegboard.core.tool import Effect, ToolSpec
from pegboard.registry.search import ToolQuery
from pegboard.runtime import Pegboard
from pegboard.servers.http.tool_views import tool_page
from pegboard.tools import SchemaTool


async def nothing(arguments: Any, ctx: ToolContext) -> None:
    return None


def a_tool(name: str) -> SchemaTool:
    spec = ToolSpec(
        name=name,
        description=f"Deals with paper of kind {name}.",
        effect=Effect.READ,
        input_schema={"type": "object"},
    )
    return SchemaTool(spec=spec, run=nothing)


async def pages(
    client: httpx2.AsyncClient, limit: int, **query: Any
) -> AsyncIterator[dict[str, Any]]:
    cursor = ""
    while cursor is not None:
        answer = await client.get("/tools", params={**query, "limit": limit, "cursor": cursor})
        assert answer.status_code == 200, answer.text
        page = answer.json()
        yield page
        cursor = page["next_cursor"]


async def names_of(client: httpx2.AsyncClient, limit: int, **query: Any) -> list[str]:
    return [tool["name"] async for page in pages(client, limit, **query) for tool in page["tools"]]


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 500])
async def test_pages_together_hold_every_visible_tool_once(
    client: httpx2.AsyncClient, board: Pegboard, limit: int
) -> None:
    visible = [tool.spec.name for tool in board.registry.visible()]

    assert await names_of(client, limit) == sorted(visible)


@pytest.mark.parametrize("limit", [1, 2, 500])
async def test_pages_of_a_search_are_in_the_order_of_fit(
    client: httpx2.AsyncClient, board: Pegboard, limit: int
) -> None:
    found = [tool.spec.name for tool in board.registry.search("break the promise, pay money")]

    assert len(found) > 2
    assert await names_of(client, limit, q="break the promise, pay money") == found


@settings(max_examples=50)
@given(
    there=st.sets(st.text("abcdef", min_size=1, max_size=3), min_size=1, max_size=12),
    gone=st.sets(st.text("abcdef", min_size=1, max_size=3), max_size=6),
    come=st.sets(st.text("abcdef", min_size=1, max_size=3), max_size=6),
    limit=st.integers(1, 4),
    after=st.integers(1, 4),
)
def test_no_tool_that_stays_is_skipped_or_given_twice_when_others_come_and_go(
    there: set[str], gone: set[str], come: set[str], limit: int, after: int
) -> None:
    registry = ToolRegistry([a_tool(name) for name in sorted(there)])
    seen: list[str] = []
    cursor = ""
    for number in itertools.count():
        if number == after:
            for name in gone & there:
                registry.remove(name)
            for name in come - there:
                registry.add(a_tool(name))
        page = tool_page(registry, ToolQuery(limit=limit), principal=LOCAL, cursor=cursor)
        seen += [tool["name"] for tool in page["tools"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break

    assert len(seen) == len(set(seen))
    assert there - gone <= set(seen) <= there | come


async def test_a_ranking_that_changed_between_pages_is_not_continued(
    client: httpx2.AsyncClient, board: Pegboard
) -> None:
    first = (await client.get("/tools", params={"q": "break promise", "limit": 1})).json()
    board.registry.add(a_tool("break_promise"))

    answer = await client.get(
        "/tools", params={"q": "break promise", "limit": 1, "cursor": first["next_cursor"]}
    )

    assert answer.status_code == 404
    assert "changed" in answer.json()["detail"]


@pytest.mark.parametrize("cursor", ["x", "1.x", "-1.0", "999999999999", "\u00e9", "1." + "0" * 16])
async def test_a_cursor_that_nobody_gave_out_is_no_page_of_a_ranking(
    client: httpx2.AsyncClient, cursor: str
) -> None:
    answer = await client.get("/tools", params={"q": "value", "cursor": cursor})

    assert answer.status_code == 404


async def test_a_name_that_is_not_there_is_a_place_in_the_list_all_the_same(
    client: httpx2.AsyncClient,
) -> None:
    tools = (await client.get("/tools", params={"cursor": "e\u00e9"})).json()["tools"]

    assert [tool["name"] for tool in tools if tool["name"] < "e\u00e9"] == []
    assert tools


async def test_a_board_without_tools_has_one_empty_page(tmp_path: Path) -> None:
    async with client_of(a_board(tmp_path, tools=())) as client:
        page = (await client.get("/tools", params={"category": "nothing"})).json()

    assert page == {"tools": [], "next_cursor": None, "total": 0}


async def test_what_a_tool_depends_on_is_named_unless_it_is_hidden(
    client: httpx2.AsyncClient,
) -> None:
    shown = (await client.get("/tools/think")).json()

    assert shown["dependencies"] == ["add_v1", "gone_v1"]
