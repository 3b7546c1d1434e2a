"""Reads the `mcpServers` JSON of MCP clients: one entry of a board becomes many servers."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from pegboard.core.text.suggestions import did_you_mean
from pegboard.core.text.truncate import truncate
from pegboard.core.wire_names import MAX_SOURCE_LENGTH, is_source_name
from pegboard.errors import ConfigError
from pegboard.sources.mcp.config import FaultyServer, McpConfig, words_of
from pegboard.tools.safe_files import read_file

_MAX_BYTES = 64 * 2**20  # some clients keep what was said in the same file
_LISTS = ("mcpServers", "servers", "mcp_servers", "context_servers")
_OURS = frozenset({"command", "args", "env", "cwd", "url", "headers", "auth", "transport"})
_OPTIONS = frozenset(McpConfig.model_fields) - _OURS - {"mcp_json", "mcp_servers"}
_AN_ENTRY = '{"command": ...} or {"url": ...}'
_URLS = ("url", "serverUrl", "httpUrl")
_KEYS = sorted(
    _OURS | _OPTIONS | {*_URLS, "type", "envFile", "disabled", "enabled", "name", "description"}
)
_MAX_REPORTED = 5
_MAX_KEY = 50
_TRANSPORTS = {
    "": "auto",
    "auto": "auto",
    "sse": "sse",
    "http": "http",
    "streamable-http": "http",
    "streamable_http": "http",
    "streamableHttp": "http",
}
_VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_FOLDER = re.compile(r"\$\{(?:workspaceFolder|userHome|pathSeparator|/)\}")
_ASKED = re.compile(r"\$\{input:([^}]*)\}")


def expand(
    name: str, config: McpConfig, base_dir: Path, environ: Mapping[str, str]
) -> Sequence[tuple[str, McpConfig | FaultyServer]]:
    """The sources of one entry of a board: one, or one for each server of a list.

    A server with an invalid entry becomes a source that fails alone, with what to write.

    Servers keep their names as far as they are valid source names. A name of the entry becomes
    their prefix, or the name of the only server.

    Raises:
        ConfigError: The file cannot be read, or has no list of servers.
    """
    if not config.names_many:
        return [(name, config)]
    place, document = _document(config, base_dir)
    listed = _entries(place, document)
    options = {key: getattr(config, key) for key in config.model_fields_set & _OPTIONS}
    reader = _Reader(place, base_dir, environ, options)
    found = [(key, reader.server(key, entry)) for key, entry in listed if not _is_off(entry)]
    if name and len(found) == 1:
        return [(name, found[0][1])]
    names = _names([f"{name}-{key}" if name else key for key, _ in found])
    return list(zip(names, (item for _, item in found), strict=True))


def _document(config: McpConfig, base_dir: Path) -> tuple[str, Any]:
    if config.mcp_servers is not None:
        return "mcpServers", {"mcpServers": config.mcp_servers}
    path = base_dir / Path(config.mcp_json).expanduser()
    try:
        text = read_file(path, most=_MAX_BYTES).decode()
        return path.name, json.loads(_without_comments(text))
    except FileNotFoundError as error:
        raise ConfigError(f"there is no file {path}: write its path in 'mcp_json'") from error
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} cannot be read as JSON: {error}") from error


def _without_comments(text: str) -> str:
    """Remove the comments and trailing commas that VS Code allows; strings are left alone."""
    pattern = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])', re.DOTALL)
    return pattern.sub(lambda m: m.group() if m.group().startswith('"') else "", text)


def _entries(place: str, document: Any) -> list[tuple[str, Any]]:
    root = cast("dict[str, Any]", document) if isinstance(document, dict) else {}
    if isinstance(root.get("mcp"), dict):  # settings.json of an editor
        root = cast("dict[str, Any]", root["mcp"])
    for key in _LISTS:
        servers = root.get(key)
        if isinstance(servers, Mapping):
            return list(cast("Mapping[str, Any]", servers).items())
    raise ConfigError(f'{place}: no servers found; expected {{"mcpServers": {{NAME: {{...}}}}}}')


def _is_off(entry: Any) -> bool:
    if not isinstance(entry, Mapping):
        return False
    said = cast("Mapping[str, Any]", entry)
    return bool(said.get("disabled")) or said.get("enabled") is False


class _Reader:
    """Reads the servers of one list."""

    def __init__(
        self,
        place: str,
        base_dir: Path,
        environ: Mapping[str, str],
        options: Mapping[str, Any],
    ) -> None:
        self._place = place
        self._base_dir = base_dir
        self._environ = environ
        self._options = options

    def server(self, name: str, entry: Any) -> McpConfig | FaultyServer:
        try:
            if not isinstance(entry, Mapping):
                kind = "null" if entry is None else type(entry).__name__
                raise self._fault(name, f"is {kind}; write {_AN_ENTRY}, or leave it out")
            return self._config(name, cast("Mapping[str, Any]", entry))
        except ConfigError as error:
            return FaultyServer(problem=error.message)

    def _config(self, name: str, entry: Mapping[str, Any]) -> McpConfig:
        kind = str(entry.get("type") or entry.get("transport") or "")
        fields: dict[str, Any] = dict(self._options)
        fields |= {key: self._fill(name, entry[key]) for key in _OPTIONS & entry.keys()}
        if entry.get("command"):
            if not kind and (url := next((key for key in _URLS if entry.get(key)), "")):
                raise self._fault(name, f"has both 'command' and '{url}'; keep one of them")
            if kind not in ("", "stdio"):
                raise self._fault(name, f"has a command, but its type is '{kind}'")
            own = {key: entry[key] for key in ("command", "args", "env", "cwd") if entry.get(key)}
            if not isinstance(own.get("env", {}), Mapping):
                raise self._fault(name, "'env' must be a mapping of names to strings")
            own["env"] = self._from_file(name, entry) | dict(own.get("env", {}))
        else:
            own = self._remote(name, kind, entry)
        fields |= {key: self._fill(name, value) for key, value in own.items()}
        try:
            return McpConfig.model_validate(fields)
        except ValidationError as error:
            # what pydantic says may quote a secret, so its error is not kept as the cause
            raise self._fault(name, words_of(error)) from None

    def _remote(self, name: str, kind: str, entry: Mapping[str, Any]) -> dict[str, Any]:
        url = next((entry[key] for key in _URLS if entry.get(key)), None)
        if url is None:
            said = f"has neither a command nor a url{_misspelt(entry)}; write {_AN_ENTRY}"
            raise self._fault(name, said)
        if kind not in _TRANSPORTS:
            known = "stdio, http, sse, streamable-http"
            raise self._fault(name, f"type '{kind}' is unknown; use one of {known}")
        own = {key: entry[key] for key in ("headers", "auth") if entry.get(key)}
        return {"url": url, "transport": _TRANSPORTS[kind], **own}

    def _from_file(self, name: str, entry: Mapping[str, Any]) -> dict[str, str]:
        file = entry.get("envFile")
        if not file:
            return {}
        path = self._base_dir / self._fill(name, str(file))
        try:
            text = read_file(path, most=_MAX_BYTES).decode()
        except (OSError, ValueError) as error:
            raise self._fault(name, f"its envFile {path} cannot be read") from error
        return dict(_variables(text))

    def _fill(self, name: str, value: Any) -> Any:
        """Replace variables and folders in a value."""
        if isinstance(value, Mapping):
            items = cast("Mapping[str, Any]", value).items()
            return {key: self._fill(name, item) for key, item in items}
        if isinstance(value, (list, tuple)):
            return [self._fill(name, item) for item in cast("Sequence[Any]", value)]
        if not isinstance(value, str):
            return value
        asked = _ASKED.search(value)
        if asked:
            raise self._fault(
                name, f"has an input variable '{asked.group(1)}'; write ${{env:NAME}} instead"
            )
        folders = {"workspaceFolder": str(self._base_dir), "userHome": str(Path.home())}
        text = _FOLDER.sub(lambda match: folders.get(match.group()[2:-1], "/"), value)
        return _VARIABLE.sub(lambda match: self._variable(name, match), text)

    def _variable(self, name: str, match: re.Match[str]) -> str:
        fallback: str | None = match.group(2)
        found = self._environ.get(match.group(1), fallback)
        if found is None:
            raise self._fault(name, f"the variable {match.group(1)} is not set")
        return found

    def _fault(self, name: str, reason: str) -> ConfigError:
        return ConfigError(f"{self._place}: the server '{name}': {reason}")


def _misspelt(entry: Mapping[str, Any]) -> str:
    """The unknown keys of an entry with suggestions; empty when all are known."""
    unknown = [key for key in map(str, entry) if key not in _KEYS]
    parts: list[str] = []
    for key in unknown[:_MAX_REPORTED]:
        hint = did_you_mean(key, _KEYS)
        parts.append(f"'{truncate(key, _MAX_KEY)}'{hint and f' ({hint})'}")
    return f"; unknown keys: {', '.join(parts)}" if parts else ""


def _variables(text: str) -> Iterator[tuple[str, str]]:
    """The pairs of an env file."""
    for raw in text.splitlines():
        key, equals, value = raw.strip().removeprefix("export ").partition("=")
        value = value.strip()
        if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1]
        if equals and not key.startswith("#"):
            yield key.strip(), value


def _names(wanted: Sequence[str]) -> list[str]:
    """Unique source names, as close as possible to the server names."""
    taken: list[str] = []
    for item in wanted:
        plain = item if is_source_name(item) else _legible(item)
        name, number = plain, 2
        while name in taken:
            name = f"{plain[: MAX_SOURCE_LENGTH - 4]}-{number}"
            number += 1
        taken.append(name)
    return taken


def _legible(text: str) -> str:
    words = re.sub(r"[^a-zA-Z0-9-]+", "-", text).strip("-")
    return words[:MAX_SOURCE_LENGTH].strip("-") or "server"
