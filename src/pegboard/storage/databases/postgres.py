"""A PostgreSQL database that several servers share: each operation is a transaction of its own."""

import asyncio
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import psycopg
from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy.exc import DBAPIError

from pegboard.concurrency.closable_lock import storage_closed_error
from pegboard.core.ports.clock import Clock
from pegboard.errors import ConfigError, Overloaded
from pegboard.storage.databases.background_writer import BackgroundWriter
from pegboard.storage.databases.postgres_server import (
    connect,
    is_in_the_way,
    is_own_fault,
    prepare,
    unavailable,
)
from pegboard.storage.databases.transaction import Operation, Rows, Transaction, Value, own

THREADS = 8
_MAX_WAITING = 10_000
_ATTEMPTS = 3
_STALE_ATTEMPTS = THREADS + 2
"""After a server restart every connection of the pool may be stale."""


class PostgresDatabase:
    """A pool of connections, each used by one thread at a time."""

    def __init__(self, url: str, *, clock: Clock, sweep: Rows, max_rows: int) -> None:
        """Connect, and create or migrate the tables.

        Raises:
            ConfigError: It cannot be reached, was created by a newer Pegboard, or rejects the user.
        """
        # One more for the outbox, so that nobody ever waits for a connection.
        self._engine = create_engine(
            "postgresql+psycopg://",
            creator=lambda: connect(url),
            pool_size=THREADS + 1,
            max_overflow=0,
        )
        _migrate(self._engine, clock.time())
        self._gate = threading.Lock()
        self._closed = False
        self._waiting = 0
        self._executor = ThreadPoolExecutor(THREADS, "pegboard-storage")
        self._outbox = BackgroundWriter(self._transact, clock=clock, sweep=sweep, max_rows=max_rows)
        self.post = self._outbox.post
        self.flush = self._outbox.flush

    @property
    def dropped(self) -> int:
        """Rows that were lost."""
        return self._outbox.dropped

    @property
    def problem(self) -> str:
        """Why a write failed in the last minute; empty when none has."""
        return str(self._outbox.problem)

    async def run(self, operation: Operation[Value], *, atomic: bool = False) -> Value:  # noqa: ARG002 - each has its own transaction here
        """Run it in a transaction and return after the commit.

        Raises:
            Unavailable: It was not stored; without `nothing_done` the outcome is unknown.
        """
        with self._gate:
            if self._closed:
                raise storage_closed_error()
            if self._waiting >= _MAX_WAITING:
                raise Overloaded("The storage is overloaded.", nothing_done=True)
            self._waiting += 1
            future = self._executor.submit(self._answer, operation)
        future.add_done_callback(self._finish)
        return await asyncio.wrap_future(future)

    async def read(self, query: Operation[Value]) -> Value:
        """Run a read-only query.

        Raises:
            Unavailable: The database cannot be read.
        """
        return await self.run(query)

    def close(self) -> None:
        """Write waiting rows and close."""
        with self._gate:
            self._closed = True
        self._outbox.close()
        self._executor.shutdown()
        self._engine.dispose()

    def _finish(self, _: "Future[Any]") -> None:
        with self._gate:
            self._waiting -= 1

    def _answer(self, operation: Operation[Value]) -> Value:
        try:
            return self._transact(operation)
        except psycopg.Error as error:
            raise unavailable(error, nothing_done=True) from error

    def _transact(self, operation: Operation[Value]) -> Value:
        """Run an operation in a transaction, and retry it on conflicts.

        Raises:
            Unavailable: The database fails.
            psycopg.Error: The operation itself is invalid.
        """
        attempt = 1
        while True:
            try:
                return self._once(operation)
            except psycopg.Error as error:
                if is_own_fault(error):
                    raise
                most = _STALE_ATTEMPTS if isinstance(error, _Stale) else _ATTEMPTS
                if attempt >= (most if is_in_the_way(error) or isinstance(error, _Stale) else 0):
                    raise unavailable(error, nothing_done=True) from error
            attempt += 1

    def _once(self, operation: Operation[Value]) -> Value:
        with self._connection() as core:
            transaction = Transaction(core)
            try:
                core.begin()
                value = operation(transaction)
            except psycopg.OperationalError as error:
                if transaction.driver.broken:
                    core.invalidate(error)
                    raise _Stale(str(error)) from error
                raise
            try:
                core.commit()
            except DBAPIError as error:
                cause = own(error)
                known = not transaction.driver.broken
                raise unavailable(cause, nothing_done=known) from cause
            return value

    def _connection(self) -> Connection:
        try:
            return self._engine.connect()
        except DBAPIError as error:
            cause = own(error)
            raise unavailable(cause, nothing_done=True) from cause


class _Stale(psycopg.OperationalError):
    """The connection was lost before the commit; nothing was changed."""


def _migrate(engine: Engine, now: float) -> None:
    try:
        with engine.begin() as core:
            prepare(core, now)
    except DBAPIError as error:
        engine.dispose()
        raise ConfigError(_advice(str(own(error)))) from error
    except ConfigError as error:
        engine.dispose()
        raise ConfigError(_advice(str(error))) from error


def _advice(reason: str) -> str:
    first = " ".join(reason.split())
    return f"The database cannot be opened: {first}. Check PEGBOARD_DATABASE and the server."
