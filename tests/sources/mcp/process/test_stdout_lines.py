"""Lines of a stream: whole, cut, or refused."""

import asyncio

from pegboard.sources.mcp.process.stdout_lines import lines


def stream_of(*pieces: bytes) -> asyncio.StreamReader:
    stream = asyncio.StreamReader()
    for piece in pieces:
        stream.feed_data(piece)
    stream.feed_eof()
    return stream


async def test_each_line_is_whole_wherever_it_was_cut() -> None:
    stream = stream_of(b"on", b"e\ntw", b"o\n\nthree")

    assert [line async for line in lines(stream)] == [b"one", b"two", b"", b"three"]


async def test_a_line_beyond_the_longest_ends_it_all() -> None:
    told: list[bool] = []
    stream = stream_of(b"short\n" + b"x" * 101)

    found = [line async for line in lines(stream, on_excess=lambda: told.append(True), most=100)]

    assert (found, told) == ([b"short"], [True])


async def test_a_line_that_may_be_cut_is_kept_in_part_alone() -> None:
    stream = asyncio.StreamReader(limit=2**20)
    reading = asyncio.create_task(_all(stream))
    for _ in range(40):
        stream.feed_data(b"x" * 8192)
        await asyncio.sleep(0)
    stream.feed_data(b"\nnext\n")
    stream.feed_eof()

    first, second = await reading

    assert 8192 <= len(first) < 40 * 8192
    assert second == b"next"


async def _all(stream: asyncio.StreamReader) -> list[bytes]:
    return [line async for line in lines(stream, cut=True)]
