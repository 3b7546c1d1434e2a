"""Connects to a PostgreSQL server and translates its errors."""

from typing import Any

import psycopg
from psycopg import errors
from psycopg.abc import Buffer
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.types.string import StrDumperUnknown
from sqlalchemy import Connection, text

from pegboard.errors import ConfigError, StoreUnavailable
from pegboard.storage.databases.write_problem import FULL_DISK_RETRY_AFTER
from pegboard.storage.migrate import migrate

# Without these a server that is gone without a word would be waited for by the quarter of an hour.
_DEFAULTS = {
    "application_name": "pegboard",
    "connect_timeout": "5",
    "tcp_user_timeout": "10000",
}
_SETTINGS = "SET lock_timeout = '10s'; SET statement_timeout = '30s'"

_LOCK = 0x7065_6762_6F61_7264
"""Spells "pegboard": the advisory lock held while a database is migrated."""

_OWN_FAULT = (
    psycopg.IntegrityError,
    psycopg.DataError,
    psycopg.ProgrammingError,
    psycopg.NotSupportedError,
    psycopg.InterfaceError,
)


class _WithoutNul(StrDumperUnknown):
    """Replaces NUL characters, which PostgreSQL cannot store in text."""

    def dump(self, obj: str) -> Buffer | None:
        return super().dump(obj.replace("\x00", "\\x00"))


def connect(url: str) -> "psycopg.Connection[Any]":
    """A connection with our settings.

    Raises:
        psycopg.Error: The server cannot be reached, or rejects the connection.
        ConfigError: The encoding of the database is not UTF-8.
    """
    given = conninfo_to_dict(url)
    connection = psycopg.connect(make_conninfo("", **_DEFAULTS | given), client_encoding="utf8")
    try:
        _prepare(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: "psycopg.Connection[Any]") -> None:
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise ConfigError(
            f"it is encoded in {encoding}: make one with CREATE DATABASE ... ENCODING 'UTF8' "
            "TEMPLATE template0"
        )
    connection.adapters.register_dumper(str, _WithoutNul)
    connection.execute(_SETTINGS)
    connection.commit()


def prepare(core: Connection, now: float) -> None:
    """Migrate the database; servers that start at the same time wait for each other.

    Raises:
        ConfigError: It was created by a newer Pegboard.
    """
    core.execute(text("SET LOCAL lock_timeout = '120s'"))
    core.execute(text("SET LOCAL statement_timeout = 0"))
    core.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
    migrate(core, now)


def unavailable(error: BaseException, *, nothing_done: bool) -> StoreUnavailable:
    """The error that callers get for a failing database, without its cause."""
    retry_after: float | None = 1.0
    match error:
        case errors.DiskFull():
            reason, retry_after = "its disk is full", FULL_DISK_RETRY_AFTER
        case errors.InsufficientPrivilege() | errors.InvalidPassword():
            reason, retry_after = "it rejects this user", None
        case errors.LockNotAvailable() | errors.DeadlockDetected() | errors.SerializationFailure():
            reason = "other transactions are changing the same rows"
        case errors.TooManyConnections():
            reason = "it has too many connections"
        case errors.ReadOnlySqlTransaction():
            reason = "it is read-only"
        case psycopg.OperationalError():
            reason = "it cannot be reached"
        case _:
            reason, retry_after = "it cannot be read or written", None
    sentence = f"The storage is unavailable: {reason}."
    if not nothing_done:
        sentence += " Whether the last change was stored is not known."
    return StoreUnavailable(sentence, retry_after=retry_after, nothing_done=nothing_done)


def is_own_fault(error: BaseException) -> bool:
    """Whether the statement is invalid, rather than the database failing."""
    return isinstance(error, _OWN_FAULT) and not isinstance(error, psycopg.OperationalError)


def is_in_the_way(error: BaseException) -> bool:
    """Whether a conflict with another transaction rolled this one back."""
    return isinstance(error, (errors.SerializationFailure, errors.DeadlockDetected))
