"""The steps of one stored run during an attempt."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pegboard.concurrency.wait_any import TaskWaiter
from pegboard.core.ports.durability import (
    RunStart,
    RunSteps,
    StepEvents,
    StepRecord,
    StepRef,
    UnfinishedStep,
)
from pegboard.core.run import RunResult
from pegboard.durability.replay_state import ReplayState


class StoredSteps:
    """A `RunSteps` that records in a store.

    Args:
        state: What is stored of the run.
        prefix: What the paths of all steps begin with.
        receives: Whether it receives signals: only the run's own steps do.
    """

    def __init__(self, state: ReplayState, *, prefix: str = "", receives: bool = True) -> None:
        self._state = state
        self._prefix = prefix
        self._receives = receives
        self._reserved: set[str] = set()
        self._waiter = TaskWaiter()

    @property
    def start(self) -> RunStart:
        return self._state.start

    def reserve(self, step: str) -> StepRef:
        path = f"{self._prefix}{step}"
        if path in self._reserved:
            raise ValueError(f"the step '{path}' was reserved before in this attempt")
        self._reserved.add(path)
        return StepRef(step=path)

    def inside(self, slot: StepRef) -> RunSteps:
        return StoredSteps(self._state, prefix=f"{slot.step}/", receives=False)

    def find(self, slot: StepRef) -> StepRecord | UnfinishedStep | None:
        step = self._state.steps.get(slot.step)
        if step is None:
            return None
        if step.finished_at is None:
            return UnfinishedStep(started_at=step.started_at)
        return StepRecord(value=step.value)

    async def do(
        self,
        slot: StepRef,
        work: Callable[[], Awaitable[Any]],
        *,
        marked: bool = False,
        takes: str = "",
    ) -> Any:
        state = self._state
        started_at = state.now()
        if marked:
            await state.mark(slot.step, takes=takes)
        value = await work()
        await state.record(slot.step, started_at, value, takes=takes)
        return value

    async def next(self, tasks: "Mapping[str, asyncio.Future[Any]]") -> StepEvents:
        while True:
            if self._receives and self._state.has_news.is_set():
                await self._state.refresh()
            signals = self._state.receive() if self._receives else ()
            done = tuple(key for key, task in tasks.items() if task.done())
            if signals or done or not tasks:
                return StepEvents(done=done, signals=signals)
            await self._wait(tasks)

    async def suspend(self, seen: RunResult) -> bool:  # noqa: ARG002 - it is stored when the attempt ends
        if self._state.has_news.is_set():
            await self._state.refresh()
        return not self._state.has_unread

    async def _wait(self, tasks: "Mapping[str, asyncio.Future[Any]]") -> None:
        news = self._state.has_news if self._receives else None
        await self._waiter.one_of(tasks.values(), ear=news)
