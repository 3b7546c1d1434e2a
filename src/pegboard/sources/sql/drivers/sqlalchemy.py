"""Other databases, each through its dialect of SQLAlchemy: a transaction that is rolled back."""

import socket
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, ClassVar

import sqlalchemy
from sqlalchemy import event
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from pegboard.errors import (
    ConfigError,
    InvalidRequest,
    PegboardError,
    SourceUnavailable,
)
from pegboard.sources.sql.catalog import Table
from pegboard.sources.sql.config import SqlConfig
from pegboard.sources.sql.dialects import DIALECTS
from pegboard.sources.sql.driver import (
    StaleConnection,
    StatementRequest,
    StatementResult,
    collect,
    too_many,
)
from pegboard.sources.sql.drivers.sqlalchemy_errors import translate_error
from pegboard.sources.sql.drivers.sqlalchemy_schema import read_tables, select_sample

_ROWS_AHEAD = 100
_AGAIN = 1.0
"""Seconds after which a statement that was asked to end loses its connection."""


class SqlalchemyDriver:
    """Opens connections to one database by the URL of its dialect."""

    errors: ClassVar[tuple[type[Exception], ...]] = (SQLAlchemyError, TimeoutError)

    def __init__(self, config: SqlConfig) -> None:
        self._config = config
        title = DIALECTS[config.dialect].title
        try:
            self._engine = sqlalchemy.create_engine(
                config.url.get_secret_value(), poolclass=NullPool, hide_parameters=True
            )
        except NoSuchModuleError as error:
            raise SourceUnavailable(
                f"No SQLAlchemy dialect for {title} is installed under the name that `url` "
                "begins with. Install its package beside Pegboard."
            ) from error
        except ImportError as error:
            raise SourceUnavailable(
                f"The SQLAlchemy dialect for {title} needs the package '{error.name}'. Install it "
                "beside Pegboard."
            ) from error
        except (ArgumentError, TypeError, ValueError) as error:
            raise ConfigError(f"`url` is not a URL that SQLAlchemy reads for {title}.") from error

    def connect(self, *, write: bool) -> "SqlalchemySession":
        """Open a connection; each transaction is rolled back unless it writes."""
        del write
        try:
            return SqlalchemySession(self._engine.connect(), self._config)
        except (DBAPIError, OSError) as error:
            raise SourceUnavailable(
                "The database cannot be reached: check host, port, name, user and password in "
                "`url`."
            ) from error

    def translate(self, error: Exception, request: StatementRequest | None) -> PegboardError:
        """Translate the class of an error."""
        return translate_error(error, request, self._config)


class SqlalchemySession:
    """One connection through a dialect of SQLAlchemy."""

    def __init__(self, connection: sqlalchemy.Connection, config: SqlConfig) -> None:
        self._connection = connection
        self._raw: Any = connection.connection.dbapi_connection
        self._config = config
        self._stopped = False
        self._closed = False
        self._was_used = False
        self._cursor: Any = None
        event.listen(connection, "before_cursor_execute", self._hold_cursor)

    @property
    def usable(self) -> bool:
        """Whether it is open and was not stopped."""
        return not self._stopped and not self._connection.closed and not self._is_lost

    def tables(self, deadline: float) -> tuple[Sequence[Table], Sequence[str]]:
        """Read the schema with SQLAlchemy's inspector."""
        with self._until(deadline), self._roll_back():
            return read_tables(self._connection, self._config.search_path), ()

    def read(self, request: StatementRequest) -> StatementResult:
        """Run a query in a transaction that is rolled back, and fetch its rows in batches."""
        with self._until(request.deadline), self._roll_back():
            result = self._execute(request)
            _skip(result, request.offset)
            rows, more = self._collect(result, request.limit)
            columns = [(name, "") for name in _names(result)]
            result.close()
            return StatementResult(columns=columns, rows=rows, more=more)

    def write(self, request: StatementRequest, most: int) -> StatementResult:
        """Run a write and commit it, unless it changes too many rows or does not tell how many."""
        with self._until(request.deadline), self._roll_back():
            if self._was_used:
                self._check_alive()
            result = self._execute(request)
            answer = self._read_changes(request, result, most)
            self._connection.commit()
            return answer

    def ping(self, deadline: float) -> None:
        """Run the dialect's smallest query."""
        with self._until(deadline), self._roll_back():
            self._check_alive()

    def abort(self) -> None:
        """Stop the statement from another thread, which takes as long as the driver needs."""
        threading.Thread(target=self._stop, daemon=True).start()

    def close(self) -> None:
        """Close the connection; safe to call twice."""
        if not self._closed:
            self._closed = True
            with suppress(SQLAlchemyError, OSError):
                self._connection.close()

    @property
    def _is_lost(self) -> bool:
        return not self._connection.closed and self._connection.invalidated

    def _execute(self, request: StatementRequest) -> "sqlalchemy.CursorResult[Any]":
        """Run the statement.

        Raises:
            StaleConnection: The database has closed the connection since its last use.
        """
        statement: sqlalchemy.Executable
        if request.statement.kind == "sample":
            [table] = request.statement.tables
            columns = request.catalog.columns(table)
            statement = select_sample(table, [column.name for column in columns], request.limit)
        else:
            statement = sqlalchemy.text(request.sql)
        streamed = statement.execution_options(stream_results=True, max_row_buffer=_ROWS_AHEAD)
        is_write = request.statement.kind == "write"
        try:
            return self._connection.execute(
                statement if is_write else streamed, dict(request.parameters)
            )
        except DBAPIError as error:
            if error.connection_invalidated and self._was_used and not (is_write or self._stopped):
                raise StaleConnection from error
            raise

    def _read_changes(
        self, request: StatementRequest, result: "sqlalchemy.CursorResult[Any]", most: int
    ) -> StatementResult:
        if request.statement.returning:
            rows, more = self._collect(result, most)
            if more:
                raise too_many(None, most)
            columns = [(name, "") for name in _names(result)]
            return StatementResult(columns=columns, rows=rows, affected=len(rows))
        if result.rowcount < 0:
            raise InvalidRequest(
                "The database does not tell how many rows the statement changes, so it was undone."
            )
        if result.rowcount > most:
            raise too_many(result.rowcount, most)
        return StatementResult(affected=result.rowcount)

    def _collect(
        self, result: "sqlalchemy.CursorResult[Any]", limit: int
    ) -> tuple[list[list[Any]], bool]:
        def fetch(count: int) -> list[tuple[Any, ...]]:
            return [tuple(row) for row in result.fetchmany(count)] if count else []

        return collect(fetch, limit=limit, max_bytes=self._config.max_result_bytes)

    def _check_alive(self) -> None:
        try:
            self._connection.dialect.do_ping(self._raw)
        except Exception as error:
            self._connection.invalidate(error)
            raise StaleConnection from error

    def _hold_cursor(self, _: Any, cursor: Any, *others: Any) -> None:
        del others
        self._cursor = cursor

    @contextmanager
    def _roll_back(self) -> Generator[None]:
        """Undo what the block has not committed, so that nothing stays open or changed."""
        try:
            yield
        finally:
            self._cursor = None
            self._was_used = True
            if not self._stopped and not self._is_lost:
                with suppress(SQLAlchemyError):
                    self._connection.rollback()

    @contextmanager
    def _until(self, deadline: float) -> Generator[None]:
        """Stop what still runs at the deadline.

        Raises:
            TimeoutError: It was stopped.
        """
        done = threading.Event()
        watch = threading.Thread(target=self._watch, args=(deadline, done), daemon=True)
        watch.start()
        try:
            yield
        except StaleConnection:
            raise
        except Exception as error:
            if self._stopped:
                raise TimeoutError from error
            raise
        finally:
            done.set()

    def _watch(self, deadline: float, done: threading.Event) -> None:
        if not done.wait(max(0.0, deadline - time.monotonic())):
            self._stop(done)

    def _stop(self, done: threading.Event | None = None) -> None:
        """Cancel the statement as its driver can; else, or if that does not help, disconnect."""
        self._stopped = True
        for thing in (self._cursor, self._raw):
            for name in ("cancel", "interrupt"):
                if callable(cancel := getattr(thing, name, None)):
                    with suppress(Exception):
                        cancel()
                        if done is None or done.wait(_AGAIN):
                            return
        line = getattr(self._raw, "_sock", None)
        with suppress(Exception):
            if isinstance(line, socket.socket):
                line.shutdown(socket.SHUT_RDWR)
            else:
                self._raw.close()


def _skip(result: "sqlalchemy.CursorResult[Any]", offset: int) -> None:
    left = offset
    while left > 0:
        passed = len(result.fetchmany(min(_ROWS_AHEAD, left)))
        if passed == 0:
            return
        left -= passed


def _names(result: "sqlalchemy.CursorResult[Any]") -> list[str]:
    return [str(name) for name in tuple(result.keys())]
