"""The MCP door answers although sources hang, and tells its clients what has come since."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp.shared.exceptions import MCPError
from tests.runtime.slow import late_api
from tests.servers.mcp.made import a_client, a_server
from tests.servers.mcp.test_handlers import words

from pegboard.runtime import Pegboard, Settings
from pegboard.servers.mcp.selection import BoardSelection

HEAD = "network: {allow_hosts: [127.0.0.1]}\nsources:\n  - {kind: builtin, name: std}\n"


@asynccontextmanager
async def _opened(path: Path, settings: Settings) -> AsyncGenerator[Pegboard]:
    """A board whose own tools are there."""
    async with Pegboard(path, settings=settings) as board:
        await board.wait_for("std__echo")
        yield board


async def test_a_client_is_told_of_tools_that_come_late_and_its_calls_wait_for_them(
    tmp_path: Path,
) -> None:
    path = tmp_path / "board.yaml"
    async with late_api() as api:
        path.write_text(f"{HEAD}  - {api.source}\n")
        settings = Settings(open_patience=0.2, list_timeout=60)
        async with (
            _opened(path, settings) as board,
            a_server(board) as server,
            a_client(server, "2026-07-28") as client,
            client.listen(tools_list_changed=True) as stream,
        ):
            before = {tool.name for tool in (await client.list_tools()).tools}
            calling = asyncio.create_task(client.call_tool("late__stock", {}))
            await asyncio.sleep(0.1)
            early = calling.done()
            api.answers.set()
            told = await anext(stream)
            result = await calling
            after = {tool.name for tool in (await client.list_tools()).tools}

    assert "std__echo" in before
    assert not early
    assert type(told).__name__ == "ToolsListChanged"
    assert words(result) == "7"
    assert after - before >= {"late__stock", "late__refill"}


async def test_a_part_holds_for_tools_that_come_late_as_well(tmp_path: Path) -> None:
    path = tmp_path / "board.yaml"
    async with late_api() as api:
        path.write_text(f"{HEAD}  - {api.source}\n")
        settings = Settings(open_patience=0.2, list_timeout=60)
        async with (
            _opened(path, settings) as board,
            a_server(board, selection=BoardSelection(sources=("std",))) as server,
            a_client(server, "2026-07-28") as client,
        ):
            calling = asyncio.create_task(client.call_tool("late__stock", {}))
            await asyncio.sleep(0.1)
            api.answers.set()
            with pytest.raises(MCPError, match="late__stock"):
                await calling
