"""MySQL and MariaDB: read-only transactions, and a check of the query that the server rewrites."""

import json
import socket
import threading
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar, cast
from urllib.parse import parse_qsl, unquote, urlsplit

import pymysql
from pymysql.connections import Connection
from pymysql.constants import FIELD_TYPE
from pymysql.converters import conversions
from pymysql.cursors import Cursor, SSCursor

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
from pegboard.sources.sql.drivers.mysql_errors import translate_error
from pegboard.sources.sql.drivers.mysql_schema import find_calls, find_names, read_tables
from pegboard.sources.sql.lexer import fold_case

_SQL_MODE = (
    "NO_BACKSLASH_ESCAPES,NO_ENGINE_SUBSTITUTION,STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO"
)
_SYSTEM = frozenset({"mysql", "information_schema", "performance_schema", "sys"})
_LOST = frozenset({0, 1927, 2006, 2013, 2055, 4031})
"""Errors of a connection that the server has closed."""

_TYPES = {
    FIELD_TYPE.TINY: "tinyint",
    FIELD_TYPE.SHORT: "smallint",
    FIELD_TYPE.INT24: "mediumint",
    FIELD_TYPE.LONG: "int",
    FIELD_TYPE.LONGLONG: "bigint",
    FIELD_TYPE.FLOAT: "float",
    FIELD_TYPE.DOUBLE: "double",
    FIELD_TYPE.DECIMAL: "decimal",
    FIELD_TYPE.NEWDECIMAL: "decimal",
    FIELD_TYPE.DATE: "date",
    FIELD_TYPE.NEWDATE: "date",
    FIELD_TYPE.TIME: "time",
    FIELD_TYPE.DATETIME: "datetime",
    FIELD_TYPE.TIMESTAMP: "timestamp",
    FIELD_TYPE.YEAR: "year",
    FIELD_TYPE.JSON: "json",
    FIELD_TYPE.BIT: "bit",
    FIELD_TYPE.GEOMETRY: "geometry",
}


class MysqlDriver:
    """Opens connections to one database."""

    errors: ClassVar[tuple[type[Exception], ...]] = (pymysql.Error, OSError, UnicodeError)

    def __init__(self, config: SqlConfig, *, guard: AddressGuard | None = None) -> None:
        self._config = config
        self._options = _options(config)
        self._guard = guard

    def connect(self, *, write: bool) -> "MysqlSession":
        """Open a connection; each transaction declares whether it may write."""
        return MysqlSession(self._options, self._config, write=write, guard=self._guard)

    def translate(self, error: Exception, request: StatementRequest | None) -> PegboardError:
        """Translate the number of a server's error."""
        return translate_error(error, request, self._config)


class MysqlSession:
    """One connection to MySQL or MariaDB."""

    def __init__(
        self,
        options: Mapping[str, Any],
        config: SqlConfig,
        *,
        write: bool,
        guard: AddressGuard | None = None,
    ) -> None:
        self._options = options
        self._config = config
        self._mode = "READ WRITE" if write else "READ ONLY"
        self._aborted = False
        self._connection = _connect(options, guard)
        try:
            self._is_mariadb = self._connection.is_mariadb
            self._run(f"SET SESSION TRANSACTION {self._mode}")
        except BaseException:
            self._connection.cut()
            raise

    @property
    def usable(self) -> bool:
        """Whether it is open and was not aborted."""
        return not self._aborted and bool(self._connection.open)

    def tables(self, deadline: float) -> tuple[Sequence[Table], Sequence[str]]:
        """Read the schema with statements of our own."""
        with self._transaction(deadline):
            return read_tables(self._fetch, self._config.search_path[0]), ()

    def read(self, request: StatementRequest) -> StatementResult:
        """Run a query and read its rows as the server sends them."""
        with self._transaction(request.deadline, rows=request.offset + request.limit + 1):
            self._check_rewritten(request)
            explain = "EXPLAIN " if request.statement.kind == "explain" else ""
            with self._stream(explain + request.sql) as cursor:
                _skip(cursor, request.offset)
                rows, more = self._collect(cursor, request.limit)
                if more:
                    cursor.fetchone()  # reads the end, unless the statement has a LIMIT of its own
            return StatementResult(columns=_columns(cursor, rows), rows=rows, more=more)

    def write(self, request: StatementRequest, most: int) -> StatementResult:
        """Run a write in a transaction of its own."""
        with self._transaction(request.deadline), self._stream(request.sql) as cursor:
            if not request.statement.returning:
                affected = max(0, cursor.rowcount)
                if affected > most:
                    raise too_many(affected, most)
                return StatementResult(affected=affected)
            rows, more = self._collect(cursor, most)
            if more:
                raise too_many(None, most)
            return StatementResult(columns=_columns(cursor, rows), rows=rows, affected=len(rows))

    def ping(self, deadline: float) -> None:
        """Run `SELECT 1`."""
        with self._transaction(deadline):
            self._fetch("SELECT 1", None)

    def abort(self) -> None:
        """Cut the connection, and stop the statement on the server through another one."""
        self._aborted = True
        number = self._connection.number
        self._connection.shut_down()
        threading.Thread(target=self._kill, args=(number,), daemon=True).start()

    def close(self) -> None:
        """Close the connection; safe to call twice."""
        with suppress(pymysql.Error):
            self._connection.close()

    def _kill(self, number: int) -> None:
        with suppress(pymysql.Error, OSError), _Connection(**self._options) as other:
            other.run(f"KILL {number}")

    def _run(self, sql: str) -> None:
        self._connection.run(sql)

    def _fetch(self, sql: str, parameters: list[Any] | None) -> Sequence[tuple[Any, ...]]:
        with self._connection.cursor() as cursor:
            cursor.execute(sql, parameters)
            return cursor.fetchall()

    @contextmanager
    def _transaction(self, deadline: float, *, rows: int | None = None) -> Generator[None]:
        try:
            self._run(self._limits(deadline, rows))
            self._run(f"START TRANSACTION {self._mode}")
        except pymysql.Error as error:
            if not error.args or error.args[0] in _LOST:
                self._connection.cut()
                raise StaleConnection from error
            raise
        try:
            yield
        except BaseException:
            with suppress(pymysql.Error):
                self._run("ROLLBACK")
            raise
        if self._connection.open:
            self._run("COMMIT" if self._mode == "READ WRITE" else "ROLLBACK")

    def _limits(self, deadline: float, rows: int | None) -> str:
        """Return one statement with the limits of those that follow.

        `sql_select_limit` holds for a SELECT without a LIMIT of its own.
        """
        seconds = max(0.001, deadline - time.monotonic())
        limits = {
            "sql_select_limit": "DEFAULT" if rows is None else str(rows),
            # shorter than the statement's own time, to distinguish waiting from being slow
            "innodb_lock_wait_timeout": str(min(5, max(1, int(seconds * 4 / 5)))),
        }
        if self._is_mariadb:
            limits["max_statement_time"] = f"{seconds:.3f}"
        else:
            limits["max_execution_time"] = str(int(seconds * 1000))
        return "SET SESSION " + ", ".join(f"{name} = {value}" for name, value in limits.items())

    @contextmanager
    def _stream(self, sql: str) -> Generator["SSCursor"]:
        """Run a statement whose rows are not buffered; what is left of them is not read."""
        cursor = SSCursor(self._connection)
        try:
            cursor.execute(sql, None)
            yield cursor
        finally:
            if self._connection.is_streaming:
                self._connection.cut()
            cursor.close()

    def _collect(self, cursor: "SSCursor", limit: int) -> tuple[list[list[Any]], bool]:
        kinds = [int(entry[1]) for entry in cursor.description or ()]

        def fetch(count: int) -> list[list[Any]]:
            return [
                [_plain(value, kind) for value, kind in zip(row, kinds, strict=True)]
                for row in cursor.fetchmany(count)
            ]

        return collect(fetch, limit=limit, max_bytes=self._config.max_result_bytes)

    def _check_rewritten(self, request: StatementRequest) -> None:
        """Check the query as the server resolved it: with the schema of each table, views merged.

        Raises:
            InvalidRequest: It names a table or function that the guard has not seen.
        """
        extended = "EXTENDED " if self._is_mariadb else ""
        self._fetch(f"EXPLAIN {extended}{request.sql}", None)
        text = "\n".join(
            str(row[2]) for row in self._fetch("SHOW WARNINGS", None) if row[1] == _NOTE
        )
        allowed = {key for table in request.statement.tables for key in (table.key, *table.reads)}
        database = self._config.search_path[0]
        for schema, name in find_names(text):
            known = schema == database and fold_case(name) in request.catalog.taken
            if (known or schema in _SYSTEM) and (schema, name) not in allowed:
                raise _unavailable()
        functions = {name.lower() for name in self._config.allow_functions}
        for name in find_calls(text):
            if fold_case(name) not in functions | request.statement.ctes:
                raise _unavailable()


if TYPE_CHECKING:
    _Base = Connection[Cursor]
else:
    _Base = Connection


class _Connection(_Base):
    """A connection that can be left in the middle of a result.

    PyMySQL has no public way to do so; these are the members that it needs.
    """

    _result: Any
    _sock: socket.socket | None
    _force_close: Callable[[], None]

    @property
    def is_mariadb(self) -> bool:
        """Whether the server is MariaDB."""
        return "mariadb" in str(cast("Any", self).get_server_info()).lower()

    @property
    def number(self) -> int:
        """The number of the connection on the server."""
        return int(cast("Any", self).thread_id())

    def run(self, sql: str) -> None:
        """Run a statement without a result."""
        cast("Any", self).query(sql)

    @property
    def is_streaming(self) -> bool:
        """Whether rows of a statement have not been read."""
        return bool(self._result is not None and self._result.unbuffered_active)

    def cut(self) -> None:
        """Close the connection without reading what is left."""
        if self._result is not None:
            self._result.unbuffered_active = False
        self._force_close()

    def shut_down(self) -> None:
        """End the connection from another thread; the one that reads from it gets an error."""
        line = self._sock
        if line is not None:
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)


def _connect(options: Mapping[str, Any], guard: AddressGuard | None) -> _Connection:
    """Connect, to an address that was checked where the board asks for that."""
    if guard is None:
        return _Connection(**options)
    connection = _Connection(**options, defer_connect=True)
    place = (guard.resolve(options["host"], options["port"]), options["port"])
    cast("Any", connection).connect(
        socket.create_connection(place, timeout=options["connect_timeout"])
    )  # TLS is still checked by the name
    return connection


_NOTE = 1003


def _options(config: SqlConfig) -> Mapping[str, Any]:
    """Return what PyMySQL connects with.

    Raises:
        ConfigError: The URL names no database, or has an unknown parameter.
    """
    try:
        url = urlsplit(config.url.get_secret_value())
        given, port = dict(parse_qsl(url.query)), url.port
    except ValueError as error:
        raise ConfigError(_NO_URL) from error
    unknown = given.keys() - {"unix_socket", "ssl_ca"}
    if unknown:
        raise ConfigError(f"`url` has parameters that are not known: {', '.join(sorted(unknown))}.")
    if not config.search_path[0]:
        raise ConfigError(_NO_URL)
    tls = {"ssl_ca": given["ssl_ca"], "ssl_verify_identity": True} if "ssl_ca" in given else {}
    return {
        "host": url.hostname or "localhost",
        "port": port or 3306,
        "user": unquote(url.username or ""),
        "password": unquote(url.password or ""),
        "database": config.search_path[0],
        "unix_socket": given.get("unix_socket"),
        "charset": "utf8mb4",
        "connect_timeout": round(config.connect_timeout),
        "read_timeout": config.statement_timeout + 10,
        "write_timeout": config.statement_timeout + 10,
        "sql_mode": _SQL_MODE,
        "init_command": "SET SESSION time_zone = '+00:00'",
        "autocommit": True,
        "local_infile": False,
        "conv": {**conversions, FIELD_TYPE.TIME: str},
        "program_name": "pegboard",
        **tls,
    }


_NO_URL = (
    "`url` is not a MySQL URL; write mysql://user:password@host/database and percent-encode "
    "special characters in the password."
)


def _unavailable() -> InvalidRequest:
    return InvalidRequest("The statement touches something that is not available here.")


def _plain(value: Any, kind: int) -> Any:
    """Return a value as `json_values` reads it."""
    if kind == FIELD_TYPE.BIT and isinstance(value, bytes):
        return int.from_bytes(value)
    if kind == FIELD_TYPE.JSON and isinstance(value, str):
        return json.loads(value)
    if kind == FIELD_TYPE.TIMESTAMP and isinstance(value, datetime):
        return value.replace(tzinfo=UTC)
    return value


def _columns(cursor: "SSCursor", rows: Sequence[Sequence[Any]]) -> list[tuple[str, str]]:
    """Return names and types; whether a column holds text or bytes is told by its values."""
    return [
        (str(entry[0]), _TYPES.get(int(entry[1])) or _text_or_bytes(row[index] for row in rows))
        for index, entry in enumerate(cursor.description or ())
    ]


def _text_or_bytes(values: Iterable[Any]) -> str:
    value = next((value for value in values if value is not None), None)
    return "" if value is None else "blob" if isinstance(value, dict) else "text"


def _skip(cursor: "SSCursor", offset: int) -> None:
    left = offset
    while left > 0:
        passed = len(cursor.fetchmany(min(1_000, left)))
        if passed == 0:
            return
        left -= passed
