"""Where a source more goes in a board file, and what is shown of it."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Command
from tests.cli.test_add import OPENAPI, board

pytestmark = pytest.mark.timeout(60)

SERVERS = {"mcpServers": {"maths": {"command": sys.executable, "args": ["-m", "pegboard.mcp"]}}}


@pytest.mark.slow
def test_the_servers_of_a_file_keep_their_names(pegboard: Command, folder: Path) -> None:
    (folder / "clients.json").write_text(json.dumps(SERVERS))

    done = pegboard("add", "mcp", "--json", "clients.json")

    assert done.returncode == 0, done.stderr
    assert "maths__calculator" in done.stdout
    assert "  - kind: mcp\n    config:\n      mcp_json: clients.json\n" in board(folder)


def test_what_is_there_already_is_not_put_there_again(pegboard: Command, folder: Path) -> None:
    (folder / "clients.json").write_text(json.dumps(SERVERS))
    added = ("add", "mcp", "--no-check", "--json")
    assert pegboard(*added, "clients.json").returncode == 0
    before = board(folder)

    again = pegboard(*added, "./clients.json")
    otherwise = pegboard(*added, str(folder / "clients.json"))
    unchanged = board(folder)
    named = pegboard(*added, "clients.json", "--name", "more")

    assert again.returncode == otherwise.returncode == 2
    assert re.search(r"board.yaml:\d+ already defines this source; use --name", again.stderr)
    assert "the name 'maths' is already used; give this source another 'name'" in otherwise.stderr
    assert unchanged == before
    assert named.returncode == 0
    assert "name: more" in board(folder)


def test_a_file_of_this_folder_is_found_from_the_boards(pegboard: Command, folder: Path) -> None:
    (folder / "orders.json").write_text(json.dumps(OPENAPI))
    (folder / "new").mkdir()

    done = pegboard("add", "openapi", "orders.json", "--board", "new/board.yaml")

    assert done.returncode == 0, done.stderr
    assert "document: ../orders.json" in (folder / "new" / "board.yaml").read_text()
    assert done.stderr == "1 tool\n"


@pytest.mark.slow
def test_of_three_that_are_added_at_once_none_is_lost(folder: Path) -> None:
    names = ["one", "two", "three"]
    command = (sys.executable, "-m", "pegboard", "add", "script", "--no-check")
    started = [
        subprocess.Popen(
            (*command, f"{name}.sh", "--name", name),
            cwd=folder,
            stdout=subprocess.DEVNULL,
        )
        for name in names
    ]

    assert [process.wait(50) for process in started] == [0, 0, 0]
    assert all(f"name: {name}" in board(folder) for name in names)


def test_a_board_keeps_the_ends_of_its_lines(pegboard: Command, folder: Path) -> None:
    (folder / "board.yaml").write_bytes(b"# mine\r\nsources: []\r\n")

    done = pegboard("add", "script", "a.sh", "--no-check")

    assert done.returncode == 0, done.stderr
    written = (folder / "board.yaml").read_bytes()
    assert written.startswith(b"# mine\r\n")
    assert written.count(b"\n") == written.count(b"\r\n") > 1
