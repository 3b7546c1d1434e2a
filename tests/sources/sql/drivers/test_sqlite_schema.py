"""The schema of a SQLite file, also of an odd one."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path

from tests.sources.sql.boards import opened

from pegboard.sources.sql.catalog import ForeignKey, Table
from pegboard.sources.sql.config import SqlConfig
from pegboard.sources.sql.drivers import sqlite_schema
from pegboard.sources.sql.drivers.sqlite import SqliteDriver


def _tables(path: Path) -> dict[str, Table]:
    config = SqlConfig.model_validate({"url": f"sqlite:///{path}"})
    session = SqliteDriver(config, base_dir=path.parent).connect(write=False)
    tables, _ = session.tables(time.monotonic() + 60)
    session.close()
    return {table.name: table for table in tables}


def test_views_know_what_they_read_down_to_the_column(one_vault: Path) -> None:
    tables = _tables(one_vault)

    assert tables["managers"].reads == {("main", "staff"), ("main", "employee")}
    assert (("main", "employee"), "secret") in tables["managers"].shows
    assert tables["phonebook"].shows == {
        (("main", "employee"), "id"),
        (("main", "employee"), "name"),
    }


def test_reading_the_schema_again_on_the_same_connection_finds_the_same(one_vault: Path) -> None:
    config = SqlConfig.model_validate({"url": f"sqlite:///{one_vault}"})
    session = SqliteDriver(config, base_dir=one_vault.parent).connect(write=False)

    first, _ = session.tables(time.monotonic() + 60)
    second, _ = session.tables(time.monotonic() + 60)
    session.close()

    assert first == second
    assert any(table.reads for table in first)


def test_keys_are_read_also_where_they_leave_the_other_side_out(vault: Path) -> None:
    with closing(sqlite3.connect(vault)) as connection:
        connection.executescript(
            "CREATE TABLE pair (a int, b int, PRIMARY KEY (b, a)) WITHOUT ROWID;"
            "CREATE TABLE part (x int, y int, z int REFERENCES artist,"
            " FOREIGN KEY (x, y) REFERENCES pair (b, a))"
        )

    tables = _tables(vault)

    assert tables["pair"].primary_key == ("b", "a")
    assert set(tables["part"].references) == {
        ForeignKey(columns=("z",), table=("main", "artist"), to=()),
        ForeignKey(columns=("x", "y"), table=("main", "pair"), to=("b", "a")),
    }


async def test_what_sqlite_cannot_open_hides_nothing_else(vault: Path) -> None:
    with closing(sqlite3.connect(vault)) as connection:
        connection.executescript(
            "CREATE VIEW broken AS SELECT * FROM gone; PRAGMA writable_schema = ON;"
            "INSERT INTO sqlite_schema VALUES ('table', 'foreign', 'foreign', 0, "
            "'CREATE VIRTUAL TABLE \"foreign\" USING nobody_has_this(x)')"
        )
    async with opened(f"sqlite:///{vault}") as ask:
        names = [table["name"] for table in (await ask("list_tables"))["tables"]]

    assert "artist" in names
    assert not {"broken", "foreign"} & set(names)


def test_storage_of_a_virtual_table_belongs_to_the_longest_name_that_fits() -> None:
    owner = sqlite_schema._owner("docs_text_content", ["docs", "docs_text"])

    assert owner == "docs_text"
