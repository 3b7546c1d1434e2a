"""Runs stored in the board's own database, which outlive the process that executes them."""

import asyncio
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import Self
from weakref import WeakValueDictionary

from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.core.graph import NodeState
from pegboard.core.ports.durability import Attempt, RunStart, Signal
from pegboard.core.ports.run_store import (
    LEASE,
    RUN_TAKEN_OVER,
    RunEvent,
    RunQuery,
    RunStore,
    StoredRun,
)
from pegboard.core.run import RunResult
from pegboard.durability.nested_journal import NestedJournal
from pegboard.durability.scheduling import (
    CrashCounter,
    Wakeups,
    is_due,
    is_settled,
    list_run_ids,
)
from pegboard.durability.worker import StoredRunWorker
from pegboard.errors import PegboardError, RunNotFound, Unavailable

_LOG = logging.getLogger("pegboard.durability")
_POLLS_AFTER_OUTAGE = 3
"""Polls without taking runs of others once the store is back: each first renews its own leases."""
_UNFINISHED = tuple(state for state in NodeState if not state.is_final)


class StoredDurability:
    """A `Durability` on a `RunStore`.

    The worker of a run holds its lease and renews it; a run whose owner crashed is taken over when
    the lease ends. A store that only one process uses need not wait for that: there each process
    has the same owner, and continues at once what the one before left.

    ```python
    async with open_storage("data") as storage, StoredDurability(storage.runs) as durability:
        runner = GraphRunner(registry, durability=durability)
    ```

    Args:
        store: Where the runs are.
        owner: The owner of the leases; empty for one of its own, where several processes share the
            store.
        lease: Seconds after which a run is taken from an owner that does not renew its lease.
        every: Seconds between polls of the store for runs and signals of other processes.
        most: Runs that are taken up at the same time; runs started here do not count.
        first_retry: Seconds until a run whose attempt failed is retried; the delay doubles with
            each further failure.
        max_crashes: How many processes in a row may crash while executing a run, before it is
            paused.
        now: Unix seconds.
        on_takeover: Called with a run that another process had begun, before it continues here.
    """

    def __init__(  # noqa: PLR0913 - the tunables of a back end
        self,
        store: RunStore,
        *,
        owner: str = "",
        lease: float = LEASE,
        every: float = 1.0,
        most: int = 200,
        first_retry: float = 1.0,
        max_crashes: int = 20,
        now: Callable[[], float] = time.time,
        on_takeover: Callable[[str], Awaitable[None]] | None = None,
    ) -> None:
        self._store = store
        self._is_shared = not owner
        self._owner = owner or f"o_{secrets.token_hex(8)}"
        self._lease = lease
        self._every = every
        self._most = most
        self._now = now
        self._on_takeover = on_takeover
        self._attempt: Attempt | None = None
        self._workers: dict[str, StoredRunWorker] = {}
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._acquisitions: dict[object, set[str]] = {}
        self._wakeups = Wakeups(self._resume, first=first_retry)
        self._crashes = CrashCounter(store, self._owner, most=max_crashes, now=now)
        self._polling: asyncio.Task[None] | None = None
        self._takes_others = False
        self._polls_to_wait = 0
        self._closed = False

    def attach(self, attempt: Attempt) -> None:
        self._attempt = attempt

    async def start(self, start: RunStart) -> bool:
        self._check_open()
        plan_id = str(start.graph.get("id", ""))
        if not await self._store.create(
            start, plan_id=plan_id, owner=self._owner, seconds=self._lease
        ):
            return False
        self._begin(start)
        return True

    async def signal(self, run_id: str, signal: Signal) -> bool:
        is_new = await self._store.signal(run_id, signal)
        if is_new is None:
            raise RunNotFound(f"There is no run '{run_id}'.")
        self._check_open()
        worker = self._workers.get(run_id)
        if worker is not None:
            worker.notify()
        elif self._polls_to_wait:
            self._wakeups.set(run_id, after=self._every)
        else:
            await self._take_up(run_id)
        return is_new

    async def get_start(self, run_id: str) -> RunStart | None:
        run = await self._store.get(run_id)
        return None if run is None else run.start

    async def get_result(self, run_id: str) -> RunResult | None:
        return (await self._run(run_id)).result

    async def wait_until_settled(self, run_id: str) -> RunResult:
        while True:
            worker = self._workers.get(run_id)
            if worker is None:
                run = await self._run(run_id)
                if run.result is not None and is_settled(run, now=self._now()):
                    return run.result
                self._check_open()
                if (error := self._wakeups.error(run_id)) is not None:
                    raise error
                if is_due(run, now=self._now()) and not self._polls_to_wait:
                    worker = await self._take_up(run_id)
            if worker is None:  # another process executes it, or it is not due
                await asyncio.sleep(self._every / 10)
                continue
            await worker.finished.wait()
            if worker.error is not None:
                raise worker.error

    async def recover(self) -> tuple[str, ...]:
        self._check_open()
        ids = [
            run_id
            for state in _UNFINISHED
            for run_id in await list_run_ids(self._store, state)
            if run_id not in self._workers
        ]
        return tuple([run_id for run_id in ids if await self._take_up(run_id) is not None])

    async def follow(self) -> tuple[str, ...]:
        """Take up runs that no worker executes, now and from now on; the ids of those taken now."""
        self._check_open()
        left = [
            run_id
            for state in (NodeState.PENDING, NodeState.IN_PROGRESS)
            for run_id in await list_run_ids(self._store, state)
            if run_id not in self._workers
        ]
        taken = [run_id for run_id in left if await self._take_up(run_id) is not None]
        self._takes_others = True
        self._start_polling()
        return tuple(taken)

    async def close(self) -> None:
        self._closed = True
        await self._wakeups.close()
        if self._polling is not None:
            self._polling.cancel()
            await asyncio.wait([self._polling])
        workers = list(self._workers.values())
        for worker in workers:
            await worker.close()
        for run_id in [*(worker.run_id for worker in workers), *self._wakeups.retries]:
            await self._release(run_id)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def is_elsewhere(self, run_id: str) -> bool:
        """Whether another process may execute a run: it has no worker here, and no retry."""
        is_here = run_id in self._workers or run_id in self._wakeups.retries
        return self._is_shared and not is_here

    def open_nested(self, run_id: str, name: str) -> NestedJournal | None:
        """A journal within a run that is executed here; None where it is not.

        Args:
            run_id: The run.
            name: The same for each attempt at what the journal is for, and no path of a step.
        """
        worker = self._workers.get(run_id)
        if worker is None or worker.state is None:
            return None
        return NestedJournal(worker.state, name)

    # executing

    async def _take_up(self, run_id: str) -> StoredRunWorker | None:
        """Execute a run if its lease can be acquired; its worker."""
        turn = self._turns.setdefault(run_id, asyncio.Lock())
        async with turn:  # of two that take it up at once, the second finds a worker
            while not self._closed:
                with self._acquire() as finished:
                    run = await self._store.lease(run_id, self._owner, seconds=self._lease)
                    if run is None:
                        break
                    worker = await self._worker_of(run, finished)
                if worker is not None:
                    return worker
        self._wakeups.settle(run_id)
        self._crashes.leave(run_id)
        return None

    @contextmanager
    def _acquire(self) -> Generator[set[str]]:
        """Acquire a lease; with the runs whose workers have finished here in the meantime.

        A store may answer out of order: a lease that it has granted may be released by the worker
        of its run by the time that the answer is here.
        """
        acquisition = object()
        finished = self._acquisitions[acquisition] = set()
        try:
            yield finished
        finally:
            del self._acquisitions[acquisition]

    async def _worker_of(self, run: StoredRun, finished: set[str]) -> StoredRunWorker | None:
        """The worker of a run that is leased here, started if there is none.

        Returns:
            The worker; None when the lease may be released by now, or this is closed.
        """
        run_id = run.start.run_id
        if run_id not in finished and run_id not in self._workers:
            is_taken_over = run.was_in_progress and not self._crashes.is_entered(run_id)
            await self._crashes.check(run)
            if is_taken_over:
                await self._report_takeover(run)
        worker = self._workers.get(run_id)
        if self._closed:
            if worker is None:
                await self._release(run_id)
            return None
        if worker is not None:
            worker.notify()  # it may be about to finish: then it is started again
            return worker
        if run_id in finished:
            self._crashes.enter(run_id)  # no other process had its lease
            return None
        return self._begin(run.start)

    async def _report_takeover(self, run: StoredRun) -> None:
        """Store among the events of a run that this process continues what another had begun."""
        self._crashes.enter(run.start.run_id)  # of two that take it up at once, one reports
        data = {"cause": "lost" if run.was_left else "stopped"}
        event = RunEvent(kind=RUN_TAKEN_OVER, at=self._now(), data=data)
        await self._store.emit(run.start.run_id, [event])
        if self._on_takeover is not None:
            await self._on_takeover(run.start.run_id)

    def _begin(self, start: RunStart) -> StoredRunWorker:
        if self._attempt is None:
            raise Unavailable("No runner is attached to this durability.", permanent=True)
        self._wakeups.drop(start.run_id)
        self._crashes.enter(start.run_id)
        if isinstance(self._wakeups.error(start.run_id), Unavailable):
            self._wakeups.settle(start.run_id)  # the store is available again
        worker = StoredRunWorker(
            self._store,
            start,
            self._owner,
            attempt=self._attempt,
            now=self._now,
            on_finish=self._finish,
        )
        self._workers[start.run_id] = worker
        self._start_polling()
        return worker

    def _finish(self, worker: StoredRunWorker) -> None:
        run_id = worker.run_id
        self._workers.pop(run_id, None)
        for finished in self._acquisitions.values():
            finished.add(run_id)
        if self._closed:
            return
        if worker.error is not None:
            self._wakeups.retry(run_id, worker.error)
            return
        self._wakeups.settle(run_id)
        self._crashes.leave(run_id)
        if worker.was_notified:
            self._wakeups.set(run_id, after=0)
        elif worker.wake_at is not None:
            self._wakeups.set(run_id, after=worker.wake_at - self._now())

    async def _resume(self, run_id: str) -> None:
        if self._polls_to_wait:  # another process may not have renewed its lease yet
            self._wakeups.set(run_id, after=self._every)
            return
        try:
            await self._take_up(run_id)
        except PegboardError as error:
            _LOG.warning("durability: run %s could not be resumed: %s", run_id, error)
            self._wakeups.retry(run_id, error)

    # other processes

    def _start_polling(self) -> None:
        if self._polling is None:
            self._polling = asyncio.get_running_loop().create_task(self._poll())

    async def _poll(self) -> None:
        renewed = self._now()
        while True:
            await asyncio.sleep(self._every)
            with log_and_continue(_LOG, "durability: polling failed"):
                try:
                    if self._polls_to_wait:
                        await self._store.runs(RunQuery(limit=1))  # is it back?
                    if (now := self._now()) - renewed >= self._lease / 3 or self._polls_to_wait:
                        await self._renew()
                        renewed = now
                    if self._is_shared:
                        for worker in self._workers.values():
                            worker.notify()
                    if self._polls_to_wait:
                        self._polls_to_wait -= 1
                    elif self._takes_others:
                        await self._take_due_runs()
                except PegboardError as error:
                    self._polls_to_wait = _POLLS_AFTER_OUTAGE if self._is_shared else 0
                    _LOG.warning("durability: the store of runs is unavailable: %s", error)

    async def _renew(self) -> None:
        workers = dict(self._workers)
        # the leases of these are held; a retry after a lease that failed has none
        retries = set(filter(self._crashes.is_entered, self._wakeups.retries))
        held = await self._store.renew(retries.union(workers), self._owner, seconds=self._lease)
        for run_id, worker in workers.items():
            if run_id not in held and self._workers.get(run_id) is worker:
                worker.lose()
        for run_id in retries.intersection(self._wakeups.retries) - held - set(self._workers):
            self._wakeups.drop(run_id)
            self._wakeups.settle(run_id)
            self._crashes.leave(run_id)

    async def _take_due_runs(self) -> None:
        while len(self._workers) < self._most:
            with self._acquire() as finished:
                run = await self._store.take(self._owner, seconds=self._lease)
                if run is None:
                    return
                worker = await self._worker_of(run, finished)
            if worker is None:
                await self._take_up(run.start.run_id)

    async def _release(self, run_id: str) -> None:
        try:
            await self._store.release(run_id, self._owner)
        except PegboardError as error:
            _LOG.warning(
                "durability: the lease of run %s could not be released and ends by itself: %s",
                run_id,
                error,
            )

    # reading

    async def _run(self, run_id: str) -> StoredRun:
        run = await self._store.get(run_id)
        if run is None:
            raise RunNotFound(f"There is no run '{run_id}'.")
        return run

    def _check_open(self) -> None:
        if self._closed:
            raise Unavailable("The durability is closed.", nothing_done=True)
