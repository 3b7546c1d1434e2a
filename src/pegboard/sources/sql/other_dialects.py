"""Checks of a statement for databases whose own means stand behind a dialect of SQLAlchemy.

The guard is the only line of defence there, so it also refuses what a dialect adds to a query, and
what it runs without a bracket or a semicolon.
"""

from collections.abc import Sequence

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify

from pegboard.errors import InvalidRequest
from pegboard.sources.sql.catalog import Catalog, Table
from pegboard.sources.sql.dialects import DialectRules
from pegboard.sources.sql.lexer import LexedStatement, TokenKind

_QUERY_PARTS = frozenset(
    {
        *("with_", "expressions", "distinct", "from_", "joins", "laterals", "where", "group"),
        *("having", "qualify", "windows", "order", "limit", "offset", "recursive", "this", "alias"),
        *("expression", "by_name", "on", "side", "kind"),
    }
)
_TABLE_PARTS = frozenset({"this", "alias", "db", "joins", "laterals"})
_SEQUENCE_COLUMNS = frozenset({"nextval", "currval"})
_DUAL = "dual"


def refuse_extras(tree: exp.Expr, lexed: LexedStatement, rules: DialectRules) -> None:
    """Refuse parts of a query that are none of the standard's, and a second statement.

    Raises:
        InvalidRequest: There is one.
    """
    _refuse_second_statement(tree, lexed, rules)
    for node in tree.walk():
        if isinstance(node, exp.Query):
            extra = {key for key, value in node.args.items() if value} - _QUERY_PARTS
        elif isinstance(node, exp.Table):
            extra = {key for key, value in node.args.items() if value} - _TABLE_PARTS
        else:
            continue
        if extra:
            raise InvalidRequest(f"'{min(extra).strip('_').upper()}' is not allowed here.")
    for column in tree.find_all(exp.Column):
        if column.table and column.name.lower() in _SEQUENCE_COLUMNS:
            raise InvalidRequest("A query must not take numbers from a sequence.")


def _refuse_second_statement(tree: exp.Expr, lexed: LexedStatement, rules: DialectRules) -> None:
    words = [
        token.text
        for token in lexed.tokens
        if token.kind is TokenKind.WORD and token.name in rules.statements
    ]
    own = [word for word in words if word.lower() == tree.key][:1]
    for word in own:
        words.remove(word)
    if words:
        raise InvalidRequest(
            f"{words[0].upper()} begins another statement in {rules.title}. If it is a name, "
            "quote it."
        )


def refuse_bare_calls(
    tree: exp.Expr, mentions: Sequence[tuple[exp.Table, Table]], catalog: Catalog
) -> None:
    """Refuse a name that is no visible column: it may call a function without brackets.

    Raises:
        InvalidRequest: There is one.
    """
    tables = {id(node): table for node, table in mentions}
    columns: dict[str, object] = {}
    twin = tree.copy()
    pairs = zip(tree.find_all(exp.Table), twin.find_all(exp.Table), strict=True)
    for number, (node, other) in enumerate(pairs):
        table = tables.get(id(node))
        is_dual = table is None and names_dual(node, catalog)
        if table is None and not is_dual:
            continue
        if not other.alias:
            other.set("alias", exp.TableAlias(this=exp.to_identifier(other.name)))
        other.set("this", exp.to_identifier(f"t{number}"))
        other.set("db", None)
        names = ["dummy"] if table is None else [c.name for c in catalog.columns(table)]
        columns[f"t{number}"] = {name.lower(): "text" for name in names}
    for identifier in twin.find_all(exp.Identifier):
        identifier.set("this", identifier.name.lower())
        identifier.set("quoted", None)
    try:
        qualify(twin, schema=columns or {"t": {"x": "text"}}, dialect="oracle")
    except SqlglotError as error:
        raise InvalidRequest(f"{str(error).partition('. Line')[0].rstrip('.')}.") from error


def names_dual(node: exp.Table, catalog: Catalog) -> bool:
    """Whether this is the table of one row that Oracle has for queries without a table."""
    is_plain = not node.args.get("db") and not node.args.get("catalog")
    return is_plain and node.name.lower() == _DUAL and _DUAL not in catalog.taken
