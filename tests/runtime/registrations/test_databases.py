"""Registrations of type `Database`: each is one tool of the `sql` source."""

import sqlite3
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from pegboard import ToolRegistry
from pegboard.core.ports.services import Services
from pegboard.core.tool import Effect, Tool
from pegboard.errors import ConfigError
from pegboard.runtime.board_file.models import ToolEntry
from pegboard.runtime.registrations.handlers import HandlerContext
from pegboard.runtime.registrations.tools import build_entry_tool


@pytest.fixture
async def opening(tmp_path: Path) -> AsyncGenerator[HandlerContext]:
    """A folder with a database of one table."""
    with closing(sqlite3.connect(tmp_path / "shop.db")) as database, database:
        database.execute("create table item (name text)")
        database.execute("insert into item values ('pear')")
    async with AsyncExitStack() as stack:
        yield HandlerContext(services=Services(base_dir=tmp_path), within=60, stack=stack)


async def build(opening: HandlerContext, **said: Any) -> Tool:
    entry = {"tool_id": "shop_v1", "type": "Database", "url": "sqlite:///shop.db", **said}
    return await build_entry_tool(ToolEntry.model_validate(entry), opening, where="here")


async def test_a_database_is_a_tool_that_queries_it(opening: HandlerContext) -> None:
    tool = await build(opening, name="Shop", timeout_ms=2000)

    result = await ToolRegistry([tool]).call("shop", {"sql": "select name from item"})

    assert result.unwrap()["rows"] == [{"name": "pear"}]
    spec = tool.spec
    assert (spec.effect, spec.category, spec.handler) == (Effect.READ, "database", "sql")
    assert "SQLite database 'shop' (Shop)" in spec.description


async def test_it_names_one_of_the_tools_of_a_database(opening: HandlerContext) -> None:
    tables = await build(opening, tool="list_tables")
    write = await build(opening, tool="execute", tool_id="change_v1")
    registry = ToolRegistry([tables, write])

    changed = await registry.call("change", {"sql": "delete from item"})
    listed = await registry.call("shop", {})

    assert changed.unwrap()["affected_rows"] == 1
    assert [item["name"] for item in listed.unwrap()["tables"]] == ["item"]


async def test_it_reads_only(opening: HandlerContext) -> None:
    result = await ToolRegistry([await build(opening)]).call("shop", {"sql": "delete from item"})

    assert result.is_error


async def test_a_database_that_is_not_there_yet_is_opened_by_a_later_call(
    opening: HandlerContext, tmp_path: Path
) -> None:
    tool = await build(opening, url="sqlite:///later.db")
    registry = ToolRegistry([tool])
    before = await registry.call("shop", {"sql": "select 1"})
    (tmp_path / "shop.db").rename(tmp_path / "later.db")

    after = await registry.call("shop", {"sql": "select name from item"})

    assert (tool.spec.unavailable, before.is_error) == ("", True)
    assert after.unwrap()["rows"] == [{"name": "pear"}]


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"url": ""}, "write 'url' beside its type Database"),
        ({"url": "oracle://x"}, "needs the package 'oracledb'"),
        ({"url": "nonesuch://x"}, "url: write sqlite:///file.db"),
        ({"tool": "drop"}, "tools.0: should be 'list_tables'"),
        ({"input_schema": {"sql": "string"}}, "leave out 'input_schema'"),
    ],
)
async def test_what_cannot_run_says_why(
    said: dict[str, Any], reason: str, opening: HandlerContext
) -> None:
    assert reason in (await build(opening, **said)).spec.unavailable


async def test_a_write_cannot_be_called_a_read(opening: HandlerContext) -> None:
    with pytest.raises(ConfigError, match="its effect is write") as refused:
        await build(opening, tool="execute", effect="read", url="sqlite:///shop.db")

    assert "shop.db" in str(refused.value)
