"""Export tools as JSON for other APIs, protocols and prompts."""

from collections.abc import Mapping
from typing import Any, cast

from pegboard.core.principal import LOCAL, Principal
from pegboard.core.provider_formats import (
    anthropic_tool,
    mcp_tool,
    openai_response_tool,
    openai_tool,
)
from pegboard.core.provider_schema import provider_schema
from pegboard.core.tool import ToolSpec
from pegboard.registry import ToolRegistry


def openai_tools(registry: ToolRegistry, *, principal: Principal = LOCAL) -> list[dict[str, Any]]:
    """The tools that this caller may see, for OpenAI's chat completions API."""
    return [openai_tool(tool.spec) for tool in registry.visible_to_models(principal)]


def openai_response_tools(
    registry: ToolRegistry, *, principal: Principal = LOCAL
) -> list[dict[str, Any]]:
    """The tools that this caller may see, for OpenAI's responses API."""
    return [openai_response_tool(tool.spec) for tool in registry.visible_to_models(principal)]


def anthropic_tools(
    registry: ToolRegistry, *, principal: Principal = LOCAL
) -> list[dict[str, Any]]:
    """The tools that this caller may see, for Anthropic's messages API."""
    return [anthropic_tool(tool.spec) for tool in registry.visible_to_models(principal)]


def mcp_tools(registry: ToolRegistry, *, principal: Principal = LOCAL) -> list[dict[str, Any]]:
    """The tools that this caller may see, as the `tools` of MCP's `tools/list`."""
    return [mcp_tool(tool.spec) for tool in registry.visible_to_models(principal)]


def json_schemas(
    registry: ToolRegistry, *, principal: Principal = LOCAL
) -> dict[str, dict[str, Any]]:
    """JSON Schema of each tool's arguments by its name, with name and description inside."""
    return {
        tool.spec.name: {
            **tool.spec.input_schema,
            "title": tool.spec.name,
            "description": tool.spec.model_description,
        }
        for tool in registry.visible_to_models(principal)
    }


def openapi_document(
    registry: ToolRegistry,
    *,
    principal: Principal = LOCAL,
    title: str = "Tools",
    version: str = "1.0.0",
    path: str = "/tools/{name}",
) -> dict[str, Any]:
    """An OpenAPI 3.1 document with one operation for each tool, for a gateway of your own.

    Pegboard's own server takes all calls at one path and describes itself at `/openapi.json`.

    Args:
        registry: Whose tools.
        principal: Who may see them.
        title: Of the document.
        version: Of the document.
        path: Where a tool is called; `{name}` stands for its name.
    """
    paths: dict[str, Any] = {}
    schemas: dict[str, Any] = {}
    for tool in registry.visible(principal):
        spec = tool.spec
        paths[path.replace("{name}", spec.name)] = {"post": _operation(spec, schemas)}
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "version": version},
        "paths": paths,
        "components": {"schemas": schemas},
    }


def compact_catalog(registry: ToolRegistry, *, principal: Principal = LOCAL) -> str:
    """One line for each tool: name, arguments, purpose; for prompts that choose among many.

    Arguments that may be left out end in `?`.
    """
    return "\n".join(_line(tool.spec) for tool in registry.visible_to_models(principal))


def _operation(spec: ToolSpec, schemas: dict[str, Any]) -> dict[str, Any]:
    request = _component(f"{spec.name}_input", spec.input_schema, schemas)
    answer: dict[str, Any] = {}
    if spec.output_schema is not None:
        answer = _component(f"{spec.name}_output", spec.output_schema, schemas)
    return {
        "operationId": spec.name,
        "summary": spec.title or spec.name,
        "description": spec.model_description,
        "tags": [spec.source or spec.category],
        "requestBody": {"required": True, "content": {"application/json": {"schema": request}}},
        "responses": {
            "200": {
                "description": "What the tool gives back.",
                "content": {"application/json": {"schema": answer}},
            }
        },
    }


def _component(name: str, schema: Mapping[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    """Put a schema among the components, with its own references leading there."""
    reference = f"#/components/schemas/{name}"
    schemas[name] = _move_references(schema, reference)
    return {"$ref": reference}


def _move_references(node: Any, reference: str) -> Any:
    if isinstance(node, Mapping):
        items = cast("Mapping[str, Any]", node).items()
        return {
            key: f"{reference}{value[1:]}"
            if key == "$ref" and isinstance(value, str) and value.startswith("#")
            else _move_references(value, reference)
            for key, value in items
            if key != "$schema"
        }
    if isinstance(node, (list, tuple)):
        return [_move_references(item, reference) for item in cast("list[Any]", node)]
    return node


def _line(spec: ToolSpec) -> str:
    schema = provider_schema(spec.input_schema)
    properties: Mapping[str, Any] = schema["properties"]
    required = schema.get("required", ())
    arguments = ", ".join(name if name in required else f"{name}?" for name in properties)
    first = spec.description.strip().partition("\n")[0]
    sentence = first.partition(". ")[0].rstrip(".")
    return f"{spec.name}({arguments}): {sentence}" if sentence else f"{spec.name}({arguments})"
