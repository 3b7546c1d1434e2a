"""Real databases: SQLite files and a PostgreSQL server of our own."""

import shutil
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import duckdb
import psycopg
import pymysql
import pytest
from pymysql.constants import CLIENT
from tests.peers.mariadb import started_mariadb
from tests.peers.postgres import started_postgres
from tests.sources.sql.attacks import SCHEMA, SECRET

from pegboard.sources.sql import client
from pegboard.sources.sql.drivers import sqlite_schema

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
def mariadb_server() -> str:
    """The URL of a MariaDB that listens on a socket file only, with `{}` for the database."""
    return started_mariadb()


@pytest.fixture(scope="session")
def mariadb(mariadb_server: str) -> str:
    """The URL of a MariaDB with something to hide; nobody writes to it."""
    return mariadb_server.format(_filled(mariadb_server, "vault"))


@pytest.fixture
def mariadb_scratch(mariadb_server: str) -> str:
    """The URL of a database that a test may write to."""
    return mariadb_server.format(_filled(mariadb_server, "scratch"))


def mysql_connection(url: str) -> "pymysql.Connection[Any]":
    """A connection of the test's own."""
    parts = urlsplit(url)
    return pymysql.connect(
        unix_socket=parse_qs(parts.query)["unix_socket"][0],
        user="root",
        database=parts.path.strip("/") or None,
        autocommit=True,
        client_flag=CLIENT.MULTI_STATEMENTS,
    )


def _filled(server: str, name: str) -> str:
    with mysql_connection(server.format("")) as connection:
        script = f"DROP DATABASE IF EXISTS {name}; CREATE DATABASE {name}; USE {name};"
        script += SCHEMA.replace(" text", " varchar(100)") + _MORE_IN_MYSQL
        with connection.cursor() as cursor:
            cursor.execute(script)
            while cursor.nextset():
                pass
    return name


_MORE_IN_MYSQL = """
CREATE FUNCTION tell() RETURNS varchar(100) READS SQL DATA RETURN (SELECT secret FROM employee);
CREATE VIEW told AS SELECT tell() AS it;
CREATE VIEW users AS SELECT User FROM mysql.user;
CREATE TABLE kinds (id int PRIMARY KEY, price decimal(10, 2) COMMENT 'In euro', big bigint,
  ratio double, seen timestamp NULL, plain datetime(3), day date, hour time, year year, data blob,
  words text, flag bit(1), mood enum ('fine', 'bad')) COMMENT 'One of each';
"""


@pytest.fixture(scope="session")
def duckdb_vault(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A DuckDB file with something to hide; nobody writes to it."""
    path = tmp_path_factory.mktemp("duckdb") / "vault.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(SCHEMA + _MORE_IN_DUCKDB)
    return path


@pytest.fixture
def duckdb_scratch(duckdb_vault: Path, tmp_path: Path) -> Path:
    """A copy that a test may write to."""
    return Path(shutil.copy(duckdb_vault, tmp_path / "scratch.duckdb"))


_MORE_IN_DUCKDB = """
CREATE MACRO tell() AS (SELECT secret FROM employee LIMIT 1);
CREATE MACRO tell_all() AS TABLE SELECT * FROM employee;
CREATE VIEW told AS SELECT tell() AS it;
CREATE SEQUENCE counter;
CREATE SCHEMA music;
CREATE TABLE music.song AS SELECT 1 AS id;
CREATE TABLE kinds (id int PRIMARY KEY, huge hugeint, price decimal(10, 2), seen timestamptz,
  plain timestamp, day date, hour time, span interval, data blob, code uuid,
  pair struct(x int, y text), map map(text, int), list int[], mood enum ('fine', 'bad'),
  flag boolean, ratio double, doc json);
COMMENT ON TABLE kinds IS 'One of each';
COMMENT ON COLUMN kinds.price IS 'In euro';
"""


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
