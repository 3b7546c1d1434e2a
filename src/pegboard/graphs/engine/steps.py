"""The steps of a run as an attempt uses them: without a store, and with its errors told apart."""

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
from pegboard.errors import PegboardError
from pegboard.graphs.engine.stop_signal import StoreFailed


class EphemeralSteps:
    """A `RunSteps` that records nothing: the run ends with its caller.

    Args:
        start: What the run begins with.
    """

    def __init__(self, start: RunStart, *, prefix: str = "") -> None:
        self.start = start
        self._prefix = prefix
        self._waiter = TaskWaiter()

    def reserve(self, step: str) -> StepRef:
        """The reference of a step: its path."""
        return StepRef(step=f"{self._prefix}{step}")

    def inside(self, slot: StepRef) -> "EphemeralSteps":
        """The steps within a step; their paths begin with its own."""
        return EphemeralSteps(self.start, prefix=f"{slot.step}/")

    def find(self, slot: StepRef) -> None:  # noqa: ARG002 - nothing is ever recorded
        """Nothing: there is no earlier attempt."""
        return

    async def do(
        self,
        slot: StepRef,  # noqa: ARG002 - nothing is recorded
        work: Callable[[], Awaitable[Any]],
        *,
        marked: bool = False,  # noqa: ARG002 - no later attempt reads a mark
        takes: str = "",  # noqa: ARG002 - each signal is delivered once
    ) -> Any:
        """Run the work."""
        return await work()

    async def next(self, tasks: "Mapping[str, asyncio.Future[Any]]") -> StepEvents:
        """Wait for a task; there are no signals."""
        if tasks:
            await self._waiter.one_of(tasks.values())
        return StepEvents(done=tuple(key for key, task in tasks.items() if task.done()))

    async def suspend(self, seen: RunResult) -> bool:
        """Whether to end the attempt: unless a time is waited for, nothing can resume the run."""
        return all(item.until is None for item in seen.pending)


class StoreErrorSteps:
    """A `RunSteps` that raises the errors of its store as `StoreFailed`, so that no node fails.

    Args:
        steps: The steps of a store.
    """

    def __init__(self, steps: RunSteps) -> None:
        self._steps = steps

    @property
    def start(self) -> RunStart:
        """What the run began with."""
        return self._steps.start

    def reserve(self, step: str) -> StepRef:
        """The reference of a step."""
        return self._steps.reserve(step)

    def inside(self, slot: StepRef) -> RunSteps:
        """The steps within a step."""
        return StoreErrorSteps(self._steps.inside(slot))

    def find(self, slot: StepRef) -> StepRecord | UnfinishedStep | None:
        """What earlier attempts recorded of a step."""
        return self._steps.find(slot)

    async def do(
        self,
        slot: StepRef,
        work: Callable[[], Awaitable[Any]],
        *,
        marked: bool = False,
        takes: str = "",
    ) -> Any:
        """Run the work and record its outcome; an error of the work itself is raised unchanged."""
        own: list[PegboardError] = []

        async def watched() -> Any:
            try:
                return await work()
            except PegboardError as error:
                own.append(error)
                raise

        try:
            return await self._steps.do(slot, watched, marked=marked, takes=takes)
        except PegboardError as error:
            if own and own[0] is error:
                raise
            raise StoreFailed(str(error)) from error

    async def next(self, tasks: "Mapping[str, asyncio.Future[Any]]") -> StepEvents:
        """Wait for a task or a signal."""
        try:
            return await self._steps.next(tasks)
        except PegboardError as error:
            raise StoreFailed(str(error)) from error

    async def suspend(self, seen: RunResult) -> bool:
        """Whether the attempt shall end."""
        try:
            return await self._steps.suspend(seen)
        except PegboardError as error:
            raise StoreFailed(str(error)) from error
