"""The writing thread of a SQLite file: operations that wait at the same time share a commit.

Background rows are collected for a moment, so that a call costs an append; an awaited operation is
committed at once, together with the collected rows.
"""

import asyncio
import atexit
import contextlib
import logging
import queue
import sqlite3
import threading
from collections import deque
from collections.abc import Sequence
from typing import Any, cast

from pegboard.concurrency.closable_lock import storage_closed_error
from pegboard.core.ports.clock import Clock
from pegboard.errors import Overloaded
from pegboard.storage.databases.sqlite_file import empty_log, unavailable
from pegboard.storage.databases.transaction import Operation, Rows, Transaction, Value
from pegboard.storage.databases.write_problem import WriteProblem

_LOG = logging.getLogger("pegboard.storage")
_LINGER = 0.05
_RETRY_AFTER = 1.0
_SAY_EVERY = 60.0
_MAX_WAITING = 10_000

# The statement is at fault, not the database: the others in its transaction go on.
_OWN_FAULT = (
    sqlite3.IntegrityError,
    sqlite3.DataError,
    sqlite3.InterfaceError,
    sqlite3.ProgrammingError,
)


class _QueuedOperation:
    """An operation whose caller awaits its commit."""

    __slots__ = ("atomic", "error", "future", "loop", "operation", "value")

    def __init__(self, operation: Operation[Any], *, atomic: bool) -> None:
        self.operation = operation
        self.atomic = atomic
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Any] = self.loop.create_future()
        self.value: Any = None
        self.error: Exception | None = None

    def apply(self, transaction: Transaction) -> None:
        """Run the operation inside the open transaction, which it shares with others."""
        try:
            if self.atomic:
                self.value = self.operation(transaction)
            else:
                with transaction.savepoint():
                    self.value = self.operation(transaction)
        except _OWN_FAULT as error:
            self.error = unavailable(error)
            self.error.__cause__ = error
        except sqlite3.Error:
            raise
        except Exception as error:  # noqa: BLE001 -- raised where the operation is awaited
            self.error = error


_ROWS = None
_STOP = "stop"
_Item = _QueuedOperation | str | None


class SqliteWriter:
    """Owns the writing connection and the thread that uses it."""

    def __init__(
        self,
        transaction: Transaction,
        *,
        clock: Clock,
        sweep: Rows,
        max_rows: int,
        sweep_every: float = 60.0,
    ) -> None:
        """Start the thread; `sweep` runs as a row of its own every `sweep_every` seconds."""
        self._transaction = transaction
        self._clock = clock
        self.problem = WriteProblem(clock)
        self._sweep = sweep
        self._sweep_every = sweep_every
        self._swept_at = clock.monotonic()
        self._max_rows = max_rows
        self._rows: deque[Rows] = deque()
        self._items: queue.SimpleQueue[_Item] = queue.SimpleQueue()
        self._gate = threading.Lock()
        self._closed = False
        self._armed = False
        self._dropped = 0
        self._said = 0
        self._said_at = float("-inf")
        self._in_hand: Sequence[_QueuedOperation] = ()
        self._thread = threading.Thread(target=self._main, name="pegboard-storage", daemon=True)
        self._thread.start()
        atexit.register(self.close)  # a daemon thread ends without a word; rows may be waiting

    @property
    def dropped(self) -> int:
        """Rows that were lost: the queue was full, or they could not be stored."""
        return self._dropped

    def post(self, row: Rows, *, keep: bool = False) -> None:
        """Write a row soon; it is dropped when the queue is full, unless `keep` is set."""
        with self._gate:
            if self._closed or (len(self._rows) >= self._max_rows and not keep):
                self._dropped += 1
                return
            self._rows.append(row)
            if not self._armed:
                self._armed = True
                self._items.put(_ROWS)

    async def run(self, operation: Operation[Value], *, atomic: bool = False) -> Value:
        """Run an operation in the next commit and return its value after that.

        Args:
            operation: Run on the writing thread.
            atomic: Whether it is one statement or idempotent, so that it needs no savepoint.

        Raises:
            Unavailable: It was not stored.
        """
        waiting = _QueuedOperation(operation, atomic=atomic)
        with self._gate:
            if self._closed:
                raise storage_closed_error()
            if self._items.qsize() >= _MAX_WAITING:
                raise Overloaded("The storage is overloaded.", nothing_done=True)
            self._items.put(waiting)
        return cast("Value", await waiting.future)

    def close(self) -> None:
        """Write waiting rows and end the thread; safe to call twice."""
        with self._gate:
            if not self._closed:
                self._closed = True
                self._items.put(_STOP)
        self._thread.join()
        atexit.unregister(self.close)

    def _main(self) -> None:
        try:
            while self._turn():
                pass
        finally:
            self._end()

    def _turn(self) -> bool:
        waiting, go_on = self._collect()
        self._in_hand = waiting
        rows = self._take_rows()
        if rows or waiting:
            self._write(rows, waiting)
        self._in_hand = ()
        if self._clock.monotonic() - self._swept_at >= self._sweep_every:
            self._swept_at = self._clock.monotonic()
            self._write([self._sweep], ())
        self._say_drops()
        return go_on

    def _collect(self) -> tuple[list[_QueuedOperation], bool]:
        """The operations to write now, and whether the writer goes on."""
        waiting: list[_QueuedOperation] = []
        timeout = _RETRY_AFTER if self._rows else self._sweep_every
        while True:
            try:
                item = self._items.get(timeout=timeout) if timeout else self._items.get_nowait()
            except queue.Empty:
                return waiting, True
            if isinstance(item, _QueuedOperation):
                waiting.append(item)
            elif item == _STOP:
                return waiting, False
            timeout = 0 if waiting else _LINGER

    def _take_rows(self) -> list[Rows]:
        with self._gate:
            self._armed = False
            rows = list(self._rows)
            self._rows.clear()
            return rows

    def _write(self, rows: list[Rows], waiting: Sequence[_QueuedOperation]) -> None:
        """Run one transaction; rows that the database refuses go back into the queue."""
        try:
            self._transact(rows, waiting)
        except sqlite3.Error as error:
            self._roll_back()
            self._put_back(rows, error)
            failure = unavailable(error)
            self.problem.report(failure, error)
            if rows and waiting and not _is_busy(error):
                # What nobody waits for may be what does not fit.
                self._write([], waiting)
                return
            for item in waiting:
                item.error = unavailable(error)
                item.error.__cause__ = error
        _answer(waiting)

    def _transact(self, rows: list[Rows], waiting: Sequence[_QueuedOperation]) -> None:
        transaction = self._transaction
        transaction.driver.execute("BEGIN IMMEDIATE")
        for row in rows:
            try:
                row(transaction)
            except _OWN_FAULT as error:
                self._lose(1, error)
            except sqlite3.Error:
                raise
            except Exception as error:  # noqa: BLE001 -- one bad record must not stop the others
                self._lose(1, error)
        for item in waiting:
            item.apply(transaction)
        transaction.driver.execute("COMMIT")
        if transaction.erases:  # what was deleted stands in the log until it is emptied
            transaction.erases = not empty_log(transaction.driver)

    def _roll_back(self) -> None:
        if self._transaction.driver.in_transaction:
            with contextlib.suppress(sqlite3.Error):  # it failed already, and that error is told
                self._transaction.driver.execute("ROLLBACK")

    def _put_back(self, rows: list[Rows], error: sqlite3.Error) -> None:
        if not rows or rows == [self._sweep]:
            return
        if self._closed:
            self._lose(len(rows), error)
            return
        with self._gate:
            self._rows.extendleft(reversed(rows))
            self._armed = True  # tried again with the next operation, or after a pause

    def _lose(self, count: int, error: Exception) -> None:
        with self._gate:
            self._dropped += count
        _LOG.error("storage: %d history rows could not be stored: %s", count, error)

    def _say_drops(self) -> None:
        dropped, now = self._dropped, self._clock.monotonic()
        if dropped > self._said and now - self._said_at >= _SAY_EVERY:
            _LOG.warning("storage: %d history rows have been dropped so far", dropped)
            self._said, self._said_at = dropped, now

    def _end(self) -> None:
        """Fail the operations that still wait, and close the file."""
        with self._gate:
            self._closed = True
            self._dropped += len(self._rows)
            self._rows.clear()
        left = list(self._in_hand)
        with contextlib.suppress(queue.Empty):
            while True:
                item = self._items.get_nowait()
                if isinstance(item, _QueuedOperation):
                    left.append(item)
        for item in left:
            item.error = storage_closed_error()
        _answer(left)
        self._transaction.close()


def _is_busy(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorname", "").startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


def _answer(waiting: Sequence[_QueuedOperation]) -> None:
    by_loop: dict[asyncio.AbstractEventLoop, list[_QueuedOperation]] = {}
    for item in waiting:
        by_loop.setdefault(item.loop, []).append(item)
    for loop, items in by_loop.items():
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(_settle, items)


def _settle(items: list[_QueuedOperation]) -> None:
    for item in items:
        if item.future.done():  # its caller was cancelled
            continue
        if item.error is None:
            item.future.set_result(item.value)
        else:
            item.future.set_exception(item.error)
