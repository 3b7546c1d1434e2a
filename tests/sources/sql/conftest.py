"""Real databases: SQLite files and a PostgreSQL server of our own."""

import shutil
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from tests.peers.postgres import started_postgres
from tests.sources.sql.attacks import SCHEMA, SECRET

from pegboard.sources.sql import client, sqlite_schema

CHINOOK = Path(__file__).parents[3] / "examples" / "shop" / "chinook.db"


@pytest.fixture(autouse=True)
def nothing_is_given_up_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that stands still for a while makes no statement late that nobody calls late."""
    monkeypatch.setattr(client, "_GRACE_SECONDS", 60.0)
    monkeypatch.setattr(client.DatabaseClient, "_deadline", lambda *_: time.monotonic() + 60.0)
    monkeypatch.setattr(sqlite_schema, "_COUNTING", 60.0)


@pytest.fixture
def chinook(tmp_path: Path) -> Path:
    """A copy of the shop that a test may write to."""
    return Path(shutil.copy(CHINOOK, tmp_path / "chinook.db"))


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A SQLite file with something to hide."""
    path = tmp_path / "vault.db"
    _fill(path)
    return path


@pytest.fixture(scope="session")
def one_vault(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same for tests that only read."""
    path = tmp_path_factory.mktemp("vault") / "vault.db"
    _fill(path)
    return path


def _fill(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.executescript(SCHEMA)
    connection.close()


@pytest.fixture(scope="session")
def postgres_server() -> str:
    """The URL of an empty PostgreSQL that listens on a socket file only."""
    return started_postgres().get_uri()


@pytest.fixture(scope="session")
def postgres(postgres_server: str) -> str:
    """The URL of a PostgreSQL with something to hide; nobody writes to it."""
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {_PRISTINE}".encode())
    with psycopg.connect(database(postgres_server, _PRISTINE)) as connection:
        connection.execute((SCHEMA + _MORE).encode())
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE vault TEMPLATE {_PRISTINE}".encode())
    return database(postgres_server, "vault")


@pytest.fixture
def scratch(postgres: str, postgres_server: str) -> Iterator[str]:
    """The URL of a copy that a test may write to."""
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE scratch TEMPLATE {_PRISTINE}".encode())
        yield database(postgres_server, "scratch")
        connection.execute("DROP DATABASE scratch WITH (FORCE)")


_PRISTINE = "pristine"
"""Nobody connects to it: a database that somebody is still leaving cannot be copied."""


def database(url: str, name: str) -> str:
    """The URL of another database of the same server."""
    return url.replace("/postgres?", f"/{name}?")


_MORE = f"""
CREATE SEQUENCE counter;
CREATE MATERIALIZED VIEW staff_copy AS SELECT * FROM employee;
CREATE FUNCTION tell() RETURNS text LANGUAGE sql AS 'SELECT secret FROM employee LIMIT 1';
CREATE VIEW told AS SELECT tell();
CREATE TABLE employee_log (at date, what text) PARTITION BY RANGE (at);
CREATE TABLE audit_2020 PARTITION OF employee_log FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');
INSERT INTO employee_log VALUES ('2020-05-05', '{SECRET}');
CREATE TABLE event (at date, what text) PARTITION BY RANGE (at);
CREATE TABLE event_secret PARTITION OF event FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');
INSERT INTO event VALUES ('2020-05-05', '{SECRET}');
CREATE TABLE kinds (id int PRIMARY KEY, "Mixed Case" text, doc jsonb, tags text[],
  at timestamptz, plain timestamp, day date, hour time, span interval, price numeric(10,2),
  big bigint, ratio float8, data bytea, code uuid, net inet, span_of int4range, flag boolean);
COMMENT ON TABLE kinds IS 'One of each';
COMMENT ON COLUMN kinds.price IS 'In euro';
"""
