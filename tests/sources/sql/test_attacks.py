"""Every known way around a read-only guard, tried on real databases through the query tool."""

from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest
from tests.sources.sql.attacks import (
    ATTACKS,
    HIDING,
    HIDING_MORE,
    POSTGRESQL_ATTACKS,
    READS,
    SECRET,
    SQLITE_ATTACKS,
)
from tests.sources.sql.boards import Asker, opened

from pegboard.errors import CallerError


@pytest.fixture
async def sqlite(one_vault: Path) -> AsyncIterator[Asker]:
    async with opened(f"sqlite:///{one_vault}", **HIDING) as asker:
        yield asker


@pytest.fixture
async def server(postgres: str) -> AsyncIterator[Asker]:
    async with opened(postgres, **HIDING_MORE) as asker:
        yield asker


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
