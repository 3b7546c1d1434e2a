"""The protocols of a database driver and of its sessions, with the values they exchange.

A session is used by one thread at a time. `client` provides the thread and the deadline, and
translates errors.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

from pegboard.errors import InvalidRequest, PegboardError
from pegboard.sources.sql.catalog import Catalog, Table
from pegboard.sources.sql.json_values import Json, size_of, to_json
from pegboard.sources.sql.lexer import LexedStatement

_BATCH = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A statement that the guard accepted.

    Attributes:
        lexed: The text that was parsed and is run, without a leading EXPLAIN.
        kind: `query`, `explain` or `write`; `sample` for the first rows of its only table, which a
            driver may select in its own words.
        tables: The visible tables and views that it names.
        ctes: Folded names of its WITH queries.
        returning: Whether a write returns rows.
    """

    lexed: LexedStatement
    kind: Literal["query", "explain", "write", "sample"]
    tables: tuple[Table, ...]
    ctes: frozenset[str] = frozenset()
    returning: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementRequest:
    """A checked statement, ready to run.

    Attributes:
        sql: The text for the driver.
        parameters: Its parameters, by position or by name.
        limit: The maximum of rows to return.
        offset: The number of rows to skip.
        deadline: The end of its time, as `time.monotonic()` seconds.
        seconds: Its time limit, for messages.
    """

    statement: Statement
    catalog: Catalog
    sql: str
    parameters: Sequence[Any] | Mapping[str, Any]
    limit: int
    offset: int = 0
    deadline: float
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementResult:
    """The result of a statement.

    Attributes:
        columns: Name and type of each column; the type is empty if the driver does not report it.
        more: Whether there are more rows.
        affected: Rows that a write changed, including triggers and cascades where known.
    """

    columns: Sequence[tuple[str, str]] = ()
    rows: Sequence[Sequence[Json]] = ()
    more: bool = False
    affected: int = 0


class StaleConnection(Exception):
    """A pooled connection was dead before anything was done on it."""


class DatabaseSession(Protocol):
    """A connection. All methods but `abort` run in one thread at a time and may block."""

    @property
    def usable(self) -> bool:
        """Whether it can be used again."""
        ...

    def tables(self, deadline: float) -> tuple[Sequence[Table], Sequence[str]]:
        """Return every table and view with what it reads, and the names of triggers."""
        ...

    def read(self, request: StatementRequest) -> StatementResult:
        """Run a query."""
        ...

    def write(self, request: StatementRequest, most: int) -> StatementResult:
        """Run a write and commit it, unless it affects more than `most` rows.

        Raises:
            InvalidRequest: It affects more rows; nothing was changed.
        """
        ...

    def ping(self, deadline: float) -> None:
        """Send a minimal request."""
        ...

    def abort(self) -> None:
        """Stop the running statement from another thread; it then fails soon."""
        ...

    def close(self) -> None:
        """Close the connection; safe to call twice."""
        ...


class DatabaseDriver(Protocol):
    """Opens sessions and translates their errors."""

    errors: ClassVar[tuple[type[Exception], ...]]
    """The exceptions that it and its sessions raise."""

    def connect(self, *, write: bool) -> DatabaseSession:
        """Open a connection, read-only unless `write`."""
        ...

    def translate(self, error: Exception, request: StatementRequest | None) -> PegboardError:
        """Translate an error for the caller, the operator and the model."""
        ...


def collect(
    fetch: Callable[[int], Sequence[Sequence[Any]]], *, limit: int, max_bytes: int
) -> tuple[list[list[Json]], bool]:
    """Collect rows up to the limit or the byte budget; return whether there are more.

    Raises:
        InvalidRequest: The first row alone is larger than the budget.
    """
    rows: list[list[Json]] = []
    size = 0
    while True:
        batch = fetch(min(_BATCH, limit + 1 - len(rows)))
        for raw in batch:
            if len(rows) == limit:
                return rows, True
            row = [to_json(value) for value in raw]
            size += size_of(row)
            if size > max_bytes:
                return _truncate(rows, size)
            rows.append(row)
        if not batch:
            return rows, False


def _truncate(rows: list[list[Json]], size: int) -> tuple[list[list[Json]], bool]:
    if not rows:
        raise InvalidRequest(
            f"One row alone has {size} bytes. Select fewer columns, or parts of them (substr)."
        )
    return rows, True


def too_many(affected: int | None, most: int) -> InvalidRequest:
    """Return the error for a write that affects too many rows; None: it was stopped early."""
    count = f"more than {most}" if affected is None else f"{affected}"
    return InvalidRequest(
        f"The statement changes {count} rows; {most} are allowed at once. Nothing was changed."
    )


def too_slow(request: StatementRequest | None, otherwise: float) -> InvalidRequest:
    """Return the error for a statement that the database stopped at its time limit.

    The caller can change the statement, and repeating it does not help. The database works, so no
    circuit breaker counts it.
    """
    seconds = otherwise if request is None else request.seconds
    return InvalidRequest(
        f"The statement ran longer than {seconds:g} s and was stopped. Request less at once."
    )
