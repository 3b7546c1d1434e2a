"""First outcomes of idempotency keys, in every storage."""

import asyncio
from pathlib import Path

import pytest
from msgspec import structs
from tests.storage.made import (
    NOON,
    a_storage,
    an_outcome,
)

from pegboard.core.result import ResultMeta, TextPart, ToolResult
from pegboard.errors import ToolFailed
from pegboard.storage import Storage
from pegboard.testing import FakeClock


async def test_a_key_is_taken_once_and_its_holder_is_told(storage: Storage) -> None:
    first = await storage.outcomes.claim(an_outcome())
    second = await storage.outcomes.claim(an_outcome(digest="e" * 64, created_at=NOON + 1))

    assert first is None
    assert second == an_outcome()


async def test_a_settled_key_gives_the_first_outcome_again(storage: Storage) -> None:
    result = ToolResult(
        content=(TextPart("done"),),
        structured={"refunded": [1, 2.5, None]},
        meta=ResultMeta(call_id="c1", attempts=2),
    )
    await storage.outcomes.claim(an_outcome())
    await storage.outcomes.settle(an_outcome(), result)

    assert await storage.outcomes.claim(an_outcome()) == an_outcome(result=result)


async def test_a_settled_outcome_is_out_of_its_makers_reach(storage: Storage) -> None:
    value = {"refunded": 1}
    await storage.outcomes.claim(an_outcome())
    await storage.outcomes.settle(an_outcome(), ToolResult(structured=value))
    value["refunded"] = 2

    again = await storage.outcomes.claim(an_outcome())
    assert again is not None
    assert again.result is not None
    assert again.result.structured == {"refunded": 1}


async def test_a_failed_outcome_gives_its_typed_error_again(storage: Storage) -> None:
    error = ToolFailed("Order 17 is already shipped.", error_id="e9")
    await storage.outcomes.claim(an_outcome())
    await storage.outcomes.settle(an_outcome(), ToolResult(is_error=True, error=error))

    again = await storage.outcomes.claim(an_outcome())
    assert again is not None
    assert again.result is not None
    with pytest.raises(ToolFailed, match="already shipped") as caught:
        again.result.unwrap()
    assert caught.value.error_id == "e9"


async def test_keys_of_different_owners_are_different_keys(storage: Storage) -> None:
    await storage.outcomes.claim(an_outcome())

    assert await storage.outcomes.claim(an_outcome(owner="acme/bob")) is None


async def test_a_released_key_is_free_and_a_settled_one_stays(storage: Storage) -> None:
    await storage.outcomes.claim(an_outcome("free"))
    await storage.outcomes.release(an_outcome("free"))
    await storage.outcomes.claim(an_outcome("kept"))
    await storage.outcomes.settle(an_outcome("kept"), ToolResult(content="done"))
    await storage.outcomes.release(an_outcome("kept"))

    assert await storage.outcomes.claim(an_outcome("free")) is None
    assert await storage.outcomes.claim(an_outcome("kept")) is not None


@pytest.mark.parametrize("swept", [False, True], ids=["unswept", "swept"])
async def test_a_key_is_free_again_after_its_time(
    kind: str, tmp_path: Path, clock: FakeClock, swept: bool
) -> None:
    async with a_storage(kind, tmp_path, clock, outcome_ttl=60.0) as storage:
        await storage.outcomes.claim(an_outcome())
        clock.advance(59)
        held = await storage.outcomes.claim(an_outcome())
        clock.advance(1)
        if swept:
            await storage.sweep()
        freed = await storage.outcomes.claim(an_outcome(created_at=clock.time()))

    assert held is not None
    assert freed is None


async def test_of_many_who_claim_at_once_exactly_one_gets_the_key(storage: Storage) -> None:
    async with asyncio.TaskGroup() as group:
        claims = [group.create_task(storage.outcomes.claim(an_outcome())) for _ in range(50)]

    assert [claim.result() for claim in claims].count(None) == 1


async def test_a_claim_is_held_on_to_and_taken_over_by_one(
    storage: Storage, other: Storage
) -> None:
    claim = an_outcome(holder="c1", held_until=NOON + 30)
    await storage.outcomes.claim(claim)
    seen = await other.outcomes.claim(an_outcome(holder="c2", held_until=NOON + 40))
    held_on = await storage.outcomes.hold(claim, by="c1", until=NOON + 60)
    taken = [
        await server.outcomes.hold(claim, by=by, until=NOON + 90)
        for server, by in ((other, "c2"), (storage, "c3"))
    ]

    assert seen == claim
    assert held_on
    assert taken == [True, False]
    assert await storage.outcomes.claim(claim) == an_outcome(holder="c2", held_until=NOON + 90)


async def test_what_is_settled_or_given_back_is_held_by_nobody(storage: Storage) -> None:
    claim = an_outcome(holder="c1", held_until=NOON + 30)
    assert not await storage.outcomes.hold(claim, by="c1", until=NOON + 60)
    await storage.outcomes.claim(claim)
    await storage.outcomes.settle(claim, ToolResult(content="done"))
    assert not await storage.outcomes.hold(claim, by="c1", until=NOON + 60)
    settled = await storage.outcomes.claim(claim)

    assert settled is not None
    assert settled.result == ToolResult(content="done")


async def test_who_lost_a_key_neither_settles_it_nor_gives_it_back(
    storage: Storage, other: Storage
) -> None:
    lost = an_outcome(holder="c1", held_until=NOON + 30)
    taken = an_outcome(holder="c2", held_until=NOON + 90)
    await storage.outcomes.claim(lost)
    await other.outcomes.hold(lost, by="c2", until=NOON + 90)
    await storage.outcomes.settle(lost, ToolResult(content="of the first"))
    await storage.outcomes.release(lost)
    while_it_runs = await storage.outcomes.claim(lost)
    await other.outcomes.settle(taken, ToolResult(content="of the second"))
    await storage.outcomes.settle(lost, ToolResult(content="of the first"))

    assert while_it_runs == taken
    assert await storage.outcomes.claim(lost) == structs.replace(
        taken, result=ToolResult(content="of the second")
    )


async def test_a_key_may_be_held_by_a_call_that_says_no_time(storage: Storage) -> None:
    claim = an_outcome(holder="c1", held_until=NOON + 30)
    await storage.outcomes.claim(claim)

    assert await storage.outcomes.hold(claim, by="c2", until=None)
    assert await storage.outcomes.claim(claim) == an_outcome(holder="c2", held_until=None)
