"""The storage of a board without a data directory."""

import pytest
from tests.storage.made import a_start, ids

from pegboard.errors import Unavailable
from pegboard.storage import MemoryStorage, Storage


async def test_it_ends_with_its_block() -> None:
    async with MemoryStorage() as storage:
        await storage.journal.started(a_start())
        inside = await ids(storage)

    assert inside == ["w1"]
    with pytest.raises(Unavailable, match="closed"):
        await ids(storage)


async def test_two_of_them_share_nothing() -> None:
    first: Storage = MemoryStorage()
    second: Storage = MemoryStorage()

    await first.journal.started(a_start())

    assert await ids(second) == []
