"""SQLite's authorizer, called at compile time for each action of a statement.

The running statement may read the tables that the guard found in it, and what the views among them
read, and may call allowed functions. Everything else is denied: schema tables, PRAGMA, ATTACH.
"""

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from pegboard.sources.sql.allowlist import function_names
from pegboard.sources.sql.catalog import Visibility
from pegboard.sources.sql.config import SqlConfig
from pegboard.sources.sql.driver import StatementRequest
from pegboard.sources.sql.lexer import fold_case

_HARMLESS = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE})
_CHANGES = frozenset({sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE})
_SCHEMA = "main"
_TABLE_FUNCTIONS = frozenset({"json_each", "json_tree"})
_OWN_VERSION = "data_version"
"""The PRAGMA that full-text tables use while they are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Permit:
    """The objects that the running statement may access; all names folded.

    Attributes:
        open: Tables and views whose columns may be read.
        views: Views of the statement that may read anything.
        counted: Names whose rows may be counted.
        keys: Columns that foreign keys compare during a write.
        written: Tables that may be written.
        triggers: Triggers, which act with the rights of the owner.
    """

    open: frozenset[str] = frozenset()
    views: frozenset[str] = frozenset()
    counted: frozenset[str] = frozenset()
    keys: frozenset[tuple[str, str]] = frozenset()
    written: frozenset[str] = frozenset()
    triggers: frozenset[str] = frozenset()


_NOTHING = _Permit()


class SqliteAuthorizer:
    """The authorizer of one connection; denies everything until a statement is permitted."""

    def __init__(self, config: SqlConfig) -> None:
        self._visibility = Visibility(config)
        extra = frozenset(name.lower() for name in config.allow_functions)
        self._functions = function_names("sqlite") | extra
        self._permit = _NOTHING
        self._owner = False
        self._reads: set[tuple[str, str]] | None = None

    def __call__(
        self,
        action: int,
        first: str | None,
        second: str | None,
        schema: str | None,
        via: str | None,
    ) -> int:
        """Return SQLITE_OK or SQLITE_DENY; `via` is the view or trigger that acts."""
        if self._owner:
            if self._reads is not None and action == sqlite3.SQLITE_READ and via is not None:
                self._reads.add((first or "", second or ""))
            return sqlite3.SQLITE_OK
        allowed = self._allows(action, first or "", second or "", schema, fold_case(via or ""))
        return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY

    @contextmanager
    def as_owner(self) -> Generator[None]:
        """Allow statements of our own everything that the connection can do."""
        self._owner = True
        try:
            yield
        finally:
            self._owner = False

    @contextmanager
    def record_reads(self) -> Generator[set[tuple[str, str]]]:
        """Record tables and columns that views read, while statements of our own are compiled."""
        self._reads = reads = set[tuple[str, str]]()
        try:
            yield reads
        finally:
            self._reads = None

    @contextmanager
    def permit(self, request: StatementRequest) -> Generator[None]:
        """Permit a checked statement to access what the guard found in it."""
        self._permit = self._build_permit(request)
        try:
            yield
        finally:
            self._permit = _NOTHING

    def _build_permit(self, request: StatementRequest) -> _Permit:
        catalog, statement = request.catalog, request.statement
        keys = {key for table in statement.tables for key in (table.key, *table.reads)}
        virtual = any(table.kind == "virtual table" for table in statement.tables)
        # A virtual table reads its storage and content with statements of its own.
        keys |= catalog.touchable if virtual else frozenset()
        open_ = {
            fold_case(name) for schema, name in keys if not self._visibility.hides((schema, name))
        }
        allowed = [t for t in statement.tables if self._visibility.allows_view(t.key)]
        behind = {fold_case(name) for table in allowed for _, name in table.reads}
        permit = _Permit(
            open=frozenset(open_) | _TABLE_FUNCTIONS,
            views=frozenset(fold_case(table.name) for table in allowed),
            counted=frozenset(open_ | behind | _TABLE_FUNCTIONS | (statement.ctes - catalog.taken)),
        )
        if statement.kind != "write":
            return permit
        return replace(
            permit,
            keys=catalog.linked,
            written=frozenset(fold_case(name) for _, name in catalog.writable),
            triggers=catalog.triggers,
        )

    def _allows(self, action: int, first: str, second: str, schema: str | None, via: str) -> bool:
        if action in _HARMLESS:
            return True
        if action == sqlite3.SQLITE_FUNCTION:
            return second.lower() in self._functions
        if action == sqlite3.SQLITE_READ:
            return self._may_read(fold_case(first), second, schema, via)
        if action in _CHANGES and schema == "main":
            return self._may_change(action, fold_case(first), second, via)
        return action == sqlite3.SQLITE_PRAGMA and first == _OWN_VERSION

    def _may_read(self, table: str, column: str, schema: str | None, via: str) -> bool:
        permit = self._permit
        if not column:
            return table in permit.counted
        if schema != "main":
            return False
        if via and via in permit.views | permit.triggers:
            return not table.startswith("sqlite_")
        if (table, fold_case(column)) in permit.keys:
            return True
        return table in permit.open and not self._hides(table, column)

    def _may_change(self, action: int, table: str, column: str, via: str) -> bool:
        if via and via in self._permit.triggers:
            return not table.startswith("sqlite_")
        hidden = action == sqlite3.SQLITE_UPDATE and self._hides(table, column)
        return table in self._permit.written and not hidden

    def _hides(self, table: str, column: str) -> bool:
        return self._visibility.hides_column((_SCHEMA, table), column)
