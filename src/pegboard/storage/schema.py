"""The tables, and how an older file becomes a newer one."""

import sqlite3
from dataclasses import dataclass

from pegboard.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One step forward, applied whole or not at all."""

    version: int
    name: str
    statements: tuple[str, ...]


MIGRATIONS = (
    Migration(
        version=1,
        name="calls, error details, results, outcomes",
        statements=(
            # A started write is a call with status 'unknown' until its record arrives, so that
            # history is one table with one order that never changes under a reader.
            """
            CREATE TABLE calls (
                id INTEGER PRIMARY KEY,
                call_id TEXT NOT NULL UNIQUE,
                tool TEXT NOT NULL,
                source TEXT NOT NULL,
                status TEXT NOT NULL,
                principal TEXT NOT NULL,
                tenant TEXT NOT NULL,
                run_id TEXT NOT NULL,
                started_at REAL NOT NULL,
                body TEXT NOT NULL
            )
            """,
            "CREATE INDEX calls_by_time ON calls (started_at, id)",
            "CREATE INDEX calls_by_tool ON calls (tool, started_at, id)",
            "CREATE INDEX calls_by_run ON calls (run_id, started_at, id) WHERE run_id <> ''",
            "CREATE INDEX calls_unknown ON calls (started_at, id) WHERE status = 'unknown'",
            """
            CREATE TABLE error_details (
                error_id TEXT NOT NULL PRIMARY KEY,
                body TEXT NOT NULL
            ) WITHOUT ROWID
            """,
            """
            CREATE TABLE results (
                handle TEXT NOT NULL PRIMARY KEY,
                owner TEXT NOT NULL,
                media_type TEXT NOT NULL,
                name TEXT NOT NULL,
                created_at REAL NOT NULL,
                expires_at REAL NOT NULL,
                body BLOB NOT NULL
            )
            """,
            "CREATE INDEX results_by_expiry ON results (expires_at)",
            """
            CREATE TABLE outcomes (
                owner TEXT NOT NULL,
                key TEXT NOT NULL,
                tool TEXT NOT NULL,
                digest TEXT NOT NULL,
                created_at REAL NOT NULL,
                result TEXT,
                PRIMARY KEY (owner, key)
            ) WITHOUT ROWID
            """,
            "CREATE INDEX outcomes_by_age ON outcomes (created_at)",
        ),
    ),
)

CURRENT = MIGRATIONS[-1].version


def version_of(connection: sqlite3.Connection) -> int:
    """The version of the file's schema; 0 for an empty file.

    Raises:
        ConfigError: The file is a database of somebody else.
    """
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema")}
    if not tables:
        return 0
    if "schema_version" not in tables:
        raise ConfigError("it is a database that Pegboard did not make")
    row = connection.execute("SELECT max(version) FROM schema_version").fetchone()
    return int(row[0] or 0)


def check(version: int) -> None:
    """Refuse a file that a newer Pegboard has written.

    Raises:
        ConfigError: The schema is newer than this code.
    """
    if version > CURRENT:
        raise ConfigError(
            f"a newer Pegboard made it (schema {version}, this one knows {CURRENT}); upgrade"
        )


def migrate(
    connection: sqlite3.Connection, now: float, *, migrations: tuple[Migration, ...] = MIGRATIONS
) -> None:
    """Bring the file forward to the newest schema, one transaction a step.

    Raises:
        ConfigError: The file is newer than this code, or not ours.
    """
    version = version_of(connection)
    check(version)
    for migration in migrations:
        if migration.version > version:
            _apply(connection, migration, now)


def _apply(connection: sqlite3.Connection, migration: Migration, now: float) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(
            "CREATE TABLE IF NOT EXISTS schema_version ("
            "version INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, applied_at REAL NOT NULL)"
        )
        for statement in migration.statements:
            connection.execute(statement)
        connection.execute(
            "INSERT INTO schema_version (version, name, applied_at) VALUES (?, ?, ?)",
            (migration.version, migration.name, now),
        )
    except sqlite3.Error:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
