"""The configuration files of common MCP clients, and their entries for a server.

Formats and places as the makers of these clients document them in 2026: Claude Desktop and Claude
Code (`mcpServers`; `.mcp.json` of a project), Cursor (`.cursor/mcp.json`), VS Code (`mcp.json` with
`servers`), Windsurf (`serverUrl` for an address) and Gemini CLI (`settings.json`, `httpUrl`).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, cast

from pegboard.cli.atomic_write import lock_folder, write_file
from pegboard.core.text.suggestions import did_you_mean
from pegboard.errors import ConfigError, InvalidRequest

_MAX_BYTES = 64 * 2**20  # some clients keep what was said in the same file


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientConfig:
    """One MCP client.

    Attributes:
        key: The key of its file that lists servers.
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


CLIENTS: Mapping[str, ClientConfig] = {
    "claude-desktop": ClientConfig(
        title="Claude Desktop",
        key="mcpServers",
        user={
            "darwin": "Library/Application Support/Claude/claude_desktop_config.json",
            "win32": "%APPDATA%/Claude/claude_desktop_config.json",
            "linux": ".config/Claude/claude_desktop_config.json",
        },
        address="",
    ),
    "claude-code": ClientConfig(
        title="Claude Code",
        key="mcpServers",
        user=_everywhere(".claude.json"),
        project=".mcp.json",
        typed=True,
    ),
    "cursor": ClientConfig(
        title="Cursor",
        key="mcpServers",
        user=_everywhere(".cursor/mcp.json"),
        project=".cursor/mcp.json",
    ),
    "vscode": ClientConfig(
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
    "windsurf": ClientConfig(
        title="Windsurf",
        key="mcpServers",
        user=_everywhere(".codeium/windsurf/mcp_config.json"),
        address="serverUrl",
    ),
    "gemini-cli": ClientConfig(
        title="Gemini CLI",
        key="mcpServers",
        user=_everywhere(".gemini/settings.json"),
        project=".gemini/settings.json",
        address="httpUrl",
    ),
}


def client_of(name: str) -> ClientConfig:
    """The client of this name.

    Raises:
        InvalidRequest: There is no such client.
    """
    client = CLIENTS.get(name)
    if client is None:
        hint = did_you_mean(name, CLIENTS, otherwise=f"known are {', '.join(CLIENTS)}")
        raise InvalidRequest(f"there is no MCP client '{name}'; {hint}")
    return client


def config_path(
    client: ClientConfig, *, platform: str, home: Path, environment: Mapping[str, str]
) -> Path:
    """The file of this user."""
    place = client.user.get(platform, client.user["linux"])
    inside = place.removeprefix("%APPDATA%/")
    if inside != place:
        roaming = environment.get("APPDATA", "")
        return (Path(roaming) if roaming else home / "AppData" / "Roaming") / PurePosixPath(inside)
    return home / PurePosixPath(place)


def project_path(client: ClientConfig, folder: Path) -> Path:
    """The file of a project.

    Raises:
        InvalidRequest: This client has no project file.
    """
    if not client.project:
        raise InvalidRequest(f"{client.title} has no project configuration; leave out --project")
    return folder / PurePosixPath(client.project)


def command_entry(client: ClientConfig, command: list[str]) -> dict[str, Any]:
    """The entry for a server that the client starts."""
    entry = {"command": command[0], "args": command[1:]}
    return {"type": "stdio", **entry} if client.typed else entry


def address_entry(client: ClientConfig, url: str) -> dict[str, Any]:
    """The entry for a server at an address.

    Raises:
        InvalidRequest: This client only starts commands.
    """
    if not client.address:
        raise InvalidRequest(f"{client.title} only starts commands; leave out --url")
    entry = {client.address: url}
    return {"type": "http", **entry} if client.typed else entry


def merge_entry(
    client: ClientConfig, text: str, name: str, entry: Mapping[str, Any], *, path: Path
) -> str:
    """Merge an entry into the text of a client's file; everything else stays.

    Raises:
        ConfigError: The file is not plain JSON, or not a file of this client.
    """
    try:
        found: Any = json.loads(text) if text.strip() else {}
    except ValueError as error:
        raise ConfigError(
            f"{path} is not plain JSON (comments cannot be preserved): add the entry by hand"
        ) from error
    whole: dict[str, Any] = {client.key: None}
    if isinstance(found, dict):
        whole = cast("dict[str, Any]", found)
    servers: Any = whole.get(client.key, {})
    if not isinstance(servers, dict):
        raise ConfigError(f"{path}: '{client.key}' is not a mapping: add the entry by hand")
    whole[client.key] = {**cast("dict[str, Any]", servers), name: dict(entry)}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def write_config(
    client: ClientConfig, path: Path, name: str, entry: Mapping[str, Any]
) -> Path | None:
    """Merge an entry into the file; return the path of the backup.

    Raises:
        ConfigError: It cannot be read, merged or written.
    """
    from pegboard.tools.safe_files import read_file

    with lock_folder(path):
        try:
            text = read_file(path, most=_MAX_BYTES).decode() if path.exists() else ""
        except OSError as error:
            raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise ConfigError(f"{path} cannot be read: it is not UTF-8") from error
        after = merge_entry(client, text, name, entry, path=path)
        return write_file(path, after, backup=True, before=text)
