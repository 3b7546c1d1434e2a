"""Has one run played again and again until it has ended."""

import asyncio
from collections.abc import Callable

from msgspec import json

from pegboard.core.ports.durability import Attempt
from pegboard.core.run import RunResult
from pegboard.durability.memory.journal import MemoryJournal
from pegboard.durability.memory.steps import MemorySteps


class Player:
    """Has one run played again and again until it has ended."""

    def __init__(
        self,
        journal: MemoryJournal,
        run_id: str,
        play: Attempt,
        now: Callable[[], float],
        left: Callable[[str], None],
    ) -> None:
        self._journal = journal
        self._kept = journal.run(run_id)
        self._run_id = run_id
        self._play = play
        self._now = now
        self._left = left
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._ear = asyncio.Event()
        self._rested = asyncio.Event()
        self._error: Exception | None = None

    def play(self) -> None:
        if self._task is None or self._task.done():
            self._rested.clear()
            self._task = asyncio.get_running_loop().create_task(self._played())

    def hear(self) -> None:
        """There is a signal that no play has heard."""
        self._ear.set()
        self.play()

    async def settled(self) -> RunResult | None:
        """How the run is once nothing goes on by itself; None when it must be looked at again."""
        await self._rested.wait()
        if self._error is not None:
            raise self._error
        return self._kept.result

    async def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        self._rested.set()

    async def _played(self) -> None:
        try:
            result = await self._until_quiet()
        except Exception as error:  # noqa: BLE001 - whoever waits for the run is told; it is stored as it was, and can be recovered
            self._error = error
            self._left(self._run_id)
            self._rested.set()
            return
        if result.state.is_final:
            self._left(self._run_id)
            self._rested.set()
            return
        times = [item.until for item in result.pending if item.until is not None]
        if times:
            delay = max(0.0, min(times) - self._now())
            self._timer = asyncio.get_running_loop().call_later(delay, self.play)
        if any(item.kind != "time" for item in result.pending) or not times:
            self._rested.set()

    async def _until_quiet(self) -> RunResult:
        """Play, and play again as long as a signal came that the last play did not hear."""
        while True:
            if self._timer is not None:
                self._timer.cancel()
            self._ear.clear()
            steps = MemorySteps(self._journal, self._kept, self._now, self._ear)
            result = await self._play(steps)
            raw = json.encode(result)

            def store(result: RunResult = result, raw: bytes = raw) -> None:
                self._kept.seen, self._kept.has_ended = raw, result.state.is_final

            await self._journal.write(store)
            if result.state.is_final or not steps.has_unheard():
                return result
