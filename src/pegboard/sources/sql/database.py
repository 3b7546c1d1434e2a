"""One database as its tools use it: its catalog, and statements that the guard accepts."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pegboard.concurrency.thread_pool import POOL
from pegboard.errors import InvalidRequest
from pegboard.sources.sql.catalog import Catalog, Table, build_catalog
from pegboard.sources.sql.client import DatabaseClient
from pegboard.sources.sql.config import SqlConfig
from pegboard.sources.sql.dialects import DIALECTS
from pegboard.sources.sql.driver import Statement, StatementRequest, StatementResult
from pegboard.sources.sql.lexer import LexedStatement
from pegboard.sources.sql.parameters import bind

if TYPE_CHECKING:
    from pegboard.sources.sql.statement_guard import StatementGuard

_MAX_CATALOG_AGE = 30.0
"""Seconds for which the catalog is used without reading it again."""

_MIN_RECHECK_AGE = 1.0
"""The minimum age in seconds at which a refused statement causes another reading."""

_SAMPLE_ROWS = 20
_SAMPLE_SECONDS = 2.0


class SqlDatabase:
    """The database that the tools of one source use."""

    def __init__(self, config: SqlConfig, client: DatabaseClient) -> None:
        self.config = config
        self._client = client
        self._guard: StatementGuard | None = None
        self._catalog: Catalog | None = None
        self._read_at = 0.0
        self._tables_changed: Callable[[], None] | None = None

    def on_tables_changed(self, notify: Callable[[], None]) -> None:
        """Set the callback for a change of the tables."""
        self._tables_changed = notify

    async def catalog(self, *, max_age: float = _MAX_CATALOG_AGE) -> Catalog:
        """Return the visible tables, read at most `max_age` seconds ago.

        Raises:
            Unavailable: The database cannot be reached.
        """
        known = self._catalog
        if known is not None and time.monotonic() - self._read_at <= max_age:
            return known
        tables, triggers = await self._client.tables()
        catalog = build_catalog(self.config, tables, triggers=triggers)
        self._catalog, self._read_at = catalog, time.monotonic()
        if known is not None and known.tables.keys() != catalog.tables.keys():
            self._notify()
        return catalog

    async def query(
        self,
        sql: str,
        *,
        parameters: Any = None,
        limit: int | None = None,
        offset: int = 0,
        seconds: float | None = None,
    ) -> StatementResult:
        """Run a query.

        Raises:
            InvalidRequest: The statement is refused or wrong; the message says why.
            ToolTimeout: It exceeded its time limit.
            Unavailable: The database cannot be reached.
        """
        statement, catalog = await self._prepare(sql, write=False)
        most = self.config.max_rows if limit is None else min(limit, self.config.max_rows)
        return await self._client.read(
            self._request(statement, catalog, parameters, most, offset, seconds)
        )

    async def execute(
        self, sql: str, *, parameters: Any = None, seconds: float | None = None
    ) -> StatementResult:
        """Run one INSERT, UPDATE or DELETE; raises the same errors as `query`."""
        statement, catalog = await self._prepare(sql, write=True)
        most = self.config.max_affected_rows
        return await self._client.write(
            self._request(statement, catalog, parameters, most, 0, seconds)
        )

    async def samples(self, table: Table, catalog: Catalog) -> StatementResult:
        """Return the first few rows of a table, visible columns only."""
        quote = DIALECTS[self.config.dialect].quote_name
        names = ", ".join(quote(column.name) for column in catalog.columns(table))
        sql = f"SELECT {names} FROM {quote(table.schema)}.{quote(table.name)} LIMIT 20"  # noqa: S608 # the database's own names, quoted
        statement = Statement(
            lexed=LexedStatement(text=sql, tokens=()), kind="sample", tables=(table,)
        )
        return await self._client.read(
            self._request(statement, catalog, None, _SAMPLE_ROWS, 0, _SAMPLE_SECONDS)
        )

    async def ping(self, seconds: float) -> None:
        """Return if the database answers in time.

        Raises:
            Unavailable: It does not.
        """
        await self._client.ping(seconds)

    async def close(self) -> None:
        """Close all connections; safe to call twice."""
        await self._client.close()

    @property
    def known(self) -> Catalog | None:
        """The catalog that was read last; None before the first reading."""
        return self._catalog

    async def _prepare(self, sql: str, *, write: bool) -> tuple[Statement, Catalog]:
        """Check a statement; on failure, again against a schema that is at most a second old."""
        catalog = await self.catalog()
        try:
            return await self._statement(sql, catalog, write=write), catalog
        except InvalidRequest:
            newer = await self.catalog(max_age=_MIN_RECHECK_AGE)
            if newer is catalog or newer.tables == catalog.tables:
                raise
        return await self._statement(sql, newer, write=write), newer

    async def _statement(self, sql: str, catalog: Catalog, *, write: bool) -> Statement:
        return await POOL.run(
            lambda: self._check(sql, catalog, write=write), owner=self._client.owner
        )

    def _check(self, sql: str, catalog: Catalog, *, write: bool) -> Statement:
        if self._guard is None:
            # sqlglot takes a third of a second to import, so it is imported on first use.
            from pegboard.sources.sql.statement_guard import StatementGuard

            self._guard = StatementGuard(self.config)
        return self._guard.write(sql, catalog) if write else self._guard.read(sql, catalog)

    def _request(
        self,
        statement: Statement,
        catalog: Catalog,
        parameters: Any,
        limit: int,
        offset: int,
        seconds: float | None,
    ) -> StatementRequest:
        sql, bound = bind(statement.lexed, parameters, self.config.dialect)
        allowed = self.config.statement_timeout
        allowed = allowed if seconds is None else min(seconds, allowed)
        return StatementRequest(
            statement=statement,
            catalog=catalog,
            sql=sql,
            parameters=bound,
            limit=limit,
            offset=offset,
            deadline=time.monotonic() + allowed,
            seconds=round(allowed, 1),
        )

    def _notify(self) -> None:
        if self._tables_changed is not None:
            self._tables_changed()
