"""DuckDB for real: types, time, size, writes, and its own enforcement behind the parser."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from tests.sources.sql.attacks import HIDING, SECRET
from tests.sources.sql.boards import Patient, opened

from pegboard.errors import CallerError, InvalidRequest, SourceUnavailable
from pegboard.sources.sql import database
from pegboard.sources.sql.catalog import build_catalog
from pegboard.sources.sql.config import SqlConfig
from pegboard.sources.sql.driver import Statement, StatementRequest, StatementResult
from pegboard.sources.sql.drivers.duckdb import DuckdbDriver
from pegboard.sources.sql.lexer import LexedStatement

ENDLESS = "SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE a.range <> b.range"


async def test_every_kind_of_value_is_typed(duckdb_scratch: Path) -> None:
    with duckdb.connect(str(duckdb_scratch)) as connection:
        connection.execute(
            "INSERT INTO kinds VALUES (1, 1180591620717411303424, 12.30, "
            "'2020-01-02 03:04:05.5+02', '2020-01-02 03:04:05', '2020-01-02', '10:11:12', "
            "INTERVAL '2 days 3 seconds', '\\x00\\xFF', 'b9d2ae30-0000-4000-8000-000000000001', "
            "{'x': 1, 'y': 'a'}, map {'k': 2}, [1, 2], 'fine', true, 'nan', '{\"a\": 1}')"
        )
    async with opened(f"duckdb:///{duckdb_scratch}") as ask:
        answer = await ask("query", sql="SELECT * FROM kinds")

    assert answer["rows"] == [
        {
            "id": 1,
            "huge": "1180591620717411303424",
            "price": 12.3,
            "seen": "2020-01-02T01:04:05.500000+00:00",
            "plain": "2020-01-02T03:04:05",
            "day": "2020-01-02",
            "hour": "10:11:12",
            "span": "P2DT3S",
            "data": {"base64": "AP8="},
            "code": "b9d2ae30-0000-4000-8000-000000000001",
            "pair": {"x": 1, "y": "a"},
            "map": {"k": 2},
            "list": [1, 2],
            "mood": "fine",
            "flag": True,
            "ratio": "NaN",
            "doc": '{"a": 1}',
        }
    ]
    types = {column["name"]: column["type"] for column in answer["columns"]}
    assert (types["list"], types["price"]) == ("integer[]", "decimal(10,2)")


async def test_a_table_is_described_with_comments_keys_and_rows(duckdb_vault: Path) -> None:
    async with opened(f"duckdb:///{duckdb_vault}") as ask:
        kinds = await ask("describe_table", table="kinds")
        album = await ask("describe_table", table="album")

    assert kinds["description"] == "One of each"
    columns = {column["name"]: column for column in kinds["columns"]}
    assert columns["price"]["description"] == "In euro"
    assert album["references"] == [{"columns": ["artist_id"], "table": "artist", "to": ["id"]}]
    assert (album["primary_key"], album["rows"]) == (["id"], 3)


async def test_a_view_is_hidden_with_what_it_reads_through_a_macro(duckdb_vault: Path) -> None:
    async with opened(f"duckdb:///{duckdb_vault}", **HIDING) as ask:
        listed = await ask("list_tables")

    assert [table["name"] for table in listed["tables"]] == [
        "album",
        "artist",
        "customer",
        "discs",
        "kinds",
        "phonebook",
    ]


async def test_only_the_schemas_that_are_named_are_seen(duckdb_vault: Path) -> None:
    async with opened(f"duckdb:///{duckdb_vault}", schemas=("music", "main")) as ask:
        rows = await ask.rows("SELECT * FROM song")
        other = await ask.rows("SELECT count(*) FROM main.artist")

    assert (rows, other) == ([[1]], [[3]])


@pytest.mark.parametrize(
    ("sql", "parameters", "rows"),
    [
        ("SELECT name FROM Artist WHERE id = $1", [1], [["Nina"]]),
        ("SELECT name FROM artist WHERE name = :n OR name = :n", {"n": "Ella"}, [["Ella"]]),
        ("SELECT $1 || ''", ["'; DROP TABLE artist; --"], [["'; DROP TABLE artist; --"]]),
        ("SELECT coalesce($1, 5)", [None], [[5]]),
        ("SELECT [10, 20][1:1]", [], [[[10]]]),
    ],
)
async def test_parameters_are_bound(
    duckdb_vault: Path, sql: str, parameters: Any, rows: list[list[Any]]
) -> None:
    async with opened(f"duckdb:///{duckdb_vault}") as ask:
        assert await ask.rows(sql, parameters=parameters) == rows


async def test_rows_are_paged(duckdb_vault: Path) -> None:
    sql = "SELECT n FROM generate_series(1, 250) t(n) ORDER BY n"
    async with opened(f"duckdb:///{duckdb_vault}", max_rows=100) as ask:
        first = await ask("query", sql=sql)
        last = await ask("query", sql=sql, offset=200, limit=60)

    assert (first["row_count"], first["next_offset"]) == (100, 100)
    assert (last["rows"][0], last["row_count"], last["truncated"]) == ({"n": 201}, 50, False)


async def test_a_statement_that_never_ends_is_interrupted(
    duckdb_vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(f"duckdb:///{duckdb_vault}", statement_timeout=0.4) as ask:
        with pytest.raises(InvalidRequest, match=r"longer than 0\.4 s"):
            await ask("query", sql=ENDLESS)

        monkeypatch.setattr(database, "time", Patient)
        assert await ask.rows("SELECT 1") == [[1]]


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        (
            "SELECT nam FROM artist",
            (
                'DuckDB: Binder Error: Referenced column "nam" not found in FROM clause. '
                "Did you mean name?"
            ),
        ),
        ("SELECT 'x'::int", "DuckDB: Conversion Error: Could not convert string 'x' to INT32."),
    ],
)
async def test_a_mistake_is_told_without_what_may_be_hidden(
    duckdb_vault: Path, sql: str, message: str
) -> None:
    async with opened(f"duckdb:///{duckdb_vault}") as ask:
        with pytest.raises(InvalidRequest) as refused:
            await ask("query", sql=sql)

    assert str(refused.value) == message


async def test_a_hidden_column_is_not_among_the_candidates_of_a_misspelt_one(
    duckdb_vault: Path,
) -> None:
    async with opened(f"duckdb:///{duckdb_vault}", **HIDING) as ask:
        with pytest.raises(InvalidRequest) as refused:
            await ask("query", sql="SELECT emial FROM customer")

    assert "email" not in str(refused.value)


async def test_writes_are_stored_counted_and_limited(duckdb_scratch: Path) -> None:
    url = f"duckdb:///{duckdb_scratch}"
    async with opened(url, allow_writes=True, max_affected_rows=2, **HIDING) as ask:
        inserted = await ask(
            "execute",
            sql="INSERT INTO kinds (id, flag) VALUES ($1, $2) RETURNING id, flag",
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
        rows = await ask.rows("SELECT id, flag FROM kinds")
        titles = await ask.rows("SELECT title FROM album ORDER BY id")
        with pytest.raises(CallerError):
            await ask("query", sql="DELETE FROM kinds")

    assert inserted["rows"] == [{"id": 9, "flag": True}]
    assert (updated, rows) == ({"affected_rows": 1}, [[9, False]])
    assert titles == [["Blue"], ["Pastel"], ["Kind"]]


async def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.duckdb").write_text("no database at all, " * 300)

    with pytest.raises(SourceUnavailable, match="not a readable DuckDB database"):
        async with opened("duckdb:///x.duckdb", base_dir=tmp_path):
            pass
    with pytest.raises(SourceUnavailable, match=r"'y\.duckdb' does not exist"):
        async with opened("duckdb:///y.duckdb", base_dir=tmp_path):
            pass


class Bare:
    """A session that runs text as it is, with the tables that a guard might have found."""

    def __init__(self, path: Path, *, allow_writes: bool = False) -> None:
        config = SqlConfig.model_validate(
            {"url": f"duckdb:///{path}", "allow_writes": allow_writes, **HIDING}
        )
        self.session = DuckdbDriver(config, base_dir=path.parent).connect(write=False)
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


@pytest.fixture
def bare(duckdb_vault: Path) -> Iterator[Bare]:
    made = Bare(duckdb_vault)
    yield made
    made.session.close()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM employee",
        "SELECT count(*) FROM employee",
        "SELECT min(id) FROM main.employee",
        "SELECT * FROM artist, employee",
        "SELECT * FROM staff",
        "SELECT * FROM told",
        "SELECT tell()",
        "SELECT * FROM tell_all()",
        "FROM employee",
        "SUMMARIZE employee",
        "WITH artist AS (SELECT * FROM employee) SELECT * FROM artist",
        "SELECT * FROM artist WHERE id IN (SELECT id FROM employee)",
        "SELECT * FROM duckdb_tables()",
        "SELECT * FROM query('SELECT * FROM employee')",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM glob('/etc/*')",
        "SELECT * FROM pragma_table_info('employee')",
        "SELECT 1; SELECT 2",
        "SELECT 1; DELETE FROM artist",
        "DELETE FROM artist",
        "CREATE TABLE x (a int)",
        "CREATE TEMP TABLE x AS SELECT 1",
        "COPY artist TO '/tmp/pegboard-x.csv'",
        "ATTACH 'other.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "COMMIT",
    ],
)
def test_duckdb_itself_refuses_what_the_guard_has_not_seen(bare: Bare, sql: str) -> None:
    with pytest.raises((duckdb.Error, InvalidRequest)) as refused:
        bare.read(sql, "artist")

    assert SECRET not in str(refused.value)
    assert bare.read("SELECT count(*) FROM artist", "artist").rows == [[3]]


def test_a_read_only_transaction_stands_before_a_file_that_may_be_written(
    duckdb_scratch: Path,
) -> None:
    made = Bare(duckdb_scratch, allow_writes=True)
    connection = made.session._connection
    connection.execute("BEGIN TRANSACTION READ ONLY")
    with pytest.raises(duckdb.Error, match="read-only mode"):
        connection.execute("DELETE FROM artist")
    made.session.close()


@pytest.mark.parametrize(
    "sql",
    [
        "COPY artist TO 'x.csv'",
        "ATTACH 'other.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET lock_configuration = false",
        "SELECT * FROM read_text('/etc/passwd')",
    ],
)
def test_a_connection_has_no_way_out_even_without_our_checks(bare: Bare, sql: str) -> None:
    with pytest.raises(duckdb.Error):
        bare.session._connection.execute(sql).fetchall()


def test_a_view_may_read_what_it_was_made_for(bare: Bare) -> None:
    assert bare.read("SELECT * FROM phonebook", "phonebook").rows == [[1, "Ann"]]


def test_the_allowed_functions_exist_and_only_compute(duckdb_vault: Path) -> None:
    from pegboard.sources.sql.allowlist import function_names

    with duckdb.connect(str(duckdb_vault), read_only=True) as connection:
        known = dict(
            connection.execute(
                "SELECT function_name, bool_or(coalesce(has_side_effects, false)) "
                "FROM duckdb_functions() GROUP BY ALL"
            ).fetchall()
        )
    allowed = function_names("duckdb") & known.keys()

    assert {name for name in allowed if known[name]} <= {"random", "uuid", "setseed"}
    assert len(allowed) > 250
