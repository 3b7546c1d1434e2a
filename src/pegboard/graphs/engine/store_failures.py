"""The steps of a run, with what the store says told apart from what nodes say."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

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
from pegboard.graphs.engine.interrupts import StoreFailed


class StoreErrorSteps:
    """Steps whose store may fail: then `StoreFailed` ends the play, and no node has failed."""

    def __init__(self, steps: RunSteps) -> None:
        self._steps = steps

    @property
    def start(self) -> RunStart:
        """What the run began with."""
        return self._steps.start

    def reserve(self, step: str) -> StepRef:
        """The place of a step."""
        return self._steps.reserve(step)

    def inside(self, slot: StepRef) -> RunSteps:
        """The steps that one step consists of."""
        return StoreErrorSteps(self._steps.inside(slot))

    def find(self, slot: StepRef) -> StepRecord | UnfinishedStep | None:
        """What earlier plays did of it."""
        return self._steps.find(slot)

    async def do(
        self,
        slot: StepRef,
        work: Callable[[], Awaitable[Any]],
        *,
        marked: bool = False,
        takes: str = "",
    ) -> Any:
        """Do it and record it; what the work itself raises comes out as it is."""
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
        """Wait for something to happen."""
        try:
            return await self._steps.next(tasks)
        except PegboardError as error:
            raise StoreFailed(str(error)) from error

    async def suspend(self, seen: RunResult) -> bool:
        """Whether the play shall end."""
        try:
            return await self._steps.suspend(seen)
        except PegboardError as error:
            raise StoreFailed(str(error)) from error
