"""The configuration of MCP clients, in home folders of the test."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from pegboard.cli.mcp_client_configs import (
    CLIENTS,
    address_entry,
    client_of,
    command_entry,
    config_path,
    merge_entry,
    project_path,
    write_config,
)
from pegboard.errors import ConfigError, InvalidRequest

COMMAND = ["/bin/pegboard", "mcp", "--board", "/b.yaml"]
PLAIN = {"command": "/bin/pegboard", "args": ["mcp", "--board", "/b.yaml"]}


@pytest.mark.parametrize(
    ("name", "platform", "place"),
    [
        ("claude-desktop", "linux", ".config/Claude/claude_desktop_config.json"),
        (
            *("claude-desktop", "darwin"),
            "Library/Application Support/Claude/claude_desktop_config.json",
        ),
        ("claude-desktop", "win32", "AppData/Roaming/Claude/claude_desktop_config.json"),
        ("claude-code", "win32", ".claude.json"),
        ("cursor", "darwin", ".cursor/mcp.json"),
        ("vscode", "linux", ".config/Code/User/mcp.json"),
        ("windsurf", "freebsd", ".codeium/windsurf/mcp_config.json"),
        ("gemini-cli", "linux", ".gemini/settings.json"),
    ],
)
def test_each_client_has_its_file(name: str, platform: str, place: str) -> None:
    home = Path("/nest")

    found = config_path(client_of(name), platform=platform, home=home, environment={})

    assert found == home / place


def test_windows_says_where_its_settings_are() -> None:
    found = config_path(
        client_of("vscode"),
        platform="win32",
        home=Path("/nest"),
        environment={"APPDATA": "/roaming"},
    )

    assert found == Path("/roaming/Code/User/mcp.json")


def test_a_project_has_a_file_of_its_own_where_the_client_has_one() -> None:
    folder = Path("/there")

    assert project_path(client_of("vscode"), folder) == folder / ".vscode" / "mcp.json"
    with pytest.raises(InvalidRequest, match="leave out --project"):
        project_path(client_of("windsurf"), folder)


@pytest.mark.parametrize(
    ("name", "command", "address"),
    [
        ("claude-code", {"type": "stdio", **PLAIN}, {"type": "http", "url": "http://a/mcp"}),
        ("cursor", PLAIN, {"url": "http://a/mcp"}),
        ("vscode", {"type": "stdio", **PLAIN}, {"type": "http", "url": "http://a/mcp"}),
        ("windsurf", PLAIN, {"serverUrl": "http://a/mcp"}),
        ("gemini-cli", PLAIN, {"httpUrl": "http://a/mcp"}),
    ],
)
def test_each_client_has_its_words(name: str, command: Any, address: Any) -> None:
    client = client_of(name)

    assert command_entry(client, COMMAND) == command
    assert address_entry(client, "http://a/mcp") == address


def test_claude_desktop_only_starts_commands() -> None:
    assert command_entry(client_of("claude-desktop"), COMMAND) == PLAIN
    with pytest.raises(InvalidRequest, match="only starts commands"):
        address_entry(client_of("claude-desktop"), "http://a/mcp")


@pytest.mark.parametrize("name", ["curser", "emacs"])
def test_an_unknown_client_is_told_which_there_are(name: str) -> None:
    with pytest.raises(InvalidRequest, match="cursor"):
        client_of(name)


@pytest.mark.parametrize("name", CLIENTS)
def test_other_entries_and_settings_stay(tmp_path: Path, name: str) -> None:
    client = client_of(name)
    path = tmp_path / "folder" / "config.json"
    path.parent.mkdir()
    before = json.dumps({"theme": "dark", client.key: {"other": {"command": "x"}}})
    path.write_text(before)
    path.chmod(0o640)

    kept = write_config(client, path, "pegboard", PLAIN)

    assert json.loads(path.read_text()) == {
        "theme": "dark",
        client.key: {"other": {"command": "x"}, "pegboard": PLAIN},
    }
    assert kept is not None
    assert kept.read_text() == before
    assert path.stat().st_mode & 0o777 == 0o640
    assert sorted(item.name for item in path.parent.iterdir()) == ["config.json", "config.json.bak"]


def test_a_file_that_is_not_there_is_made(tmp_path: Path) -> None:
    path = tmp_path / "new" / "mcp.json"

    assert write_config(client_of("cursor"), path, "pegboard", PLAIN) is None
    assert json.loads(path.read_text()) == {"mcpServers": {"pegboard": PLAIN}}
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1, // why\n}', "comments cannot be preserved"),
        ("[]", "not a mapping"),
        ('{"mcpServers": []}', "not a mapping"),
    ],
    ids=["comments", "a list", "other servers"],
)
def test_what_cannot_be_merged_is_left_alone(text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        merge_entry(client_of("cursor"), text, "pegboard", PLAIN, path=Path("mcp.json"))


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_bytes(b"\xff\xfe")

    with pytest.raises(ConfigError, match=r"mcp\.json cannot be read"):
        write_config(client_of("cursor"), path, "pegboard", PLAIN)


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    os.mkfifo(path)

    with pytest.raises(ConfigError, match=r"mcp\.json cannot be read: it is a device, a pipe"):
        write_config(client_of("cursor"), path, "pegboard", PLAIN)
