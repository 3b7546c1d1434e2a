"""Opening the database file, and what its errors mean to a caller."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pegboard.core.gate import closed
from pegboard.errors import ConfigError, Unavailable
from pegboard.storage.schema import check, migrate, version_of

FILE = "pegboard.db"
BUSY_SECONDS = 2.0
Value = TypeVar("Value")


def open_writer(path: Path, now: float) -> sqlite3.Connection:
    """The connection that writes, its schema up to date.

    Raises:
        ConfigError: The file is damaged, newer, not ours, or cannot be written.
    """
    try:
        # SQLite gives its side files the mode of the main one.
        path.touch(mode=0o600)
    except OSError as error:
        raise ConfigError(_advice(path, error.strerror or str(error))) from error
    return _opened(path, "rw", lambda connection: _prepare(connection, now))


def open_reader(path: Path) -> sqlite3.Connection:
    """A connection that only reads, beside a process that writes or without one.

    Raises:
        ConfigError: There is no such file, or it is damaged, newer or not ours.
    """
    if not path.exists():
        raise ConfigError(
            f"There is no {path.name} in {path.parent}: nothing has been recorded there. "
            "Name the directory that the board was run with: --data DIR."
        )
    return _opened(path, "ro", _only_read)


def unavailable(error: sqlite3.Error) -> Unavailable:
    """What a caller hears of a database that fails; the cause stays with the operator."""
    code = getattr(error, "sqlite_errorname", "")
    match code.partition("_")[2]:
        case "FULL":
            reason, retry_after = "its disk is full", None
        case name if name.startswith(("BUSY", "LOCKED")):
            reason, retry_after = "it is locked by another program", 1.0
        case name if name.startswith(("CORRUPT", "NOTADB")):
            reason, retry_after = "its file is damaged", None
        case _:
            reason, retry_after = "it cannot be written or read now", None
    return Unavailable(
        f"The storage is unavailable: {reason}.", retry_after=retry_after, nothing_done=True
    )


class Reader:
    """Runs queries on one connection, one at a time, off the event loop."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Own the connection until `close`."""
        self._connection: sqlite3.Connection | None = connection
        self._lock = threading.Lock()

    async def run(self, query: Callable[[sqlite3.Connection], Value]) -> Value:
        """The query's answer.

        Raises:
            Unavailable: The database cannot be read, or is closed.
        """
        return await asyncio.to_thread(self._run, query)

    def _run(self, query: Callable[[sqlite3.Connection], Value]) -> Value:
        with self._lock:
            if self._connection is None:
                raise closed()
            try:
                return query(self._connection)
            except sqlite3.Error as error:
                raise unavailable(error) from error

    def close(self) -> None:
        """Let go of the connection; safe to call twice."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None


def _opened(
    path: Path, mode: str, prepare: Callable[[sqlite3.Connection], None]
) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    try:
        connection = sqlite3.connect(
            uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
    except sqlite3.Error as error:
        raise ConfigError(_advice(path, str(error))) from error
    try:
        prepare(connection)
    except (ConfigError, sqlite3.Error) as error:
        connection.close()
        raise ConfigError(_advice(path, str(error))) from error
    return connection


def _only_read(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA query_only = 1")
    check(version_of(connection))


def _prepare(connection: sqlite3.Connection, now: float) -> None:
    mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
    if mode != "wal":
        raise ConfigError("its file system cannot keep a write-ahead log, use a local disk")
    # A commit is then in the operating system's hands before it is answered: it survives the end
    # of this process, kill -9 included, and a power failure may take the last ones.
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA trusted_schema = OFF")
    migrate(connection, now)


def _advice(path: Path, reason: str) -> str:
    return (
        f"The database {path} cannot be opened: {reason}. "
        "Repair it or move it away and start again, or name another directory with --data DIR."
    )
