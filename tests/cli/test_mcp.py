"""`pegboard mcp config`: what to write into the configuration of MCP clients."""

import json
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Command


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of the test."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setattr(sys, "platform", "linux")
    return folder


def test_what_to_write_is_shown(pegboard: Command, folder: Path, home: Path) -> None:
    done = pegboard("mcp", "config", "cursor", "--as", "my", "--only", "my__g*", "--data", "data")

    entry = json.loads(done.stdout)["mcpServers"]["pegboard"]
    expected = ["--board", str(folder / "board.yaml"), "--data", str(folder / "data")]
    assert entry["args"][-7:] == ["mcp", *expected, "--only=my__g*", "--as=my"]
    assert Path(entry["command"]).is_absolute()
    assert str(home / ".cursor" / "mcp.json") in done.stderr
    assert not (home / ".cursor").exists()


def test_it_is_written_beside_what_is_there(pegboard: Command, home: Path) -> None:
    path = home / ".claude.json"
    path.write_text('{"mcpServers": {"other": {"command": "x"}}}')

    first = pegboard("mcp", "config", "claude-code", "--write")
    second = pegboard(
        *("mcp", "config", "claude-code", "--write", "--name", "live"),
        *("--url", "http://127.0.0.1:8321/mcp"),
    )

    servers = json.loads(path.read_text())["mcpServers"]
    assert (first.returncode, second.returncode) == (0, 0)
    assert list(servers) == ["other", "pegboard", "live"]
    assert servers["live"] == {"type": "http", "url": "http://127.0.0.1:8321/mcp"}
    assert ".claude.json.bak" in first.stdout
    assert "Restart Claude Code" in second.stderr


def test_a_project_has_a_file_of_its_own(pegboard: Command, folder: Path, home: Path) -> None:
    done = pegboard("mcp", "config", "vscode", "--project", "--write")

    assert done.returncode == 0
    servers = json.loads((folder / ".vscode" / "mcp.json").read_text())["servers"]
    assert servers["pegboard"]["type"] == "stdio"


def test_the_command_works_without_a_program_on_the_path(
    pegboard: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(home))

    done = pegboard("mcp", "config", "windsurf")

    entry = json.loads(done.stdout)["mcpServers"]["pegboard"]
    assert [entry["command"], *entry["args"][:3]] == [sys.executable, "-m", "pegboard", "mcp"]


def test_the_variables_that_the_board_needs_are_named(
    pegboard: Command, home: Path, folder: Path
) -> None:
    with (folder / "board.yaml").open("a") as file:
        file.write("# ${OLD_KEY}\nenv: {region: '${REGION:-eu}', shop: '${SHOP}'}\n")

    said = pegboard("mcp", "config", "claude-desktop").stderr

    assert "The board needs SHOP: set them in 'env' of the entry" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["curser"], "did you mean 'cursor'?"),
        (["claude-desktop", "--url", "http://a/mcp"], "only starts commands"),
        (["claude-desktop", "--project"], "leave out --project"),
    ],
)
def test_what_a_client_cannot_do_is_told(
    pegboard: Command, home: Path, words: list[str], said: str
) -> None:
    done = pegboard("mcp", "config", *words)

    assert done.returncode == 2
    assert said in done.stderr


def test_a_board_that_is_not_there_is_named(pegboard: Command) -> None:
    done = pegboard("mcp", "--board", "none.yaml")

    assert done.returncode == 2
    assert "There is no board file none.yaml" in done.stderr
