"""A call counts once it would run, and is refused beyond what its account may."""

import pytest
from tests.execution.made import Following, a_call, a_kit, a_spec, a_target

from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.core.ports.accounts.quota_store import Quota
from pegboard.core.principal import Principal
from pegboard.errors import QuotaExceeded
from pegboard.execution.limits.quotas import QuotaMeter
from pegboard.execution.steps.quota import quota
from pegboard.storage.memory.quotas import MemoryQuotas

ADA = Principal(id="u_ada", user="u_ada", tenant="acme")


def test_without_counters_the_step_is_left_out() -> None:
    following = Following()

    assert quota(a_target(a_spec()), a_kit(), following) is following


async def test_a_call_beyond_the_quota_does_not_run() -> None:
    meter = QuotaMeter(MemoryQuotas(ClosableLock()))
    meter.use([Quota(measure="calls", window="day", limit=1.0, person="u_ada")])
    following = Following()
    handle = quota(a_target(a_spec()), a_kit(quotas=meter), following)

    await handle(a_call(principal=ADA))
    with pytest.raises(QuotaExceeded):
        await handle(a_call(principal=ADA))
    await handle(a_call())  # of a caller without an account

    assert following.calls == 2


async def test_close_to_a_quota_that_servers_share_a_call_is_counted_in_the_store() -> None:
    store = MemoryQuotas(ClosableLock())
    meters = [QuotaMeter(store, is_shared=True) for _ in range(2)]
    await meters[0].put(Quota(measure="calls", window="day", limit=1.0, person="u_ada"))
    await meters[1].load()
    following = Following()
    first, second = (quota(a_target(a_spec()), a_kit(quotas=it), following) for it in meters)

    await first(a_call(principal=ADA))
    with pytest.raises(QuotaExceeded):
        await second(a_call(principal=ADA))

    assert following.calls == 1
