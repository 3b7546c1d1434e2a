"""Older databases become newer ones, and nothing in them is lost."""

import shutil
import sqlite3
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, text
from tests.storage.made import NOON, a_written, an_outcome, ids
from tests.storage.schema_file import migrated_schema, schema_of

from pegboard.core.ports.call_stores import HistoryQuery
from pegboard.errors import ConfigError
from pegboard.storage import open_history, open_storage
from pegboard.storage.databases.sqlite_file import open_writer
from pegboard.storage.migrate import REVISIONS, TABLE, migrate
from pegboard.storage.tables import METADATA
from pegboard.testing import FakeClock

OLD = Path(__file__).parent / "files" / "schema_1.db"
MIGRATIONS = Path(__file__).parents[2] / "src/pegboard/storage/migrations"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A data directory that a Pegboard from before Alembic has written."""
    shutil.copy(OLD, tmp_path / "pegboard.db")
    return tmp_path


async def test_a_file_from_before_is_taken_over_without_loss(old: Path, clock: FakeClock) -> None:
    async with open_storage(old, clock=clock) as storage:
        calls = await ids(storage)
        unfinished = await ids(storage, unfinished=True)
        detail = await storage.history.detail("e1")
        result = await storage.results.get("pegboard://results/r1", "acme/ada")
        running = await storage.outcomes.claim(an_outcome("open"))
        done = await storage.outcomes.claim(an_outcome("done"))
        storage.listener.on_event(a_written("w1"))
        await storage.flush()
        left = await ids(storage, unfinished=True)

    assert calls == ["w2", "w1", "c2", "c1", "c0"]
    assert unfinished == ["w1"]
    assert left == []
    assert detail is not None
    assert detail["detail"] == "Traceback"
    assert result is not None
    assert result.body == b'{"rows": []}'
    assert running == an_outcome("open")
    assert done is not None
    assert done.result is not None
    assert done.result.content == "done"


async def test_a_file_from_before_can_be_read_without_being_changed(old: Path) -> None:
    async with open_history(old) as history:
        page = await history.calls(HistoryQuery())

    assert len(page.calls) == 5
    assert tables(old / "pegboard.db") == {
        *("calls", "error_details", "outcomes", "results", "schema_version")
    }


def test_an_older_program_sees_that_a_file_is_too_new_for_it(old: Path) -> None:
    open_writer(old / "pegboard.db", NOON).close()

    with sqlite3.connect(old / "pegboard.db") as connection:
        # What it asked for, and compared with 1.
        version = connection.execute("SELECT max(version) FROM schema_version").fetchone()
    connection.close()
    assert version == (2,)


def test_a_migration_that_fails_midway_changes_nothing(old: Path) -> None:
    path = old / "pegboard.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE run_events (x)")
    connection.close()
    before = tables(path)

    with pytest.raises(ConfigError, match="run_events already exists"):
        open_writer(path, NOON)

    assert tables(path) == before


def test_a_second_start_migrates_nothing(tmp_path: Path) -> None:
    path = tmp_path / "pegboard.db"
    open_writer(path, NOON).close()
    transaction = open_writer(path, NOON)
    changes = transaction.driver.total_changes
    migrate(transaction.core, NOON)
    after = transaction.driver.total_changes
    transaction.close()

    assert after == changes


def test_what_migrations_make_is_what_the_tables_say(empty: Connection) -> None:
    migrate(empty, NOON, to=REVISIONS[-1])
    context = MigrationContext.configure(empty, opts={"version_table": TABLE, "compare_type": True})

    assert compare_metadata(context, METADATA) == []


def test_the_schema_of_new_files_is_what_the_migrations_make(tmp_path: Path) -> None:
    transaction = open_writer(tmp_path / "pegboard.db", NOON)
    made = schema_of(transaction.core)
    transaction.close()

    assert made == migrated_schema(), "run: python tests/storage/schema_file.py"


def test_the_list_of_revisions_is_that_of_the_migrations() -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    script = ScriptDirectory.from_config(config)

    assert tuple(item.revision for item in script.walk_revisions())[::-1] == REVISIONS


def test_each_revision_follows_the_one_before() -> None:
    names = sorted(path.stem for path in (MIGRATIONS / "versions").glob("m0*.py"))
    modules = [import_module(f"pegboard.storage.migrations.versions.{name}") for name in names]

    assert tuple(module.revision for module in modules) == REVISIONS
    assert tuple(module.down_revision for module in modules) == (None, *REVISIONS[:-1])


@pytest.fixture(params=["sqlite", "postgres"])
def empty(request: pytest.FixtureRequest) -> Iterator[Connection]:
    """A database of either kind without anything in it."""
    url = "sqlite://"
    if request.param == "postgres":
        url = request.getfixturevalue("postgres_server").replace("://", "+psycopg://", 1)
    engine = create_engine(url)
    with engine.connect() as connection, connection.begin() as transaction:
        if request.param == "postgres":  # beside what other tests do there
            connection.execute(text("CREATE SCHEMA older"))
            connection.execute(text("SET LOCAL search_path TO older"))
        yield connection
        transaction.rollback()
    engine.dispose()


def test_the_third_revision_finds_out_when_plans_were_made(empty: Connection) -> None:
    migrate(empty, NOON, to="0002")
    bodies = {"new": '{"created_at": 1795327330.5, "text": "\\u0000"}', "mute": "{}"}
    for name, body in bodies.items():
        empty.execute(
            text("INSERT INTO plans (id, body) VALUES (:id, :body)"), {"id": name, "body": body}
        )
    migrate(empty, NOON)
    found = dict(empty.execute(text("SELECT id, created_at FROM plans")).all())

    assert found == {"new": 1795327330.5, "mute": 0}


def test_calls_from_before_the_sixth_revision_were_made_in_nobodys_place(
    empty: Connection,
) -> None:
    names = "call_id, tool, source, status, principal, tenant, run_id, started_at, body"
    older = text(f"INSERT INTO calls ({names}) VALUES (:id, 't', '', '', '', '', '', 1, '{{}}')")
    migrate(empty, NOON, to="0005")
    empty.execute(older, {"id": "before"})
    migrate(empty, NOON)
    empty.execute(older, {"id": "beside"})  # by a server that knows no more
    found = dict(empty.execute(text("SELECT call_id, instead_of FROM calls")).all())

    assert found == {"before": "", "beside": ""}


def tables(path: Path) -> set[str]:
    connection = sqlite3.connect(path)
    try:
        rows = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    finally:
        connection.close()
    return {row[0] for row in rows}
