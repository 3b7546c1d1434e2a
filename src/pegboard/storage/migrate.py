"""Migrates a database to the current revision, in the caller's transaction."""

from pathlib import Path

from sqlalchemy import Connection, inspect, text

from pegboard.errors import ConfigError

TABLE = "pegboard_schema"
"""The table with the revision of a database; no other program uses the name."""

REVISIONS = tuple(f"{number:04}" for number in range(1, 21))
"""All revisions, in order. It stands here too so that a start that migrates nothing, which nearly
all do, need not load Alembic."""

_MIGRATIONS = Path(__file__).parent / "migrations"
EMPTY_SQLITE = _MIGRATIONS / "sqlite.sql"
"""What all revisions make of an empty SQLite file, a statement a line, so that a first start need
not load Alembic either. `python tests/storage/schema_file.py` writes it from the migrations."""

# What kept the version before Alembic did; an older program still reads it.
_EARLIER = "schema_version"


def revision_of(connection: Connection) -> str:
    """The revision of a database; empty for an empty one.

    Raises:
        ConfigError: It was created by a newer Pegboard, or by another program.
    """
    tables = set(inspect(connection).get_table_names())
    if TABLE in tables:
        found = connection.execute(text(f"SELECT version_num FROM {TABLE}")).scalar_one()  # noqa: S608 - our own name
        if found not in REVISIONS:
            raise ConfigError(
                f"it was created by a newer Pegboard (schema {found}, this one knows "
                f"{REVISIONS[-1]}); upgrade"
            )
        return str(found)
    if _EARLIER in tables:
        return REVISIONS[0]
    if tables and connection.dialect.name == "sqlite":
        raise ConfigError("it was not created by Pegboard; move it away")
    return ""


def migrate(connection: Connection, now: float, *, to: str = "head") -> None:
    """Bring a database forward. The caller holds a lock, commits, and rolls back what fails.

    Raises:
        ConfigError: It was created by a newer Pegboard, or by another program.
    """
    found = revision_of(connection)
    if found == REVISIONS[-1]:
        return
    if not found and to == "head" and connection.dialect.name == "sqlite":
        for statement in EMPTY_SQLITE.read_text(encoding="utf-8").splitlines():
            connection.exec_driver_sql(statement)
        return
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    config.attributes["connection"] = connection
    tables = set(inspect(connection).get_table_names())
    is_earlier = TABLE not in tables and _EARLIER in tables
    if is_earlier:
        command.stamp(config, found)
    command.upgrade(config, to)
    if is_earlier:
        # Programs from before refuse the file instead of writing beside us.
        connection.execute(
            text(f"INSERT INTO {_EARLIER} VALUES (2, 'kept in {TABLE}', :now)"),  # noqa: S608 - our own names
            {"now": now},
        )
