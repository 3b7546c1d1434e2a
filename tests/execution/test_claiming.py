"""Who wants a key says what it is for and how long they wait, and gives back what is left."""

import asyncio
from typing import Any

import pytest
from tests.execution.made import a_kit

from pegboard.core.memory import MemoryOutcomes
from pegboard.core.ports.store import Outcome
from pegboard.errors import IdempotencyConflict, ToolTimeout, Unavailable
from pegboard.execution.claiming import Wish, first_of, freed, turn_of
from pegboard.execution.kit import Kit


def a_wish(**changes: Any) -> Wish:
    """For the key `k`, until now."""
    claim = Outcome(key="w:k", owner="o", tool="w", digest=changes.pop("digest", "d"), created_at=0)
    fields: dict[str, Any] = {"by": "c1", "key": "k", "deadline": 0.0, "may_repeat": False}
    return Wish(claim=claim, **(fields | changes))


@pytest.mark.parametrize(
    ("changes", "error", "says"),
    [
        pytest.param({}, ToolTimeout, "this call's time", id="a call"),
        pytest.param(
            {"noun": "request", "late": Unavailable},
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
    flight = await turn_of(kit, a_wish())
    with pytest.raises(error, match=says) as refused:
        await turn_of(kit, a_wish(**changes))
    kit.flights.end(flight)

    assert type(refused.value) is error


async def test_the_key_is_another_ones_once_it_is_free() -> None:
    kit, wish = a_kit(), a_wish(deadline=None)
    flight = await turn_of(kit, wish)
    assert await first_of(kit, flight, wish) is None
    waiting = asyncio.create_task(turn_of(kit, wish))
    await asyncio.sleep(0)
    await freed(kit, flight)
    kit.flights.end(flight)
    second = await waiting

    assert second is not flight
    assert await first_of(kit, second, wish) is None


async def test_a_claim_that_nobody_holds_is_given_as_it_was_left() -> None:
    kit, wish = a_kit(), a_wish()
    await kit.outcomes.claim(wish.claim)
    flight = await turn_of(kit, wish)

    assert await first_of(kit, flight, wish) == wish.claim
    assert await first_of(kit, flight, a_wish(may_repeat=True)) is None


class Slow(MemoryOutcomes):
    """Takes a while to claim a key."""

    async def claim(self, outcome: Outcome) -> Outcome | None:
        await asyncio.sleep(0.05)
        return await super().claim(outcome)


@pytest.mark.parametrize("is_taken", [False, True], ids=["of its own", "of another"])
async def test_who_is_cancelled_while_claiming_leaves_no_key_behind_but_that_of_another(
    is_taken: bool,
) -> None:
    store, wish = Slow(), a_wish()
    kit: Kit = a_kit(outcomes=store)
    if is_taken:
        await store.claim(wish.claim)
    claiming = asyncio.create_task(first_of(kit, await turn_of(kit, wish), wish))
    await asyncio.sleep(0.01)
    claiming.cancel()
    await asyncio.wait([claiming])

    assert claiming.cancelled()
    assert (await store.claim(wish.claim) is not None) == is_taken
