"""Results and outcomes in memory are forgotten beyond their bounds."""

import pytest
from tests.storage.made import NOON, a_result, an_outcome

from pegboard.core.result import ToolResult
from pegboard.errors import Overloaded, Unavailable
from pegboard.storage import MemoryStorage
from pegboard.testing import FakeClock


async def test_old_results_make_room_for_new_ones(clock: FakeClock) -> None:
    storage = MemoryStorage(clock=clock, max_result_bytes=10)
    await storage.results.put(a_result("expired", body=b"1234", expires_at=NOON))
    await storage.results.put(a_result("old", body=b"1234"))
    await storage.results.put(a_result("new", body=b"123456"))

    kept = [await storage.results.get(handle, "acme/ada") for handle in ("old", "new")]
    await storage.results.put(a_result("newest", body=b"1234567890"))
    left = [await storage.results.get(handle, "acme/ada") for handle in ("old", "new", "newest")]

    assert [result is not None for result in kept] == [True, True]
    assert [result is not None for result in left] == [False, False, True]


async def test_a_result_beyond_all_bounds_is_refused_with_advice(clock: FakeClock) -> None:
    storage = MemoryStorage(clock=clock, max_result_bytes=10)
    await storage.results.put(a_result("small", body=b"1"))

    with pytest.raises(Unavailable, match=r"11 bytes does not fit .* a data directory"):
        await storage.results.put(a_result("large", body=b"12345678901"))

    assert await storage.results.get("small", "acme/ada") is not None


async def test_settled_keys_make_room_and_running_ones_do_not(clock: FakeClock) -> None:
    storage = MemoryStorage(clock=clock, max_outcomes=2)
    await storage.outcomes.claim(an_outcome("running"))
    await storage.outcomes.claim(an_outcome("settled"))
    await storage.outcomes.settle("acme/ada", "settled", ToolResult(content="done"))

    assert await storage.outcomes.claim(an_outcome("next")) is None
    with pytest.raises(Overloaded, match="Too many calls"):
        await storage.outcomes.claim(an_outcome("one more"))
    assert await storage.outcomes.claim(an_outcome("running")) is not None


async def test_expired_keys_make_room(clock: FakeClock) -> None:
    storage = MemoryStorage(clock=clock, max_outcomes=1, outcome_ttl=60.0)
    await storage.outcomes.claim(an_outcome("old"))
    clock.advance(60)

    assert await storage.outcomes.claim(an_outcome("new", created_at=clock.time())) is None
