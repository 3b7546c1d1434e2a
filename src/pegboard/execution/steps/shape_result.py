"""Shape: secrets are removed, artifacts are stored, and a large result is paged."""

import asyncio

from msgspec import structs
from pydantic_core import to_json

from pegboard.core.result import Artifact, Part, ResourcePart, TextPart, ToolResult
from pegboard.execution.call_state import CallState, Handler
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.environment import CallEnvironment
from pegboard.execution.results.handles import store_result
from pegboard.execution.results.json_layout import JsonLayout, find_cursors, read_layout
from pegboard.execution.results.paging import JSON, page_starts, size_of, words_of
from pegboard.execution.results.redaction import redact_result

RESULT_FRAME = 500
"""Bytes around a page where the caller has a limit, so that a page that is read is not paged."""


def shape(target: CompiledTool, environment: CallEnvironment, following: Handler) -> Handler:
    """Always there; a small text result passes unchanged."""
    spec, redact = target.spec, environment.redact
    own = spec.max_result_bytes
    if own is None:
        own = environment.settings.max_result_bytes

    async def handle(call: CallState) -> ToolResult:
        result = await following(call)
        limit = call.ctx.max_result_bytes
        budget, frame = (own, 0) if limit is None else (min(own or limit, limit), RESULT_FRAME)
        mask = redact if call.credential is None else call.mask_with(redact)
        if mask is not None:
            result = redact_result(result, mask)
        if result.artifacts:
            result = await _store_artifacts(result, call, environment, budget=budget)
        content = result.content
        if budget and (content.__class__ is not str or len(content) * 4 > budget):
            size = size_of(content)
            if size > budget + frame:
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
        handle = await store_result(
            environment,
            item.data,
            owner=call.owner,
            media_type=item.media_type,
            page_bytes=budget,
            name=item.name,
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
    whole, structured = _text_of(result.content), result.structured
    text, notes, is_json, layout = (
        await asyncio.to_thread(_read_text, whole, structured)
        if len(whole) > _LARGE
        else _read_text(whole, structured)
    )
    body = text.encode("utf-8", "surrogatepass")
    if notes:
        size = len(body)
        if size <= budget:
            return result
    handle = await store_result(
        environment,
        body,
        owner=call.owner,
        media_type=JSON if is_json else "text/plain",
        page_bytes=budget,
    )
    starts = page_starts(text, budget, layout)
    page = text[: starts[1] if len(starts) > 1 else len(text)]
    counts = layout.describe_items(len(page)) if layout else ""
    counts = f"; {counts}" if counts else ""
    cursors = find_cursors(result.structured) if is_json else ""
    cursors = f"\n[next page of the source: {cursors}]" if cursors else ""
    stored = (
        f"is stored as {handle}: read page 2 with it, or give it to another tool as an argument"
        if handle
        else _NOT_STORED
    )
    shown = (
        f"{page}\n[page 1 of {len(starts)}{counts}; the whole result has {size} bytes "
        f"and {stored}]{cursors}{notes}"
    )
    meta = structs.replace(result.meta, truncated=True, handle=handle, total_bytes=size)
    content = _with_page(result.content, shown)
    return structs.replace(result, content=content, structured=None, meta=meta)


_NOT_STORED = "could not be stored"
_LARGE = 50_000
"""Characters of a result, beyond which it is read on a thread, so that other calls go on."""
_NOTES = 2_000
"""Characters behind JSON that are shown with its first page; more is part of the result."""


def _read_text(text: str, structured: object) -> tuple[str, str, bool, JsonLayout | None]:
    """What `_split_notes` gives, and the layout of the JSON."""
    text, notes, is_json = _split_notes(text, structured)
    return text, notes, is_json, read_layout(text) if is_json else None


def _split_notes(text: str, structured: object) -> tuple[str, str, bool]:
    """The text, the lines behind its JSON, and whether the text is the JSON of the value."""
    if isinstance(structured, str):
        return text, "", False
    try:
        encoded = to_json(structured).decode()
    except ValueError:
        return text, "", False
    if text == encoded:
        return text, "", True
    if structured is None or not text.startswith(("{", "[")):
        return text, "", False
    head, notes = text[: len(encoded)], text[len(encoded) :]
    if notes[:1] != "\n" or len(notes) > _NOTES:
        return text, "", False
    return head, notes, head == encoded


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
