"""The storage of a board without a data directory."""

import pytest
from tests.storage.made import a_result, a_start, an_outcome, ids

from pegboard.errors import Overloaded, Unavailable
from pegboard.storage import MemoryStorage, Storage
from pegboard.testing import FakeClock


async def test_it_ends_with_its_block() -> None:
    async with MemoryStorage() as storage:
        await storage.journal.record_start(a_start())
        inside = await ids(storage)

    assert inside == ["w1"]
    with pytest.raises(Unavailable, match="closed"):
        await ids(storage)


async def test_its_bounds_are_those_that_were_given(clock: FakeClock) -> None:
    storage = MemoryStorage(clock=clock, max_result_bytes=600, max_outcomes=1, outcome_ttl=60.0)
    await storage.results.put(a_result("old", body=b"x" * 80))
    await storage.results.put(a_result("new", body=b"x" * 80))
    await storage.outcomes.claim(an_outcome("old"))
    with pytest.raises(Overloaded):
        await storage.outcomes.claim(an_outcome("new"))
    clock.advance(60)

    assert await storage.results.get("old", "acme/ada") is None
    assert await storage.results.get("new", "acme/ada") is not None
    assert await storage.outcomes.claim(an_outcome("new", created_at=clock.time())) is None


async def test_two_of_them_share_nothing() -> None:
    first: Storage = MemoryStorage()
    second: Storage = MemoryStorage()

    await first.journal.record_start(a_start())

    assert await ids(second) == []
