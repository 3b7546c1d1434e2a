"""Runs in memory: for tests, for agents in a program, and as the model of a back end.

What would survive a crash is in a `MemoryJournal`, as bytes; everything else ends with the
`MemoryDurability`. A second one on the same journal continues where the first stopped.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Self

from msgspec import json

from pegboard.core.ports.durability import Attempt, RunStart, Signal
from pegboard.core.run import RunResult
from pegboard.durability.memory.journal import JournalEntry, MemoryJournal, MemorySteps
from pegboard.errors import Unavailable


class MemoryDurability:
    """A `Durability` in memory, for one event loop.

    ```python
    durability = MemoryDurability()
    runner = GraphRunner(registry, durability=durability)
    ...
    await durability.close()
    ```

    Args:
        journal: What an earlier one has stored; None for a new one.
        most: Ended runs that are retained; the oldest are dropped first.
        now: Unix seconds.
    """

    def __init__(
        self,
        journal: MemoryJournal | None = None,
        *,
        most: int = 1_000,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.journal = journal or MemoryJournal()
        self._most = most
        self._now = now
        self._attempt: Attempt | None = None
        self._workers: dict[str, MemoryRunWorker] = {}
        self._closed = False

    def attach(self, attempt: Attempt) -> None:
        self._attempt = attempt

    async def start(self, start: RunStart) -> bool:
        self._check_open()
        if start.run_id in self.journal.runs:
            return False
        entry = self.journal.make_entry(start)
        await self.journal.write(lambda: self._add(start.run_id, entry))
        self._worker(start.run_id).start()
        return True

    async def signal(self, run_id: str, signal: Signal) -> bool:
        entry = self.journal.run(run_id)
        await self.journal.write(lambda: entry.signals.setdefault(signal.id, signal))
        self._check_open()
        if not entry.has_ended:
            self._worker(run_id).notify()
        return entry.signals[signal.id] is signal

    async def get_start(self, run_id: str) -> RunStart | None:
        entry = self.journal.runs.get(run_id)
        return None if entry is None else json.decode(entry.start, type=RunStart)

    async def get_result(self, run_id: str) -> RunResult | None:
        return self.journal.run(run_id).result

    async def wait_until_settled(self, run_id: str) -> RunResult:
        entry = self.journal.run(run_id)
        while True:
            worker = self._workers.get(run_id)
            if worker is None:
                if (result := entry.result) is not None:
                    return result
                self._check_open()
                self._worker(run_id).start()
            elif (result := await worker.wait_until_settled()) is not None:
                return result

    async def recover(self) -> tuple[str, ...]:
        self._check_open()
        waiting = [
            run_id
            for run_id, entry in self.journal.runs.items()
            if not entry.has_ended and run_id not in self._workers
        ]
        for run_id in waiting:
            self._worker(run_id).start()
        return tuple(waiting)

    async def close(self) -> None:
        self._closed = True
        workers = list(self._workers.values())
        self._workers.clear()
        for worker in workers:
            await worker.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _add(self, run_id: str, entry: JournalEntry) -> None:
        ended = [key for key, item in self.journal.runs.items() if item.has_ended]
        for key in ended[: max(0, len(ended) - self._most + 1)]:
            del self.journal.runs[key]
        self.journal.runs[run_id] = entry

    def _worker(self, run_id: str) -> "MemoryRunWorker":
        worker = self._workers.get(run_id)
        if worker is None:
            if self._attempt is None:
                raise Unavailable("No runner is attached to this durability.", permanent=True)
            worker = MemoryRunWorker(self.journal, run_id, self._attempt, self._now, self._finish)
            self._workers[run_id] = worker
        return worker

    def _finish(self, run_id: str) -> None:
        self._workers.pop(run_id, None)

    def _check_open(self) -> None:
        if self._closed:
            raise Unavailable("The durability is closed.", nothing_done=True)


class MemoryRunWorker:
    """Executes one run in memory, attempt by attempt, until it has ended."""

    def __init__(
        self,
        journal: MemoryJournal,
        run_id: str,
        attempt: Attempt,
        now: Callable[[], float],
        on_finish: Callable[[str], None],
    ) -> None:
        self._journal = journal
        self._entry = journal.run(run_id)
        self._run_id = run_id
        self._attempt = attempt
        self._now = now
        self._on_finish = on_finish
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._has_news = asyncio.Event()
        self._is_settled = asyncio.Event()
        self._error: Exception | None = None

    def start(self) -> None:
        if self._task is None or self._task.done():
            self._is_settled.clear()
            self._task = asyncio.get_running_loop().create_task(self._work())

    def notify(self) -> None:
        """Tell the run that there is a signal."""
        self._has_news.set()
        self.start()

    async def wait_until_settled(self) -> RunResult | None:
        """How the run is once it does nothing by itself; None when it must be read again."""
        await self._is_settled.wait()
        if self._error is not None:
            raise self._error
        return self._entry.result

    async def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        self._is_settled.set()

    async def _work(self) -> None:
        try:
            result = await self._execute()
        except Exception as error:  # noqa: BLE001 - raised to those who wait for the run, which is stored and can be recovered
            self._error = error
            self._on_finish(self._run_id)
            self._is_settled.set()
            return
        if result.state.is_final:
            self._on_finish(self._run_id)
            self._is_settled.set()
            return
        times = [item.until for item in result.pending if item.until is not None]
        if times:
            delay = max(0.0, min(times) - self._now())
            self._timer = asyncio.get_running_loop().call_later(delay, self.start)
        if any(item.kind != "time" for item in result.pending) or not times:
            self._is_settled.set()

    async def _execute(self) -> RunResult:
        """Make attempts as long as a signal came that the last attempt did not receive."""
        while True:
            if self._timer is not None:
                self._timer.cancel()
            self._has_news.clear()
            steps = MemorySteps(self._journal, self._entry, self._now, self._has_news)
            result = await self._attempt(steps)
            raw = json.encode(result)

            def store(result: RunResult = result, raw: bytes = raw) -> None:
                self._entry.last_result, self._entry.has_ended = raw, result.state.is_final

            await self._journal.write(store)
            if result.state.is_final or not steps.has_unread():
                return result
