"""An open board behind its door, and a client in each era."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from tests.servers.mcp.made import ERAS, Records, a_board, a_client, a_server, held

from pegboard.runtime import Pegboard
from pegboard.servers.mcp.server import BoardServer


@pytest.fixture
def records() -> Records:
    """What was called."""
    return Records()


@pytest.fixture
async def board(tmp_path: Path, records: Records) -> AsyncGenerator[Pegboard]:
    """The board of `made.py`, open."""
    async with a_board(tmp_path, records=records) as opened:
        yield opened


@pytest.fixture
async def server(board: Pegboard) -> AsyncGenerator[BoardServer]:
    """Its door."""
    async with a_server(board, debounce=0.01) as made:
        yield made


@pytest.fixture(params=ERAS, ids=["2025-11-25", "2026-07-28"])
def era(request: pytest.FixtureRequest) -> str:
    """One of the eras of the protocol."""
    return str(request.param)


@pytest.fixture
async def client(server: BoardServer, era: str) -> AsyncGenerator[Any]:
    """A client in that era."""
    async with held(a_client(server, era)) as opened:
        yield opened
