"""`file_read`: reads a workspace file, page by page."""

import mimetypes
from typing import Annotated

from pydantic import Field

from pegboard.core.context import ToolContext
from pegboard.core.ports.services import Services
from pegboard.core.result import Artifact, ToolResult
from pegboard.errors import InvalidRequest
from pegboard.sources.builtin.workspaces import files_of
from pegboard.sources.builtin.workspaces import unavailable as availability
from pegboard.tools import tool

__all__ = ["availability", "file_read"]

_MAX_BYTES = 10_000_000
_MAX_CHARACTERS = 200_000


@tool(
    effect="read",
    category="filesystem",
    trusted=False,
    idempotent=True,
    timeout=10,
    tags=("file", "read"),
)
def file_read(
    path: Annotated[str, Field(min_length=1, max_length=1024)],
    ctx: ToolContext[Services],
    *,
    offset: Annotated[int, Field(ge=1)] = 1,
    limit: Annotated[int, Field(ge=1, le=10_000)] = 2000,
) -> ToolResult:
    """Read a text file of the workspace, or get a binary file as an artifact.

    A long file comes in pages: `next_offset` is the start of the next one.

    Args:
        path: Relative to the workspace, such as "notes/today.md".
        ctx: Says which workspace.
        offset: The first line to read, counted from 1.
        limit: How many lines to read at most.
    """
    data = files_of(ctx).read(path, max_bytes=_MAX_BYTES)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return _binary(path, data)
    if "\0" in text:
        return _binary(path, data)
    lines = text.splitlines(keepends=True)
    if offset > max(1, len(lines)):
        raise InvalidRequest(f"'{path}' has {len(lines)} lines; line {offset} does not exist.")
    page = _page(lines[offset - 1 : offset - 1 + limit])
    last = offset - 1 + len(page)
    shown = "".join(page)
    return ToolResult(
        content=shown,
        structured={
            "path": path,
            "text": shown[:_MAX_CHARACTERS],
            "first_line": offset,
            "last_line": last,
            "lines": len(lines),
            "next_offset": last + 1 if last < len(lines) else None,
        },
    )


def _page(lines: list[str]) -> list[str]:
    """As many of these lines as fit; at least one, cut if need be."""
    room = _MAX_CHARACTERS
    page: list[str] = []
    for line in lines:
        if page and len(line) > room:
            break
        page.append(line[:room])
        room -= len(line)
    return page


def _binary(path: str, data: bytes) -> ToolResult:
    name = path.rpartition("/")[2]
    media_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return ToolResult(
        content=f"'{path}' is not a text file: {media_type}, {len(data)} bytes, as an artifact.",
        structured={"path": path, "media_type": media_type, "size": len(data)},
        artifacts=(Artifact(name=name, media_type=media_type, size=len(data), data=data),),
    )
