"""A spec as data for others: plain JSON, and the formats of model providers."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pegboard.core.tool import ToolSpec


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
    return {
        "type": "function",
        "function": {
            "name": spec.name,
            "description": spec.description,
            "parameters": spec.input_schema,
        },
    }


def _plain(value: Any) -> Any:
    from msgspec import json

    return json.decode(json.encode(value, enc_hook=_named))


def _named(value: Any) -> str:
    return value.__name__ if isinstance(value, type) else str(value)
