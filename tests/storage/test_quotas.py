"""Quotas, and what was used of them, in every storage."""

from msgspec import structs
from tests.storage.made import NOON

from pegboard.core.ports.quota_store import Quota, QuotaUsage
from pegboard.storage import Storage

A_QUOTA = Quota(measure="calls", window="day", limit=100.0, person="u_ada", changed_at=NOON)
A_USAGE = QuotaUsage(counter="u_ada  calls 2026-01-01", used=3.0, ends_at=NOON + 60)


async def test_a_quota_is_stored_changed_and_removed(storage: Storage) -> None:
    unlimited = structs.replace(A_QUOTA, limit=None, organisation="acme", setter="administrator")
    await storage.quotas.put(A_QUOTA)
    await storage.quotas.put(unlimited)
    before = await storage.quotas.stamp()
    changed = structs.replace(A_QUOTA, limit=5.0, changed_at=NOON + 1)
    await storage.quotas.put(changed)

    assert await storage.quotas.stamp() != before
    assert list(await storage.quotas.quotas()) == [changed, unlimited]
    before = await storage.quotas.stamp()
    assert await storage.quotas.remove(A_QUOTA.key)
    assert await storage.quotas.stamp() != before
    assert not await storage.quotas.remove(A_QUOTA.key)
    assert list(await storage.quotas.quotas()) == [unlimited]


async def test_what_two_servers_used_is_added_up(storage: Storage, other: Storage) -> None:
    more = structs.replace(A_USAGE, used=0.5)
    ended = QuotaUsage(counter="u_ada  calls 2025-12-31", used=9.0, ends_at=NOON - 1)
    await storage.quotas.add([A_USAGE, ended])
    await other.quotas.add([more])

    both = structs.replace(A_USAGE, used=3.5)
    assert list(await storage.quotas.usage(at=NOON)) == [both]
    assert await other.quotas.read_counters([A_USAGE.counter, "nothing"]) == {A_USAGE.counter: 3.5}


async def test_a_window_that_has_ended_is_swept(storage: Storage) -> None:
    await storage.quotas.add([structs.replace(A_USAGE, ends_at=NOON - 1)])
    await storage.sweep()

    assert await storage.quotas.read_counters([A_USAGE.counter]) == {}
