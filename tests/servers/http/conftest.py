"""An open board behind its door, without a token."""

from collections.abc import AsyncGenerator
from pathlib import Path

import httpx2
import pytest
from tests.servers.http.made import NOTES, a_board, client_of

from pegboard.runtime import Pegboard


@pytest.fixture
async def board(tmp_path: Path) -> AsyncGenerator[Pegboard]:
    """The board of `made.py`, open."""
    NOTES.clear()
    async with a_board(tmp_path) as opened:
        yield opened


@pytest.fixture
async def client(board: Pegboard) -> AsyncGenerator[httpx2.AsyncClient]:
    """A local client of the board's door."""
    async with client_of(board) as opened:
        yield opened
