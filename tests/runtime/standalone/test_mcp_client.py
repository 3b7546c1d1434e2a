"""MCP servers for a registry of one's own, with and without an event loop."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from tests.sources.mcp.opening import STDIO, WORKSHOP, children, over_http
from tests.sources.mcp.rogue import PLAIN, result, rogue
from tests.sources.mcp.workshop import server as workshop

from pegboard import MCPClient, MCPConnectionError, ToolRegistry, tool
from pegboard.errors import InvalidRequest, ToolFailed

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]  # servers take seconds to start
COMMAND = [sys.executable, str(WORKSHOP)]
OTHER = {**PLAIN, "name": "other"}
LISTED = rogue(tools_list=[result({"tools": [PLAIN, OTHER]})])
TWO = {"mcpServers": {"one": LISTED, "two": {**LISTED, "include": ["plain"]}}}


@pytest.fixture(scope="module")
def client() -> Iterator[MCPClient]:
    with MCPClient({"mcpServers": {"shop": STDIO}}) as opened:
        yield opened


def test_its_tools_go_into_any_registry_beside_others(client: MCPClient) -> None:
    @tool(effect="read")
    def double(number: int) -> int:
        """Double it."""
        return number * 2

    registry = ToolRegistry([double, *client.as_tools()])

    assert registry.call_sync("shop__add", {"a": 2, "b": 3}).unwrap() == {"result": 5}
    assert "shop__add" in registry.names()


def test_a_call_goes_by_the_name_here_or_by_the_servers_own(client: MCPClient) -> None:
    assert client.call_tool("add", {"a": 1, "b": 2}).unwrap() == {"result": 3}
    assert client.call_tool("shop__add", '{"a": 1, "b": "2"}').unwrap() == {"result": 3}


def test_its_tools_are_called_as_functions(client: MCPClient) -> None:
    tools = {item.spec.name: item for item in client.as_tools()}

    assert tools["shop__add"](a=2, b="3") == {"result": 5}
    with pytest.raises(ToolFailed, match="the drawer is stuck"):
        tools["shop__fail"]()


def test_what_a_tool_refuses_is_a_result_and_a_lost_connection_an_error(client: MCPClient) -> None:
    refused = client.call_tool("fail")
    with pytest.raises(MCPConnectionError, match="out of glue"):
        client.call_tool("die")
    again = client.call_tool("add", {"a": 1, "b": 2})

    assert refused.is_error
    assert "the drawer is stuck" in refused.text
    assert again.unwrap() == {"result": 3}


def test_the_tools_are_a_snapshot_and_refresh_lists_again(client: MCPClient) -> None:
    client.call_tool("grow", {"name": "late"})
    names = {item.spec.name for item in client.refresh()}

    assert "shop__late" in names
    assert "shop__late" in {item.spec.name for item in client.as_tools()}
    client.ping()


async def test_a_client_made_without_a_loop_is_used_from_one(client: MCPClient) -> None:
    registry = ToolRegistry(client.as_tools())
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(registry.call("shop__add", {"a": number, "b": 1}))
            for number in range(5)
        ]

    assert [task.result().unwrap()["result"] for task in tasks] == [1, 2, 3, 4, 5]


async def test_on_a_loop_the_connection_lives_there_and_its_tools_are_awaited() -> None:
    async with MCPClient(COMMAND, name="shop") as client:
        result = await client.call_tool("add", {"a": 1, "b": 2})
        await client.ping()
        registry = ToolRegistry(client.as_tools())
        from_a_thread = await asyncio.to_thread(registry.call_sync, "shop__add", {"a": 2, "b": 2})
        [add] = [item for item in client.as_tools() if item.spec.action == "add"]
        awaited = await add(a=2, b=3)

    assert result.unwrap() == {"result": 3}
    assert from_a_thread.unwrap() == {"result": 4}
    assert awaited == {"result": 5}


async def test_a_closed_client_says_that_it_is_closed() -> None:
    async with MCPClient(rogue()) as client:
        [plain] = client.as_tools()
    registry = ToolRegistry([plain])

    for use in (client.ping, client.refresh, client.connect, lambda: client.call_tool("plain")):
        with pytest.raises(InvalidRequest, match="This MCPClient is closed: make a new one"):
            await use()
    result = await registry.call(plain.spec.name, {})
    assert result.text == "MCP server 'mcp' is closed. Trying again does not help."


async def test_a_tool_that_comes_later_is_listed_by_itself() -> None:
    async with MCPClient(COMMAND, name="shop") as client:
        await client.call_tool("grow", {"name": "late"})
        while "shop__late" not in {item.spec.name for item in client.as_tools()}:  # noqa: ASYNC110 - what is waited for is a server's doing
            await asyncio.sleep(0.01)


async def test_an_address_written_into_the_program_may_be_this_machines() -> None:
    async with over_http(workshop) as door, MCPClient(door.url) as client:
        result = await client.call_tool("mcp__add", {"a": 1, "b": 2})

    assert result.unwrap() == {"result": 3}


def test_of_several_servers_an_ambiguous_name_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps(TWO))
    with MCPClient(file) as client:
        with pytest.raises(InvalidRequest, match="one__plain, two__plain"):
            client.call_tool("plain")
        assert client.call_tool("two__plain").unwrap() == "well"
        assert client.call_tool("other").unwrap() == "well"


@pytest.mark.parametrize(
    ("server", "says"),
    [
        ("no-such-program", "no program 'no-such-program'"),
        ("http://127.0.0.1:9/mcp", "refuses the connection"),
        ({"mcpServers": {"a": rogue(), "b": {"command": "false"}}}, "'b'.*exit code 1"),
    ],
    ids=["command", "url", "one-of-two"],
)
def test_a_connection_that_fails_says_so_at_once_and_leaves_nothing(
    server: object, says: str
) -> None:
    before = len(children())
    with pytest.raises(MCPConnectionError, match=says):
        MCPClient(server)  # type: ignore[arg-type]  # each is one of what it takes

    assert len(children()) == before


def test_what_a_server_lists_wrongly_is_told_and_the_rest_is_there() -> None:
    listed = [PLAIN, {"name": "no-schema"}]
    with MCPClient(rogue(tools_list=[result({"tools": listed})]), name="shop") as client:
        names = [item.spec.name for item in client.as_tools()]
        problems = client.problems

    assert names == ["shop__plain"]
    (problem,) = problems
    assert problem.startswith("MCP server 'shop' lists tools that cannot be used:")
    assert problem.endswith("'no-schema' (at 'inputSchema': Field required).")


@pytest.mark.slow
@pytest.mark.timeout(30)
def test_a_program_that_forgets_to_close_leaves_no_process_and_no_complaint(
    tmp_path: Path,
) -> None:
    number = tmp_path / "pid"
    program = (
        "from pegboard import MCPClient\n"
        f"client = MCPClient([{sys.executable!r}, {str(WORKSHOP)!r}, {str(number)!r}])\n"
        "print(client.call_tool('add', {'a': 1, 'b': 2}).structured)\n"
    )
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", program],
        capture_output=True,
        check=True,
        text=True,
        timeout=25,
    )

    assert done.stdout == "{'result': 3}\n"
    assert "ResourceWarning" not in done.stderr
    assert not psutil.pid_exists(int(number.read_text()))
