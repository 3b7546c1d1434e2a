"""Reads the arguments of `MCPClient` as configurations of MCP servers."""

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from pegboard.core.wire_names import is_source_name
from pegboard.errors import ConfigError
from pegboard.runtime.settings import environ
from pegboard.sources.mcp.config import FaultyServer, McpConfig, words_of
from pegboard.sources.mcp.mcp_servers_json import expand

Server = str | Path | Sequence[str] | Mapping[str, Any]
_IS_URL = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://")
_TARGETS = ("command", "url", "mcp_json", "mcpServers")
_TAKES = (
    "give it a url, a command or the list of its words, one server's settings, a mapping with "
    "'mcpServers', or the path of a JSON file with one"
)


def configs_of(
    server: Server, name: str, options: Mapping[str, Any]
) -> Sequence[tuple[str, McpConfig]]:
    """The configured servers, each with the prefix of its tools' names.

    Args:
        server: The first argument of `MCPClient`.
        name: Prefix for the only server, or before the names of several; empty for none.
        options: Further settings of a `kind: mcp` source.

    Raises:
        ConfigError: It cannot be read; the message says what to write.
    """
    if name and not is_source_name(name):
        raise ConfigError(
            f"MCPClient: name={name!r} is not a prefix for tool names; use at most 30 letters, "
            "digits, single '_' and '-'"
        )
    settings = _settings(server)
    if twice := [key for key in _TARGETS if key in settings and key in options]:
        raise ConfigError(f"MCPClient: '{twice[0]}' is given twice; name one server")
    try:
        config = McpConfig.model_validate({**settings, **options})
    except ValidationError as error:
        # what pydantic says may quote a secret, so its error is not kept as the cause
        raise ConfigError(f"MCPClient: {words_of(error)}") from None
    configs: list[tuple[str, McpConfig]] = []
    problems: list[str] = []
    for item, own in expand(name, config, Path.cwd(), environ()):
        if isinstance(own, FaultyServer):
            problems.append(own.problem)
        else:
            configs.append((item or "mcp", own))
    if not (configs or problems):
        place = config.mcp_json or "mcpServers"
        problems = [f'{place} names no enabled server; write {{"mcpServers": {{NAME: {{...}}}}}}']
    if problems:
        raise ConfigError(f"MCPClient: {'; '.join(problems)}")
    return configs


def _settings(server: Server) -> dict[str, Any]:
    if isinstance(server, Mapping):
        listed = server.get("mcpServers", server.get("servers"))
        if listed is None:
            return dict(server)
        # the other keys of a client's settings file are the client's own
        return {key: server[key] for key in _TARGETS if key in server} | {"mcpServers": listed}
    if isinstance(server, Path) or (isinstance(server, str) and server.endswith(".json")):
        return {"mcp_json": str(server)}
    if isinstance(server, str) and _IS_URL.match(server):
        return {"url": server}
    words = _words(server)
    return {"command": words[0], "args": tuple(words[1:])}


def _words(server: object) -> Sequence[str]:
    """The words of a command.

    Raises:
        ConfigError: It is not a command.
    """
    try:
        words = shlex.split(server) if isinstance(server, str) else server
    except ValueError as error:
        raise ConfigError(
            f"MCPClient: the command cannot be read ({error}); give its words as a list"
        ) from error
    if not isinstance(words, Sequence) or isinstance(words, bytes | bytearray):
        raise ConfigError(f"MCPClient: {_TAKES}, not {type(server).__name__}")
    items = cast("Sequence[object]", words)
    if not items or not all(isinstance(item, str) for item in items):
        found = "nothing" if not items else "a list with other values"
        raise ConfigError(f"MCPClient: {_TAKES}, not {found}")
    return cast("Sequence[str]", items)
