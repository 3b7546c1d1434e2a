"""Who wants a key says what it is for and how long they wait, and gives back what is left."""

import asyncio
from typing import Any

import pytest
from tests.execution.made import a_kit, virtually

from pegboard.concurrency.closable_lock import storage_closed_error
from pegboard.core.ports.call_stores import Outcome
from pegboard.core.stores.memory_results import MemoryOutcomes
from pegboard.errors import IdempotencyConflict, StoreUnavailable, ToolTimeout, Unavailable
from pegboard.execution.environment import CallEnvironment
from pegboard.execution.idempotency.claims import (
    KeyClaim,
    acquire_local_key,
    claim_or_first_outcome,
    release_key,
)
from pegboard.testing import FakeClock


def a_claim(**changes: Any) -> KeyClaim:
    """For the key `k`, until now."""
    claim = Outcome(key="w:k", owner="o", tool="w", digest=changes.pop("digest", "d"), created_at=0)
    fields: dict[str, Any] = {"holder": "c1", "key": "k", "deadline": 0.0, "may_repeat": False}
    return KeyClaim(claim=claim, **(fields | changes))


@pytest.mark.parametrize(
    ("changes", "error", "says"),
    [
        pytest.param({}, ToolTimeout, "this call's time", id="a call"),
        pytest.param(
            {"noun": "request", "timeout_error": Unavailable},
            Unavailable,
            "The first request with the idempotency key 'k' did not end within this request's time",
            id="a request",
        ),
        pytest.param(
            {"noun": "request", "digest": "e"},
            IdempotencyConflict,
            "'k' was used for another request; take a new key",
            id="another request",
        ),
    ],
)
async def test_who_cannot_have_the_key_is_told_of_what_they_asked_for(
    changes: dict[str, Any], error: type[Exception], says: str
) -> None:
    kit = a_kit()
    flight = await acquire_local_key(kit, a_claim())
    with pytest.raises(error, match=says) as refused:
        await acquire_local_key(kit, a_claim(**changes))
    kit.in_flight_calls.end(flight)

    assert type(refused.value) is error


async def test_the_key_is_another_ones_once_it_is_free() -> None:
    kit, wanted = a_kit(), a_claim(deadline=None)
    flight = await acquire_local_key(kit, wanted)
    assert await claim_or_first_outcome(kit, flight, wanted) is None
    waiting = asyncio.create_task(acquire_local_key(kit, wanted))
    await asyncio.sleep(0)
    await release_key(kit, flight)
    kit.in_flight_calls.end(flight)
    second = await waiting

    assert second is not flight
    assert await claim_or_first_outcome(kit, second, wanted) is None


async def test_a_claim_that_nobody_holds_is_given_as_it_was_left() -> None:
    kit, wanted = a_kit(), a_claim()
    await kit.outcomes.claim(wanted.claim)
    flight = await acquire_local_key(kit, wanted)

    assert await claim_or_first_outcome(kit, flight, wanted) == wanted.claim
    assert await claim_or_first_outcome(kit, flight, a_claim(may_repeat=True)) is None


class Slow(MemoryOutcomes):
    """Takes a while to claim a key."""

    async def claim(self, outcome: Outcome) -> Outcome | None:
        await asyncio.sleep(0.05)
        return await super().claim(outcome)


@pytest.mark.parametrize("is_taken", [False, True], ids=["of its own", "of another"])
async def test_who_is_cancelled_while_claiming_leaves_no_key_behind_but_that_of_another(
    is_taken: bool,
) -> None:
    store, wanted = Slow(), a_claim()
    kit: CallEnvironment = a_kit(outcomes=store)
    if is_taken:
        await store.claim(wanted.claim)
    claiming = asyncio.create_task(
        claim_or_first_outcome(kit, await acquire_local_key(kit, wanted), wanted)
    )
    await asyncio.sleep(0.01)
    claiming.cancel()
    await asyncio.wait([claiming])

    assert claiming.cancelled()
    assert (await store.claim(wanted.claim) is not None) == is_taken


class Away(MemoryOutcomes):
    """Can give no key back for a while."""

    def __init__(self, *errors: Exception) -> None:
        super().__init__()
        self.errors = list(errors)
        self.tries = 0

    async def release(self, claim: Outcome) -> None:
        self.tries += 1
        if self.errors:
            raise self.errors.pop(0)
        await super().release(claim)


AWAY = Unavailable("away"), Unavailable("away"), RuntimeError("nobody foresaw it")


@virtually
async def test_a_key_is_given_back_once_the_store_is_there_again(clock: FakeClock) -> None:
    store, wanted = Away(*AWAY), a_claim(deadline=None)
    kit: CallEnvironment = a_kit(outcomes=store, clock=clock)
    flight = await acquire_local_key(kit, wanted)
    await claim_or_first_outcome(kit, flight, wanted)

    await release_key(kit, flight)
    assert store.tries == 1  # whoever called does not wait for that
    kit.in_flight_calls.end(flight)
    second = await acquire_local_key(kit, wanted)  # and who comes meanwhile does

    assert store.tries == 4
    assert await claim_or_first_outcome(kit, second, wanted) is None


@virtually
async def test_who_wants_a_key_that_cannot_be_given_back_is_told_to_come_later(
    clock: FakeClock,
) -> None:
    store, wanted = Away(*[Unavailable("away")] * 99), a_claim()
    kit: CallEnvironment = a_kit(outcomes=store, clock=clock)
    flight = await acquire_local_key(kit, wanted)
    await claim_or_first_outcome(kit, flight, wanted)
    await release_key(kit, flight)
    kit.in_flight_calls.end(flight)

    began = kit.monotonic()
    with pytest.raises(StoreUnavailable, match="'k' cannot be used yet") as refused:
        await acquire_local_key(kit, a_claim(deadline=began + 0.1))
    with pytest.raises(StoreUnavailable):
        await acquire_local_key(kit, a_claim(deadline=None, digest="another"))
    assert (refused.value.nothing_done, refused.value.retryable) == (True, True)
    assert kit.monotonic() - began < 10
    assert flight.writing is not None
    flight.writing.cancel()


async def test_a_store_that_is_closed_for_good_is_not_asked_again() -> None:
    store, wanted = Away(*[storage_closed_error()] * 9), a_claim()
    kit: CallEnvironment = a_kit(outcomes=store)
    flight = await acquire_local_key(kit, wanted)
    await claim_or_first_outcome(kit, flight, wanted)
    await release_key(kit, flight)
    kit.in_flight_calls.end(flight)
    await asyncio.sleep(0)
    second = await acquire_local_key(kit, wanted)

    assert (store.tries, await claim_or_first_outcome(kit, second, wanted)) == (1, wanted.claim)


async def test_a_claim_that_failed_is_nothing_to_give_back() -> None:
    class Refusing(Away):
        async def claim(self, outcome: Outcome) -> Outcome | None:
            await asyncio.sleep(0.02)
            raise Unavailable("away")

    store, wanted = Refusing(), a_claim()
    kit: CallEnvironment = a_kit(outcomes=store)
    claiming = asyncio.create_task(
        claim_or_first_outcome(kit, await acquire_local_key(kit, wanted), wanted)
    )
    await asyncio.sleep(0.01)
    claiming.cancel()
    await asyncio.wait([claiming])

    assert (claiming.cancelled(), store.tries) == (True, 0)
