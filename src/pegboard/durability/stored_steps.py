"""The steps of one run that is kept in a store, while it is played."""

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
    """A `RunSteps` over a ledger.

    Args:
        ledger: Of the run.
        prefix: Before the paths of all steps.
        hears: Whether it hears of signals: the run's own steps do.
    """

    def __init__(self, ledger: ReplayState, *, prefix: str = "", hears: bool = True) -> None:
        self._ledger = ledger
        self._prefix = prefix
        self._hears = hears
        self._reserved: set[str] = set()
        self._watch = TaskWaiter()

    @property
    def start(self) -> RunStart:
        return self._ledger.start

    def reserve(self, step: str) -> StepRef:
        path = f"{self._prefix}{step}"
        if path in self._reserved:
            raise ValueError(f"the step '{path}' was reserved before in this play")
        self._reserved.add(path)
        return StepRef(step=path)

    def inside(self, slot: StepRef) -> RunSteps:
        return StoredSteps(self._ledger, prefix=f"{slot.step}/", hears=False)

    def find(self, slot: StepRef) -> StepRecord | UnfinishedStep | None:
        step = self._ledger.steps.get(slot.step)
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
        ledger = self._ledger
        started_at = ledger.now()
        if marked:
            await ledger.mark(slot.step, takes=takes)
        value = await work()
        await ledger.record(slot.step, started_at, value, takes=takes)
        return value

    async def next(self, tasks: "Mapping[str, asyncio.Future[Any]]") -> StepEvents:
        while True:
            if self._hears and self._ledger.ear.is_set():
                await self._ledger.listen()
            signals = self._ledger.tell() if self._hears else ()
            done = tuple(key for key, task in tasks.items() if task.done())
            if signals or done or not tasks:
                return StepEvents(done=done, signals=signals)
            await self._wait(tasks)

    async def suspend(self, seen: RunResult) -> bool:  # noqa: ARG002 - it is stored when the play ends
        if self._ledger.ear.is_set():
            await self._ledger.listen()
        return not self._ledger.has_untold

    async def _wait(self, tasks: "Mapping[str, asyncio.Future[Any]]") -> None:
        ear = self._ledger.ear if self._hears else None
        await self._watch.one_of(tasks.values(), ear=ear)
