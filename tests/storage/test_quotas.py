"""Quotas, and what was used of them, in every storage."""

import asyncio

from msgspec import structs
from tests.storage.made import NOON

from pegboard.core.ports.accounts.quota_store import Quota, QuotaUsage
from pegboard.core.principal import Principal
from pegboard.errors import QuotaExceeded
from pegboard.execution.limits.quotas import QuotaMeter
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


async def test_a_change_is_noticed_beside_a_later_one_that_was_stored_before(
    storage: Storage,
) -> None:
    cost = structs.replace(A_QUOTA, measure="cost", changed_at=NOON + 2)
    await storage.quotas.put(A_QUOTA)
    await storage.quotas.put(cost)
    before = await storage.quotas.stamp()
    await storage.quotas.put(structs.replace(A_QUOTA, limit=5.0, changed_at=NOON + 1))

    assert await storage.quotas.stamp() != before


async def test_what_two_servers_used_is_added_up(storage: Storage, other: Storage) -> None:
    more = structs.replace(A_USAGE, used=0.5)
    ended = QuotaUsage(counter="u_ada  calls 2025-12-31", used=9.0, ends_at=NOON - 1)
    await storage.quotas.add([A_USAGE, ended])
    total = await other.quotas.add([more])

    both = structs.replace(A_USAGE, used=3.5)
    assert total == {A_USAGE.counter: 3.5}
    assert list(await storage.quotas.usage(at=NOON)) == [both]
    assert await other.quotas.read_counters([A_USAGE.counter, "nothing"]) == {A_USAGE.counter: 3.5}


async def test_a_window_that_has_ended_is_swept(storage: Storage) -> None:
    await storage.quotas.add([structs.replace(A_USAGE, ends_at=NOON - 1)])
    await storage.sweep()

    assert await storage.quotas.read_counters([A_USAGE.counter]) == {}


async def test_two_servers_never_exceed_a_quota_together(storage: Storage, other: Storage) -> None:
    ada = Principal(id="u_ada", user="u_ada")
    await storage.quotas.put(structs.replace(A_QUOTA, limit=15.0))
    servers = [QuotaMeter(store.quotas, is_shared=True) for store in (storage, other)]
    for meter in servers:
        await meter.load()

    async def call(meter: QuotaMeter) -> bool:
        try:
            if not meter.count_call(ada):
                await meter.count_call_in_store(ada)
        except QuotaExceeded:
            return False
        return True

    first = await asyncio.gather(*(call(meter) for meter in servers * 7))
    rest = [await call(meter) for meter in servers]
    await asyncio.gather(*(call(meter) for meter in servers * 3))

    (usage,) = await storage.quotas.usage(at=0.0)
    assert (sum(first), sum(rest), usage.used) == (14, 1, 15.0)
    for meter in servers:
        await meter.follow()
    assert [meter.list_states(ada)[0].used for meter in servers] == [15.0, 15.0]


async def test_two_servers_exceed_a_quota_of_costs_by_no_answer_more(
    storage: Storage, other: Storage
) -> None:
    ada = Principal(id="u_ada", user="u_ada")
    await storage.quotas.put(structs.replace(A_QUOTA, measure="cost", limit=2.0))
    servers = [QuotaMeter(store.quotas, is_shared=True) for store in (storage, other)]
    for meter in servers:
        await meter.load()
        await meter.end_cost(await meter.begin_cost(ada), 0.25)
        await meter.save()

    async def answer(meter: QuotaMeter) -> bool:
        try:
            hold = await meter.begin_cost(ada)
        except QuotaExceeded:
            return False
        await asyncio.sleep(0.1)
        await meter.end_cost(hold, 0.25)
        return True

    given = await asyncio.gather(*(answer(meter) for meter in servers * 10))

    (usage,) = await storage.quotas.usage(at=0.0)
    assert (sum(given), usage.used) == (6, 2.0)
