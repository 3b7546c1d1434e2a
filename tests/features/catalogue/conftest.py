"""What the servers of these tests share."""

from collections.abc import AsyncGenerator

import pytest

from pegboard.storage import MemoryStorage


@pytest.fixture
async def storage() -> AsyncGenerator[MemoryStorage]:
    """A store that is open."""
    async with MemoryStorage() as opened:
        yield opened
