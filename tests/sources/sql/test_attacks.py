"""Every known way around a read-only guard, tried on real databases through the query tool."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psycopg
import pytest
from tests.sources.sql.attacks import (
    ATTACKS,
    DUCKDB_ATTACKS,
    HIDING,
    HIDING_MORE,
    MYSQL_ATTACKS,
    POSTGRESQL_ATTACKS,
    READS,
    SECRET,
    SQLITE_ATTACKS,
)
from tests.sources.sql.boards import Asker, opened, opened_once

from pegboard.errors import CallerError


@pytest.fixture
async def sqlite(one_vault: Path) -> AsyncIterator[Asker]:
    async with opened(f"sqlite:///{one_vault}", **HIDING) as asker:
        yield asker


@pytest.fixture
async def server(postgres: str) -> AsyncIterator[Asker]:
    async with opened(postgres, **HIDING_MORE) as asker:
        yield asker


@pytest.fixture(scope="module")
def duck(duckdb_vault: Path) -> Iterator[Asker]:
    yield from opened_once(f"duckdb:///{duckdb_vault}", **HIDING)


@pytest.fixture(scope="module")
def maria(mariadb: str) -> Iterator[Asker]:
    yield from opened_once(mariadb, **HIDING)


@pytest.mark.parametrize("sql", READS.values(), ids=READS)
async def test_sqlite_answers_what_only_reads(sqlite: Asker, sql: str) -> None:
    answer = await sqlite("query", sql=sql)

    assert answer["row_count"] >= 1
    assert SECRET not in str(answer)


@pytest.mark.parametrize("sql", READS.values(), ids=READS)
async def test_postgresql_answers_what_only_reads(server: Asker, sql: str) -> None:
    answer = await server("query", sql=sql)

    assert answer["row_count"] >= 1
    assert SECRET not in str(answer)


_SQLITE = ATTACKS | SQLITE_ATTACKS


@pytest.mark.parametrize("sql", _SQLITE.values(), ids=_SQLITE)
async def test_sqlite_refuses_whatever_does_more(sqlite: Asker, one_vault: Path, sql: str) -> None:
    before = _folder(one_vault)

    with pytest.raises(CallerError) as refused:
        await sqlite("query", sql=sql)

    assert SECRET not in str(refused.value)
    assert _folder(one_vault) == before


_POSTGRESQL = ATTACKS | POSTGRESQL_ATTACKS


@pytest.mark.parametrize("sql", _POSTGRESQL.values(), ids=_POSTGRESQL)
async def test_postgresql_refuses_whatever_does_more(
    server: Asker, postgres: str, sql: str
) -> None:
    with pytest.raises(CallerError) as refused:
        await server("query", sql=sql)

    assert SECRET not in str(refused.value)
    with psycopg.connect(postgres) as connection:
        counts = connection.execute("SELECT count(*) FROM artist").fetchone()
    assert counts == (3,)


@pytest.mark.parametrize("sql", READS.values(), ids=READS)
async def test_duckdb_answers_what_only_reads(duck: Asker, sql: str) -> None:
    answer = await duck("query", sql=sql)

    assert answer["row_count"] >= 1
    assert SECRET not in str(answer)


_DUCKDB = ATTACKS | DUCKDB_ATTACKS


@pytest.mark.parametrize("sql", _DUCKDB.values(), ids=_DUCKDB)
async def test_duckdb_refuses_whatever_does_more(duck: Asker, duckdb_vault: Path, sql: str) -> None:
    before = _folder(duckdb_vault)

    with pytest.raises(CallerError) as refused:
        await duck("query", sql=sql)

    assert SECRET not in str(refused.value)
    assert _folder(duckdb_vault) == before


# what MySQL and MariaDB write in another way
_MYSQL_READS = READS | {
    "values": "SELECT 1, 'a' UNION ALL SELECT 2, 'b'",
    "filter": "SELECT count(CASE WHEN id > 1 THEN 1 END) FROM artist",
    "cast": "SELECT CAST(id AS char(10)), round(1.5), coalesce(NULL, 'x') FROM artist",
    "quoted": "SELECT `name` AS `The Name` FROM `artist`",
    "comment": "SELECT name -- who\nFROM artist /* where ; DROP TABLE artist */ LIMIT 1;",
    "group-concat": "SELECT group_concat(DISTINCT name ORDER BY id SEPARATOR ';') FROM artist",
    "interval": "SELECT date_add('2020-01-01', INTERVAL 1 DAY), date_format(now(), '%Y')",
    "limit-with-comma": "SELECT name FROM artist ORDER BY id LIMIT 1, 2",
    "regexp": "SELECT name FROM artist WHERE name RLIKE '^N' OR name REGEXP 'x'",
    "json": "SELECT json_extract('{}', '$.a'), json_object('a', 1)",
}


@pytest.mark.parametrize("sql", _MYSQL_READS.values(), ids=_MYSQL_READS)
async def test_mariadb_answers_what_only_reads(maria: Asker, sql: str) -> None:
    answer = await maria("query", sql=sql)

    assert answer["row_count"] >= 1
    assert SECRET not in str(answer)


_MYSQL = ATTACKS | MYSQL_ATTACKS


@pytest.mark.parametrize("sql", _MYSQL.values(), ids=_MYSQL)
async def test_mariadb_refuses_whatever_does_more(maria: Asker, sql: str) -> None:
    with pytest.raises(CallerError) as refused:
        await maria("query", sql=sql)

    assert SECRET not in str(refused.value)


async def test_mariadb_has_lost_nothing_to_them(maria: Asker) -> None:
    assert await maria.rows("SELECT count(*) FROM artist") == [[3]]


async def test_a_hidden_table_is_refused_like_one_that_does_not_exist(sqlite: Asker) -> None:
    with pytest.raises(CallerError) as hidden:
        await sqlite("query", sql="SELECT * FROM employee")
    with pytest.raises(CallerError) as missing:
        await sqlite("query", sql="SELECT * FROM workers")

    assert str(hidden.value).replace("employee", "workers") == str(missing.value)


async def test_a_hidden_table_is_not_listed_described_or_referred_to(sqlite: Asker) -> None:
    listed = await sqlite("list_tables")
    described = await sqlite("describe_table", table="customer")

    assert [table["name"] for table in listed["tables"]] == [
        "album",
        "artist",
        "customer",
        "discs",
        "phonebook",
    ]
    assert [column["name"] for column in described["columns"]] == ["id", "name", "rep"]
    assert described["references"] == []
    assert "employee" not in sqlite.tools["query"].spec.description
    with pytest.raises(CallerError, match="Unknown table 'employee'"):
        await sqlite("describe_table", table="employee")


def _folder(file: Path) -> dict[str, bytes]:
    """The file and whatever lies beside it."""
    return {path.name: path.read_bytes() for path in file.parent.iterdir()}
