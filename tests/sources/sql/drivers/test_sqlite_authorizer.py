"""SQLite's own enforcement, tried without the parser in front of it."""

import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.sources.sql.attacks import ATTACKS, HIDING, SECRET, SQLITE_ATTACKS

from pegboard.sources.sql.catalog import Catalog, build_catalog
from pegboard.sources.sql.config import SqlConfig
from pegboard.sources.sql.driver import Statement, StatementRequest, StatementResult
from pegboard.sources.sql.drivers.sqlite import SqliteDriver, SqliteSession
from pegboard.sources.sql.lexer import LexedStatement


class Bare:
    """A session that runs text as it is, with the tables that a guard might have found."""

    def __init__(self, path: Path, *, write: bool = False, **config: Any) -> None:
        self.config = SqlConfig.model_validate({"url": f"sqlite:///{path}", **HIDING, **config})
        self.session: SqliteSession = SqliteDriver(self.config, base_dir=path.parent).connect(
            write=write
        )
        tables, triggers = self.session.tables(time.monotonic() + 60)
        self.catalog: Catalog = build_catalog(self.config, tables, triggers=triggers)

    def read(self, sql: str, *tables: str, ctes: Sequence[str] = ()) -> StatementResult:
        return self.session.read(self._request(sql, tables, ctes, "query"))

    def write(self, sql: str, *tables: str) -> StatementResult:
        return self.session.write(self._request(sql, tables, (), "write"), 100)

    def _request(
        self, sql: str, tables: Sequence[str], ctes: Sequence[str], kind: Any
    ) -> StatementRequest:
        return StatementRequest(
            statement=Statement(
                lexed=LexedStatement(text=sql, tokens=()),
                kind=kind,
                tables=tuple(self.catalog.tables[name] for name in tables),
                ctes=frozenset(ctes),
            ),
            catalog=self.catalog,
            sql=sql,
            parameters=[],
            limit=100,
            deadline=time.monotonic() + 60,
            seconds=60,
        )


@pytest.fixture
def bare(vault: Path) -> Iterator[Bare]:
    made = Bare(vault)
    yield made
    made.session.close()


_HARMLESS_HERE = {"explain-analyze", "begin", "commit", "nothing", "long", "detach"} | {
    "hidden-table-in-unused-cte",  # never compiled
    "hidden-table-before-a-later-cte",  # SQLite finds the later one
}
_THE_GUARD_IS_ALONE = {
    "endless-printf",
    "hidden-column-in-using",  # SQLite asks nobody before it compares the columns of a join
    "hidden-column-in-natural-join",
}
_ATTACKS: Mapping[str, str] = {
    name: sql
    for name, sql in (ATTACKS | SQLITE_ATTACKS).items()
    if name not in _HARMLESS_HERE | _THE_GUARD_IS_ALONE
}


@pytest.mark.parametrize("sql", _ATTACKS.values(), ids=_ATTACKS)
def test_sqlite_itself_refuses_what_the_guard_has_not_seen(
    bare: Bare, vault: Path, sql: str
) -> None:
    before = vault.read_bytes()

    with pytest.raises((sqlite3.Error, sqlite3.Warning, ValueError)) as refused:
        bare.read(sql)

    assert SECRET not in str(refused.value)
    assert vault.read_bytes() == before
    assert [path.name for path in vault.parent.iterdir()] == [vault.name]


def test_only_the_tables_of_the_statement_are_open(bare: Bare) -> None:
    assert bare.read("SELECT name FROM artist WHERE id = 1", "artist").rows == [["Nina"]]
    with pytest.raises(sqlite3.DatabaseError, match="prohibited"):
        bare.read("SELECT title FROM album", "artist")


def test_a_statement_that_ran_before_is_judged_again(bare: Bare) -> None:
    assert bare.read("SELECT title FROM album WHERE id = 10", "album").rows == [["Blue"]]
    with pytest.raises(sqlite3.DatabaseError, match="prohibited"):
        bare.read("SELECT title FROM album WHERE id = 10", "artist")


def test_a_view_may_read_what_it_was_made_for_and_nobody_else(bare: Bare) -> None:
    assert bare.read("SELECT name FROM phonebook", "phonebook").rows == [["Ann"]]
    with pytest.raises(sqlite3.DatabaseError, match="prohibited"):
        bare.read("SELECT secret FROM employee", "phonebook")


def test_a_view_over_a_view_reads_through_both(vault: Path) -> None:
    with sqlite3.connect(vault) as connection:
        connection.execute("CREATE VIEW both AS SELECT name FROM discs")
    connection.close()
    bare = Bare(vault)

    assert bare.read("SELECT count(*) FROM both", "both").rows == [[3]]
    bare.session.close()


def test_a_hidden_column_is_closed_in_an_open_table(bare: Bare) -> None:
    assert bare.read("SELECT name FROM customer", "customer").rows == [["Bob"]]
    with pytest.raises(sqlite3.DatabaseError, match="prohibited"):
        bare.read("SELECT email FROM customer", "customer")


def test_rows_of_a_with_query_may_be_counted_unless_a_table_has_its_name(bare: Bare) -> None:
    counted = "WITH {0} AS (SELECT 1) SELECT count(*) FROM {0}"

    assert bare.read(counted.format("x"), ctes=["x"]).rows == [[1]]
    with pytest.raises(sqlite3.DatabaseError):
        bare.read(counted.format("employee"), ctes=["employee"])


def test_json_functions_make_tables_at_once(bare: Bare) -> None:
    assert bare.read("SELECT value FROM json_each('[1, 2]')").rows == [[1], [2]]
    assert bare.read("SELECT count(*) FROM json_tree('[1, [2]]')").rows == [[4]]


def test_full_text_search_reads_its_storage_and_visible_content_only(vault: Path) -> None:
    with sqlite3.connect(vault) as connection:
        connection.executescript(
            "CREATE VIRTUAL TABLE notes USING fts5(body);"
            "INSERT INTO notes VALUES ('hello world');"
            "CREATE VIRTUAL TABLE titles USING fts5(title, content=album, content_rowid=id);"
            "INSERT INTO titles (titles) VALUES ('rebuild');"
            "CREATE VIRTUAL TABLE secrets USING fts5(secret, content=employee, content_rowid=id);"
            "INSERT INTO secrets (secrets) VALUES ('rebuild');"
        )
    connection.close()
    bare = Bare(vault)

    assert bare.read("SELECT body FROM notes WHERE notes MATCH 'hello'", "notes").rows == [
        ["hello world"]
    ]
    assert bare.read("SELECT title FROM titles('kind') ORDER BY rank", "titles").rows == [["Kind"]]
    with pytest.raises(sqlite3.Error):
        bare.read("SELECT secret FROM secrets WHERE secrets MATCH 'swordfish'", "secrets")
    assert "notes_content" not in bare.catalog.tables
    bare.session.close()


def test_a_function_of_an_operator_may_be_called(vault: Path) -> None:
    bare = Bare(vault, allow_functions=("sqlite_source_id",))

    assert len(bare.read("SELECT sqlite_source_id()").rows) == 1
    bare.session.close()


def test_a_connection_for_reading_cannot_write_whatever_is_allowed(vault: Path) -> None:
    bare = Bare(vault)

    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        bare.write("INSERT INTO artist VALUES (9, 'x')", "artist")
    bare.session.close()


def test_a_write_stays_out_of_hidden_tables_and_columns(vault: Path) -> None:
    bare = Bare(vault, write=True)

    for sql in (
        "INSERT INTO employee VALUES (9, 'x', 'y')",
        "UPDATE employee SET name = 'x'",
        "DELETE FROM employee",
        "UPDATE customer SET email = 'x'",
        "INSERT INTO artist SELECT id, secret FROM employee",
        "DROP TABLE artist",
        "PRAGMA foreign_keys=OFF",
    ):
        with pytest.raises(sqlite3.DatabaseError):
            bare.write(sql, "artist", "customer")
    assert bare.write("UPDATE artist SET name = 'x' WHERE id = 1", "artist").affected == 1
    bare.session.close()


def test_foreign_keys_are_checked_against_hidden_tables_too(vault: Path) -> None:
    bare = Bare(vault, write=True)

    with pytest.raises(sqlite3.IntegrityError):
        bare.write("UPDATE customer SET rep = 99", "customer")
    assert bare.write("UPDATE customer SET rep = 1", "customer").affected == 1
    bare.session.close()


def test_a_trigger_does_what_its_owner_wrote_and_lends_its_name_to_nobody(vault: Path) -> None:
    with sqlite3.connect(vault) as connection:
        connection.executescript(
            "CREATE TABLE audit (what text);"
            "CREATE TRIGGER noted AFTER UPDATE ON artist BEGIN "
            "INSERT INTO audit SELECT name FROM employee; END;"
        )
    connection.close()
    bare = Bare(vault, write=True, hidden_tables=("employee", "audit"))

    assert bare.write("UPDATE artist SET name = 'x' WHERE id = 1", "artist").affected == 2
    assert "noted" in bare.catalog.reserved
    bare.session.close()
