"""Converts between MCP content blocks and Pegboard's parts."""

import base64
import binascii
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import mcp_types as types
from pydantic_core import from_json

from pegboard.core.resources_and_prompts import board_uri
from pegboard.core.result import (
    RESULT_URI,
    STORED_RESULT,
    WRAPPED_RESULT,
    AudioPart,
    ImagePart,
    Part,
    ResourcePart,
    TextPart,
    ToolResult,
)
from pegboard.errors import ToolFailed

MAX_DESCRIPTION = 10_000
"""Characters; a model reads all of it with each list."""

Contents = types.TextResourceContents | types.BlobResourceContents


def to_result(source: str, result: types.CallToolResult) -> ToolResult:
    """Convert a tool's answer; errors keep the server's message."""
    parts = tuple(to_part(source, block) for block in result.content)
    only = parts[0] if len(parts) == 1 else None
    return ToolResult(
        content=only.text if isinstance(only, TextPart) else parts,
        structured=result.structured_content,
        is_error=result.is_error,
    )


def find_stored_result(result: types.CallToolResult) -> str:
    """The handle of the whole result, where the server is a board that has sent a page of it."""
    handle = (result.meta or {}).get(STORED_RESULT)
    return handle if isinstance(handle, str) and handle.startswith(RESULT_URI) else ""


def to_whole_result(
    source: str,
    page: types.CallToolResult,
    contents: Sequence[Contents],
    output_schema: Mapping[str, Any] | None,
) -> ToolResult:
    """The whole of a result of which a board has sent a page; its pictures and files stay.

    Args:
        source: The name of the source.
        page: What the board has answered.
        contents: What it has stored.
        output_schema: The tool's.
    """
    item = contents[0] if len(contents) == 1 else None
    if not isinstance(item, types.TextResourceContents):
        return to_result(source, page)
    value: Any = item.text
    if item.mime_type == "application/json":
        try:
            value = from_json(item.text)
        except ValueError:
            return to_result(source, page)
    if output_schema is not None and output_schema.get(WRAPPED_RESULT):
        value = {"result": value}
    elif not isinstance(value, dict):
        value = None
    others = [
        to_part(source, block)
        for block in page.content
        if not isinstance(block, types.TextContent) and not _is_link_to(block, item.uri)
    ]
    content = (TextPart(item.text), *others) if others else item.text
    return ToolResult(content=content, structured=value, is_error=page.is_error)


def _is_link_to(block: types.ContentBlock, uri: str) -> bool:
    return isinstance(block, types.ResourceLink) and block.uri == uri


def to_part(source: str, block: types.ContentBlock) -> Part:
    """Convert one content block; a resource gets its URI on the board."""
    match block:
        case types.TextContent():
            return TextPart(block.text)
        case types.ImageContent():
            return ImagePart(_bytes(source, block.data), block.mime_type)
        case types.AudioContent():
            return AudioPart(_bytes(source, block.data), block.mime_type)
        case types.ResourceLink():
            return ResourcePart(board_uri(source, block.uri), block.mime_type or "")
        case types.EmbeddedResource():
            return to_resource_part(source, block.resource, board_uri(source, block.resource.uri))


def to_resource_part(source: str, item: Contents, uri: str) -> ResourcePart:
    """Convert the contents of a resource."""
    if isinstance(item, types.TextResourceContents):
        return ResourcePart(uri, item.mime_type or "", text=item.text)
    return ResourcePart(uri, item.mime_type or "", data=_bytes(source, item.blob))


def parts_of_message(source: str, content: Any) -> tuple[Part, ...]:
    """Convert the content of a sampling message; of other kinds of block only the type."""
    blocks = cast("Sequence[Any]", content if isinstance(content, list) else [content])
    kinds = (types.TextContent, types.ImageContent, types.AudioContent)
    return tuple(
        to_part(source, block) if isinstance(block, kinds) else TextPart(f"[{block.type}]")
        for block in blocks
    )


def sample_content(parts: Iterable[Part]) -> types.SamplingContent:
    """Convert a model's answer into one content block: a server accepts no more."""
    items = list(parts)
    if len(items) == 1:
        only = items[0]
        if isinstance(only, ImagePart):
            data = base64.b64encode(only.data).decode()
            return types.ImageContent(data=data, mime_type=only.media_type)
        if isinstance(only, AudioPart):
            data = base64.b64encode(only.data).decode()
            return types.AudioContent(data=data, mime_type=only.media_type)
    text = ToolResult(content=tuple(items)).text
    return types.TextContent(text=text)


def shorten(text: str, most: int) -> str:
    """Cut a text that is longer than `most` characters."""
    return text if len(text) <= most else f"{text[:most]}…"


def _bytes(source: str, data: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ToolFailed(f"'{source}' sent data that is not base64.") from error
