"""DuckDB: a database in this process, with no way to files, extensions or the network."""

import json
import threading
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar, cast

import duckdb
import pytz

from pegboard.errors import InvalidRequest, PegboardError, SourceUnavailable
from pegboard.sources.sql.allowlist import function_names
from pegboard.sources.sql.catalog import Table
from pegboard.sources.sql.config import SqlConfig
from pegboard.sources.sql.driver import (
    StatementRequest,
    StatementResult,
    collect,
    too_many,
)
from pegboard.sources.sql.drivers.duckdb_errors import translate_error
from pegboard.sources.sql.drivers.duckdb_schema import read_tables, to_key
from pegboard.sources.sql.lexer import TokenKind, fold_case

_UTC = pytz.utc
"""Imported here: DuckDB needs pytz for times with a zone, and would miss it at the first row."""

_MEMORY = "512MB"
_SETTINGS = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
    "memory_limit": _MEMORY,
    "temp_directory": "",
    "threads": "2",
    "lock_configuration": "true",
}
_AGAIN = 0.05
"""Seconds between two interruptions: one before the statement has begun has no effect."""


class DuckdbDriver:
    """Opens one database file. All connections of a process to a file share its settings."""

    errors: ClassVar[tuple[type[Exception], ...]] = (duckdb.Error,)

    def __init__(self, config: SqlConfig, *, base_dir: Path) -> None:
        self._config = config
        self._path = base_dir / config.database_file

    def connect(self, *, write: bool) -> "DuckdbSession":
        """Open a connection, read-only unless `write`."""
        if not self._path.is_file():
            raise SourceUnavailable(
                f"The database file '{self._path.name}' does not exist. Relative paths in `url` "
                "start from the board's folder."
            )
        settings: dict[str, str | bool | int | float | list[str]] = {**_SETTINGS}
        connection = duckdb.connect(
            str(self._path), read_only=not self._config.allow_writes, config=settings
        )
        try:
            return DuckdbSession(connection, self._config, write=write)
        except BaseException:
            connection.close()
            raise

    def translate(self, error: Exception, request: StatementRequest | None) -> PegboardError:
        """Translate the class of a DuckDB error."""
        return translate_error(error, request, self._config)


class DuckdbSession:
    """One connection to DuckDB."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, config: SqlConfig, *, write: bool
    ) -> None:
        self._connection = connection
        self._config = config
        self._mode = "READ WRITE" if write else "READ ONLY"
        self._aborted = False
        self._closed = False
        path = ",".join('"' + name.replace('"', '""') + '"' for name in config.search_path)
        connection.execute("SET search_path = '" + path.replace("'", "''") + "'")
        self._database = _first(connection.execute("SELECT current_database()"))

    @property
    def usable(self) -> bool:
        """Whether it was neither aborted nor closed."""
        return not self._aborted and not self._closed

    def tables(self, deadline: float) -> tuple[Sequence[Table], Sequence[str]]:
        """Read the schema with statements of our own."""
        with self._until(deadline):
            return read_tables(self._connection, self._database, self._config.search_path), ()

    def read(self, request: StatementRequest) -> StatementResult:
        """Run a query in a read-only transaction; rows are computed as they are fetched."""
        with self._until(request.deadline):
            bound = self._bound_names(request)
            with self._transaction("READ ONLY"):
                return self._read(request, bound)

    def _read(self, request: StatementRequest, bound: set[str]) -> StatementResult:
        statement = self._check(request, bound, duckdb.StatementType.SELECT)
        if request.statement.kind == "explain":
            return self._explain(request)
        result = self._connection.execute(statement, request.parameters)
        columns = _columns(result)
        _skip(result, request.offset)
        rows, more = collect(
            result.fetchmany, limit=request.limit, max_bytes=self._config.max_result_bytes
        )
        return StatementResult(columns=columns, rows=rows, more=more)

    def write(self, request: StatementRequest, most: int) -> StatementResult:
        """Run a write in a transaction of its own."""
        with self._until(request.deadline), self._transaction(self._mode):
            statement = self._check(request, set(), *_WRITES)
            result = self._connection.execute(statement, request.parameters)
            if not request.statement.returning:
                affected = int(_first(result))
                if affected > most:
                    raise too_many(affected, most)
                return StatementResult(affected=affected)
            columns = _columns(result)
            rows, more = collect(
                result.fetchmany, limit=most, max_bytes=self._config.max_result_bytes
            )
            if more:
                raise too_many(None, most)
            return StatementResult(columns=columns, rows=rows, affected=len(rows))

    def ping(self, deadline: float) -> None:
        """Run `SELECT 1`."""
        with self._until(deadline):
            self._connection.execute("SELECT 1").fetchall()

    def abort(self) -> None:
        """Interrupt the statement from another thread."""
        self._aborted = True
        with suppress(duckdb.Error):
            self._connection.interrupt()

    def close(self) -> None:
        """Close the connection; the file is released with the last one."""
        self._closed = True
        self._connection.close()

    def _explain(self, request: StatementRequest) -> StatementResult:
        result = self._connection.execute("EXPLAIN " + request.sql, request.parameters)
        rows, more = collect(
            result.fetchmany, limit=request.limit, max_bytes=self._config.max_result_bytes
        )
        return StatementResult(columns=_columns(result), rows=rows, more=more)

    def _check(
        self, request: StatementRequest, bound: set[str], *kinds: duckdb.StatementType
    ) -> duckdb.Statement:
        """Check with DuckDB's own parser, binder and planner what the statement does.

        Raises:
            InvalidRequest: It is of another kind, or touches what the guard has not seen.
        """
        statements = self._connection.extract_statements(request.sql)
        if len(statements) != 1 or statements[0].type not in kinds:
            raise _unavailable()
        allowed = {key for table in request.statement.tables for key in (table.key, *table.reads)}
        names = {fold_case(name) for _, name in allowed}
        keys = {(fold_case(schema), fold_case(name)) for schema, name in allowed}
        for name in bound:
            schema, table = to_key(name)
            if table not in names or (schema and (schema, table) not in keys):
                raise _unavailable()
        plan = self._connection.execute(
            "EXPLAIN (FORMAT json) " + request.sql, request.parameters
        ).fetchall()
        functions = function_names("duckdb") | {
            name.lower() for name in self._config.allow_functions
        }
        for info in _scans(json.loads(plan[0][1])):
            if "Table" in info and to_key(str(info["Table"])) not in keys:
                raise _unavailable()
            if "Function" in info and str(info["Function"]).lower() not in functions:
                raise _unavailable()
        return statements[0]

    def _bound_names(self, request: StatementRequest) -> set[str]:
        """Return the tables that a query is bound to, also through views and macros.

        The planner answers some queries from statistics and leaves their tables out of the plan.
        A failure ends the transaction, so this stands before it.
        """
        try:
            return self._connection.get_table_names(_without_parameters(request), qualified=True)
        except duckdb.BinderException:  # it cannot resolve each join; the plan is checked as well
            return set()

    @contextmanager
    def _transaction(self, mode: str) -> Generator[None]:
        self._connection.execute(f"BEGIN TRANSACTION {mode}")
        try:
            yield
        except BaseException:
            with suppress(duckdb.Error):
                self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT" if mode == "READ WRITE" else "ROLLBACK")

    @contextmanager
    def _until(self, deadline: float) -> Generator[None]:
        """Interrupt what still runs at the deadline; DuckDB has no time limit of its own."""
        done = threading.Event()
        watch = threading.Thread(target=self._interrupt, args=(deadline, done), daemon=True)
        watch.start()
        try:
            yield
        finally:
            done.set()
            watch.join()

    def _interrupt(self, deadline: float, done: threading.Event) -> None:
        wait = deadline - time.monotonic()
        while not done.wait(max(_AGAIN, wait)):
            wait = _AGAIN
            self._connection.interrupt()


_WRITES = (
    duckdb.StatementType.INSERT,
    duckdb.StatementType.UPDATE,
    duckdb.StatementType.DELETE,
)


def _unavailable() -> InvalidRequest:
    return InvalidRequest("The statement touches something that is not available here.")


def _without_parameters(request: StatementRequest) -> str:
    """Return the statement with NULL for each parameter, which the binder then need not know."""
    lexed = request.statement.lexed
    pieces: list[str] = []
    at = 0
    for token in lexed.tokens:
        if token.kind is TokenKind.PARAMETER:
            pieces += [lexed.text[at : token.start], "NULL"]
            at = token.start + len(token.text)
    return "".join([*pieces, lexed.text[at:]])


def _scans(plan: Any) -> Iterator[Mapping[str, Any]]:
    """Yield what each operator of a plan says about itself."""
    if isinstance(plan, list):
        for item in cast("list[Any]", plan):
            yield from _scans(item)
    elif isinstance(plan, dict):
        node = cast("dict[str, Any]", plan)
        yield node.get("extra_info") or {}
        yield from _scans(node.get("children") or [])


def _columns(result: duckdb.DuckDBPyConnection) -> list[tuple[str, str]]:
    return [(str(entry[0]), str(entry[1]).lower()) for entry in result.description or ()]


def _first(result: duckdb.DuckDBPyConnection) -> Any:
    row = result.fetchone()
    return None if row is None else row[0]


def _skip(result: duckdb.DuckDBPyConnection, offset: int) -> None:
    left = offset
    while left > 0:
        passed = len(result.fetchmany(min(1_000, left)))
        if passed == 0:
            return
        left -= passed
