"""Quotas as a service: who sees which, and what stands in the audit trail."""

from dataclasses import replace

import pytest
from msgspec import structs
from pydantic import TypeAdapter
from tests.features.identity.made import Server, WatchedStore

from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.errors import AccessDenied, InvalidRequest, Unavailable
from pegboard.execution.limits.quotas import QuotaDefaults, QuotaMeter
from pegboard.features.identity.quota_schemas import QuotaList, quotas_to_dict
from pegboard.features.identity.quotas import QuotaSubject
from pegboard.storage.memory.quotas import MemoryQuotas

A_DAY = QuotaSubject(measure="calls", window="day", organisation="acme")
DEFAULTS = QuotaDefaults(person={("cost", "month"): 20.0})


@pytest.fixture
def counting(server: Server) -> Server:
    """A server that counts, with a default for each person."""
    environment = server.registry.environment
    meter = QuotaMeter(MemoryQuotas(ClosableLock()), now=environment.now, defaults=lambda: DEFAULTS)
    server.registry.apply(replace(environment, quotas=meter))
    return server


async def test_a_member_sees_what_holds_for_it_defaults_too(counting: Server) -> None:
    await counting.found()
    ada, bob = await counting.caller("ada"), await counting.invite("bob")
    quotas = counting.identity.quotas
    await quotas.put(A_DAY, 10, principal=ada)
    await quotas.put(structs.replace(A_DAY, person="ada"), 5, principal=ada)

    answer = quotas_to_dict(await quotas.list(principal=bob))
    TypeAdapter(QuotaList).validate_python(answer)
    assert [(it["person"], it["organisation"], it["set_by"]) for it in answer["quotas"]] == [
        ("bob", "", "board"),
        ("", "acme", "operator"),
    ]
    assert answer["quotas"][0]["changed_at"] is None
    assert len(await quotas.list(principal=ada)) == 3


async def test_setting_and_removing_is_in_the_audit_trail(counting: Server) -> None:
    await counting.found()
    ada = await counting.caller("ada")
    counting.events.clear()
    await counting.identity.quotas.put(A_DAY, 10, principal=ada)
    await counting.identity.quotas.remove(A_DAY, principal=ada)

    assert [(it.action, it.subject, it.by) for it in counting.events] == [
        ("set_quota", "acme", ada.id),
        ("removed_quota", "acme", ada.id),
    ]
    assert counting.events[0].detail["limit"] == 10


async def test_an_operator_removes_what_an_administrator_has_set(counting: Server) -> None:
    await counting.found()
    ada = await counting.caller("ada")
    bob = await counting.invite("bob", roles=("administrator",))
    quotas = counting.identity.quotas
    await quotas.put(A_DAY, 10, principal=bob)
    await quotas.put(A_DAY, 20, principal=ada)

    async def list_limits() -> list[float | None]:
        views = await quotas.list(principal=ada)
        return [view.state.quota.limit for view in views if not view.state.is_default]

    with pytest.raises(AccessDenied, match="an operator has set it"):
        await quotas.remove(A_DAY, principal=bob, setter="operator")
    before = await list_limits()
    await quotas.remove(A_DAY, principal=ada, setter="administrator")
    after = await list_limits()
    await quotas.put(A_DAY, 10, principal=bob)
    await quotas.remove(A_DAY, principal=ada)
    of_bob = await list_limits()
    await quotas.remove(A_DAY, principal=ada)

    assert (sorted(filter(None, before)), after, of_bob) == ([10, 20], [20], [10])
    assert await list_limits() == []


async def test_a_member_sets_none_and_nobody_half_a_call(counting: Server) -> None:
    await counting.found()
    bob = await counting.invite("bob", roles=("editor",))

    with pytest.raises(AccessDenied):
        await counting.identity.quotas.put(A_DAY, 10, principal=bob)
    with pytest.raises(InvalidRequest, match="whole number"):
        await counting.identity.quotas.put(A_DAY, 0.5, principal=await counting.caller("ada"))


async def test_a_board_that_counts_nothing_says_so(server: Server) -> None:
    await server.found()

    with pytest.raises(Unavailable, match="Nothing is counted"):
        await server.identity.quotas.list(principal=await server.caller("ada"))


async def test_a_person_of_others_takes_the_work_of_one_who_is_not_there(
    counting: Server, watched: WatchedStore
) -> None:
    await counting.found()
    await counting.identity.organisations.create("zoo", principal=await counting.caller("ada"))
    eve = await counting.invite("eve", roles=("administrator",), organisation="zoo")
    await counting.invite("bob")

    asked = [
        await watched.take(
            counting.identity.quotas.put(
                structs.replace(A_DAY, organisation="zoo", person=person), 1, principal=eve
            )
        )
        for person in ("bob", "nix")
    ]

    assert asked[0] == asked[1]
