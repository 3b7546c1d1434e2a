"""The counters behind quotas: who is counted, what is refused, and what servers share."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec import structs

from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.core.ports.accounts.quota_store import Quota, QuotaUsage
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import QuotaExceeded, Unavailable
from pegboard.execution.limits.quotas import NO_DEFAULTS, QuotaDefaults, QuotaMeter
from pegboard.storage.memory.quotas import MemoryQuotas

EVENING = datetime(2026, 1, 31, 23, 59, 59, tzinfo=UTC).timestamp()
ADA = Principal(id="u_ada", user="u_ada", tenant="acme", organisations=frozenset({"acme"}))
BOB = Principal(id="u_bob", user="u_bob", tenant="acme", organisations=frozenset({"acme"}))
ROBOT = Principal(id="s_bot", user="s_bot", kind="service", tenant="acme")


class Clock:
    def __init__(self) -> None:
        self.now = EVENING

    def __call__(self) -> float:
        return self.now


def a_quota(limit: float | None = 2.0, **fields: Any) -> Quota:
    return structs.replace(Quota(measure="calls", window="day", limit=limit), **fields)


def a_meter(
    *quotas: Quota,
    now: Clock | None = None,
    defaults: Callable[[], QuotaDefaults] = lambda: NO_DEFAULTS,
) -> QuotaMeter:
    meter = QuotaMeter(MemoryQuotas(ClosableLock()), now=now or Clock(), defaults=defaults)
    meter.use(quotas)
    return meter


def count(meter: QuotaMeter, principal: Principal, times: int = 1) -> None:
    for _ in range(times):
        meter.count_call(principal)


def test_the_call_beyond_a_quota_is_refused_and_says_when_the_next_may_come() -> None:
    meter = a_meter(a_quota(person="u_ada"))
    count(meter, ADA, 2)

    with pytest.raises(QuotaExceeded) as refused:
        meter.count_call(ADA)

    error = refused.value
    assert str(error) == (
        "The quota of 2 calls a day of this account is used up: 2 used. "
        "It begins anew at 2026-02-01 00:00 UTC."
    )
    assert (error.limit, error.used, error.retry_after) == (2.0, 2.0, 1.0)
    assert error.resets_at == EVENING + 1
    assert not error.retryable


def test_a_refused_call_uses_nothing_of_any_quota() -> None:
    meter = a_meter(a_quota(person="u_ada", limit=5), a_quota(organisation="acme", limit=1))
    count(meter, BOB)

    with pytest.raises(QuotaExceeded, match="organisation 'acme'"):
        meter.count_call(ADA)

    assert [state.used for state in meter.list_states(ADA)] == [0.0, 1.0]


def test_a_day_ends_and_a_month_goes_on() -> None:
    clock = Clock()
    clock.now -= 86_400
    meter = a_meter(
        a_quota(person="u_ada", limit=1),
        a_quota(person="u_ada", limit=2, window="month"),
        now=clock,
    )
    count(meter, ADA)
    with pytest.raises(QuotaExceeded, match="calls a day"):
        meter.count_call(ADA)

    clock.now += 86_400
    count(meter, ADA)
    with pytest.raises(QuotaExceeded):
        meter.count_call(ADA)

    clock.now += 1
    count(meter, ADA)


@pytest.mark.parametrize(
    ("quota", "limited"),
    [
        (a_quota(person="u_ada", limit=0), {"ada"}),
        (a_quota(organisation="acme", limit=0), {"ada", "bob", "robot"}),
        (a_quota(person="u_ada", organisation="acme", limit=0), {"ada"}),
        (a_quota(person="u_ada", organisation="zoo", limit=0), set[str]()),
        (a_quota(organisation="zoo", limit=0), set[str]()),
    ],
    ids=["person", "organisation", "person in it", "person in another", "another"],
)
def test_a_quota_holds_for_those_whom_it_names(quota: Quota, limited: set[str]) -> None:
    meter = a_meter(quota)
    refused: set[str] = set()
    for name, principal in {"ada": ADA, "bob": BOB, "robot": ROBOT, "local": LOCAL}.items():
        try:
            meter.count_call(principal)
        except QuotaExceeded:
            refused.add(name)

    assert refused == limited


@pytest.mark.parametrize(
    ("operators", "administrators", "used"),
    [(None, 1.0, 1), (3.0, 1.0, 1), (1.0, 3.0, 1), (3.0, None, 3), (None, None, 2)],
    ids=["below the default", "stricter", "looser", "instead of the default", "the default"],
)
def test_the_strictest_quota_holds_and_that_of_operators_replaces_the_default(
    operators: float | None, administrators: float | None, used: int
) -> None:
    defaults = QuotaDefaults(organisation={("calls", "day"): 2.0})
    quotas = [
        a_quota(limit, organisation="acme", setter=setter)
        for setter, limit in (("operator", operators), ("administrator", administrators))
        if limit is not None
    ]
    meter = a_meter(*quotas, defaults=lambda: defaults)
    count(meter, ADA, used)

    with pytest.raises(QuotaExceeded):
        meter.count_call(ADA)


def test_who_leaves_the_organisation_that_it_acted_for_counts_for_the_next() -> None:
    meter = a_meter(a_quota(organisation="zoo", limit=1))
    both = structs.replace(ADA, tenant="", organisations=frozenset({"zoo"}))
    count(meter, both)

    with pytest.raises(QuotaExceeded, match="'zoo'"):
        meter.count_call(both)


def test_operators_exempt_a_person_from_a_default_and_services_have_their_own() -> None:
    defaults = QuotaDefaults(person={("calls", "day"): 0.0}, service={("calls", "day"): 1.0})
    meter = a_meter(a_quota(None, person="u_ada"), defaults=lambda: defaults)

    count(meter, ADA, 5)
    count(meter, ROBOT)
    for principal in (BOB, ROBOT):
        with pytest.raises(QuotaExceeded):
            meter.count_call(principal)


def test_defaults_of_a_changed_board_file_hold_at_once() -> None:
    now = [QuotaDefaults(), QuotaDefaults(person={("calls", "day"): 1.0})]
    meter = a_meter(defaults=lambda: now[0])
    count(meter, ADA, 5)
    now.pop(0)

    count(meter, ADA)
    with pytest.raises(QuotaExceeded):
        meter.count_call(ADA)


async def spend(meter: QuotaMeter, principal: Principal, cost: float) -> None:
    await meter.end_cost(await meter.begin_cost(principal), cost)


async def test_what_models_cost_is_refused_once_it_is_spent_and_calls_are_not() -> None:
    meter = a_meter(a_quota(0.5, measure="cost", person="u_ada"))
    await spend(meter, ADA, 0.75)

    with pytest.raises(QuotaExceeded, match=r"quota of \$0\.50 of model cost .* \$0\.75 used"):
        await meter.begin_cost(ADA)
    count(meter, ADA)
    await meter.begin_cost(BOB)


async def test_answers_that_are_given_at_once_count_by_what_the_last_one_cost() -> None:
    store = MemoryQuotas(ClosableLock())
    one, two = (QuotaMeter(store, now=Clock(), is_shared=True) for _ in range(2))
    await one.put(a_quota(1.0, measure="cost", person="u_ada"))
    for meter in (one, two):
        await meter.load()
        await spend(meter, ADA, 0.25)

    held = [await one.begin_cost(ADA), await two.begin_cost(ADA)]
    for meter in (one, two):
        with pytest.raises(QuotaExceeded):
            await meter.begin_cost(ADA)
        await meter.follow()
        with pytest.raises(QuotaExceeded, match=r"\$1\.00 used"):
            await meter.begin_cost(ADA)
    one.add_cost(held[0], 0.0)  # it failed
    await one.save()
    await two.follow()
    await spend(two, ADA, 0.125)
    await two.end_cost(held[1], 0.125)

    assert [item.used for item in await store.usage(at=0.0)] == [0.75]


async def test_far_from_a_limit_no_cost_is_counted_in_the_store() -> None:
    store = MemoryQuotas(ClosableLock())
    meter = QuotaMeter(store, now=Clock(), is_shared=True)
    meter.use([a_quota(1_000.0, measure="cost", person="u_ada")])

    await spend(meter, ADA, 0.25)

    assert list(await store.usage(at=0.0)) == []
    assert meter.list_states(ADA)[0].used == 0.25


class BrokenQuotas(MemoryQuotas):
    """A store that is gone."""

    async def add(self, usages: Sequence[QuotaUsage]) -> dict[str, float]:
        raise Unavailable("gone")


async def test_close_to_a_limit_a_model_is_not_asked_while_the_store_is_gone() -> None:
    meter = QuotaMeter(BrokenQuotas(ClosableLock()), now=Clock(), is_shared=True)
    meter.use([a_quota(1.0, measure="cost", person="u_ada")])

    with pytest.raises(Unavailable):
        await meter.begin_cost(ADA)
    assert meter.list_states(ADA)[0].used == 0.0


async def test_two_servers_count_in_one_store_and_a_restart_forgets_nothing() -> None:
    store = MemoryQuotas(ClosableLock())
    one, two = (QuotaMeter(store, now=Clock()) for _ in range(2))
    await one.put(a_quota(4.0, person="u_ada"))
    await two.follow()
    count(one, ADA, 2)
    count(two, ADA, 1)
    for meter in (one, two, one):
        await meter.follow()
    count(two, ADA)
    await two.save()

    restarted = QuotaMeter(store, now=Clock())
    await restarted.load()
    with pytest.raises(QuotaExceeded):
        restarted.count_call(ADA)
    await one.follow()
    await one.follow(all_counters=True)
    with pytest.raises(QuotaExceeded):
        one.count_call(ADA)

    await two.remove(a_quota(person="u_ada").key)
    await one.follow()
    count(one, ADA)


async def test_far_from_a_limit_no_call_is_counted_in_the_store() -> None:
    store = MemoryQuotas(ClosableLock())
    meter = QuotaMeter(store, now=Clock(), is_shared=True)
    meter.use([a_quota(102.0, person="u_ada")])

    counted = [meter.count_call(ADA) for _ in range(3)]
    before = await store.usage(at=0.0)
    await meter.count_call_in_store(ADA)

    assert counted == [True, True, False]
    assert list(before) == []
    assert [item.used for item in await store.usage(at=0.0)] == [1.0]
    assert meter.list_states(ADA)[0].used == 3.0


class SlowToAnswer(MemoryQuotas):
    """A store that has given something back before it says so."""

    def __init__(self) -> None:
        super().__init__(ClosableLock())
        self.given_back, self.goes_on = asyncio.Event(), asyncio.Event()

    async def add(self, usages: Sequence[QuotaUsage]) -> dict[str, float]:
        totals = await super().add(usages)
        if any(item.used < 0 for item in usages):
            self.given_back.set()
            await self.goes_on.wait()
        return totals


async def test_what_a_refused_answer_gives_back_is_not_counted_twice() -> None:
    store = SlowToAnswer()
    one, two = (QuotaMeter(store, now=Clock(), is_shared=True) for _ in range(2))
    await one.put(a_quota(1.0, measure="cost", person="u_ada"))
    for meter in (one, two):
        await meter.load()
        await spend(meter, ADA, 0.25)
        await meter.save()
    await one.begin_cost(ADA)
    await two.begin_cost(ADA)

    refused = [asyncio.create_task(two.begin_cost(ADA))]
    await store.given_back.wait()
    refused.append(asyncio.create_task(two.begin_cost(ADA)))
    await asyncio.sleep(0.01)
    store.goes_on.set()

    for task in refused:
        with pytest.raises(QuotaExceeded):
            await task
    assert [item.used for item in await store.usage(at=0.0)] == [1.0]
