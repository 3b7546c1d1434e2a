"""Tools that the MCP conformance suite calls by name."""

import asyncio
import base64
from collections.abc import Mapping
from typing import Any

from pegboard import SchemaTool, ToolContext, ToolFailed, ToolSpec, tool
from pegboard.core.result import AudioPart, ImagePart, Part, ResourcePart, TextPart
from pegboard.core.tool import Effect

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)
WAV = base64.b64decode("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=")
_PAUSE = 0.05


@tool(effect="read")
def test_simple_text() -> str:
    """Give simple text."""
    return "This is a simple text response for testing."


@tool(effect="read")
def test_image_content() -> ImagePart:
    """Give an image."""
    return ImagePart(data=PNG, media_type="image/png")


@tool(effect="read")
def test_audio_content() -> AudioPart:
    """Give a sound."""
    return AudioPart(data=WAV, media_type="audio/wav")


@tool(effect="read")
def test_embedded_resource() -> ResourcePart:
    """Give a resource with its text."""
    return ResourcePart(
        uri="test://embedded-resource",
        media_type="text/plain",
        text="This is an embedded resource content.",
    )


@tool(effect="read")
def test_multiple_content_types() -> list[Part]:
    """Give text, an image and a resource."""
    return [
        TextPart(text="Multiple content types test:"),
        ImagePart(data=PNG, media_type="image/png"),
        ResourcePart(
            uri="test://mixed-content-resource",
            media_type="application/json",
            text='{"test":"data","value":123}',
        ),
    ]


@tool(effect="read")
async def test_tool_with_logging(ctx: ToolContext) -> str:
    """Tell three lines."""
    for line in ("started", "processing data", "completed"):
        await ctx.tell(f"Tool execution {line}" if line != "processing data" else f"Tool {line}")
        await asyncio.sleep(_PAUSE)
    return "Tool with logging executed successfully"


@tool(effect="read")
async def test_logging_tool(ctx: ToolContext) -> str:
    """Tell a line, to whoever wants it."""
    await ctx.tell("A line of test_logging_tool")
    return "told"


@tool(effect="read")
async def test_tool_with_progress(ctx: ToolContext) -> str:
    """Tell of progress three times."""
    for done in (0, 50, 100):
        await ctx.progress(done, total=100, message=f"Completed step {done} of 100")
        await asyncio.sleep(_PAUSE)
    return "Tool with progress executed successfully"


@tool(effect="read")
def test_error_handling() -> str:
    """Fail."""
    raise ToolFailed("This tool intentionally returns an error for testing")


async def _region(arguments: Mapping[str, Any], _ctx: object) -> str:
    return f"region: {arguments['region']}"


test_custom_headers = SchemaTool(
    spec=ToolSpec(
        name="fixtures__test_custom_headers",
        source="fixtures",
        description="A tool one of whose parameters travels in a header too",
        effect=Effect.READ,
        input_schema={
            "type": "object",
            "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
            "required": ["region"],
            "additionalProperties": False,
        },
    ),
    run=_region,
)


async def _greet(arguments: object, _ctx: object) -> str:
    return f"JSON Schema 2020-12 tool called with: {arguments}"


json_schema_2020_12_tool = SchemaTool(
    spec=ToolSpec(
        name="fixtures__json_schema_2020_12_tool",
        source="fixtures",
        description="Tool with JSON Schema 2020-12 features",
        effect=Effect.READ,
        input_schema={
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {
                "address": {
                    "$anchor": "addressDef",
                    "type": "object",
                    "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
                }
            },
            "properties": {
                "name": {"type": "string"},
                "address": {"$ref": "#/$defs/address"},
                "contactMethod": {"type": "string", "enum": ["phone", "email"]},
                "phone": {"type": "string"},
                "email": {"type": "string"},
            },
            "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}, {}]}],
            "if": {
                "properties": {"contactMethod": {"const": "phone"}},
                "required": ["contactMethod"],
            },
            "then": {"required": ["phone"]},
            "else": {},
            "additionalProperties": False,
        },
    ),
    run=_greet,
)
