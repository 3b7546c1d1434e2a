"""Results and outcomes in memory: bounded, owned, and safe for several threads."""

import asyncio
import threading
from typing import Any

import pytest

from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.core.ports.call_stores import Outcome, StoredResult
from pegboard.core.result import ToolResult
from pegboard.core.stores.memory_results import MemoryOutcomes, MemoryResults
from pegboard.errors import Overloaded, ToolFailed, Unavailable
from pegboard.testing import FakeClock


def a_result(handle: str = "h1", body: bytes = b"body", **changes: Any) -> StoredResult:
    fields: dict[str, Any] = {
        "owner": "acme/ada",
        "media_type": "text/plain",
        "created_at": 0.0,
        "expires_at": 9e9,
    }
    return StoredResult(handle=handle, body=body, **(fields | changes))


def an_outcome(key: str = "k", owner: str = "acme/ada", **changes: Any) -> Outcome:
    fields: dict[str, Any] = {"tool": "pay", "digest": "d", "created_at": 0.0}
    return Outcome(key=key, owner=owner, **(fields | changes))


async def test_only_the_owner_gets_a_result_back() -> None:
    store = MemoryResults()
    await store.put(a_result())

    assert await store.get("h1", "acme/ada") == a_result()
    assert await store.get("h1", "acme/bob") is None
    assert await store.get("h2", "acme/ada") is None


async def test_an_expired_result_is_gone(clock: FakeClock) -> None:
    store = MemoryResults(now=clock.time)
    await store.put(a_result(expires_at=clock.time() + 60))
    clock.advance(60)

    assert await store.get("h1", "acme/ada") is None
    assert (store._items, store._bytes) == ({}, 0)


async def test_the_oldest_results_make_room() -> None:
    store = MemoryResults(max_bytes=5_000)
    for number in range(20):
        await store.put(a_result(f"h{number}", b"x" * 500))

    kept = list(store._items)
    assert kept == ["h15", "h16", "h17", "h18", "h19"]
    assert store._bytes == 5_000


async def test_empty_results_are_bounded_too() -> None:
    store = MemoryResults(max_bytes=5_000)
    for number in range(50):
        await store.put(a_result(f"h{number}", b""))

    assert len(store._items) == 10


async def test_what_has_expired_makes_room_first(clock: FakeClock) -> None:
    store = MemoryResults(max_bytes=2_000, now=clock.time)
    await store.put(a_result("old", b"x" * 300))
    await store.put(a_result("expired", b"x" * 300, expires_at=clock.time()))
    await store.put(a_result("new", b"x" * 300))

    assert list(store._items) == ["old", "new"]


async def test_a_result_beyond_all_bounds_is_refused_with_advice() -> None:
    store = MemoryResults(max_bytes=510)
    await store.put(a_result("small", b"1"))

    with pytest.raises(Unavailable, match=r"11 bytes does not fit .* a data directory"):
        await store.put(a_result("large", b"12345678901"))

    assert await store.get("small", "acme/ada") is not None


async def test_storing_under_the_same_handle_again_counts_once() -> None:
    store = MemoryResults()
    await store.put(a_result(body=b"x" * 100))
    await store.put(a_result(body=b"y"))

    assert store._bytes == 501


async def test_the_first_to_claim_a_key_has_it() -> None:
    store = MemoryOutcomes()

    assert await store.claim(an_outcome()) is None
    assert await store.claim(an_outcome(digest="other")) == an_outcome()


async def test_the_same_key_of_somebody_else_is_another_key() -> None:
    store = MemoryOutcomes()
    await store.claim(an_outcome())

    assert await store.claim(an_outcome(owner="acme/bob")) is None


async def test_a_settled_key_gives_its_outcome_and_stays() -> None:
    store, result = MemoryOutcomes(), ToolResult(content="paid", structured={"n": 1})
    await store.claim(an_outcome())
    await store.settle(an_outcome(), result)
    await store.release(an_outcome())

    assert await store.claim(an_outcome()) == an_outcome(result=result)


async def test_a_released_key_is_free_again() -> None:
    store = MemoryOutcomes()
    await store.claim(an_outcome())
    await store.release(an_outcome())

    assert await store.claim(an_outcome()) is None


async def test_settling_or_releasing_what_nobody_claimed_changes_nothing() -> None:
    store = MemoryOutcomes()
    await store.settle(an_outcome(), ToolResult())
    await store.release(an_outcome())

    assert await store.claim(an_outcome()) is None


async def test_who_lost_a_key_neither_settles_it_nor_gives_it_back() -> None:
    store, lost, taken = MemoryOutcomes(), an_outcome(holder="c1"), an_outcome(holder="c2")
    await store.claim(lost)
    await store.hold(lost, by="c2", until=None)
    await store.settle(lost, ToolResult(content="of the first"))
    await store.release(lost)
    while_it_runs = await store.claim(lost)
    await store.settle(taken, ToolResult(content="of the second"))
    await store.settle(lost, ToolResult(content="of the first"))
    kept = await store.claim(lost)

    assert while_it_runs == taken
    assert kept == an_outcome(holder="c2", result=ToolResult(content="of the second"))


async def test_what_a_caller_does_to_an_outcome_changes_nobody_elses() -> None:
    store, result = MemoryOutcomes(), ToolResult(structured={"n": 1})
    await store.claim(an_outcome())
    await store.settle(an_outcome(), result)
    result.structured["n"] = 2
    first = await store.claim(an_outcome())
    assert first is not None
    assert first.result is not None
    first.result.structured["n"] = 3
    second = await store.claim(an_outcome())

    assert second == an_outcome(result=ToolResult(structured={"n": 1}))


async def test_a_kept_failure_holds_no_stack() -> None:
    store, error = MemoryOutcomes(), ToolFailed("no")
    with pytest.raises(ToolFailed):
        raise error
    await store.claim(an_outcome())
    await store.settle(an_outcome(), ToolResult(is_error=True, error=error))
    kept = store._settled["acme/ada", "k"].result

    assert kept is not None
    assert kept.error is not None
    assert kept.error.__traceback__ is None


async def test_the_oldest_settled_keys_make_room_and_running_ones_stay() -> None:
    store = MemoryOutcomes(most=3)
    await store.claim(an_outcome("running"))
    for number in range(10):
        await store.claim(an_outcome(f"k{number}"))
        await store.settle(an_outcome(f"k{number}"), ToolResult())

    assert [key for _, key in store._running] == ["running"]
    assert [key for _, key in store._settled] == ["k8", "k9"]


async def test_a_key_that_runs_makes_room_for_none() -> None:
    store = MemoryOutcomes(most=2)
    await store.claim(an_outcome("k1"))
    await store.claim(an_outcome("k2"))

    with pytest.raises(Overloaded, match="Too many calls"):
        await store.claim(an_outcome("k3"))

    assert [key for _, key in store._running] == ["k1", "k2"]


async def test_keys_are_forgotten_after_their_time_and_make_room(clock: FakeClock) -> None:
    store = MemoryOutcomes(most=2, ttl=60.0, now=clock.time)
    await store.claim(an_outcome("runs", created_at=clock.time()))
    await store.claim(an_outcome("ended", created_at=clock.time()))
    await store.settle(an_outcome("ended"), ToolResult())
    clock.advance(60)

    assert await store.claim(an_outcome("new", created_at=clock.time())) is None
    assert [key for _, key in store._running] == ["new"]
    assert list(store._settled) == []


async def test_without_a_time_keys_stay() -> None:
    store = MemoryOutcomes()
    await store.claim(an_outcome(created_at=-1e9))
    store.sweep()

    assert await store.claim(an_outcome()) is not None


async def test_what_is_swept_is_no_longer_held(clock: FakeClock) -> None:
    results = MemoryResults(now=clock.time)
    outcomes = MemoryOutcomes(ttl=60.0, now=clock.time)
    await results.put(a_result(expires_at=clock.time() + 60))
    await outcomes.claim(an_outcome(created_at=clock.time()))
    clock.advance(60)
    results.sweep()
    outcomes.sweep()

    assert (results._bytes, list(results._items), list(outcomes._running)) == (0, [], [])


async def test_stores_of_one_gate_close_together() -> None:
    gate = ClosableLock()
    results, outcomes = MemoryResults(gate=gate), MemoryOutcomes(gate=gate)
    gate.close()

    for operation in (
        results.put(a_result()),
        results.get("h1", "acme/ada"),
        outcomes.claim(an_outcome()),
        outcomes.settle(an_outcome(), ToolResult()),
        outcomes.release(an_outcome()),
    ):
        with pytest.raises(Unavailable, match="closed"):
            await operation
    for sweep in (results.sweep, outcomes.sweep):
        with pytest.raises(Unavailable, match="closed"):
            sweep()


@pytest.mark.timeout(60)
def test_of_many_threads_one_gets_the_key() -> None:
    store, winners, together = MemoryOutcomes(), list[int](), threading.Barrier(8)

    def claim(number: int) -> None:
        together.wait()
        for key in range(200):
            if asyncio.run(store.claim(an_outcome(str(key), digest=str(number)))) is None:
                winners.append(key)

    threads = [threading.Thread(target=claim, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(winners) == list(range(200))
