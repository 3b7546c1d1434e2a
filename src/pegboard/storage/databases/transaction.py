"""One open transaction, and statements that are compiled once.

SQLAlchemy Core writes the SQL of every statement for both databases. Running one through it costs
some 15 us each time, so the few statements on the path of every call are prepared: Core compiles
them once for each database, and the driver runs the text.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Protocol, TypeVar, cast

from sqlalchemy import Connection, CursorResult, Executable, Row, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql.psycopg import dialect as psycopg_dialect
from sqlalchemy.dialects.sqlite.pysqlite import dialect as pysqlite_dialect
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.compiler import SQLCompiler

Value = TypeVar("Value")
Params = Mapping[str, Any] | Sequence[Mapping[str, Any]] | None
Builder = Callable[[Callable[[Table], Any]], Executable]
"""Builds a statement with the database's own `insert`, which knows ON CONFLICT."""

# `inline`: nobody asks for the number that a row gets.
_INSERTS: dict[str, Callable[[Table], Any]] = {
    "sqlite": lambda table: sqlite.insert(table).inline(),
    "postgresql": lambda table: postgresql.insert(table).inline(),
}
_DIALECTS: dict[str, Any] = {
    "sqlite": pysqlite_dialect(),
    "postgresql": psycopg_dialect(paramstyle="format"),
}


# Otherwise the count of an INSERT is gone with its cursor.
_COUNTED = {"preserve_rowcount": True}


class PreparedInsert:
    """An INSERT whose SQL is compiled once for each database."""

    def __init__(self, build: Builder, *names: str) -> None:
        """Compile it at its first run; values are passed in the order of `names`."""
        self._build = build
        self._names = names
        self._texts: dict[str, str] = {}

    def text(self, database: str) -> str:
        """The SQL for this database, with positional parameters."""
        text = self._texts.get(database)
        if text is None:
            text = self._texts[database] = self._compile(database)
        return text

    def _compile(self, database: str) -> str:
        statement = cast("Any", self._build(_INSERTS[database]))
        compiled: SQLCompiler = statement.compile(
            dialect=_DIALECTS[database], column_keys=list(self._names)
        )
        if tuple(compiled.positiontup or ()) != self._names:
            raise AssertionError(f"{compiled} takes {compiled.positiontup}, not {self._names}")
        return str(compiled)


class DriverCursor(Protocol):
    """The methods used of a DB-API cursor."""

    @property
    def rowcount(self) -> int: ...

    def fetchone(self) -> Any: ...


class Transaction:
    """The statements that an operation may run in the open transaction.

    Failures raise the driver's own error: `sqlite3.Error` or `psycopg.Error`.

    Attributes:
        erases: Whether what an operation deletes is to leave the log of a SQLite file, too.
    """

    __slots__ = ("core", "database", "driver", "erases")

    def __init__(self, core: Connection) -> None:
        """Run statements through this connection; its owner begins and commits."""
        self.core = core
        self.driver: Any = core.connection.driver_connection
        self.database = core.dialect.name
        self.erases = False

    def insert(self, table: Table) -> Any:
        """The database's own INSERT, which knows ON CONFLICT."""
        return _INSERTS[self.database](table)

    def all(self, statement: Executable, values: Params = None) -> Sequence[Row[Any]]:
        """Every row."""
        try:
            return self.core.execute(statement, values).all()
        except DBAPIError as error:
            raise own(error) from None

    def first(self, statement: Executable, values: Params = None) -> Row[Any] | None:
        """The first row, if there is one."""
        try:
            return self.core.execute(statement, values).first()
        except DBAPIError as error:
            raise own(error) from None

    def execute(self, statement: Executable, values: Params = None) -> int:
        """Run a statement and return the number of affected rows."""
        try:
            result = cast(
                "CursorResult[Any]",
                self.core.execute(statement, values, execution_options=_COUNTED),
            )
            return result.rowcount
        except DBAPIError as error:
            raise own(error) from None

    def quick(self, prepared: PreparedInsert, values: tuple[Any, ...]) -> DriverCursor:
        """Run a prepared statement without SQLAlchemy."""
        return self.driver.execute(prepared.text(self.database), values)

    def quick_many(self, prepared: PreparedInsert, rows: Sequence[tuple[Any, ...]]) -> None:
        """The same for each row, in as few round trips as the driver can."""
        text = prepared.text(self.database)
        if len(rows) == 1:
            self.driver.execute(text, rows[0])
            return
        cursor = self.driver.cursor()
        cursor.executemany(text, rows)
        cursor.close()

    @contextmanager
    def savepoint(self) -> Generator[None]:
        """Roll back what was done inside if it raises."""
        self.driver.execute("SAVEPOINT part")
        try:
            yield
        except BaseException:
            # Where the whole transaction is lost already there is nothing left to go back to.
            with suppress(self.core.dialect.loaded_dbapi.Error):
                self.driver.execute("ROLLBACK TO SAVEPOINT part")
                self.driver.execute("RELEASE SAVEPOINT part")
            raise
        self.driver.execute("RELEASE SAVEPOINT part")

    def close(self) -> None:
        """Let go of the connection."""
        self.core.close()
        self.driver.close()


Operation = Callable[[Transaction], Value]
"""Work inside a transaction. It must not commit, and may be run again after a rollback."""

Rows = Operation[None]
"""A background write."""


def own(error: DBAPIError) -> BaseException:
    """The driver's error that SQLAlchemy has wrapped."""
    return error if error.orig is None else error.orig
