"""SQLite: a read-only connection with an authorizer for the running statement."""

import sqlite3
import time
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote

from pegboard.errors import (
    InvalidRequest,
    PegboardError,
    SourceUnavailable,
    ToolFailed,
    Unavailable,
)
from pegboard.sources.sql.catalog import Table, nearest
from pegboard.sources.sql.config import SqlConfig
from pegboard.sources.sql.driver import (
    StatementRequest,
    StatementResult,
    collect,
    too_many,
    too_slow,
)
from pegboard.sources.sql.drivers.sqlite_authorizer import SqliteAuthorizer
from pegboard.sources.sql.drivers.sqlite_cost import limit_values
from pegboard.sources.sql.drivers.sqlite_schema import read_tables

_TICK = 4_000
"""Steps of SQLite's virtual machine between two checks of the time: well under a millisecond."""

_LIMITS = {
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 100_000,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 100,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 250_000,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 1_000,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_SETTINGS = ("query_only", "trusted_schema", "foreign_keys", "cell_size_check")


class SqliteDriver:
    """Opens one database file."""

    errors: ClassVar[tuple[type[Exception], ...]] = (sqlite3.Error, sqlite3.Warning)

    def __init__(self, config: SqlConfig, *, base_dir: Path) -> None:
        self._config = config
        self._path = base_dir / config.database_file

    def connect(self, *, write: bool) -> "SqliteSession":
        """Open a connection, read-only unless `write`."""
        if not self._path.is_file():
            raise SourceUnavailable(
                f"The database file '{self._path.name}' does not exist. Relative paths in `url` "
                "start from the board's folder."
            )
        return SqliteSession(self._path, self._config, write=write)

    def translate(self, error: Exception, request: StatementRequest | None) -> PegboardError:
        """Translate SQLite's result code."""
        code = getattr(error, "sqlite_errorcode", None)
        primary = code & 0xFF if isinstance(code, int) else sqlite3.SQLITE_ERROR
        text = str(error)
        match primary:
            case sqlite3.SQLITE_INTERRUPT:
                return too_slow(request, self._config.statement_timeout)
            case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
                return Unavailable(
                    "Another program is writing to the database.",
                    retry_after=0.5,
                    nothing_done=True,
                )
            case sqlite3.SQLITE_AUTH:
                return InvalidRequest("The statement touches something that is not available here.")
            case sqlite3.SQLITE_TOOBIG:
                return _too_big(request, self._config.max_value_bytes)
            case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT:
                return SourceUnavailable("The file is not a readable SQLite database.")
            case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_IOERR | sqlite3.SQLITE_NOMEM:
                return Unavailable("The database file cannot be read now.")
            case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_FULL | sqlite3.SQLITE_PERM:
                return ToolFailed("The database file cannot be written.")
            case _:
                return InvalidRequest(f"SQLite: {text}.{_hint(text, request)}")


class SqliteSession:
    """One connection to the file."""

    def __init__(self, path: Path, config: SqlConfig, *, write: bool) -> None:
        self._config = config
        self._path = path
        self._file = _identity(path)
        self._deadline = float("inf")
        self._aborted = False
        self._authorizer = SqliteAuthorizer(config)
        self._connection = sqlite3.connect(
            f"file:{quote(str(path))}?mode={'rw' if write else 'ro'}",
            uri=True,
            timeout=min(5.0, config.statement_timeout),
            isolation_level=None,
            check_same_thread=False,  # one thread at a time, but not always the same
            cached_statements=0,  # the authorizer runs at compile time: compile each time
        )
        try:
            self._harden(write=write)
        except BaseException:
            self._connection.close()
            raise

    def _harden(self, *, write: bool) -> None:
        connection = self._connection
        connection.text_factory = _text
        for limit, value in _LIMITS.items():
            connection.setlimit(limit, value)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, self._config.max_value_bytes)
        values = ("OFF" if write else "ON", "OFF", "ON", "ON")
        for name, value in zip(_SETTINGS, values, strict=True):
            connection.execute(f"PRAGMA {name}={value}")
        for function in ("json_each", "json_tree"):  # declared on first use, as a virtual table
            connection.execute(f"SELECT 1 FROM {function}('[]') LIMIT 0").close()  # noqa: S608 # two names, above
        connection.set_progress_handler(self._tick, _TICK)
        connection.set_authorizer(self._authorizer)

    @property
    def usable(self) -> bool:
        """Whether it was not aborted and its file was not replaced."""
        return not self._aborted and self._file == _identity(self._path)

    def tables(self, deadline: float) -> tuple[Sequence[Table], Sequence[str]]:
        """Read the schema with statements of our own."""
        with self._until(deadline), self._authorizer.as_owner():
            return read_tables(self._connection, self._authorizer, self._until)

    def read(self, request: StatementRequest) -> StatementResult:
        """Run a query under the authorizer."""
        plan = "EXPLAIN QUERY PLAN " if request.statement.kind == "explain" else ""
        with (
            self._until(request.deadline),
            self._running(request),
            closing(self._connection.execute(plan + request.sql, request.parameters)) as cursor,
        ):
            _skip(cursor, request.offset)
            rows, more = collect(
                cursor.fetchmany, limit=request.limit, max_bytes=self._config.max_result_bytes
            )
            return StatementResult(columns=_columns(cursor, rows), rows=rows, more=more)

    def write(self, request: StatementRequest, most: int) -> StatementResult:
        """Run a write in a transaction of its own."""
        with self._until(request.deadline), self._transaction():
            before = self._connection.total_changes
            with (
                self._running(request),
                closing(self._connection.execute(request.sql, request.parameters)) as cursor,
            ):
                rows, more = collect(
                    cursor.fetchmany, limit=most, max_bytes=self._config.max_result_bytes
                )
                columns = _columns(cursor, rows)
                affected = self._connection.total_changes - before
            if affected > most or more:
                raise too_many(affected, most)
            return StatementResult(columns=columns, rows=rows, affected=affected)

    @contextmanager
    def _transaction(self) -> Generator[None]:
        with self._authorizer.as_owner():
            self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            with self._authorizer.as_owner():
                self._connection.rollback()
            raise
        with self._authorizer.as_owner():
            self._connection.commit()

    def ping(self, deadline: float) -> None:
        """Read the version of the schema, which opens the file."""
        with self._until(deadline), self._authorizer.as_owner():
            self._connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()

    def abort(self) -> None:
        """Interrupt the statement at its next step."""
        self._aborted = True
        self._connection.interrupt()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @contextmanager
    def _running(self, request: StatementRequest) -> Generator[None]:
        """Apply the authorizer and the limit of values.

        The virtual tables read their own declarations before.
        """
        with self._authorizer.as_owner():
            for table in request.statement.tables:
                if table.kind == "virtual table":
                    name = table.name.replace('"', '""')
                    self._connection.execute(f'SELECT 1 FROM "{name}" LIMIT 0').close()  # noqa: S608 # the schema's own name, quoted
        most = self._config.max_value_bytes
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, limit_values(request, most))
        try:
            with self._authorizer.permit(request):
                yield
        finally:
            self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, most)

    @contextmanager
    def _until(self, deadline: float) -> Generator[None]:
        before, self._deadline = self._deadline, min(deadline, self._deadline)
        try:
            yield
        finally:
            self._deadline = before

    def _tick(self) -> bool:
        return self._aborted or time.monotonic() > self._deadline


def _too_big(request: StatementRequest | None, most: int) -> InvalidRequest:
    limit = most if request is None else limit_values(request, most)
    text = f"A value grows beyond {limit} bytes."
    if limit < most:
        text += (
            f" The limit of this source is {most}; it is lower for a statement that calls many "
            "functions, or looks for a computed text in another one (instr, replace, trim)."
        )
    return InvalidRequest(text)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _skip(cursor: sqlite3.Cursor, offset: int) -> None:
    left = offset
    while left > 0:
        passed = len(cursor.fetchmany(min(1_000, left)))
        if passed == 0:
            return
        left -= passed


def _columns(cursor: sqlite3.Cursor, rows: Sequence[Sequence[object]]) -> list[tuple[str, str]]:
    """SQLite types values rather than columns: the type is that of the returned values."""
    names = [entry[0] for entry in cursor.description or ()]
    return [(name, _type([row[index] for row in rows])) for index, name in enumerate(names)]


def _type(values: Sequence[object]) -> str:
    kinds = {_TYPES.get(type(value), "text") for value in values if value is not None}
    if kinds == {"integer", "real"}:
        return "real"
    return kinds.pop() if len(kinds) == 1 else ""


_TYPES: dict[type, str] = {int: "integer", float: "real", str: "text", dict: "blob"}


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _hint(message: str, request: StatementRequest | None) -> str:
    """Suggest the column that a misspelt one may mean."""
    name = message.partition("no such column: ")[2].rpartition(".")[2]
    if not name or request is None:
        return ""
    tables = request.statement.tables
    known = [c.name for table in tables for c in request.catalog.columns(table)]
    near = () if name in known else nearest(name, known)
    return f" Did you mean {' or '.join(near)}?" if near else ""
