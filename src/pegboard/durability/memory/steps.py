"""The steps of one run that is kept in memory, while it is played."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from msgspec import json

from pegboard.concurrency.wait_any import TaskWaiter
from pegboard.core.ports.durability import (
    CONTROL,
    RunStart,
    RunSteps,
    Signal,
    StepEvents,
    StepRecord,
    StepRef,
    UnfinishedStep,
)
from pegboard.core.run import RunResult
from pegboard.durability.memory.journal import JournalEntry, MemoryJournal, Step


class MemorySteps:
    """A `RunSteps` over a journal."""

    def __init__(
        self,
        journal: MemoryJournal,
        kept: JournalEntry,
        now: Callable[[], float],
        ear: asyncio.Event | None,
        *,
        prefix: str = "",
        start: RunStart | None = None,
    ) -> None:
        self._journal = journal
        self._kept = kept
        self._now = now
        self._ear = ear
        self._prefix = prefix
        self._heard: set[str] = set()
        self._reserved: set[str] = set()
        self._watch = TaskWaiter()
        self.start = start or json.decode(kept.start, type=RunStart)

    def reserve(self, step: str) -> StepRef:
        path = f"{self._prefix}{step}"
        if path in self._reserved:
            raise ValueError(f"the step '{path}' was reserved before in this play")
        self._reserved.add(path)
        return StepRef(step=path)

    def inside(self, slot: StepRef) -> RunSteps:
        prefix = f"{slot.step}/"
        return MemorySteps(
            self._journal, self._kept, self._now, None, prefix=prefix, start=self.start
        )

    def find(self, slot: StepRef) -> StepRecord | UnfinishedStep | None:
        step = self._kept.steps.get(slot.step)
        if step is None:
            return None
        if step.value is None:
            return UnfinishedStep(started_at=step.started_at)
        return StepRecord(value=json.decode(step.value))

    async def do(
        self,
        slot: StepRef,
        work: Callable[[], Awaitable[Any]],
        *,
        marked: bool = False,
        takes: str = "",
    ) -> Any:
        started_at = self._now()
        if marked:
            await self._store(slot, Step(started_at=started_at), takes)
        value = await work()
        await self._store(slot, Step(started_at=started_at, value=json.encode(value)), takes)
        return value

    async def next(self, tasks: "Mapping[str, asyncio.Future[Any]]") -> StepEvents:
        if not tasks or self.has_unheard():
            return StepEvents(done=_done(tasks), signals=self._unheard())
        if self._ear is not None:
            self._ear.clear()
        await self._watch.one_of(tasks.values(), ear=self._ear)
        signals = () if self._ear is None else self._unheard()
        return StepEvents(done=_done(tasks), signals=signals)

    async def suspend(self, seen: RunResult) -> bool:  # noqa: ARG002 - it is stored when the play ends
        return not self.has_unheard()

    def has_unheard(self) -> bool:
        """Whether a signal came that this play has not heard of."""
        return self._ear is not None and any(
            key not in self._heard and key not in self._kept.taken for key in self._kept.signals
        )

    def _unheard(self) -> tuple[Signal, ...]:
        kept = self._kept
        new = [
            signal
            for key, signal in kept.signals.items()
            if key not in self._heard and (signal.topic == CONTROL or key not in kept.taken)
        ]
        self._heard.update(kept.signals)
        return tuple(new)

    async def _store(self, slot: StepRef, step: Step, takes: str) -> None:
        kept = self._kept

        def change() -> None:
            kept.steps[slot.step] = step
            if takes:
                kept.taken.add(takes)

        await self._journal.write(change)


def _done(tasks: "Mapping[str, asyncio.Future[Any]]") -> tuple[str, ...]:
    return tuple(key for key, task in tasks.items() if task.done())
