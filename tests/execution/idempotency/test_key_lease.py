"""Keys that servers share: the second is refused while the first runs, and nothing runs twice."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from msgspec import structs
from tests.execution.made import a_call, a_kit, a_spec, a_target, virtually

from pegboard.core.ports.call_stores import Outcome
from pegboard.core.result import ToolResult
from pegboard.core.stores.memory_results import MemoryOutcomes
from pegboard.core.tool import Effect, ToolSpec
from pegboard.errors import (
    IdempotencyConflict,
    IdempotencyInProgress,
    PegboardError,
    Unavailable,
)
from pegboard.execution import CallDefaults
from pegboard.execution.call_state import CallState
from pegboard.execution.environment import CallEnvironment
from pegboard.execution.idempotency.key_lease import KeyLease, add_lease, is_held, take_over
from pegboard.execution.steps.idempotency import idempotency
from pegboard.testing import FakeClock

WRITES = a_spec("pay", effect=Effect.WRITE)
READS = a_spec("look", effect=Effect.READ)
LEASE = 0.3
Work = Callable[[CallState], Awaitable[ToolResult]]


class World:
    """A store that servers share, and how often the tool ran on any of them."""

    def __init__(
        self, clock: FakeClock, spec: ToolSpec = WRITES, *, store: MemoryOutcomes | None = None
    ) -> None:
        self.clock = clock
        self.spec = spec
        self.store = store or MemoryOutcomes(now=clock.time)
        self.ran = 0
        self.begun, self.go_on = asyncio.Event(), asyncio.Event()

    def kit(self, lease: float = LEASE) -> CallEnvironment:
        settings = CallDefaults(key_lease=lease)
        return a_kit(clock=self.clock, outcomes=self.store, settings=settings)

    async def work(self, call: CallState) -> ToolResult:
        call.attempts += 1
        self.ran += 1
        self.begun.set()
        await self.go_on.wait()
        return ToolResult(content=f"done by {call.id}")

    def call(
        self, call_id: str, *, kit: CallEnvironment | None = None, work: Any = None, **changes: Any
    ) -> "asyncio.Task[ToolResult]":
        """A call with one key on a server of its own."""
        step = idempotency(a_target(self.spec, keyed=True), kit or self.kit(), work or self.work)
        given: dict[str, Any] = {"key": "k", "id": call_id, **changes}
        return asyncio.ensure_future(step(a_call(**given)))


@virtually
async def test_the_second_server_is_refused_at_once_while_the_first_runs(clock: FakeClock) -> None:
    world = World(clock)
    first = world.call("c1")
    await world.begun.wait()
    for number in range(4):
        began = clock.monotonic()
        with pytest.raises(IdempotencyInProgress, match="'k' is in progress on another") as busy:
            await world.call(f"c2{number}")
        assert clock.monotonic() == began
        assert (busy.value.nothing_done, busy.value.retryable) == (True, True)
        assert busy.value.retry_after == 1.0
        await asyncio.sleep(LEASE / 2)  # in all longer than the lease: it is renewed
    world.go_on.set()

    assert (await first).text == "done by c1"
    assert (await world.call("c3")).text == "done by c1"
    assert world.ran == 1


@virtually
async def test_a_first_call_that_did_nothing_leaves_the_key_to_the_second(clock: FakeClock) -> None:
    world = World(clock)

    async def refused(call: CallState) -> ToolResult:
        raise Unavailable("busy", nothing_done=True)

    with pytest.raises(Unavailable):
        await world.call("c1", work=refused)
    world.go_on.set()

    assert (await world.call("c2")).text == "done by c2"


@virtually
async def test_other_arguments_are_a_conflict_at_once(clock: FakeClock) -> None:
    world = World(clock)
    first = world.call("c1", arguments={"n": 1})
    await world.begun.wait()
    with pytest.raises(IdempotencyConflict):
        await world.call("c2", arguments={"n": 2})
    world.go_on.set()
    await first


async def gone(world: World) -> None:
    """A claim of a server that was killed."""
    first = world.call("c1")
    await world.begun.wait()
    [claim] = world.store._running.values()
    first.cancel()
    await asyncio.wait([first])
    await world.store.release(claim)
    world.store._settled.clear()
    await world.store.claim(claim)


@virtually
async def test_an_outcome_is_unknown_only_once_the_lease_has_passed(clock: FakeClock) -> None:
    world = World(clock)
    await gone(world)
    with pytest.raises(IdempotencyInProgress):
        await world.call("c2")
    await asyncio.sleep(1.1 * LEASE)
    unknown = await world.call("c3")

    assert isinstance(unknown.error, IdempotencyConflict)
    assert "whether it took effect is unknown" in str(unknown.error)
    assert world.ran == 1


@virtually
async def test_what_may_be_repeated_is_taken_over_by_one_server(clock: FakeClock) -> None:
    world = World(clock, READS)
    await gone(world)
    await asyncio.sleep(1.1 * LEASE)
    world.begun.clear()
    calls = [world.call(f"c{number}") for number in range(2, 6)]
    await asyncio.sleep(LEASE)
    world.go_on.set()
    answers = await asyncio.gather(*calls, return_exceptions=True)
    refused = [answer for answer in answers if isinstance(answer, IdempotencyInProgress)]
    [done] = [answer for answer in answers if isinstance(answer, ToolResult)]

    assert len(refused) == 3
    assert (await world.call("c6")).text == done.text
    assert world.ran == 2


@virtually
async def test_a_claim_of_a_server_that_knows_nothing_of_this_is_of_nobody(
    clock: FakeClock,
) -> None:
    world = World(clock)
    first = world.call("c1", kit=world.kit(lease=0.0))
    await world.begun.wait()
    unknown = await world.call("c2")
    world.go_on.set()

    assert isinstance(unknown.error, IdempotencyConflict)
    assert (await first).text == "done by c1"


class CutOff(MemoryOutcomes):
    """The way of one server to the store that is shared: it cannot say that its calls still run."""

    def __init__(self, shared: MemoryOutcomes) -> None:
        super().__init__()
        self._running, self._settled = shared._running, shared._settled

    async def hold(self, claim: Outcome, *, by: str, until: float | None) -> bool:
        raise Unavailable("away")


@pytest.mark.parametrize("error", [None, Unavailable("busy")], ids=["done", "given_back"])
@virtually
async def test_who_stalled_past_the_lease_leaves_the_key_to_who_took_it_over(
    clock: FakeClock,
    error: PegboardError | None,
) -> None:
    world, go_on = World(clock, READS), asyncio.Event()
    settings = CallDefaults(key_lease=LEASE)
    stalled_at = a_kit(clock=clock, outcomes=CutOff(world.store), settings=settings)

    async def stalls(call: CallState) -> ToolResult:
        call.attempts += 1
        await go_on.wait()
        if error is not None:
            raise error
        return ToolResult(content="done by c1")

    first = world.call("c1", kit=stalled_at, work=stalls)
    await asyncio.sleep(1.1 * LEASE)
    second = world.call("c2")
    await world.begun.wait()
    go_on.set()
    await asyncio.wait([first])
    with pytest.raises(IdempotencyInProgress):
        await world.call("c3")
    world.go_on.set()

    assert (first.exception() or first.result()) == (error or ToolResult(content="done by c1"))
    assert [(await task).text for task in (second, world.call("c4"))] == ["done by c2"] * 2
    assert world.ran == 1


@virtually
async def test_a_key_that_a_server_with_leases_left_is_taken_over_by_one_without(
    clock: FakeClock,
) -> None:
    world = World(clock, READS)
    await gone(world)
    await asyncio.sleep(1.1 * LEASE)
    world.go_on.set()
    alone = world.kit(lease=0.0)
    answers = [(await world.call(name, kit=alone)).text for name in ("c2", "c3")]

    assert answers == ["done by c2"] * 2
    assert world.ran == 2


class Failing(MemoryOutcomes):
    """Cannot be written for a moment."""

    def __init__(self) -> None:
        super().__init__()
        self.failures: list[PegboardError] = [Unavailable("away")]
        self.held = 0

    async def hold(self, claim: Outcome, *, by: str, until: float | None) -> bool:
        if self.failures:
            raise self.failures.pop()
        self.held += 1
        return await super().hold(claim, by=by, until=until)


@virtually
async def test_a_store_that_is_away_for_a_moment_is_asked_again(
    clock: FakeClock,
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = Failing()
    world = World(clock, store=store)
    with caplog.at_level(logging.WARNING, logger="pegboard.calls"):
        first = world.call("c1")
        await asyncio.sleep(LEASE)
    world.go_on.set()
    await first
    held = store.held
    await asyncio.sleep(LEASE)

    assert held >= 1
    assert store.held == held  # nobody holds on to what has ended
    assert "idempotency: lease of a key not renewed: away" in caplog.text


@virtually
async def test_who_has_lost_the_key_holds_on_no_longer(clock: FakeClock) -> None:
    store = Failing()
    store.failures.clear()
    kit = a_kit(clock=clock, outcomes=store, settings=CallDefaults(key_lease=0.06))
    claim = add_lease(kit, Outcome(key="k", owner="o", tool="t", digest="d", created_at=0.0), "c1")
    await store.claim(claim)
    with KeyLease(kit, claim):
        await asyncio.sleep(0.1)
        assert await store.hold(claim, by="c2", until=kit.now() + 60)
        before = store.held
        await asyncio.sleep(0.2)

    assert store.held == before + 1
    assert not await take_over(kit, claim, structs.replace(claim, holder="c3"))
    assert is_held(kit, structs.replace(claim, held_until=kit.now() + 1))


@virtually
async def test_where_nobody_shares_the_store_nothing_is_held(clock: FakeClock) -> None:
    kit = a_kit(clock=clock)
    claim = Outcome(key="k", owner="o", tool="t", digest="d", created_at=0.0)

    assert add_lease(kit, claim, "c1") is claim
    assert not is_held(kit, claim)
    assert not await take_over(kit, claim, claim)  # it is gone
    await kit.outcomes.claim(claim)
    assert await take_over(kit, claim, claim)
    with KeyLease(kit, claim) as holding:
        assert holding._timer is None
