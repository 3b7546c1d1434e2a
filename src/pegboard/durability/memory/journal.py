"""What a crash leaves of runs in memory, and the steps that an attempt records there."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from msgspec import Struct, json

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
from pegboard.errors import RunNotFound


class Step(Struct, frozen=True, kw_only=True):
    """What is stored of a step: its start, and its outcome once it has ended."""

    started_at: float
    value: bytes | None = None


class JournalEntry(Struct, kw_only=True):
    """What is stored of a run."""

    start: bytes
    steps: dict[str, Step] = {}
    signals: dict[str, Signal] = {}
    taken: set[str] = set()
    last_result: bytes | None = None
    has_ended: bool = False

    @property
    def result(self) -> RunResult | None:
        """How the run was when it was last suspended or ended."""
        return None if self.last_result is None else json.decode(self.last_result, type=RunResult)


async def _at_once() -> None:
    """Writing to memory does not wait."""


class MemoryJournal:
    """What a crash leaves: runs, their steps and their signals.

    Attributes:
        runs: By id, the oldest first.
    """

    def __init__(self, *, pause: Callable[[], Awaitable[None]] = _at_once) -> None:
        """Start empty.

        Args:
            pause: Awaited before and after each write, as a database would make one wait.
        """
        self.runs: dict[str, JournalEntry] = {}
        self._pause = pause

    def copy(self) -> "MemoryJournal":
        """What a crash at this moment would leave."""
        copy = MemoryJournal(pause=self._pause)
        copy.runs = {
            run_id: JournalEntry(
                start=entry.start,
                steps=dict(entry.steps),
                signals=dict(entry.signals),
                taken=set(entry.taken),
                last_result=entry.last_result,
                has_ended=entry.has_ended,
            )
            for run_id, entry in self.runs.items()
        }
        return copy

    def run(self, run_id: str) -> JournalEntry:
        """What is stored of a run.

        Raises:
            RunNotFound: There is none.
        """
        try:
            return self.runs[run_id]
        except KeyError:
            raise RunNotFound(f"There is no run '{run_id}'.") from None

    def make_entry(self, start: RunStart) -> JournalEntry:
        """What is stored of a new run."""
        return JournalEntry(start=json.encode(start))

    async def write_step(self, entry: JournalEntry, path: str, step: Step, takes: str) -> None:
        """Store a step, and that it takes a signal."""

        def change() -> None:
            entry.steps[path] = step
            if takes:
                entry.taken.add(takes)

        await self.write(change)

    async def write(self, change: Callable[[], object]) -> None:
        """Change what is stored, whole or not at all."""
        await self._pause()
        change()
        await self._pause()


class MemorySteps:
    """A `RunSteps` over a journal."""

    def __init__(
        self,
        journal: MemoryJournal,
        entry: JournalEntry,
        now: Callable[[], float],
        has_news: asyncio.Event | None,
        *,
        prefix: str = "",
        start: RunStart | None = None,
    ) -> None:
        self._journal = journal
        self._entry = entry
        self._now = now
        self._has_news = has_news
        self._prefix = prefix
        self._received: set[str] = set()
        self._reserved: set[str] = set()
        self._waiter = TaskWaiter()
        self.start = start or json.decode(entry.start, type=RunStart)

    def reserve(self, step: str) -> StepRef:
        path = f"{self._prefix}{step}"
        if path in self._reserved:
            raise ValueError(f"the step '{path}' was reserved before in this attempt")
        self._reserved.add(path)
        return StepRef(step=path)

    def inside(self, slot: StepRef) -> RunSteps:
        prefix = f"{slot.step}/"
        return MemorySteps(
            self._journal, self._entry, self._now, None, prefix=prefix, start=self.start
        )

    def find(self, slot: StepRef) -> StepRecord | UnfinishedStep | None:
        step = self._entry.steps.get(slot.step)
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
        if not tasks or self.has_unread():
            return StepEvents(done=_keys_of_done(tasks), signals=self._receive())
        if self._has_news is not None:
            self._has_news.clear()
        await self._waiter.one_of(tasks.values(), ear=self._has_news)
        signals = () if self._has_news is None else self._receive()
        return StepEvents(done=_keys_of_done(tasks), signals=signals)

    async def suspend(self, seen: RunResult) -> bool:  # noqa: ARG002 - it is stored when the attempt ends
        return not self.has_unread()

    def has_unread(self) -> bool:
        """Whether there is a signal that the attempt has not received."""
        return self._has_news is not None and any(
            key not in self._received and key not in self._entry.taken
            for key in self._entry.signals
        )

    def _receive(self) -> tuple[Signal, ...]:
        entry = self._entry
        new = [
            signal
            for key, signal in entry.signals.items()
            if key not in self._received and (signal.topic == CONTROL or key not in entry.taken)
        ]
        self._received.update(entry.signals)
        return tuple(new)

    async def _store(self, slot: StepRef, step: Step, takes: str) -> None:
        await self._journal.write_step(self._entry, slot.step, step, takes)


def _keys_of_done(tasks: "Mapping[str, asyncio.Future[Any]]") -> tuple[str, ...]:
    return tuple(key for key, task in tasks.items() if task.done())
