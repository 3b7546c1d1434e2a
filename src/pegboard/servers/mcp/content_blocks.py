"""Results and parts as MCP content blocks, and stored results as resource contents."""

import base64
from collections.abc import Iterable
from typing import Any, cast

import mcp_types as types

from pegboard.core.principal import Principal
from pegboard.core.result import (
    STORED_RESULT,
    Artifact,
    AudioPart,
    ImagePart,
    Part,
    ResourcePart,
    TextPart,
    ToolResult,
    error_to_dict,
)
from pegboard.execution.results.handles import load_result
from pegboard.features.permissions import check_may_read_results
from pegboard.runtime import Pegboard
from pegboard.servers.mcp.selection import BoardSelection
from pegboard.servers.mcp.to_mcp import McpTool

ERROR = "pegboard/error"
"""Key in a result's `_meta`: the error of a failed call with its code, as other doors have it."""

_LINKS_SINCE = "2025-06-18"
"""The first version of the protocol with links; earlier clients refuse a result with one."""
_TEXTS = ("text/", "application/json", "application/xml", "application/yaml")


def call_result(
    result: ToolResult, shown: McpTool, selection: BoardSelection, *, protocol_version: str
) -> dict[str, Any]:
    """The result of `tools/call`; of a large result the first page, with a link to the whole."""
    content = result.content
    parts = (TextPart(text=content),) if isinstance(content, str) else content
    blocks = [block_of(item, selection) for item in parts]
    blocks += [_link(item) for item in result.artifacts if item.handle]
    answer: dict[str, Any] = {
        "resultType": "complete",
        "content": blocks,
        "isError": result.is_error,
    }
    structured = _render_structured(result, shown)
    if structured is not None:
        answer["structuredContent"] = structured
    if result.error is not None:
        answer["_meta"] = {ERROR: error_to_dict(result.error)}
    if result.meta.truncated and result.meta.handle:
        answer["_meta"] = {STORED_RESULT: result.meta.handle}
        if protocol_version >= _LINKS_SINCE:
            whole = {"uri": result.meta.handle, "name": "the whole result"}
            blocks.append({"type": "resource_link", **whole, "size": result.meta.total_bytes})
    return answer


def block_of(item: Part, selection: BoardSelection) -> dict[str, Any]:
    """One content block."""
    match item:
        case TextPart():
            return {"type": "text", "text": _clean(item.text)}
        case ImagePart():
            return {"type": "image", "data": _base64(item.data), "mimeType": item.media_type}
        case AudioPart():
            return {"type": "audio", "data": _base64(item.data), "mimeType": item.media_type}
        case ResourcePart():
            if item.text is None and item.data is None:
                uri = selection.client_uri(item.uri)
                link = {"type": "resource_link", "uri": uri, "name": uri}
                return link | ({"mimeType": item.media_type} if item.media_type else {})
            return {"type": "resource", "resource": resource_contents(item, selection)}


def resource_contents(item: ResourcePart, selection: BoardSelection) -> dict[str, Any]:
    """The contents of a resource: text, else base64."""
    contents: dict[str, Any] = {"uri": selection.client_uri(item.uri)}
    if item.media_type:
        contents["mimeType"] = item.media_type
    if item.data is not None:
        contents["blob"] = _base64(item.data)
    else:
        contents["text"] = _clean(item.text or "")
    return contents


def parts_of(blocks: Iterable[Any]) -> tuple[Part, ...]:
    """Parts of sampled content; the type of an unsupported block is given in brackets."""
    return tuple(_part_of(item) for item in blocks)


def _part_of(block: Any) -> Part:
    match block:
        case types.TextContent():
            return TextPart(text=block.text)
        case types.ImageContent():
            return ImagePart(data=base64.b64decode(block.data), media_type=block.mime_type)
        case types.AudioContent():
            return AudioPart(data=base64.b64decode(block.data), media_type=block.mime_type)
        case _:
            return TextPart(text=f"[{block.type}]")


def _render_structured(result: ToolResult, shown: McpTool) -> Any:
    if result.is_error:
        return None
    value = result.structured
    if not shown.promises:
        return cast("Any", value) if isinstance(value, dict) else None
    if result.meta.truncated:
        meta = result.meta
        return {"truncated": True, "handle": meta.handle, "total_bytes": meta.total_bytes}
    if not shown.wraps:
        return value
    if value is None and result.content != "null":
        return None  # the tool returned text
    return {"result": value}


def _link(item: Artifact) -> dict[str, Any]:
    return {
        "type": "resource_link",
        "uri": item.handle,
        "name": item.name,
        "mimeType": item.media_type,
        "size": item.size,
    }


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _clean(text: str) -> str:
    """The text as valid Unicode: half of a surrogate pair is spelt out, JSON cannot say it."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


async def read_stored_result(board: Pegboard, handle: str, principal: Principal) -> dict[str, Any]:
    """Read a whole stored result as the contents of a resource.

    Raises:
        HandleNotFound: The handle is unknown, has expired or belongs to another caller.
        AccessDenied: The caller has sent a key that was made for less.
    """
    check_may_read_results(principal)
    stored = await load_result(handle, board.registry.environment.results, principal.owner)
    contents: dict[str, Any] = {"uri": handle, "mimeType": stored.media_type}
    if stored.media_type.startswith(_TEXTS):
        try:
            return contents | {"text": stored.body.decode()}
        except UnicodeDecodeError:
            pass  # as bytes it is whole
    return contents | {"blob": base64.b64encode(stored.body).decode("ascii")}
