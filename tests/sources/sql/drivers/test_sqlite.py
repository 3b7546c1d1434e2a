"""SQLite beyond what it refuses: time, size, files that come and go, writes."""

import asyncio
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.sources.sql.boards import Patient, opened

from pegboard.core.health import HealthStatus
from pegboard.errors import (
    InvalidRequest,
    PegboardError,
    SourceUnavailable,
    ToolFailed,
    Unavailable,
)
from pegboard.sources.sql import database
from pegboard.sources.sql.config import SqlConfig
from pegboard.sources.sql.drivers.sqlite import SqliteDriver

ENDLESS = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c"


async def test_a_statement_that_never_ends_is_interrupted(
    one_vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(f"sqlite:///{one_vault}", statement_timeout=0.3) as ask:
        with pytest.raises(InvalidRequest, match=r"longer than 0.3 s and was stopped"):
            await ask("query", sql=ENDLESS)

        monkeypatch.setattr(database, "time", Patient)
        assert await ask.rows("SELECT 1") == [[1]]


async def test_one_that_nobody_waits_for_is_interrupted_too(one_vault: Path) -> None:
    async with opened(f"sqlite:///{one_vault}", max_connections=1) as ask:
        running = asyncio.create_task(ask("query", sql=ENDLESS))
        await asyncio.sleep(0.3)
        running.cancel()
        await asyncio.wait({running})

        async with asyncio.timeout(40):
            assert await ask.rows("SELECT 1") == [[1]]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 WHERE printf('%.100000c', 'a') LIKE '%a%a%a%a%a%a%a%a%b'",
        "SELECT 1 WHERE printf('%.100000c', 'a') GLOB '*a*a*a*a*a*a*a*a*b'",
    ],
    ids=["like", "glob"],
)
async def test_no_pattern_makes_it_back_up_for_ever(one_vault: Path, sql: str) -> None:
    async with opened(f"sqlite:///{one_vault}", statement_timeout=60) as ask:
        assert await ask.rows(sql) == []


async def test_rows_are_paged(chinook: Path) -> None:
    async with opened(f"sqlite:///{chinook}", max_rows=100) as ask:
        first = await ask("query", sql="SELECT ArtistId FROM Artist ORDER BY 1")
        second = await ask("query", sql="SELECT ArtistId FROM Artist ORDER BY 1", offset=200)

    assert (first["row_count"], first["truncated"], first["next_offset"]) == (100, True, 100)
    assert (second["row_count"], second["truncated"]) == (75, False)
    assert second["rows"][0] == {"ArtistId": 201}
    assert "next_offset" not in second


async def test_a_page_ends_where_its_bytes_are_used_up(chinook: Path) -> None:
    async with opened(f"sqlite:///{chinook}", max_result_bytes=2048) as ask:
        answer = await ask("query", sql="SELECT * FROM Track ORDER BY TrackId")
        following = await ask(
            "query", sql="SELECT * FROM Track ORDER BY TrackId", offset=answer["next_offset"]
        )

    assert 1 <= answer["row_count"] < 50
    assert answer["truncated"]
    assert following["rows"][0]["TrackId"] == answer["rows"][-1]["TrackId"] + 1


async def test_one_row_that_is_too_large_is_refused(one_vault: Path) -> None:
    async with opened(f"sqlite:///{one_vault}", max_result_bytes=1024) as ask:
        with pytest.raises(InvalidRequest, match="One row alone has"):
            await ask("query", sql="SELECT hex(zeroblob(2000))")


async def test_one_value_that_is_too_large_is_refused(one_vault: Path) -> None:
    async with opened(f"sqlite:///{one_vault}", max_value_bytes=5000) as ask:
        with pytest.raises(InvalidRequest, match="grows beyond 5000 bytes"):
            await ask("query", sql="SELECT hex(zeroblob(4000))")


async def test_values_are_typed(one_vault: Path) -> None:
    async with opened(f"sqlite:///{one_vault}") as ask:
        answer = await ask(
            "query",
            sql="SELECT 1 AS i, 1.5 AS r, 'x' AS t, x'00ff' AS b, NULL AS n, 9223372036854775807 "
            "AS big, 1e999 AS inf UNION ALL SELECT 2.5, 1, 'y', x'', NULL, 1, 0",
        )

    assert answer["rows"][0] == {
        "i": 1,
        "r": 1.5,
        "t": "x",
        "b": {"base64": "AP8="},
        "n": None,
        "big": "9223372036854775807",
        "inf": "Infinity",
    }
    assert [column["type"] for column in answer["columns"]] == [
        "real",
        "real",
        "text",
        "blob",
        "",
        "",
        "",
    ]


async def test_text_that_is_not_utf_8_is_shown_as_well_as_it_can_be(vault: Path) -> None:
    with sqlite3.connect(vault) as connection:
        connection.execute("INSERT INTO artist VALUES (9, CAST(x'61ff62' AS TEXT))")
    connection.close()
    async with opened(f"sqlite:///{vault}") as ask:
        assert await ask.rows("SELECT name FROM artist WHERE id = 9") == [["a\ufffdb"]]


async def test_a_misspelt_column_is_named_with_the_nearest(one_vault: Path) -> None:
    async with opened(f"sqlite:///{one_vault}") as ask:
        with pytest.raises(InvalidRequest, match=r"no such column: a.nam. Did you mean name\?"):
            await ask("query", sql="SELECT a.nam FROM artist a")


async def test_a_file_that_takes_the_place_of_another_is_read_at_once(vault: Path) -> None:
    async with opened(f"sqlite:///{vault}") as ask:
        assert await ask.rows("SELECT count(*) FROM artist") == [[3]]
        _replaced(vault)

        assert await ask.rows("SELECT count(*) FROM artist") == [[2]]


@pytest.mark.timeout(60)
async def test_a_table_that_was_made_meanwhile_is_found(vault: Path) -> None:
    async with opened(f"sqlite:///{vault}") as ask:
        changes: list[int] = []
        ask.source.on_change(lambda: changes.append(1))
        with sqlite3.connect(vault) as connection:
            connection.execute("CREATE TABLE fresh AS SELECT 1 AS x")
        connection.close()
        await asyncio.sleep(1.1)

        assert await ask.rows("SELECT x FROM fresh") == [[1]]
        assert changes == [1]


async def test_a_missing_file_is_named_without_its_folder(tmp_path: Path) -> None:
    with pytest.raises(SourceUnavailable, match=r"'missing\.db' does not exist") as refused:
        async with opened("sqlite:///missing.db", base_dir=tmp_path):
            pass

    assert str(tmp_path) not in str(refused.value)


async def test_a_relative_path_starts_from_the_boards_folder(vault: Path) -> None:
    async with opened(f"sqlite:///{vault.name}", base_dir=vault.parent) as ask:
        assert await ask.rows("SELECT 1") == [[1]]


async def test_a_file_that_is_no_database_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a database, but long enough to have a header" * 20)

    with pytest.raises(SourceUnavailable, match="not a readable SQLite database"):
        async with opened("sqlite:///notes.txt", base_dir=tmp_path):
            pass


async def test_health_tells_of_a_file_that_went_away(vault: Path) -> None:
    async with opened(f"sqlite:///{vault}") as ask:
        assert (await ask.health()).status is HealthStatus.HEALTHY
        await asyncio.to_thread(vault.unlink)

        health = await ask.health()

    assert health.status is HealthStatus.UNHEALTHY
    assert "does not exist" in health.reason


async def test_a_write_is_kept_and_counted(vault: Path) -> None:
    async with opened(f"sqlite:///{vault}", allow_writes=True) as ask:
        inserted = await ask(
            "execute",
            sql="INSERT INTO artist (id, name) VALUES (:id, :name) RETURNING id, name",
            parameters={"id": 9, "name": "x'); DROP TABLE artist; --"},
        )
        updated = await ask("execute", sql="UPDATE artist SET name = ?", parameters=["y"])
        rows = await ask.rows("SELECT count(*), min(name) FROM artist")

    assert inserted["affected_rows"] == 1
    assert inserted["rows"] == [{"id": 9, "name": "x'); DROP TABLE artist; --"}]
    assert updated == {"affected_rows": 4}
    assert rows == [[4, "y"]]


@pytest.mark.parametrize("returning", ["", " RETURNING id"])
async def test_a_write_that_touches_too_many_rows_is_rolled_back(
    vault: Path, returning: str
) -> None:
    async with opened(f"sqlite:///{vault}", allow_writes=True, max_affected_rows=2) as ask:
        with pytest.raises(InvalidRequest, match="Nothing was changed"):
            await ask("execute", sql=f"UPDATE artist SET name = 'y'{returning}")

        assert await ask.rows("SELECT min(name) FROM artist") == [["Ella"]]


async def test_a_broken_rule_of_the_database_is_the_callers_to_mend(vault: Path) -> None:
    async with opened(f"sqlite:///{vault}", allow_writes=True) as ask:
        with pytest.raises(InvalidRequest, match=r"UNIQUE constraint failed: artist\.id"):
            await ask("execute", sql="INSERT INTO artist VALUES (1, 'x')")
        with pytest.raises(InvalidRequest, match="FOREIGN KEY constraint failed"):
            await ask("execute", sql="DELETE FROM artist WHERE id = 2")


async def test_rows_that_disappear_in_cascade_count_too(vault: Path) -> None:
    with sqlite3.connect(vault) as connection:
        connection.executescript(
            "CREATE TABLE part (id int PRIMARY KEY, "
            "album int REFERENCES album (id) ON DELETE CASCADE);"
            "INSERT INTO part VALUES (1, 10), (2, 10), (3, 10)"
        )
    connection.close()
    async with opened(f"sqlite:///{vault}", allow_writes=True, max_affected_rows=3) as ask:
        with pytest.raises(InvalidRequest, match="changes 4 rows; 3 are allowed"):
            await ask("execute", sql="DELETE FROM album WHERE id = 10")

        assert await ask.rows("SELECT count(*) FROM part") == [[3]]


async def test_a_database_that_somebody_else_writes_to_is_unavailable_for_a_while(
    vault: Path,
) -> None:
    other = sqlite3.connect(vault, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with closing(other), pytest.raises(Unavailable, match="Another program is writing"):
        async with opened(f"sqlite:///{vault}", statement_timeout=0.2):
            pytest.fail("the schema cannot be read meanwhile")


def _replaced(file: Path) -> None:
    """Another database takes the file's place, as a nightly copy does."""
    newer = Path(shutil.copy(file, file.with_suffix(".new")))
    with closing(sqlite3.connect(newer)) as connection:
        connection.executescript("DELETE FROM album; DELETE FROM artist WHERE id = 1")
    newer.replace(file)


async def test_a_page_behind_the_last_row_is_empty(one_vault: Path) -> None:
    async with opened(f"sqlite:///{one_vault}") as ask:
        assert await ask.rows("SELECT * FROM artist", offset=5000) == []


async def test_what_the_guard_lets_through_and_sqlite_does_not_is_the_callers_to_mend(
    one_vault: Path,
) -> None:
    async with opened(f"sqlite:///{one_vault}", hidden_tables=("employee",)) as ask:
        with pytest.raises(InvalidRequest, match="not available here"):
            await ask(
                "query", sql="WITH employee AS (SELECT 1) SELECT count(*) FROM employee LIMIT 1"
            )


class _Coded(sqlite3.OperationalError):
    def __init__(self, code: int) -> None:
        super().__init__("text")
        self.sqlite_errorcode = code


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (_Coded(sqlite3.SQLITE_INTERRUPT), InvalidRequest, "longer than 10 s"),
        (_Coded(sqlite3.SQLITE_BUSY), Unavailable, "is writing"),
        (_Coded(sqlite3.SQLITE_LOCKED), Unavailable, "is writing"),
        (_Coded(sqlite3.SQLITE_CORRUPT), SourceUnavailable, "not a readable"),
        (_Coded(sqlite3.SQLITE_IOERR | 2 << 8), Unavailable, "cannot be read now"),
        (_Coded(sqlite3.SQLITE_READONLY), ToolFailed, "cannot be written"),
        (_Coded(sqlite3.SQLITE_FULL), ToolFailed, "cannot be written"),
        (_Coded(sqlite3.SQLITE_CONSTRAINT), InvalidRequest, "SQLite: text."),
        (sqlite3.Warning("two statements"), InvalidRequest, "SQLite: two statements."),
    ],
    ids=str,
)
def test_each_code_has_its_reader(
    error: Exception, kind: type[PegboardError], message: str
) -> None:
    config = SqlConfig.model_validate({"url": "sqlite:///x.db"})

    result = SqliteDriver(config, base_dir=Path()).translate(error, None)

    assert type(result) is kind
    assert message in str(result)
