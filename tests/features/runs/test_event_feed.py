"""What is written down of runs for whoever watches them."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.core.event import (
    BoardChanged,
    Event,
    NodeChanged,
    NodeReported,
    RunEnded,
    RunFinished,
    RunStarted,
    StepEnded,
)
from pegboard.core.ports.clock import SystemClock
from pegboard.core.ports.durability import RunStart
from pegboard.core.ports.run_store import RunEvent, RunStore, StoredRun
from pegboard.core.principal import LOCAL
from pegboard.errors import Unavailable
from pegboard.features.runs.event_feed import RunFeed
from pegboard.storage import MemoryStorage
from pegboard.storage.memory.runs import MemoryRuns

BEGUN = RunStarted(run_id="r", graph="g", principal="ada", tenant="", started_at=1.0)
ENDED = RunFinished(run_id="r", graph="g", state="completed", started_at=1.0, duration_ms=2000.0)


def changed(node: str, state: str, *, replayed: bool = False) -> NodeChanged:
    return NodeChanged(run_id="r", node=node, state=state, at=2.0, replayed=replayed)


@pytest.fixture
async def store() -> AsyncIterator[RunStore]:
    async with MemoryStorage() as storage:
        start = RunStart(run_id="r", graph={}, params={}, principal=LOCAL, created_at=1.0)
        await storage.runs.create(start)
        yield storage.runs


async def kept(store: RunStore) -> list[tuple[str, str, str]]:
    return [
        (event.kind, event.data.get("node", ""), event.data.get("state", ""))
        for event in await store.events("r")
    ]


async def test_a_play_that_tells_all_again_is_kept_once_and_fills_what_a_crash_lost(
    store: RunStore,
) -> None:
    first = RunFeed(store)
    for event in (BEGUN, changed("a", "in_progress")):
        first.on_event(event)
    await first.close()
    second = RunFeed(store)
    again = (BEGUN, changed("a", "completed", replayed=True), changed("b", "completed"), ENDED)
    for event in again:
        second.on_event(event)
    await second.close()

    assert await kept(store) == [
        ("run_started", "", ""),
        ("node_changed", "a", "in_progress"),
        ("node_changed", "a", "completed"),
        ("node_changed", "b", "completed"),
        ("run_finished", "", "completed"),
    ]


async def test_a_play_that_is_taken_up_tells_no_node_twice(store: RunStore) -> None:
    feed = RunFeed(store)
    for state in ("ready", "in_progress", "waiting"):
        feed.on_event(changed("a", state))
    feed.on_event(BEGUN)
    for state in ("ready", "waiting", "in_progress", "completed"):
        feed.on_event(changed("a", state))
    feed.on_event(BEGUN)
    for state in ("ready", "in_progress", "completed"):
        feed.on_event(changed("a", state))
    await feed.close()

    states = [state for kind, _, state in await kept(store) if kind == "node_changed"]
    assert states == ["ready", "in_progress", "waiting", "in_progress", "completed"]


async def test_ends_are_told_once_whoever_plays(store: RunStore) -> None:
    told: list[Event] = []
    here, elsewhere = RunFeed(store, tell=told.append), RunFeed(store, tell=told.append)
    skipped = NodeChanged(run_id="r", node="s", state="skipped", at=2.0, reason="'a' is failed")
    ended = NodeChanged(
        run_id="r", node="a", state="failed", at=2.5, tool="t", attempts=2, duration_ms=9.0,
        error_code="timeout",
    )  # fmt: skip
    for event in (BEGUN, changed("a", "in_progress"), skipped):
        here.on_event(event)
    await here.wait_for_news("r", within=60)
    for event in (BEGUN, changed("a", "in_progress"), skipped, ended):
        elsewhere.on_event(event)
    await elsewhere.wait_for_news("r", within=60)
    for event in (BEGUN, ended, skipped, ENDED):  # the first one has it again
        here.on_event(event)
    await here.close()
    elsewhere.on_event(ENDED)
    await elsewhere.close()

    assert told == [
        StepEnded(run_id="r", step="s", state="skipped", at=2.0, reason="'a' is failed"),
        StepEnded(
            run_id="r", step="a", state="failed", at=2.5, tool="t", attempts=2, duration_ms=9.0,
            error_code="timeout",
        ),
        RunEnded(run_id="r", graph="g", state="completed", at=3.0, duration_ms=2000.0),
    ]  # fmt: skip


async def test_nothing_is_told_of_a_run_that_nobody_keeps() -> None:
    told: list[Event] = []
    async with MemoryStorage() as storage:
        feed = RunFeed(storage.runs, tell=told.append)
        feed.on_event(ENDED)
        await feed.close()

    assert told == []


async def test_who_waits_is_woken_when_something_is_kept(store: RunStore) -> None:
    feed = RunFeed(store)
    waits = asyncio.create_task(feed.wait_for_news("r", within=60))
    await asyncio.sleep(0)
    feed.on_event(BEGUN)
    assert feed.is_behind("r")
    await waits

    assert not feed.is_behind("r")
    await feed.wait_for_news("r", within=0.01)  # nothing more comes, and nobody waits for ever
    await feed.close()
    assert feed.is_closed
    feed.on_event(ENDED)
    assert not feed.is_behind("r")


class _Slow(MemoryRuns):
    """Keeps events when it is let go."""

    def __init__(self) -> None:
        super().__init__(ClosableLock(), clock=SystemClock())
        self.began, self.go = asyncio.Event(), asyncio.Event()

    async def emit(self, run_id: str, events: Sequence[RunEvent]) -> int:
        self.began.set()
        await self.go.wait()
        return await super().emit(run_id, events)


async def test_what_is_just_being_kept_is_still_to_come() -> None:
    store = _Slow()
    await store.create(
        RunStart(run_id="r", graph={}, params={}, principal=LOCAL, created_at=1.0),
    )
    feed = RunFeed(store)
    feed.on_event(changed("a", "completed"))
    await store.began.wait()
    behind = feed.is_behind("r")
    store.go.set()
    await feed.close()

    assert (behind, feed.is_behind("r")) == (True, False)


async def test_a_store_that_is_gone_keeps_nobody_waiting(caplog: pytest.LogCaptureFixture) -> None:
    storage = MemoryStorage()
    feed = RunFeed(storage.runs)
    await storage.close()
    feed.on_event(BEGUN)
    await asyncio.sleep(0.02)
    await feed.close()

    assert "are not stored yet" in caplog.text
    assert feed.is_behind("r")


class _Stumbling(MemoryRuns):
    """A store that once does not say what a run is."""

    stumbles = 1

    async def get(self, id: str) -> StoredRun | None:
        self.stumbles -= 1
        if self.stumbles >= 0:
            raise Unavailable("away for a moment")
        return await super().get(id)


@pytest.mark.timeout(60)
async def test_what_has_to_be_provable_is_told_though_the_store_stumbles() -> None:
    store = _Stumbling(ClosableLock(), clock=SystemClock())
    start = RunStart(run_id="r", graph={}, params={}, principal=LOCAL, created_at=1.0)
    await store.create(start)
    told: list[Event] = []
    feed = RunFeed(store, tell=told.append)
    for event in (changed("a", "unknown"), changed("b", "completed"), ENDED):
        feed.on_event(event)
    while not any(isinstance(event, RunEnded) for event in told):
        await feed.wait_for_news("r", within=0.05)
    await feed.close()

    kinds = [type(event) for event in told]
    assert kinds == [BoardChanged, StepEnded, RunEnded]


class _Odd(MemoryRuns):
    """A store that fails over one run in a way that nobody foresaw."""

    is_odd = True

    async def emit(self, run_id: str, events: Sequence[RunEvent]) -> int:
        if run_id == "r" and self.is_odd:
            raise ValueError("odd")
        return await super().emit(run_id, events)


@pytest.mark.timeout(60)
async def test_a_failure_that_nobody_foresaw_holds_up_no_other_run_and_is_tried_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = _Odd(ClosableLock(), clock=SystemClock())
    for run_id in ("r", "s"):
        start = RunStart(run_id=run_id, graph={}, params={}, principal=LOCAL, created_at=1.0)
        await store.create(start)
    feed = RunFeed(store)
    feed.on_event(BEGUN)
    feed.on_event(RunStarted(run_id="s", graph="g", principal="ada", tenant="", started_at=1.0))
    await feed.wait_for_news("s", within=60)
    behind = (feed.is_behind("r"), feed.is_behind("s"))
    store.is_odd = False
    await feed.wait_for_news("r", within=60)
    await feed.close()

    assert behind == (True, False)
    assert await kept(store) == [("run_started", "", "")]
    assert "ValueError: odd" in caplog.text


def reported(kind: str, text: str = "", *, turn: int = 1) -> NodeReported:
    data = {"turn": turn, "text": text} if text else {"turn": turn}
    return NodeReported(run_id="r", node="a", kind=kind, at=2.0, data=data)


async def test_what_nodes_report_is_stored_whatever_its_kind_and_texts_are_joined(
    store: RunStore,
) -> None:
    feed = RunFeed(store)
    feed.on_event(BEGUN)
    for event in (
        reported("text_delta", "Hel"),
        reported("text_delta", "lo"),
        reported("text_delta", "Next", turn=2),
        reported("never_heard_of"),
        reported("never_heard_of"),
    ):
        feed.on_event(event)
    await feed.close()

    stored = [(event.kind, event.data.get("text", "")) for event in await store.events("r")]
    assert stored == [
        ("run_started", ""),
        ("text_delta", "Hello"),
        ("text_delta", "Next"),
        ("never_heard_of", ""),
        ("never_heard_of", ""),
    ]
