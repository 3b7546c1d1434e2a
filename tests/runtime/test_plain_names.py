"""A built-in tool is found by its plain name on a board, while no other tool has it."""

from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from tests.servers.http.made import client_of
from tests.servers.mcp.made import a_client, a_server

from pegboard import ToolContext, tool
from pegboard.core.graph import Graph, Node, NodeState
from pegboard.core.ports.call_stores import HistoryQuery
from pegboard.core.principal import LOCAL
from pegboard.errors import AccessDenied, ApprovalRequired, SourceUnavailable, ToolNotFound
from pegboard.execution.wait_for_source import wait_for_graph_sources
from pegboard.graphs import run_graph
from pegboard.runtime import Pegboard, Settings

SIX = {"expression": "6 * 7"}


def a_board(folder: Path, rest: str = "", **settings: Any) -> Pegboard:
    path = folder / "board.yaml"
    path.write_text(f"sources: [{{kind: builtin, name: std}}]\n{rest}\n")
    return Pegboard(path, settings=Settings(**settings))


@tool(effect="read")
async def relay(name: str, ctx: ToolContext[Any]) -> Any:
    """Call another tool."""
    return (await ctx.call(name, SIX)).unwrap()


def calculator(expression: str) -> str:
    """Calculate in another way."""
    return f"mine: {expression}"


async def test_a_plain_name_means_the_built_in_tool(tmp_path: Path) -> None:
    async with a_board(tmp_path) as board:
        await board.wait_for_sources()
        result = await board.call("calculator", SIX)
        await board.flush()
        [record] = (await board.history.calls(HistoryQuery())).calls

    assert result.unwrap() == 42
    assert record["tool"] == "std__calculator"


async def test_a_tool_of_that_name_goes_first_for_as_long_as_it_is_there(tmp_path: Path) -> None:
    async with a_board(tmp_path) as board:
        await board.wait_for_sources()
        before = (await board.call("calculator", SIX)).unwrap()
        board.registry.add(calculator)
        own = (await board.call("calculator", SIX)).unwrap()
        by_full_name = (await board.call("std__calculator", SIX)).unwrap()
        board.registry.remove("calculator")
        after = (await board.call("calculator", SIX)).unwrap()

    assert (before, own, by_full_name, after) == (42, "mine: 6 * 7", 42, 42)


@pytest.mark.parametrize("on_demand", [True, False], ids=["on demand", "at once"])
async def test_a_plain_name_waits_until_the_source_is_open(tmp_path: Path, on_demand: bool) -> None:
    async with a_board(tmp_path, open_on_demand=on_demand) as board:
        result = await board.call("calculator", SIX)

    assert result.unwrap() == 42


async def test_an_unavailable_tool_says_why_under_its_plain_name(tmp_path: Path) -> None:
    async with a_board(tmp_path) as board:
        result = await board.call("web_search", {"query": "pears"})

    assert isinstance(result.error, SourceUnavailable)
    assert "set PEGBOARD_SEARCH_PROVIDER" in result.text


async def test_a_plain_name_is_no_way_around_a_rule(tmp_path: Path) -> None:
    async with a_board(tmp_path, 'policy: {ask: ["std__calc*", "echo"]}') as board:
        await board.wait_for_sources()
        by_wire_name = await board.call("calculator", SIX)
        by_plain_name = [await board.call(name, {"message": "x"}) for name in ("echo", "std__echo")]
        unused = board.registry.environment.policy.find_unused(item.spec for item in board.registry)

    assert isinstance(by_wire_name.error, ApprovalRequired)
    assert [type(result.error) for result in by_plain_name] == [ApprovalRequired] * 2
    assert unused == ()


@pytest.mark.parametrize("rule", ["std__calc*", "calculator"])
async def test_a_plain_name_does_not_tell_the_name_of_a_hidden_tool(
    tmp_path: Path, rule: str
) -> None:
    async with a_board(tmp_path, f'policy: {{deny: ["{rule}"]}}') as board:
        await board.wait_for_sources()
        result = await board.call("calculator", SIX)
        await board.flush()
        [record] = (await board.history.calls(HistoryQuery())).calls
        said = await board.call("std__calculator", SIX)

    assert isinstance(result.error, ToolNotFound)
    assert "std__" not in result.text
    assert record["tool"] == "calculator"
    assert isinstance(said.error, AccessDenied)


async def test_a_denied_tool_is_unknown_over_mcp_by_its_plain_name(
    tmp_path: Path, era: str
) -> None:
    async with a_board(tmp_path, 'policy: {deny: ["std__calc*"]}') as board:
        await board.wait_for_sources()
        async with a_server(board) as server, a_client(server, era) as client:
            with pytest.raises(MCPError, match="Tool 'calculator' not found"):
                await client.call_tool("calculator", SIX)
            denied = await client.call_tool("std__calculator", SIX)

    assert denied.is_error
    assert "'std__calc*'" in str(denied.content)


async def test_a_graph_names_a_built_in_tool_plainly_before_its_source_is_open(
    tmp_path: Path,
) -> None:
    graph = Graph(nodes=(Node(id="sum", tool="calculator", input=SIX),))
    async with a_board(tmp_path, open_on_demand=True) as board:
        registry = board.registry
        await wait_for_graph_sources(registry.environment, graph, find=registry.find)
        ran = await run_graph(graph, board=registry)

    assert (ran.state, ran.output) == (NodeState.COMPLETED, {"sum": 42})


async def test_a_tool_calls_another_by_its_plain_name(tmp_path: Path) -> None:
    async with a_board(tmp_path) as board:
        board.registry.add(relay)
        result = await board.call("relay", {"name": "calculator"})

    assert result.unwrap() == 42


async def test_http_takes_a_plain_name_and_answers_with_the_id(tmp_path: Path) -> None:
    async with client_of(a_board(tmp_path)) as client:
        called = await client.post("/execute", json={"name": "calculator", "input": SIX})
        shown = await client.get("/tools/calculator")

    assert (called.json()["tool_id"], called.json()["output"]) == ("std__calculator_v1", 42)
    assert shown.json()["name"] == "std__calculator"


async def test_a_plain_name_is_offered_by_no_list(tmp_path: Path) -> None:
    async with a_board(tmp_path) as board:
        await board.wait_for_sources()
        listed = {item.spec.name for item in board.registry.visible(LOCAL)}

    assert "std__calculator" in listed
    assert "calculator" not in listed


async def _names(client: Client) -> set[str]:
    return {item.name for item in (await client.list_tools()).tools}


async def test_without_a_board_file_mcp_lists_plain_names(era: str) -> None:
    async with Pegboard(settings=Settings()) as board, a_server(board) as server:
        await board.wait_for_sources()
        async with a_client(server, era) as client:
            names = await _names(client)
            plain = await client.call_tool("calculator", SIX)
            full = await client.call_tool("builtin__calculator", SIX)

    assert {"calculator", "echo", "board__read_result"} <= names
    assert not [name for name in names if name.startswith("builtin__")]
    assert "web_search" not in names  # unavailable without its settings
    assert plain.structured_content == full.structured_content == {"result": 42}


async def test_without_a_board_file_a_tool_of_ones_own_keeps_its_name(era: str) -> None:
    async with Pegboard(tools=[calculator], settings=Settings()) as board:
        await board.wait_for_sources()
        async with a_server(board) as server, a_client(server, era) as client:
            names = await _names(client)
            own = await client.call_tool("calculator", SIX)

    assert {"calculator", "builtin__calculator", "echo"} <= names
    assert own.structured_content == {"result": "mine: 6 * 7"}


async def test_a_board_file_shows_the_names_of_its_sources_and_takes_plain_ones(
    tmp_path: Path, era: str
) -> None:
    async with a_board(tmp_path) as board, a_server(board) as server:
        await board.wait_for_sources()
        async with a_client(server, era) as client:
            names = await _names(client)
            result = await client.call_tool("calculator", SIX)

    assert "std__calculator" in names
    assert "calculator" not in names
    assert result.structured_content == {"result": 42}


@pytest.fixture(params=["legacy", "2026-07-28"])
def era(request: pytest.FixtureRequest) -> str:
    """One of the eras of the protocol."""
    return str(request.param)
