"""PostgreSQL: read-only transactions, and a check of the query plan."""

import os
import socket
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import islice
from typing import Any, ClassVar, cast

import psycopg
from psycopg import RawCursor, RawServerCursor
from psycopg.abc import Buffer
from psycopg.adapt import AdaptersMap, Loader
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pegboard.core.ports.source_services.address_guard import AddressGuard
from pegboard.errors import ConfigError, InvalidRequest, PegboardError
from pegboard.sources.sql.catalog import Table
from pegboard.sources.sql.config import SqlConfig
from pegboard.sources.sql.driver import (
    StaleConnection,
    StatementRequest,
    StatementResult,
    collect,
    too_many,
)
from pegboard.sources.sql.drivers.postgres_errors import TOO_LARGE, translate_error
from pegboard.sources.sql.drivers.postgres_schema import read_tables

EXPLAIN = "EXPLAIN (VERBOSE, FORMAT JSON) "
_CURSOR = "pegboard"
_CUT_CONNECTION_NOTICED = 140_000
"""The first server version that detects a lost client during a statement."""


class PostgresDriver:
    """Opens connections to one database."""

    errors: ClassVar[tuple[type[Exception], ...]] = (psycopg.Error, UnicodeError)

    def __init__(self, config: SqlConfig, *, guard: AddressGuard | None = None) -> None:
        self._config = config
        self._guard = guard
        try:
            given = conninfo_to_dict(config.conninfo)
        except psycopg.Error as error:
            raise ConfigError(
                "`url` is not a PostgreSQL URL; write postgresql://user:password@host/database "
                "and percent-encode special characters in the password."
            ) from error
        defaults: dict[str, str | int] = {
            "application_name": "pegboard",
            "connect_timeout": round(config.connect_timeout),
            "client_encoding": "utf8",
            "gssencmode": "disable",
            "keepalives_idle": 10,
            "keepalives_interval": 3,
            "keepalives_count": 3,
        }
        self._conninfo = make_conninfo("", **{**defaults, **given})
        self._host, self._port = str(given.get("host", "")), int(given.get("port") or 5432)

    def connect(self, *, write: bool) -> "PostgresSession":
        """Open a connection; each transaction declares whether it may write."""
        connection = psycopg.Connection[tuple[Any, ...]].connect(
            self._pin(), autocommit=True, prepare_threshold=None
        )
        return PostgresSession(connection, self._config, write=write)

    def _pin(self) -> str:
        """What to connect with: to an address that was checked, by the name of the host."""
        if self._guard is None:
            return self._conninfo
        try:
            address = self._guard.resolve(self._host, self._port)
        except OSError as error:
            raise psycopg.OperationalError(f"the host does not resolve: {error}") from error
        return make_conninfo(self._conninfo, hostaddr=address)

    def translate(self, error: Exception, request: StatementRequest | None) -> PegboardError:
        """Translate PostgreSQL's SQLSTATE."""
        return translate_error(error, request, self._config, prefix=len(EXPLAIN))


class PostgresSession:
    """One connection to PostgreSQL."""

    def __init__(
        self, connection: psycopg.Connection[tuple[Any, ...]], config: SqlConfig, *, write: bool
    ) -> None:
        self._connection = connection
        self._config = config
        self._mode = "READ WRITE" if write else "READ ONLY"
        self._aborted = False
        _adapt(connection.adapters)

    @property
    def usable(self) -> bool:
        """Whether it is open and idle."""
        idle = psycopg.pq.TransactionStatus.IDLE
        return (
            not self._aborted
            and not self._connection.closed
            and self._connection.info.transaction_status == idle
        )

    def tables(self, deadline: float) -> tuple[Sequence[Table], Sequence[str]]:
        """Read the schema with statements of our own."""
        with self._transaction(deadline):
            return read_tables(self._connection, self._config.schemas), ()

    def read(self, request: StatementRequest) -> StatementResult:
        """Run a query through a server-side cursor."""
        with self._transaction(request.deadline):
            self._check_plan(request)
            if request.statement.kind == "explain":
                return self._explain(request)
            with closing(RawServerCursor(self._connection, _CURSOR, scrollable=False)) as cursor:
                cursor.execute(self._limit_rows(request.sql), _sequence(request.parameters))
                if request.offset:
                    self._connection.execute(
                        f"MOVE FORWARD {request.offset} FROM {_CURSOR}".encode()
                    )
                rows, more = collect(
                    cursor.fetchmany,
                    limit=request.limit,
                    max_bytes=self._config.max_result_bytes,
                )
                return StatementResult(columns=self._columns(cursor), rows=rows, more=more)

    def write(self, request: StatementRequest, most: int) -> StatementResult:
        """Run a write, reading its returned rows one by one."""
        with self._transaction(request.deadline):
            self._check_plan(request)
            with closing(RawCursor(self._connection)) as cursor:
                if request.statement.returning:
                    return self._read_returning(cursor, request, most)
                cursor.execute(request.sql.encode(), _sequence(request.parameters))
                affected = max(0, cursor.rowcount)
                if affected > most:
                    raise too_many(affected, most)
                return StatementResult(affected=affected)

    def _read_returning(
        self, cursor: psycopg.Cursor[tuple[Any, ...]], request: StatementRequest, most: int
    ) -> StatementResult:
        """Read the rows of RETURNING as they come, so that memory stays bounded."""
        sql, parameters = request.sql.encode(), _sequence(request.parameters)
        # A generator that is not closed holds the connection's lock.
        with closing(cast("Generator[tuple[Any, ...]]", cursor.stream(sql, parameters))) as stream:
            rows, more = collect(
                lambda count: list(islice(stream, count)),
                limit=most,
                max_bytes=self._config.max_result_bytes,
            )
        if more:
            raise too_many(None, most)
        return StatementResult(columns=self._columns(cursor), rows=rows, affected=len(rows))

    def ping(self, deadline: float) -> None:
        """Run `SELECT 1`."""
        with self._transaction(deadline):
            self._connection.execute("SELECT 1")

    def abort(self) -> None:
        """Cut the connection; the server then ends the statement within a second."""
        self._aborted = True
        with suppress(OSError, psycopg.Error):
            handle = os.dup(self._connection.pgconn.socket)
            with socket.socket(fileno=handle) as line:
                line.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Terminate the session and close the connection."""
        with suppress(psycopg.Error):
            self._connection.close()

    @contextmanager
    def _transaction(self, deadline: float) -> Generator[None]:
        try:
            self._connection.execute(self._beginning(deadline))
        except psycopg.OperationalError as error:
            raise StaleConnection from error
        try:
            yield
        except BaseException:
            with suppress(psycopg.Error):
                self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT" if self._mode == "READ WRITE" else "ROLLBACK")

    def _beginning(self, deadline: float) -> bytes:
        """Return one command that opens the transaction and sets everything it depends on."""
        milliseconds = max(1, int((deadline - time.monotonic()) * 1000))
        path = ", ".join(_quote(name) for name in (*self._config.schemas, "pg_temp"))
        settings = {
            "statement_timeout": str(milliseconds),
            # shorter than the statement's own, to distinguish waiting from being slow
            "lock_timeout": str(min(5000, max(1, milliseconds * 4 // 5))),
            "idle_in_transaction_session_timeout": str(milliseconds + 5000),
            "search_path": path,
            "TimeZone": "'UTC'",
            "DateStyle": "'ISO'",
            "IntervalStyle": "'iso_8601'",
            "bytea_output": "'hex'",
            "standard_conforming_strings": "on",
        }
        if self._connection.info.server_version >= _CUT_CONNECTION_NOTICED:
            settings["client_connection_check_interval"] = "1000"
        sets = "; ".join(f"SET LOCAL {name} = {value}" for name, value in settings.items())
        return f"BEGIN {self._mode}; {sets}".encode()

    def _check_plan(self, request: StatementRequest) -> None:
        """Check in the server's query plan which tables the statement touches.

        The extended protocol (requested by `binary`) accepts one statement only.

        Raises:
            InvalidRequest: It touches a table that the guard has not seen.
        """
        allowed = {key for table in request.statement.tables for key in (table.key, *table.reads)}
        with closing(RawCursor(self._connection)) as cursor:
            cursor.execute(
                (EXPLAIN + request.sql).encode(), _sequence(request.parameters), binary=True
            )
            row = cursor.fetchone()
        touched = set(_relations(row[0] if row else None))
        if not touched <= allowed:
            raise InvalidRequest("The statement touches something that is not available here.")

    def _explain(self, request: StatementRequest) -> StatementResult:
        with closing(RawCursor(self._connection)) as cursor:
            cursor.execute(
                ("EXPLAIN " + request.sql).encode(), _sequence(request.parameters), binary=True
            )
            rows, more = collect(
                cursor.fetchmany, limit=request.limit, max_bytes=self._config.max_result_bytes
            )
            return StatementResult(columns=self._columns(cursor), rows=rows, more=more)

    def _limit_rows(self, sql: str) -> bytes:
        """Wrap the query so that it fails at a row that is too large for the client."""
        size = "pg_catalog.pg_column_size(pegboard_row)"
        too_large = f"{size} > {self._config.max_value_bytes}"
        fails = f"('{TOO_LARGE}' || {size})::pg_catalog.int4 = 0"
        return (
            f"SELECT pegboard_row.* FROM (\n{sql}\n) AS pegboard_row "  # noqa: S608 # the guard has checked it
            f"WHERE CASE WHEN {too_large} THEN {fails} ELSE true END"
        ).encode()

    def _columns(self, cursor: psycopg.Cursor[Any]) -> list[tuple[str, str]]:
        known = self._connection.adapters.types
        columns: list[tuple[str, str]] = []
        for column in cursor.description or ():
            info = known.get(column.type_code)
            array = info is not None and info.array_oid == column.type_code
            columns.append((column.name, "" if info is None else info.name + "[]" * array))
        return columns


class _Text(Loader):
    """Loads a value as the server's text."""

    def load(self, data: Buffer) -> str:
        return bytes(data).decode()


class _Moment(Loader):
    """Loads a timestamp as ISO 8601: with a T, and with hours and minutes in the offset."""

    def load(self, data: Buffer) -> str:
        text = bytes(data).decode().replace(" ", "T", 1)
        return f"{text}:00" if text[-3:-2] in {"+", "-"} and ":" in text else text


def _adapt(adapters: AdaptersMap) -> None:
    for name in ("date", "time", "interval"):
        adapters.register_loader(name, _Text)
    for name in ("timestamp", "timestamptz", "timetz"):
        adapters.register_loader(name, _Moment)


def _relations(plan: Any) -> Iterator[tuple[str, str]]:
    """Yield schema and name of each table in a plan."""
    if isinstance(plan, list):
        for item in cast("list[Any]", plan):
            yield from _relations(item)
    elif isinstance(plan, Mapping):
        node = cast("Mapping[str, Any]", plan)
        if "Relation Name" in node:
            yield str(node.get("Schema", "")), str(node["Relation Name"])
        for item in node.values():
            if isinstance(item, list | dict):
                yield from _relations(item)


def _sequence(parameters: Sequence[Any] | Mapping[str, Any]) -> Sequence[Any] | None:
    return list(parameters) or None


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
