"""Events as a browser reads them."""

from collections.abc import AsyncIterator

from pegboard.servers.http.event_stream import SentEvent, stream_events


async def two() -> AsyncIterator[SentEvent]:
    yield "1-2", "text_delta", {"text": "line one\nline two"}
    yield "", "error", {"code": "x"}


async def test_each_event_is_one_block_and_an_empty_id_is_left_out() -> None:
    sent = b"".join([block async for block in stream_events(two())]).decode()

    assert sent == (
        'id: 1-2\nevent: text_delta\ndata: {"text":"line one\\nline two"}\n\n'
        'event: error\ndata: {"code":"x"}\n\n'
    )
