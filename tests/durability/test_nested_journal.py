"""A journal within a step of a stored run: what later attempts find of it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.storage.made import a_storage

from pegboard.core.ports.durability import RunStart, StepRecord
from pegboard.core.ports.run_store import RunStore
from pegboard.core.principal import LOCAL
from pegboard.durability.memory.journal import MemorySteps
from pegboard.durability.nested_journal import NestedJournal
from pegboard.durability.replay_state import ReplayState
from pegboard.testing import FakeClock

OUTER = RunStart(run_id="r", graph={}, params={}, principal=LOCAL, created_at=0.0)
INNER = RunStart(run_id="inner", graph={}, params={}, principal=LOCAL, created_at=0.0)


@pytest.fixture(params=["memory", "sqlite"])
async def store(
    request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock
) -> AsyncIterator[RunStore]:
    async with a_storage(request.param, tmp_path, clock) as storage:
        await storage.runs.create(OUTER, owner="us")
        yield storage.runs


async def reopen(store: RunStore, name: str = "agent:ask:0") -> NestedJournal:
    """The journal as the next attempt at the run finds it."""
    state = ReplayState(store, OUTER, "us", has_news=asyncio.Event(), now=lambda: 1.0)
    return NestedJournal(await state.read(), name)


def steps_of(journal: NestedJournal) -> MemorySteps:
    return MemorySteps(journal, journal.make_entry(INNER), lambda: 1.0, None)


async def record(journal: NestedJournal, step: str, value: Any, **known: Any) -> None:
    steps = steps_of(journal)

    async def work() -> Any:
        return value

    await steps.do(steps.reserve(step), work, **known)


def find(journal: NestedJournal, step: str) -> Any:
    steps = steps_of(journal)
    return steps.find(steps.reserve(step))


async def test_the_next_attempt_finds_what_was_recorded(store: RunStore) -> None:
    journal = await reopen(store)
    await record(journal, "turn", {"text": "Hi."})
    again, other = await reopen(store), await reopen(store, "agent:ask:00")

    assert find(again, "turn") == StepRecord(value={"text": "Hi."})
    assert find(other, "turn") is None


async def test_a_step_that_has_only_begun_is_not_found(store: RunStore) -> None:
    steps = steps_of(await reopen(store))

    async def crash() -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        await steps.do(steps.reserve("call"), crash, marked=True)

    assert find(await reopen(store), "call") is None


async def test_a_run_that_has_ended_begins_anew(store: RunStore) -> None:
    for text in ("one", "two"):
        journal = await reopen(store)
        assert find(journal, "turn") is None
        await record(journal, "turn", text)
        await journal.end()

    assert find(await reopen(store), "turn") is None


async def test_the_approvals_that_calls_waited_for_are_known(store: RunStore) -> None:
    journal = await reopen(store)
    await record(journal, "a", {"state": "waiting", "error": {"approval_id": "ap_1"}})
    await record(journal, "b", {"state": "failed", "error": {"approval_id": "ap_2"}})
    await record(journal, "c", "text")

    assert (await reopen(store)).list_approvals() == ["ap_1"]
