"""PostgreSQL for real: types, time, size, lost connections, writes, and its own enforcement."""

import asyncio
import socket
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from typing import Any

import psycopg
import pytest
from tests.sources.sql.attacks import HIDING_MORE
from tests.sources.sql.boards import Patient, opened, until

from pegboard.core.health import HealthStatus
from pegboard.errors import (
    ConfigError,
    InvalidRequest,
    SourceUnavailable,
    ToolFailed,
    ToolTimeout,
    Unavailable,
)
from pegboard.sources.sql import database
from pegboard.sources.sql.config import SqlConfig

ENDLESS = "SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b"


async def test_every_kind_of_value_is_typed(scratch: str) -> None:
    with psycopg.connect(scratch) as connection:
        connection.execute(
            "INSERT INTO kinds VALUES (1, 'x', '{\"a\": [1, 2.5]}', '{p,q}', "
            "'2020-01-02 03:04:05.5+02', '2020-01-02 03:04:05', '0044-03-15 BC', '10:11:12', "
            "'1 mon 2 days 3 sec', 12.30, 9007199254740993, 'NaN', '\\x00ff', "
            "'b9d2ae30-0000-4000-8000-000000000001', '10.0.0.1', '[1,5)', true)"
        )
    async with opened(scratch) as ask:
        answer = await ask("query", sql="SELECT * FROM kinds")

    assert answer["rows"] == [
        {
            "id": 1,
            "Mixed Case": "x",
            "doc": {"a": [1, 2.5]},
            "tags": ["p", "q"],
            "at": "2020-01-02T01:04:05.5+00:00",
            "plain": "2020-01-02T03:04:05",
            "day": "0044-03-15 BC",
            "hour": "10:11:12",
            "span": "P1M2DT3S",
            "price": 12.3,
            "big": "9007199254740993",
            "ratio": "NaN",
            "data": {"base64": "AP8="},
            "code": "b9d2ae30-0000-4000-8000-000000000001",
            "net": "10.0.0.1",
            "span_of": "[1, 5)",
            "flag": True,
        }
    ]
    types = {column["name"]: column["type"] for column in answer["columns"]}
    assert types["tags"] == "text[]"
    assert types["price"] == "numeric"


async def test_a_table_is_described_with_comments_and_keys(postgres: str) -> None:
    async with opened(postgres) as ask:
        kinds = await ask("describe_table", table="kinds")
        album = await ask("describe_table", table="album")

    assert kinds["description"] == "One of each"
    columns = {column["name"]: column for column in kinds["columns"]}
    assert columns["price"] == {
        "name": "price",
        "type": "numeric(10,2)",
        "nullable": True,
        "description": "In euro",
    }
    assert album["references"] == [{"columns": ["artist_id"], "table": "artist", "to": ["id"]}]
    assert album["primary_key"] == ["id"]


@pytest.mark.parametrize(
    "sql", ['SELECT "Mixed Case" FROM kinds', "SELECT k.ID, K.id FROM Kinds K"]
)
async def test_names_fold_as_postgresql_folds_them(postgres: str, sql: str) -> None:
    async with opened(postgres) as ask:
        assert await ask.rows(sql) == []


async def test_a_quoted_name_is_exact(postgres: str) -> None:
    async with opened(postgres) as ask:
        with pytest.raises(InvalidRequest, match="Unknown table '\"Artist\"'"):
            await ask("query", sql='SELECT * FROM "Artist"')


@pytest.mark.parametrize(
    ("sql", "parameters", "rows"),
    [
        ("SELECT name FROM artist WHERE id = $1", [1], [["Nina"]]),
        ("SELECT name FROM artist WHERE name = :n OR name = :n", {"n": "Ella"}, [["Ella"]]),
        ("SELECT name FROM artist WHERE id = ANY($1) ORDER BY id", [[1, 3]], [["Nina"], ["Ella"]]),
        ("SELECT $1::text", ["'; DROP TABLE artist; --"], [["'; DROP TABLE artist; --"]]),
        ("SELECT coalesce($1, 5)", [None], [[5]]),
    ],
)
async def test_parameters_are_bound_by_the_server(
    postgres: str, sql: str, parameters: Any, rows: list[list[Any]]
) -> None:
    async with opened(postgres) as ask:
        assert await ask.rows(sql, parameters=parameters) == rows


async def test_rows_are_paged(postgres: str) -> None:
    sql = "SELECT n FROM generate_series(1, 250) n ORDER BY n"
    async with opened(postgres, max_rows=100) as ask:
        first = await ask("query", sql=sql)
        last = await ask("query", sql=sql, offset=200, limit=60)

    assert (first["row_count"], first["next_offset"]) == (100, 100)
    assert (last["rows"][0], last["row_count"], last["truncated"]) == ({"n": 201}, 50, False)


async def test_the_order_that_was_asked_for_is_kept(postgres: str) -> None:
    sql = "SELECT n FROM generate_series(1, 3000) n ORDER BY n % 7, n DESC"
    async with opened(postgres, max_rows=5000) as ask:
        rows = await ask.rows(sql)

    assert rows == [[n] for n in sorted(range(1, 3001), key=lambda n: (n % 7, -n))]


async def test_a_statement_that_never_ends_is_interrupted(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(postgres, statement_timeout=0.4) as ask:
        with pytest.raises(InvalidRequest, match=r"longer than 0\.4 s"):
            await ask("query", sql=ENDLESS)

        monkeypatch.setattr(database, "time", Patient)
        assert await ask.rows("SELECT 1") == [[1]]


async def test_one_that_nobody_waits_for_ends_on_the_server(postgres: str) -> None:
    async with opened(postgres, statement_timeout=60) as ask:
        running = asyncio.create_task(ask("query", sql=ENDLESS))
        await until(lambda: _active(postgres) == 1)
        running.cancel()
        await asyncio.wait({running})

        await until(lambda: _active(postgres) == 0)
        assert await ask.rows("SELECT 1") == [[1]]


def _connected(url: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pegboard'"
        ).fetchone()
    assert row is not None
    return row[0]


def _active(url: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' "
            "AND application_name = 'pegboard'"
        ).fetchone()
    assert row is not None
    return int(row[0])


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        (
            "SELECT nam FROM artist",
            (
                "PostgreSQL: column \"nam\" does not exist (near 'nam FROM artist'). "
                "Did you mean name?"
            ),
        ),
        ("SELECT 1/0", "PostgreSQL: division by zero."),
        (
            "SELECT 'x'::int",
            "PostgreSQL: invalid input syntax for type integer: \"x\" (near ''x'::int').",
        ),
        ("SELECT name FROM artist, album x JOIN artist y ON true", "PostgreSQL: column reference "),
    ],
)
async def test_a_mistake_is_placed_and_hinted_at(postgres: str, sql: str, message: str) -> None:
    async with opened(postgres) as ask:
        with pytest.raises(InvalidRequest) as refused:
            await ask("query", sql=sql)

    assert str(refused.value).startswith(message)


@pytest.mark.slow
async def test_the_servers_own_hint_is_not_given_for_it_names_hidden_columns(
    postgres: str,
) -> None:
    async with opened(postgres, **HIDING_MORE) as ask:
        with pytest.raises(InvalidRequest) as refused:
            await ask("query", sql="SELECT emial FROM customer")

    assert "email" not in str(refused.value)


@contextmanager
def _silent_server() -> Generator[int]:
    """Something that takes connections and never says a word."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        yield server.getsockname()[1]


async def test_a_server_that_never_answers_is_given_up(postgres_server: str) -> None:
    with _silent_server() as port:
        started = time.monotonic()
        with pytest.raises(SourceUnavailable, match="does not answer; check host") as refused:
            async with opened(f"postgresql://u:hush@127.0.0.1:{port}/d", connect_timeout=2):
                pass

    assert time.monotonic() - started < 40
    assert "hush" not in str(refused.value)
    assert "127.0.0.1" not in str(refused.value)


async def test_a_closed_port_is_told_at_once() -> None:
    started = time.monotonic()

    with socket.socket() as taken:  # it does not listen, and nobody else is given its port
        taken.bind(("127.0.0.1", 0))
        url = f"postgresql://u:hush@127.0.0.1:{taken.getsockname()[1]}/d"
        with pytest.raises(SourceUnavailable, match="nothing listens there") as refused:
            async with opened(url, connect_timeout=60):
                pass

    assert time.monotonic() - started < 40
    assert "hush" not in str(refused.value)


@pytest.mark.timeout(60)
async def test_health_of_a_server_that_is_not_there_has_a_deadline() -> None:
    from pegboard.core.ports.services import Services
    from pegboard.sources.sql import KIND

    with _silent_server() as port:
        config = SqlConfig.model_validate({"url": f"postgresql://u:hush@127.0.0.1:{port}/d"})
        source = await KIND.open("shop", config, Services())
        started = time.monotonic()
        health = await source.health()
        await source.close()

    assert time.monotonic() - started < 40
    assert health.status is HealthStatus.UNHEALTHY
    assert "hush" not in health.reason


async def test_a_database_or_user_that_does_not_exist_is_told(postgres_server: str) -> None:
    with pytest.raises(SourceUnavailable, match="the user or the database in `url`"):
        async with opened(postgres_server.replace("/postgres?", "/nowhere?")):
            pass
    with pytest.raises(SourceUnavailable, match="the user or the database in `url`"):
        async with opened(postgres_server.replace("postgres:@", "nobody:hush@")):
            pass


async def test_a_url_that_cannot_be_read_is_a_mistake_of_the_file() -> None:
    with pytest.raises(ConfigError, match="percent-encode") as refused:
        async with opened("postgresql://u:hu%sh@h/d"):
            pass

    assert "hu%sh" not in str(refused.value)


async def test_connections_that_the_server_closed_are_made_anew(postgres: str) -> None:
    async with opened(postgres) as ask:
        await ask.rows("SELECT 1")
        with psycopg.connect(postgres) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE application_name = 'pegboard' AND datname = current_database()"
            )

        assert await ask.rows("SELECT 1") == [[1]]


async def test_a_connection_that_breaks_in_the_middle_is_worth_another_try(postgres: str) -> None:
    async with opened(postgres) as ask:
        running = asyncio.create_task(ask("query", sql=ENDLESS))
        await until(lambda: _active(postgres) == 1)
        with psycopg.connect(postgres) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE application_name = 'pegboard' AND state = 'active'"
            )
        with pytest.raises(Unavailable) as lost:
            await running

        assert lost.value.retryable
        assert await ask.rows("SELECT 1") == [[1]]


async def test_more_callers_than_connections_take_turns(postgres: str) -> None:
    async with opened(postgres, max_connections=2) as ask:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(ask.rows(f"SELECT {n}")) for n in range(20)]
        connected = _connected(postgres)

    assert [task.result() for task in tasks] == [[[n]] for n in range(20)]
    assert connected <= 2


async def test_nothing_stays_connected_after_closing(postgres: str) -> None:
    async with opened(postgres) as ask:
        await ask.rows("SELECT 1")
        assert _connected(postgres) == 1

    await until(lambda: _connected(postgres) == 0)


async def test_only_the_schemas_that_are_named_are_seen(scratch: str) -> None:
    with psycopg.connect(scratch) as connection:
        connection.execute("CREATE SCHEMA music; CREATE TABLE music.song AS SELECT 1 AS id")
    async with opened(scratch) as ask:
        with pytest.raises(InvalidRequest, match=r"Unknown table 'music\.song'"):
            await ask("query", sql="SELECT * FROM music.song")
    async with opened(scratch, schemas=("music", "public")) as ask:
        listed = await ask("list_tables", search="song")
        rows = await ask.rows("SELECT * FROM song")
        other = await ask.rows("SELECT count(*) FROM public.artist")

    assert [table["name"] for table in listed["tables"]] == ["song"]
    assert (rows, other) == ([[1]], [[3]])


async def test_what_the_role_may_not_read_is_not_listed(scratch: str) -> None:
    with psycopg.connect(scratch) as connection:
        connection.execute(
            "DROP ROLE IF EXISTS clerk; CREATE ROLE clerk LOGIN;"
            "GRANT SELECT ON artist TO clerk; GRANT SELECT (id) ON album TO clerk"
        )
    async with opened(scratch.replace("postgres:@", "clerk:@")) as ask:
        listed = await ask("list_tables")
        with pytest.raises(ToolFailed, match="lacks the permission"):
            await ask("query", sql="SELECT title FROM album")

    assert [table["name"] for table in listed["tables"]] == ["album", "artist"]


async def test_writes_are_kept_counted_and_limited(scratch: str) -> None:
    async with opened(scratch, allow_writes=True, max_affected_rows=2) as ask:
        inserted = await ask(
            "execute",
            sql="INSERT INTO artist VALUES ($1, $2) RETURNING id, name",
            parameters=[9, "x"],
        )
        updated = await ask("execute", sql="UPDATE artist SET name = 'y' WHERE id = 9")
        for sql in ("UPDATE artist SET name = 'z'", "UPDATE artist SET name = 'z' RETURNING id"):
            with pytest.raises(InvalidRequest, match="Nothing was changed"):
                await ask("execute", sql=sql)
        rows = await ask.rows("SELECT name FROM artist ORDER BY id")

    assert inserted["rows"] == [{"id": 9, "name": "x"}]
    assert (inserted["affected_rows"], updated) == (1, {"affected_rows": 1})
    assert rows == [["Nina"], ["Miles"], ["Ella"], ["y"]]


async def test_a_broken_constraint_is_named_without_its_values(scratch: str) -> None:
    async with opened(scratch, allow_writes=True) as ask:
        with pytest.raises(InvalidRequest) as refused:
            await ask("execute", sql="INSERT INTO artist VALUES (1, 'x')")

    assert str(refused.value) == (
        'PostgreSQL: duplicate key value violates unique constraint "artist_pkey".'
    )


async def test_a_lock_that_somebody_holds_is_worth_another_try(scratch: str) -> None:
    with psycopg.connect(scratch) as connection:
        connection.execute("LOCK TABLE artist IN EXCLUSIVE MODE")
        async with opened(scratch, allow_writes=True) as ask:
            ask.seconds = 1
            with pytest.raises((Unavailable, ToolTimeout)) as late:
                await ask("execute", sql="DELETE FROM artist WHERE id = 3")
        connection.rollback()

    assert late.value.retryable
