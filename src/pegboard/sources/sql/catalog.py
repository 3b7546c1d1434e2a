"""The tables of a database, and the part of them that is visible."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from pegboard.core.text.suggestions import nearest_names
from pegboard.sources.sql.config import SqlConfig
from pegboard.sources.sql.dialects import DIALECTS
from pegboard.sources.sql.lexer import fold_case

Key = tuple[str, str]
"""Schema and name, as the database spells them."""

_VIEWS = frozenset({"view", "materialized view"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column as the database declares it."""

    name: str
    type: str
    nullable: bool = True
    default: str | None = None
    comment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignKey:
    """A foreign key."""

    columns: tuple[str, ...]
    table: Key
    to: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table or view.

    Attributes:
        kind: `table`, `view`, `materialized view`, `foreign table` or `virtual table`.
        rows: The approximate number of rows; None if unknown.
        part_of: The tables of which it is a partition or child, or whose virtual table it stores.
        reads: Every other relation that a query on it reads.
        shows: The columns of other relations that it reads.
        opaque: Whether it calls user-defined functions, which may read anything.
        internal: Whether it is the storage of a virtual table, which statements must not name.
    """

    schema: str
    name: str
    kind: str = "table"
    columns: tuple[Column, ...] = ()
    primary_key: tuple[str, ...] = ()
    references: tuple[ForeignKey, ...] = ()
    comment: str = ""
    rows: int | None = None
    part_of: frozenset[Key] = frozenset()
    reads: frozenset[Key] = frozenset()
    shows: frozenset[tuple[Key, str]] = frozenset()
    opaque: bool = False
    internal: bool = False

    @property
    def key(self) -> Key:
        """Schema and name."""
        return self.schema, self.name


@dataclass(frozen=True, slots=True)
class Visibility:
    """The operator's rules on what is hidden, by name and without regard to case."""

    config: SqlConfig

    def hides(self, key: Key) -> bool:
        """Whether a table or view of this name is hidden."""
        return any(_names(pattern, key) for pattern in self.config.hidden_tables)

    def hides_column(self, key: Key, column: str) -> bool:
        """Whether a column of this name is hidden."""
        return any(
            column.lower() in (name.lower() for name in names)
            for pattern, names in self.config.hidden_columns.items()
            if _names(pattern, key)
        )

    def allows_view(self, key: Key) -> bool:
        """Whether a view may be read regardless of what it reads."""
        return any(_names(pattern, key) for pattern in self.config.allow_views)

    @property
    def hides_anything(self) -> bool:
        """Whether anything is hidden."""
        return bool(self.config.hidden_tables or self.config.hidden_columns)

    def find_unmatched(self, tables: Sequence[Table]) -> Iterator[str]:
        """Yield configured names that match nothing: a typo may leave a table exposed."""
        for entry in (*self.config.hidden_tables, *self.config.allow_views):
            if not any(_names(entry, table.key) for table in tables):
                yield entry
        for entry, columns in self.config.hidden_columns.items():
            found = {
                column.name.lower()
                for table in tables
                if _names(entry, table.key)
                for column in table.columns
            }
            yield from (f"{entry}.{name}" for name in columns if name.lower() not in found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """The visible part of a database.

    Attributes:
        tables: The visible tables, by label.
        touchable: Everything that the database may read for a query on a visible table.
        hidden: Hidden columns, by visible table.
        reserved: Folded names of triggers and of views in `allow_views`, which a statement must not
            use as names of its own.
        triggers: Folded names of triggers.
        taken: Folded names of all tables and views, including hidden ones.
        linked: Folded columns on both sides of every foreign key, including hidden ones.
        row_types: Folded names of the tables and views that are hidden or have hidden columns: the
            row types of PostgreSQL, which list all columns.
        writable: Tables that a write may change, and the storage of visible virtual tables.
        unmatched: Names in the configuration that match nothing.
    """

    config: SqlConfig
    tables: dict[str, Table]
    touchable: frozenset[Key]
    hidden: dict[Key, frozenset[str]]
    reserved: frozenset[str] = frozenset()
    triggers: frozenset[str] = frozenset()
    taken: frozenset[str] = frozenset()
    linked: frozenset[tuple[str, str]] = frozenset()
    row_types: frozenset[str] = frozenset()
    writable: frozenset[Key] = frozenset()
    unmatched: tuple[str, ...] = ()
    _by_name: dict[Key, Table] = field(default_factory=dict[Key, Table])

    def find(self, schema: str, name: str) -> Table | None:
        """Return the visible table of this name; an empty schema means the search path.

        Names compare as in the database; an unquoted name of PostgreSQL is passed folded.
        """
        key = DIALECTS[self.config.dialect].table_key
        for candidate in (schema,) if schema else self.config.search_path:
            table = self._by_name.get((key(candidate), key(name)))
            if table is not None:
                return table
        return None

    def find_by_label(self, text: str) -> Table | None:
        """Return the visible table that a caller means by `Name` or `schema.Name`, in any case."""
        wanted = text.strip().strip('"').lower()
        exact = self.tables.get(text)
        matches = [
            table
            for label, table in self.tables.items()
            if wanted in {label.lower(), f"{table.schema}.{table.name}".lower()}
        ]
        return exact or (matches[0] if matches else None)

    def label(self, key: Key) -> str:
        """Return how a table is named to callers: with its schema unless that is the default."""
        return label(self.config, key)

    def columns(self, table: Table) -> tuple[Column, ...]:
        """Return the visible columns of a table."""
        unseen = self.hidden.get(table.key, frozenset())
        return tuple(column for column in table.columns if column.name not in unseen)

    def nearest(self, name: str) -> tuple[str, ...]:
        """Return visible tables that a misspelt name may mean."""
        return nearest(name.rpartition(".")[2], self.tables)


def label(config: SqlConfig, key: Key) -> str:
    """Return how a table is named to callers: with its schema unless that is the default."""
    return key[1] if key[0] == config.search_path[0] else f"{key[0]}.{key[1]}"


def nearest(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return up to three known names that are similar to this one."""
    return nearest_names(name, known)


def build_catalog(
    config: SqlConfig, tables: Sequence[Table], *, triggers: Sequence[str] = ()
) -> Catalog:
    """Build the catalog of the visible tables."""
    visibility = Visibility(config)
    hidden_keys = {
        table.key
        for table in tables
        if any(visibility.hides(key) for key in (table.key, *table.part_of))
    }
    hidden = {table.key: _find_hidden_columns(table, visibility) for table in tables}
    seen = [
        table
        for table in tables
        if table.key not in hidden_keys and _is_clean(table, visibility, hidden_keys)
    ]
    shown = sorted((table for table in seen if not table.internal), key=lambda table: table.key)
    fold = DIALECTS[config.dialect].table_key
    return Catalog(
        config=config,
        tables={label(config, table.key): table for table in shown},
        touchable=frozenset(key for table in seen for key in (table.key, *table.reads)),
        hidden={key: columns for key, columns in hidden.items() if columns},
        reserved=frozenset(
            {fold_case(name) for name in triggers}
            | {fold_case(table.name) for table in tables if visibility.allows_view(table.key)}
        ),
        triggers=frozenset(fold_case(name) for name in triggers),
        taken=frozenset(fold_case(table.name) for table in tables),
        linked=frozenset(_foreign_key_columns(tables)),
        row_types=frozenset(
            fold_case(table.name) for table in tables if table not in shown or hidden[table.key]
        ),
        writable=frozenset(table.key for table in seen if table.kind not in _VIEWS),
        unmatched=tuple(visibility.find_unmatched(tables)),
        _by_name={(fold(table.schema), fold(table.name)): table for table in shown},
    )


def _is_clean(table: Table, visibility: Visibility, hidden_keys: set[Key]) -> bool:
    """Whether a table reads nothing hidden, or the operator allows it."""
    if table.kind in _VIEWS and visibility.allows_view(table.key):
        return True
    if table.opaque and visibility.hides_anything:
        return False
    if any(key in hidden_keys or visibility.hides(key) for key in table.reads):
        return False
    return not any(visibility.hides_column(key, column) for key, column in table.shows)


def _foreign_key_columns(tables: Sequence[Table]) -> Iterator[tuple[str, str]]:
    keys = {table.key: table.primary_key for table in tables}
    for table in tables:
        for reference in table.references:
            yield from ((fold_case(table.name), fold_case(name)) for name in reference.columns)
            to = reference.to or keys.get(reference.table, ())
            yield from ((fold_case(reference.table[1]), fold_case(name)) for name in to)


def _find_hidden_columns(table: Table, visibility: Visibility) -> frozenset[str]:
    return frozenset(
        column.name
        for column in table.columns
        for key in (table.key, *table.part_of)
        if visibility.hides_column(key, column.name)
    )


def _names(pattern: str, key: Key) -> bool:
    schema, name = (part.lower() for part in key)
    wanted = pattern.lower()
    return fnmatchcase(name, wanted) or fnmatchcase(f"{schema}.{name}", wanted)
