"""A key stands for one request: its first answer, or that nobody knows it; on several servers."""

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

import pytest
from tests.execution.made import a_kit, in_virtual_time
from tests.storage.conftest import kind, other, postgres, postgres_server, storage

from pegboard.core.event import digest_of
from pegboard.core.ports.call_stores import Outcome, OutcomeStore
from pegboard.core.principal import LOCAL, Principal
from pegboard.core.result import ToolResult
from pegboard.core.stores.memory_results import MemoryOutcomes
from pegboard.errors import (
    IdempotencyConflict,
    IdempotencyInProgress,
    InvalidRequest,
    Overloaded,
    StoreUnavailable,
    Unavailable,
)
from pegboard.execution import CallDefaults
from pegboard.features.idempotent_requests import IdempotentRequests
from pegboard.storage import Storage
from pegboard.testing import FakeClock

__all__ = ["kind", "other", "postgres", "postgres_server", "storage"]
pytestmark = pytest.mark.timeout(60)  # the first test that needs the database pays for its start

LEASE = 0.3


class Server:
    """A server's `IdempotentRequests`, and what it does."""

    def __init__(
        self,
        outcomes: OutcomeStore,
        clock: FakeClock,
        *,
        lease: float = LEASE,
        longest_wait: float = 60.0,
    ) -> None:
        # Leases end on a clock that stands still: no server loses one because the machine is slow.
        self.kit = a_kit(outcomes=outcomes, settings=CallDefaults(key_lease=lease), now=clock.time)
        self.once = IdempotentRequests(self.kit, longest_wait=longest_wait)
        self.begun, self.go_on = asyncio.Event(), asyncio.Event()
        self.go_on.set()
        self.error: BaseException | None = None
        self.ran = 0

    async def work(self) -> dict[str, Any]:
        self.ran += 1
        self.begun.set()
        await self.go_on.wait()
        if self.error is not None:
            raise self.error
        return {"count": self.ran}

    def ask(self, **changes: Any) -> "asyncio.Task[Mapping[str, Any]]":
        given: dict[str, Any] = {"what": "w", "key": "k", "request": {"a": 1}, "principal": LOCAL}
        given |= {"may_repeat": False, **changes}
        return asyncio.ensure_future(self.once.do(self.work, **given))

    async def at_once(self, **changes: Any) -> Mapping[str, Any]:
        given: dict[str, Any] = {"what": "w", "key": "k", "request": {"a": 1}, "principal": LOCAL}
        return await self.once.at_once(self.work, **(given | changes))

    async def held_up(self, **changes: Any) -> "asyncio.Task[Mapping[str, Any]]":
        """One that has begun, and goes on when it is told to."""
        self.go_on.clear()
        task = self.ask(**changes)
        await self.begun.wait()
        return task


def left(clock: FakeClock, *, lease: float | None = None) -> Outcome:
    """What a server that was killed has left of the same request."""
    return Outcome(
        key="w:k",
        owner=LOCAL.owner,
        tool="w",
        digest=digest_of({"a": 1}),
        created_at=clock.time(),
        holder="gone" if lease else "",
        held_until=clock.time() + lease if lease else None,
    )


async def is_held_anew(storage: Storage, clock: FakeClock) -> bool:
    """Whether who has the key has said now that they are still at it."""
    held = await storage.outcomes.claim(left(clock))
    assert held is not None
    assert held.held_until is not None
    return held.held_until >= clock.time() + LEASE


async def test_a_key_gives_the_first_answer_to_whoever_used_it(clock: FakeClock) -> None:
    server = Server(MemoryOutcomes(), clock)
    first, again = await server.ask(), await server.ask()
    other, without = await server.ask(principal=Principal(id="o")), await server.ask(key="")

    assert [item["count"] for item in (first, again, other, without)] == [1, 1, 2, 3]


@pytest.mark.parametrize("lease", [0.0, LEASE], ids=["alone", "shared"])
async def test_who_comes_meanwhile_to_the_same_server_waits_for_the_first_answer(
    clock: FakeClock, lease: float
) -> None:
    server = Server(MemoryOutcomes(), clock, lease=lease)
    first = await server.held_up()
    second = server.ask()
    await asyncio.sleep(0.1)
    assert not second.done()
    server.go_on.set()

    assert [await first, await second] == [{"count": 1}] * 2


async def test_the_second_server_is_refused_at_once_while_the_first_works(
    storage: Storage, other: Storage, clock: FakeClock
) -> None:
    one, two = Server(storage.outcomes, clock), Server(other.outcomes, clock)
    first = await one.held_up()
    for _ in range(4):  # longer than the lease: it is renewed
        clock.advance(LEASE / 2)
        while not await is_held_anew(storage, clock):  # noqa: ASYNC110 - a store sets no event
            await asyncio.sleep(0.01)
    with pytest.raises(IdempotencyInProgress, match="'k' is in progress on another") as busy:
        await two.ask(may_repeat=True)
    one.go_on.set()

    assert (busy.value.retry_after, busy.value.nothing_done) == (1.0, True)
    assert [await first, await two.ask(may_repeat=True)] == [{"count": 1}] * 2
    assert (one.ran, two.ran) == (1, 0)


async def test_another_request_under_the_key_is_refused_at_once(
    storage: Storage, other: Storage, clock: FakeClock
) -> None:
    one, two = Server(storage.outcomes, clock), Server(other.outcomes, clock)
    first = await one.held_up()
    for server in (one, two):
        with pytest.raises(IdempotencyConflict, match=r"'k' was used for another request"):
            await server.ask(request={"a": 2}, may_repeat=True)
    one.go_on.set()
    await first
    with pytest.raises(IdempotencyConflict, match="another request"):
        await two.ask(request={"a": 2})

    assert (one.ran, two.ran) == (1, 0)


async def test_nobody_waits_for_longer_than_they_may(clock: FakeClock) -> None:
    server = Server(MemoryOutcomes(), clock, longest_wait=0.1)
    first = await server.held_up()
    with pytest.raises(Unavailable, match="did not end within this request's time") as late:
        await server.ask(may_repeat=True)
    assert (late.value.code, late.value.retry_after) == ("unavailable", 1.0)
    server.go_on.set()

    assert [await first, await server.ask()] == [{"count": 1}] * 2
    assert server.ran == 1


async def test_after_a_crash_one_server_does_what_may_be_repeated(
    storage: Storage, other: Storage, clock: FakeClock
) -> None:
    one, two = Server(storage.outcomes, clock), Server(other.outcomes, clock)
    await storage.outcomes.claim(left(clock, lease=LEASE))
    for server in (one, two):
        with pytest.raises(IdempotencyInProgress):  # the first may still be at it
            await server.ask(may_repeat=True)
    clock.advance(LEASE)
    both = [server.ask(may_repeat=True) for server in (one, two)]
    answers = await asyncio.gather(*both, return_exceptions=True)

    assert {"count": 1} in answers
    assert all(item == {"count": 1} or isinstance(item, IdempotencyInProgress) for item in answers)
    assert [await server.ask(may_repeat=True) for server in (one, two)] == [{"count": 1}] * 2
    assert one.ran + two.ran == 1


async def test_after_a_crash_nobody_knows_of_what_must_not_be_repeated(
    storage: Storage, other: Storage, clock: FakeClock
) -> None:
    await storage.outcomes.claim(left(clock, lease=LEASE))
    two = Server(other.outcomes, clock)
    with pytest.raises(IdempotencyInProgress):
        await two.ask()
    clock.advance(LEASE)
    for task in (two.ask(), two.ask()):
        with pytest.raises(IdempotencyConflict, match="'k' did not finish: whether it took effect"):
            await task

    assert two.ran == 0


async def test_a_restarted_server_that_shares_with_nobody_need_not_wait(
    storage: Storage, clock: FakeClock
) -> None:
    await storage.outcomes.claim(left(clock))
    server = Server(storage.outcomes, clock, lease=0.0)
    with pytest.raises(IdempotencyConflict, match="did not finish"):
        await server.ask()

    assert await server.ask(may_repeat=True) == {"count": 1}
    assert await server.ask() == {"count": 1}


async def test_what_the_first_fails_at_is_done_by_the_next(
    storage: Storage, other: Storage, clock: FakeClock
) -> None:
    one, two = Server(storage.outcomes, clock), Server(other.outcomes, clock)
    one.error = InvalidRequest("wrong")
    first = await one.held_up()
    with pytest.raises(IdempotencyInProgress):
        await two.ask()
    one.go_on.set()

    with pytest.raises(InvalidRequest):
        await first
    assert await two.ask() == {"count": 1}


@pytest.mark.parametrize(
    ("error", "may_repeat"),
    [
        pytest.param(RuntimeError(), False, id="it broke"),
        pytest.param(Unavailable("away", nothing_done=True), False, id="it did nothing"),
        pytest.param(Unavailable("away"), True, id="it may be repeated"),
    ],
)
async def test_a_key_is_free_again_after(
    clock: FakeClock, error: Exception, may_repeat: bool
) -> None:
    server = Server(MemoryOutcomes(), clock)
    server.error = error
    with pytest.raises(type(error)):
        await server.ask(may_repeat=may_repeat)
    server.error = None

    assert await server.ask() == {"count": 2}


async def test_what_was_cut_off_is_unknown_unless_it_may_be_repeated(
    storage: Storage, clock: FakeClock
) -> None:
    server = Server(storage.outcomes, clock)
    server.error = Unavailable("the database went away")
    with pytest.raises(Unavailable):
        await server.ask(key="lost")
    for key, may_repeat in (("cut", False), ("again", True)):
        server.begun.clear()
        task = await server.held_up(key=key, may_repeat=may_repeat)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
    server.error = None
    server.go_on.set()

    for key in ("lost", "cut"):
        with pytest.raises(IdempotencyConflict, match=f"'{key}' did not finish"):
            await server.ask(key=key)
    assert await server.ask(key="again") == {"count": 4}


class Forgetful(MemoryOutcomes):
    """Takes keys, and no answers."""

    async def settle(self, claim: Outcome, result: ToolResult) -> None:
        raise Unavailable("away")


async def test_what_was_done_is_answered_also_when_that_cannot_be_kept(
    clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    server = Server(Forgetful(), clock)
    with caplog.at_level(logging.ERROR, logger="pegboard.calls"):
        answer = await server.ask()

    assert answer == {"count": 1}
    assert "idempotency: outcome not stored" in caplog.text


class Hanging(MemoryOutcomes):
    """A store that gives no key, or refuses to."""

    def __init__(self, error: Unavailable | None) -> None:
        super().__init__()
        self.error = error
        self.gives = asyncio.Event()

    async def claim(self, outcome: Outcome) -> Outcome | None:
        if self.error is not None:
            raise self.error
        await self.gives.wait()
        return await super().claim(outcome)


@pytest.mark.parametrize(
    "error", [None, StoreUnavailable("away"), Overloaded("full")], ids=["hangs", "away", "full"]
)
def test_what_nothing_may_hold_up_waits_for_no_key(
    error: Unavailable | None, clock: FakeClock
) -> None:
    server, began = Server(store := Hanging(error), clock), clock.time()

    async def main(_: object) -> None:
        assert await server.at_once() == {"count": 1}
        assert clock.time() - began <= 0.5
        store.error = None
        store.gives.set()  # the key that came too late is given back
        assert await server.at_once(request={"a": 2}) == {"count": 2}

    in_virtual_time(main, clock=clock)


async def test_what_nothing_may_hold_up_is_done_once_where_the_key_can_be_had(
    clock: FakeClock,
) -> None:
    server = Server(MemoryOutcomes(), clock)
    server.go_on.clear()
    first = asyncio.create_task(server.at_once())
    await server.begun.wait()
    await asyncio.sleep(0.6)  # it has begun: that it takes long is no reason to do it again
    server.go_on.set()
    answers = [await first, await server.at_once()]

    assert answers == [{"count": 1}, {"count": 1}]
    with pytest.raises(IdempotencyConflict):
        await server.at_once(request={"a": 2})


async def test_what_nothing_may_hold_up_waits_for_no_other_server(clock: FakeClock) -> None:
    store = MemoryOutcomes()
    await store.claim(left(clock, lease=LEASE))
    server = Server(store, clock)

    assert await server.at_once() == {"count": 1}


async def test_a_key_of_another_kind_of_work_is_another_key(clock: FakeClock) -> None:
    server = Server(MemoryOutcomes(), clock)
    first, other = await server.ask(what="plan"), await server.ask(what="switch")

    assert (first["count"], other["count"]) == (1, 2)
