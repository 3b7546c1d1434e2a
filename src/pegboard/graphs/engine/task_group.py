"""Tasks that belong together: whoever leaves has waited for all of them."""

import asyncio
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from pegboard.core.ports.durability import RunSteps
from pegboard.graphs.engine.interrupts import Suspended
from pegboard.graphs.engine.run_context import RunContext

T = TypeVar("T")
_IDLE = "~idle"  # no key of a task begins so


class RunTaskGroup(Generic[T]):
    """Runs tasks and tells which have ended, in the order in which the run's steps tell it.

    Args:
        session: The run.
        steps: Those among which the tasks' own are.
        hears: Whether it hears the run's signals: that of the run's own graph does.
    """

    def __init__(self, session: RunContext, steps: RunSteps, *, hears: bool = False) -> None:
        self._session = session
        self._steps = steps
        self._hears = hears
        self._tasks: dict[str, asyncio.Task[T]] = {}
        self._noted = 0  # tokens of tasks that have ended and are being taken note of
        self._told = False  # that nothing goes on

    def __len__(self) -> int:
        return len(self._tasks)

    def spawn(self, key: str, work: Coroutine[Any, Any, T]) -> None:
        """Do this as well."""
        self._session.take()
        self._tasks[key] = asyncio.get_running_loop().create_task(work)

    async def next(self) -> list[T]:
        """What has come out of tasks that have ended meanwhile, in the order in which they began.

        Raises:
            Parked: The run only waits, and shall be played again later.
        """
        done = await self._ended()
        self._noted = len(done)
        return [self._tasks.pop(key).result() for key in done]

    async def drained(self) -> None:
        """Wait until all have ended, whatever comes out."""
        if self._tasks:
            await asyncio.wait(self._tasks.values())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        tasks = list(self._tasks.values())
        self._tasks.clear()
        again: BaseException | None = None
        while not all(task.done() for task in tasks):
            for task in tasks:
                task.cancel()
            try:
                await asyncio.wait(tasks)
            except asyncio.CancelledError as cancelled:
                again = cancelled
        for task in tasks:
            if not task.cancelled():
                task.exception()  # else the loop would tell of what nobody looked at
        self._session.lay_down(len(tasks) + self._noted)
        self._noted = 0
        if again is not None and error is None:
            raise again

    async def _ended(self) -> list[str]:
        session = self._session
        noted, self._noted = self._noted, 0
        session.lay_down(noted + 1)
        try:
            if self._hears:
                return await self._ended_or_heard()
            happened = await self._steps.next(self._tasks)
            return [key for key in self._tasks if key in happened.done]
        finally:
            session.take()

    async def _ended_or_heard(self) -> list[str]:
        session = self._session
        self._told = False
        while True:
            idle = session.idleness(is_told=self._told)
            happened = await self._steps.next({**self._tasks, _IDLE: idle})
            session.hear(happened.signals)
            done = [key for key in self._tasks if key in happened.done]
            if done:
                return done
            if session.is_idle and (happened.signals or not self._told or idle.done()):
                self._told = True
                if await session.park() and session.is_idle:
                    raise Suspended
            elif not session.is_idle:
                self._told = False
