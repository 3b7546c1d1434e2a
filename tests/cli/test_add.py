"""`pegboard add`: sources go into the board file, are checked, and are shown."""

import json
import re
import shutil
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Command
from tests.shape import tree

pytestmark = pytest.mark.timeout(60)

OPENAPI = {
    "openapi": "3.0.0",
    "info": {"title": "Orders", "version": "1"},
    "servers": [{"url": "http://127.0.0.1:9"}],
    "paths": {
        "/orders": {"get": {"operationId": "listOrders", "summary": "List orders", "responses": {}}}
    },
}


def board(folder: Path) -> str:
    return (folder / "board.yaml").read_text()


def test_a_database_is_added_checked_and_shown(pegboard: Command, folder: Path) -> None:
    shutil.copy(tree.ROOT / "examples" / "shop" / "chinook.db", folder)
    before = board(folder)

    done = pegboard("add", "sql", "sqlite:///chinook.db")

    assert done.returncode == 0, done.stderr
    assert "+  - kind: sql" in done.stdout
    assert "chinook__query" in done.stdout
    assert "tools" in done.stderr
    assert "name: chinook" in board(folder)
    assert all(line in board(folder) for line in before.splitlines())
    assert sorted(item.name for item in folder.iterdir() if item.name.startswith(".")) == []


def test_functions_are_added_by_their_file_or_module(pegboard: Command, folder: Path) -> None:
    (folder / "new").mkdir()
    (folder / "new" / "more_tools.py").write_text(
        "from pegboard import tool\n\n\n@tool(effect='read')\ndef add(a: int, b: int) -> int:\n"
        '    """Add."""\n    return a + b\n'
    )
    new = ("--board", "new/board.yaml")

    added = pegboard("add", "functions", "new/more_tools.py", *new)
    dry = pegboard("add", "functions", "package.tools", "--dry-run", *new)

    assert added.returncode == 0, added.stderr
    assert "files:\n      - more_tools.py" in (folder / "new" / "board.yaml").read_text()
    assert pegboard("call", "more-tools__add", '{"a": 1, "b": 2}', *new).stdout == "3\n"
    assert "+    name: tools\n+    config:\n+      modules:\n+      - package.tools" in dry.stdout


def test_a_dry_run_changes_nothing(pegboard: Command, folder: Path) -> None:
    before = board(folder)

    done = pegboard("add", "sql", "sqlite:///none.db", "--name", "shop", "--dry-run")

    assert done.returncode == 0
    assert "+    name: shop" in done.stdout
    assert board(folder) == before


def test_a_board_is_begun_where_there_is_none(pegboard: Command, folder: Path) -> None:
    done = pegboard("add", "script", "*.sh", "--board", "new/board.yaml", "--no-check")

    assert done.returncode == 0, done.stderr
    assert (folder / "new" / "board.yaml").read_text() == (
        "sources:\n  - kind: script\n    name: script\n    config:\n      paths:\n      - '*.sh'\n"
    )


def test_a_rest_api_is_added_with_its_secret_in_a_variable(pegboard: Command, folder: Path) -> None:
    (folder / "orders.json").write_text(json.dumps(OPENAPI))

    done = pegboard(
        *("add", "openapi", "orders.json", "--auth", "bearer:ORDERS_TOKEN"),
        *("--base-url", "http://127.0.0.1:9"),
        ORDERS_TOKEN="hunter2",
    )

    assert done.returncode == 0, done.stderr
    assert "token: ${ORDERS_TOKEN}" in board(folder)
    assert "hunter2" not in done.stdout + done.stderr + board(folder)
    assert re.search(r"orders__list_?orders", done.stdout, re.IGNORECASE)


def test_the_operations_of_a_rest_api_are_chosen(pegboard: Command, folder: Path) -> None:
    paths = {
        f"/{thing}": {
            method: {"operationId": f"{method}_{thing}", "tags": [thing], "responses": {}}
            for method in ("get", "post", "delete")
        }
        for thing in ("orders", "customers", "returns")
    }
    (folder / "shop.json").write_text(json.dumps({**OPENAPI, "paths": paths}))

    done = pegboard(
        *("add", "openapi", "shop.json", "--base-url", "http://127.0.0.1:9"),
        *("--tag", "orders", "--tag", "customers", "--method", "get", "--method", "post"),
        *("--path", "/*s", "--operation", "*_orders", "--operation", "get_*"),
        *("--exclude", "post_*"),
    )

    assert done.returncode == 0, done.stderr
    assert set(re.findall(r"shop__\w+", done.stdout)) == {"shop__get_orders", "shop__get_customers"}
    assert "tags:" in board(folder)
    faulty = pegboard("add", "openapi", "shop.json", "--exclude", "drop_*", "--name", "more")
    assert "drop_*" in faulty.stdout + faulty.stderr


@pytest.mark.slow
def test_an_mcp_server_is_added_by_the_command_that_starts_it(
    pegboard: Command, folder: Path
) -> None:
    done = pegboard("add", "mcp", "--name", "std", "--", sys.executable, "-m", "pegboard.mcp")

    assert done.returncode == 0, done.stderr
    assert "- pegboard.mcp" in board(folder)
    assert "calculator" in done.stdout


@pytest.mark.parametrize(
    ("words", "name", "config"),
    [
        (
            ["mcp", "--env", "KEY", "--", "npx", "-y", "@modelcontextprotocol/server-memory"],
            "memory",
            "KEY: ${KEY}",
        ),
        (["mcp", "--", "uvx", "mcp-server-time@2.1"], "time", "- mcp-server-time@2.1"),
        (["mcp", "http://mcp.example.org/mcp"], "example", "url: http://mcp.example.org/mcp"),
        (["mcp", "http://127.0.0.1:7/mcp", "--auth", "bearer:KEY"], "127-0-0-1", "token: ${KEY}"),
        (["openapi", "https://api.pets.example/v1.json"], "pets", "document: https://api.pets"),
        (
            ["openapi", "https://api.pets.example/v1.json", "--auth", "api_key:KEY"],
            "pets",
            "key: ${KEY}",
        ),
        (
            ["openapi", "https://api.pets.example/v1.json", "--auth", "basic:KEY:SHOP_DB"],
            "pets",
            "username: ${KEY}\n        password: ${SHOP_DB}\n",
        ),
        (["script", "tidy.sh"], "tidy", "- tidy.sh"),
        (["script", "a.sh", "b.sh"], "scripts", "- b.sh"),
        (["langchain", "my.tools:search"], "search", "- my.tools:search"),
        (["sql", "${SHOP_DB}"], "db", "url: ${SHOP_DB}"),
    ],
)
def test_each_kind_has_its_words(
    pegboard: Command, folder: Path, words: list[str], name: str, config: str
) -> None:
    words = [*words[:1], "--no-check", *words[1:]]

    done = pegboard("add", *words, KEY="x", SHOP_DB="sqlite:///a.db")

    assert done.returncode == 0, done.stderr
    assert f"name: {name}\n" in board(folder)
    assert config in board(folder)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["mcp"], "give an address"),
        (["mcp", "http://a/mcp", "--json", "b.json"], "give an address"),
        (
            ["openapi", "a.json", "--auth", "magic:KEY"],
            "--auth is 'bearer:VARIABLE' or 'api_key:VARIABLE' or 'basic:VARIABLE:VARIABLE'",
        ),
        (["openapi", "a.json", "--auth", "basic:KEY"], "'basic:VARIABLE:VARIABLE'"),
        (["mcp", "http://a/mcp", "--auth", "api_key:KEY"], "--auth is 'bearer:VARIABLE'\n"),
        (["openapi", "a.json", "--name", "a__b"], "'a__b' is not a source name"),
        (["sql", "sqlite:///a.db", "--name", "my"], "the name 'my' is already used"),
        (["script", "a.sh", "--board", "/dev/zero"], "it is a device, a pipe or a socket"),
        (["openapi", "a.json", "--auth", "bearer:s3cr3t-t0ken"], "not the name of a variable"),
        (["openapi", "a.json", "--auth", "bearer:NOT_SET"], "the variable NOT_SET is not set"),
        (["sql", "postgresql://ada:hunter2@db/shop"], "the address contains a password"),
    ],
)
def test_what_cannot_be_added_says_what_to_write(
    pegboard: Command, folder: Path, words: list[str], said: str
) -> None:
    before = board(folder)

    done = pegboard("add", *words)

    assert done.returncode == 2
    assert said in done.stderr
    assert board(folder) == before


@pytest.mark.parametrize(
    ("words", "file"),
    [
        (("openapi", "none.json"), "none.json"),
        (("functions", "none.py"), "none.py"),
        (("script", "none.sh"), "none.sh"),
    ],
    ids=["openapi", "functions", "script"],
)
def test_a_file_that_is_not_there_is_not_added(
    pegboard: Command, folder: Path, words: tuple[str, ...], file: str
) -> None:
    before = board(folder)

    refused = pegboard("add", *words)
    after = board(folder)
    later = pegboard("add", *words, "--no-check")

    assert (refused.returncode, later.returncode) == (2, 0)
    assert f"There is no file '{file}': nothing was added." in refused.stderr
    assert after == before


def test_a_source_that_cannot_be_opened_says_why(pegboard: Command, folder: Path) -> None:
    done = pegboard("add", "sql", "sqlite:///none.db")

    assert done.returncode == 3
    assert "'none' was added, but cannot be used yet:" in done.stderr
    assert "name: none" in board(folder)


def test_a_source_none_of_whose_tools_can_be_used_says_why(pegboard: Command, folder: Path) -> None:
    locked = {
        **OPENAPI,
        "security": [{"key": []}],
        "components": {
            "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}
        },
    }
    (folder / "orders.json").write_text(json.dumps(locked))

    done = pegboard("add", "openapi", "orders.json")

    assert done.returncode == 3
    assert "(unavailable: It needs a credential that the board does not have" in done.stdout
    assert "'orders' was added, but cannot be used yet: It needs a cred" in done.stderr
    assert "document: orders.json" in board(folder)
