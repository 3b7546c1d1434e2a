"""PostgreSQL's own enforcement, tried without the parser in front of it, and what it goes by."""

import time
from collections.abc import Iterator

import psycopg
import pytest
from tests.sources.sql.attacks import HIDING_MORE

from pegboard.errors import InvalidRequest
from pegboard.sources.sql.catalog import build_catalog
from pegboard.sources.sql.config import SqlConfig
from pegboard.sources.sql.driver import Statement, StatementRequest, StatementResult
from pegboard.sources.sql.drivers.postgres import PostgresDriver
from pegboard.sources.sql.drivers.postgres_schema import read_tables
from pegboard.sources.sql.lexer import LexedStatement


class Bare:
    """A session that runs text as it is, with the tables that a guard might have found."""

    def __init__(self, url: str, *, write: bool = False) -> None:
        self.config = SqlConfig.model_validate({"url": url, **HIDING_MORE})
        self.session = PostgresDriver(self.config).connect(write=write)
        tables, _ = self.session.tables(time.monotonic() + 60)
        self.catalog = build_catalog(self.config, tables)

    def read(self, sql: str, *tables: str) -> StatementResult:
        return self.session.read(
            StatementRequest(
                statement=Statement(
                    lexed=LexedStatement(text=sql, tokens=()),
                    kind="query",
                    tables=tuple(self.catalog.tables[name] for name in tables),
                ),
                catalog=self.catalog,
                sql=sql,
                parameters=[],
                limit=10,
                deadline=time.monotonic() + 60,
                seconds=60,
            )
        )


@pytest.fixture
def bare(postgres: str) -> Iterator[Bare]:
    made = Bare(postgres)
    yield made
    made.session.close()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM employee",
        "SELECT * FROM artist, employee",
        "SELECT * FROM staff",
        "SELECT * FROM staff_copy",
        "SELECT * FROM audit_2020",
        "SELECT * FROM event",
        "SELECT * FROM pg_class",
        "SELECT * FROM pg_shadow",
        "WITH artist AS (SELECT * FROM employee) SELECT * FROM artist",
        "SELECT min(id) FROM employee",
    ],
)
def test_the_plan_shows_tables_that_the_guard_has_not_seen(bare: Bare, sql: str) -> None:
    with pytest.raises(InvalidRequest, match="not available here"):
        bare.read(sql, "artist")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1; SELECT 2",
        "SELECT 1; DELETE FROM artist",
        "DELETE FROM artist",
        "WITH x AS (DELETE FROM artist RETURNING *) SELECT * FROM x",
        "SELECT * INTO x FROM artist",
        "SELECT nextval('counter')",
        "SELECT lo_from_bytea(0, 'x')",
        "SELECT set_config('transaction_read_only', 'off', false), nextval('counter')",
        "COMMIT; DELETE FROM artist",
        "SET TRANSACTION READ WRITE",
        "CREATE TEMP TABLE x (a int)",
    ],
)
def test_the_server_itself_refuses_to_write(bare: Bare, sql: str) -> None:
    with pytest.raises((psycopg.Error, InvalidRequest)):
        bare.read(sql, "artist")
    assert bare.read("SELECT count(*) FROM artist", "artist").rows == [[3]]


def test_a_view_may_read_what_it_was_made_for(bare: Bare) -> None:
    assert bare.read("SELECT * FROM phonebook", "phonebook").rows == [[1, "Ann"]]


def test_the_schema_knows_what_everything_reads(postgres: str) -> None:
    with psycopg.connect(postgres) as connection:
        tables = {table.name: table for table in read_tables(connection, ["public"])}

    assert tables["managers"].reads == {("public", "staff"), ("public", "employee")}
    assert (("public", "employee"), "secret") in tables["managers"].shows
    assert tables["told"].opaque
    assert tables["event"].reads == {("public", "event_secret")}
    assert tables["audit_2020"].part_of == {("public", "employee_log")}
    assert tables["staff_copy"].kind == "materialized view"
