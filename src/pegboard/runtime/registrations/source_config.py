"""Which kind of source runs an RFC-0003 type, and the `config:` that it gets for an entry."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from pegboard.core.tool import Effect
from pegboard.errors import SourceUnavailable
from pegboard.runtime.board_file.models import ToolEntry
from pegboard.runtime.registrations.shorthand_schema import schema_of

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
}
"""The RFC types that a kind of source runs."""

_IN_PATH = re.compile(r"\{([^{}/]+)\}")
_WITHOUT_BODY = frozenset({"get", "head", "delete", "options", "trace"})


def handler_of(entry: ToolEntry) -> Any:
    """The value under the key that names the entry's handler."""
    key = RUNNERS[entry.type]
    return entry.import_ if key == "import" else getattr(entry, key)


def config_of(entry: ToolEntry, where: str) -> dict[str, Any]:
    """The `config:` of the source that runs an entry.

    Raises:
        ConfigError: Its input schema is neither shorthand nor JSON Schema.
        SourceUnavailable: Its URL is invalid.
    """
    if entry.type == "RestAPI":
        return _action(entry, where)
    if entry.type == "LocalScript":
        return _script(entry, where)
    return {"objects": [entry.import_]}


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
    return {"paths": [entry.script_path], "descriptions": {entry.script_path: said}}


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
