"""Older files become newer ones."""

import sqlite3
from pathlib import Path

import pytest
from tests.storage.made import NOON

from pegboard.storage.connection import open_writer
from pegboard.storage.schema import CURRENT, MIGRATIONS, Migration, migrate


def test_an_older_file_is_brought_forward(tmp_path: Path) -> None:
    connection = open_writer(tmp_path / "pegboard.db", NOON)
    connection.execute("INSERT INTO results VALUES ('h', 'o', 'text/plain', 'n', 0, 1, x'00')")
    later = Migration(
        version=CURRENT + 1,
        name="results have a note",
        statements=("ALTER TABLE results ADD COLUMN note TEXT NOT NULL DEFAULT ''",),
    )

    migrate(connection, NOON + 1, migrations=(*MIGRATIONS, later))

    assert connection.execute("SELECT handle, note FROM results").fetchall() == [("h", "")]
    steps = connection.execute("SELECT version, applied_at FROM schema_version").fetchall()
    assert steps == [*((m.version, NOON) for m in MIGRATIONS), (later.version, NOON + 1)]
    connection.close()


def test_a_migration_that_fails_midway_changes_nothing(tmp_path: Path) -> None:
    connection = open_writer(tmp_path / "pegboard.db", NOON)
    broken = Migration(
        version=CURRENT + 1,
        name="broken",
        statements=("CREATE TABLE half (x)", "CREATE TABLE calls (x)"),
    )

    with pytest.raises(sqlite3.OperationalError, match="already exists"):
        migrate(connection, NOON, migrations=(*MIGRATIONS, broken))

    assert connection.execute("SELECT name FROM sqlite_schema WHERE name = 'half'").fetchall() == []
    assert connection.execute("SELECT max(version) FROM schema_version").fetchone() == (CURRENT,)
    connection.close()
