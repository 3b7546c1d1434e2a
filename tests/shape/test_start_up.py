"""Importing the front door is cheap: what is heavy is imported where it is used."""

import json
import subprocess
import sys

import pytest

import pegboard

HEAVY = (
    "aiosqlite",
    "docstring_parser",
    "fastapi",
    "grpc",
    "httpcore2",
    "httpx2",
    "jmespath",
    "jsonschema_rs",
    "markdownify",
    "mcp",
    "minijinja",
    "opentelemetry",
    "prometheus_client",
    "psycopg",
    "rich",
    "sqlalchemy",
    "sqlglot",
    "sqlite3",
    "starlette",
    "typer",
    "uvicorn",
    "yaml",
)


@pytest.mark.parametrize(
    "statement",
    [
        pytest.param("import pegboard", id="the package"),
        pytest.param("from pegboard import tool, ToolRegistry", id="what everybody imports"),
        pytest.param("from pegboard import *", id="all of the front door"),
    ],
)
def test_the_front_door_loads_nothing_heavy(statement: str) -> None:
    assert _loaded_by(statement) & set(HEAVY) == set()


def test_the_library_and_a_board_in_memory_need_no_modules_of_unix() -> None:
    program = """
import sys
for name in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules[name] = None
import asyncio
import pegboard

@pegboard.tool(effect="read")
def double(n: int) -> int:
    return 2 * n

async def main() -> None:
    async with pegboard.Pegboard(tools=[double]) as board:
        print((await board.call("double", {"n": 2})).unwrap())

for name in pegboard.__all__:
    getattr(pegboard, name)
print(pegboard.ToolRegistry([double]).call_sync("double", {"n": 1}).unwrap())
asyncio.run(main())
"""
    shown = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, text=True
    )

    assert shown.stdout.split() == ["2", "4"]


def test_declaring_tools_loads_no_event_loop() -> None:
    loaded = _loaded_by("from pegboard import tool, ToolRegistry")

    assert loaded & {"asyncio", "hashlib", "logging", "ssl"} == set()


def test_the_package_alone_loads_no_room() -> None:
    rooms = {name for name in _loaded_by("import pegboard", whole=True) if "pegboard." in name}

    assert rooms == set()


def test_what_is_loaded_is_seen() -> None:
    assert "yaml" in _loaded_by("import yaml")


def test_every_name_of_the_front_door_is_there() -> None:
    assert [name for name in pegboard.__all__ if not hasattr(pegboard, name)] == []


def test_the_front_door_lists_what_it_has() -> None:
    assert set(pegboard.__all__) <= set(dir(pegboard))


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'tols'"):
        pegboard.tols  # noqa: B018 - reading it is what raises


def _loaded_by(statement: str, *, whole: bool = False) -> set[str]:
    """The modules in a fresh interpreter after this statement, by their top-level names."""
    code = f"import sys, json; before = set(sys.modules)\n{statement}\n"
    code += "print(json.dumps(sorted(set(sys.modules) - before)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    names: list[str] = json.loads(done.stdout)
    return set(names) if whole else {name.partition(".")[0] for name in names}
