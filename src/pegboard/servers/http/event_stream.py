"""Server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any

from msgspec import json

EVENT_STREAM = "text/event-stream"
EVENT_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "description": "One event; its `data` is JSON text.",
    "properties": {
        "id": {"type": "string"},
        "event": {"type": "string"},
        "data": {"type": "string"},
    },
    "required": ["event", "data"],
}
_BEAT = 15.0
"""Seconds between keep-alive comments of an idle stream."""

SentEvent = tuple[str, str, Any]
"""Id, kind and data of an event; an empty id is left out."""


async def stream_events(events: AsyncIterator[SentEvent]) -> AsyncGenerator[bytes]:
    """Events in the format of EventSource, with a comment as keep-alive."""
    async with aclosing(keep_alive(_encode_all(events))) as chunks:
        async for chunk in chunks:
            yield chunk


async def keep_alive(chunks: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
    """The chunks of an event stream, with a comment whenever nothing has come for a while."""
    coming = asyncio.ensure_future(anext(chunks, None))
    try:
        while True:
            done, _ = await asyncio.wait([coming], timeout=_BEAT)
            if not done:
                yield b": nothing new\n\n"
                continue
            chunk = coming.result()
            if chunk is None:
                return
            yield chunk
            coming = asyncio.ensure_future(anext(chunks, None))
    finally:
        coming.cancel()
        await asyncio.wait([coming])


async def _encode_all(events: AsyncIterator[SentEvent]) -> AsyncGenerator[bytes]:
    async for event in events:
        yield _encode(event)


def _encode(event: SentEvent) -> bytes:
    id_, kind, data = event
    head = f"id: {id_}\nevent: {kind}\n" if id_ else f"event: {kind}\n"
    return b"%sdata: %s\n\n" % (head.encode(), json.encode(data))
