"""Renders tools, resources and prompts as MCP objects."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from msgspec import json

from pegboard.core.resources_and_prompts import PromptSpec, ResourceSpec
from pegboard.core.result import WRAPPED_RESULT
from pegboard.core.tool import Effect, JsonSchema, ToolSpec

_CLOSED_WORLDS = frozenset({"computation", "database", "filesystem"})
_OPEN_WORLDS = frozenset({"web"})
_SCALARS = frozenset({"boolean", "integer", "number", "null"})
_LOCAL = "#/$defs/"
PAGED = {
    "type": "object",
    "properties": {
        "truncated": {"const": True},
        "handle": {"type": "string", "description": "Where the whole result is stored."},
        "total_bytes": {"type": "integer"},
    },
    "required": ["truncated", "handle"],
}
"""Schema of the structured content that replaces a result which is too large."""


@dataclass(frozen=True, slots=True, kw_only=True)
class McpTool:
    """A rendered tool, without its name.

    Attributes:
        body: Every field but the name.
        promises: Whether it has an output schema, so that results need structured content.
        wraps: Whether structured content has the value under `result`, since MCP requires an
            object.
    """

    body: dict[str, Any]
    promises: bool
    wraps: bool

    def with_name(self, name: str) -> dict[str, Any]:
        """The rendered tool with this name."""
        return {"name": name, **self.body}


NOTHING = McpTool(body={}, promises=False, wraps=False)
"""Stands for a tool that does not exist."""


def to_mcp_tool(spec: ToolSpec, *, paged: bool) -> McpTool:
    """Render a tool.

    Args:
        spec: The tool.
        paged: Whether a large result may be truncated and read page by page.
    """
    body: dict[str, Any] = {
        "description": spec.model_description,
        "inputSchema": {"type": "object", **_plain(spec.input_schema)},
        "annotations": _annotations(spec),
    }
    if spec.title:
        body["title"] = spec.title
    output, wraps = _output(spec.output_schema, paged=paged)
    if output is not None:
        body["outputSchema"] = output
    return McpTool(body=body, promises=output is not None, wraps=wraps)


def to_mcp_resource(spec: ResourceSpec, uri: str) -> dict[str, Any]:
    """Render a resource or a template."""
    shown: dict[str, Any] = {
        "uriTemplate" if spec.is_template else "uri": uri,
        "name": spec.name,
        **_without_empty(title=spec.title, description=spec.description, mimeType=spec.media_type),
    }
    if spec.size is not None and not spec.is_template:
        shown["size"] = spec.size
    annotations: dict[str, Any] = _without_empty(audience=list(spec.audience))
    if spec.priority is not None:
        annotations["priority"] = spec.priority
    if annotations:
        shown["annotations"] = annotations
    return shown


def to_mcp_prompt(spec: PromptSpec, name: str) -> dict[str, Any]:
    """Render a prompt."""
    arguments = [
        {
            "name": item.name,
            "required": item.required,
            **_without_empty(title=item.title, description=item.description),
        }
        for item in spec.arguments
    ]
    return {
        "name": name,
        **_without_empty(title=spec.title, description=spec.description, arguments=arguments),
    }


def _annotations(spec: ToolSpec) -> dict[str, Any]:
    """Hints from the effect; an unknown hint is left to MCP's default."""
    reads = spec.effect is Effect.READ
    hints: dict[str, Any] = {"readOnlyHint": reads}
    if not reads:
        hints["destructiveHint"] = spec.destructive is not False
        hints["idempotentHint"] = spec.idempotent is True
    if spec.category in _CLOSED_WORLDS:
        hints["openWorldHint"] = False
    elif spec.category in _OPEN_WORLDS:
        hints["openWorldHint"] = True
    return hints


def _output(schema: JsonSchema | None, *, paged: bool) -> tuple[dict[str, Any] | None, bool]:
    """The output schema as an object, which MCP requires, and whether the value is wrapped."""
    if schema is None:
        return None, False
    plain = _plain(schema)
    kind = plain.get("type")  # several types may be listed
    wraps = kind != "object"
    paged = paged and not (isinstance(kind, str) and kind in _SCALARS)
    if not wraps and not paged:
        return plain, False
    if not _moves(plain):
        return None, False
    definitions = plain.pop("$defs", None)
    dialect = plain.pop("$schema", None)
    if wraps:
        plain = {"type": "object", "properties": {"result": plain}, "required": ["result"]}
    if paged:
        plain = {"type": "object", "anyOf": [plain, PAGED]}
    if wraps:
        plain = plain | {WRAPPED_RESULT: True}
    if definitions is not None:
        plain["$defs"] = definitions
    return plain if dialect is None else {"$schema": dialect, **plain}, wraps


def _moves(node: Any) -> bool:
    """Whether a schema keeps its meaning inside another one that has its definitions."""
    if isinstance(node, dict):
        here = cast("dict[str, Any]", node)
        reference = here.get("$ref", _LOCAL)
        if isinstance(reference, str) and not reference.startswith(_LOCAL):
            return False
        return not here.keys() & {"$id", "$dynamicRef"} and all(map(_moves, here.values()))
    return all(map(_moves, cast("list[Any]", node))) if isinstance(node, list) else True


def _plain(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A copy with plain dicts, which JSON encoders accept."""
    return json.decode(json.encode(dict(schema)))


def _without_empty(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value}
