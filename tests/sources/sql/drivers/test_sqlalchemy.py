"""Other databases through SQLAlchemy, proved on servers that speak the protocol of one of them.

SQLAlchemy finds a dialect by its name, so its own dialects of PostgreSQL and MySQL stand here for
databases that speak the same protocol: the names are those of the others, and all else is real.
"""

import sys
import time
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
from sqlalchemy.dialects import registry
from tests.sources.sql.attacks import ATTACKS, HIDING, READS, SECRET
from tests.sources.sql.boards import Asker, Patient, opened, opened_once

from pegboard.core.ports.services import Services
from pegboard.core.ports.source import Source, SourceKind
from pegboard.errors import CallerError, ConfigError, InvalidRequest, SourceUnavailable
from pegboard.sources.sql import KIND, database
from pegboard.sources.sql.config import SqlConfig
from pegboard.sources.sql.drivers.sqlalchemy import SqlalchemyDriver
from pegboard.testing import SourceContract

_POSTGRESQL = ("sqlalchemy.dialects.postgresql.psycopg", "PGDialect_psycopg")
_MYSQL = ("sqlalchemy.dialects.mysql.pymysql", "MySQLDialect_pymysql")
registry.register("materialize", *_POSTGRESQL)
registry.register("cockroachdb", *_POSTGRESQL)
registry.register("doris", *_MYSQL)

HIDING_ALL: dict[str, Any] = {**HIDING, "hidden_tables": ("employee", "employee_log", "*_secret")}


def cockroach(url: str) -> str:
    """The URL of a PostgreSQL as one of a database that takes writes."""
    return url.replace("postgresql://", "cockroachdb://")


class TestOtherSource(SourceContract):
    kind: ClassVar[SourceKind] = KIND
    least_tools: ClassVar[int] = 4

    @pytest.fixture(autouse=True)
    def _use(self, postgres: str) -> None:
        self.url = cockroach(postgres)

    async def open_source(self) -> Source:
        config = SqlConfig.model_validate({"url": self.url, "allow_writes": True})
        return await KIND.open("shop", config, Services())


@pytest.fixture(scope="module")
def materialize(postgres: str) -> Iterator[Asker]:
    url = postgres.replace("postgresql://", "materialize://")
    yield from opened_once(url, **HIDING_ALL)


@pytest.fixture(scope="module")
def doris(mariadb: str) -> Iterator[Asker]:
    yield from opened_once(mariadb.replace("mysql://", "doris://"), **HIDING)


# what neither side shows: a view of unknown content, and the plan of a query
_READS = {name: sql for name, sql in READS.items() if name not in {"explain", "view"}}
_ATTACKS = ATTACKS | {
    "explain": "EXPLAIN SELECT * FROM artist",
    "a-view-where-something-is-hidden": "SELECT * FROM discs",
    "backslash": "SELECT 'it\\'s' FROM artist",
    "comment-that-runs": "SELECT 1 /*! FROM employee */ FROM employee",
    "slashes": "SELECT 1 // 2 FROM artist",
    "sequence": "SELECT nextval('counter')",
    "sequence-by-words": "SELECT NEXT VALUE FOR counter",
    "version": "SELECT * FROM artist FOR VERSION AS OF 3",
    "catalogue": "SELECT * FROM information_schema.tables",
    "file": "SELECT pg_read_file('/etc/passwd')",
    "quoted-call": 'SELECT "lower"(name) FROM artist',
    "sleep": "SELECT pg_sleep(9), sleep(9)",
}


@pytest.mark.parametrize("sql", _READS.values(), ids=_READS)
async def test_it_answers_what_only_reads(materialize: Asker, sql: str) -> None:
    answer = await materialize("query", sql=sql)

    assert answer["row_count"] >= 1
    assert SECRET not in str(answer)


@pytest.mark.parametrize("sql", _ATTACKS.values(), ids=_ATTACKS)
async def test_it_refuses_whatever_does_more(materialize: Asker, sql: str) -> None:
    with pytest.raises(CallerError) as refused:
        await materialize("query", sql=sql)

    assert SECRET not in str(refused.value)


# what the protocol of MySQL writes in another way
_MYSQL_READS = _READS | {
    "values": "SELECT 1, 'a' UNION ALL SELECT 2, 'b'",
    "filter": "SELECT count(CASE WHEN id > 1 THEN 1 END) FROM artist",
    "cast": "SELECT CAST(id AS char(10)), round(1.5), coalesce(NULL, 'x') FROM artist",
    "quoted": "SELECT `name` AS `The Name` FROM `artist`",
}


@pytest.mark.parametrize("sql", _MYSQL_READS.values(), ids=_MYSQL_READS)
async def test_it_answers_what_only_reads_in_the_protocol_of_mysql(doris: Asker, sql: str) -> None:
    answer = await doris("query", sql=sql)

    assert answer["row_count"] >= 1
    assert SECRET not in str(answer)


@pytest.mark.parametrize("sql", _ATTACKS.values(), ids=_ATTACKS)
async def test_it_refuses_whatever_does_more_in_the_protocol_of_mysql(
    doris: Asker, sql: str
) -> None:
    with pytest.raises(CallerError) as refused:
        await doris("query", sql=sql)

    assert SECRET not in str(refused.value)


async def test_tables_are_listed_and_described_with_samples(postgres: str) -> None:
    async with opened(cockroach(postgres)) as ask:
        listed = await ask("list_tables", search="album")
        album = await ask("describe_table", table="album")
        kinds = await ask("describe_table", table="kinds")

    assert listed["tables"] == [{"name": "album", "kind": "table", "rows": None}]
    assert album["primary_key"] == ["id"]
    assert album["references"] == [{"columns": ["artist_id"], "table": "artist", "to": ["id"]}]
    assert album["columns"][1]["samples"] == ["Blue", "Pastel", "Kind"]
    columns = {column["name"]: column for column in kinds["columns"]}
    assert (kinds["description"], columns["price"]["description"]) == ("One of each", "In euro")
    assert (columns["price"]["type"], columns["Mixed Case"]["type"]) == ("numeric(10, 2)", "text")


@pytest.mark.parametrize(
    ("sql", "parameters", "rows"),
    [
        ("SELECT name FROM Artist WHERE id = ?", [1], [["Nina"]]),
        ("SELECT name FROM artist WHERE name = :n OR name = :n", {"n": "Ella"}, [["Ella"]]),
        ("SELECT name FROM artist WHERE name LIKE ?", ["%e_'%"], []),
        ("SELECT ?, ': x :y', '5%'", ["'; --:p1"], [["'; --:p1", ": x :y", "5%"]]),
        ("SELECT '12:30:45 :p1 ?' FROM artist LIMIT ?", [1], [["12:30:45 :p1 ?"]]),
    ],
)
async def test_parameters_are_bound_and_other_colons_are_text(
    postgres: str, sql: str, parameters: Any, rows: list[list[Any]]
) -> None:
    async with opened(cockroach(postgres)) as ask:
        assert await ask.rows(sql, parameters=parameters) == rows


async def test_rows_are_paged_and_end_at_the_size_of_an_answer(postgres: str) -> None:
    sql = "SELECT a.id, b.id, c.id, d.id FROM artist a, artist b, artist c, artist d"
    sql += " ORDER BY 1, 2, 3, 4"
    async with opened(cockroach(postgres), max_rows=50) as ask:
        first = await ask("query", sql=sql)
        last = await ask("query", sql=sql, offset=50, limit=40)
    async with opened(cockroach(postgres), max_result_bytes=1024) as ask:
        small = await ask("query", sql=sql)

    assert (first["row_count"], first["truncated"], first["next_offset"]) == (50, True, 50)
    assert (last["row_count"], last["truncated"]) == (31, False)
    assert small["truncated"]


ENDLESS = "SELECT count(*) FROM {}"
_MANY = ", ".join(f"artist t{number}" for number in range(40))


@pytest.mark.parametrize("protocol", ["materialize", "doris"])
async def test_a_statement_that_never_ends_is_stopped(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, protocol: str
) -> None:
    server = "postgres" if protocol == "materialize" else "mariadb"
    address = request.getfixturevalue(server).partition("://")[2]
    async with opened(f"{protocol}://{address}", statement_timeout=0.4) as ask:
        with pytest.raises(InvalidRequest, match=r"longer than 0\.4 s"):
            await ask("query", sql=ENDLESS.format(_MANY))

        monkeypatch.setattr(database, "time", Patient)
        assert await ask.rows("SELECT 1") == [[1]]


async def test_writes_are_stored_counted_and_limited(scratch: str) -> None:
    config: dict[str, Any] = {**HIDING_ALL, "allow_writes": True, "max_affected_rows": 2}
    async with opened(cockroach(scratch), **config) as ask:
        inserted = await ask(
            "execute",
            sql="INSERT INTO kinds (id, flag) VALUES (?, ?) RETURNING id, flag",
            parameters=[9, True],
        )
        updated = await ask("execute", sql="UPDATE kinds SET flag = false WHERE id = 9")
        with pytest.raises(InvalidRequest, match="Nothing was changed"):
            await ask("execute", sql="UPDATE album SET title = 'z'")
        for sql in (
            "UPDATE employee SET name = 'x'",
            "UPDATE customer SET email = 'x'",
            "INSERT INTO artist SELECT id + 50, secret FROM employee",
        ):
            with pytest.raises(InvalidRequest):
                await ask("execute", sql=sql)
        titles = await ask.rows("SELECT title FROM album ORDER BY id")
        rows = await ask.rows("SELECT id, flag FROM kinds")

    assert inserted["rows"] == [{"id": 9, "flag": True}]
    assert (updated, rows) == ({"affected_rows": 1}, [[9, False]])
    assert titles == [["Blue"], ["Pastel"], ["Kind"]]


class Bare:
    """A session that runs text as it is, as if the guard had let it through."""

    def __init__(self, url: str) -> None:
        config = SqlConfig.model_validate({"url": url})
        self.session = SqlalchemyDriver(config).connect(write=False)

    def read(self, sql: str) -> list[Any]:
        from pegboard.sources.sql.catalog import build_catalog
        from pegboard.sources.sql.driver import Statement, StatementRequest
        from pegboard.sources.sql.lexer import LexedStatement

        lexed = LexedStatement(text=sql, tokens=())
        config = SqlConfig.model_validate({"url": "cockroachdb://u@h/d"})
        request = StatementRequest(
            statement=Statement(lexed=lexed, kind="query", tables=()),
            catalog=build_catalog(config, []),
            sql=sql,
            parameters=[],
            limit=10,
            deadline=time.monotonic() + 60,
            seconds=60,
        )
        return [list(row) for row in self.session.read(request).rows]


def test_what_a_query_changes_is_rolled_back(scratch: str) -> None:
    bare = Bare(cockroach(scratch))

    assert bare.read("SELECT lo_create(4242)") == [[4242]]
    assert bare.read("SELECT count(*) FROM pg_largeobject_metadata") == [[0]]
    bare.session.close()


async def test_a_connection_that_the_server_has_closed_is_opened_again(scratch: str) -> None:
    import psycopg

    async with opened(cockroach(scratch), max_connections=1, allow_writes=True) as ask:
        assert await ask.rows("SELECT 1") == [[1]]
        await ask("execute", sql="UPDATE artist SET name = 'x' WHERE id = 1")
        with psycopg.connect(scratch, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE pid <> pg_backend_pid() AND datname = current_database()"
            )
        answer = await ask("execute", sql="UPDATE artist SET name = 'y' WHERE id = 1")

        assert answer == {"affected_rows": 1}
        assert await ask.rows("SELECT name FROM artist WHERE id = 1") == [["y"]]


async def test_the_databases_own_words_are_shown_where_nothing_is_hidden(postgres: str) -> None:
    sql = "SELECT nam FROM artist"
    async with opened(cockroach(postgres)) as ask:
        with pytest.raises(InvalidRequest) as shown:
            await ask("query", sql=sql)
    async with opened(cockroach(postgres), **HIDING_ALL) as ask:
        with pytest.raises(InvalidRequest) as hidden:
            await ask("query", sql=sql)

    columns = "The columns are artist (id, name)."
    message = f'CockroachDB: column "nam" does not exist. {columns}'
    assert str(shown.value) == message
    assert str(hidden.value) == f"CockroachDB: it refused the statement. {columns}"


async def test_a_database_that_cannot_be_reached_names_nothing_of_its_url() -> None:
    with pytest.raises(SourceUnavailable) as refused:
        async with opened("cockroachdb://u:hush@127.0.0.1:9/d"):
            pass

    assert "hush" not in str(refused.value)
    assert "cannot be reached" in str(refused.value)


@pytest.mark.parametrize(
    ("url", "error", "message"),
    [
        ("trino://u:hush@h/d", SourceUnavailable, "No SQLAlchemy dialect for Trino"),
        ("mssql+pyodbc://u:hush@h/d", SourceUnavailable, "needs the package 'pyodbc'"),
        ("doris://u:hush@h:port/d", ConfigError, "`url` is not a URL"),
    ],
)
async def test_what_is_missing_to_open_a_database_is_told(
    monkeypatch: pytest.MonkeyPatch, url: str, error: type[Exception], message: str
) -> None:
    monkeypatch.setitem(sys.modules, "pyodbc", None)
    with pytest.raises(error, match=message) as refused:
        async with opened(url):
            pass

    assert "hush" not in str(refused.value)
