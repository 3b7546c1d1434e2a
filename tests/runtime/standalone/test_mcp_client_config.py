"""What `MCPClient` takes, and what it says of what it does not take."""

import json
from pathlib import Path
from typing import Any

import pytest

from pegboard import MCPClient
from pegboard.errors import ConfigError
from pegboard.runtime.standalone.mcp_client_config import configs_of


@pytest.mark.parametrize(
    ("server", "field", "value"),
    [
        ("npx -y 'a b'", "args", ("-y", "a b")),
        (["npx", "-y"], "args", ("-y",)),
        (("npx",), "command", "npx"),
        ("https://a.example/mcp", "url", "https://a.example/mcp"),
        ({"command": "npx"}, "command", "npx"),
        ({"mcpServers": {"a": {"command": "npx"}}}, "command", "npx"),
        ({"servers": {"a": {"command": "npx"}}}, "command", "npx"),
    ],
    ids=["text", "list", "tuple", "url", "settings", "mcpServers", "servers"],
)
def test_a_server_is_given_in_many_ways(server: Any, field: str, value: object) -> None:
    ((name, config),) = configs_of(server, "shop", {})

    assert name == "shop"
    assert getattr(config, field) == value


def test_a_file_is_given_by_its_path(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}))

    assert [name for name, _ in configs_of(file, "", {})] == ["a", "b"]
    assert [name for name, _ in configs_of(str(file), "my", {})] == ["my-a", "my-b"]


def test_a_server_without_a_name_has_one() -> None:
    assert [name for name, _ in configs_of("npx", "", {})] == ["mcp"]


@pytest.mark.parametrize(
    ("server", "options", "says"),
    [
        (
            {"command": "a", "url": "http://b"},
            {},
            "MCPClient: give one of command, url, mcp_json and mcpServers; found command and url",
        ),
        ({"mcpServers": {}, "command": "a"}, {}, "found command and mcpServers"),
        ("http://a", {"url": "http://b"}, "MCPClient: 'url' is given twice; name one server"),
        ("", {}, "MCPClient: give it a url, a command or the list .*, not nothing"),
        ([], {}, "not nothing"),
        ([1], {}, "not a list with other values"),
        (5, {}, "or the path of a JSON file with one, not int"),
        (None, {}, "not NoneType"),
        (b"npx", {}, "not bytes"),
        ("npx 'a", {}, r"cannot be read \(No closing quotation\); give its words as a list"),
        ("sh", {"headers": {"X": "y"}}, "MCPClient: 'headers' belongs to 'url'"),
        ("sh", {"time_out": 3}, "MCPClient: unknown 'time_out'; did you mean 'timeout'?"),
        ("sh", {"zebra": 3}, "unknown 'zebra'; known are command, args"),
        ("sh", {"timeout": "soon"}, "'timeout': input should be a valid number"),
        ("nowhere.json", {}, "there is no file"),
        ({"mcpServers": {}}, {}, "MCPClient: mcpServers names no enabled server; write"),
        ({"mcpServers": {"a": {"command": "x", "disabled": True}}}, {}, "names no enabled server"),
        (
            {"mcpServers": {"a": None, "b": {"command": "x"}, "c": 1}},
            {},
            "the server 'a': is null; write .* the server 'c': is int",
        ),
        ({"mcpServers": 5}, {}, "'mcpServers': input should be a valid mapping"),
    ],
    ids=[
        *(
            "two",
            "two-kinds",
            "twice",
            "empty",
            "no-words",
            "no-text",
            "number",
            "none",
            "bytes",
            "quotes",
            "only-with",
        ),
        *("near", "unknown", "option", "file", "no-servers", "all-off", "entries", "no-mapping"),
    ],
)
def test_wrong_settings_say_what_to_write(
    server: Any, options: dict[str, object], says: str
) -> None:
    with pytest.raises(ConfigError, match=says) as caught:
        MCPClient(server, **options)  # type: ignore[arg-type]  # options are what is tested

    assert "Value error" not in str(caught.value)


def test_a_name_that_no_tool_can_begin_with_is_told() -> None:
    with pytest.raises(ConfigError, match="name='my shop' is not a prefix for tool names"):
        MCPClient("npx", name="my shop")
