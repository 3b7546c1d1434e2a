import asyncio

import pytest

from pegboard.core.graph import NodeState
from pegboard.core.ports.durability import RunStart, RunSteps
from pegboard.core.principal import LOCAL
from pegboard.core.run import RunResult
from pegboard.durability import MemoryDurability, MemoryJournal
from pegboard.durability.memory.journal import JournalEntry, MemorySteps
from pegboard.errors import RunNotFound, Unavailable
from pegboard.testing import DurabilityContract


class TestMemory(DurabilityContract):
    def new_store(self) -> MemoryJournal:
        return MemoryJournal()

    async def open(self, store: MemoryJournal) -> MemoryDurability:
        return MemoryDurability(store)


class TestSlowMemory(TestMemory):
    """The same where each write makes its writer wait."""

    def new_store(self) -> MemoryJournal:
        return MemoryJournal(pause=lambda: asyncio.sleep(0))


def start(run_id: str) -> RunStart:
    return RunStart(run_id=run_id, graph={}, params={}, principal=LOCAL, created_at=0)


async def end(steps: RunSteps) -> RunResult:
    return RunResult(run_id=steps.start.run_id, state=NodeState.COMPLETED)


async def test_only_so_many_ended_runs_are_remembered() -> None:
    async with MemoryDurability(most=2) as durability:
        durability.attach(end)
        for name in ("a", "b", "c", "d"):
            await durability.start(start(name))
            await durability.wait_until_settled(name)

        assert list(durability.journal.runs) == ["c", "d"]
        with pytest.raises(RunNotFound):
            await durability.wait_until_settled("a")


async def test_a_copy_is_what_a_crash_would_leave() -> None:
    async with MemoryDurability() as durability:
        durability.attach(end)
        await durability.start(start("a"))
        copy = durability.journal.copy()
        await durability.wait_until_settled("a")

        assert durability.journal.run("a").has_ended
        assert not copy.run("a").has_ended
        assert isinstance(copy.run("a").steps, dict)


async def test_without_a_runner_nothing_is_played() -> None:
    durability = MemoryDurability()

    with pytest.raises(Unavailable, match="No runner"):
        await durability.start(start("a"))


async def test_a_step_is_reserved_once_a_play() -> None:
    async def twice(steps: RunSteps) -> RunResult:
        assert isinstance(steps, MemorySteps)
        steps.reserve("a")
        with pytest.raises(ValueError, match="'a' was reserved before"):
            steps.reserve("a")
        return await end(steps)

    async with MemoryDurability() as durability:
        durability.attach(twice)
        await durability.start(start("r"))
        assert (await durability.wait_until_settled("r")).state is NodeState.COMPLETED


async def test_who_waits_for_a_run_that_a_close_ends_is_told() -> None:
    async def never(steps: RunSteps) -> RunResult:
        await asyncio.sleep(60)
        return await end(steps)

    durability = MemoryDurability()
    durability.attach(never)
    await durability.start(start("r"))
    waiting = asyncio.ensure_future(durability.wait_until_settled("r"))
    await asyncio.sleep(0)
    await durability.close()

    with pytest.raises(Unavailable, match="closed"):
        await waiting
    assert isinstance(durability.journal.run("r"), JournalEntry)
