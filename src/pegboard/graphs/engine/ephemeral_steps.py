"""A run that is kept nowhere: over when its caller is."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pegboard.concurrency.wait_any import TaskWaiter
from pegboard.core.ports.durability import RunStart, StepEvents, StepRef
from pegboard.core.run import RunResult


class EphemeralSteps:
    """A `RunSteps` that records nothing and costs nothing.

    Args:
        start: What the run begins with.
    """

    def __init__(self, start: RunStart, *, prefix: str = "") -> None:
        self.start = start
        self._prefix = prefix
        self._watch = TaskWaiter()

    def reserve(self, step: str) -> StepRef:
        """Its path is enough."""
        return StepRef(step=f"{self._prefix}{step}")

    def inside(self, slot: StepRef) -> "EphemeralSteps":
        """The same, one path further in."""
        return EphemeralSteps(self.start, prefix=f"{slot.step}/")

    def find(self, slot: StepRef) -> None:  # noqa: ARG002 - nothing is ever recorded
        """There is no earlier play."""
        return

    async def do(
        self,
        slot: StepRef,  # noqa: ARG002 - it is recorded nowhere
        work: Callable[[], Awaitable[Any]],
        *,
        marked: bool = False,  # noqa: ARG002 - nobody comes after a crash to look
        takes: str = "",  # noqa: ARG002 - each signal is told once
    ) -> Any:
        """Do it."""
        return await work()

    async def next(self, tasks: "Mapping[str, asyncio.Future[Any]]") -> StepEvents:
        """Wait for a task; nobody sends it signals."""
        if tasks:
            await self._watch.one_of(tasks.values())
        return StepEvents(done=tuple(key for key, task in tasks.items() if task.done()))

    async def suspend(self, seen: RunResult) -> bool:
        """Only time is waited for: nobody could answer a run that is kept nowhere."""
        return all(item.until is None for item in seen.pending)
