"""The steps of a run in a store, while it is played."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from pegboard.core.graph import NodeState
from pegboard.core.ports.durability import RunStart, Signal, StepRecord, UnfinishedStep
from pegboard.core.ports.run_store import RunStore
from pegboard.core.principal import LOCAL
from pegboard.core.run import RunResult
from pegboard.durability.replay_state import ReplayState
from pegboard.durability.stored_steps import StoredSteps
from pegboard.storage import MemoryStorage

START = RunStart(run_id="r", graph={}, params={}, principal=LOCAL, created_at=1.0)
SEEN = RunResult(run_id="r", state=NodeState.WAITING)


@pytest.fixture
async def store() -> AsyncIterator[RunStore]:
    async with MemoryStorage() as storage:
        await storage.runs.create(START, owner="us")
        yield storage.runs


async def steps_of(store: RunStore) -> tuple[StoredSteps, asyncio.Event]:
    ear = asyncio.Event()
    state = ReplayState(store, START, "us", has_news=ear, now=lambda: 2.0)
    return StoredSteps(await state.read()), ear


async def failing() -> None:
    raise RuntimeError("killed")


async def giving() -> list[int]:
    return [1, 2]


async def test_a_step_is_reserved_once_a_play(store: RunStore) -> None:
    steps, _ = await steps_of(store)
    assert steps.start == START
    assert steps.inside(steps.reserve("a")).reserve("b").step == "a/b"
    with pytest.raises(ValueError, match="reserved before"):
        steps.reserve("a")


async def test_what_was_done_is_found_and_what_was_begun_is_told(store: RunStore) -> None:
    steps, _ = await steps_of(store)
    await steps.do(steps.reserve("done"), giving)
    with pytest.raises(RuntimeError):
        await steps.do(steps.reserve("marked"), failing, marked=True)
    with pytest.raises(RuntimeError):
        await steps.do(steps.reserve("unmarked"), failing)
    later, _ = await steps_of(store)

    assert later.find(later.reserve("done")) == StepRecord(value=[1, 2])
    assert isinstance(later.find(later.reserve("marked")), UnfinishedStep)
    assert later.find(later.reserve("unmarked")) is None


async def test_inside_of_a_step_no_signal_is_heard(store: RunStore) -> None:
    steps, ear = await steps_of(store)
    await store.signal("r", Signal(id="s", topic="control"))
    ear.set()
    task = asyncio.ensure_future(asyncio.sleep(0))
    inner = await steps.inside(steps.reserve("a")).next({"t": task})
    outer = await steps.next({})

    assert (inner.done, inner.signals) == (("t",), ())
    assert [signal.id for signal in outer.signals] == ["s"]


async def test_a_run_parks_unless_there_is_something_it_was_not_told(store: RunStore) -> None:
    steps, ear = await steps_of(store)
    ear.set()  # somebody thought that there was something
    assert await steps.suspend(SEEN)
    await store.signal("r", Signal(id="s", topic="control"))
    ear.set()
    assert not await steps.suspend(SEEN)
