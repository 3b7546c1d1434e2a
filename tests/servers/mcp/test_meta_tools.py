"""A client that is listed few of many tools finds and calls the others."""

from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from tests.servers.mcp.made import Records, a_client

from pegboard.core.principal import Principal
from pegboard.registry.toolset import Toolset
from pegboard.runtime import Pegboard
from pegboard.servers.mcp.selection import BoardSelection
from pegboard.servers.mcp.server import BoardServer


def words(result: Any) -> str:
    return "\n".join(item.text for item in result.content if item.type == "text")


async def test_tools_that_are_not_listed_are_found_and_called(
    board: Pegboard, records: Records, era: str
) -> None:
    server = BoardServer(board, selection=BoardSelection(listed=("person",)))
    async with a_client(server, era) as client:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        found = await client.call_tool("find_tools", {"query": "add two numbers", "limit": 1})
        called = await client.call_tool(
            "call_tool", {"name": "add", "arguments": {"a": 1, "b": "2"}}
        )
        as_text = await client.call_tool(
            "call_tool", {"name": "add", "arguments": '{"a": 3, "b": 4}'}
        )
    await server.close()

    assert listed == ["call_tool", "find_tools", "person"]
    assert words(found).startswith('{"name":"add"')
    assert (words(called), words(as_text)) == ("3", "7")
    assert [call.tool for call in records.calls] == ["add", "add"]  # under its own name


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("find_tools", {"qery": "x"}, "find_tools takes 'query' and 'limit'"),
        ("call_tool", {"nam": "add"}, "call_tool takes 'name', and 'arguments' as an object"),
        ("call_tool", {"name": "add", "arguments": "{"}, "are no JSON"),
        ("call_tool", {"name": "ad"}, "Tool 'ad' not found."),
        ("call_tool", {"name": "add", "arguments": {"a": "one", "b": 1}}, "expected an integer"),
    ],
    ids=["a search", "a name", "text", "an unknown tool", "inner arguments"],
)
async def test_a_mistake_of_the_model_is_a_result(
    board: Pegboard, name: str, arguments: dict[str, Any], says: str
) -> None:
    server = BoardServer(board, selection=BoardSelection(listed=("",)))
    async with a_client(server, "legacy") as client:
        result = await client.call_tool(name, arguments)
    await server.close()

    assert result.is_error
    assert says in words(result)


async def test_a_long_query_is_prepared_as_it_is_searched(
    board: Pegboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    prepare, search = Toolset.prepare_search, Toolset.search

    async def note_question(toolset: Toolset, question: str, principal: Principal) -> Toolset:
        asked.append(question)
        return await prepare(toolset, question, principal)

    def note_search(toolset: Toolset, query: str, **wanted: Any) -> Any:
        asked.append(query)
        return search(toolset, query, **wanted)

    monkeypatch.setattr(Toolset, "prepare_search", note_question)
    monkeypatch.setattr(Toolset, "search", note_search)
    server = BoardServer(board, selection=BoardSelection(listed=("",)))
    async with a_client(server, "legacy") as client:
        await client.call_tool("find_tools", {"query": "add two numbers " * 100})
    await server.close()

    assert len(asked) == 2
    assert asked[0] == asked[1]


async def test_what_is_not_selected_is_neither_found_nor_called(board: Pegboard) -> None:
    selection = BoardSelection(listed=("",), exclude=("add",))
    server = BoardServer(board, selection=selection)
    async with a_client(server, "legacy") as client:
        found = await client.call_tool("find_tools", {"query": "add two numbers"})
        called = await client.call_tool("call_tool", {"name": "add", "arguments": {"a": 1, "b": 2}})
    await server.close()

    assert '{"name":"add"' not in words(found)
    assert "not found" in words(called)


async def test_without_the_choice_a_meta_tool_is_unknown(board: Pegboard) -> None:
    server = BoardServer(board)
    async with a_client(server, "legacy") as client:
        with pytest.raises(MCPError, match="'find_tools' not found"):
            await client.call_tool("find_tools", {"query": "x"})
    await server.close()
