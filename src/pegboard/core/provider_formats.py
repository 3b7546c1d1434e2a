"""Tool specs in the formats of model providers and MCP."""

from typing import Any

from pegboard.core.provider_schema import provider_schema
from pegboard.core.tool import ToolSpec

_MAX_DESCRIPTION = 1024


def openai_tool(spec: ToolSpec) -> dict[str, Any]:
    """The tool in the format of OpenAI's chat completions API."""
    return {"type": "function", "function": _function(spec)}


def openai_response_tool(spec: ToolSpec) -> dict[str, Any]:
    """The tool in the format of OpenAI's responses API.

    Strict schemas are the default there and allow no optional arguments, so `strict` is false.
    """
    return {"type": "function", **_function(spec), "strict": False}


def anthropic_tool(spec: ToolSpec) -> dict[str, Any]:
    """The tool in the format of Anthropic's messages API."""
    return {
        "name": spec.name,
        "description": spec.model_description,
        "input_schema": provider_schema(spec.input_schema),
    }


def mcp_tool(spec: ToolSpec) -> dict[str, Any]:
    """The tool as an entry of MCP's `tools/list`, with hints from its effect.

    An output schema is left out unless it describes an object, as MCP requires.
    """
    reads = spec.effect == "read"
    annotations: dict[str, Any] = {"readOnlyHint": reads}
    if not reads:
        annotations["destructiveHint"] = spec.destructive is not False
        annotations["idempotentHint"] = spec.idempotent is True
    data: dict[str, Any] = {
        "name": spec.name,
        "description": spec.model_description,
        "inputSchema": {"type": "object", **spec.input_schema},
        "annotations": annotations,
    }
    if spec.title:
        data["title"] = spec.title
    if spec.output_schema is not None and spec.output_schema.get("type") == "object":
        data["outputSchema"] = spec.output_schema
    return data


def _function(spec: ToolSpec) -> dict[str, Any]:
    return {
        "name": spec.name,
        "description": _describe_briefly(spec),
        "parameters": provider_schema(spec.input_schema),
    }


def _describe_briefly(spec: ToolSpec) -> str:
    """Within the limit of OpenAI, which refuses the whole request for a longer description."""
    description = spec.model_description
    if len(description) > _MAX_DESCRIPTION:
        description = spec.description  # the examples go first
    if len(description) <= _MAX_DESCRIPTION:
        return description
    return f"{description[: _MAX_DESCRIPTION - 1].rstrip()}…"
