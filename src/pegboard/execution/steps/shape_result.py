"""Shape: secrets are removed, artifacts are stored, and a large result is paged."""

from msgspec import structs
from pydantic_core import to_json

from pegboard.core.ports.call_stores import StoredResult
from pegboard.core.result import Artifact, Part, ResourcePart, TextPart, ToolResult
from pegboard.errors import PegboardError
from pegboard.execution.call_state import CallState, Handler
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.environment import CallEnvironment
from pegboard.execution.results.handles import new_handle
from pegboard.execution.results.paging import page_length, size_of, words_of
from pegboard.execution.results.redaction import redact_result


def shape(target: CompiledTool, environment: CallEnvironment, following: Handler) -> Handler:
    """Always there; a small text result passes unchanged."""
    spec, redact = target.spec, environment.redact
    budget = spec.max_result_bytes
    if budget is None:
        budget = environment.settings.max_result_bytes

    async def handle(call: CallState) -> ToolResult:
        result = await following(call)
        if redact is not None:
            result = redact_result(result, redact)
        if result.artifacts:
            result = await _store_artifacts(result, call, environment, budget=budget)
        content = result.content
        if budget and (content.__class__ is not str or len(content) * 4 > budget):
            size = size_of(content)
            if size > budget:
                return await _store_and_page(result, call, environment, size=size, budget=budget)
        return result

    return handle


async def _store_artifacts(
    result: ToolResult, call: CallState, environment: CallEnvironment, *, budget: int
) -> ToolResult:
    stored: list[Artifact] = []
    for item in result.artifacts:
        if item.data is None:
            stored.append(item)
            continue
        size = len(item.data)
        handle = await _put(
            call, environment, item.data, item.media_type, name=item.name, budget=budget
        )
        if handle:
            stored.append(structs.replace(item, handle=handle, size=size, data=None))
        else:
            stored.append(structs.replace(item, size=size))
    result = structs.replace(result, artifacts=tuple(stored))
    told = "\n".join(
        f"{item.name}: {item.handle or _NOT_STORED}"
        for item in stored
        if item.handle or item.data is not None
    )
    return _with_words(result, told) if told else result


def _with_words(result: ToolResult, words: str) -> ToolResult:
    content = result.content
    if isinstance(content, str):
        return structs.replace(result, content=f"{content}\n{words}" if content else words)
    return structs.replace(result, content=(*content, TextPart(text=words)))


async def _store_and_page(
    result: ToolResult, call: CallState, environment: CallEnvironment, *, size: int, budget: int
) -> ToolResult:
    text = _text_of(result.content)
    body = text.encode("utf-8", "surrogatepass")
    media_type = "application/json" if _is_json(result.structured, body) else "text/plain"
    handle = await _put(call, environment, body, media_type, budget=budget)
    page = text[: page_length(text, budget)]
    pages = -(-len(text) // len(page))
    stored = (
        f"is stored as {handle}: read page 2 with it, or give it to another tool as an argument"
        if handle
        else _NOT_STORED
    )
    shown = f"{page}\n[page 1 of {pages}; the whole result has {size} bytes and {stored}]"
    meta = structs.replace(result.meta, truncated=True, handle=handle, total_bytes=size)
    content = _with_page(result.content, shown)
    return structs.replace(result, content=content, structured=None, meta=meta)


_NOT_STORED = "could not be stored"


async def _put(
    call: CallState,
    environment: CallEnvironment,
    body: bytes,
    media_type: str,
    *,
    budget: int,
    name: str = "",
) -> str:
    """Store it under a new handle; empty when that fails, since the call is done all the same."""
    now = environment.now()
    handle = new_handle(page_bytes=budget)
    stored = StoredResult(
        handle=handle,
        owner=call.owner,
        media_type=media_type,
        body=body,
        created_at=now,
        expires_at=now + environment.settings.result_ttl,
        name=name,
    )
    try:
        await environment.results.put(stored)
    except PegboardError:
        return ""
    return handle


def _text_of(content: str | tuple[Part, ...]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(words for part in content if (words := words_of(part)))


def _with_page(content: str | tuple[Part, ...], shown: str) -> str | tuple[Part, ...]:
    """The content with the page in place of its text."""
    if isinstance(content, str):
        return shown
    kept = tuple(
        structs.replace(part, text=None) if isinstance(part, ResourcePart) else part
        for part in content
        if not isinstance(part, TextPart)
    )
    return (TextPart(text=shown), *kept) if kept else shown


def _is_json(structured: object, body: bytes) -> bool:
    try:
        return not isinstance(structured, str) and to_json(structured) == body
    except ValueError:
        return False
