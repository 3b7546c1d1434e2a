"""Lines over a socket."""

import asyncio

from pegboard.servers.mcp.stdio.lines import TOO_LONG, SocketLines, SocketWriter


async def test_lines_are_read_as_they_are_and_long_ones_are_skipped() -> None:
    reader = asyncio.StreamReader(limit=10)
    lines = SocketLines(reader)
    reader.feed_data(b"one\n\n" + b"x" * 35 + b"\ntwo\nhalf")
    reader.feed_eof()

    found = [await lines.next() for _ in range(5)]
    assert found == [b"one", b"", TOO_LONG, b"two", None]


async def test_what_is_written_to_a_closed_socket_is_dropped() -> None:
    async def close(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_server(close, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
    out = SocketWriter(writer)
    assert await SocketLines(reader).next() is None
    for _ in range(3):
        await out.write_line(b"line\n")
    out.close()
    server.close()
