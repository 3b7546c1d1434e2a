"""How common MCP clients are told of a server: which file, and what stands in it.

Formats and places as the makers of these clients document them in 2026: Claude Desktop and Claude
Code (`mcpServers`; `.mcp.json` of a project), Cursor (`.cursor/mcp.json`), VS Code (`mcp.json` with
`servers`), Windsurf (`serverUrl` for an address) and Gemini CLI (`settings.json`, `httpUrl`).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, cast

from pegboard.cli.atomic_write import alone, write_whole
from pegboard.core.suggestions import did_you_mean
from pegboard.errors import ConfigError, InvalidRequest

_MOST_BYTES = 64 * 2**20  # some clients keep what was said in the same file


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """One MCP client.

    Attributes:
        key: Under which its file lists servers.
        user: Its file by platform (`darwin`, `win32`, else `linux`), below the home folder; on
            Windows what begins with `%APPDATA%` is below that.
        project: Its file within a project; empty when it has none.
        address: How an entry names an address; empty when it only starts commands.
        typed: Whether an entry says its `type`.
    """

    title: str
    key: str
    user: Mapping[str, str]
    project: str = ""
    address: str = "url"
    typed: bool = False


def _everywhere(path: str) -> dict[str, str]:
    return {"darwin": path, "win32": path, "linux": path}


CLIENTS: Mapping[str, Client] = {
    "claude-desktop": Client(
        title="Claude Desktop",
        key="mcpServers",
        user={
            "darwin": "Library/Application Support/Claude/claude_desktop_config.json",
            "win32": "%APPDATA%/Claude/claude_desktop_config.json",
            "linux": ".config/Claude/claude_desktop_config.json",
        },
        address="",
    ),
    "claude-code": Client(
        title="Claude Code",
        key="mcpServers",
        user=_everywhere(".claude.json"),
        project=".mcp.json",
        typed=True,
    ),
    "cursor": Client(
        title="Cursor",
        key="mcpServers",
        user=_everywhere(".cursor/mcp.json"),
        project=".cursor/mcp.json",
    ),
    "vscode": Client(
        title="VS Code",
        key="servers",
        user={
            "darwin": "Library/Application Support/Code/User/mcp.json",
            "win32": "%APPDATA%/Code/User/mcp.json",
            "linux": ".config/Code/User/mcp.json",
        },
        project=".vscode/mcp.json",
        typed=True,
    ),
    "windsurf": Client(
        title="Windsurf",
        key="mcpServers",
        user=_everywhere(".codeium/windsurf/mcp_config.json"),
        address="serverUrl",
    ),
    "gemini-cli": Client(
        title="Gemini CLI",
        key="mcpServers",
        user=_everywhere(".gemini/settings.json"),
        project=".gemini/settings.json",
        address="httpUrl",
    ),
}


def client_of(name: str) -> Client:
    """The client of this name.

    Raises:
        InvalidRequest: There is none that we know.
    """
    client = CLIENTS.get(name)
    if client is None:
        hint = did_you_mean(name, CLIENTS, otherwise=f"known are {', '.join(CLIENTS)}")
        raise InvalidRequest(f"there is no MCP client '{name}'; {hint}")
    return client


def config_path(
    client: Client, *, platform: str, home: Path, environment: Mapping[str, str]
) -> Path:
    """The file of this user."""
    place = client.user.get(platform, client.user["linux"])
    inside = place.removeprefix("%APPDATA%/")
    if inside != place:
        roaming = environment.get("APPDATA", "")
        return (Path(roaming) if roaming else home / "AppData" / "Roaming") / PurePosixPath(inside)
    return home / PurePosixPath(place)


def project_path(client: Client, folder: Path) -> Path:
    """The file of a project.

    Raises:
        InvalidRequest: This client has none.
    """
    if not client.project:
        raise InvalidRequest(f"{client.title} has no configuration of a project; leave --project")
    return folder / PurePosixPath(client.project)


def command_entry(client: Client, command: list[str]) -> dict[str, Any]:
    """An entry for a server that the client starts."""
    entry = {"command": command[0], "args": command[1:]}
    return {"type": "stdio", **entry} if client.typed else entry


def address_entry(client: Client, url: str) -> dict[str, Any]:
    """An entry for a server at an address.

    Raises:
        InvalidRequest: This client only starts commands.
    """
    if not client.address:
        raise InvalidRequest(f"{client.title} only starts commands; leave --url")
    entry = {client.address: url}
    return {"type": "http", **entry} if client.typed else entry


def merged(client: Client, text: str, name: str, entry: Mapping[str, Any], *, path: Path) -> str:
    """The text of a client's file with this entry in it, and everything else as it was.

    Raises:
        ConfigError: The file is not plain JSON, or not of this client.
    """
    try:
        found: Any = json.loads(text) if text.strip() else {}
    except ValueError as error:
        raise ConfigError(
            f"{path} is not plain JSON (comments cannot be kept): put the entry in by hand"
        ) from error
    whole: dict[str, Any] = {client.key: None}
    if isinstance(found, dict):
        whole = cast("dict[str, Any]", found)
    servers: Any = whole.get(client.key, {})
    if not isinstance(servers, dict):
        raise ConfigError(
            f"{path}: '{client.key}' is not a mapping there: put the entry in by hand"
        )
    whole[client.key] = {**cast("dict[str, Any]", servers), name: dict(entry)}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def write_config(client: Client, path: Path, name: str, entry: Mapping[str, Any]) -> Path | None:
    """Merge the entry into the file; where the file of before is kept.

    Raises:
        ConfigError: It cannot be read, merged or written.
    """
    from pegboard.tools.safe_files import read_file

    with alone(path):
        try:
            text = read_file(path, most=_MOST_BYTES).decode() if path.exists() else ""
        except OSError as error:
            raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise ConfigError(f"{path} cannot be read: it is not UTF-8") from error
        after = merged(client, text, name, entry, path=path)
        return write_whole(path, after, backup=True, before=text)
