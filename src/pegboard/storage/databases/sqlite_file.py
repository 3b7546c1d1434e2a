"""Opens the database file and translates its errors."""

import errno
import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from sqlalchemy import StaticPool, create_engine
from sqlalchemy.exc import DBAPIError

from pegboard.errors import ConfigError, StoreUnavailable
from pegboard.storage.databases.transaction import Transaction, own
from pegboard.storage.databases.write_problem import FULL_DISK_RETRY_AFTER
from pegboard.storage.migrate import migrate, revision_of

FILE = "pegboard.db"
BUSY_SECONDS = 2.0
_LEAST_FREE = 64 * 1024  # bytes: less cannot hold the shared index of the log
_MAX_IDLE_LOG = 64 * 1024 * 1024  # bytes of the write-ahead log that stay after a checkpoint


def open_writer(path: Path, now: float) -> Transaction:
    """The connection that writes, its schema up to date.

    Raises:
        ConfigError: The file is damaged, newer, of another program, or cannot be written.
    """
    try:
        # SQLite gives its side files the mode of the main one.
        path.touch(mode=0o600)
    except OSError as error:
        raise ConfigError(_advice(path, error)) from error
    return _open(path, "rw", lambda transaction: _prepare(transaction, now))


def open_reader(path: Path) -> Transaction:
    """Open a read-only connection, also while another process writes.

    Raises:
        ConfigError: There is no such file, or it is damaged, newer or of another program.
    """
    if not path.exists():
        raise ConfigError(
            f"There is no {path.name} in {path.parent}: nothing has been recorded there. Use "
            "the data directory of the board with --data DIR."
        )
    return _open(path, "ro", _only_read)


def empty_log(connection: sqlite3.Connection) -> bool:
    """Empty the write-ahead log; False while somebody reads from it."""
    execute = connection.execute
    try:
        execute("PRAGMA busy_timeout = 0")
        try:
            return not execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        finally:
            execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")
    except sqlite3.Error:
        return False


def unavailable(error: sqlite3.Error) -> StoreUnavailable:
    """The error that callers get for a failing database, without its cause."""
    code = getattr(error, "sqlite_errorname", "")
    match code.partition("_")[2]:
        case "FULL":
            reason, retry_after = "its disk is full", FULL_DISK_RETRY_AFTER
        case name if name.startswith(("BUSY", "LOCKED")):
            reason, retry_after = "it is locked by another program", 1.0
        case name if name.startswith(("CORRUPT", "NOTADB")):
            reason, retry_after = "its file is damaged", None
        case _:
            reason, retry_after = "it cannot be read or written", None
    return StoreUnavailable(
        f"The storage is unavailable: {reason}.", retry_after=retry_after, nothing_done=True
    )


def _open(path: Path, mode: str, prepare: Callable[[Transaction], None]) -> Transaction:
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    try:
        connection = sqlite3.connect(
            uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
    except sqlite3.Error as error:
        raise ConfigError(_advice(path, error)) from error
    try:
        transaction = _over(connection)
    except DBAPIError as error:  # it is asked for its settings
        connection.close()
        raise ConfigError(_advice(path, own(error))) from error
    try:
        prepare(transaction)
    except (ConfigError, sqlite3.Error, DBAPIError) as error:
        transaction.close()
        reason = own(error) if isinstance(error, DBAPIError) else error
        raise ConfigError(_advice(path, reason)) from error
    return transaction


def _over(connection: sqlite3.Connection) -> Transaction:
    """Wrap a connection for SQLAlchemy; commits are made on the connection itself."""
    engine = create_engine(
        "sqlite://", creator=lambda: connection, poolclass=StaticPool, pool_reset_on_return=None
    )
    return Transaction(engine.connect())


def _only_read(transaction: Transaction) -> None:
    transaction.driver.execute("PRAGMA query_only = 1")
    revision_of(transaction.core)


def _prepare(transaction: Transaction, now: float) -> None:
    execute = transaction.driver.execute
    if not execute("PRAGMA page_count").fetchone()[0]:
        # The sweep gives free pages back; a file that has tables already keeps them for reuse.
        execute("PRAGMA auto_vacuum = INCREMENTAL")
    mode = execute("PRAGMA journal_mode = WAL").fetchone()[0]
    if mode != "wal":
        raise ConfigError("its file system cannot keep a write-ahead log, use a local disk")
    # A commit is then in the operating system's hands before it is answered: it survives the end
    # of this process, kill -9 included, and a power failure may take the last ones.
    execute("PRAGMA synchronous = NORMAL")
    execute("PRAGMA trusted_schema = OFF")
    execute("PRAGMA secure_delete = ON")  # what is deleted does not stay in free pages
    execute(f"PRAGMA journal_size_limit = {_MAX_IDLE_LOG}")
    execute("BEGIN IMMEDIATE")
    try:
        migrate(transaction.core, now)
    except BaseException:
        execute("ROLLBACK")
        raise
    execute("COMMIT")


def _advice(path: Path, error: BaseException) -> str:
    reason = (error.strerror if isinstance(error, OSError) else "") or str(error)
    if _is_disk_full(path, error):
        return (
            f"The database {path} cannot be opened: its disk is full ({reason}). The database is "
            "not at fault: free some space and start again."
        )
    if isinstance(error, ConfigError):  # which says what to do with the file
        return (
            f"The database {path} cannot be opened: {reason}, or use another directory with "
            "--data DIR."
        )
    return (
        f"The database {path} cannot be opened: {reason}. Repair it or move it away and start "
        "again, or use another directory with --data DIR."
    )


def _is_disk_full(path: Path, error: BaseException) -> bool:
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith("SQLITE_IOERR"):  # a side file that cannot grow
        with suppress(OSError):
            disk = os.statvfs(path.parent)
            return disk.f_bavail * disk.f_frsize < _LEAST_FREE
    return name == "SQLITE_FULL"
