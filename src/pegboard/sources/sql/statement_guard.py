"""Decides from the text of a statement whether it may run.

The statement is read by the database's lexical rules (`lexer`) and parsed by sqlglot. Then every
node, every called name and every table must be in the allowlist or the catalog. The database
enforces the same a second time, with the tables that the guard found.
"""

import logging
from collections import Counter
from collections.abc import Iterator

from sqlglot import exp, parse
from sqlglot.errors import ParseError, SqlglotError

from pegboard.errors import InvalidRequest
from pegboard.sources.sql.allowlist import (
    KEYWORDS,
    READ_NODES,
    READ_ROOTS,
    WRITE_NODES,
    WRITE_ROOTS,
    function_names,
)
from pegboard.sources.sql.catalog import Catalog, Table
from pegboard.sources.sql.config import SqlConfig
from pegboard.sources.sql.dialects import DIALECTS
from pegboard.sources.sql.driver import Statement
from pegboard.sources.sql.hidden_columns import refuse_hidden_columns, refuse_row_types
from pegboard.sources.sql.lexer import Dialect, LexedStatement, Token, TokenKind, fold_case, lex
from pegboard.sources.sql.other_dialects import names_dual, refuse_bare_calls, refuse_extras

# sqlglot warns on stderr where it falls back to a Command node, which is refused here anyway.
logging.getLogger("sqlglot").setLevel(logging.ERROR)

_WRITES = (exp.Insert, exp.Update, exp.Delete)
_EXPLAIN_NAMES = """
verbose costs settings summary format generic_plan memory text json on off true false
"""
_EXPLAIN_OPTIONS = frozenset(_EXPLAIN_NAMES.split())
_CHANGES_DATA = frozenset({"insert", "update", "delete", "replace", "merge", "truncate", "copy"})
_CHANGES_MORE = frozenset(
    {"create", "alter", "drop", "comment", "grant", "revoke", "reindex", "vacuum", "analyze"}
)


class StatementGuard:
    """Checks statements for one database.

    ```python
    StatementGuard(config).read("SELECT Name FROM Artist", catalog).tables
    ```
    """

    def __init__(self, config: SqlConfig) -> None:
        self._config = config
        self._dialect: Dialect = config.dialect
        self._rules = DIALECTS[config.dialect]
        extra = {name.lower() for name in config.allow_functions}
        self._functions = function_names(config.dialect) | extra

    def read(self, sql: str, catalog: Catalog) -> Statement:
        """Check a statement that must only read.

        Raises:
            InvalidRequest: It might do more; the message says which part, and why.
        """
        lexed, is_explain = lex(sql, self._dialect), False
        if self._rules.explains:
            lexed, is_explain = strip_explain(lexed, self._dialect)
        refusal = first_word_refusal(lexed, READ_ROOTS, writes=self._config.allow_writes)
        if refusal:
            raise InvalidRequest(refusal)
        tree = self._parse(lexed)
        tables = self._check_tree(tree, lexed, catalog, READ_NODES)
        kind = "explain" if is_explain else "query"
        return Statement(lexed=lexed, kind=kind, tables=tables, ctes=_cte_names(tree))

    def write(self, sql: str, catalog: Catalog) -> Statement:
        """Check an INSERT, UPDATE or DELETE on a visible table.

        Raises:
            InvalidRequest: It is another statement, or accesses what is hidden.
        """
        lexed = lex(sql, self._dialect)
        refusal = first_word_refusal(lexed, WRITE_ROOTS, writes=True)
        if refusal:
            raise InvalidRequest(refusal)
        tree = self._parse(lexed)
        if not isinstance(tree, _WRITES):
            raise InvalidRequest("Write INSERT, UPDATE or DELETE; use the query tool to read.")
        tables = self._check_tree(tree, lexed, catalog, WRITE_NODES)
        target = self._table(_target_of(tree), catalog)
        if "view" in target.kind:
            raise InvalidRequest(f"'{target.name}' is a view; write to its tables.")
        return Statement(
            lexed=lexed,
            kind="write",
            tables=tables,
            ctes=_cte_names(tree),
            returning=bool(tree.args.get("returning")),
        )

    def _parse(self, lexed: LexedStatement) -> exp.Expr:
        try:
            trees = parse(self._parsed_text(lexed), dialect=self._rules.parser)
        except RecursionError as error:
            raise InvalidRequest("The SQL is nested too deeply. Split it with WITH.") from error
        except ParseError as error:
            raise InvalidRequest(_parse_message(error)) from error
        except SqlglotError as error:
            raise InvalidRequest(
                "The SQL cannot be read: a number or a quoted text is malformed."
            ) from error
        if len(trees) != 1 or trees[0] is None:
            raise InvalidRequest("Only one statement is run at a time.")
        return trees[0]

    def _parsed_text(self, lexed: LexedStatement) -> str:
        """Return the statement as the parser reads parameters, with every token in its place."""
        text = lexed.text
        if mark := self._rules.parameter:
            for token in lexed.tokens:
                if token.kind is TokenKind.PARAMETER:
                    end = token.start + len(token.text)
                    text = text[: token.start] + mark.ljust(len(token.text)) + text[end:]
        return text

    def _check_tree(
        self, tree: exp.Expr, lexed: LexedStatement, catalog: Catalog, allowed: frozenset[str]
    ) -> tuple[Table, ...]:
        for node in tree.walk():
            name = type(node).__name__
            is_function = isinstance(node, exp.Func) and not isinstance(node, exp.NextValueFor)
            if name not in allowed and not is_function:
                raise InvalidRequest(f"{_describe_node(node)} is not allowed here.")
            if isinstance(node, _WRITES) and node is not tree:
                raise InvalidRequest(
                    f"{_describe_node(node)} inside another statement is not allowed."
                )
        self._check_functions(tree, lexed)
        self._check_ctes(tree, catalog)
        tables = tuple(self._tables(tree, catalog))
        if self._rules.row_types:
            refuse_row_types(tree, catalog)
        if self._rules.reads_after_in:
            _refuse_table_after_in(tree, in_brackets=self._rules.reads_after_in == "brackets")
        refuse_hidden_columns(tree, tables, catalog)
        if not self._rules.native:
            refuse_extras(tree, lexed, self._rules)
        if self._rules.calls_bare_names:
            refuse_bare_calls(tree, tables, catalog)
        return tuple({table.key: table for _, table in tables}.values())

    def _check_functions(self, tree: exp.Expr, lexed: LexedStatement) -> None:
        """Check that each name before a bracket is allowed, or declares columns as often."""
        declared = Counter(_declaring_names(tree))
        for name, token in _calls(lexed):
            # a quoted name may be a function of the database's owner
            is_own = token.kind is TokenKind.QUOTED and not self._rules.native
            if name in self._functions and not is_own:
                continue
            if declared[name] > 0:
                declared[name] -= 1
                continue
            raise InvalidRequest(
                f"The function '{name}' is not among the allowed ones (near "
                f"'{lexed.near(token.start)}'). An operator can add it to allow_functions."
            )
        for node in tree.find_all(exp.Anonymous):
            if node.name.lower() not in self._functions and not isinstance(node.parent, exp.Dot):
                raise InvalidRequest(f"The function '{node.name}' is not among the allowed ones.")

    def _check_ctes(self, tree: exp.Expr, catalog: Catalog) -> None:
        for cte in tree.find_all(exp.CTE):
            name = fold_case(cte.alias)
            if name in catalog.reserved:
                # The database reports by this name which view or trigger reads a table.
                raise InvalidRequest(f"Give the WITH query '{cte.alias}' another name.")

    def _tables(self, tree: exp.Expr, catalog: Catalog) -> Iterator[tuple[exp.Table, Table]]:
        target = _target(tree)
        ctes = frozenset(self._alias(cte) for cte in tree.find_all(exp.CTE))
        for node in tree.find_all(exp.Table):
            if isinstance(node.this, exp.Func) or node.args.get("rows_from"):
                continue
            if node is not target and self._is_cte(node, ctes):
                continue
            if self._rules.calls_bare_names and names_dual(node, catalog):
                continue
            yield node, self._table(node, catalog)

    def _table(self, node: exp.Table, catalog: Catalog) -> Table:
        named = node.this
        if not isinstance(named, exp.Identifier):
            raise InvalidRequest(f"{named} is not the name of a table.")
        found = None
        if not node.args.get("catalog"):
            schema = node.args.get("db")
            found = catalog.find(self._spelt(schema) if schema else "", self._spelt(named))
        if found is None:
            raise unknown_table(node.sql(dialect=self._rules.parser), named.name, catalog)
        return found

    def _is_cte(self, table: exp.Table, ctes: frozenset[str]) -> bool:
        """Whether this certainly names one of the WITH queries rather than a table."""
        if not isinstance(table.this, exp.Identifier) or table.args.get("db"):
            return False
        name = self._spelt(table.this)
        if name not in ctes:
            return False
        node: exp.Expr = table
        while node.parent is not None:
            parent = node.parent
            if isinstance(parent, exp.With):
                visible = self._ctes_before(parent, node)
            else:
                own: exp.Expr | None = parent.args.get("with_")
                visible = own.expressions if own is not None and own is not node else []
            if any(self._alias(cte) == name for cte in visible):
                return True
            node = parent
        return False

    def _ctes_before(self, with_: exp.With, current: exp.Expr) -> list[exp.Expr]:
        position = next(i for i, cte in enumerate(with_.expressions) if cte is current)
        # In SQLite a compound query may name itself without RECURSIVE.
        compound = self._rules.implicit_recursion and isinstance(current.this, exp.SetOperation)
        itself = bool(with_.args.get("recursive")) or compound
        return with_.expressions[: position + (1 if itself else 0)]

    def _alias(self, cte: exp.Expr) -> str:
        alias = cte.args.get("alias")
        return self._spelt(alias.this) if alias is not None else ""

    def _spelt(self, identifier: exp.Expr) -> str:
        """Return a name as the database folds it."""
        return self._rules.spell(identifier.name, quoted=bool(identifier.args.get("quoted")))


def strip_explain(lexed: LexedStatement, dialect: Dialect) -> tuple[LexedStatement, bool]:
    """Return the statement without a leading EXPLAIN, and whether there was one.

    Raises:
        InvalidRequest: It is an EXPLAIN that would run the statement.
    """
    words = [token.name if token.kind is TokenKind.WORD else token.text for token in lexed.tokens]
    if words[0] != "explain":
        return lexed, False
    skip = 1
    if dialect == "sqlite":
        skip = 3 if words[1:3] == ["query", "plan"] else 1
    elif words[1:2] == ["("]:
        end = words.index(")") if ")" in words else len(words)
        _refuse_options(set(words[2:end]) - {","})
        skip = end + 1
    else:
        while words[skip : skip + 1] == ["verbose"]:
            skip += 1
        _refuse_options({"analyze"} & set(words[skip : skip + 1]))
    if skip >= len(words):
        raise InvalidRequest("EXPLAIN needs a statement.")
    start = lexed.tokens[skip].start
    return LexedStatement(text=" " * start + lexed.text[start:], tokens=lexed.tokens[skip:]), True


def _refuse_options(options: set[str]) -> None:
    refused = options - _EXPLAIN_OPTIONS
    if refused:
        names = ", ".join(sorted(refused)).upper()
        raise InvalidRequest(f"EXPLAIN {names} is not allowed: it may run the statement.")


def first_word_refusal(lexed: LexedStatement, roots: frozenset[str], *, writes: bool) -> str:
    """Return why a statement that begins like this is refused; empty if it is not."""
    first = next((token for token in lexed.tokens if token.text != "("), lexed.tokens[0])
    if first.kind is TokenKind.WORD and first.name in roots:
        return ""
    shown = first.text.upper() if first.kind is TokenKind.WORD else first.text
    if first.name == "replace" and "insert" in roots:
        return "Write INSERT OR REPLACE instead of REPLACE."
    if first.name in _CHANGES_MORE:
        return f"{shown} changes more than rows, which is not supported here."
    if first.name in _CHANGES_DATA:
        where = "Use the execute tool to change data." if writes else "This database is read-only."
        return f"{shown} changes data; only queries are run here. {where}"
    starts = " or ".join(sorted(word.upper() for word in roots))
    return f"A statement begins with {starts} here, not with '{shown}'."


def unknown_table(shown: str, name: str, catalog: Catalog) -> InvalidRequest:
    """Return the same error for a missing table and for a hidden one."""
    near = catalog.nearest(name)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    return InvalidRequest(f"Unknown table '{shown}'.{hint}")


def _cte_names(tree: exp.Expr) -> frozenset[str]:
    return frozenset(fold_case(cte.alias) for cte in tree.find_all(exp.CTE))


def _refuse_table_after_in(tree: exp.Expr, *, in_brackets: bool) -> None:
    """Refuse a name after IN, since the table of this name is read, and is no table of the tree."""
    for node in tree.find_all(exp.In):
        values = node.expressions
        named = node.args.get("field")
        if named is None and in_brackets and len(values) == 1:
            named = values[0]
        while isinstance(named, exp.Paren | exp.Alias):
            named = named.this
        if isinstance(named, exp.Column | exp.Dot | exp.Identifier | exp.Table):
            raise InvalidRequest(
                f"'{named.sql()}' after IN is the name of a table here: write IN (SELECT ...)."
            )


def _target(tree: exp.Expr) -> exp.Table | None:
    """Return the table that a write changes, never a WITH query."""
    return _target_of(tree) if isinstance(tree, _WRITES) else None


def _target_of(tree: exp.Insert | exp.Update | exp.Delete) -> exp.Table:
    this = tree.this
    return this.this if isinstance(this, exp.Schema) else this


def _calls(lexed: LexedStatement) -> Iterator[tuple[str, Token]]:
    """Yield names right before a bracket, with their schema if they have one."""
    tokens = lexed.tokens
    for index, token in enumerate(tokens[:-1]):
        if tokens[index + 1].text != "(" or token.kind not in {TokenKind.WORD, TokenKind.QUOTED}:
            continue
        qualified = index >= 2 and tokens[index - 1].text == "."
        if qualified:
            schema = tokens[index - 2].name
            yield (token.name if schema == "pg_catalog" else f"{schema}.{token.name}"), token
        elif token.kind is TokenKind.QUOTED or token.name not in KEYWORDS:
            yield token.name, token


def _declaring_names(tree: exp.Expr) -> Iterator[str]:
    """Yield names before a list of columns: aliases, WITH queries, targets of INSERT."""
    for alias in tree.find_all(exp.TableAlias):
        if alias.args.get("columns") and alias.this is not None:
            yield _token_name(alias.this)
    for schema in tree.find_all(exp.Schema):
        table = schema.this
        if isinstance(table, exp.Table):
            prefix = f"{_token_name(table.args['db'])}." if table.args.get("db") else ""
            yield prefix + _token_name(table.this)


def _token_name(identifier: exp.Expr) -> str:
    return identifier.name if identifier.args.get("quoted") else fold_case(identifier.name)


def _describe_node(node: exp.Expr) -> str:
    return f"'{node.key.upper()}'"


def _parse_message(error: ParseError) -> str:
    if not error.errors:
        return "The SQL cannot be parsed."
    fault = error.errors[0]
    near = " ".join(f"{fault.get('highlight') or ''}{fault.get('end_context') or ''}".split())[:30]
    place = f"line {fault.get('line')}, column {fault.get('col')}"
    return f"The SQL cannot be parsed: {fault.get('description')} ({place}, near '{near}')."
