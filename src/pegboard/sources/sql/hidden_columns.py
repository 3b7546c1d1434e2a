"""Keeps hidden columns out of statements.

A column can be reached by its name, by a star, as part of a whole row, under an alias, and by joins
that compare all shared columns. A statement is refused where it does not say which table is meant;
the message says what to write instead.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from pegboard.errors import InvalidRequest
from pegboard.sources.sql.catalog import Catalog, Table, nearest
from pegboard.sources.sql.lexer import fold_case

Mention = tuple[exp.Table, Table]
"""A node of the statement that names a table, and the table."""


def refuse_hidden_columns(tree: exp.Expr, mentions: Sequence[Mention], catalog: Catalog) -> None:
    """Refuse a statement that can reach a hidden column.

    Raises:
        InvalidRequest: It can or might reach one.
    """
    guarded = [mention for mention in mentions if catalog.hidden.get(mention[1].key)]
    if not guarded:
        return
    aliases = (alias.name for alias in tree.find_all(exp.TableAlias))
    names = frozenset(
        name.lower() for name in (*(node.alias_or_name for node, _ in mentions), *aliases)
    )
    _Check(tree=tree, guarded=guarded, names=names, catalog=catalog).run()


def refuse_row_types(tree: exp.Expr, catalog: Catalog) -> None:
    """Refuse types of PostgreSQL that list the columns of a table which is not wholly visible.

    Raises:
        InvalidRequest: It names the row type of such a table, or a type of another schema.
    """
    for node in tree.find_all(exp.DataType):
        kind = node.args.get("kind")
        parts = [item.name for item in kind.find_all(exp.Identifier)] if kind is not None else []
        schema, name = parts[-2] if len(parts) > 1 else "", parts[-1] if parts else node.this.value
        if schema not in {"", "pg_catalog", *catalog.config.schemas}:
            raise InvalidRequest(f"The schema '{schema}' is not available here.")
        # a leading underscore is the type of arrays
        if fold_case(name).lstrip("_") in {item.lstrip("_") for item in catalog.row_types}:
            raise InvalidRequest(f'PostgreSQL: type "{name}" does not exist.')


@dataclass(frozen=True, slots=True, kw_only=True)
class _Check:
    """One statement with its hidden columns.

    Attributes:
        guarded: The mentions of tables with hidden columns.
        names: Every name that a table, view or sub-query has in the statement, in lower case.
    """

    tree: exp.Expr
    guarded: Sequence[Mention]
    names: frozenset[str]
    catalog: Catalog

    def run(self) -> None:
        self._refuse_blind_joins(self.guarded[0][1])
        for node, table in self.guarded:
            self._refuse_renaming(node, table)
            self._refuse_open_stars(node, table)
        for column in self.tree.find_all(exp.Column):
            self._refuse_column(column)
        for name in self._bare_names():
            for _, table in self.guarded:
                self._refuse_name(name, table)
        if isinstance(self.tree, exp.Insert):
            self._refuse_whole_row(self.tree)

    def _refuse_whole_row(self, insert: exp.Insert) -> None:
        """Refuse to write the hidden columns of a row together with the others."""
        listed = isinstance(insert.this, exp.Schema)
        target = insert.this.this if listed else insert.this
        for _, table in (item for item in self.guarded if item[0] is target):
            if not listed:
                raise self._list_columns("INSERT without a list of columns", table)
            if (insert.args.get("alternative") or "").upper() == "REPLACE":
                raise InvalidRequest(
                    f"INSERT OR REPLACE would empty hidden columns of "
                    f"'{self.catalog.label(table.key)}'; write INSERT ... ON CONFLICT (...) DO "
                    "UPDATE SET ..., or UPDATE."
                )

    def _refuse_renaming(self, node: exp.Table, table: Table) -> None:
        alias = node.args.get("alias")
        if alias is not None and alias.args.get("columns"):
            raise self._list_columns("renaming the columns", table)

    def _refuse_open_stars(self, node: exp.Table, table: Table) -> None:
        select = node.find_ancestor(exp.Select)
        if select is not None and any(
            _is_open(star) and star.find_ancestor(exp.Select) is select
            for star in select.find_all(exp.Star)
        ):
            raise self._list_columns("*", table)
        returning = self.tree.args.get("returning")
        if returning is not None and any(
            isinstance(item, exp.Star) for item in returning.expressions
        ):
            raise self._list_columns("RETURNING *", table)

    def _refuse_blind_joins(self, table: Table) -> None:
        joins = self.tree.find_all(exp.Join)
        if any((join.method or "").upper() == "NATURAL" for join in joins):
            raise self._list_columns("NATURAL JOIN", table)

    def _refuse_column(self, column: exp.Column) -> None:
        owners = self._owners(column.table)
        if isinstance(column.this, exp.Star):
            for _, table in owners:
                raise self._list_columns(f"{column.table}.*", table)
        for node, table in owners:
            if not column.table and _same(column.name, node.alias_or_name):
                raise self._list_columns("a whole row", table)
            self._refuse_name(column.name, table)
            if column.table and not self._has(table, column.name):
                raise self._unknown(column.name, table)

    def _owners(self, qualifier: str) -> list[Mention]:
        """Return the guarded tables that a qualifier may mean; all of them without a qualifier."""
        if not qualifier:
            return list(self.guarded)
        named = [item for item in self.guarded if _same(qualifier, item[0].alias_or_name)]
        known = qualifier.lower() in self.names
        return named if named or known else list(self.guarded)

    def _bare_names(self) -> Iterator[str]:
        """Yield columns that are named outside of expressions: USING, INSERT (...), ON CONFLICT."""
        for join in self.tree.find_all(exp.Join):
            yield from (item.name for item in join.args.get("using") or ())
        for schema in self.tree.find_all(exp.Schema):
            yield from (item.name for item in schema.expressions)
        for conflict in self.tree.find_all(exp.OnConflict):
            yield from (item.name for item in conflict.find_all(exp.Identifier))
        for dot in self.tree.find_all(exp.Dot):
            yield dot.expression.name

    def _refuse_name(self, name: str, table: Table) -> None:
        if any(_same(name, hidden) for hidden in self.catalog.hidden[table.key]):
            raise self._unknown(name, table)

    def _has(self, table: Table, name: str) -> bool:
        return any(_same(name, column.name) for column in self.catalog.columns(table))

    def _unknown(self, name: str, table: Table) -> InvalidRequest:
        visible = [column.name for column in self.catalog.columns(table)]
        near = nearest(name, visible)
        hint = f"Did you mean {' or '.join(near)}? " if near else ""
        return InvalidRequest(
            f"Unknown column '{name}' in '{self.catalog.label(table.key)}'. {hint}"
            f"Its columns: {', '.join(visible)}."
        )

    def _list_columns(self, what: str, table: Table) -> InvalidRequest:
        visible = ", ".join(column.name for column in self.catalog.columns(table))
        return InvalidRequest(
            f"Name the columns of '{self.catalog.label(table.key)}' instead of {what}: {visible}."
        )


def _is_open(star: exp.Star) -> bool:
    """Whether a star stands for columns, in a list or as an argument; `count(*)` counts rows."""
    return not isinstance(star.parent, exp.Count | exp.Column)


def _same(one: str, other: str) -> bool:
    return one.lower() == other.lower()
