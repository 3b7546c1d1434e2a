"""What the guard says; what it lets through is in `test_attacks`."""

import time
from pathlib import Path
from typing import Any

import pytest
from sqlglot import exp
from tests.sources.sql.attacks import HIDING

from pegboard.errors import InvalidRequest
from pegboard.sources.sql.allowlist import READ_NODES, WRITE_NODES
from pegboard.sources.sql.catalog import Catalog, build_catalog
from pegboard.sources.sql.config import SqlConfig
from pegboard.sources.sql.drivers.sqlite import SqliteDriver
from pegboard.sources.sql.lexer import Dialect, lex
from pegboard.sources.sql.statement_guard import StatementGuard, first_word_refusal, strip_explain


def _catalog(path: Path, **config: Any) -> tuple[StatementGuard, Catalog]:
    settings = SqlConfig.model_validate({"url": f"sqlite:///{path}", **HIDING, **config})
    session = SqliteDriver(settings, base_dir=path.parent).connect(write=False)
    tables, triggers = session.tables(time.monotonic() + 60)
    session.close()
    return StatementGuard(settings), build_catalog(settings, tables, triggers=triggers)


def test_a_checked_statement_names_its_tables_and_with_queries(one_vault: Path) -> None:
    guard, catalog = _catalog(one_vault)

    statement = guard.read(
        "WITH Big AS (SELECT * FROM album) SELECT * FROM Big JOIN artist USING (id)", catalog
    )

    assert {table.name for table in statement.tables} == {"album", "artist"}
    assert statement.ctes == {"big"}
    assert statement.kind == "query"


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT * FROM artst", "Unknown table 'artst'. Did you mean artist?"),
        (
            "SELECT * FORM artist",
            (
                "The SQL cannot be parsed: Invalid expression / Unexpected token "
                "(line 1, column 20, near 'artist')."
            ),
        ),
        ("SELECT (1", "The SQL cannot be parsed: Expecting ) (line 1, column 9, near '1')."),
        (
            "SELECT frob(1)",
            (
                "The function 'frob' is not among the allowed ones (near 'frob(1)'). "
                "An operator can add it to allow_functions."
            ),
        ),
        (
            "DELETE FROM artist",
            "DELETE changes data; only queries are run here. This database is read-only.",
        ),
        ("DROP TABLE artist", "DROP changes more than rows, which is not supported here."),
        (
            "PRAGMA table_info(artist)",
            "A statement begins with SELECT or TABLE or VALUES or WITH here, not with 'PRAGMA'.",
        ),
        ("SELECT 1 FOR UPDATE", "'LOCK' is not allowed here."),
        ("EXPLAIN", "EXPLAIN needs a statement."),
        (
            "SELECT * FROM customer",
            "Name the columns of 'customer' instead of *: id, name, rep.",
        ),
    ],
)
def test_a_refusal_says_what_is_wrong(one_vault: Path, sql: str, message: str) -> None:
    guard, catalog = _catalog(one_vault)

    with pytest.raises(InvalidRequest) as refused:
        guard.read(sql, catalog)

    assert str(refused.value) == message


def test_an_allowed_function_passes(one_vault: Path) -> None:
    guard, catalog = _catalog(one_vault, allow_functions=("Frob", "tools.frob"))

    assert guard.read("SELECT frob(1), FROB(2), tools.frob(3)", catalog).kind == "query"


def test_one_level_of_a_function_that_columns_are_named_after_is_not_enough(
    one_vault: Path,
) -> None:
    guard, catalog = _catalog(one_vault)

    assert guard.read("WITH frob(a) AS (SELECT 1) SELECT a FROM frob", catalog).ctes == {"frob"}
    with pytest.raises(InvalidRequest, match="'frob' is not among"):
        guard.read("WITH frob(a) AS (SELECT 1) SELECT frob(a) FROM frob", catalog)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT 1", "A statement begins with DELETE or INSERT or UPDATE or WITH here"),
        ("WITH x AS (SELECT 1) SELECT * FROM x", "Write INSERT, UPDATE or DELETE"),
        ("REPLACE INTO artist VALUES (1, 'x')", "Write INSERT OR REPLACE"),
        ("INSERT INTO employee VALUES (1)", "Unknown table 'employee'"),
        ("INSERT INTO artist SELECT id, secret FROM employee", "Unknown table 'employee'"),
        ("INSERT INTO phonebook VALUES (1)", "is a view"),
        ("INSERT INTO customer VALUES (1, 'a', 'b', 1)", "INSERT without a list of columns"),
        ("INSERT INTO customer (id, email) VALUES (1, 'a')", "Unknown column 'email'"),
        ("UPDATE customer SET email = 'x'", "Unknown column 'email'"),
        ("UPDATE customer SET name = email", "Unknown column 'email'"),
        ("DELETE FROM customer WHERE email = 'x'", "Unknown column 'email'"),
        ("UPDATE customer SET name = 'x' RETURNING *", r"instead of RETURNING \*"),
        (
            "INSERT INTO customer (id) VALUES (1) ON CONFLICT (email) DO NOTHING",
            "Unknown column 'email'",
        ),
        ("WITH employee AS (SELECT 1) DELETE FROM employee", "Unknown table 'employee'"),
        (
            "WITH x AS (DELETE FROM album RETURNING id) INSERT INTO artist SELECT id, 'x' FROM x",
            "'DELETE' inside another statement",
        ),
        ("UPDATE artist SET name = frob(1)", "'frob' is not among"),
        ("DROP TABLE artist", "changes more than rows"),
        ("TRUNCATE artist", "TRUNCATE changes data"),
    ],
)
def test_a_write_is_one_statement_on_a_visible_table(
    one_vault: Path, sql: str, message: str
) -> None:
    guard, catalog = _catalog(one_vault, allow_writes=True)

    with pytest.raises(InvalidRequest, match=message):
        guard.write(sql, catalog)


@pytest.mark.parametrize(
    ("sql", "returning"),
    [
        ("INSERT INTO artist (id, name) VALUES (?, ?)", False),
        ("INSERT INTO artist VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET name = 'y'", False),
        ("UPDATE customer SET name = upper(name) WHERE id = 1 RETURNING id, name", True),
        ("DELETE FROM album WHERE artist_id IN (SELECT id FROM artist)", False),
        ("WITH x AS (SELECT 1 AS a) UPDATE artist SET name = 'b' FROM x WHERE id = x.a", False),
    ],
)
def test_writes_that_may_run(one_vault: Path, sql: str, returning: bool) -> None:
    guard, catalog = _catalog(one_vault, allow_writes=True)

    statement = guard.write(sql, catalog)

    assert (statement.kind, statement.returning) == ("write", returning)


def test_a_query_says_where_writes_go_when_they_are_allowed(one_vault: Path) -> None:
    guard, catalog = _catalog(one_vault, allow_writes=True)

    with pytest.raises(InvalidRequest, match="Use the execute tool"):
        guard.read("UPDATE artist SET name = 'x'", catalog)


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1" + " + 1" * 1400,
        "SELECT * FROM " + "(SELECT * FROM " * 38 + "artist" + ") x" * 38,
        "SELECT 1 FROM artist" + " CROSS JOIN customer" * 900,
        " UNION ALL ".join(["SELECT id FROM artist"] * 450),
        "WITH " + ", ".join(f"c{n} AS (SELECT id FROM artist)" for n in range(250)) + " SELECT 1",
        "SELECT " + ", ".join(["c.name"] * 700) + " FROM customer c",
    ],
    ids=["sum", "nested", "joins", "union", "with", "columns"],
)
def test_no_statement_takes_long_to_check(one_vault: Path, sql: str) -> None:
    guard, catalog = _catalog(one_vault)
    began = time.process_time()

    guard.read(sql, catalog)

    assert time.process_time() - began < 10


def test_every_allowed_node_is_one_that_the_parser_makes() -> None:
    unknown = [name for name in WRITE_NODES if not hasattr(exp, name)]

    assert unknown == []
    assert not READ_NODES & {"Insert", "Update", "Delete", "Command", "Into", "Lock", "Pragma"}


@pytest.mark.parametrize(
    ("dialect", "sql", "inner"),
    [
        ("sqlite", "EXPLAIN SELECT 1", "SELECT 1"),
        ("sqlite", "explain query plan SELECT 1", "SELECT 1"),
        ("postgresql", "EXPLAIN VERBOSE SELECT 1", "SELECT 1"),
        ("postgresql", "EXPLAIN (VERBOSE, COSTS OFF, FORMAT JSON) SELECT (1)", "SELECT (1)"),
    ],
)
def test_explain_is_taken_off_and_the_rest_stays_where_it_is(
    dialect: Dialect, sql: str, inner: str
) -> None:
    lexed, was_there = strip_explain(lex(sql, dialect), dialect)

    assert was_there
    assert lexed.text.strip() == inner
    assert lexed.text[lexed.tokens[0].start :].startswith("SELECT")


def test_without_explain_nothing_changes() -> None:
    lexed = lex("SELECT explain FROM t", "sqlite")

    assert strip_explain(lexed, "sqlite") == (lexed, False)


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("postgresql", "EXPLAIN ANALYZE SELECT 1"),
        ("postgresql", "EXPLAIN VERBOSE ANALYZE SELECT 1"),
        ("postgresql", "EXPLAIN (ANALYZE) SELECT 1"),
        ("postgresql", "EXPLAIN (COSTS, analyze on) SELECT 1"),
        ("postgresql", "EXPLAIN (WAL) SELECT 1"),
        ("postgresql", "EXPLAIN ("),
        ("postgresql", "EXPLAIN (VERBOSE)"),
        ("sqlite", "EXPLAIN QUERY PLAN"),
    ],
)
def test_an_explain_that_runs_or_explains_nothing_is_refused(dialect: Dialect, sql: str) -> None:
    with pytest.raises(InvalidRequest):
        strip_explain(lex(sql, dialect), dialect)


@pytest.mark.parametrize(
    ("sql", "refusal"),
    [
        ("((SELECT 1))", ""),
        ("with x as (select 1) select 1", ""),
        ("UPDATE t SET a = 1", "UPDATE changes data; only queries are run here."),
        ("CREATE TABLE t (a)", "CREATE changes more than rows, which is not supported here."),
        ("'SELECT'", "A statement begins with SELECT or WITH here, not with ''SELECT''."),
        ('"select" 1', "A statement begins with SELECT or WITH here, not with '\"select\"'."),
    ],
)
def test_the_first_word_is_a_keyword_that_is_allowed(sql: str, refusal: str) -> None:
    answer = first_word_refusal(lex(sql, "sqlite"), frozenset({"select", "with"}), writes=False)

    assert answer.startswith(refusal)
    assert bool(answer) == bool(refusal)
