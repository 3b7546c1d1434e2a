"""A board, a server of it that really listens, and a client."""

import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from tests.servers.http.made import TOOLS, a_board
from tests.servers.http.websocket.sockets import Client, connected, served

from pegboard import Pegboard, ToolContext, tool


@tool(effect="read")
async def climb(steps: int, ctx: ToolContext[Any]) -> str:
    """Tell of each step."""
    for step in range(steps):
        await ctx.progress(step + 1, total=steps, message=f"step {step + 1}")
        await asyncio.sleep(0.01)
    return "up"


@tool(effect="read", max_result_bytes=0)
def weigh(size: int) -> str:
    """Give a lot."""
    return "x" * size


@pytest.fixture
async def board(tmp_path: Path) -> AsyncGenerator[Pegboard]:
    """The board of `made.py`, with tools that tell and give a lot."""
    async with a_board(tmp_path, tools=(*TOOLS, climb, weigh)) as opened:
        yield opened


@pytest.fixture
async def client(board: Pegboard) -> AsyncGenerator[Client]:
    """A client of the whole server."""
    async with served(board) as url, connected(url) as opened:
        yield opened


@pytest.fixture
def many() -> list[str]:
    """Ten thousand calls."""
    call = {"type": "call", "body": {"name": "add", "input": {"a": 1}}}
    return [json.dumps({"id": f"n{number}", **call}) for number in range(10_000)]
