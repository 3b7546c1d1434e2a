"""Events as a browser reads them."""

import asyncio
from collections.abc import AsyncIterator

from pegboard.errors import ConversationNotFound, Unavailable
from pegboard.servers.http.event_stream import SentEvent, stream_events


async def two() -> AsyncIterator[SentEvent]:
    yield "1-2", "text_delta", {"text": "line one\nline two"}
    yield "", "error", {"code": "x"}


async def test_each_event_is_one_block_and_an_empty_id_is_left_out() -> None:
    blocks = stream_events(two(), ending=asyncio.Event())
    sent = b"".join([block async for block in blocks]).decode()

    assert sent == (
        'id: 1-2\nevent: text_delta\ndata: {"text":"line one\\nline two"}\n\n'
        'event: error\ndata: {"code":"x"}\n\n'
    )


async def test_a_stream_ends_when_its_subject_is_deleted() -> None:
    async def two_and_gone() -> AsyncIterator[SentEvent]:
        async for event in two():
            yield event
        raise ConversationNotFound("There is no conversation 'c_1'.")

    blocks = [block async for block in stream_events(two_and_gone(), ending=asyncio.Event())]

    assert len(blocks) == 2


async def test_a_stream_ends_when_its_events_cannot_be_read() -> None:
    async def two_and_unavailable() -> AsyncIterator[SentEvent]:
        async for event in two():
            yield event
        raise Unavailable("The storage is unavailable.")

    blocks = [block async for block in stream_events(two_and_unavailable(), ending=asyncio.Event())]

    assert len(blocks) == 2


async def test_the_end_of_the_server_ends_a_stream_that_goes_on() -> None:
    ending, is_closed = asyncio.Event(), asyncio.Event()

    async def two_and_wait() -> AsyncIterator[SentEvent]:
        try:
            async for event in two():
                yield event
            await asyncio.Event().wait()
        finally:
            is_closed.set()

    blocks = stream_events(two_and_wait(), ending=ending)
    first = [await anext(blocks) for _ in range(2)]
    ending.set()
    rest = [block async for block in blocks]

    assert (len(first), rest) == (2, [])
    assert is_closed.is_set()
