"""What one play knows of what is stored."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from pegboard.core.ports.durability import CONTROL, RunStart, Signal
from pegboard.core.ports.run_store import RunStore
from pegboard.core.principal import LOCAL
from pegboard.durability import replay_state
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


async def test_an_outcome_is_stored_once_the_store_is_back(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = [
        Unavailable("gone", retry_after=1.0, nothing_done=True),
        Unavailable("nobody knows", retry_after=1.0),
    ]
    record = store.record

    async def fail_at_first(*args: Any, **more: Any) -> None:
        if failures:
            raise failures.pop()
        await record(*args, **more)

    monkeypatch.setattr(replay_state, "_FIRST_DELAY", 0.01)
    monkeypatch.setattr(store, "record", fail_at_first)
    state = await a_state(store).read()
    await state.record("step", 1.0, "out", takes="")

    assert not failures
    assert (await a_state(store).read()).steps["step"].value == "out"


async def test_an_outcome_that_cannot_be_stored_is_an_error(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: Any, **__: Any) -> None:
        raise Unavailable("it cannot be written", nothing_done=True)

    state = await a_state(store).read()
    monkeypatch.setattr(store, "record", refuse)
    with pytest.raises(Unavailable, match="cannot be written"):
        await state.record("step", 1.0, "out", takes="")


async def test_an_outcome_is_not_stored_without_the_lease(store: RunStore) -> None:
    state = await a_state(store).read()
    await store.release("r", "us")
    await store.lease("r", "them")
    with pytest.raises(Unavailable, match="another worker"):
        await state.record("step", 1.0, "out", takes="")


async def test_signals_are_read_once_the_store_is_back(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = await a_state(store).read()
    await store.signal("r", Signal(id="late", topic=CONTROL, message="cancel"))

    async def fail(*_: Any, **__: Any) -> Any:
        raise Unavailable("gone", retry_after=1.0, nothing_done=True)

    monkeypatch.setattr(replay_state, "_LOOK_AGAIN", 0.01)
    with monkeypatch.context() as patch:
        patch.setattr(store, "signals", fail)
        await state.refresh()
        assert not state.has_unread
    await state.has_news.wait()
    await state.refresh()

    assert [item.message for item in state.receive()] == ["cancel"]
