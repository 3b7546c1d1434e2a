"""Which process goes on with a run that another one had begun, and what the run says of it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest
from tests.durability.made import Process, graph, node, until, waiting
from tests.storage.made import a_storage

from pegboard.core.ports.durability import Signal
from pegboard.core.ports.run_store import RUN_TAKEN_OVER, RunStore
from pegboard.errors import Unavailable
from pegboard.testing import FakeClock

OWNER: dict[str, Any] = {"owner": "us"}
HELD = graph(
    node("a", "read", input={"step": "a"}),
    node("b", "read", "a", input={"step": "b", "held": True}),
)


@pytest.fixture(params=["memory", "sqlite"])
async def store(
    request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock
) -> AsyncIterator[RunStore]:
    async with a_storage(request.param, tmp_path, clock) as storage:
        yield storage.runs


async def list_causes(store: RunStore) -> list[str]:
    events = await store.events("r")
    return [event.data["cause"] for event in events if event.kind == RUN_TAKEN_OVER]


class StoreWithOutages:
    """A store as one process reaches it.

    Attributes:
        is_gone: Whether it cannot be reached.
        polls: How often it was reached since it was last gone.
    """

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self.is_gone = False
        self.polls = 0

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)

        async def call(*args: Any, **options: Any) -> Any:
            if self.is_gone:
                self.polls = 0
                raise Unavailable("gone", retry_after=1.0, nothing_done=True)
            self.polls += name in {"runs", "take"}
            return await method(*args, **options)

        return call


async def test_after_an_outage_a_process_may_renew_its_leases_before_others_take_them(
    store: RunStore, clock: FakeClock
) -> None:
    ours, theirs = StoreWithOutages(store), StoreWithOutages(store)
    first = Process(cast("RunStore", ours), now=clock.time)
    second = Process(cast("RunStore", theirs), did=first.did, now=clock.time)
    await second.durability.follow()
    await first.runner.start(HELD, run_id="r")
    await first.held.wait()
    ours.is_gone = theirs.is_gone = True
    clock.advance(100.0)  # longer than the lease
    await asyncio.sleep(0.1)

    theirs.is_gone = False
    await until(lambda: theirs.polls > 0)
    ours.is_gone = False
    await until(lambda: theirs.polls > 5)
    first.gate.set()
    await first.runner.result("r")
    for process in (first, second):
        await process.durability.close()

    assert await list_causes(store) == []
    assert first.did == ["a", "b"]


async def test_a_signal_after_an_outage_takes_no_run_from_a_process_that_is_back(
    store: RunStore, clock: FakeClock
) -> None:
    ours, theirs = StoreWithOutages(store), StoreWithOutages(store)
    first = Process(cast("RunStore", ours), now=clock.time)
    second = Process(cast("RunStore", theirs), did=first.did, now=clock.time, every=0.2)
    await second.durability.follow()
    await first.runner.start(HELD, run_id="r")
    await first.held.wait()
    ours.is_gone = theirs.is_gone = True
    clock.advance(100.0)  # longer than the lease
    await until(lambda: second.durability._polls_to_wait > 0)

    theirs.is_gone = False
    await second.durability.signal("r", Signal(id="s", topic="go"))
    second.durability._wakeups.set("r", after=0)
    await until(lambda: theirs.polls > 0)
    ours.is_gone = False
    await until(lambda: theirs.polls > 5)
    first.gate.set()
    await first.runner.result("r")
    for process in (first, second):
        await process.durability.close()

    assert await list_causes(store) == []
    assert first.did == ["a", "b"]


async def test_a_signal_after_an_outage_continues_its_run_once_leases_are_renewed(
    store: RunStore, clock: FakeClock
) -> None:
    waits = graph(waiting("w", event="go"), node("a", "read", "w", input={"step": "a"}))
    theirs = StoreWithOutages(store)
    process = Process(cast("RunStore", theirs), now=clock.time)
    await process.runner.start(waits, run_id="r")
    await process.runner.result("r")
    theirs.is_gone = True
    clock.advance(100.0)  # leases are renewed
    await until(lambda: process.durability._polls_to_wait > 0)

    theirs.is_gone = False
    await process.runner.send("r", "go", {})
    is_taken_at_once = "r" in process.durability._workers
    await until(lambda: process.did == ["a"])
    await process.durability.close()

    assert not is_taken_at_once


async def test_a_retry_of_a_run_that_could_not_be_leased_is_no_lost_lease(
    store: RunStore, clock: FakeClock
) -> None:
    waits = graph(waiting("w", seconds=0.1), node("a", "read", "w", input={"step": "a"}))
    ours = StoreWithOutages(store)
    process = Process(cast("RunStore", ours), first_retry=0.1, every=60.0, now=clock.time)
    await process.runner.start(waits, run_id="r")
    await until(lambda: not process.durability._workers)
    ours.is_gone = True
    clock.advance(1.0)
    await until(lambda: "r" in process.durability._wakeups.retries)

    ours.is_gone = False
    await process.durability._renew()
    is_retried = "r" in process.durability._wakeups.retries
    is_elsewhere = process.durability.is_elsewhere("r")
    await until(lambda: process.did == ["a"])
    await process.durability.close()

    assert (is_retried, is_elsewhere) == (True, False)


@pytest.mark.parametrize(("crashes", "cause"), [(True, "lost"), (False, "stopped")])
async def test_a_process_that_continues_a_run_of_another_says_so_once(
    store: RunStore, clock: FakeClock, crashes: bool, cause: str
) -> None:
    first = Process(store, now=clock.time, **OWNER)
    await first.runner.start(HELD, run_id="r")
    await first.held.wait()
    await (first.crash() if crashes else first.durability.close())
    before = await list_causes(store)

    second = Process(store, did=first.did, now=clock.time, **OWNER)
    second.gate.set()
    taken = await asyncio.gather(second.durability.follow(), second.durability.recover())
    await second.runner.result("r")
    await second.durability.close()

    assert ("r",) in taken
    assert (before, await list_causes(store)) == ([], [cause])
    (event,) = [it for it in await store.events("r") if it.kind == RUN_TAKEN_OVER]
    assert event.at == clock.time()


async def test_a_run_that_waited_is_not_taken_over(store: RunStore, clock: FakeClock) -> None:
    waits = graph(waiting("w", event="go"), node("a", "read", "w", input={"step": "a"}))
    first = Process(store, now=clock.time, **OWNER)
    await first.runner.start(waits, run_id="r")
    await first.runner.result("r")
    await first.durability.close()

    second = Process(store, now=clock.time, **OWNER)
    await second.durability.follow()
    await second.runner.send("r", "go", {})
    await second.runner.result("r")
    await second.durability.close()

    assert second.did == ["a"]
    assert await list_causes(store) == []


async def test_a_process_that_tries_its_own_run_again_takes_nothing_over(
    store: RunStore, clock: FakeClock
) -> None:
    process = Process(store, first_retry=0.0, now=clock.time, **OWNER)
    attempt, failures = process.durability._attempt, ["odd"]
    assert attempt is not None

    async def fail_once(steps: Any) -> Any:
        if failures:
            raise RuntimeError(failures.pop())
        return await attempt(steps)

    process.durability.attach(fail_once)
    process.gate.set()
    await process.runner.start(HELD, run_id="r")
    with pytest.raises(RuntimeError, match="odd"):
        await process.runner.result("r")
    while process.did != ["a", "b"]:  # noqa: ASYNC110 - it looks at what no event tells of
        await asyncio.sleep(0.01)
    await process.runner.result("r")
    await process.durability.close()

    assert await list_causes(store) == []
