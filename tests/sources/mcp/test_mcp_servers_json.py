"""The JSON that MCP clients keep, in its dialects."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from pegboard.errors import ConfigError
from pegboard.runtime.board_file.load import parse_board
from pegboard.runtime.board_file.sources import check_sources
from pegboard.sources.mcp.config import FaultyServer, McpConfig, reveal
from pegboard.sources.mcp.mcp_servers_json import expand

CLAUDE = {
    "mcpServers": {
        "github": {"command": "npx", "args": ["-y", "gh"], "env": {"GITHUB_TOKEN": "${GH}"}},
        "remote": {"type": "http", "url": "https://a.example/mcp", "headers": {"X-Key": "k${GH}"}},
        "old": {"type": "sse", "url": "https://a.example/events"},
        "off": {"command": "npx", "disabled": True},
    }
}


def _expanded(
    folder: Path, text: Any, *, name: str = "", environ: dict[str, str] | None = None, **more: Any
) -> dict[str, Any]:
    file = folder / "mcp.json"
    file.write_text(text if isinstance(text, str) else json.dumps(text))
    config = McpConfig.model_validate({"mcp_json": "mcp.json", **more})
    return dict(expand(name, config, folder, environ or {"GH": "hush"}))


def test_each_server_of_a_file_becomes_a_source_of_its_own(tmp_path: Path) -> None:
    found = _expanded(tmp_path, CLAUDE)

    assert list(found) == ["github", "remote", "old"]
    assert found["github"].command == "npx"
    assert reveal(found["github"].env) == {"GITHUB_TOKEN": "hush"}
    assert reveal(found["remote"].headers) == {"X-Key": "khush"}
    assert found["old"].is_sse


def test_the_name_of_the_entry_stands_before_them_or_alone(tmp_path: Path) -> None:
    one = {"mcpServers": {"github": {"command": "npx"}}}

    assert "dev-github" in _expanded(tmp_path, CLAUDE, name="dev")
    assert list(_expanded(tmp_path, one, name="dev")) == ["dev"]


def test_options_of_the_entry_hold_for_each_server_and_its_own_win(tmp_path: Path) -> None:
    servers = {"a": {"command": "x"}, "b": {"command": "y", "timeout": 5}}
    found = _expanded(tmp_path, {"mcpServers": servers}, timeout=9, tags=["dev"])

    assert found["a"].timeout == 9
    assert found["b"].timeout == 5
    assert found["b"].tags == ("dev",)


def test_the_dialect_of_vs_code_is_read_with_its_comments(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("# mine\nexport COLOUR='red'\nSIZE=9\n")
    text = """{
      // what the editor starts
      "servers": {
        "tool": {
          "type": "stdio", "command": "${workspaceFolder}/run", /* here */
          "args": ["--home=${userHome}", "http://x//y"],
          "envFile": ".env", "env": {"SIZE": "10", "WHO": "${env:GH}"},
        },
      },
    }"""
    found = _expanded(tmp_path, text)["tool"]

    assert found.command == f"{tmp_path}/run"
    assert found.args == (f"--home={Path.home()}", "http://x//y")
    assert reveal(found.env) == {"COLOUR": "red", "SIZE": "10", "WHO": "hush"}


def test_settings_of_an_editor_have_them_a_level_deeper(tmp_path: Path) -> None:
    assert list(_expanded(tmp_path, {"mcp": {"servers": {"a": {"command": "x"}}}})) == ["a"]


def test_names_that_no_source_can_have_are_made_legible_and_stay_apart(tmp_path: Path) -> None:
    names = ["My Server!", "My_Server_", "a__b", "@scope/x", "☂", "x" * 40, "x" * 41]
    found = _expanded(tmp_path, {"mcpServers": {name: {"command": "x"} for name in names}})

    assert list(found) == [
        "My-Server",
        "My-Server-2",
        "a-b",
        "scope-x",
        "server",
        "x" * 30,
        "x" * 26 + "-2",
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "cannot be read as JSON"),
        ({}, "no servers found"),
        ([], "no servers found"),
    ],
    ids=["json", "empty", "list"],
)
def test_a_file_without_servers_is_told(tmp_path: Path, text: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        _expanded(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ({"mcpServers": {"a": None}}, r"mcp.json: the server 'a': is null; write .\"command\""),
        ({"mcpServers": {"a": "npx"}}, "'a': is str; write"),
        ({"mcpServers": {"a": []}}, "'a': is list; write"),
        ({"mcpServers": {"a": {"command": "x", "env": [1]}}}, "'env' must be a mapping"),
        ({"mcpServers": {"a": {"command": ["npx"]}}}, "'command': input should be a valid string"),
        ({"mcpServers": {"a": {"url": "http://b", "auth": {"x": 1}}}}, "'auth.token': field requ"),
        ({"mcpServers": {"a": {}}}, "neither a command nor a url; write"),
        (
            {"mcpServers": {"a": {"comand": "x"}}},
            r"nor a url; unknown keys: 'comand' \(did you mean 'command'\?\); write",
        ),
        (
            {"mcpServers": {"a": {"URL": "x"}}},
            r"unknown keys: 'URL' \(did you mean 'url'\?\); write",
        ),
        ({"mcpServers": {"a": {"7": "x"}}}, "unknown keys: '7'; write"),
        ({"mcpServers": {"a": {"zzzz": 1, "args": []}}}, "unknown keys: 'zzzz'; write"),
        ({"mcpServers": {"a": {"type": "sse", "command": "x"}}}, "its type is 'sse'"),
        ({"mcpServers": {"a": {"command": "x", "url": "http://b"}}}, "both 'command' and 'url'"),
        ({"mcpServers": {"a": {"type": "ws", "url": "ws://a"}}}, "type 'ws' is unknown"),
        ({"mcpServers": {"a": {"command": "${NOPE}"}}}, "'a': the variable NOPE is not set"),
        ({"mcpServers": {"a": {"command": "${input:key}"}}}, "has an input variable 'key'"),
        ({"mcpServers": {"a": {"command": "x", "envFile": "no"}}}, "envFile.*cannot be read"),
        (
            {"mcpServers": {"a": {"command": "x", "timeout": -1}}},
            "'a': 'timeout': input should be greater",
        ),
    ],
    ids=[
        *("null", "text", "array", "env", "command", "auth", "nothing", "misspelt", "capital"),
        *("number", "foreign", "type", "both", "unknown", "unset"),
        *("input", "file", "option"),
    ],
)
def test_a_wrong_entry_fails_by_itself_and_says_where_and_what(
    tmp_path: Path, text: Any, says: str
) -> None:
    text["mcpServers"]["good"] = {"command": "x"}
    found = _expanded(tmp_path, text)

    wrong = found["a"]
    assert isinstance(wrong, FaultyServer)
    assert re.search(says, wrong.problem)
    assert "Value error" not in wrong.problem
    assert isinstance(found["good"], McpConfig)


def _empty(board: Path) -> Path:
    board.with_name("a").write_text("{}")
    return board


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"there is no file .*nowhere\.json"):
        expand("", McpConfig(mcp_json="nowhere.json"), tmp_path, {})


def test_a_variable_may_have_a_default(tmp_path: Path) -> None:
    found = _expanded(tmp_path, {"mcpServers": {"a": {"command": "${NOPE:-sh}"}}})

    assert found["a"].command == "sh"


def test_one_server_is_left_as_it_is(tmp_path: Path) -> None:
    config = McpConfig(command="x")

    assert expand("a", config, tmp_path, {}) == [("a", config)]


def test_a_board_takes_them_inline_and_only_the_wrong_one_fails(tmp_path: Path) -> None:
    board = (
        "sources:\n"
        "- kind: mcp\n"
        "  config:\n"
        "    mcpServers: {one: {command: a}, two: {url: 'http://b/mcp'}}\n"
    )
    path = tmp_path / "board.yaml"

    states = check_sources(parse_board(board, {}, path=path))

    assert [(state.name, state.kind) for state in states] == [("one", "mcp"), ("two", "mcp")]
    faulty = check_sources(parse_board(board.replace("command: a", "x: a"), {}, path=path))
    assert [state.name for state in faulty] == ["one", "two"]
    assert faulty[0].opener is not None
    assert "neither a command nor a url" in faulty[0].opener.config.problem
    with pytest.raises(ConfigError, match=r"board.yaml:3: .*no servers found"):
        check_sources(
            parse_board("sources:\n- kind: mcp\n  config: {mcp_json: a}\n", {}, path=_empty(path))
        )
    with pytest.raises(ConfigError, match="the name 'one' is already used"):
        check_sources(parse_board(board + "- {kind: builtin, name: one}\n", {}, path=path))
