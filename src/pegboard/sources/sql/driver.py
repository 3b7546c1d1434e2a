"""One connection to a database, and what is asked of it.

A session is used by one thread at a time and knows its driver. `client` gives it its thread, its
deadline and its words for what went wrong.
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
    """A statement that may run.

    Attributes:
        lexed: What was parsed and is run, without a leading EXPLAIN.
        kind: `query`, `explain` or `write`.
        tables: The visible tables and views that it names.
        ctes: Folded names of its WITH queries.
        returning: Whether a write gives rows back.
    """

    lexed: LexedStatement
    kind: Literal["query", "explain", "write"]
    tables: tuple[Table, ...]
    ctes: frozenset[str] = frozenset()
    returning: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A checked statement, ready to run.

    Attributes:
        sql: The text for the driver.
        parameters: What it binds, by position or by name.
        limit: Rows to give back at most.
        offset: Rows to pass over first.
        deadline: `time.monotonic()` seconds by which it must have ended.
        seconds: How long it may take, for the message when it took longer.
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
    """What came back.

    Attributes:
        columns: Name and type of each; the type is empty when the driver does not tell.
        more: Whether there are rows behind the last one.
        affected: Rows that a write changed, with those of triggers and cascades where known.
    """

    columns: Sequence[tuple[str, str]] = ()
    rows: Sequence[Sequence[Json]] = ()
    more: bool = False
    affected: int = 0


class StaleConnection(Exception):
    """A connection from the pool turned out to be dead before anything was done on it."""


class DatabaseSession(Protocol):
    """A connection. All methods but `abort` run in one thread at a time and may block."""

    @property
    def usable(self) -> bool:
        """Whether it can be used again."""
        ...

    def tables(self, deadline: float) -> tuple[Sequence[Table], Sequence[str]]:
        """Every table and view with what it reads, and the names of triggers."""
        ...

    def read(self, request: Request) -> StatementResult:
        """Run a query."""
        ...

    def write(self, request: Request, most: int) -> StatementResult:
        """Run a write and keep it, unless it touches more than `most` rows.

        Raises:
            InvalidRequest: It does; nothing was changed.
        """
        ...

    def ping(self, deadline: float) -> None:
        """Ask for as little as possible."""
        ...

    def abort(self) -> None:
        """Stop what is running, from another thread; it then fails soon."""
        ...

    def close(self) -> None:
        """Give the connection back to the system; safe to call twice."""
        ...


class Driver(Protocol):
    """Opens sessions and knows what their errors mean."""

    errors: ClassVar[tuple[type[Exception], ...]]
    """What it and its sessions raise."""

    def connect(self, *, write: bool) -> DatabaseSession:
        """A new connection; one that cannot write unless asked to."""
        ...

    def translate(self, error: Exception, request: Request | None) -> PegboardError:
        """The error as a caller, an operator and a model may read it."""
        ...


def collect(
    fetch: Callable[[int], Sequence[Sequence[Any]]], *, limit: int, max_bytes: int
) -> tuple[list[list[Json]], bool]:
    """Rows until the limit or the byte budget, and whether there are more.

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
    """The refusal of a write that touches more rows than it may; None: it was stopped before."""
    count = f"more than {most}" if affected is None else f"{affected}"
    return InvalidRequest(
        f"The statement changes {count} rows; {most} are allowed at once. Nothing was changed."
    )


def too_slow(request: Request | None, otherwise: float) -> InvalidRequest:
    """A statement that the database stopped at its limit.

    The caller can mend it and repeating it cannot; the database is well, so no breaker counts it.
    """
    seconds = otherwise if request is None else request.seconds
    return InvalidRequest(
        f"The statement ran longer than {seconds:g} s and was stopped. Ask for less at once."
    )
