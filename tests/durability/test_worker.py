"""One run of a store, executed until it is suspended."""

import asyncio

import pytest

from pegboard.core.graph import NodeState
from pegboard.core.ports.durability import RunStart, RunSteps, Signal
from pegboard.core.principal import LOCAL
from pegboard.core.run import PendingStep, RunResult
from pegboard.durability.worker import StoredRunWorker
from pegboard.storage import MemoryStorage

START = RunStart(run_id="r", graph={}, params={}, principal=LOCAL, created_at=1.0)


async def test_it_plays_again_what_came_during_the_play_and_rests_until_it_is_time() -> None:
    finished: list[StoredRunWorker] = []
    told: list[tuple[str, ...]] = []
    async with MemoryStorage() as storage:
        await storage.runs.create(START, owner="us")

        async def attempt(steps: RunSteps) -> RunResult:
            signals = (await steps.next({})).signals
            told.append(tuple(signal.id for signal in signals))
            if len(told) == 1:
                await storage.runs.signal("r", Signal(id="s", topic="event:x"))
            pending = (
                PendingStep(id="t", step="nap", kind="time", until=99.0),
                PendingStep(id="q", step="ask", kind="person"),
            )
            return RunResult(run_id="r", state=NodeState.WAITING, pending=pending)

        worker = StoredRunWorker(
            storage.runs, START, "us", attempt=attempt, now=lambda: 2.0, on_finish=finished.append
        )
        await worker.finished.wait()
        kept = await storage.runs.get("r")

    assert told == [(), ("s",)]
    assert finished == [worker]
    assert worker.wake_at == 99.0
    assert kept is not None
    assert (kept.state, kept.wake_at, kept.lease_owner) == (NodeState.WAITING, 99.0, "")


async def test_an_error_of_the_play_is_kept_for_whoever_waits() -> None:
    async def attempt(steps: RunSteps) -> RunResult:
        raise RuntimeError("no such graph")

    async with MemoryStorage() as storage:
        await storage.runs.create(START, owner="us")
        worker = StoredRunWorker(
            storage.runs, START, "us", attempt=attempt, now=lambda: 2.0, on_finish=lambda _: None
        )
        await worker.finished.wait()

    assert isinstance(worker.error, RuntimeError)


@pytest.mark.parametrize("how", ["lose", "close"])
async def test_it_stops_when_it_is_told_to(how: str) -> None:
    finished: list[StoredRunWorker] = []

    async def attempt(steps: RunSteps) -> RunResult:
        await asyncio.Event().wait()
        raise AssertionError

    async with MemoryStorage() as storage:
        await storage.runs.create(START, owner="us")
        worker = StoredRunWorker(
            storage.runs, START, "us", attempt=attempt, now=lambda: 2.0, on_finish=finished.append
        )
        await asyncio.sleep(0.01)
        if how == "lose":
            worker.lose()
        else:
            await worker.close()
        await worker.finished.wait()

    assert worker.error is None
    assert finished == [worker]
