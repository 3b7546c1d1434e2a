"""The schema of a DuckDB file, and what its views read."""

from pathlib import Path

import duckdb
import pytest

from pegboard.sources.sql.drivers.duckdb_schema import read_tables, to_key


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Artist", ("", "artist")),
        ("main.Artist", ("main", "artist")),
        ("vault.main.artist", ("main", "artist")),
        ('main."a.b c"', ("main", "a.b c")),
        ("artist AS employee", ("", "artist")),
        ('"my table" AS "x y"', ("", "my table")),
    ],
)
def test_a_name_of_duckdb_becomes_schema_and_table(name: str, key: tuple[str, str]) -> None:
    assert to_key(name) == key


def test_the_schema_knows_what_everything_reads(duckdb_vault: Path) -> None:
    with duckdb.connect(str(duckdb_vault), read_only=True) as connection:
        tables = {table.name: table for table in read_tables(connection, "vault", ["main"])}

    assert tables["managers"].reads == {("main", "employee")}
    assert (("main", "employee"), "secret") in tables["managers"].shows
    assert tables["told"].reads == {("main", "employee")}
    assert tables["letters"].shows == {
        (("main", "customer"), "name"),
        (("main", "customer"), "email"),
    }
    assert tables["discs"].reads == {("main", "artist"), ("main", "album")}
    assert "song" not in tables


def test_a_view_on_a_view_shows_all_that_the_inner_one_may(tmp_path: Path) -> None:
    path = tmp_path / "x.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE t (a int, b int); CREATE VIEW one AS SELECT b AS c FROM t;"
            "CREATE VIEW two AS SELECT c FROM one;"
            "CREATE TABLE u (z int); CREATE VIEW lost AS SELECT z FROM u; DROP TABLE u"
        )
        tables = {table.name: table for table in read_tables(connection, "x", ["main"])}

    assert tables["two"].shows == {(("main", "t"), "a"), (("main", "t"), "b")}
    assert tables["lost"].opaque
