"""What one play knows of what is stored."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from pegboard.core.ports.durability import CONTROL, RunStart, Signal
from pegboard.core.ports.run_store import RunStore
from pegboard.core.principal import LOCAL
from pegboard.durability.replay_state import ReplayState
from pegboard.errors import Unavailable
from pegboard.storage import MemoryStorage

START = RunStart(run_id="r", graph={}, params={}, principal=LOCAL, created_at=1.0)


@pytest.fixture
async def store() -> AsyncIterator[RunStore]:
    async with MemoryStorage() as storage:
        await storage.runs.create(START, owner="us")
        yield storage.runs


def a_state(store: RunStore) -> ReplayState:
    return ReplayState(store, START, "us", has_news=asyncio.Event(), now=lambda: 2.0)


async def test_a_step_that_another_play_started_does_not_start(store: RunStore) -> None:
    await a_state(store).mark("a", takes="")
    with pytest.raises(Unavailable, match="another attempt"):
        await a_state(store).mark("a", takes="")


async def test_signals_are_told_once_and_taken_ones_never(store: RunStore) -> None:
    for number, topic in enumerate(("event:x", "event:y", CONTROL)):
        await store.signal("r", Signal(id=f"s{number}", topic=topic))
    state = await a_state(store).read()
    await state.record("step", 1.0, "out", takes="s0")
    again = await a_state(store).read()

    assert [item.id for item in state.receive()] == ["s0", "s1", "s2"]
    assert state.receive() == ()
    assert [item.id for item in again.receive()] == ["s1", "s2"]


async def test_what_comes_during_a_play_is_learnt_by_listening(store: RunStore) -> None:
    state = await a_state(store).read()
    await store.signal("r", Signal(id="late", topic=CONTROL, message="cancel"))
    state.has_news.set()
    await state.refresh()

    assert state.has_unread
    assert [item.message for item in state.receive()] == ["cancel"]
    assert not state.has_unread
    assert not state.has_news.is_set()
