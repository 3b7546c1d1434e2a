"""What the guard refuses in dialects whose databases are not at hand: as sqlglot reads them."""

from typing import Any

import pytest
from sqlglot.dialects.dialect import Dialect as Parser
from sqlglot.dialects.dialect import Dialects

from pegboard.errors import InvalidRequest
from pegboard.sources.sql.catalog import Column, Table, build_catalog
from pegboard.sources.sql.config import SqlConfig
from pegboard.sources.sql.dialects import DIALECTS, OTHER_DIALECTS
from pegboard.sources.sql.driver import Statement
from pegboard.sources.sql.statement_guard import StatementGuard

NOT_SERVED = {
    *("", "sqlite", "postgres", "mysql", "duckdb"),  # drivers of our own
    *("spark", "spark2", "fabric"),  # spoken by the dialects of Databricks, Hive and SQL Server
    *("athena", "dax", "dremio", "dune", "prql", "solr", "tableau"),  # no stable dialect
}


def check(dialect: str, sql: str, *, write: bool = False, **config: Any) -> Statement:
    """Check a statement against three tables, one of them hidden."""
    settings = SqlConfig.model_validate(
        {
            "url": f"{dialect}://user:password@host/database",
            "hidden_tables": ["staff"],
            "hidden_columns": {"client": ["email"]},
            "allow_writes": write,
            **config,
        }
    )
    tables = [
        Table(schema="", name="artist", columns=_columns("id", "name")),
        Table(schema="", name="client", columns=_columns("id", "email")),
        Table(schema="", name="staff", columns=_columns("id", "secret")),
    ]
    guard = StatementGuard(settings)
    catalog = build_catalog(settings, tables)
    return guard.write(sql, catalog) if write else guard.read(sql, catalog)


def _columns(*names: str) -> tuple[Column, ...]:
    return tuple(Column(name=name, type="text") for name in names)


def test_sqlglot_reads_every_dialect_that_is_served() -> None:
    parsers = {DIALECTS[name].parser for name in OTHER_DIALECTS}

    assert all(Parser.get(name) for name in parsers)
    assert {dialect.value for dialect in Dialects} - parsers == NOT_SERVED - {"athena", "postgres"}


@pytest.mark.parametrize("dialect", OTHER_DIALECTS)
def test_each_reads_visible_tables_only(dialect: str) -> None:
    statement = check(
        dialect,
        "WITH x AS (SELECT id, name FROM artist WHERE id = ? AND name <> :name) "
        "SELECT count(*) AS n FROM x -- all\nGROUP BY name ORDER BY n",
    )

    assert [table.name for table in statement.tables] == ["artist"]
    for sql in ("SELECT * FROM staff", "SELECT email FROM client", "DELETE FROM artist"):
        with pytest.raises(InvalidRequest):
            check(dialect, sql)


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("mssql", "SELECT TOP 5 [name] FROM [artist] ORDER BY id"),
        ("mssql", "SELECT name FROM artist ORDER BY id OFFSET 1 ROWS FETCH NEXT 2 ROWS ONLY"),
        ("mssql", "SELECT [close] FROM (SELECT name AS [close] FROM artist) AS x"),
        ("oracle", "SELECT a.name AS n, rownum FROM artist a FETCH FIRST 3 ROWS ONLY"),
        ("oracle", "SELECT sysdate FROM dual"),
        ("oracle", "SELECT n, count(*) FROM (SELECT upper(name) n FROM artist) GROUP BY n"),
        ("snowflake", "SELECT name::text FROM artist QUALIFY row_number() OVER (ORDER BY id) = 1"),
        ("bigquery", "SELECT `name`, [1, 2] FROM `artist`"),
        ("trino", "SELECT date_trunc('month', current_date), ARRAY[1] FROM artist LIMIT 3"),
        ("clickhouse", "SELECT name FROM artist LIMIT 3 OFFSET 1"),
    ],
)
def test_it_reads_what_each_dialect_writes(dialect: str, sql: str) -> None:
    assert check(dialect, sql).kind == "query"


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        # T-SQL needs no semicolon between statements
        ("mssql", "SELECT 1 SHUTDOWN"),
        ("mssql", "SELECT name FROM artist COMMIT"),
        ("mssql", "SELECT name FROM artist\nEXEC sp_who"),
        ("mssql", "SELECT 1 AS x REVERT"),
        ("mssql", "SELECT name FROM artist DELETE FROM artist"),
        ("mssql", "SELECT 1 SELECT 2"),
        ("mssql", "SELECT name INTO copy FROM artist"),
        ("mssql", "SELECT * FROM OPENROWSET(BULK 'c:\\x', SINGLE_CLOB) AS x"),
        ("mssql", "SELECT * FROM OPENROWSET(BULK 'c:/x', SINGLE_CLOB) AS x"),
        ("mssql", "SELECT @@version"),
        ("mssql", "SELECT name FROM artist OPTION (MAXDOP 64)"),
        ("mssql", "SELECT name FROM artist FOR XML PATH"),
        ("mssql", "SELECT NEXT VALUE FOR counter"),
        ("mssql", "SELECT * FROM [artist]]; staff]"),
        ("mssql", "SELECT * FROM other.dbo.artist"),
        ("oracle", "SELECT counter.nextval FROM dual"),
        ("oracle", "SELECT counter.nextval AS nextval FROM dual counter"),
        # a function without parameters needs no brackets
        ("oracle", "SELECT tell FROM artist"),
        ("oracle", "SELECT tell AS tell FROM artist"),
        ("oracle", "SELECT artist.tell FROM artist"),
        ("oracle", "SELECT pack.tell FROM dual"),
        ("oracle", "SELECT name FROM artist WHERE id = tell"),
        ("oracle", "SELECT name FROM artist ORDER BY tell"),
        ("oracle", "SELECT (SELECT tell FROM dual) FROM artist"),
        ("oracle", "SELECT tell FROM dual, (SELECT 1 AS y FROM dual) x"),
        ("oracle", "SELECT * FROM artist@other"),
        ("oracle", "SELECT q'[x]' FROM dual"),
        ("oracle", "SELECT utl_http.request('http://x') FROM dual"),
        ("oracle", "EXPLAIN PLAN FOR SELECT 1 FROM dual"),
        ("oracle", "SELECT * FROM artist AS OF TIMESTAMP sysdate"),
        ("snowflake", "SELECT * FROM @stage"),
        ("snowflake", "SELECT 1 // staff\n FROM artist"),
        ("snowflake", "SELECT $1 FROM artist"),
        ("snowflake", "SELECT * FROM artist AT(OFFSET => -60)"),
        ("snowflake", "SELECT system$cancel_all_queries(1)"),
        ("clickhouse", "SELECT * FROM url('http://x', CSV)"),
        ("clickhouse", "SELECT * FROM file('/etc/passwd')"),
        ("clickhouse", "SELECT 1 SETTINGS readonly = 0"),
        ("clickhouse", "SELECT 1 INTO OUTFILE 'x'"),
        ("clickhouse", "SELECT 1 FORMAT CSV"),
        ("clickhouse", "SELECT * FROM artist FINAL"),
        ("trino", "SELECT * FROM TABLE(system.query('DROP TABLE x'))"),
        ("trino", "SELECT * FROM artist FOR VERSION AS OF 3"),
        # three quotes begin a text, and two end one and begin another
        ("bigquery", "SELECT '''', ''' FROM staff ''"),
        ("bigquery", "SELECT 'it''s' FROM artist"),
        ("bigquery", 'SELECT "x" FROM artist'),
        ("bigquery", "SELECT r'x' FROM artist # staff"),
        ("hive", "SELECT TRANSFORM(name) USING 'cat' FROM artist"),
        ("hive", "SELECT reflect('java.lang.System', 'exit', 1)"),
        ("databricks", "SELECT * FROM parquet.`/etc/x`"),
        ("doris", "SELECT 'x\\' FROM staff -- '"),
        ("drill", "SELECT * FROM dfs.`/etc/passwd`"),
    ],
)
def test_it_refuses_what_a_dialect_adds(dialect: str, sql: str) -> None:
    with pytest.raises(InvalidRequest):
        check(dialect, sql)


def test_one_write_is_read_and_a_second_one_refused() -> None:
    assert check("mssql", "UPDATE artist SET name = ? WHERE id = ?", write=True).kind == "write"
    for sql in (
        "DELETE FROM artist WHERE id = 1 DELETE FROM client WHERE id = 1",
        "INSERT INTO artist (id) VALUES (1) EXEC sp_who",
        "INSERT INTO artist (id) EXEC sp_who",
    ):
        with pytest.raises(InvalidRequest):
            check("mssql", sql, write=True)


def test_writes_are_offered_where_they_can_be_undone() -> None:
    with pytest.raises(ValueError, match="writing is not offered for Trino"):
        check("trino", "SELECT 1", allow_writes=True)


@pytest.mark.parametrize("dialect", ["clickhouse", "clickhousedb"])
@pytest.mark.parametrize(
    "named",
    ["staff", "(staff)", "((staff))", "shop.staff", "(shop.staff)", '"staff"', "system.users"],
)
@pytest.mark.parametrize("word", ["IN", "NOT IN", "GLOBAL IN", "GLOBAL NOT IN"])
def test_clickhouse_reads_no_table_after_in(dialect: str, named: str, word: str) -> None:
    for sql in (
        f"SELECT name FROM artist WHERE (id, 'x') {word} {named}",
        f"SELECT if((1, 'x') {word} {named}, 1, 0) AS found",
    ):
        with pytest.raises(InvalidRequest, match=r"after IN is the name of a table"):
            check(dialect, sql)


@pytest.mark.parametrize(
    "values", ["(1)", "(1, 2)", "(:a)", "(?)", "(-1)", "(SELECT id FROM client)", "(lower('a'))"]
)
def test_clickhouse_takes_values_and_queries_after_in(values: str) -> None:
    assert check("clickhouse", f"SELECT name FROM artist WHERE id IN {values}").tables
