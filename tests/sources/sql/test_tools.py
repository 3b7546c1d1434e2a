"""What the tools are called, say and answer."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from tests.sources.sql.boards import opened
from tests.sources.sql.drivers.test_sqlite import ENDLESS

from pegboard.core.context import ToolContext
from pegboard.core.tool import Effect
from pegboard.errors import InvalidRequest, ToolArgumentError
from pegboard.registry import ToolRegistry
from pegboard.sources.sql.catalog import Table, build_catalog
from pegboard.sources.sql.config import SqlConfig
from pegboard.sources.sql.driver import StatementResult, collect
from pegboard.sources.sql.results import to_list_result, to_query_result
from pegboard.sources.sql.tool_schemas import query_input


async def test_reading_is_always_offered_and_writing_only_when_allowed(chinook: Path) -> None:
    async with opened(f"sqlite:///{chinook}") as ask:
        reading = {name: tool.spec for name, tool in ask.tools.items()}
    async with opened(f"sqlite:///{chinook}", allow_writes=True) as ask:
        writing = ask.tools["execute"].spec

    assert [spec.name for spec in reading.values()] == [
        "shop__list_tables",
        "shop__describe_table",
        "shop__query",
    ]
    assert {spec.effect for spec in reading.values()} == {Effect.READ}
    assert all(spec.idempotent for spec in reading.values())
    assert (writing.effect, writing.idempotent) == (Effect.WRITE, False)


async def test_tables_are_listed_with_meaning_kind_and_size(chinook: Path) -> None:
    meanings = {"track": "A song", "ALBUM": "A record"}
    async with opened(f"sqlite:///{chinook}", descriptions=meanings) as ask:
        everything = await ask("list_tables")
        songs = await ask("list_tables", search="SONG")

    assert everything["total"] == 11
    assert songs == {
        "tables": [{"name": "Track", "kind": "table", "description": "A song", "rows": 3503}],
        "total": 1,
        "truncated": False,
    }


async def test_a_table_is_described_whole(chinook: Path) -> None:
    meanings = {"Album.Title": "As printed on the sleeve"}
    async with opened(f"sqlite:///{chinook}", sample_values=2, descriptions=meanings) as ask:
        album = await ask("describe_table", table="album")

    assert album == {
        "name": "Album",
        "kind": "table",
        "rows": 347,
        "primary_key": ["AlbumId"],
        "columns": [
            {"name": "AlbumId", "type": "INTEGER", "nullable": False, "samples": [1, 2]},
            {
                "name": "Title",
                "type": "NVARCHAR(160)",
                "nullable": False,
                "description": "As printed on the sleeve",
                "samples": ["For Those About To Rock We Salute You", "Balls to the Wall"],
            },
            {"name": "ArtistId", "type": "INTEGER", "nullable": False, "samples": [1, 2]},
        ],
        "references": [{"columns": ["ArtistId"], "table": "Artist", "to": ["ArtistId"]}],
        "referenced_by": [{"table": "Track", "columns": ["AlbumId"], "to": ["AlbumId"]}],
    }


async def test_samples_can_be_left_out(chinook: Path) -> None:
    async with opened(f"sqlite:///{chinook}", sample_values=0) as ask:
        album = await ask("describe_table", table="Album")

    assert all("samples" not in column for column in album["columns"])


async def test_samples_that_cannot_be_read_are_explained(vault: Path) -> None:
    with sqlite3.connect(vault) as connection:
        connection.execute("CREATE VIEW odd AS SELECT sqlite_source_id() AS s")
    connection.close()
    async with opened(f"sqlite:///{vault}") as ask:
        odd = await ask("describe_table", table="odd")

    assert odd["note"] == (
        "Sample values could not be read: SQLite: not authorized to use function: sqlite_source_id."
    )


async def test_samples_are_short_distinct_and_plain(vault: Path) -> None:
    with closing(sqlite3.connect(vault)) as connection:
        connection.executescript(
            "CREATE TABLE s (a, b); "
            "INSERT INTO s VALUES (NULL, x'00'), ('x', x'00'), ('x', x'00'), (hex(zeroblob(50)), 1)"
        )
    async with opened(f"sqlite:///{vault}") as ask:
        described = await ask("describe_table", table="s")

    assert [column["samples"] for column in described["columns"]] == [["x", "0" * 59 + "…"], [1]]


async def test_an_empty_database_has_nothing_to_describe(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "empty.db")) as connection:
        connection.execute("PRAGMA user_version = 1")
    async with opened("sqlite:///empty.db", base_dir=tmp_path) as ask:
        listed = await ask("list_tables")

    assert listed == {"tables": [], "total": 0, "truncated": False}
    assert "Tables:" not in ask.tools["query"].spec.description


async def test_an_unknown_table_is_answered_with_the_nearest(chinook: Path) -> None:
    async with opened(f"sqlite:///{chinook}") as ask:
        with pytest.raises(InvalidRequest, match=r"Unknown table 'Albums'. Did you mean Album"):
            await ask("describe_table", table="Albums")


async def test_descriptions_tell_what_the_database_is(chinook: Path) -> None:
    async with opened(f"sqlite:///{chinook}", description="A record shop.") as ask:
        text = ask.tools["query"].spec.description

    assert text.startswith(
        "Run one read-only SQL statement on the SQLite database 'shop' (A record shop). "
        "Tables: Album, Artist,"
    )


async def test_the_callers_deadline_shortens_the_statements(chinook: Path) -> None:
    async with opened(f"sqlite:///{chinook}") as ask:
        context = ToolContext(deadline=time.monotonic() + 0.3)
        with pytest.raises(InvalidRequest, match=r"longer than 0(\.[0-3])? s"):
            await ask.tools["query"].run({"sql": ENDLESS}, context)


async def test_a_registry_validates_runs_and_records_them(chinook: Path) -> None:
    async with opened(f"sqlite:///{chinook}", allow_writes=True) as ask:
        registry = ToolRegistry(list(ask.tools.values()))
        good = await registry.call(
            "shop__query", {"sql": "SELECT Name FROM Genre WHERE GenreId = ?", "parameters": [1]}
        )
        unknown = await registry.call("shop__query", {"sql": "SELECT 1", "limt": 5})
        wrong = await registry.call("shop__query", {"sql": "SELECT Nam FROM Genre"})
        from_another_loop = registry.call_sync("shop__query", {"sql": "SELECT 2 AS two"})

    assert good.unwrap()["rows"] == [{"Name": "Rock"}]
    assert isinstance(unknown.error, ToolArgumentError)
    assert isinstance(wrong.error, InvalidRequest)
    assert "Did you mean Name?" in wrong.text
    assert from_another_loop.unwrap()["rows"] == [{"two": 2}]


def test_a_long_list_of_tables_is_cut_and_says_so() -> None:
    config = SqlConfig.model_validate({"url": "sqlite:///x.db"})
    tables = [Table(schema="main", name=f"t{number:03}") for number in range(250)]

    answer = to_list_result(build_catalog(config, tables), "")

    assert (len(answer["tables"]), answer["total"], answer["truncated"]) == (200, 250, True)


def test_a_page_without_rows_still_names_its_columns() -> None:
    assert to_query_result(StatementResult(columns=[("a", "text"), ("a", "")]), 0) == {
        "columns": [{"name": "a", "type": "text"}, {"name": "a_2", "type": ""}],
        "rows": [],
        "row_count": 0,
        "truncated": False,
    }


def test_arguments_say_how_many_rows_there_are_at_most() -> None:
    config = SqlConfig.model_validate({"url": "sqlite:///x.db", "max_rows": 7})

    assert query_input(config)["properties"]["limit"]["maximum"] == 7


def test_rows_are_collected_up_to_the_limit_and_one_more_is_looked_for() -> None:
    asked: list[int] = []
    rows = iter(range(1000))

    def fetch(count: int) -> list[tuple[int]]:
        asked.append(count)
        return [(next(rows),) for _ in range(count)]

    assert collect(fetch, limit=150, max_bytes=10_000) == ([[n] for n in range(150)], True)
    assert asked == [100, 51]
