"""Which kind of source runs an RFC-0003 type, and the `config:` that it gets for an entry."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from pegboard.core.tool import Effect
from pegboard.core.wire_names import is_source_name
from pegboard.errors import SourceUnavailable
from pegboard.runtime.board_file.models import ToolEntry
from pegboard.schemas.shorthand_schema import schema_of

RUNNERS: Mapping[str, str] = {
    "PythonFunction": "import",
    "LangChainTool": "import",
    "MCPTool": "server",
    "RestAPI": "url",
    "LocalScript": "script_path",
    "Subagent": "agent_config",
    "Database": "url",
    "KnowledgeBase": "url",
    "Federated": "server",
    "Workflow": "url",
}
"""Each RFC type, and the key that names its handler."""

KINDS: Mapping[str, str] = {
    "PythonFunction": "functions",
    "LangChainTool": "langchain",
    "LocalScript": "script",
    "RestAPI": "openapi",
    "Database": "sql",
    "Subagent": "agents",
    "KnowledgeBase": "knowledge",
}
"""The RFC types that a kind of source runs."""

_DATABASE_TOOL = "query"
"""The tool of a database that an entry is, unless it names another one."""
_PASSWORD = re.compile(r"(?<=://)([^@/?#]*?):[^@/?#]*(?=@)")
_IN_PATH = re.compile(r"\{([^{}/]+)\}")
_WITHOUT_BODY = frozenset({"get", "head", "delete", "options", "trace"})


def handler_of(entry: ToolEntry) -> Any:
    """The value under the key that names the entry's handler."""
    key = RUNNERS[entry.type]
    return entry.import_ if key == "import" else getattr(entry, key)


def show_handler(entry: ToolEntry) -> str:
    """The handler for messages: the URL of a database without its password."""
    return hide_password(str(handler_of(entry)))


def hide_password(url: str) -> str:
    """A URL without its password."""
    return _PASSWORD.sub(r"\1", url)


def source_name_of(entry: ToolEntry) -> str:
    """The name of the source that runs an entry; a database is named by it in descriptions."""
    name = entry.tool_id.rpartition("_v")[0] or entry.tool_id
    return name if entry.type == "Database" and is_source_name(name) else "static"


def config_of(entry: ToolEntry, where: str) -> dict[str, Any]:
    """The `config:` of the source that runs an entry.

    Raises:
        ConfigError: Its input schema is neither shorthand nor JSON Schema.
        SourceUnavailable: Its URL is invalid, or it describes the arguments of a database's tool.
    """
    if entry.type == "Database":
        return _database(entry)
    if entry.type == "KnowledgeBase":
        return {"base": entry.url, "tool": entry.tool or "kb_retrieve"}
    if entry.type == "RestAPI":
        return _action(entry, where)
    if entry.type == "LocalScript":
        return _script(entry, where)
    if entry.type == "Subagent":
        return {"agents": [{**(entry.agent_config or {}), "name": "agent"}]}
    return {"objects": [entry.import_]}


def _database(entry: ToolEntry) -> dict[str, Any]:
    """One tool of a database."""
    tool = entry.tool or _DATABASE_TOOL
    if entry.input_schema is not None:
        raise SourceUnavailable(
            f"the arguments are those of the tool '{tool}' of a database: leave out 'input_schema'"
        )
    config: dict[str, Any] = {
        "url": entry.url,
        "tools": [tool],
        "allow_writes": tool == "execute",
        "description": entry.name,
    }
    if entry.timeout_ms:
        config["statement_timeout"] = min(entry.timeout_ms / 1000, 3600)
    return config


def _script(entry: ToolEntry, where: str) -> dict[str, Any]:
    """The description of a script that has none of its own.

    The texts of an entry override those of its script anyway; they are left out here so that
    entries that differ only in them share one handler.
    """
    words = "A script." if entry.description else entry.name or entry.tool_id
    said: dict[str, Any] = {
        "description": words,
        "input_schema": schema_of(entry.input_schema or {}, f"{where}: input_schema"),
        "effect": entry.effect or Effect.WRITE,
    }
    if entry.timeout_ms:
        said["timeout"] = entry.timeout_ms / 1000
    config: dict[str, Any] = {
        "paths": [entry.script_path],
        "descriptions": {entry.script_path: said},
    }
    if entry.memory_mb:
        config["memory_mb"] = entry.memory_mb
    return config


def _action(entry: ToolEntry, where: str) -> dict[str, Any]:
    """One operation, written by hand.

    Inputs named in the path go there; others go into the query if the method has no body, or else
    into a JSON body.
    """
    try:
        parts = urlsplit(entry.url)
    except ValueError as error:
        raise SourceUnavailable("url: write it as https://host/path") from error
    path = parts.path or "/"
    method = (entry.method or "get").lower()
    schema = schema_of(entry.input_schema or {}, f"{where}: input_schema")
    inputs: Mapping[str, Any] = schema.get("properties", {})
    required = set(schema.get("required", ()))
    in_path = set(_IN_PATH.findall(path))
    apart = {name: None for name in inputs if name in in_path or method in _WITHOUT_BODY}
    action: dict[str, Any] = {
        "name": entry.tool_id,
        "method": method,
        "path": path,
        "parameters": [
            {"name": name, "required": name in required, "schema": inputs[name]} for name in apart
        ]
        + [{"name": name, "required": True} for name in sorted(in_path - inputs.keys())],
    }
    rest = {name: inputs[name] for name in inputs if name not in apart}
    if rest:
        needed = sorted(required & rest.keys())
        action["body"] = {"type": "object", "properties": rest, "required": needed}
    rest_of_url = f"?{parts.query}" if parts.query else ""
    config: dict[str, Any] = {
        "base_url": f"{parts.scheme}://{parts.netloc}{rest_of_url}",
        "actions": [action],
    }
    if entry.timeout_ms:
        config["timeout"] = min(entry.timeout_ms / 1000, 3600)
    return config
