"""What the rest of the source needs to know about each dialect of SQL."""

from dataclasses import dataclass
from typing import Literal, get_args

from pegboard.sources.sql.lexer import Dialect, OtherDialect, fold_case


@dataclass(frozen=True, slots=True, kw_only=True)
class DialectRules:
    """The facts of one dialect.

    Attributes:
        title: Its name, as people write it.
        parser: Its name in sqlglot.
        names: How names of tables compare: `any case`, `quoted exact` (unquoted ones are folded) or
            `exact`.
        quote: The character around a quoted name.
        mark: How parameters by position are written, for messages.
        binding: Whether the driver takes parameters as they are written (`native`), as `$1`
            (`numbered`), as `:name` (`named`), or as literals in the text (`literal`).
        arrays: Whether a parameter may be an array.
        row_types: Whether each table is also a type, which lists its columns.
        implicit_recursion: Whether a WITH query may name itself without RECURSIVE.
        parameter: What sqlglot must see in the place of each parameter; empty for the parameter.
        native: Whether a driver of ours speaks to the database, and not a dialect of SQLAlchemy.
        explains: Whether EXPLAIN before a query can be run safely.
        takes_writes: Whether a write can be checked, and undone where it changes too many rows.
        statements: Words that begin another statement without a semicolon before it.
        calls_bare_names: Whether a name without brackets may call a function.
        reads_after_in: Whether a name after IN is a table that is read: a `bare` one, or one in
            `brackets` too.
    """

    title: str
    parser: str
    names: Literal["any case", "quoted exact", "exact"] = "any case"
    quote: str = '"'
    mark: str = "?"
    binding: Literal["native", "numbered", "named", "literal"] = "native"
    arrays: bool = False
    row_types: bool = False
    implicit_recursion: bool = False
    parameter: str = ""
    native: bool = True
    explains: bool = True
    takes_writes: bool = True
    statements: frozenset[str] = frozenset()
    calls_bare_names: bool = False
    reads_after_in: Literal["", "bare", "brackets"] = ""

    def spell(self, name: str, *, quoted: bool) -> str:
        """Return a name of a statement as the database reads it."""
        if self.names == "exact" or (self.names == "quoted exact" and quoted):
            return name
        return fold_case(name)

    def table_key(self, name: str) -> str:
        """Return what two names of the same table have in common."""
        return fold_case(name) if self.names == "any case" else name

    def quote_name(self, name: str) -> str:
        """Return a name in quotes."""
        return self.quote + name.replace(self.quote, self.quote * 2) + self.quote


_OTHERS: dict[OtherDialect, tuple[str, str]] = {
    "mssql": ("SQL Server", "tsql"),
    "oracle": ("Oracle", "oracle"),
    "snowflake": ("Snowflake", "snowflake"),
    "clickhouse": ("ClickHouse", "clickhouse"),
    "clickhousedb": ("ClickHouse", "clickhouse"),
    "trino": ("Trino", "trino"),
    "presto": ("Presto", "presto"),
    "awsathena": ("Athena", "athena"),
    "redshift": ("Redshift", "redshift"),
    "cockroachdb": ("CockroachDB", "postgres"),
    "materialize": ("Materialize", "materialize"),
    "risingwave": ("RisingWave", "risingwave"),
    "bigquery": ("BigQuery", "bigquery"),
    "databricks": ("Databricks", "databricks"),
    "hive": ("Hive", "hive"),
    "starrocks": ("StarRocks", "starrocks"),
    "doris": ("Doris", "doris"),
    "teradatasql": ("Teradata", "teradata"),
    "exa": ("Exasol", "exasol"),
    "druid": ("Druid", "druid"),
    "drill": ("Drill", "drill"),
}
_WITH_TRANSACTIONS = frozenset(
    {"mssql", "snowflake", "redshift", "cockroachdb", "teradatasql", "exa"}
)
_STATEMENTS = """
add alter backup begin break bulk checkpoint close commit continue create dbcc deallocate declare
delete deny disable drop dump enable exec execute goto grant if insert kill load merge open print
raiserror readtext receive reconfigure restore return revert revoke rollback save send setuser
shutdown throw tran transaction truncate update updatetext use waitfor while writetext
"""
"""Words that begin a statement of T-SQL, which needs no semicolon: `SELECT 1 SHUTDOWN` is two."""

_OTHER_RULES: dict[Dialect, DialectRules] = {
    name: DialectRules(
        title=title,
        parser=parser,
        binding="named",
        parameter="0",
        native=False,
        explains=False,  # it writes a table in Oracle and runs the statement in others
        takes_writes=name in _WITH_TRANSACTIONS,
        statements=frozenset(_STATEMENTS.split()) if name == "mssql" else frozenset(),
        calls_bare_names=name == "oracle",
        reads_after_in="brackets" if parser == "clickhouse" else "",
    )
    for name, (title, parser) in _OTHERS.items()
}
DIALECTS: dict[Dialect, DialectRules] = {
    **_OTHER_RULES,
    "sqlite": DialectRules(
        title="SQLite", parser="sqlite", implicit_recursion=True, reads_after_in="bare"
    ),
    "postgresql": DialectRules(
        title="PostgreSQL",
        parser="postgres",
        names="quoted exact",
        mark="$1, $2, ...",
        binding="numbered",
        arrays=True,
        row_types=True,
    ),
    "mysql": DialectRules(
        title="MySQL", parser="mysql", names="exact", quote="`", binding="literal"
    ),
    "duckdb": DialectRules(
        title="DuckDB",
        parser="duckdb",
        mark="$1, $2, ...",
        binding="numbered",
        arrays=True,
        parameter="?",  # it takes `$1 ...` for the start of a text in dollar quotes
    ),
}

OTHER_DIALECTS: tuple[OtherDialect, ...] = get_args(OtherDialect)
"""The dialects that a driver of SQLAlchemy speaks."""
