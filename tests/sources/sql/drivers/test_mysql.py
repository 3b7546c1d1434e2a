"""MariaDB for real: types, time, size, lost connections, writes, and its own enforcement."""

import asyncio
import socket
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pymysql
import pytest
from tests.sources.sql.attacks import HIDING
from tests.sources.sql.boards import Asker, Patient, opened, opened_once, until
from tests.sources.sql.conftest import mysql_connection

from pegboard.errors import (
    CallerError,
    ConfigError,
    InvalidRequest,
    SourceUnavailable,
    Unavailable,
)
from pegboard.sources.sql import database
from pegboard.sources.sql.catalog import build_catalog
from pegboard.sources.sql.config import SqlConfig
from pegboard.sources.sql.driver import Statement, StatementRequest, StatementResult
from pegboard.sources.sql.drivers.mysql import MysqlDriver
from pegboard.sources.sql.lexer import LexedStatement

NUMBERS = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 250) "
ENDLESS = (
    "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 5000) "
    "SELECT count(*) FROM t a, t b, t c WHERE a.n + b.n <> c.n"
)


@pytest.fixture(scope="module")
def maria(mariadb: str) -> Iterator[Asker]:
    yield from opened_once(mariadb)


async def test_every_kind_of_value_is_typed(mariadb_scratch: str) -> None:
    with mysql_connection(mariadb_scratch) as connection, connection.cursor() as cursor:
        cursor.execute(
            "SET time_zone = '+00:00'; INSERT INTO kinds VALUES (1, 12.30, 9007199254740993, 0.5, "
            "'2020-01-02 03:04:05', '2020-01-02 03:04:05.5', '2020-01-02', '10:11:12', 1999, "
            "x'00ff', 'it''s', b'1', 'fine')",
            None,
        )
        cursor.nextset()
    async with opened(mariadb_scratch) as ask:
        answer = await ask("query", sql="SELECT * FROM kinds")

    assert answer["rows"] == [
        {
            "id": 1,
            "price": 12.3,
            "big": "9007199254740993",
            "ratio": 0.5,
            "seen": "2020-01-02T03:04:05+00:00",
            "plain": "2020-01-02T03:04:05.500000",
            "day": "2020-01-02",
            "hour": "10:11:12",
            "year": 1999,
            "data": {"base64": "AP8="},
            "words": "it's",
            "flag": 1,
            "mood": "fine",
        }
    ]
    types = {column["name"]: column["type"] for column in answer["columns"]}
    assert (types["price"], types["data"], types["words"]) == ("decimal", "blob", "text")


async def test_a_table_is_described_with_comments_keys_and_rows(maria: Asker) -> None:
    kinds = await maria("describe_table", table="kinds")
    album = await maria("describe_table", table="album")

    assert kinds["description"] == "One of each"
    columns = {column["name"]: column for column in kinds["columns"]}
    assert columns["price"] == {
        "name": "price",
        "type": "decimal(10,2)",
        "nullable": True,
        "description": "In euro",
    }
    assert album["primary_key"] == ["id"]
    assert isinstance(album["rows"], int)
    assert {value for column in album["columns"] for value in column["samples"]} >= {"Blue", 10}


async def test_a_foreign_key_is_told_in_both_directions(mariadb_scratch: str) -> None:
    with mysql_connection(mariadb_scratch) as connection, connection.cursor() as cursor:
        cursor.execute("ALTER TABLE album ADD FOREIGN KEY (artist_id) REFERENCES artist (id)", None)
    async with opened(mariadb_scratch) as ask:
        album = await ask("describe_table", table="album")
        artist = await ask("describe_table", table="artist")

    expected = {"columns": ["artist_id"], "to": ["id"]}
    assert {"table": "artist", **expected} in album["references"]
    assert {"table": "album", **expected} in artist["referenced_by"]


async def test_a_view_is_hidden_with_what_it_reads_or_calls(mariadb: str) -> None:
    async with opened(mariadb, **HIDING) as ask:
        listed = await ask("list_tables")

    assert [table["name"] for table in listed["tables"]] == [
        "album",
        "artist",
        "customer",
        "discs",
        "kinds",
        "phonebook",
        "users",
    ]


@pytest.mark.parametrize(
    ("sql", "parameters", "rows"),
    [
        ("SELECT name FROM artist WHERE id = ?", [1], [["Nina"]]),
        ("SELECT name FROM artist WHERE name = :n OR name = :n", {"n": "Ella"}, [["Ella"]]),
        ("SELECT ?", ["'; DROP TABLE artist; -- \\' %s"], [["'; DROP TABLE artist; -- \\' %s"]]),
        ("SELECT ?", ["\N{SNOWMAN} \N{PILE OF POO}"], [["\N{SNOWMAN} \N{PILE OF POO}"]]),
        ("SELECT ? = ''", [""], [[1]]),
        ("SELECT coalesce(?, 5)", [None], [[5]]),
        ("SELECT 7 -?", [-2], [[9]]),
        ("SELECT ?, ?", [True, 1.5], [[1, 1.5]]),
        ("SELECT name FROM artist WHERE name LIKE ? ORDER BY id LIMIT ?", ["%i%", 1], [["Nina"]]),
    ],
)
async def test_parameters_arrive_as_they_were_given(
    maria: Asker, sql: str, parameters: Any, rows: list[list[Any]]
) -> None:
    assert await maria.rows(sql, parameters=parameters) == rows


async def test_rows_are_paged_with_and_without_a_limit_in_the_statement(mariadb: str) -> None:
    async with opened(mariadb, max_rows=100, max_connections=1) as ask:
        first = await ask("query", sql=NUMBERS + "SELECT n FROM t ORDER BY n")
        last = await ask("query", sql=NUMBERS + "SELECT n FROM t ORDER BY n", offset=200, limit=60)
        own = await ask("query", sql=NUMBERS + "SELECT n FROM t ORDER BY n LIMIT 240")
        after = await ask.rows("SELECT 1")

    assert (first["row_count"], first["next_offset"]) == (100, 100)
    assert (last["rows"][0], last["row_count"], last["truncated"]) == ({"n": 201}, 50, False)
    assert (own["row_count"], own["truncated"], after) == (100, True, [[1]])


async def test_two_columns_of_one_name_are_told_apart(maria: Asker) -> None:
    answer = await maria("query", sql="SELECT a.id, b.id FROM artist a JOIN album b ON b.id = 10")

    assert list(answer["rows"][0]) == ["id", "id_2"]


@pytest.mark.timeout(60)
async def test_a_statement_that_never_ends_is_stopped_by_the_server(
    mariadb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(mariadb, statement_timeout=0.4) as ask:
        with pytest.raises(InvalidRequest, match=r"longer than 0\.4 s"):
            await ask("query", sql=ENDLESS)

        monkeypatch.setattr(database, "time", Patient)
        assert await ask.rows("SELECT 1") == [[1]]


@pytest.mark.timeout(60)
async def test_one_that_nobody_waits_for_ends_on_the_server(mariadb: str) -> None:
    async with opened(mariadb, statement_timeout=60) as ask:
        running = asyncio.create_task(ask("query", sql=ENDLESS))
        await until(lambda: _active(mariadb) == 1)
        running.cancel()
        await asyncio.wait({running})

        await until(lambda: _active(mariadb) == 0)
        assert await ask.rows("SELECT 1") == [[1]]


def _active(url: str) -> int:
    with mysql_connection(url) as connection, connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE '%t a, t b, t c%' "
            "AND ID <> CONNECTION_ID()",
            None,
        )
        [[count]] = cursor.fetchall()
    return int(count)


async def test_connections_that_the_server_closed_are_made_anew(mariadb: str) -> None:
    async with opened(mariadb) as ask:
        [[number]] = await _numbers(mariadb)
        with mysql_connection(mariadb) as connection, connection.cursor() as cursor:
            cursor.execute(f"KILL {number}", None)

        assert await ask.rows("SELECT 1") == [[1]]


async def _numbers(url: str) -> list[list[int]]:
    with mysql_connection(url) as connection, connection.cursor() as cursor:
        cursor.execute(
            "SELECT max(ID) FROM information_schema.PROCESSLIST WHERE DB = 'vault' "
            "AND ID <> CONNECTION_ID()",
            None,
        )
        return [list(row) for row in cursor.fetchall()]


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        (
            "SELECT nam FROM artist",
            r"MySQL: Unknown column 'nam' in '\w+( \w+)?'\. Did you mean name\?",
        ),
        ("SELECT name FROM artist GROUP BY", "MySQL: You have an error in your SQL syntax"),
        ("SELECT id FROM artist JOIN album ON true", "MySQL: Column 'id' in .* is ambiguous"),
    ],
)
async def test_a_mistake_is_told(maria: Asker, sql: str, message: str) -> None:
    with pytest.raises(InvalidRequest, match=message):
        await maria("query", sql=sql)


async def test_what_is_wrong_with_the_url_is_told_without_its_secrets(
    mariadb_server: str, mariadb: str
) -> None:
    for url, message in [
        (mariadb_server.format("nowhere"), "the database in `url` does not exist"),
        (mariadb.replace("root@", "nobody:hush@"), "the user or the password in `url` is wrong"),
    ]:
        with pytest.raises(SourceUnavailable, match=message) as refused:
            async with opened(url):
                pass
        assert "hush" not in str(refused.value)
    for url in ("mysql://u:hush@h/", "mysql://u:hush@h/d?local_infile=1", "mysql://u:hush@h:x/d"):
        with pytest.raises(ConfigError) as wrong:
            async with opened(url):
                pass
        assert "hush" not in str(wrong.value)


async def test_a_closed_port_is_told_without_its_address() -> None:
    with closing(socket.socket()) as taken:  # it does not listen, and nobody else is given its port
        taken.bind(("127.0.0.1", 0))
        url = f"mysql://u:hush@127.0.0.1:{taken.getsockname()[1]}/d"
        with pytest.raises(SourceUnavailable, match="no server answers there") as refused:
            async with opened(url):
                pass

    assert "127.0.0.1" not in str(refused.value)


async def test_writes_are_stored_counted_and_limited(mariadb_scratch: str) -> None:
    async with opened(mariadb_scratch, allow_writes=True, max_affected_rows=2, **HIDING) as ask:
        inserted = await ask(
            "execute",
            sql="INSERT INTO artist (id, name) VALUES (?, ?) RETURNING id, name",
            parameters=[9, "x"],
        )
        updated = await ask("execute", sql="UPDATE artist SET name = 'y' WHERE id = 9")
        upserted = await ask(
            "execute",
            sql="INSERT INTO artist (id, name) VALUES (9, 'z') ON DUPLICATE KEY UPDATE name = 'z'",
        )
        with pytest.raises(InvalidRequest, match="Nothing was changed"):
            await ask("execute", sql="UPDATE artist SET name = 'q'")
        for sql in (
            "UPDATE employee SET name = 'x'",
            "UPDATE customer SET email = 'x'",
            "UPDATE artist a JOIN employee e ON e.id = a.id SET e.name = 'x'",
            "INSERT INTO artist SELECT id + 50, secret FROM employee",
            "INSERT INTO customer VALUES (8, 'a', 'b', 1)",
            "INSERT INTO customer SET email = 'x'",
            "DELETE e FROM employee e",
            "REPLACE INTO artist VALUES (1, 'x')",
            "INSERT INTO artist (id) VALUES (10) ON DUPLICATE KEY UPDATE name = LOAD_FILE('/x')",
        ):
            with pytest.raises(CallerError):
                await ask("execute", sql=sql)
        rows = await ask.rows("SELECT name FROM artist ORDER BY id")

    assert inserted["rows"] == [{"id": 9, "name": "x"}]
    assert (updated["affected_rows"], upserted["affected_rows"]) == (1, 2)
    assert rows == [["Nina"], ["Miles"], ["Ella"], ["z"]]


async def test_a_lock_that_somebody_holds_is_worth_another_try(mariadb_scratch: str) -> None:
    with mysql_connection(mariadb_scratch) as connection, connection.cursor() as cursor:
        cursor.execute("BEGIN", None)
        cursor.execute("UPDATE artist SET name = 'held' WHERE id = 3", None)
        async with opened(mariadb_scratch, allow_writes=True, statement_timeout=2) as ask:
            ask.seconds = 2
            with pytest.raises(Unavailable) as late:
                await ask("execute", sql="DELETE FROM artist WHERE id = 3")

    assert late.value.retryable


class Bare:
    """A session that runs text as it is, with the tables that a guard might have found."""

    def __init__(self, url: str) -> None:
        config = SqlConfig.model_validate({"url": url, **HIDING})
        self.session = MysqlDriver(config).connect(write=False)
        tables, _ = self.session.tables(time.monotonic() + 60)
        self.catalog = build_catalog(config, tables)

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


@pytest.fixture(scope="module")
def bare(mariadb: str) -> Iterator[Bare]:
    made = Bare(mariadb)
    yield made
    made.session.close()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM employee",
        "SELECT * FROM employee WHERE id = 1",
        "SELECT count(*) FROM employee",
        "SELECT * FROM artist, employee",
        "SELECT (SELECT secret FROM employee WHERE id = 1) FROM artist",
        "SELECT * FROM staff",
        "SELECT * FROM managers",
        "SELECT tell() FROM artist",
        "SELECT User FROM mysql.user",
        "WITH artist AS (SELECT * FROM employee) SELECT * FROM artist",
        "SELECT 1; SELECT 2",
        "SELECT 1; DELETE FROM artist",
        "DELETE FROM artist",
        "CREATE TABLE x (a int)",
        "CREATE TEMPORARY TABLE x (a int)",
        "COMMIT; DELETE FROM artist",
        "SET SESSION TRANSACTION READ WRITE",
        "DROP TABLE artist",
    ],
)
def test_the_server_itself_refuses_what_the_guard_has_not_seen(bare: Bare, sql: str) -> None:
    with pytest.raises((pymysql.Error, InvalidRequest)):
        bare.read(sql, "artist")

    assert bare.read("SELECT count(*) FROM artist", "artist").rows == [[3]]


def test_a_session_stays_read_only_after_its_transaction(bare: Bare) -> None:
    with pytest.raises(pymysql.Error, match="READ ONLY"):
        bare.session._run("CREATE TABLE x (a int)")


def test_a_view_may_read_what_it_was_made_for(bare: Bare) -> None:
    assert bare.read("SELECT * FROM phonebook", "phonebook").rows == [[1, "Ann"]]
