"""Writes rows that no caller awaits, in batches, on a thread of its own."""

import asyncio
import atexit
import logging
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future

from pegboard.concurrency.closable_lock import storage_closed_error
from pegboard.core.ports.clock import Clock
from pegboard.errors import Unavailable
from pegboard.storage.databases.transaction import Rows, Transaction
from pegboard.storage.databases.write_problem import WriteProblem

_LOG = logging.getLogger("pegboard.storage")
_LINGER = 0.05
_RETRY_AFTER = 1.0
_MAX_BATCH = 500


class BackgroundWriter:
    """One thread that collects rows for a moment and writes them in one transaction."""

    def __init__(
        self,
        transact: Callable[[Rows], None],
        *,
        clock: Clock,
        sweep: Rows,
        max_rows: int,
        sweep_every: float = 60.0,
    ) -> None:
        """Start the thread; `sweep` runs by itself every `sweep_every` seconds.

        Args:
            transact: Runs an operation in a transaction. `Unavailable` means that it shall be tried
                again; whatever else it raises, that the operation is at fault.
            clock: What time it is.
            sweep: Forgets what has expired.
            max_rows: That may wait; further ones are dropped, unless they have to be kept.
            sweep_every: Seconds.
        """
        self._transact = transact
        self._clock = clock
        self.problem = WriteProblem(clock)
        self._sweep = sweep
        self._sweep_every = sweep_every
        self._swept_at = clock.monotonic()
        self._max_rows = max_rows
        self._rows: deque[Rows] = deque()
        self._flushes: list[Future[None]] = []
        self._changed = threading.Condition()
        self._closed = False
        self._failing = False
        self.dropped = 0
        self._thread = threading.Thread(target=self._main, name="pegboard-outbox", daemon=True)
        self._thread.start()
        atexit.register(self.close)  # a daemon thread ends without a word; rows may be waiting

    def post(self, row: Rows, *, keep: bool = False) -> None:
        """Write a row soon; it is dropped when the queue is full, unless `keep` is set."""
        with self._changed:
            if self._closed or (len(self._rows) >= self._max_rows and not keep):
                self.dropped += 1
                return
            self._rows.append(row)
            if len(self._rows) == 1:
                self._changed.notify_all()

    async def flush(self) -> None:
        """Return once all rows that came before are written or dropped.

        Raises:
            Unavailable: The rows could not be written yet.
        """
        flushed: Future[None] = Future()
        with self._changed:
            if self._closed:
                raise storage_closed_error()
            self._flushes.append(flushed)
            self._changed.notify_all()
        await asyncio.wrap_future(flushed)

    def close(self) -> None:
        """Write waiting rows and end the thread; safe to call twice."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join()
        atexit.unregister(self.close)

    def _main(self) -> None:
        while True:
            self._wait()
            with self._changed:
                flushes, self._flushes = self._flushes, []
                is_last = self._closed
            error = self._write_all()
            for flush in flushes:
                if flush.set_running_or_notify_cancel():
                    flush.set_exception(error) if error else flush.set_result(None)
            self._sweep_sometimes()
            if is_last:
                return self._end()

    def _wait(self) -> None:
        """Wait until there is something to write, and then briefly for more."""
        with self._changed:
            if self._failing:
                self._changed.wait_for(self._is_urgent, _RETRY_AFTER)
                return
            self._changed.wait_for(lambda: self._rows or self._is_urgent(), self._sweep_every)
            self._changed.wait_for(self._is_urgent, _LINGER)

    def _is_urgent(self) -> bool:
        return self._closed or bool(self._flushes)

    def _write_all(self) -> Unavailable | None:
        """Write all waiting rows; return the error that prevented it, if any."""
        with self._changed:
            left = len(self._rows)
        self._failing = False
        while left > 0:
            with self._changed:
                rows = [self._rows.popleft() for _ in range(min(left, _MAX_BATCH))]
            left -= len(rows)
            try:
                self._write(rows)
            except Unavailable as error:
                with self._changed:
                    self._rows.extendleft(reversed(rows))
                self._failing = True
                self.problem.report(error, error.__cause__)
                return error
        return None

    def _write(self, rows: list[Rows]) -> None:
        """Write rows in one transaction; if one is invalid, each in its own.

        A row may be written twice when the database fails in between, and must tolerate that.
        """

        def write(transaction: Transaction) -> None:
            for row in rows:
                row(transaction)

        try:
            self._transact(write)
        except Unavailable:
            raise
        except Exception as error:  # noqa: BLE001 -- one bad row must not stop the others
            if len(rows) == 1:
                self._lose(1, error)
                return
            for row in rows:
                self._write([row])

    def _sweep_sometimes(self) -> None:
        if self._clock.monotonic() - self._swept_at < self._sweep_every:
            return
        self._swept_at = self._clock.monotonic()
        try:
            self._transact(self._sweep)
        except Unavailable:
            _LOG.warning("storage: expired rows could not be deleted, trying again later")

    def _lose(self, count: int, error: object) -> None:
        with self._changed:
            self.dropped += count
        _LOG.error("storage: %d history rows could not be stored: %s", count, error)

    def _end(self) -> None:
        with self._changed:
            left, flushes = len(self._rows), self._flushes
            self._rows.clear()
            self._flushes = []
        for flush in flushes:
            flush.set_exception(storage_closed_error())
        if left:
            self._lose(
                left,
                "the database was unreachable at shutdown",
            )
