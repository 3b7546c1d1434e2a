"""Server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any

from msgspec import json

from pegboard.errors import CallerError, Unavailable

_LOG = logging.getLogger("pegboard.http")
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


async def stream_events(
    events: AsyncIterator[SentEvent], *, ending: asyncio.Event
) -> AsyncGenerator[bytes]:
    """Events in the format of EventSource, with a comment as keep-alive.

    A stream whose subject was deleted, or is no longer visible to the caller, ends: the status has
    been sent, and the next request is answered with 404. So does one whose events cannot be read
    now: its client goes on after the last one.

    Args:
        events: The events; a client that reconnects goes on after the last one.
        ending: Set when the server begins to end, which ends the stream.
    """
    async with aclosing(keep_alive(_encode_all(events), ending=ending)) as chunks:
        async for chunk in chunks:
            yield chunk


async def keep_alive(
    chunks: AsyncIterator[bytes], *, ending: asyncio.Event | None = None
) -> AsyncGenerator[bytes]:
    """The chunks of an event stream, with a comment whenever nothing has come for a while.

    Args:
        chunks: The chunks.
        ending: When it is set, the stream ends; None to go on to the last chunk.
    """
    coming = asyncio.ensure_future(anext(chunks, None))
    end = asyncio.ensure_future((ending or asyncio.Event()).wait())
    try:
        while True:
            done, _ = await asyncio.wait(
                [coming, end], timeout=_BEAT, return_when=asyncio.FIRST_COMPLETED
            )
            if end.done() and not coming.done():
                return
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
        end.cancel()
        await asyncio.wait([coming, end])


async def _encode_all(events: AsyncIterator[SentEvent]) -> AsyncGenerator[bytes]:
    try:
        async for event in events:
            yield _encode(event)
    except CallerError:
        return
    except Unavailable as error:
        _LOG.warning("http: an event stream has ended: %s", error)


def _encode(event: SentEvent) -> bytes:
    id_, kind, data = event
    head = f"id: {id_}\nevent: {kind}\n" if id_ else f"event: {kind}\n"
    return b"%sdata: %s\n\n" % (head.encode(), json.encode(data))
