"""Shape: secrets are taken out, files are stored, and what is too large is paged."""

from typing import Any

from msgspec import structs
from pydantic_core import to_json

from pegboard.core.ports.store import StoredResult
from pegboard.core.result import Artifact, ResultMeta, TextPart, ToolResult
from pegboard.execution.call import Handler, Run
from pegboard.execution.handles import new_handle
from pegboard.execution.kit import Kit
from pegboard.execution.paging import page_length
from pegboard.execution.redaction import redacted
from pegboard.execution.target import Target


def shape(target: Target, kit: Kit, following: Handler) -> Handler:
    """Always there; a small text result passes untouched."""
    spec, redact = target.spec, kit.redact
    budget = spec.max_result_bytes
    if budget is None:
        budget = kit.settings.max_result_bytes

    async def handle(call: Run) -> ToolResult:
        result = await following(call)
        if redact is not None:
            result = redacted(result, redact)
        if result.artifacts:
            result = await _stored_artifacts(result, call, kit)
        content = result.content
        if budget and content.__class__ is str and len(content) * 4 > budget:
            size = len(content.encode("utf-8", "surrogatepass"))  # type: ignore[union-attr]  # a str, by its class
            if size > budget:
                return await _paged(result, call, kit, size=size, budget=budget)
        elif budget and content.__class__ is tuple:
            size = sum(_size_of(part) for part in content)
            if size > budget and all(isinstance(part, TextPart) for part in content):
                return await _paged(result, call, kit, size=size, budget=budget)
        return result

    return handle


async def _stored_artifacts(result: ToolResult, call: Run, kit: Kit) -> ToolResult:
    stored: list[Artifact] = []
    for item in result.artifacts:
        if item.data is None:
            stored.append(item)
            continue
        handle = await _put(call, kit, item.data, item.media_type, name=item.name)
        stored.append(structs.replace(item, handle=handle, size=len(item.data), data=None))
    content = result.content
    if isinstance(content, tuple):
        handles = "\n".join(f"{item.name}: {item.handle}" for item in stored if item.handle)
        content = (*content, TextPart(text=handles)) if handles else content
    return structs.replace(result, artifacts=tuple(stored), content=content)


async def _paged(result: ToolResult, call: Run, kit: Kit, *, size: int, budget: int) -> ToolResult:
    text = result.text
    body, media_type = text.encode("utf-8", "surrogatepass"), "text/plain"
    if not isinstance(result.structured, str) and to_json(result.structured) == body:
        media_type = "application/json"
    handle = await _put(call, kit, body, media_type)
    page = text[: page_length(text, budget)]
    pages = -(-len(text) // len(page))
    note = (
        f"\n[page 1 of {pages}; the whole result has {size} bytes and is stored as {handle}: "
        "read page 2 with it, or give it to another tool as an argument]"
    )
    meta: ResultMeta = structs.replace(result.meta, truncated=True, handle=handle, total_bytes=size)
    return structs.replace(result, content=page + note, structured=None, meta=meta)


async def _put(call: Run, kit: Kit, body: bytes, media_type: str, *, name: str = "") -> str:
    now = kit.now()
    handle = new_handle()
    await kit.results.put(
        StoredResult(
            handle=handle,
            owner=call.owner,
            media_type=media_type,
            body=body,
            created_at=now,
            expires_at=now + kit.settings.result_ttl,
            name=name,
        )
    )
    return handle


def _size_of(part: Any) -> int:
    return len(part.text) if isinstance(part, TextPart) else 0
