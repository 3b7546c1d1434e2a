"""A spec as data for others: plain JSON, and the formats of model providers."""

from typing import TYPE_CHECKING, Any

from pegboard.core.provider_schema import provider_schema

if TYPE_CHECKING:
    from pegboard.core.tool import ToolSpec

_LONGEST_DESCRIPTION = 1024


def spec_to_dict(spec: "ToolSpec") -> dict[str, Any]:
    """Every field that says something, as JSON-compatible data; schemas as they are shown."""
    data: dict[str, Any] = {
        "id": spec.id,
        "name": spec.name,
        "title": spec.title or spec.name,
        "description": spec.description,
        "category": spec.category,
        "effect": spec.effect.value,
        "version": spec.version,
        "status": spec.status.value,
        "source": spec.source,
        "input_schema": spec.input_schema,
    }
    optional: dict[str, Any] = {
        "output_schema": spec.output_schema,
        "action": spec.action,
        "handler": spec.handler,
        "credential": spec.credential,
        "idempotent": spec.idempotent,
        "capabilities": list(spec.capabilities),
        "supported_tasks": list(spec.supported_tasks),
        "tags": list(spec.tags),
        "dependencies": list(spec.dependencies),
        "scopes": list(spec.scopes),
        "timeout": spec.timeout,
        "retry": _plain(spec.retry),
        "limits": _plain(spec.limits),
        "cache_ttl": spec.cache_ttl if spec.cacheable else None,
        "exclusive": spec.exclusive or None,
        "unavailable": spec.unavailable,
    }
    return data | {key: value for key, value in optional.items() if value not in (None, "", [])}


def openai_tool(spec: "ToolSpec") -> dict[str, Any]:
    """The tool in the format of OpenAI's chat completions API."""
    return {"type": "function", "function": _function(spec)}


def openai_response_tool(spec: "ToolSpec") -> dict[str, Any]:
    """The tool in the format of OpenAI's responses API.

    There strict schemas are the default, and they take no optional arguments: so it says no.
    """
    return {"type": "function", **_function(spec), "strict": False}


def anthropic_tool(spec: "ToolSpec") -> dict[str, Any]:
    """The tool in the format of Anthropic's messages API."""
    return {
        "name": spec.name,
        "description": spec.description,
        "input_schema": provider_schema(spec.input_schema),
    }


def mcp_tool(spec: "ToolSpec") -> dict[str, Any]:
    """The tool as an entry of MCP's `tools/list`, with hints from its effect.

    An output schema is left out unless it is one of an object, as MCP wants it.
    """
    reads = spec.effect == "read"
    annotations: dict[str, Any] = {"readOnlyHint": reads}
    if not reads:
        annotations |= {"destructiveHint": True, "idempotentHint": spec.idempotent is True}
    data: dict[str, Any] = {
        "name": spec.name,
        "description": spec.description,
        "inputSchema": {"type": "object", **spec.input_schema},
        "annotations": annotations,
    }
    if spec.title:
        data["title"] = spec.title
    if spec.output_schema is not None and spec.output_schema.get("type") == "object":
        data["outputSchema"] = spec.output_schema
    return data


def _function(spec: "ToolSpec") -> dict[str, Any]:
    return {
        "name": spec.name,
        "description": _shortened(spec.description),
        "parameters": provider_schema(spec.input_schema),
    }


def _shortened(description: str) -> str:
    """At most as long as OpenAI takes: a longer one would have the whole request refused."""
    if len(description) <= _LONGEST_DESCRIPTION:
        return description
    return f"{description[: _LONGEST_DESCRIPTION - 1].rstrip()}…"


def _plain(value: Any) -> Any:
    from msgspec import json

    return json.decode(json.encode(value, enc_hook=_named))


def _named(value: Any) -> str:
    return value.__name__ if isinstance(value, type) else str(value)
