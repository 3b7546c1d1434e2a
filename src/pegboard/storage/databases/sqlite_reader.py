"""Queries on one SQLite connection, one at a time, off the event loop."""

import asyncio
import sqlite3
import threading

from pegboard.concurrency.closable_lock import storage_closed_error
from pegboard.storage.databases.sqlite_file import unavailable
from pegboard.storage.databases.transaction import Operation, Transaction, Value


class SqliteReader:
    """Runs queries on one connection, one at a time, off the event loop."""

    def __init__(self, transaction: Transaction) -> None:
        """Take over the connection until `close`."""
        self._transaction: Transaction | None = transaction
        self._lock = threading.Lock()

    async def read(self, query: Operation[Value]) -> Value:
        """The query's answer.

        Raises:
            Unavailable: The database cannot be read, or is closed.
        """
        return await asyncio.to_thread(self._read, query)

    def _read(self, query: Operation[Value]) -> Value:
        with self._lock:
            if self._transaction is None:
                raise storage_closed_error()
            try:
                return query(self._transaction)
            except sqlite3.Error as error:
                raise unavailable(error) from error

    def close(self) -> None:
        """Close the connection; safe to call twice."""
        with self._lock:
            if self._transaction is not None:
                self._transaction.close()
                self._transaction = None
